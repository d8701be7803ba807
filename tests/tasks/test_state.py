"""The state of a task, derived from the journal (TSK-1 to TSK-7)."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from agentl import MockLLM, parse_source
from agentl.durable import DurableRun, FileStore, settle
from agentl.errors import (
    AgentLError,
    DurableError,
    InvalidArguments,
    KernelAbort,
    NotExecuted,
    PermissionRefused,
)
from agentl.journal.entry import Entry
from agentl.tasks import Evidence, TaskState
from tests.tasks.programs import World, look, program, run

BOTH = """
  POLICY { DEFAULT DENY  ALLOW save  ALLOW tell }
  PLAN work WHEN reader.told == no {
    STEP one { save(text: "abc") VERIFY "saved" { file.saved == yes } }
    STEP two { tell(to: "ann") VERIFY "told" { reader.told == yes } }
  }
  LOOP UNTIL reader.told == yes MAX 3 { OBSERVE SELECT_PLAN EXECUTE }
"""


def states(task: TaskState) -> dict[str, str]:
    return {objective.name: objective.state for objective in task.objectives}


def test_two_objectives_that_are_both_proven(tmp_path: Path) -> None:
    """`TSK-2`, `TSK-3`, `TSK-4`, `TSK-7`: each with the reading that proves it, each effect too."""
    task = run(tmp_path, program(BOTH), World(), ticks=3)
    assert states(task) == {"saved": "proven", "told": "proven"}
    assert task.end == "goal_reached"
    assert task.whole
    saved = task.objectives[0].evidence["file.saved"]
    assert (saved.kind, saved.source, saved.excerpt) == ("reading", "file.saved", "yes")
    assert [(one.target, one.attempts) for one in task.confirmed] == [("save", 1), ("tell", 1)]
    assert (task.actions, task.model_calls, task.tick, task.ticks_left) == (2, 0, 1, 2)
    assert task.causes == {}
    assert task.stop == ("reader.told == yes",)
    assert "ALLOW save" in task.constraints


def test_evidence_can_be_looked_up(tmp_path: Path) -> None:
    """`TSK-3`: the entry that it names holds the value that it digests."""
    task = run(tmp_path, program(BOTH), World(), ticks=3)
    lines = [json.loads(line) for line in (tmp_path / "run" / "wal.jsonl").read_text().splitlines()]
    for proof in [one.evidence for one in task.confirmed] + list(task.objectives[1].evidence.values()):
        assert proof is not None
        entry = lines[proof.entry]
        text = json.dumps(entry["value"], ensure_ascii=False, separators=(",", ":"))
        assert entry["key"] == proof.source
        assert hashlib.sha256(text.encode()).hexdigest() == proof.sha256
        assert len(text.encode()) == proof.size


def test_one_success_hides_no_failure(tmp_path: Path) -> None:
    """`TSK-2`, `TSK-7`: the file is saved, the reader was not told; the end is not the goal's."""
    world = World()
    world.raises["tell"] = NotExecuted("closed today")
    task = run(tmp_path, program(BOTH), world, ticks=1)
    assert states(task) == {"saved": "proven", "told": "open"}
    assert task.end == "budget_exhausted"
    assert task.causes == {"not_executed": 1}


def test_a_models_word_is_no_proof(tmp_path: Path) -> None:
    """`TSK-2`: the model says that it is done; the objective is only claimed, and the end is another."""
    tree = parse_source(
        """
AGENT worker {
  GOAL done { ACHIEVE finished == yes }
  PLAN work WHEN tick >= 0 { STEP think { REASON "r" { TASK "done?" PRODUCE { finished: Symbol } } } }
  DECIDE { RULES { IF 1 == 1 THEN work } }
  LOOP UNTIL finished == yes MAX 2 { SELECT_PLAN EXECUTE }
}
""",
        "worker.agent",
    )
    DurableRun(tree, None, MockLLM({"done?": {"finished": "yes"}}), store=FileStore(tmp_path / "run")).run(2)
    task = look(tmp_path, tree)
    assert states(task) == {"done": "claimed"}
    assert "LLM" in task.objectives[0].sources
    assert task.end == "stopped_by_condition"
    assert task.model_calls == 1


