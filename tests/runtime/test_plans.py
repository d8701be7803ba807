"""Plans: selection, queue, order, retries, and what a failed VERIFY ends."""

from __future__ import annotations

from typing import Any

import pytest

from agentl.errors import RuntimeAgentError
from agentl.reasoning import MockLLM
from tests.support.running import World, codes, events, label, run, start, texts


def test_a_plan_without_when_is_never_queued_by_itself() -> None:
    """`TCK-10`."""
    assert codes(run("PLAN p { x = 1 }"), "PLAN") == []


def test_plans_are_queued_under_the_label_of_their_guard() -> None:
    """`TCK-10`, `PRV-5`: what the plan writes rests on what queued it."""
    runtime = run("OBSERVE a.b PLAN p WHEN a.b == 1 { x = 1 }", World().sensor("a.b", 1).host)
    assert texts(runtime, "PLAN")[0].endswith("[WHEN vrai]")
    assert label(runtime, "x") == ("DECLARED", "OBSERVED")


def test_rules_take_then_or_else_under_their_condition() -> None:
    """`TCK-10`: in order, each branch."""
    runtime = run(
        """BELIEF { a.b: 1 } DECIDE { IF a.b == 1 THEN p IF a.b == 2 THEN q ELSE r }
        PLAN p { x = 1 } PLAN q { y = 1 } PLAN r { z = 1 }"""
    )
    started = [event.values["plan"] for event in events(runtime, "plan.started")]
    assert started == ["p", "r"]


def test_the_highest_priority_runs_first_and_ties_follow_the_source() -> None:
    """`TCK-12`: what is queued meanwhile included."""
    runtime = run(
        """PLAN low WHEN 1 == 1 { n = 1 } PLAN high PRIORITY 5 WHEN 1 == 1 { THEN late }
        PLAN alsolow WHEN 1 == 1 { n = 2 } PLAN late PRIORITY 1 { n = 3 }"""
    )
    started = [event.values["plan"] for event in events(runtime, "plan.started")]
    assert started == ["high", "late", "low", "alsolow"]


def test_a_plan_that_ran_and_is_queued_by_a_running_plan_waits_a_tick() -> None:
    """`TCK-12`."""
    runtime = start("PLAN again { n = n + 1 THEN again } BELIEF { n: 0 } DECIDE { IF n == 0 THEN again }")
    runtime.run(1)
    assert len(events(runtime, "plan.started")) == 1
    assert [entry.plan for entry in runtime.plan_queue] == ["again"]
    runtime.run(1)
    assert len(events(runtime, "plan.started")) == 2


def test_a_queued_plan_is_not_queued_twice_and_keeps_its_first_origin() -> None:
    """`TCK-11`, `POL-8`: only the label grows."""
    runtime = start(
        "OBSERVE a.b PLAN p WHEN 1 == 1 { x = 1 } DECIDE { IF a.b == 1 THEN p }",
        World().sensor("a.b", 1).host,
    )
    runtime.phase_observe()
    runtime.phase_select_plan()
    assert [(entry.plan, entry.origin) for entry in runtime.plan_queue] == [("p", "plan")]
    assert runtime.plan_queue[0].label.names == ("DECLARED", "OBSERVED", "RUNTIME")
    assert codes(runtime, "PLAN") == ["plan.queued"]


def test_an_unknown_plan_is_an_error_and_queues_nothing() -> None:
    """`TCK-11`, `STM-8`."""
    runtime = run("LOOP MAX 1 { nowhere EXECUTE }")
    assert codes(runtime)[1:] == ["plan.undeclared"]


def test_a_bare_path_and_then_queue_a_plan_as_a_statement() -> None:
    """`STM-8`: reason why.direct."""
    runtime = run("PLAN p { x = 1 } LOOP MAX 1 { p EXECUTE }")
    assert events(runtime, "plan.queued")[0].detail_code == "why.direct"


# --- the model as last resort ---

