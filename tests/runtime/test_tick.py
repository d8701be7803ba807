"""Ticks: the cycle, how long a run lasts, start-up, goals."""

from __future__ import annotations

import pytest

from tests.support.running import World, codes, events, label, run, start, texts


def test_the_default_cycle_runs_its_phases_in_order() -> None:
    """`TCK-1`, `TCK-2`: observe, believe, score, plan, execute, score again, remember."""
    world = World().sensor("a.b", 1)
    runtime = run(
        """OBSERVE a.b GOAL g { a.b == 1 } PLAN p WHEN a.b == 1 { x = 1 }
        MEMORY { LONG_TERM log WRITE { STORE x INTO LONG_TERM.log } }""",
        world.host,
    )
    assert codes(runtime) == [
        "tick.start", "sensor.read", "goal.score", "plan.queued", "plan.started", "plan.step", "stm.set",
        "goal.score", "memory.write",
    ]  # fmt: skip
    assert runtime.state.beliefs["a.b"].source == "observation"


def test_an_agent_loop_replaces_the_cycle() -> None:
    """`TCK-1`: phase words, their synonyms and ordinary statements in place; VERIFY scores the goals."""
    runtime = run("GOAL g { x == 2 } PLAN p { x = 2 } LOOP MAX 1 { p ACT VERIFY }", ticks=1)
    assert codes(runtime)[1:] == [
        "plan.queued", "plan.started", "plan.step", "stm.set", "goal.score",
    ]  # fmt: skip
    assert runtime.state.get("goals.g.score") == 1.0


def test_an_empty_loop_body_means_the_default_cycle() -> None:
    """`TCK-1`."""
    assert "goal.score" in codes(run("GOAL g { x == 2 } LOOP MAX 1 { }"))


@pytest.mark.parametrize(
    ("loop", "asked", "ticks"),
    [
        ("", None, 10),
        ("LOOP MAX 3 { OBSERVE }", None, 3),
        ("LOOP MAX 0 { OBSERVE }", None, 10),
        ("LOOP MAX 3 { OBSERVE }", 5, 5),
        ("", -2, 0),
        ("", 0, 0),
    ],
)
def test_the_limit_of_a_run(loop: str, asked: int | None, ticks: int) -> None:
    """`TCK-3`: the argument, else MAX (0 counts as absent), else 10; negative is 0."""
    runtime = start(loop)
    runtime.run(asked)
    assert (runtime.metrics["ticks"], runtime.state.tick, runtime.ended) == (ticks, ticks, "limit")


def test_until_is_tested_after_each_tick_and_after_the_yield() -> None:
    """`TCK-3`: iter_ticks yields before UNTIL is tested."""
    runtime = start("LOOP UNTIL n >= 2 MAX 9 { n = n + 1 } BELIEF { n: 0 }")
    seen = [(tick, codes(runtime).count("loop.until")) for tick in runtime.iter_ticks()]
    assert seen == [(1, 0), (2, 0)]
    assert codes(runtime)[-1] == "loop.until"
    assert runtime.ended == "until"


def test_a_horizon_caps_the_limit() -> None:
    """`TCK-3`."""
    assert list(start("").iter_ticks(5, horizon=2)) == [1, 2]
    assert list(start("").iter_ticks(1, horizon=4)) == [1]


def test_start_up_states_what_guards_may_read() -> None:
    """`TCK-4`: beliefs with their label, empty memory, facts about every tool and sub-agent."""
    runtime = start(
        """BELIEF { a.b: 3 CONFIDENCE 0.5 SOURCE survey } MEMORY { SHORT_TERM s KNOWLEDGE k SHARED h }
        TOOL pay { } PLAN p { IF a.b == 3 THEN { DELEGATE helper { TASK "x" } } }"""
    )
    state = runtime.state
    belief = state.beliefs["a.b"]
    assert (belief.value, belief.confidence, belief.source) == (3, 0.5, "survey")
    assert label(runtime, "a.b") == ("DECLARED",)
    assert state.memory == {
        "SHORT_TERM": {"s": []},
        "LONG_TERM": {},
        "KNOWLEDGE": {"k": []},
        "SHARED": {"h": []},
    }
    for name in ("pay", "helper"):
        assert state.get(f"tools.{name}.in_doubt") is False
        assert state.get(f"tools.{name}.calls") == 0
        assert label(runtime, f"tools.{name}.calls") == ("RUNTIME",)