@pytest.mark.parametrize(
    ("body", "world", "state"),
    [
        ("BELIEF { file.saved = yes }", {}, "claimed"),
        ("BELIEF { file.saved = no }", {}, "open"),
        ("BELIEF { file.saved = yes }  OBSERVE { file.saved }", {"file.saved": "yes"}, "proven"),
        ("OBSERVE { file.saved ON UNKNOWN DEGRADE yes }", {}, "claimed"),
    ],
)
def test_what_was_only_declared_is_no_proof(
    tmp_path: Path, body: str, world: dict[str, str], state: str
) -> None:
    """`TSK-2`: a belief, or a value taken for a mute sensor, is claimed until a sensor saw it."""
    from agentl import Host

    tree = parse_source(
        f"AGENT w {{ GOAL saved {{ ACHIEVE file.saved == yes }} {body}\n"
        "LOOP MAX 1 { OBSERVE UPDATE_BELIEFS } }",
        "w.agent",
    )
    host = Host()
    for path, value in world.items():
        host.sensor(path)(lambda value=value: value)
    DurableRun(tree, host, store=FileStore(tmp_path / "run")).run(1)
    assert states(look(tmp_path, tree)) == {"saved": state}


def test_an_expected_effect_is_no_proof(tmp_path: Path) -> None:
    """`TSK-2`: what EFFECT promises holds for the program, and proves nothing until a sensor looks."""
    head = """
AGENT worker {
  GOAL saved { ACHIEVE file.saved == yes }
  TOOL save { INPUT { text: String } OUTPUT { size: Int } EFFECT { file.saved = yes } RISK LOW }
"""
    body = """
  POLICY { DEFAULT DENY  ALLOW save }
  DECIDE { RULES { IF 1 == 1 THEN work } }
  PLAN work { STEP one { save(text: "abc") } }
  LOOP MAX 1 { SELECT_PLAN EXECUTE }
"""
    task = run(tmp_path, program(body, head), World())
    assert states(task) == {"saved": "claimed"}
    assert "EFFECT" in task.objectives[0].sources


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (InvalidArguments("no such reader"), "invalid_arguments"),
        (PermissionRefused("not yours"), "permission_refused"),
        (PermissionError("not yours"), "permission_refused"),
        (NotExecuted("closed"), "not_executed"),
        (RuntimeError("lost"), "unconfirmed"),
        (TimeoutError("late"), "unconfirmed"),
    ],
)
def test_each_failure_has_its_cause(tmp_path: Path, error: Exception, cause: str) -> None:
    """`TSK-5`: from what is on record, and unknown is not failed."""
    world = World()
    world.raises["tell"] = error
    task = run(tmp_path, program(BOTH), world)
    assert task.causes == {cause: 1}
    assert task.failures[0].target == "tell"
    assert [doubt["tool"] for doubt in task.in_doubt] == (["tell"] if cause == "unconfirmed" else [])
    assert task.end == ("in_doubt" if cause == "unconfirmed" else "budget_exhausted")


def test_a_proposal_that_the_policy_refuses_is_counted(tmp_path: Path) -> None:
    """`TSK-5`: it leaves no entry, and is derived."""
    refused = BOTH.replace("ALLOW tell", "")
    task = run(tmp_path, program(refused), World())
    assert task.causes == {"refused_by_policy": 1}


def test_a_sensor_that_raises_is_a_failure_of_the_sensor(tmp_path: Path) -> None:
    """`TSK-5`."""
    world = World()
    host = world.host()

    @host.sensor("file.saved")
    def saved() -> Any:
        raise OSError("gone")

    tree = program(BOTH)
    DurableRun(tree, host, store=FileStore(tmp_path / "run")).run(1)
    task = look(tmp_path, tree)
    assert set(task.causes) == {"sensor"}


class Died(KernelAbort):
    pass


