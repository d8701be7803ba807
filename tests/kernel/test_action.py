"""Action identity and the INPUT contract."""

from __future__ import annotations

import copy
import subprocess
import sys
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentl.kernel import ActionRequest, action_digest, action_from_tool, coerce_inputs, typecheck
from agentl.kernel.action import idempotency_key, isolated
from agentl.language.nodes import ToolDecl
from agentl.values import DataModelError, Symbol
from tests.support.kernels import TRANSFER, kernel

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.binary(max_size=5)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)
ARGUMENTS = st.dictionaries(st.text(min_size=1, max_size=3), VALUES, max_size=3)


def test_a_digest_is_64_hex_digits_over_kind_target_and_arguments() -> None:
    """KRN-2: another kind, target, key or value is another action."""
    base = action_digest("invoke", "transfer", {"amount": 1})
    assert len(base) == 64
    assert set(base) <= set("0123456789abcdef")
    others = [
        action_digest("delegate", "transfer", {"amount": 1}),
        action_digest("invoke", "transfer2", {"amount": 1}),
        action_digest("invoke", "transfer", {"amounts": 1}),
        action_digest("invoke", "transfer", {"amount": 2}),
        action_digest("invoke", "transfer", {"amount": 1.0}),
        action_digest("invoke", "transfer", {"amount": True}),
        action_digest("invoke", "transfer", {"amount": Decimal(1)}),
        action_digest("invoke", "transfer", {"amount": "1"}),
        action_digest("invoke", "transfer", {"amount": Symbol("1")}),
        action_digest("invoke", "transfer", {"amount": [1]}),
        action_digest("invoke", "transfer", {"amount": (1,)}),
    ]
    assert len({base, *others}) == len(others) + 1


def test_a_boundary_between_target_and_arguments_cannot_be_moved() -> None:
    """KRN-2: every part is preceded by its length."""
    assert action_digest("invoke", "a1:b", {}) != action_digest("invoke", "a", {"b": None})
    assert idempotency_key("run", "a", 1, "h") != idempotency_key("ru", "na", 1, "h")
    assert idempotency_key("run", "a", 11, "h") != idempotency_key("run", "a1", 1, "h")


@given(ARGUMENTS)
def test_equal_arguments_have_equal_digests_whatever_their_order(args: dict[str, Any]) -> None:
    """KRN-2."""
    turned = dict(reversed(list(copy.deepcopy(args).items())))
    assert action_digest("invoke", "t", args) == action_digest("invoke", "t", turned)


@given(ARGUMENTS)
def test_an_isolated_copy_is_the_same_action_and_shares_no_container(args: dict[str, Any]) -> None:
    """KRN-3, APR-3."""
    own = isolated(args)
    assert own is not args
    assert action_digest("invoke", "t", own) == action_digest("invoke", "t", args)
    for name, value in args.items():
        if isinstance(value, list | dict):
            assert own[name] is not value


@pytest.mark.parametrize("value", [object(), {1: 2}, [object()], frozenset(), Exception()])
def test_a_value_outside_the_data_model_has_no_digest(value: Any) -> None:
    """KRN-2: ``kernel.data_model`` names the place and the type."""
    with pytest.raises(DataModelError) as caught:
        action_digest("invoke", "t", {"a": value})
    assert caught.value.code == "kernel.data_model"
    assert str(caught.value.values["place"]).startswith("a")


