"""Truth, comparison and arithmetic against the tables of ``spec/logic.md``, row by row."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
from decimal import Decimal, getcontext, localcontext
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentl import logic
from agentl.errors import EvalError
from agentl.evaluator import Evaluator, evaluate
from agentl.language.nodes import BinOp, Literal, PathExpr, UnOp
from agentl.logic import UNKNOWN
from agentl.messages import render
from agentl.state import State
from agentl.values import UNDEFINED, Symbol
from tests.support.tables import TRUTH, table, value

TRUTHS = (True, False, UNKNOWN)


def bound(left: Any, right: Any) -> State:
    """A state in which ``l`` and ``r`` hold two values, so that even UNDEFINED can stand on a side."""
    state = State()
    state.set_local("l", left)
    state.set_local("r", right)
    return state


def both(op: str) -> BinOp:
    return BinOp(op, PathExpr(("l",)), PathExpr(("r",)))


def two_valued(op: str, left: Any, right: Any) -> Any:
    return Evaluator(bound(left, right)).eval(both(op))


def three_valued(op: str, left: Any, right: Any) -> Any:
    return evaluate(bound(left, right), both(op))


def test_unknown_is_no_boolean_and_only_itself() -> None:
    """`TRI-1`: the third value refuses to be a boolean and survives copying."""
    with pytest.raises(TypeError):
        bool(UNKNOWN)
    for twin in (copy.copy(UNKNOWN), copy.deepcopy(UNKNOWN), pickle.loads(pickle.dumps(UNKNOWN))):
        assert twin is UNKNOWN


@pytest.mark.parametrize(("name", "function"), [("and", logic.kleene_and), ("or", logic.kleene_or)])
def test_connectives_follow_the_table(name: str, function: Any) -> None:
    """`TRI-2`: all nine pairs, for the function and for a guard."""
    rows = table("logic", name)
    seen = set()
    for row in rows:
        left = TRUTH[row[0].strip("*")]
        for right, cell in zip((True, False, UNKNOWN), row[1:], strict=True):
            expected = TRUTH[cell]
            assert function(left, right) is expected, (left, right)
            assert three_valued(name.upper(), known(left), known(right)) is expected, (left, right)
            seen.add((repr(left), repr(right)))
    assert len(seen) == 9


def known(truth: Any) -> Any:
    """A value whose truth in a guard is ``truth``."""
    return UNDEFINED if truth is UNKNOWN else truth


def test_negation_follows_the_table() -> None:
    """`TRI-2`."""
    rows = table("logic", "not")
    assert len(rows) == 3
    for operand, result in rows:
        assert logic.kleene_not(TRUTH[operand]) is TRUTH[result]
        state = bound(known(TRUTH[operand]), None)
        assert evaluate(state, UnOp("NOT", PathExpr(("l",)))) is TRUTH[result]


def test_kleene_logic_knows_no_less_when_more_is_known() -> None:
    """`TRI-2`: settling an unknown never turns a settled answer round (monotonicity)."""
    below = {True: [True], False: [False], UNKNOWN: [True, False, UNKNOWN]}
    for function in (logic.kleene_and, logic.kleene_or):
        for left, right in itertools.product(TRUTHS, TRUTHS):
            answer = function(left, right)
            for a, b in itertools.product(below[left], below[right]):
                assert answer is UNKNOWN or function(a, b) is answer


@pytest.mark.parametrize("row", table("logic", "truthy"), ids=lambda row: row[0])
def test_truthiness(row: list[str]) -> None:
    """`EVA-3`, and `TRI-4` for a value as a whole guard."""
    held, expected = value(row[0]), TRUTH[row[1]]
    assert logic.truthy(held) is expected
    state = bound(held, None)
    assert Evaluator(state).test(PathExpr(("l",))) is expected
    assert evaluate(state, PathExpr(("l",))) is (UNKNOWN if held is UNDEFINED else expected)


def test_the_ordinal_scale() -> None:
    """`EVA-4`: as symbol and as string, in any case; nothing else is on it."""
    rows = table("logic", "ordinal")
    assert len(rows) == 9
    for word, rank in rows:
        for spelled in (word, word.lower(), word.capitalize(), Symbol(word), Symbol(word.lower())):
            assert logic.ordinal(spelled) == int(rank)
    for other in ("UNKNOWN", "highest", "", " HIGH", 3, None, True, UNDEFINED, ["HIGH"]):
        assert logic.ordinal(other) is None


@pytest.mark.parametrize("row", table("logic", "equality"), ids=lambda row: f"{row[0]}={row[1]}")
def test_equality(row: list[str]) -> None:
    """`EVA-5` in both directions, and its guard column (`TRI-3`)."""
    left, right = value(row[0]), value(row[1])
    equal, unequal, guard = (TRUTH[cell] for cell in row[2:])
    for a, b in ((left, right), (right, left)):
        assert two_valued("==", a, b) is equal
        assert two_valued("!=", a, b) is unequal
        assert three_valued("==", a, b) is guard
        assert three_valued("!=", a, b) is logic.kleene_not(guard)


class Quarrelsome:
    """A foreign value whose comparisons raise."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")

    def __bool__(self) -> bool:
        raise RuntimeError("no")

    __hash__ = None  # type: ignore[assignment]