def test_an_interrupted_run_is_seen_as_it_stands(tmp_path: Path) -> None:
    """`TSK-1`, `TSK-4`, `TSK-7`: inside a tick; the open intent is pending, not done; nobody is called."""
    world = World()
    world.raises["tell"] = Died()
    tree = program(BOTH)
    with pytest.raises(Died):
        DurableRun(tree, world.host(idempotent=True), store=FileStore(tmp_path / "run")).run(3)
    before = (tmp_path / "run" / "wal.jsonl").read_bytes()
    task = look(tmp_path, tree)
    assert not task.whole
    assert task.end == "interrupted"
    assert [one["tool"] for one in task.pending] == ["tell"]
    assert [one.target for one in task.confirmed] == ["save"]
    assert states(task) == {"saved": "proven", "told": "open"}
    assert world.calls == ["save", "tell"]
    assert (tmp_path / "run" / "wal.jsonl").read_bytes() == before
    world.raises.clear()
    assert run(tmp_path, tree, world, ticks=3, idempotent=True).end == "goal_reached"
    assert look(tmp_path, tree).confirmed[1].attempts == 2


def test_a_verdict_settles_what_was_in_doubt(tmp_path: Path) -> None:
    """`TSK-3`, `TSK-7`: the doubt comes first whatever else is true; the verdict is the proof afterwards."""
    world = World()
    world.raises["tell"] = RuntimeError("lost")
    tree = program(BOTH)
    task = run(tmp_path, tree, world, ticks=1)
    assert task.end == "in_doubt"
    store = FileStore(tmp_path / "run")
    settle(store, task.in_doubt[0]["action_id"], executed=True, value={"receipt": "N1"}, by="olga")
    after = look(tmp_path, tree)
    assert after.in_doubt == ()
    assert after.end == "budget_exhausted"


def test_a_run_that_never_began(tmp_path: Path) -> None:
    """`TSK-7`: opened, and nothing more."""
    tree = program(BOTH)

    class Stops:
        def opened(self, _run: Any) -> None:
            return

    DurableRun(tree, World().host(), store=FileStore(tmp_path / "run"), listener=Stops()).run(0)
    task = look(tmp_path, tree)
    assert task.tick == 0
    assert task.end == "budget_exhausted"
    assert states(task) == {"saved": "open", "told": "open"}


def test_an_extended_run_is_derived_through_its_ends(tmp_path: Path) -> None:
    """`TSK-1`: beyond the first close, up to the last one."""
    world = World()
    world.raises["tell"] = NotExecuted("closed")
    tree = program(BOTH)
    assert run(tmp_path, tree, world, ticks=1).end == "budget_exhausted"
    world.raises.clear()
    task = run(tmp_path, tree, world, ticks=3)
    assert task.end == "goal_reached"
    assert task.tick == 2


def test_another_program_is_refused(tmp_path: Path) -> None:
    """`TSK-1`: known by its digest."""
    run(tmp_path, program(BOTH), World())
    with pytest.raises(DurableError) as refused:
        look(tmp_path, program(BOTH.replace('"ann"', '"bob"')))
    assert refused.value.code == "durable.program_changed"


@pytest.mark.parametrize(
    "kind", ["reason", "judge", "select_plan", "delegate", "ask", "intent", "close", "drain"]
)
def test_evidence_is_made_of_no_other_entry(kind: str) -> None:
    """`TSK-3`: what a model, a sub-agent or a person said is refused, whatever it says."""
    with pytest.raises(AgentLError) as refused:
        Evidence.of(Entry(7, kind, "x", stored_value="done"))
    assert refused.value.code == "task.no_evidence"


def test_an_error_proves_nothing() -> None:
    """`TSK-3`."""
    with pytest.raises(AgentLError):
        Evidence.of(Entry(7, "invoke", "x", error=("RuntimeError", "lost")))


def test_a_long_value_is_shown_by_its_beginning() -> None:
    """`TSK-3`: the digest and the size are of the whole."""
    proof = Evidence.of(Entry(7, "invoke", "x", stored_value="é" * 5000))
    assert len(proof.excerpt) == 200
    assert proof.excerpt.endswith("…")
    assert proof.size == 10002
    with pytest.raises(dataclasses.FrozenInstanceError):
        proof.entry = 8  # type: ignore[misc]
