"""R100: A check of recorded traces fails when there is nothing to check."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentl.durable.conformance import lines_of
from agentl.durable.steplog import write_steps
from agentl.kernel.steps import Decide, Dispatch, Intent, Mint, Result, Step
from tests.support.graphs import tlc
from tools.formal_check.traces import judge
from tools.validate_traces import main as validate

SOUND: list[Step] = [
    Decide("pay", "r:a1", "approved"),
    Mint("r:a1"),
    Intent("r:a1", "new", ()),
    Dispatch("r:a1", 1, "returned", 1),
    Result("r:a1", "result"),
]


def test_no_trace_an_empty_one_and_an_older_format_fail(tmp_path: Path) -> None:
    """R100 (a), (b), (e): red, with a reason."""
    assert validate([str(tmp_path)]) == 2
    trace = tmp_path / "a.steps"
    trace.write_text("", encoding="utf-8")
    assert validate([str(tmp_path)]) == 1
    write_steps(tmp_path / "b.steps", SOUND)
    trace.write_text((tmp_path / "b.steps").read_text("utf-8").replace("steps.v1", "steps.v0"), "utf-8")
    assert validate([str(trace)]) == 1


@pytest.mark.parametrize("kind", [Mint, Intent])
def test_a_trace_without_a_kind_of_step_fails(kind: type[Step]) -> None:
    """R100 (c): an event that is never emitted shows."""
    verdict = judge(tlc(), [lines_of([step for step in SOUND if not isinstance(step, kind)])])
    assert len(verdict.rejected) == 1
    assert kind.__name__ in verdict.never_seen


def test_an_effect_before_its_permit_fails() -> None:
    """R100 (d): the line is named, and the sound trace passes."""
    forged = [SOUND[0], SOUND[3], *SOUND[1:3], SOUND[4]]
    verdict = judge(tlc(), [lines_of(SOUND), lines_of(forged)])
    assert [(found.log, found.line) for found in verdict.rejected] == [(1, 2)]
    assert "2 traces, 1 accepted; 10 steps" in verdict.report()
    assert "model actions never seen: Approve, Settle" in verdict.report()
