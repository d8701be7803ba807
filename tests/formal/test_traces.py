"""What the kernel tells of its steps is a behaviour of its model (R100, R104); a false log is rejected."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import pytest

from agentl.durable import DurableRun, FileStore
from agentl.durable.conformance import Line, lines_of
from agentl.durable.derive import steps_of
from agentl.durable.recovery import DurableJournal
from agentl.durable.steplog import StepLog, read_steps, write_steps
from agentl.errors import DurableError
from agentl.kernel.steps import Decide, Mint, Step
from tests.durable.dying import DyingFile
from tests.durable.world import PROGRAM, RUN_ID, TICKS, Died, Ledger, host_for, model
from tests.support.graphs import ROOT, tlc
from tests.support.life import PROMISES, Life
from tests.support.process import MemoryDisk
from tools.bootstrap_demo import run_demo
from tools.formal_check.traces import TraceError, judge
from tools.validate_traces import main as validate

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "dev")
RUNS = {"dev": 200, "ci": 1000, "nightly": 3000}.get(PROFILE, 200)


def random_life(seed: int) -> list[Step]:
    """The steps of a run with changing policies and promises, crashes, and an operator now and then."""
    dice = random.Random(seed)
    size = dice.choice((1, 2, 3, 3))
    rule = tuple(dice.choice(("allow", "allow", "ask")) for _ in range(size))
    life = Life(MemoryDisk(), rule, tuple(dice.choice(PROMISES) for _ in range(size)))
    for _ in range(dice.randrange(1, 6)):
        dies_at = dice.randrange(1, 14) if dice.random() < 0.6 else 10_000
        life.boot(dice.randrange, dies_at=dies_at, inside=dice.random() < 0.15)
        if dice.random() < 0.3:
            life.verdict(dice.randrange(1, size + 1))
        if life.ended == "closed":
            break
        if dice.random() < 0.3:
            stricter = {"allow": ("allow", "ask", "deny"), "ask": ("ask", "deny"), "deny": ("deny",)}
            life.rule = tuple(dice.choice(stricter[word]) for word in life.rule)
        if dice.random() < 0.3:
            life.host = tuple(
                promise if "read_only" in promise else dice.choice(PROMISES[:4]) for promise in life.host
            )
    return life.steps


@lru_cache(maxsize=1)
def lives() -> list[list[Step]]:
    return [random_life(seed) for seed in range(RUNS)]


def test_no_random_run_is_rejected() -> None:
    """KRN-3, KRN-11, DUR-6, RES-5, RES-6, RES-9, R100: many runs, and every action of the model is seen."""
    logs = [lines_of(steps) for steps in lives()]
    verdict = judge(tlc(), logs, limit=600)
    assert not verdict.rejected, [
        (logs[found.log][found.line], logs[found.log]) for found in verdict.rejected[:2]
    ]
    assert verdict.logs == RUNS
    assert verdict.never_seen == [], verdict.report()
    assert all(number >= 10 for number in verdict.lines.values()), verdict.report()


# --- what must be rejected ---------------------------------------------------------------------


def swapped(log: list[Line], first: str, second: str) -> tuple[list[Line], int]:
    """The log with two neighbouring steps exchanged, and the place of the first that is now wrong."""
    for place in range(1, len(log) - 1):
        if (log[place].step, log[place + 1].step) == (first, second):
            return [*log[:place], log[place + 1], log[place], *log[place + 2 :]], place
    raise LookupError


def without(log: list[Line], step: str, then: str) -> tuple[list[Line], int]:
    """The log without a step, and the place where its absence shows."""
    for place in range(1, len(log) - 1):
        if (log[place].step, log[place + 1].step) == (step, then):
            return [*log[:place], *log[place + 1 :]], place
    raise LookupError


def changed(log: list[Line], step: str, was: str, to: str) -> tuple[list[Line], int]:
    """The log with another outcome of a step."""
    for place, line in enumerate(log):
        if (line.step, line.to) == (step, was):
            return [*log[:place], replace(line, to=to), *log[place + 1 :]], place
    raise LookupError


def inserted(log: list[Line], before: str, new: Line) -> tuple[list[Line], int]:
    """The log with a step that was never made: the effect before the permit."""
    for place, line in enumerate(log):
        if line.step == before:
            return [*log[:place], replace(new, action=line.action), *log[place:]], place
    raise LookupError


def lost(log: list[Line]) -> tuple[list[Line], int]:
    """The log with a resume that finds fewer records than were told."""
    for place, line in enumerate(log):
        if line.step == "Resume" and line.records > 0:
            return [*log[:place], replace(line, records=line.records - 1), *log[place + 1 :]], place
    raise LookupError


FORGERIES: dict[str, Callable[[list[Line]], tuple[list[Line], int]]] = {
    "the call before the intent": lambda log: swapped(log, "Intent", "Dispatch"),
    "the permit before the judgement": lambda log: swapped(log, "Decide", "Mint"),
    "the result before the call": lambda log: swapped(log, "Dispatch", "Result"),
    "no intent": lambda log: without(log, "Intent", "Dispatch"),
    "no permit": lambda log: without(log, "Mint", "Intent"),
    "no judgement": lambda log: without(log, "Decide", "Mint"),
    "an approval that nobody gave": lambda log: without(log, "Approve", "Mint"),
    "an effect before the permit": lambda log: inserted(log, "Mint", Line("Dispatch", to="returned")),
    "a refusal that mints": lambda log: changed(log, "Approve", "approved", "refused"),
    "a new intent where one is on record": lambda log: changed(log, "Intent", "interrupted", "new"),
    "a result for what is in doubt": lambda log: changed(log, "Result", "doubt", "result"),
    "a failure for what returned": lambda log: changed(log, "Result", "result", "failed"),
    "a retry that no promise allows": lambda log: changed(log, "Settle", "in_doubt", "retry"),
    "a lost record": lost,
}


def forged(name: str) -> list[tuple[list[Line], int]]:
    found = []
    for steps in lives():
        try:
            found.append(FORGERIES[name](lines_of(steps)))
        except (LookupError, StopIteration):
            continue
    return found[:12]


def test_every_forgery_is_rejected_at_its_line() -> None:
    """R100 (d), R104: reordered and illegal logs, each rejected, each at the first line that is wrong."""
    cases = [(name, log, place) for name in FORGERIES for log, place in forged(name)]
    assert {name for name, _, _ in cases} == set(FORGERIES)
    verdict = judge(tlc(), [log for _, log, _ in cases])
    rejected = {found.log: found.line for found in verdict.rejected}
    passed = [name for number, (name, _, _) in enumerate(cases) if number not in rejected]
    assert not passed, passed
    # A refusal told as such is itself a step of the model: only the permit behind it is wrong.
    late = {"a refusal that mints": 1}
    wrong = [
        (cases[number], line)
        for number, line in rejected.items()
        if line != cases[number][2] + late.get(cases[number][0], 0)
    ]
    assert not wrong, wrong[:2]


def test_nothing_to_check_is_no_pass() -> None:
    """R100 (a), (b): no trace, and a trace without a step."""
    with pytest.raises(TraceError, match="no trace"):
        judge(tlc(), [])
    with pytest.raises(TraceError, match="empty"):
        judge(tlc(), [[Line("Start", rule=("allow",), host=(frozenset(),))]])


def test_a_missing_kind_of_step_is_reported() -> None:
    """R100 (c): the report names the model's actions that no trace shows."""
    log = lines_of([Decide("t1", "run:a1", "approved"), Mint("run:a1")])
    verdict = judge(tlc(), [log])
    assert not verdict.rejected
    assert verdict.never_seen == [
        "Approve", "Intent", "Dispatch", "Settle", "Result", "Verdict", "Close", "Crash", "Resume"
    ]  # fmt: skip
    assert "1 traces, 1 accepted; 2 steps" in verdict.report()


