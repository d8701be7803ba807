"""Statements: assignment, control flow, questions, control words."""

from __future__ import annotations

from threading import Event
from typing import Any

import pytest

from agentl.errors import Cancelled
from agentl.host import Host
from agentl.labels import untrusted
from agentl.language.nodes import AskStmt, ControlStmt, IfStmt, Literal, SetStmt, Stmt
from agentl.runtime.asking import ask_within
from agentl.values import UNDEFINED, Symbol
from tests.support.running import World, codes, events, label, run, start, texts


def loop(body: str, rest: str = "", host: Host | None = None, **options: Any) -> Any:
    """One tick of an agent loop."""
    return run("LOOP MAX 1 { " + body + " } " + rest, host, **options)


# --- SET ---


def test_set_assigns_with_its_label_and_is_traced() -> None:
    """`STM-2`, `STA-8`."""
    runtime = loop("x = 1 + 2 SET b.c 5", "BELIEF { b.c: 1 CONFIDENCE 0.4 }")
    assert runtime.state.get("x") == 3
    belief = runtime.state.beliefs["b.c"]
    assert (belief.value, belief.source, belief.confidence) == (5, "assignment", 0.4)
    assert texts(runtime, "INFO") == ["SET x = 3", "SET b.c = 5"]


@pytest.mark.parametrize("target", ["tools.t.calls", "reason.x", "payload", "goal.score"])
def test_set_never_writes_under_a_reserved_root(target: str) -> None:
    """`STM-2`, `STA-10`."""
    runtime = loop(f"SET {target} 1")
    assert codes(runtime, "ERROR", "INFO") == ["stm.set_refused"]
    assert target not in runtime.state.locals


@pytest.mark.parametrize("target", ["a.b", "a", "a.b.c"])
def test_set_never_writes_on_above_or_below_an_observed_path(target: str) -> None:
    """`STM-2`: observations are written by sensors alone; `a.bc` is another path."""
    runtime = loop(f"SET {target} 1 SET a.bc 2", "OBSERVE a.b")
    assert codes(runtime, "ERROR", "INFO") == ["stm.set_refused", "stm.set"]
    assert target not in runtime.state.locals


def test_a_set_that_fails_writes_nothing_and_the_plan_goes_on() -> None:
    """`STM-2`."""
    runtime = loop('x = "a" - 1 y = 2')
    assert codes(runtime)[1:] == ["stm.set_failed", "stm.set"]
    assert "x" not in runtime.state.locals


def test_what_was_set_does_not_grow_with_memory() -> None:
    """`STM-2`: a local is the value at that time, not the list that memory appends to."""
    runtime = run(
        "MEMORY { LONG_TERM k WRITE { STORE n INTO LONG_TERM.k } } BELIEF { n: 0 }"
        "LOOP MAX 2 { n = n + 1 UPDATE_MEMORY IF n == 1 THEN kept = k }",
        ticks=2,
    )
    assert len(runtime.state.get("k")) == 2
    assert len(runtime.state.get("kept")) == 1


# --- IF, LOOP ---


def test_both_branches_carry_the_label_of_the_condition() -> None:
    """`STM-3`, `STM-1`, `PRV-5`: ELSE too; a condition that raises takes ELSE."""
    world = World().sensor("a.b", 1)
    runtime = loop(
        "OBSERVE IF a.b == 1 THEN x = 1 IF a.b == 2 THEN x = 9 ELSE y = 1 IF "
        '"q" - 1 == 2 THEN z = 1 ELSE z = 2',
        "OBSERVE a.b",
        world.host,
    )
    assert label(runtime, "x") == label(runtime, "y") == ("DECLARED", "OBSERVED")
    assert runtime.state.get("z") == 2


def test_a_loop_turns_until_or_max() -> None:
    """`STM-5`: UNTIL after each turn; 100 when MAX is not positive."""
    assert loop("LOOP UNTIL n >= 3 MAX 9 { n = n + 1 }", "BELIEF { n: 0 }").state.get("n") == 3
    assert loop("LOOP MAX 4 { n = n + 1 }", "BELIEF { n: 0 }").state.get("n") == 4
    assert loop("LOOP UNTIL n >= 0 MAX 9 { n = n + 1 }", "BELIEF { n: 0 }").state.get("n") == 1
    assert loop("LOOP MAX 0 { n = n + 1 }", "BELIEF { n: 0 }").state.get("n") == 100


