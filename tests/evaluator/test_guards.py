"""The three-valued regime beyond what the tables of ``spec/logic.md`` hold (`TRI-1` to `TRI-7`)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentl.errors import EvalError
from agentl.evaluator import Evaluator, evaluate
from agentl.language.nodes import BinOp, CallExpr, Expr, ListExpr, Literal, PathExpr, UnOp
from agentl.logic import UNKNOWN
from agentl.state import State
from agentl.values import UNDEFINED, Symbol


def path(dotted: str) -> PathExpr:
    return PathExpr(tuple(dotted.split(".")))


def call(name: str, *arguments: Expr) -> CallExpr:
    return CallExpr(name, arguments)


def lit(value: Any) -> Literal:
    return Literal(value)


def equals(left: Expr, value: Any) -> BinOp:
    return BinOp("==", left, lit(value))


UNBOUND = path("no.such.path")
TRUE, FALSE = lit(1), lit(0)


def test_a_missing_guard_is_true() -> None:
    """`TRI-1`."""
    assert evaluate(State(), None) is True
    assert evaluate(Evaluator(State()), None) is True


@pytest.mark.parametrize(
    "node",
    [
        UNBOUND,
        equals(UNBOUND, 1),
        BinOp("!=", UNBOUND, lit(1)),
        BinOp("<", lit(1), UNBOUND),
        BinOp("IN", lit(1), ListExpr((lit(1), UNBOUND))),
        BinOp("IN", UNBOUND, ListExpr((lit(1),))),
        BinOp("==", ListExpr((UNBOUND,)), ListExpr((UNBOUND,))),
        equals(BinOp("+", UNBOUND, lit(1)), 1),
        equals(BinOp("/", lit(1), lit(0)), 1),
        equals(BinOp("*", lit(10**400), lit(0.5)), 1),
        equals(UnOp("-", lit("5")), 1),
        equals(call("len", UNBOUND), 0),
        equals(call("len", lit(5)), 0),
        equals(call("len", lit(1), lit(2)), 0),
        equals(call("abs", lit("x")), 1),
        equals(call("min", lit(1), lit(float("nan"))), 1),
        equals(call("max", ListExpr((lit(1), UNBOUND))), 1),
        equals(call("min", lit(1.0), lit(Decimal(1))), 1),
        equals(call("round", lit(float("inf"))), 1),
        equals(call("wipe", lit(1)), 1),
        call("wipe", lit(1)),
        CallExpr("len", (lit("a"),), (("x", lit(1)),)),
        call("CONFIDENCE", lit(1)),
        call("CONFIDENCE"),
        call("UNTRUSTED", UNBOUND),
        call("UNTRUSTED", lit(1)),
        call("UNTRUSTED", path("action")),
        call("ATTESTED", path("action")),
        call("ATTESTED", path("x"), ListExpr(())),
        UnOp("NOT", UNBOUND),
        BinOp("AND", UNBOUND, TRUE),
        BinOp("OR", UNBOUND, FALSE),
    ],
    ids=str,
)
def test_unknown(node: Expr) -> None:
    """`TRI-3`, `TRI-4`: what is missing, raises, or has no number where one is needed."""
    assert evaluate(State(), node) is UNKNOWN
    assert evaluate(State(), UnOp("NOT", node)) is UNKNOWN


def test_what_is_bound_to_undefined_is_unknown() -> None:
    """`TRI-4`: explicitly or not."""
    state = State()
    state.set_local("x", UNDEFINED)
    assert evaluate(state, path("x")) is UNKNOWN
    assert evaluate(state, equals(path("x"), 1)) is UNKNOWN
    state.set_local("x", [1, [UNDEFINED]])
    assert evaluate(state, BinOp("IN", lit(1), path("x"))) is UNKNOWN
    assert evaluate(state, equals(call("len", path("x")), 2)) is True


def test_a_settled_side_decides_beside_an_unknown_one() -> None:
    """`TRI-2`, `TRI-3`: only AND, OR and NOT look past an unknown operand."""
    assert evaluate(State(), BinOp("AND", UNBOUND, FALSE)) is False
    assert evaluate(State(), BinOp("OR", UNBOUND, TRUE)) is True
    assert evaluate(State(), equals(call("len", ListExpr((UNBOUND,))), 1)) is True
    assert evaluate(State(), ListExpr((UNBOUND,))) is True
    assert evaluate(State(), ListExpr(())) is False


def test_questions_without_an_answer() -> None:
    """`TRI-5`: unknown anywhere inside a node, also where something would have absorbed it."""
    state = State()
    state.set_belief("known", 1, 0.9)
    state.set_world("leak.posterior", 0.3)
    asked = BinOp(">", call("CONFIDENCE", path("known")), lit(0.5))
    assert evaluate(state, asked) is True
    assert evaluate(state, BinOp("<", call("P", path("leak")), lit(0.5))) is True
    for name, subject in (
        ("CONFIDENCE", "other"),
        ("UNCERTAINTY", "other"),
        ("P", "fire"),
        ("POSTERIOR", "fire"),
    ):
        question = call(name, path(subject))
        assert evaluate(state, BinOp("<", question, lit(2))) is UNKNOWN
        assert evaluate(state, question) is UNKNOWN
        absorbed = BinOp("AND", question, FALSE)
        assert evaluate(state, absorbed) is False
        assert evaluate(state, BinOp("==", absorbed, lit(True))) is UNKNOWN
        assert evaluate(state, equals(call("len", ListExpr((question,))), 1)) is UNKNOWN
        assert evaluate(state, BinOp("IN", lit(1), ListExpr((UnOp("NOT", question), lit(1))))) is UNKNOWN
    assert evaluate(state, BinOp("==", BinOp("AND", asked, FALSE), lit(True))) is False


def test_one_word_names_without_knowledge_of_the_program() -> None:
    """`TRI-7`, `EVA-2`: what resolves is a variable, what does not is a constant."""
    state = State()
    assert evaluate(state, BinOp("==", path("x"), path("x"))) is True
    state.set_world("x", 5)
    assert evaluate(state, equals(path("x"), 5)) is True
    state.set_world("x", UNDEFINED)
    assert evaluate(state, equals(path("x"), 5)) is UNKNOWN


def test_the_bindable_names_of_a_node_are_those_of_each_question() -> None:
    """`TRI-7`: what is kept beside a node is not taken for another set of names."""
    node = BinOp("==", path("x"), path("open"))
    assert evaluate(State(), node, frozenset({"x"})) is UNKNOWN
    assert evaluate(State(), node, frozenset()) is False
    assert evaluate(State(), node, frozenset({"x"})) is UNKNOWN
    assert evaluate(Evaluator(State(), bindable=frozenset({"x"})), node) is UNKNOWN


# --- all small trees ------------------------------------------------------------------------

leaves = st.sampled_from(
    [
        *(UNBOUND, lit(0), lit(1), lit(2.5), lit("5"), lit("N/A"), lit(Decimal("1.5"))),
        *map(path, ("flag", "count", "text", "known", "gap", "HIGH", "none")),
        call("CONFIDENCE", path("known")),
        call("CONFIDENCE", path("nothing")),
        call("P", path("leak")),
        call("UNTRUSTED", path("flag")),
    ]
)
OPERATORS = ["AND", "OR", "==", "!=", ">", ">=", "<", "<=", "IN", "+", "-", "*", "/"]


def larger(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    items = st.lists(inner, max_size=2).map(tuple)
    return st.one_of(
        st.builds(BinOp, st.sampled_from(OPERATORS), inner, inner),
        st.builds(UnOp, st.sampled_from(["NOT", "-"]), inner),
        st.builds(ListExpr, items),
        st.builds(CallExpr, st.sampled_from(["len", "abs", "min", "max"]), items),
    )


trees = st.recursive(leaves, larger, max_leaves=8)


def world(gap: Any = UNDEFINED) -> State:
    state = State()
    state.set_local("flag", True)
    state.set_world("count", 3)
    state.set_world("text", Symbol("open"))
    state.set_belief("known", 7, 0.8)
    state.set_world("leak.posterior", 0.2)
    state.set_local("gap", gap)
    return state


@given(trees)
def test_a_guard_never_raises_and_agrees_where_it_is_sure(node: Expr) -> None:
    """`TRI-3`, `TRI-4`, `INV-3`: a sure answer is the two-valued one; no answer where that one raises."""
    answer = evaluate(world(), node)
    assert answer in (True, False) or answer is UNKNOWN
    if answer is not UNKNOWN:
        try:
            assert Evaluator(world()).test(node) is answer
        except EvalError:
            # A connective or a list can pass over a calculation that has no value.
            assert any(op in repr(node) for op in ("AND", "OR", "ListExpr"))


@given(trees, st.sampled_from([0, 1, "x", Symbol("HIGH"), None, [1], 2.5, Decimal(2)]))
def test_a_sure_answer_stays_when_a_gap_is_filled(node: Expr, filling: Any) -> None:
    """`TRI-2`, `INV-3`: learning a value never turns a settled guard round."""
    if "len" in repr(node) or "ListExpr" in repr(node):
        return  # a list counts its items, known or not
    answer = evaluate(world(), node)
    assert answer is UNKNOWN or evaluate(world(filling), node) is answer