# --- the files ---------------------------------------------------------------------------------


def test_a_log_comes_back_as_it_was_written(tmp_path: Path) -> None:
    """R100: file and steps say the same."""
    steps = next(life for life in lives() if len(life) > 20)
    write_steps(tmp_path / "a.steps", steps)
    assert read_steps(tmp_path / "a.steps") == steps


def spoilt(how: str, text: str) -> str:
    lines = text.splitlines(keepends=True)
    return {
        "empty": "",
        "cut": "".join(lines[:-1]),
        "shorter": "".join([*lines[:3], *lines[4:]]),
        "format": text.replace("agentl.steps.v1", "agentl.steps.v0"),
        "unknown": text.replace('"step": "Mint"', '"step": "Print"'),
        "unreadable": text.replace('{"step": "Mint"', '{"step": Mint"'),
    }[how]


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ("empty", "empty"),
        ("cut", "cut"),
        ("shorter", "cut"),
        ("format", "format"),
        ("unknown", "unknown"),
        ("unreadable", "unreadable"),
    ],
)
def test_a_spoilt_file_is_refused(how: str, code: str, tmp_path: Path) -> None:
    """R100 (a), (b), (e): cut, empty, of another format; the refusal names file and line."""
    path = tmp_path / "a.steps"
    write_steps(path, next(life for life in lives() if len(life) > 20))
    path.write_text(spoilt(how, path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(DurableError) as refused:
        read_steps(path)
    assert refused.value.code == f"durable.steps_{code}"
    assert str(path) in str(refused.value)


def test_the_command_fails_where_nothing_was_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """R100: exit codes of tools/validate_traces.py."""
    assert validate([str(tmp_path)]) == 2
    (tmp_path / "a.steps").write_text("", encoding="utf-8")
    assert validate([str(tmp_path)]) == 1
    (tmp_path / "a.steps").unlink()
    assert validate([str(tmp_path / "missing.steps")]) == 1
    tlc()
    log = StepLog(tmp_path / "a.steps")
    for step in lives()[0]:
        log(step)
    log.finish()
    assert validate([str(tmp_path)]) == 0
    assert validate(["--complete", str(tmp_path)]) == 1
    assert "no trace shows" in capsys.readouterr().out


# --- real runs ---------------------------------------------------------------------------------


@pytest.mark.parametrize("promise", ["idempotent", "reconcilable", "plain"])
def test_a_real_run_that_died_is_a_behaviour_of_the_model(promise: str, tmp_path: Path) -> None:
    """RES-5, RES-6, R104: what the interpreter told live, and what its journal tells, with every boundary."""
    told: list[Step] = []
    died = 0
    while died < 12:
        store = DyingFile(tmp_path / "run")
        store.die = _dies
        store.when, store.at = "after", 4 + 2 * died
        host = host_for(Ledger(tmp_path / "ledger"), promise)
        try:
            DurableRun(PROGRAM, host, model(), store=store, run_id=RUN_ID, steps=told.append).run(TICKS)
            break
        except Died:
            died += 1
    assert 3 < died < 12
    journal = DurableJournal.open(FileStore(tmp_path / "run"), write=False)
    derived = lines_of(steps_of(journal.entries))
    live = lines_of(told)
    verdict = judge(tlc(), [live, derived])
    assert not verdict.rejected, [([live, derived][found.log], found.line) for found in verdict.rejected]
    # A process that dies right after a write could not tell of it any more; the journal has it.
    assert verdict.lines["Result"] >= 10


def _dies() -> None:
    raise Died


def test_the_example_that_everybody_runs_first_is_a_behaviour_of_the_model(tmp_path: Path) -> None:
    """R104: docs/examples/payments, killed in mid-transfer and resumed, as its journal tells it."""
    assert run_demo(ROOT, Path(sys.executable), tmp_path) == 0
    files = sorted(tmp_path.rglob("wal.jsonl"))
    assert files
    logs = [
        lines_of(steps_of(DurableJournal.open(FileStore(file.parent), write=False).entries)) for file in files
    ]
    verdict = judge(tlc(), logs)
    assert not verdict.rejected, verdict.report()
    assert verdict.lines["Resume"] >= 1
    assert verdict.lines["Settle"] >= 1
