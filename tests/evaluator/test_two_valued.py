"""Expressions over a state in the two-valued regime and in VERIFY's strict one (`EVA-1` to `EVA-12`)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from agentl.errors import EvalError
from agentl.evaluator import Evaluator
from agentl.labels import of
from agentl.language.nodes import BinOp, CallExpr, Expr, ListExpr, Literal, PathExpr, UnOp
from agentl.messages import render
from agentl.state import State
from agentl.values import UNDEFINED, Symbol


def path(dotted: str) -> PathExpr:
    return PathExpr(tuple(dotted.split(".")))


def call(name: str, *arguments: Expr) -> CallExpr:
    return CallExpr(name, arguments, line=7)


def lit(value: Any) -> Literal:
    return Literal(value)


def test_names_that_resolve_to_nothing() -> None:
    """`EVA-2`: one word is a symbol; a dotted path is UNDEFINED, with a note."""
    ev = Evaluator(State())
    assert type(ev.eval(path("open"))) is Symbol
    assert ev.eval(path("open")) == "open"
    assert ev.notes == []
    assert ev.eval(path("valve.state")) is UNDEFINED
    assert ev.notes == [("eval.unresolved", {"path": "valve.state"})]


def test_a_name_bound_to_undefined_is_undefined() -> None:
    """`EVA-2`: a REASON field that stayed empty is no symbol."""
    state = State()
    state.set_untrusted("answer_field", UNDEFINED, of("LLM"))
    assert Evaluator(state).eval(path("answer_field")) is UNDEFINED


def test_lists_keep_their_items() -> None:
    """`EVA-2`: every item is evaluated; each evaluation makes its own list."""
    node = ListExpr((lit(1), path("open"), path("a.b")))
    ev = Evaluator(State())
    first, second = ev.eval(node), ev.eval(node)
    assert first == [1, Symbol("open"), UNDEFINED]
    assert first is not second


def test_comparisons_note_what_is_missing() -> None:
    """`EVA-5`, `EVA-6`: UNDEFINED and unorderable values leave a note that people can read."""
    state = State()
    state.set_world("x", "N/A")
    ev = Evaluator(state)
    assert ev.eval(BinOp("==", path("a.b"), path("c.d"), line=3)) is False
    assert ev.eval(BinOp("!=", path("a.b"), path("c.d"), line=3)) is False
    assert ev.eval(BinOp("!=", path("a.b"), lit(1), line=3)) is True
    assert ev.eval(BinOp("<", path("a.b"), lit(1), line=3)) is False
    assert ("eval.undefined", {"operator": "<", "line": 3}) in ev.notes
    ev.notes.clear()
    assert ev.eval(BinOp(">", path("x"), lit(5))) is False
    assert ev.notes == [("eval.unorderable", {"left": "N/A", "operator": ">", "right": 5})]
    for code, values in ev.notes:
        assert "N/A" in render(code, values, "en")


def test_connectives_short_cut() -> None:
    """`EVA-9`: the right side is not evaluated once the left one has decided; the answer is a boolean."""
    impossible = call("launch")
    ev = Evaluator(State())
    assert ev.eval(BinOp("AND", lit(0), impossible)) is False
    assert ev.eval(BinOp("OR", lit("yes"), impossible)) is True
    assert ev.eval(BinOp("AND", lit(2), lit("x"))) is True
    assert ev.eval(BinOp("OR", lit(0), lit(""))) is False
    assert ev.eval(UnOp("NOT", path("none"))) is True
    with pytest.raises(EvalError):
        ev.eval(BinOp("OR", lit(0), impossible))


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("len", ["abc"], 3),
        ("len", [[1, 2]], 2),
        ("len", [{"a": 1}], 1),
        ("len", [Symbol("open")], 4),
        ("len", [5], 0),
        ("len", [None], 0),
        ("abs", [-3], 3),
        ("abs", [-2.5], 2.5),
        ("abs", [Decimal("-1.10")], Decimal("1.10")),
        ("min", [3, 1, 2], 1),
        ("max", [3, 1.5, 2], 3),
        ("min", [[3, 1]], 1),
        ("max", [(Decimal("1.5"), 1)], Decimal("1.5")),
        ("max", [7], 7),
        ("round", [2.5], 2),
        ("round", [3.5], 4),
        ("round", [2.345, 1], 2.3),
        ("round", [Decimal("2.5")], 2),
        ("round", [Decimal("2.345"), 2], Decimal("2.34")),
        ("round", [1234, -2], 1200),
    ],
)
def test_pure_functions(name: str, arguments: list[Any], expected: Any) -> None:
    """`EVA-10`."""
    result = Evaluator(State()).eval(call(name, *map(lit, arguments)))
    assert (result, type(result)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("abs", ["3"], "eval.not_numeric"),
        ("abs", [True], "eval.not_numeric"),
        ("min", [1, None], "eval.not_numeric"),
        ("max", [Decimal(1), 1.0], "eval.decimal_float"),
        ("min", [], "eval.arguments"),
        ("min", [[]], "eval.arguments"),
        ("len", [], "eval.arguments"),
        ("len", ["a", "b"], "eval.arguments"),
        ("round", [float("nan")], "eval.not_numeric"),
        ("round", [1.5, 0.5], "eval.not_numeric"),
        ("round", [1.5, 10**9], "eval.not_numeric"),
        ("round", [Decimal("1E+9999")], "eval.overflow"),
        ("wipe", ["db"], "eval.impure"),
        ("LEN", ["a"], "eval.impure"),
    ],
)
def test_calls_without_a_value(name: str, arguments: list[Any], code: str) -> None:
    """`EVA-10`: an EvalError with its code and line, and nothing is called."""
    with pytest.raises(EvalError) as caught:
        Evaluator(State()).eval(call(name, *map(lit, arguments)))
    assert caught.value.code == code
    assert str(caught.value)
    if code != "eval.overflow":
        assert caught.value.values["line"] == 7


def test_named_arguments_are_no_part_of_a_function_call() -> None:
    """`EVA-10`."""
    with pytest.raises(EvalError):
        Evaluator(State()).eval(CallExpr("len", (), (("x", lit("a")),)))


def test_nan_is_the_extreme_of_whatever_contains_it() -> None:
    """`EVA-10`: the order of the arguments plays no part."""
    nan = float("nan")
    for arguments in ([nan, 1], [1, nan], [[1, nan, 0]]):
        assert repr(Evaluator(State()).eval(call("min", *map(lit, arguments)))) == "nan"


def test_epistemic_functions() -> None:
    """`EVA-10`: known, and absent with a note."""
    state = State()
    state.set_belief("tank.level", 3, 0.75)
    state.set_world("leak.posterior", 0.4)
    ev = Evaluator(state)
    assert ev.eval(call("CONFIDENCE", path("tank.level"))) == 0.75
    assert ev.eval(call("UNCERTAINTY", path("tank.level"))) == 0.25
    for name in ("P", "PROBABILITY", "POSTERIOR"):
        assert ev.eval(call(name, path("leak"))) == 0.4
    assert ev.notes == []
    assert ev.eval(call("CONFIDENCE", path("tank"))) == 0.0
    assert ev.eval(call("UNCERTAINTY", path("tank"))) == 1.0
    assert ev.eval(call("P", path("fire"))) == 0.0
    assert [code for code, _values in ev.notes] == ["eval.unanswered"] * 3
    for name in ("CONFIDENCE", "P"):
        for bad in (call(name, lit(1)), call(name), call(name, path("a"), path("b"))):
            with pytest.raises(EvalError) as caught:
                ev.eval(bad)
            assert caught.value.code == "eval.path_argument"


def test_a_missing_condition_holds() -> None:
    """`EVA-11`."""
    assert Evaluator(State()).test(None) is True
    assert Evaluator(State(), strict_undefined=True).test(None) is True


def test_strict_evaluation_never_verifies_ignorance() -> None:
    """`EVA-11`, `EVA-12` c: not even under NOT, nor by absence, nor by an unanswered question."""
    unknown = path("valve.state")
    for condition in (
        BinOp("==", unknown, path("open")),
        BinOp("!=", unknown, path("open")),
        UnOp("NOT", BinOp("==", unknown, path("open"))),
        UnOp("NOT", unknown),
        UnOp("NOT", BinOp(">", lit("N/A"), lit(3))),
        BinOp("<", call("CONFIDENCE", unknown), lit(0.5)),
        BinOp("==", call("len", unknown), lit(0)),
        UnOp("NOT", BinOp("IN", lit(1), unknown)),
    ):
        assert Evaluator(State(), strict_undefined=True).test(condition) is False
    for op in ("==", "!="):
        assert Evaluator(State(), strict_undefined=True).eval(BinOp(op, unknown, lit(1))) is False
    lax = Evaluator(State())
    assert lax.test(BinOp("!=", unknown, path("open"))) is True
    state = State()
    state.set_world("valve.state", Symbol("open"))
    assert Evaluator(state, strict_undefined=True).test(BinOp("==", unknown, path("open"))) is True


def test_verify_reads_one_word_names_as_guards_do() -> None:
    """`TRI-7`: bindable and unbound is undefined; any other is a constant, whatever the state holds."""
    state = State()
    state.set_untrusted("open", Symbol("closed"), of("EVENT"))
    state.set_world("door", Symbol("open"))
    strict = Evaluator(state, strict_undefined=True, bindable=frozenset({"door", "gate"}))
    assert strict.test(BinOp("==", path("door"), path("open"))) is True
    assert strict.test(BinOp("==", path("gate"), path("open"))) is False
    assert strict.test(BinOp("!=", path("gate"), path("open"))) is False
    assert strict.eval(path("gate")) is UNDEFINED
    assert Evaluator(state).eval(path("open")) == "closed"


def test_a_compiled_expression_serves_every_state() -> None:
    """`EVA-11`: what is kept beside a node holds nothing of the state it was first used with."""
    node = BinOp("+", path("x"), lit(1))
    for value in (1, 2.5, Decimal(3)):
        state = State()
        state.set_local("x", value)
        assert Evaluator(state).eval(node) == value + 1
    assert node == BinOp("+", path("x"), lit(1))