def test_an_equality_that_raises() -> None:
    """`EVA-5`: false; `TRI-3`: unknown, in a guard, whatever is asked of the value."""
    odd = Quarrelsome()
    assert two_valued("==", odd, 1) is False
    for op in ("==", "!=", "IN", "<"):
        assert three_valued(op, odd, [1] if op == "IN" else 1) is UNKNOWN
    assert three_valued("IN", 1, [odd]) is UNKNOWN
    assert evaluate(bound(odd, 1), PathExpr(("l",))) is UNKNOWN
    assert evaluate(bound(odd, 1), UnOp("NOT", PathExpr(("l",)))) is UNKNOWN


@pytest.mark.parametrize("row", table("logic", "order"), ids=lambda row: f"{row[0]}?{row[1]}")
def test_order(row: list[str]) -> None:
    """`EVA-6`, its mirror image, and its guard columns (`TRI-3`). Field report R38."""
    left, right = value(row[0]), value(row[1])
    mirrored = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
    for op, cell in zip(("<", "<=", ">", ">="), row[2:6], strict=True):
        assert two_valued(op, left, right) is TRUTH[cell], op
        assert two_valued(mirrored[op], right, left) is TRUTH[cell], op
    less, at_least = TRUTH[row[6]], TRUTH[row[7]]
    assert three_valued("<", left, right) is less
    assert three_valued(">=", left, right) is at_least
    assert three_valued(">", right, left) is less
    assert three_valued("<=", right, left) is at_least
    assert less is logic.kleene_not(at_least)


@pytest.mark.parametrize("row", table("logic", "membership"), ids=lambda row: f"{row[0]} IN {row[1]}")
def test_membership(row: list[str]) -> None:
    """`EVA-7` and its guard column (`TRI-3`). Field report R33."""
    left, right = value(row[0]), value(row[1])
    assert two_valued("IN", left, right) is TRUTH[row[2]]
    assert three_valued("IN", left, right) is TRUTH[row[3]]


@pytest.mark.parametrize("row", table("logic", "arithmetic"), ids=lambda row: "".join(row[:3]))
def test_arithmetic(row: list[str]) -> None:
    """`EVA-8` and, for guards, `TRI-4`; value and type both count."""
    left, op, right = value(row[0]), row[1].strip("`"), value(row[2])
    expression = both(op)
    if row[3] == "raises":
        with pytest.raises(EvalError) as caught:
            Evaluator(bound(left, right)).eval(expression)
        assert caught.value.code in ("eval.not_numeric", "eval.decimal_float")
    else:
        result = two_valued(op, left, right)
        assert (type(result), repr(result)) == (type(value(row[3])), repr(value(row[3])))
    equals_itself = BinOp("==", expression, expression)
    assert evaluate(bound(left, right), equals_itself) is (UNKNOWN if row[4] == "U" else True)


