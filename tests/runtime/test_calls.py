"""Tool calls: order, outcomes, contracts, effects, the circuit breaker, doubts."""

from __future__ import annotations

from typing import Any

import pytest

from agentl.errors import InvalidArguments, NotExecuted, StoreFailure
from agentl.host import Host
from agentl.kernel.approval import Approval
from agentl.kernel.port import NOT_EXECUTED
from agentl.labels import of, untrusted
from agentl.values import UNDEFINED, Symbol
from tests.support.running import World, codes, events, label, run, start, texts


def called(call: str, decl: str, world: World, rest: str = "", ticks: int = 1, **options: Any) -> Any:
    """One call per tick in the agent loop."""
    return run(f"TOOL {decl} {rest} LOOP MAX 9 {{ OBSERVE {call} }}", world.host, ticks=ticks, **options)


# --- arguments and order (TOL-1, TOL-2) ---


def test_positions_take_the_declared_names_in_order() -> None:
    """`TOL-1`: further positions are arg<i>; a tool without INPUT accepts anything."""
    world = World().tool("t").tool("u")
    called("t(1, 2) u(1, b: 2)", "t { INPUT { a, b } } TOOL u {}", world)
    assert world.calls == [("t", {"a": 1, "b": 2}), ("u", {"arg0": 1, "b": 2})]


def test_arguments_that_cannot_be_evaluated_are_not_sent() -> None:
    """`TOL-1`, `TOL-7`."""
    world = World().tool("t")
    runtime = called('t(a: "x" - 1)', "t {}", world)
    assert codes(runtime, "BLOCKED") == ["tool.arguments"]
    assert world.calls == []
    assert runtime.metrics["blocked"] == 1
    assert runtime.state.get("last_action.blocked") is True


def test_an_undeclared_tool_does_not_exist() -> None:
    """`TOL-2`: whatever the host offers."""
    world = World().tool("wipe").tool("t")
    runtime = called("wipe()", "t {}", world)
    assert codes(runtime, "BLOCKED") == ["tool.undeclared"]
    assert world.calls == []


def test_requires_is_read_again_and_skips_without_blocking() -> None:
    """`TOL-2`."""
    world = World().sensor("v.s", "closed").tool("t")
    runtime = called("t()", "t { REQUIRES v.s == open }", world, "OBSERVE v.s")
    assert "tool.skipped" in codes(runtime)
    assert "belief.rechecked" in codes(runtime)
    assert (runtime.metrics["blocked"], world.calls) == (0, [])


@pytest.mark.parametrize(
    ("inputs", "call", "code"),
    [
        ("n: Number", "t(n: true)", None),
        ("n: Number", "OBSERVE t(n: flag.on)", "kernel.input_type"),
        ("n: Int", "t(n: 1.5)", "kernel.input_type"),
        ("n: Number", 't(n: "1")', "kernel.input_type"),
        ("n: Number", "t()", "kernel.input_missing"),
        ("n: Number", "t(n: 1 / 0)", "kernel.input_finite"),
        ("n: Number", "t(n: 1, m: 2)", "kernel.input_unknown"),
    ],
)
def test_the_input_contract_is_checked_before_anybody_is_asked(
    inputs: str, call: str, code: str | None
) -> None:
    """`TOL-2`, `KRN-7`: booleans are no numbers, infinity is none; nothing is called."""
    world = World().sensor("flag.on", True).tool("t")
    world.host.approver = lambda request: pytest.fail("nobody may be asked")
    runtime = called(
        call,
        f"t {{ INPUT {{ {inputs} }} }}",
        world,
        "OBSERVE flag.on POLICY { DEFAULT ALLOW REQUIRE APPROVAL FOR t }",
    )
    found = events(runtime, "tool.input")
    assert [event.detail_code for event in found] == [code or "kernel.input_type"]
    assert world.calls == []