def test_a_belief_that_cannot_be_evaluated_is_not_held() -> None:
    """`EVA-13`: traced, and what needed the value does not act."""
    runtime = start('BELIEF { a.b: "x" - 1, tools.t.calls: 3 }')
    assert "a.b" not in runtime.state.beliefs
    assert [event.code for event in runtime.trace.events] == ["eval.value", "state.reserved"]


def test_a_belief_is_declared_whatever_its_expression_reads() -> None:
    """`TCK-4`: DECLARED joined with the label of the expression."""
    runtime = start("BELIEF { a.b: 1, c.d: nothing.there }")
    assert label(runtime, "c.d") == ("DECLARED", "UNKNOWN")


def test_goals_are_scored_by_condition_and_targets() -> None:
    """`TCK-9`: the mean of the parts, the weighted mean of the goals, and their labels."""
    world = World().sensor("a.b", 1)
    runtime = run(
        """OBSERVE a.b
        GOAL one { ACHIEVE a.b == 1 TARGET { a.b == 2, a.b == 3 } WEIGHT 3 }
        GOAL two { MAINTAIN a.b == 1 }""",
        world.host,
    )
    state = runtime.state
    assert state.get("goals.one.score") == pytest.approx(1 / 3)
    assert state.get("goal.score") == pytest.approx((3 * 1 / 3 + 1) / 4)
    assert state.get("goal.satisfied") is False
    assert label(runtime, "goal.score") == ("DECLARED", "OBSERVED", "RUNTIME")
    assert texts(runtime, "GOAL")[:2] == ["one score=0.33 [achieve]", "two score=1.00 [maintain]"]


def test_without_goals_everything_is_satisfied() -> None:
    """`TCK-9`."""
    runtime = run("")
    assert (runtime.state.get("goal.score"), runtime.state.get("goal.satisfied")) == (1.0, True)


@pytest.mark.parametrize(
    ("program", "context", "name"),
    [
        ("PLAN p WHEN f(1) == 1 { x = 1 }", "context.plan", "p"),
        ("DECIDE { IF f(1) == 1 THEN x = 1 }", "context.decide", ""),
        ("LOOP MAX 1 { IF f(1) == 1 THEN x = 1 }", "context.if", ""),
        ("OBSERVE a.b WHEN f(1) == 1", "context.observe", "a.b"),
        ("MEMORY { LONG_TERM k WRITE { WHEN f(1) == 1 STORE x INTO LONG_TERM.k } }", "context.memory",
         "LONG_TERM.k"),
        ("GOAL g { f(1) == 1 }", "context.goal", "g"),
        ("GOAL g { TARGET f(1) == 1 }", "context.target", "g"),
        ("LOOP MAX 1 { LOOP UNTIL f(1) == 1 MAX 1 { x = 1 } }", "context.loop", ""),
        ("LOOP UNTIL f(1) == 1 MAX 1 { x = 1 }", "context.agent_loop", ""),
        ("TOOL t { REQUIRES f(1) == 1 } LOOP MAX 1 { t() }", "context.requires", "t"),
        ("LOOP MAX 1 { VERIFY f(1) == 1 }", "context.verify", ""),
    ],
)  # fmt: skip
def test_a_condition_that_raises_is_false_and_says_where(program: str, context: str, name: str) -> None:
    """`EVA-12`: every place has its own name, and no evaluation aborts a tick (`EVA-13`)."""
    runtime = run(program)
    found = events(runtime, "eval.condition")
    assert found
    assert {(event.values["context"], event.values["name"]) for event in found} == {(context, name)}
    assert "EvalError" in found[0].detail
    assert bool(runtime.state.get("x")) is ("LOOP UNTIL" in program)


def test_a_run_does_not_depend_on_an_earlier_one() -> None:
    """`TCK-2`: the same program and world give the same trace, twice."""
    body = "OBSERVE a.b GOAL g { a.b == 1 } PLAN p WHEN a.b == 1 { VERIFY a.b == 2 }"
    first, second = (run(body, World().sensor("a.b", 1).host, ticks=3) for _ in range(2))
    assert first.trace.render() == second.trace.render()


def test_phases_can_be_run_by_name() -> None:
    """`API-3`: phase_<name>, synonyms included; anything else is no attribute."""
    runtime = start("GOAL g { x == 1 }")
    runtime.phase_evaluate_goals()
    runtime.phase_decide()
    assert codes(runtime) == ["goal.score"]
    with pytest.raises(AttributeError):
        runtime.phase_unheard  # noqa: B018