def test_arithmetic_ignores_the_ambient_context() -> None:
    """`EVA-8`: the decimal context of the host changes no result."""
    with localcontext() as ambient:
        ambient.prec = 2
        assert two_valued("+", Decimal("1000.01"), Decimal("0.01")) == Decimal("1000.02")
        assert two_valued("/", Decimal(1), 3) == Decimal("0." + "3" * 28)
        assert two_valued("*", Decimal("1234567.89"), 3) == Decimal("3703703.67")
    assert getcontext().prec != 2


def test_arithmetic_without_exact_or_finite_form() -> None:
    """`EVA-8`: rounding in silence is no answer."""
    for op, left, right in (
        ("*", 10**400, 0.5),
        ("/", 10**400, 3),
        ("+", Decimal("1E+9000"), Decimal(1)),
        ("*", Decimal("1E+999999"), Decimal("1E+999999")),
    ):
        with pytest.raises(EvalError) as caught:
            two_valued(op, left, right)
        assert caught.value.code == "eval.overflow"


def test_integers_stop_where_they_could_not_be_shown_or_stored() -> None:
    """`EVA-8`, `KRN-2`: a loop of products is an error of the program, not the end of the run."""
    number = 10**3000
    with pytest.raises(EvalError) as caught:
        logic.arithmetic("*", number, number)
    assert caught.value.code == "eval.overflow"
    assert render("eval.not_numeric", {"value": number * number, "line": 1}).count("0x") == 1


def test_unary_minus() -> None:
    """`EVA-8`, `TRI-4`."""
    for held in (5, 2.5, Decimal("1.50"), -3):
        assert Evaluator(bound(held, None)).eval(UnOp("-", PathExpr(("l",)))) == -held
    for odd in (True, "5", None, UNDEFINED, Symbol("x")):
        with pytest.raises(EvalError):
            Evaluator(bound(odd, None)).eval(UnOp("-", PathExpr(("l",))))
        assert evaluate(bound(odd, None), UnOp("-", PathExpr(("l",)))) is UNKNOWN


def test_unknown_applies_in_the_safe_direction() -> None:
    """`TRI-6`."""
    rows = table("logic", "unknown-applies")
    assert len(rows) == 4
    for effect, applies in rows:
        assert logic.applies_when_unknown(effect) is TRUTH[applies]


def test_render() -> None:
    """`TRI-6`."""
    for truth, code in ((True, "tri.true"), (False, "tri.false"), (UNKNOWN, "tri.unknown")):
        assert logic.render(truth) == render(code)


plain = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.decimals(allow_nan=True, allow_infinity=True),
    st.text(max_size=5),
    st.sampled_from(["HIGH", "low", "12", "1e3", "none", "true"]),
    st.text(max_size=5).map(Symbol),
    st.lists(st.one_of(st.integers(), st.text(max_size=2)), max_size=3),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
    st.just(UNDEFINED),
)


@given(plain, plain)
def test_a_guard_never_contradicts_the_two_valued_answer(left: Any, right: Any) -> None:
    """`TRI-3`: where a guard is sure, it says what `EVA-5` to `EVA-7` say."""
    for op in ("==", "!=", "<", "<=", ">", ">=", "IN"):
        answer = three_valued(op, left, right)
        assert answer is UNKNOWN or answer is two_valued(op, left, right), op


@given(plain, plain)
def test_order_in_a_guard_needs_ranks_or_finite_numbers(left: Any, right: Any) -> None:
    """`TRI-3`: no answer without two ranks or two finite numbers."""
    if three_valued("<", left, right) is UNKNOWN:
        return
    ranks = logic.ordinal(left) is not None and logic.ordinal(right) is not None
    assert ranks or all(type(side) is not bool and math.isfinite(float(side)) for side in (left, right))


def test_literals_are_compared_as_they_are() -> None:
    """`EVA-5`: a literal in the source needs no state."""
    assert Evaluator(State()).eval(BinOp("==", Literal(1), Literal(1.0))) is True