def test_a_refused_action_is_blocked_and_says_why() -> None:
    """`TOL-7`: the reason of the policy in the detail."""
    world = World().tool("t")
    runtime = called("t(a: 1)", "t {}", world, "POLICY { DEFAULT ALLOW NEVER t WHEN a == 1 }")
    assert world.calls == []
    refused = events(runtime, "tool.refused")[0]
    assert (refused.kind, refused.detail_code) == ("BLOCKED", "pol.never")
    assert refused.text.startswith("t(a=1)")
    assert runtime.metrics["blocked"] == 1
    assert runtime.state.get("last_action.blocked") is True


def test_a_granted_action_is_not_blocked() -> None:
    """`TOL-7`: set to False before it runs."""
    world = World().tool("t")
    runtime = start("TOOL t {} POLICY { DEFAULT ALLOW NEVER t WHEN a == 1 }", world.host)
    runtime.call_tool("t", {"a": 1})
    assert runtime.state.get("last_action.blocked") is True
    runtime.call_tool("t", {"a": 2})
    assert runtime.state.get("last_action.blocked") is False


@pytest.mark.parametrize("value", [object(), {1, object()}, {"x": UNDEFINED}])
def test_a_value_outside_the_data_model_is_refused(value: Any) -> None:
    """`KRN-3`: non-serialisable arguments, one clear line, nothing called."""
    world = World().tool("t")
    runtime = start("TOOL t {}", world.host)
    assert runtime.call_tool("t", {"a": value}) is None
    assert [event.detail_code for event in events(runtime, "tool.refused")] == ["kernel.data_model"]
    assert world.calls == []


# --- approval ---