LAST_RESORT = """DECIDE { REASON "triage" { PRODUCE { level: Number } } }
    TOOL t { } PLAN p { x = 1 t() } PLAN q { y = 1 }"""


def test_the_model_chooses_only_when_nothing_is_queued() -> None:
    """`TCK-10`: REASON first, then a choice among all plans, under label LLM."""
    llm = MockLLM({"triage": {"level": 2}})
    runtime = run(LAST_RESORT, World().tool("t").host, llm)
    assert [call.method for call in llm.calls] == ["reason", "select_plan"]
    assert llm.calls[1].asked == ("p", "q")
    assert events(runtime, "plan.queued")[0].detail_code == "why.llm"
    assert label(runtime, "x") == ("DECLARED", "LLM")
    quiet = MockLLM()
    run("PLAN z WHEN 1 == 1 { w = 1 }" + LAST_RESORT, None, quiet)
    assert quiet.calls == []


@pytest.mark.parametrize("answer", ["wipe", 3, True, ["p"], ""])
def test_a_model_can_only_name_a_declared_plan(answer: Any) -> None:
    """`TCK-10`, `INV-5`."""
    runtime = run(LAST_RESORT, None, MockLLM(plan_choice=answer))
    assert codes(runtime, "BLOCKED") == ["llm.unknown_plan"]
    assert codes(runtime, "PLAN") == []


def test_a_model_that_names_nothing_or_fails_queues_nothing() -> None:
    """`TCK-10`."""

    class Silent(MockLLM):
        def select_plan(self, context: Any, names: Any) -> None:
            return None

    class Broken(MockLLM):
        def select_plan(self, context: Any, names: Any) -> str:
            raise ValueError("no idea")

    assert codes(run(LAST_RESORT, None, Silent()), "PLAN", "BLOCKED", "ERROR") == []
    broken = run(LAST_RESORT, None, Broken())
    assert texts(broken, "ERROR")[0].endswith("[ValueError: no idea]")


# --- VERIFY and retries ---

RETRIED = """TOOL a {} TOOL b {}
    PLAN p WHEN 1 == 1 { STEP one { a() } STEP two { b() VERIFY { 1 == 2 ON FAIL { HOW z = 1 } } }
    STEP three { c = 1 } }"""


def _called(how: str) -> tuple[list[str], Any]:
    world = World().tool("a").tool("b")
    runtime = run(RETRIED.replace("HOW", how), world.host)
    return [name for name, _ in world.calls], runtime


def test_a_retry_replays_from_the_step_that_failed() -> None:
    """`TCK-13`: earlier steps are not repeated; exhausted, the handler runs without its RETRY."""
    called, runtime = _called("RETRY 2")
    assert called == ["a", "b", "b", "b"]
    assert texts(runtime, "RETRY") == [
        "plan p, reprise 1/2 [depuis STEP two]",
        "plan p, reprise 2/2 [depuis STEP two]",
    ]
    assert runtime.state.get("still_failed") is True
    assert runtime.state.get("z") == 1
    assert not runtime.state.get("c")
    assert texts(runtime, "PLAN")[1:] == ["plan p", "plan p [tentative 2]", "plan p [tentative 3]"]


def test_a_retry_from_start_replays_the_first_step() -> None:
    """`TCK-13`."""
    called, runtime = _called("RETRY 1 FROM START")
    assert called == ["a", "b", "a", "b"]
    assert events(runtime, "plan.retry")[0].values["step"] == "one"


def test_without_retry_the_handler_runs_at_once() -> None:
    """`TCK-13`, `STM-7`: a RETRY below an IF is no retry of the plan."""
    called, runtime = _called("IF 1 == 1 THEN { RETRY 3 }")
    assert called == ["a", "b"]
    assert runtime.state.get("z") == 1


