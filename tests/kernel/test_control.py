"""Labels of decisions and of proposed calls are computed inside the trusted base."""

from __future__ import annotations

from typing import Any

import pytest

from agentl.errors import EvalError, InvalidArguments, PermitError
from agentl.kernel.control import CONTROL_KEY, Control, Decision, arguments, given_labels
from agentl.kernel.provenance import NONE, UNKNOWN_LABEL, Labeled, crossed, crossed_field, of
from agentl.labels import SourceError
from agentl.language.nodes import BinOp, CallExpr, ListExpr, Literal, UnOp
from agentl.state import State
from tests.support.kernels import TRANSFER, compare, kernel, path


def world(**values: Any) -> State:
    state = State()
    for name, (value, source) in values.items():
        state.set_world(name.replace("__", "."), value, of(source))
    return state


def test_the_control_label_is_the_union_of_the_decisions_in_force() -> None:
    """STM-1, PRV-5."""
    control = Control()
    assert control.label is NONE
    with control.enter(control.decide("EVENT")):
        with control.enter(control.decide("LLM")):
            assert control.label == of("EVENT", "LLM")
            assert control.depth() == 2
        assert control.label == of("EVENT")
    assert control.label is NONE


def test_leaving_by_an_exception_takes_the_decision_off() -> None:
    """STM-1."""
    control = Control()
    with pytest.raises(ZeroDivisionError), control.enter(control.decide("LLM")):
        raise ZeroDivisionError
    assert control.depth() == 0


def test_a_decision_carries_the_label_of_its_condition() -> None:
    """KRN-18, PRV-4, TCK-5."""
    state = world(door__state=("open", "OBSERVED"), note__text=("x", "LLM"))
    control = Control()
    both = BinOp("OR", compare("door.state", "==", "open"), compare("note.text", "==", "y"))
    decision = control.decide("MESSAGE", condition=both, state=state)
    assert decision.label == of("MESSAGE", "OBSERVED", "LLM", "DECLARED")


def test_what_cannot_be_labelled_is_unknown() -> None:
    """KRN-18: nothing at all, no state, an expression that raises."""
    control = Control()
    assert control.decide().label == UNKNOWN_LABEL
    assert "UNKNOWN" in control.decide("EVENT", condition=path("a.b")).label
    assert "UNKNOWN" in control.decide(condition=CallExpr("nonsense", ()), state=State()).label


def test_decisions_join_and_are_made_here_alone() -> None:
    """TCK-11, KRN-18."""
    control = Control()
    joined = control.decide("LLM").joined(control.decide("EVENT"))
    assert joined.label == of("LLM", "EVENT")
    assert control.decide("HUMAN", base=joined).label == of("LLM", "EVENT", "HUMAN")
    with control.enter(joined):
        assert control.here().label == joined.label
    with pytest.raises(PermitError):
        Decision(object(), of("DECLARED"))
    for ready in (of("DECLARED"), "DECLARED", None, object()):
        with pytest.raises(PermitError):
            control.enter(ready)  # type: ignore[arg-type]
    with pytest.raises(AttributeError):
        joined.label = of("DECLARED")  # type: ignore[misc]
    with pytest.raises(SourceError):
        control.decide("TRUSTED")


def test_arguments_take_declared_names_and_their_labels_from_one_resolution() -> None:
    """TOL-1, STA-5, PRV-4."""
    state = world(invoice__amount=(120, "TOOL"))
    call = CallExpr(
        "transfer", (path("invoice.amount"), Literal("acct"), Literal(1)), (("memo", Literal("m")),)
    )
    values, labels = arguments(TRANSFER, call, state, of("EVENT"))
    assert values == {"amount": 120, "to": "acct", "arg2": 1, "memo": "m"}
    assert labels["amount"] == of("TOOL", "EVENT")
    assert labels["to"] == of("DECLARED", "EVENT")
    assert labels[CONTROL_KEY] == of("EVENT")


def test_arguments_without_a_declaration_are_numbered() -> None:
    """TOL-1."""
    values, _ = arguments(None, CallExpr("t", (Literal(1), Literal(2))), State(), NONE)
    assert values == {"arg0": 1, "arg1": 2}
    values, _ = arguments(("a",), CallExpr("t", (Literal(1), Literal(2))), State(), NONE)
    assert values == {"a": 1, "arg1": 2}


def test_an_argument_given_twice_or_raising_makes_no_call() -> None:
    """TOL-1."""
    twice = CallExpr("transfer", (Literal(1),), (("amount", Literal(2)),))
    with pytest.raises(InvalidArguments) as caught:
        arguments(TRANSFER, twice, State(), NONE)
    assert caught.value.code == "kernel.argument_twice"
    with pytest.raises(EvalError):
        arguments(TRANSFER, CallExpr("transfer", (UnOp("-", Literal("x")),)), State(), NONE)


def test_a_composite_argument_joins_everything_it_reads() -> None:
    """PRV-4, INV-8."""
    state = world(a__x=(1, "LLM"), b__x=(2, "OBSERVED"))
    call = CallExpr("t", (ListExpr((path("a.x"), BinOp("+", path("b.x"), Literal(1)))),))
    _, labels = arguments(("p",), call, state, NONE)
    assert labels["p"] == of("LLM", "OBSERVED", "DECLARED")


def test_labels_that_a_caller_gives_can_only_add() -> None:
    """KRN-18: an argument without expression or label is UNKNOWN."""
    labels = given_labels({"a": 1, "b": 2, "c": 3}, {"a": of("DECLARED"), "c": "DECLARED"}, of("LLM"))
    assert labels == {
        "a": of("DECLARED", "LLM"),
        "b": of("UNKNOWN", "LLM"),
        "c": of("UNKNOWN", "LLM"),
        CONTROL_KEY: of("LLM"),
    }
    assert given_labels({}, {CONTROL_KEY: of("DECLARED")}, of("LLM"))[CONTROL_KEY] == of("DECLARED", "LLM")


def test_the_kernel_joins_its_control_label_to_every_argument() -> None:
    """KRN-18, TOL-1."""
    gate = kernel()
    with gate.control.enter(gate.control.decide("MESSAGE")):
        _, labels = gate.arguments(TRANSFER, CallExpr("transfer", (Literal(1),)), State())
        assert labels["amount"] == of("DECLARED", "MESSAGE")
        assert gate.labels({"x": 1}, None)["x"] == of("UNKNOWN", "MESSAGE")


def test_a_boundary_adds_its_label_and_a_host_can_only_lower_trust() -> None:
    """PRV-3, PRV-6."""
    assert crossed(3, of("TOOL")) == (3, of("TOOL"))
    assert crossed(Labeled(3, of("DECLARED")), of("TOOL")) == (3, of("TOOL", "DECLARED"))
    whole = crossed({"a": Labeled(1, of("EXTERNAL"))}, of("OBSERVED"))
    assert crossed_field(whole[0]["a"], whole[1]) == (1, of("OBSERVED", "EXTERNAL"))
