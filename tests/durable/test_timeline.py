"""The timeline of a run with everything in it (`OPS-5`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentl import Host, MockLLM, parse_source
from agentl.durable import NOT_EXECUTED, DurableJournal, DurableRun, FileStore
from agentl.durable.timeline import timeline

PROGRAM = """
AGENT STORY {
  OBSERVE { stock }
  TOOL keyed { INPUT { n: Number } }
  TOOL seen { INPUT { n: Number } }
  TOOL plain { INPUT { n: Number } }
  POLICY { DEFAULT ALLOW  REQUIRE APPROVAL FOR plain }
  PLAN go WHEN 1 == 1 { keyed(n: 1)  seen(n: 2)  plain(n: 3) }
}
"""


class Stop(KeyboardInterrupt):
    """The process ends here."""


def run(path: Path, fault: dict[str, BaseException], ticks: int) -> None:
    host = Host()
    host.sensor("stock")(lambda: 3)

    def tool(name: str, **promise: Any) -> None:
        @host.tool(name, **promise)
        def act(n: float) -> dict[str, float]:
            if name in fault:
                raise fault.pop(name)
            return {"n": n}

    tool("keyed", idempotent=True)
    tool("plain")
    tool("seen")
    host.reconciler("seen")(lambda args, context: NOT_EXECUTED)
    host.approve = lambda request: "yes"  # type: ignore[method-assign]
    DurableRun(parse_source(PROGRAM), host, MockLLM({}), store=FileStore(path), run_id="r").run(ticks)


def test_everything_that_can_be_told(tmp_path: Path) -> None:
    """`OPS-5`: drivers, attempts, outcomes, approvals, extensions; an action is one step."""
    for fault in ({"keyed": Stop()}, {"seen": Stop()}, {"plain": OSError("jammed")}):
        try:
            run(tmp_path, dict(fault), 1)
        except Stop:
            continue
    run(tmp_path, {}, 2)
    journal = DurableJournal.open(FileStore(tmp_path), write=False)
    steps = timeline(journal)
    told = [step.what for step in steps]
    assert told[0] == "begun"
    assert told.count("driver") == 3
    assert told.count("tick") == 2
    assert told.count("extended") == 1
    assert told.count("ended") == 2
    actions = {step.facts["target"]: step for step in steps if step.what == "action" and step.tick == 1}
    assert (actions["keyed"].outcome, actions["keyed"].facts["attempts"]) == ("done", 2)
    assert [one["how"] for one in actions["keyed"].facts["resolutions"]] == ["retry"]
    assert (actions["seen"].outcome, actions["seen"].facts["attempts"]) == ("done", 2)
    assert [one["how"] for one in actions["seen"].facts["resolutions"]] == ["not_executed"]
    assert actions["plain"].outcome == "in_doubt"
    approvals = [step for step in steps if step.what == "approval"]
    assert [step.facts["answer"] for step in approvals][:1] == ["approved"]
    assert [step.seq for step in steps] == sorted(step.seq for step in steps)
    assert all(step.data()["seq"] == step.seq for step in steps)


def test_an_action_without_a_result_is_open(tmp_path: Path) -> None:
    """`OPS-5`: a run that stopped inside a call says so."""
    with pytest.raises(Stop):
        run(tmp_path, {"keyed": Stop()}, 1)
    journal = DurableJournal.open(FileStore(tmp_path), write=False)
    assert [step.outcome for step in timeline(journal) if step.what == "action"] == ["open"]