def test_a_retry_that_succeeds_goes_on() -> None:
    """`TCK-13`."""
    world = World()
    seen: list[int] = []

    def flip() -> dict[str, Any]:
        seen.append(1)
        return {"done": len(seen) > 1}

    world.tool("flip", flip)
    runtime = run(
        """TOOL flip { OUTPUT { done: Bool } }
        PLAN p WHEN 1 == 1 { STEP s { flip() VERIFY { flip.done == true ON FAIL { RETRY 3 } } }
        STEP t { c = 1 } }""",
        world.host,
    )
    assert len(seen) == 2
    assert runtime.state.get("c") == 1
    assert not runtime.state.get("still_failed")


def test_the_agents_handler_is_used_when_a_verify_has_none() -> None:
    """`TCK-13`: ON VERIFY.FAIL; it does not handle a failure of its own."""
    runtime = run("PLAN p WHEN 1 == 1 { VERIFY 1 == 2 } ON VERIFY.FAIL { n = 1 VERIFY 2 == 3 m = 1 }")
    assert runtime.state.get("n") == 1
    assert not runtime.state.get("m")
    assert runtime.metrics["verify_fail"] == 2


def test_a_failed_verify_stops_its_plan_and_nothing_else() -> None:
    """`TCK-13`: later plans, handlers and rules run."""
    runtime = run(
        """PLAN p WHEN 1 == 1 { VERIFY 1 == 2 x = 1 } PLAN q WHEN 1 == 1 { y = 1 }
        DECIDE { IF 1 == 1 THEN { VERIFY 1 == 2 v = 1 } IF 1 == 1 THEN w = 1 }"""
    )
    state = runtime.state
    assert [bool(state.get(name)) for name in "xyvw"] == [False, True, False, True]


def test_a_failed_verify_outside_a_plan_ends_the_block() -> None:
    """`STM-5`, `TCK-13`: the loop is left and the block around it ends; the run goes on."""
    runtime = run("LOOP MAX 2 { LOOP MAX 5 { n = n + 1 VERIFY 1 == 2 } after = 1 } BELIEF { n: 0 }", ticks=2)
    assert runtime.state.get("n") == 2
    assert not runtime.state.get("after")


def test_a_failed_verify_in_a_loop_ends_the_plan() -> None:
    """`STM-5`."""
    runtime = run("BELIEF { n: 0 } PLAN p WHEN 1 == 1 { LOOP MAX 5 { n = n + 1 VERIFY n < 2 } after = 1 }")
    assert runtime.state.get("n") == 2
    assert not runtime.state.get("after")


@pytest.mark.parametrize(
    ("program", "origin"),
    [
        ("PLAN p WHEN 1 == 1 { t() }", "plan"),
        ("LOOP MAX 1 { t() }", "plan"),
        ("DECIDE { IF 1 == 1 THEN t() }", "decide"),
        ("DECIDE { IF 1 == 1 THEN p } PLAN p { t() }", "decide"),
        ("DECIDE { IF 1 == 1 THEN p } PLAN p { THEN q } PLAN q { t() }", "decide"),
        ("DECIDE { IF 1 == 1 THEN p } PLAN p { VERIFY { 1 == 2 ON FAIL { t() } } }", "decide"),
        ("EVENT door { t() }", "event"),
        ("EVENT door { p } PLAN p { t() }", "event"),
        ('DECIDE { REASON "x" { PRODUCE { a } } } PLAN p { t() }', "llm"),
    ],
)
def test_an_action_says_what_caused_it(program: str, origin: str) -> None:
    """`POL-8`: the origin that queued a plan first is that of all it does."""
    world = World().tool("t")
    world.host.emit("door")
    asked: list[str] = []
    world.host.approver = lambda request: asked.append(request.origin) or True
    run("TOOL t {} POLICY { DEFAULT ALLOW REQUIRE APPROVAL FOR t } " + program, world.host)
    assert asked == [origin]


def test_plans_can_be_run_by_name() -> None:
    """`API-3`."""
    runtime = start("PLAN p { x = 1 VERIFY 1 == 2 }")
    assert runtime.run_plan("p") is False
    assert runtime.state.get("x") == 1
    with pytest.raises(RuntimeAgentError) as refused:
        runtime.run_plan("q")
    assert refused.value.code == "runtime.unknown_plan"