# --- FOREACH ---


def test_an_item_is_projected_into_locals() -> None:
    """`STM-4`: strings as symbols, lists as a count, dictionaries one level deeper, index from 0."""
    item = {"s": "txt", "n": 1.5, "b": True, "z": None, "l": [1, 2], "d": {"t": "deep", "m": 3}, "u": (1,)}
    world = World().sensor("items", [item])
    runtime = loop(
        "OBSERVE FOREACH v IN items { s = v.s n = v.n b = v.b z = v.z l = "
        "v.l.count t = v.d.t m = v.d.m u = v.u i = v.index }",
        "OBSERVE items",
        world.host,
    )
    state = runtime.state
    assert [state.get(name) for name in ("s", "n", "b", "z", "l", "t", "m", "u", "i")] == [
        Symbol("txt"), 1.5, True, None, 2, Symbol("deep"), 3, (1,), 0,
    ]  # fmt: skip
    assert type(state.get("s")) is Symbol
    assert not any(key.startswith("v.") for key in state.locals)


def test_scalar_items_and_dictionaries_are_walked() -> None:
    """`STM-4`: the values of a dictionary; a string as a symbol."""
    world = World().sensor("items", {"x": "one", "y": 2})
    runtime = loop("OBSERVE FOREACH v IN items { last = v n = v.index }", "OBSERVE items", world.host)
    assert texts(runtime, "INFO")[1:] == ["SET last = one", "SET n = 0", "SET last = 2", "SET n = 1"]
    assert label(runtime, "last") == ("OBSERVED",)


def test_the_body_runs_under_the_label_of_the_source() -> None:
    """`STM-4`, `PRV-5`."""
    world = World().sensor("items", [1])
    runtime = loop("OBSERVE FOREACH v IN items { x = 1 }", "OBSERVE items", world.host)
    assert label(runtime, "x") == ("DECLARED", "OBSERVED")


def test_what_the_bindings_hid_is_back_after_each_item() -> None:
    """`STM-4`: value and label, exactly."""
    runtime = loop("v = 7 FOREACH v IN [1, 2] { y = v } w = v", "")
    assert (runtime.state.get("v"), runtime.state.get("w")) == (7, 7)
    assert label(runtime, "v") == ("DECLARED",)
    assert "v.index" not in runtime.state.locals


def test_foreach_is_cut_at_max() -> None:
    """`STM-4`."""
    runtime = loop("FOREACH v IN [1, 2, 3] MAX 2 { x = v }")
    assert runtime.state.get("x") == 2
    assert events(runtime, "foreach.truncated")[0].values == {"count": 3, "limit": 2}


@pytest.mark.parametrize("source", ["nothing", "7", "a.b", '"text"'])
def test_only_a_collection_can_be_walked(source: str) -> None:
    """`STM-4`."""
    runtime = loop(f"FOREACH v IN {source} {{ x = 1 }}")
    assert codes(runtime, "ERROR") == ["foreach.not_collection"]
    assert not runtime.state.get("x")


def test_an_interrupted_foreach_restores_its_bindings() -> None:
    """`STM-4`: a failed VERIFY leaves the loop, the locals are as before."""
    runtime = loop("FOREACH v IN [1] { VERIFY 1 == 2 }")
    assert "v" not in runtime.state.locals
    assert runtime.kernel.control.depth() == 0


# --- VERIFY ---


def test_verify_is_strict() -> None:
    """`STM-6`, `EVA-12`: ignorance never verifies, not even under NOT."""
    runtime = loop("x = 1", "PLAN a WHEN 1 == 1 { VERIFY NOT (c.d == 1) }")
    assert runtime.metrics["verify_pass"] == 0
    failed = run("PLAN a WHEN 1 == 1 { VERIFY NOT (c.d == 1) }")
    assert failed.metrics["verify_fail"] == 1
    assert events(failed, "verify.fail")[0].detail