def test_digest_and_key_do_not_depend_on_the_process() -> None:
    """KRN-2, KRN-10."""
    program = (
        "from agentl.kernel.action import action_digest, idempotency_key as key;"
        "d = action_digest('invoke', 't', {'s': {'b', 'a'}, 'm': {'y': 1, 'x': 2}});"
        "print(d, key('r', 'a', 1, d))"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PATH": ""},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1


def test_a_request_renders_its_arguments_in_order() -> None:
    """KRN-1."""
    request = ActionRequest("pay", {"b": 2.0, "a": Symbol("x")})
    assert request.render() == "pay(b=2, a=x)"
    assert (request.risk, request.origin, request.confidence) == ("LOW", "plan", 1.0)
    assert (request.action_id, request.hash) == ("", "")


def test_risk_and_side_effects_come_from_the_declaration() -> None:
    """POL-7, KRN-5."""
    request = action_from_tool(TRANSFER, {"amount": 1, "to": "x"}, "event", 0.5)
    assert (request.risk, request.side_effects) == ("HIGH", ["accounts"])
    assert (request.origin, request.confidence) == ("event", 0.5)


TYPED = ToolDecl(
    "t",
    inputs=(("s", "String"), ("b", "BOOL"), ("y", "symbol"), ("n", "Number")),
)


def test_coercion_converts_three_things_and_nothing_else() -> None:
    """KRN-6."""
    args: dict[str, Any] = {"s": Symbol("abc"), "b": Symbol("Yes"), "y": "low", "n": "3"}
    coerce_inputs(TYPED, args)
    assert args == {"s": "abc", "b": True, "y": Symbol("low"), "n": "3"}
    assert type(args["s"]) is str
    assert type(args["y"]) is Symbol
    for word, meaning in {"true": True, "on": True, "no": False, "false": False, "off": False}.items():
        args = {"b": Symbol(word)}
        coerce_inputs(TYPED, args)
        assert args["b"] is meaning
    for kept in (Symbol("maybe"), 1, "yes", None):
        args = {"b": kept}
        coerce_inputs(TYPED, args)
        assert args["b"] is kept


@pytest.mark.parametrize(
    ("declared", "good", "bad"),
    [
        ("Number", [1, 1.5, Decimal("1.5")], [True, "1", None, Symbol("x"), [1]]),
        ("float", [1, 1.5], [True, Decimal("1.5"), "1"]),
        ("INT", [1, -3], [True, 1.0, "1"]),
        ("String", ["x", ""], [1, Symbol("x")]),
        ("bool", [True, False], [1, 0, "true"]),
        ("Boolean", [True], [1]),
        ("Symbol", [Symbol("x")], [1, None]),
        ("List", [[], (1,)], [{}, "ab", {1}]),
        ("Anything", [object, None, 1], []),
    ],
)
def test_types_are_checked_and_a_boolean_is_no_number(declared: str, good: list[Any], bad: list[Any]) -> None:
    """KRN-7."""
    tool = ToolDecl("t", inputs=(("p", declared),))
    for value in good:
        assert typecheck(tool, {"p": value}) is None
    for value in bad:
        problem = typecheck(tool, {"p": value})
        assert problem is not None
        assert problem.code == "kernel.input_type"
        assert problem.values["parameter"] == "p"
        assert problem.values["received"] == type(value).__name__


@pytest.mark.parametrize("value", [float("nan"), float("inf"), Decimal("NaN"), Decimal("Infinity")])
def test_a_number_is_finite(value: Any) -> None:
    """KRN-7."""
    problem = typecheck(ToolDecl("t", inputs=(("p", "Number"),)), {"p": value})
    assert problem is not None
    assert problem.code == "kernel.input_finite"


def test_the_first_breach_is_named_and_a_tool_without_input_takes_anything() -> None:
    """KRN-7."""
    tool = ToolDecl("t", inputs=(("a", "Int"), ("b", "Int")))
    missing = typecheck(tool, {"b": "x"})
    assert missing is not None
    assert (missing.code, missing.values["parameter"]) == ("kernel.input_missing", "a")
    unknown = typecheck(tool, {"a": 1, "b": 2, "c": 3, "d": 4})
    assert unknown is not None
    assert (unknown.code, unknown.values["keys"]) == ("kernel.input_unknown", "c, d")
    assert typecheck(ToolDecl("t"), {"anything": object()}) is None


def test_propose_tool_refuses_what_is_not_declared_and_coerces_in_place() -> None:
    """KRN-5."""
    gate = kernel()
    request, problem = gate.propose_tool("wipe", {})
    assert request is None
    assert problem is not None
    assert problem.code == "kernel.undeclared"
    args: dict[str, Any] = {"amount": 1, "to": Symbol("acct")}
    request, problem = gate.propose_tool("transfer", args)
    assert problem is None
    assert request is not None
    assert args["to"] == "acct"
    assert type(args["to"]) is str
    assert request.risk == "HIGH"


def test_propose_delegate_takes_a_homonymous_tool_or_is_critical() -> None:
    """KRN-8, KRN-4."""
    gate = kernel()
    assert gate.UNDECLARED_DELEGATE_RISK == "CRITICAL"
    request, problem = gate.propose_delegate("stranger", {"x": object()})
    assert problem is None
    assert request is not None
    assert (request.risk, request.side_effects, request.origin) == ("CRITICAL", [], "delegate")
    request, problem = gate.propose_delegate("transfer", {"amount": True, "to": "x"})
    assert request is None
    assert problem is not None
    assert problem.code == "kernel.input_type"
    request, _ = gate.propose_delegate("transfer", {"amount": 1, "to": "x"})
    assert request is not None
    assert request.risk == "HIGH"
