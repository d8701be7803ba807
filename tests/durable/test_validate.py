"""A user's own run, held against the table of allowed steps (R100, R104)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentl.durable import FileStore, MemoryStore
from agentl.durable.allowed import first_wrong, table
from agentl.durable.conformance import Line, lines_of
from agentl.durable.derive import steps_of
from agentl.durable.recovery import DurableJournal
from agentl.durable.validate import validate
from agentl.errors import DurableError
from agentl.journal.entry import dump
from tests.durable.dying import bury
from tests.durable.test_crash_in_process import run
from tests.durable.world import PROMISES, Died
from tests.formal.test_traces import FORGERIES, forged, random_life


@pytest.mark.parametrize("promise", PROMISES)
def test_what_a_journal_tells_is_allowed(promise: str, quick_path: Path) -> None:
    """DUR-5, RES-5, RES-6: a run with every boundary that died again and again, read from its journal."""
    died = 0
    while True:
        try:
            run("file", quick_path, promise, ("inside", 0) if died % 2 else ("after", 3 + died))
            break
        except Died:
            died += 1
            bury("file", quick_path)
            if died == 9:
                run("file", quick_path, promise, None)
                break
    journal = DurableJournal.open(FileStore(quick_path / "run"), write=False)
    lines = lines_of(steps_of(journal.entries))
    wrong = first_wrong(lines)
    assert wrong is None, (lines[wrong], lines[: wrong + 1])
    assert len(lines) > 30
    assert died > 3


def test_no_random_run_is_refused() -> None:
    """R100: the table allows what the kernel does, whatever dies and changes."""
    for seed in [*range(300), 329, 726]:
        lines = lines_of(random_life(seed))
        wrong = first_wrong(lines)
        assert wrong is None, (seed, lines[wrong], lines[: wrong + 1])


def test_every_forgery_is_refused() -> None:
    """R100 (d), R104: reordered and illegal logs, at the line that is wrong or the next one."""
    for name in FORGERIES:
        if name == "a lost record":  # the table does not count
            continue
        cases = forged(name)
        assert cases, name
        for lines, place in cases:
            assert first_wrong(lines) in (place, place + 1), (name, lines, place)


def test_nothing_is_no_run() -> None:
    """R100 (a): no line at all is refused."""
    assert first_wrong([]) == 0
    assert first_wrong([Line("Decide", 1, "approved")]) == 0


def test_the_table_belongs_to_this_model() -> None:
    """R104: a change of the model makes the shipped table stale; tools/build_step_table.py writes it anew."""
    from tools.build_step_table import TABLE, model_digest

    assert json.loads(TABLE.read_text(encoding="utf-8"))["model"] == model_digest()
    assert len(table()) > 100


def test_a_run_is_validated_and_a_false_one_is_not(quick_path: Path) -> None:
    """R100: the command's answer: steps by kind; no action, or a step out of place, is an error."""
    found = run("file", quick_path, "idempotent", None)
    answer = validate(FileStore(quick_path / "run"))
    assert answer["run_id"] == found.run_id
    assert answer["kinds"]["Result"] == answer["kinds"]["Intent"] == 6
    assert answer["steps"] == sum(answer["kinds"].values())

    empty = MemoryStore()
    with pytest.raises(DurableError, match="aucune action"):
        validate(empty)

    forged_run = MemoryStore()
    journal = DurableJournal.open(forged_run)
    for entry in found.journal.entries:
        if entry.kind == "intent" and entry.seq < 12:
            continue
        outcome = entry.composed()[0].decode()
        value = '"value":' + dump(entry.stored_value) if entry.error is None else outcome
        args = None if entry.stored_args is None else entry.stored_args
        journal.write(entry.kind, entry.key, args, value, sync=True)
    journal.release()
    with pytest.raises(DurableError, match="n'est pas permis ici"):
        validate(forged_run)