def test_verify_is_named_by_its_text_or_its_condition() -> None:
    """`STM-6`."""
    runtime = run('PLAN a WHEN 1 == 1 { VERIFY "all fine" { 1 == 1 } VERIFY 2 > 1 }')
    assert texts(runtime, "VERIFY_OK") == ["all fine", "2 > 1"]
    assert runtime.metrics["verify_pass"] == 2


# --- ASK, ESCALATE, ROLLBACK ---


def test_a_real_answer_is_human() -> None:
    """`STM-9`: locals answer and answer.<who>, label HUMAN, reason in the trace."""
    host = Host()
    asked: list[tuple[str, str]] = []
    host.asker = lambda question, reason: asked.append((question, reason)) or "tuesday"
    runtime = loop('ASK boss { QUESTION "when?" REASON "planning" }', "", host)
    assert asked == [("when?", "planning")]
    assert runtime.state.get("answer") == runtime.state.get("answer.boss") == "tuesday"
    assert label(runtime, "answer") == ("HUMAN",)
    assert texts(runtime, "ASK") == ["boss : when? [planning]", "réponse : tuesday [boss]"]


def test_a_host_may_trust_an_answer_less() -> None:
    """`PRV-3`."""
    host = Host()
    host.asker = lambda question, reason: untrusted("x")
    assert label(loop('ASK boss { QUESTION "q" }', "", host), "answer") == ("EXTERNAL", "HUMAN")


@pytest.mark.parametrize("given", [None, Symbol("no_answer")])
@pytest.mark.parametrize(
    ("default", "expected"), [("", Symbol("no_answer")), ("DEFAULT later", Symbol("later"))]
)
def test_no_answer_takes_the_default(given: Any, default: str, expected: Any) -> None:
    """`STM-9`: a default is no human word."""
    host = Host()
    host.asker = lambda question, reason: given
    runtime = loop(f'ASK boss {{ QUESTION "q" {default} }}', "", host)
    assert runtime.state.get("answer") == expected
    assert label(runtime, "answer") == ("DECLARED",)


def test_an_operator_that_cannot_be_reached_gives_no_answer() -> None:
    """`STM-9`."""
    host = Host()

    def down(question: str, reason: str) -> Any:
        raise OSError("line down")

    host.asker = down
    runtime = loop('ASK boss { QUESTION "q" }', "", host)
    assert texts(runtime, "ERROR")[0].endswith("[OSError: line down : aucune réponse]")
    assert runtime.state.get("answer") == Symbol("no_answer")


def test_an_interruption_is_no_missing_answer() -> None:
    """`KRN-15`."""
    host = Host()

    def stop(question: str, reason: str) -> Any:
        raise Cancelled

    host.asker = stop
    for timeout in ("", "TIMEOUT 30"):
        with pytest.raises(Cancelled):
            loop(f'ASK boss {{ QUESTION "q" {timeout} }}', "", host)


def test_a_late_answer_is_dropped() -> None:
    """`STM-9`: after TIMEOUT there is no answer; what comes later changes nothing."""
    host = Host()
    released, answered = Event(), Event()

    def slow(question: str, reason: str) -> str:
        released.wait(30)
        answered.set()
        return "late"

    host.asker = slow
    runtime = loop('ASK boss { QUESTION "q" TIMEOUT 0.01 DEFAULT early }', "", host)
    before = dict(runtime.state.locals)
    released.set()
    assert answered.wait(30)
    assert runtime.state.locals == before
    assert runtime.state.get("answer") == Symbol("early")


def test_an_answer_in_time_counts() -> None:
    """`STM-9`; no time at all is no answer, without asking."""
    host = Host()
    host.asker = lambda question, reason: 5
    assert loop('ASK boss { QUESTION "q" TIMEOUT 30 }', "", host).state.get("answer") == 5
    host.asker = None
    assert ask_within(host, "q", "", 0) == Symbol("no_answer")


def test_a_host_may_put_the_time_limit_inside_its_own_crossing() -> None:
    """`STM-9`: ask_within of the host is used when there is one."""

    class Crossing(Host):
        def ask_within(self, question: str, reason: str, timeout: float) -> Any:
            return f"{question} {timeout:g}"

    assert loop('ASK boss { QUESTION "q" TIMEOUT 3 }', "", Crossing()).state.get("answer") == "q 3"