@pytest.mark.parametrize(
    ("answer", "trace"),
    [
        (Approval(True, "ann"), ["approval.pending", "approval.given"]),
        ("oui", ["approval.pending", "approval.given"]),
        (False, ["approval.pending", "approval.denied"]),
        (1, ["approval.pending", "approval.denied"]),
        ("expired", ["approval.pending", "approval.expired"]),
        (None, ["approval.pending", "approval.denied"]),
        (ValueError("away"), ["approval.pending", "approval.failed", "approval.denied"]),
    ],
)
def test_an_approval_is_traced_from_question_to_answer(answer: Any, trace: list[str]) -> None:
    """`TOL-2`, `APR-1`, `APR-2`."""
    world = World().tool("t")

    def approver(request: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    world.host.approver = approver
    runtime = called("t(a: 1)", "t {}", world, "POLICY { DEFAULT ALLOW REQUIRE APPROVAL FOR t }")
    assert [code for code in codes(runtime) if code.startswith("approval.")] == trace
    given = trace[-1] == "approval.given"
    assert len(world.calls) == runtime.metrics["approvals"] == given
    assert runtime.metrics["blocked"] == (not given)
    if isinstance(answer, Approval):
        assert texts(runtime, "APPROVAL")[1] == "t(a=1) approuvée [par ann]"


def test_a_guard_that_judged_the_argument_says_so() -> None:
    """`POL-4`: the hidden value is reported."""
    world = World().tool("t")
    runtime = called(
        "t(level: 9)", "t {}", world, "BELIEF { level: 1 } POLICY { DEFAULT ALLOW NEVER t WHEN level == 1 }"
    )
    shadowed = events(runtime, "pol.shadowed")[0]
    assert (shadowed.kind, shadowed.values["argument"]) == ("POLICY", "level")
    assert (shadowed.values["value"], shadowed.values["hidden"]) == (9, 1)
    assert len(world.calls) == 1


# --- outcomes (TOL-3) ---


def outcome(
    answer: Any, decl: str = "t { SIDE_EFFECT { disk } EFFECT { disk.state = full } }", **promises: Any
) -> Any:
    """A runtime after one call."""
    return called("t()", decl, World().tool("t", answer, **promises))


@pytest.mark.parametrize("error", [NotExecuted("no"), InvalidArguments("bad"), PermissionError("denied")])
def test_a_sure_failure_leaves_no_doubt(error: Exception) -> None:
    """`TOL-3`: one failure, no dirty mark, no effect, no call counted."""
    runtime = outcome(error)
    state = runtime.state
    assert codes(runtime, "ERROR") == ["tool.failed"]
    assert str(error) in events(runtime, "tool.failed")[0].detail
    assert (state.get("tools.t.failures"), state.get("tools.t.calls"), state.get("tools.t.in_doubt")) == (
        1,
        0,
        False,
    )
    assert state.get("disk.dirty") is UNDEFINED
    assert state.get("disk.state") is UNDEFINED
    assert runtime.metrics["tool_failures"] == 1


def test_an_unregistered_tool_and_a_wrong_signature_did_nothing() -> None:
    """`TOL-3`: the dispatch failed before the function was entered."""
    missing = called("t()", "t {}", World())
    assert (codes(missing, "ERROR"), missing.state.get("tools.t.in_doubt")) == (["tool.failed"], False)
    host = Host()
    host.tool("t")(lambda a: {})
    wrong = run("TOOL t {} LOOP MAX 1 { t(b: 1) }", host)
    assert (codes(wrong, "ERROR"), wrong.state.get("tools.t.in_doubt")) == (["tool.failed"], False)


def test_any_other_raise_is_in_doubt() -> None:
    """`TOL-3`, `TOL-9`: dirty marks, no effect, counted once, the action named."""
    runtime = outcome(OSError("cut"))
    state = runtime.state
    assert codes(runtime, "ERROR") == ["tool.failed", "tool.in_doubt"]
    assert events(runtime, "tool.failed")[0].detail == "OSError: cut, 1 échec(s) de suite"
    assert events(runtime, "tool.in_doubt")[0].detail == "run:T:t1:a1"
    assert state.get("tools.t.in_doubt") is True
    assert state.get("last_action.in_doubt") is True
    assert state.get("disk.dirty") is True
    assert state.get("disk.state") is UNDEFINED
    assert (state.get("tools.t.calls"), state.get("tools.t.failures")) == (1, 1)


def test_a_read_only_tool_is_never_in_doubt() -> None:
    """`TOL-3`, `HST-4`: a raise is a failure, a broken OUTPUT too."""
    raised = outcome(OSError("cut"), read_only=True)
    assert raised.state.get("tools.t.in_doubt") is False
    broken = outcome({"n": "text"}, "t { OUTPUT { n: Number } SIDE_EFFECT { disk } }", read_only=True)
    assert broken.state.get("disk.dirty") is True
    assert codes(broken, "ERROR") == ["tool.output"]
    assert (broken.state.get("tools.t.in_doubt"), broken.state.get("tools.t.failures")) == (False, 1)


def test_a_store_failure_is_no_tool_failure() -> None:
    """`TOL-3`, `DRF-3`."""
    with pytest.raises(StoreFailure):
        outcome(StoreFailure())


# --- the OUTPUT contract (TOL-4) ---


def test_undeclared_outputs_are_dropped() -> None:
    """`TOL-4`: with and without OUTPUT."""
    declared = outcome({"n": 1, "x": 2, "y": 3}, "t { OUTPUT { n: Number } }")
    assert events(declared, "tool.output_dropped")[0].values["keys"] == ["x", "y"]
    assert declared.metrics["tool_output_dropped"] == 2
    assert (declared.state.get("n"), declared.state.get("x")) == (1, UNDEFINED)
    free = outcome({"n": 1}, "t {}")
    assert codes(free, "INFO") == ["tool.output_ignored"]
    assert free.state.get("result") == {}


class Gadget:
    """Has no journal form."""


@pytest.mark.parametrize(
    ("output", "answer", "violation"),
    [
        ("n: Number", None, "output.not_dictionary"),
        ("n: Number", [1], "output.not_dictionary"),
        ("n: Number", {}, "output.missing"),
        ("n: Number", {"n": True}, "output.type"),
        ("n: Number", {"n": "1"}, "output.type"),
        ("n: Number", {"n": float("nan")}, "output.not_finite"),
        ("n: Float", {"n": float("inf")}, "output.not_finite"),
        ("n: Symbol", {"n": "text"}, "output.type"),
        ("n: Bool", {"n": 1}, "output.type"),
        ("n: List", {"n": {"a": 1}}, "output.type"),
        ("n", {"n": Gadget()}, "output.opaque"),
        ("n: Number", {"n": 1, "x": [Gadget()]}, "output.opaque"),
        (None, Gadget(), "output.opaque"),
        (None, {"x": Gadget()}, "output.opaque"),
    ],
)
def test_a_broken_output_binds_nothing_and_is_in_doubt(
    output: str | None, answer: Any, violation: str
) -> None:
    """`TOL-4`, `ENC-6`: no effect, dirty all the same, counted as a doubt."""
    contract = f"OUTPUT {{ {output} }}" if output else ""
    runtime = outcome(answer, f"t {{ {contract} SIDE_EFFECT {{ disk }} EFFECT {{ disk.state = full }} }}")
    state = runtime.state
    assert codes(runtime, "ERROR") == ["tool.output", "tool.in_doubt"]
    assert events(runtime, "tool.output")[0].detail_code == violation
    assert state.get("tools.t.in_doubt") is True
    assert state.get("disk.dirty") is True
    assert state.get("disk.state") is UNDEFINED
    assert not any(name in state.untrusted for name in ("n", "x"))
    assert "result" not in state.locals
    assert runtime.metrics["tool_contract_failures"] == runtime.metrics["tool_failures"] == 1
    assert state.get("tools.t.calls") == 1


# --- success (TOL-5) ---


def test_a_success_binds_outputs_and_believes_effects() -> None:
    """`TOL-5`, `PRV-3`: labels, confidence, source, the arguments in scope."""
    world = World().tool("t", {"n": untrusted(4), "s": Symbol("ok")})
    runtime = called(
        "t(level: 7)",
        "t { OUTPUT { n: Number, s: Symbol } RISK HIGH EFFECT { disk.level = level + 1 } }",
        world,
    )
    state = runtime.state
    assert (state.get("t.n"), state.get("n"), state.get("result.n"), state.get("result.t")) == (
        4, 4, 4, {"n": 4, "s": Symbol("ok")},
    )  # fmt: skip
    assert label(runtime, "t.n") == ("EXTERNAL", "TOOL")
    assert label(runtime, "t.s") == ("TOOL",)
    assert label(runtime, "result.t") == ("EXTERNAL", "TOOL")
    belief = state.beliefs["disk.level"]
    assert (belief.value, belief.confidence, belief.source) == (8, 0.80, "effect:t")
    assert label(runtime, "disk.level") == ("DECLARED", "EFFECT")
    assert state.get("level") is UNDEFINED
    assert texts(runtime, "TOOL") == ["t(level=7) [risk=HIGH → {'n': 4, 's': ok}]"]
    assert runtime.metrics["tool_calls"] == 1


def test_an_effect_carries_the_decision_that_led_to_it() -> None:
    """`TOL-5`, `PRV-6`: EFFECT with the value and $control."""
    world = World().sensor("a.b", 1).tool("t")
    runtime = called("IF a.b == 1 THEN t()", "t { EFFECT { disk.state = full } }", world, "OBSERVE a.b")
    assert label(runtime, "disk.state") == ("DECLARED", "EFFECT", "OBSERVED")
    assert label(runtime, "result.t") == ("DECLARED", "OBSERVED", "TOOL")


def test_an_effect_that_cannot_be_evaluated_is_not_believed() -> None:
    """`EVA-13`, `STA-10`."""
    runtime = outcome({}, 't { EFFECT { disk.a = "x" - 1, tools.t.calls = 9, disk.b = 2 } }')
    assert codes(runtime, "ERROR") == ["eval.value", "state.reserved"]
    assert list(runtime.state.beliefs) == ["disk.b"]


def test_an_outcome_sets_no_belief() -> None:
    """`TOL-5`: it waits for the utility of outcomes."""
    assert outcome({}, "t { OUTCOME good WITH 0.5 { disk.a = 1 } }").state.beliefs == {}


def test_only_a_validator_attests() -> None:
    """`TOL-5`, `PRV-8`: those parameters alone, only on success, and labels do not change."""
    world = World().tool("check").tool("t")
    runtime = start("TOOL check { INPUT { iban ATTESTS iban, note } } TOOL t { INPUT { iban } }", world.host)
    runtime.call_tool("t", {"iban": "FR1"})
    assert runtime.state.attested_by("FR1") == set()
    runtime.call_tool("check", {"iban": "FR1", "note": "n1"})
    assert runtime.state.attested_by("FR1") == {"check"}
    assert runtime.state.attested_by("n1") == set()
    world.tool("check", ValueError("refused"))
    runtime.call_tool("check", {"iban": "FR2", "note": "n1"})
    assert runtime.state.attested_by("FR2") == set()


def test_labels_from_python_can_only_add() -> None:
    """`KRN-18`: an argument without a label is UNKNOWN."""
    world = World().tool("t")
    runtime = start(
        "TOOL t { INPUT { a, b } } POLICY { DEFAULT ALLOW NEVER t WHEN UNTRUSTED(b) }", world.host
    )
    assert runtime.call_tool("t", {"a": 1, "b": 2}) is None
    assert runtime.call_tool("t", {"a": 1, "b": 2}, provenance={"b": of("DECLARED")}) == {}
    assert len(world.calls) == 1


# --- the circuit breaker (TOL-6) ---


def test_three_failures_open_the_circuit_until_a_probe_succeeds() -> None:
    """`TOL-6`: not attempted, not approved, not blocked; one probe after the cooldown."""
    world = World().tool("t", NotExecuted("down"))
    runtime = called("t()", "t {}", world, ticks=7)
    assert len(world.calls) == 3
    assert runtime.state.get("tools.t.available") is False
    assert (runtime.metrics["circuit_open"], runtime.metrics["blocked"]) == (4, 0)
    opened = events(runtime, "tool.circuit_open")
    assert [event.values["ticks"] for event in opened] == [4, 3, 2, 1]
    assert opened[0].text.startswith("t()")
    assert runtime.state.get("last_action.blocked") is True
    runtime.run(1)
    assert len(world.calls) == 4
    world.tool("t", {})
    runtime.run(5)
    assert len(world.calls) == 5
    assert (runtime.state.get("tools.t.failures"), runtime.state.get("tools.t.available")) == (0, True)


def test_nobody_approves_what_will_not_be_tried() -> None:
    """`TOL-6`: before policy and approval, and no permit is minted."""
    world = World().tool("t", NotExecuted("down"))
    asked: list[Any] = []
    world.host.approver = lambda request: asked.append(request) or True
    runtime = called("t()", "t {}", world, "POLICY { DEFAULT ALLOW REQUIRE APPROVAL FOR t }", ticks=5)
    assert len(asked) == runtime.kernel.stats["permits"] == 3


def test_the_breaker_can_be_disabled_or_set() -> None:
    """`TOL-6`: options tool_breaker (0 disables) and tool_cooldown."""
    never = World().tool("t", NotExecuted("down"))
    called("t()", "t {}", never, ticks=6, tool_breaker=0)
    assert len(never.calls) == 6
    early = World().tool("t", NotExecuted("down"))
    called("t()", "t {}", early, ticks=4, tool_breaker=1, tool_cooldown=2)
    assert len(early.calls) == 2


def test_a_success_ends_the_series() -> None:
    """`TOL-6`."""
    answers = iter([NotExecuted("a"), NotExecuted("b"), {}, NotExecuted("c"), NotExecuted("d")])
    world = World().tool("t", lambda: next(answers))
    runtime = called("t()", "t {}", world, ticks=5)
    assert len(world.calls) == 5
    assert runtime.state.get("tools.t.failures") == 2
    assert runtime.metrics["circuit_open"] == 0


# --- doubts (TOL-8, TOL-9) ---


def test_a_later_success_does_not_clear_a_doubt() -> None:
    """`TOL-8`."""
    answers = iter([OSError("cut"), {}])
    world = World().tool("t", lambda: next(answers))
    runtime = called("t()", "t {}", world, ticks=2)
    assert runtime.state.get("tools.t.in_doubt") is True
    assert runtime.state.get("tools.t.calls") == 2
    assert runtime.state.get("last_action.in_doubt") is False


class Reconciled:
    """A tool that raises, and a reconciler whose answers are scripted."""

    def __init__(self, *answers: Any) -> None:
        self.world = World().tool("t", OSError("cut"))
        self.asked: list[str] = []
        remaining = list(answers)

        def ask(args: dict[str, Any], context: Any) -> Any:
            self.asked.append(context.action_id)
            answer = remaining.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

        self.world.host.reconciler("t")(ask)


DECL = "t { OUTPUT { n: Number } SIDE_EFFECT { disk } EFFECT { disk.state = full } }"


def test_a_doubt_settled_as_executed_is_handled_as_its_result() -> None:
    """`TOL-8`, `TOL-9`: before the next call is judged, by a later reconciliation; counted once."""
    case = Reconciled(OSError("no idea"), {"n": 5}, NOT_EXECUTED)
    runtime = called("t()", DECL, case.world)
    assert (runtime.state.get("tools.t.in_doubt"), runtime.state.get("tools.t.calls")) == (True, 1)
    case.world.tool("t", {"n": 6})
    runtime.run(1)
    settled = events(runtime, "tool.settled")[0]
    assert settled.values["action_id"] == "run:T:t1:a1"
    assert settled.detail_code == "tool.settled_executed"
    assert [event.values["result"] for event in events(runtime, "tool.done")] == [{"n": 5}, {"n": 6}]
    assert runtime.state.get("tools.t.in_doubt") is False
    assert runtime.state.get("tools.t.calls") == 2
    assert runtime.state.beliefs["disk.state"].source == "effect:t"
    assert len(case.world.calls) == 2


def test_a_doubt_settled_as_not_executed_takes_its_marks_away() -> None:
    """`TOL-8`: the action itself is not run then."""
    case = Reconciled(OSError("no idea"), NOT_EXECUTED)
    runtime = start(f"TOOL {DECL} POLICY {{ DEFAULT ALLOW NEVER t WHEN stop == 1 }}", case.world.host)
    runtime.tick()
    runtime.call_tool("t", {})
    assert runtime.state.get("disk.dirty") is True
    runtime.tick()
    runtime.call_tool("t", {"stop": 1})
    assert events(runtime, "tool.settled")[0].detail_code == "tool.settled_not_executed"
    assert runtime.state.get("disk.dirty") is UNDEFINED
    assert len(case.world.calls) == 1
    assert runtime.state.get("disk.state") is UNDEFINED


def test_a_mark_of_another_action_stays() -> None:
    """`TOL-8`: only the marks of that action are removed."""
    case = Reconciled(OSError("no idea"), NOT_EXECUTED)
    runtime = start(f"TOOL {DECL} POLICY {{ DEFAULT ALLOW NEVER t WHEN stop == 1 }}", case.world.host)
    runtime.tick()
    case.world.tool("t", {"n": 1})
    runtime.call_tool("t", {})
    case.world.tool("t", OSError("cut"))
    runtime.call_tool("t", {})
    runtime.tick()
    runtime.call_tool("t", {"stop": 1})
    assert runtime.state.get("tools.t.in_doubt") is False
    assert runtime.state.get("disk.dirty") is True


def test_a_reconciler_is_asked_at_most_once_per_tick_and_its_raise_changes_nothing() -> None:
    """`TOL-8`."""
    case = Reconciled(*[OSError("no idea")] * 9)
    runtime = start("TOOL t {} POLICY { DEFAULT ALLOW NEVER t WHEN stop == 1 }", case.world.host)
    runtime.tick()
    runtime.call_tool("t", {})
    before = len(case.asked)
    runtime.tick()
    runtime.call_tool("t", {"stop": 1})
    runtime.call_tool("t", {"stop": 1})
    assert len(case.asked) - before == 1
    assert runtime.state.get("tools.t.in_doubt") is True


def test_a_settled_value_that_breaks_the_contract_binds_nothing() -> None:
    """`TOL-8`: the doubt is settled all the same."""
    case = Reconciled(OSError("no idea"), {"n": "text"})
    runtime = start(f"TOOL {DECL} POLICY {{ DEFAULT ALLOW NEVER t WHEN stop == 1 }}", case.world.host)
    runtime.tick()
    runtime.call_tool("t", {})
    runtime.tick()
    runtime.call_tool("t", {"stop": 1})
    assert codes(runtime, "ERROR")[-1] == "tool.output"
    assert runtime.state.get("tools.t.in_doubt") is False
    assert runtime.state.get("n") is UNDEFINED
    assert runtime.state.get("disk.dirty") is True


def test_a_doubt_after_a_broken_output_can_be_settled_too() -> None:
    """`TOL-4`, `TOL-8`."""
    world = World().tool("t", {"n": "text"})
    world.host.reconciler("t")(lambda args, context: {"n": 3})
    runtime = start(f"TOOL {DECL} POLICY {{ DEFAULT ALLOW NEVER t WHEN stop == 1 }}", world.host)
    runtime.tick()
    runtime.call_tool("t", {})
    assert runtime.state.get("tools.t.in_doubt") is True
    runtime.tick()
    runtime.call_tool("t", {"stop": 1})
    assert (runtime.state.get("tools.t.in_doubt"), runtime.state.get("t.n")) == (False, 3)


class Verdicts:
    """The journal's port, with one operator's verdict waiting; everything else is fresh."""

    fencing_token = None

    def __init__(self) -> None:
        self.waiting: list[Any] = []

    def intent(self, permit: Any, promise: Any) -> Any:
        from agentl.kernel.port import FRESH

        return FRESH

    def resolution(self, permit: Any, how: str, attempt: Any) -> None: ...

    def result(self, permit: Any, outcome: Any) -> None: ...

    def verdicts(self) -> list[Any]:
        taken, self.waiting = self.waiting, []
        return taken


def test_an_operators_verdict_takes_effect_at_the_start_of_the_next_tick() -> None:
    """`TCK-2`, `RES-10`, `TOL-8`: its value adds HUMAN."""
    from agentl.kernel.port import Verdict

    world = World().tool("t", OSError("cut"))
    runtime = start(f"TOOL {DECL}", world.host)
    runtime.kernel.journal = journal = Verdicts()
    runtime.tick()
    runtime.call_tool("t", {})
    journal.waiting.append(Verdict("run:T:t1:a1", "t", True, {"n": 8}, by="ann"))
    assert runtime.state.get("tools.t.in_doubt") is True
    runtime.tick()
    assert runtime.state.get("tools.t.in_doubt") is False
    assert label(runtime, "t.n") == ("HUMAN", "TOOL")
    assert events(runtime, "tool.settled")[0].values["by"] == "ann"
    after = codes(runtime)
    assert after.index("tool.settled") == after.index("tick.start", 1) + 1


def test_at_most_once_per_run_is_a_never_on_the_count() -> None:
    """`TOL-9`: readable in guards, decided from the first call on."""
    world = World().tool("t")
    runtime = called(
        "t()", "t {}", world, "POLICY { DEFAULT ALLOW NEVER t WHEN tools.t.calls >= 1 }", ticks=3
    )
    assert len(world.calls) == 1
    assert runtime.metrics["blocked"] == 2
