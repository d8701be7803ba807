"""The page of assurance says what is tested: its table is that of the mutants, each twin caught (R104)."""

from __future__ import annotations

import re

from tests.support import lease_mutants
from tests.support.graphs import ROOT, runs
from tests.support.mutants import CODE

SMALL_ROW = re.compile(r"^\| (Journal|Policy) \| `(\w+)` \| `(\w+)` \| [A-Z]+-\d+ \|$", re.MULTILINE)
LEASE_ROW = re.compile(
    r"^\| `(\w+)` \| (?:`(\w+)`|one step there) \| [A-Z]+-\d+ \| (?:[A-Z]+-\d+|not tried) \|$", re.MULTILINE
)
ROW = re.compile(r"^\| `(\w+)` \| `(\w+)` \| (\w[\w ]*) \| ([A-Z]+-\d+) \|$", re.MULTILINE)


def test_the_table_has_every_mutant_with_its_clause_and_what_catches_it() -> None:
    """R104: tools/build_assurance.py writes it; a mutant that is new, gone or not caught makes it stale."""
    page = (ROOT / "docs" / "assurance.md").read_text(encoding="utf-8")
    table = page.split("<!-- twins: begin")[1].split("<!-- twins: end")[0]
    rows = ROW.findall(table)
    kernel = {
        run.name.removeprefix("mutant/"): run.expect
        for run in runs().values()
        if run.kind == "mutant" and run.base == "kernel"
    }
    assert {name: clause for name, clause, _, _ in rows} == kernel
    assert set(kernel) == set(CODE)
    assert table.count("\n| `") == len(rows), "a row says that nothing caught it"


def test_the_table_of_journal_and_policy_has_every_mutant() -> None:
    """R104: the mutants of the two smaller models, each found by its machine."""
    page = (ROOT / "docs" / "assurance.md").read_text(encoding="utf-8")
    table = page.split("<!-- small twins: begin")[1].split("<!-- small twins: end")[0]
    rows = SMALL_ROW.findall(table)
    mutants = {
        (run.base.capitalize(), run.name.removeprefix("mutant/"), run.expect)
        for run in runs().values()
        if run.kind == "mutant" and run.base in ("journal", "policy")
    }
    assert set(rows) == mutants
    assert table.count("` | `") == len(rows), "a row says that nothing caught it"


def test_the_table_of_the_lease_has_every_twin() -> None:
    """R104: each twin is caught by a schedule of processes, and by the walk where that can meet it."""
    page = (ROOT / "docs" / "assurance.md").read_text(encoding="utf-8")
    table = page.split("<!-- lease twins: begin")[1].split("<!-- lease twins: end")[0]
    rows = dict(LEASE_ROW.findall(table))
    assert set(rows) == {*lease_mutants.CODE, *lease_mutants.OWN}
    assert all(rows[name] == runs()[f"lease-mutant/{name}"].expect for name in lease_mutants.CODE)
    assert table.count("\n| `") == len(rows), "a row says that nothing caught it"
