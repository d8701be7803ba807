#!/usr/bin/env python3
"""Write the table of twin mutants into ``docs/assurance.md``, from what walk and machine really catch.

    python tools/build_assurance.py            run both against every twin, print the table, write it
    python tools/build_assurance.py --print    run, print, and write nothing
    python tools/build_assurance.py --small    only the tables of the journal, the policy and the lease

Each mutant of ``formal/MutKernel.tla`` is planted in the code (``tests/support/mutants.py``). The sound code
is walked first; what it would not pass proves nothing. Needs Java and TLC, which ``tools/check_formal.py``
fetches. The mutants of the journal's and the policy's model have a table of their own, of their machines, and
so have those of the lease's: of the schedule that catches each, and of the walk.

Exit code: 0 every twin is caught by both; 1 one is not.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import io
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

PAGE = ROOT / "docs" / "assurance.md"
BEGIN, END = "<!-- twins: begin (tools/build_assurance.py) -->", "<!-- twins: end -->"
SMALL_BEGIN, SMALL_END = "<!-- small twins: begin (tools/build_assurance.py) -->", "<!-- small twins: end -->"
SMALL_HEAD = "| model | mutant of the model | its clause there | in the code: the machine objects by |"
LEASE_BEGIN, LEASE_END = "<!-- lease twins: begin (tools/build_assurance.py) -->", "<!-- lease twins: end -->"
LEASE_HEAD = (
    "| mutant of the model | its clause there | schedules of processes object by | the walk objects by |"
)
HEAD = (
    "| mutant of the model | its clause there | in the code: the walk objects at | the machine objects by |"
)


def _module(path: str) -> Any:
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[Path(path).stem] = module
    spec.loader.exec_module(module)
    return module


def _walk(twins: Any, name: str, folder: Path) -> str:
    report = twins.walked(name, folder, 1)
    if not report.disagreements:
        return ""
    text = report.disagreements[0]
    found = re.search(r"no such (\w+)|never takes (\w+)|raised (\w+)", text)
    return next((group for group in found.groups() if group), "?") if found else "a boot"


def _machine(machine: Any, name: str) -> str:
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            machine.live(name)
    except AssertionError as error:
        return str(error).split(":")[0] if "-" in str(error)[:8] else "a verdict that should not be possible"
    return ""


def rows() -> list[tuple[str, str, str, str]]:
    """Mutant, its clause in the model, the step at which the walk objects, the clause of the machine."""
    import pytest

    runs = importlib.import_module("tests.support.graphs").runs
    planted = importlib.import_module("tests.support.mutants").CODE
    twins = _module("tests/formal/test_twin_mutants.py")
    machine = _module("tests/machines/test_durable_mutants.py")
    found = []
    for name in twins.kernel_mutants():
        with tempfile.TemporaryDirectory() as box, pytest.MonkeyPatch.context() as patch:
            if _walk(twins, name, Path(box)):
                raise SystemExit(f"✗ the walk objects to the sound code, so it says nothing about {name}")
            planted[name](patch)
            walk = _walk(twins, name, Path(box))
            caught = _machine(machine, name)
        found.append((name, runs()[f"mutant/{name}"].expect, walk, caught))
        print(f"{name:24} walk: {walk or 'SURVIVED':12} machine: {caught or 'SURVIVED'}", flush=True)
    return found


def table(found: list[tuple[str, str, str, str]]) -> str:
    """The table as Markdown."""
    lines = [HEAD, "|---|---|---|---|"]
    lines += [
        f"| `{name}` | `{clause}` | {walk or '—'} | {machine or '—'} |"
        for name, clause, walk, machine in found
    ]
    return "\n".join(lines)


def small_rows() -> list[tuple[str, str, str, str]]:
    """Model, mutant, its clause in the model, the clause of the machine; for the journal and the policy."""
    import pytest

    runs = importlib.import_module("tests.support.graphs").runs
    found = []
    for base, planted in (
        ("journal", importlib.import_module("tests.support.journal_mutants").CODE),
        ("policy", importlib.import_module("tests.support.policy_mutants").TWINS),
    ):
        machine = _module(f"tests/machines/test_{base}.py")
        with contextlib.redirect_stdout(io.StringIO()):
            machine.live()
        for run in runs().values():
            if run.kind != "mutant" or run.base != base:
                continue
            name, caught = run.name.removeprefix("mutant/"), ""
            with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()):
                planted[name](patch)
                try:
                    machine.live()
                except AssertionError as error:
                    caught = str(error).split(":")[0]
            found.append((base.capitalize(), name, run.expect, caught))
            print(f"{name:24} machine: {caught or 'SURVIVED'}", flush=True)
    return found


def small_table(found: list[tuple[str, str, str, str]]) -> str:
    """The table of the journal and the policy as Markdown."""
    lines = [SMALL_HEAD, "|---|---|---|---|"]
    lines += [
        f"| {model} | `{name}` | `{clause}` | {caught or '—'} |" for model, name, clause, caught in found
    ]
    return "\n".join(lines)


def lease_rows() -> list[tuple[str, str, str, str]]:
    """Mutant, its clause in the model, the clause of the schedule that catches it, that of the walk."""
    import pytest

    runs = importlib.import_module("tests.support.graphs").runs()
    planted = importlib.import_module("tests.support.lease_mutants")
    schedules = _module("tests/machines/test_schedule_twins.py")
    machine = _module("tests/machines/test_lease.py")
    found = []
    for name in sorted({**planted.CODE, **planted.OWN}):
        run = runs.get(f"lease-mutant/{name}") or runs.get(f"mutant/{name}")
        walk = "not tried"
        with pytest.MonkeyPatch.context() as patch:
            schedule = schedules.caught(name, schedules.CAUGHT[name], patch)
            if name in machine.TWINS:
                walk = ""
                try:
                    machine.pinned(*machine.TWINS[name])
                except AssertionError as error:
                    walk = str(error).split(":")[0]
        found.append((name, run.expect if run else "", schedule, walk))
        print(f"{name:24} schedule: {schedule or 'SURVIVED':8} walk: {walk or 'SURVIVED'}", flush=True)
    return found


def lease_table(found: list[tuple[str, str, str, str]]) -> str:
    """The table of the lease as Markdown."""
    lines = [LEASE_HEAD, "|---|---|---|---|"]
    lines += [
        f"| `{name}` | {f'`{clause}`' if clause else 'one step there'} | {schedule or '—'} | {walk or '—'} |"
        for name, clause, schedule, walk in found
    ]
    return "\n".join(lines)


def _write(begin: str, end: str, text: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(begin)
    after = rest.split(end)[1]
    PAGE.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}", encoding="utf-8")


def main() -> int:
    """Run the command; the exit code is described at the top of this file."""
    parser = argparse.ArgumentParser(description="The table of twin mutants in docs/assurance.md.")
    parser.add_argument("--print", action="store_true", help="write nothing")
    parser.add_argument("--small", action="store_true", help="only the journal, the policy and the lease")
    options = parser.parse_args()
    small, lease = small_rows(), lease_rows()
    found = [] if options.small else rows()
    if not options.print:
        _write(SMALL_BEGIN, SMALL_END, small_table(small))
        _write(LEASE_BEGIN, LEASE_END, lease_table(lease))
        if found:
            _write(BEGIN, END, table(found))
    survivors = [name for name, _, walk, machine in found if not walk or not machine]
    survivors += [name for _, name, _, caught in small if not caught]
    survivors += [name for name, _, schedule, walk in lease if not schedule or not walk]
    count = len(found) + len(small) + len(lease)
    print(f"{count} twins, {len(survivors)} not caught as they should {' '.join(survivors)}")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