def test_escalate_asks_and_rollback_only_says_so() -> None:
    """`STM-7`: the question is known by its code in every language."""
    host = Host()
    asked: list[tuple[Any, str]] = []
    host.asker = lambda question, reason: asked.append((question, reason))
    runtime = loop("ESCALATE ROLLBACK RETRY 3", "", host)
    assert codes(runtime)[1:] == ["stm.escalated", "stm.rollback"]
    assert [(question.code, reason) for question, reason in asked] == [("ask.escalate", "ESCALATE")]


# --- phases and unknown statements ---


def test_a_phase_word_runs_only_in_the_agent_loop() -> None:
    """`STM-12`: nested IF and LOOP included; in a plan it does nothing."""
    runtime = run(
        "GOAL g { 1 == 1 } LOOP MAX 1 { IF 1 == 1 THEN { LOOP MAX 1 { EVALUATE_GOALS } } p EXECUTE }"
        "PLAN p { x = 1 }"
    )
    assert codes(runtime, "GOAL", "ERROR") == ["goal.score"]
    refused = start("GOAL g { 1 == 1 }")
    refused.exec_stmt(ControlStmt("PHASE", "EVALUATE_GOALS"))
    assert codes(refused) == ["stm.phase_refused"]


def test_a_phase_word_below_a_foreach_or_a_failure_handler_is_refused() -> None:
    """`STM-12`: only IF and LOOP pass the permission on."""
    runtime = start(
        "GOAL g { 1 == 1 } LOOP MAX 1 { FOREACH v IN [1] { x = 1 } VERIFY { 1 == 2 ON FAIL { y = 1 } } }"
    )
    foreach, verify = runtime.agent.loop.body
    word = (ControlStmt("PHASE", "EVALUATE_GOALS"),)
    object.__setattr__(foreach, "body", word)
    object.__setattr__(verify, "on_fail", word)
    runtime.run(1)
    assert codes(runtime, "GOAL", "ERROR") == ["stm.phase_refused"] * 2


def test_what_a_phase_runs_is_no_loop_body() -> None:
    """`STM-12`: a phase word in a plan that EXECUTE runs is refused, and the loop goes on."""
    runtime = start("GOAL g { 1 == 1 } LOOP MAX 1 { p EXECUTE EVALUATE_GOALS } PLAN p { x = 1 }")
    plan = runtime.agent.plans[0]
    object.__setattr__(plan.steps[0], "body", (ControlStmt("PHASE", "EVALUATE_GOALS"),))
    runtime.run(1)
    assert codes(runtime, "GOAL", "ERROR") == ["stm.phase_refused", "goal.score"]


def test_an_unknown_statement_is_an_error_without_effect() -> None:
    """`STM-12`."""

    class Novel(Stmt):
        pass

    runtime = start("")
    runtime.exec_stmts([Novel(), SetStmt("x", Literal(1))])
    assert codes(runtime) == ["stm.unsupported", "stm.set"]


def test_the_control_label_is_the_union_of_the_decisions_in_force() -> None:
    """`STM-1`: nested conditions add up, and are gone afterwards."""
    world = World().sensor("a.b", 1)
    runtime = loop(
        'OBSERVE ASK boss { QUESTION "q" DEFAULT 1 } IF a.b == 1 THEN { IF answer == 1 THEN x = 1 } y = 1',
        "OBSERVE a.b",
        world.host,
    )
    assert label(runtime, "x") == ("DECLARED", "OBSERVED")
    assert label(runtime, "y") == ("DECLARED",)


def test_statements_made_by_hand_run_as_parsed_ones() -> None:
    """`API-3`: exec_stmt, exec_stmts."""
    runtime = start("")
    runtime.exec_stmts([IfStmt(Literal(1), (SetStmt("x", Literal(2)),)), AskStmt("boss", "q")])
    assert runtime.state.get("x") == 2
    assert runtime.state.get("answer") == Symbol("no_answer")
    assert runtime.state.get("nothing.there") is UNDEFINED
