"""The label of an expression is the union of everything it reads (`PRV-4`, `INV-8`)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentl.evaluator import Evaluator
from agentl.labels import Labeled, Prov, of
from agentl.language.nodes import BinOp, CallExpr, Expr, ListExpr, Literal, PathExpr, UnOp
from agentl.state import State
from agentl.values import UNDEFINED


def path(dotted: str) -> PathExpr:
    return PathExpr(tuple(dotted.split(".")))


@pytest.fixture
def state() -> State:
    made = State()
    made.set_world("w", 1, of("OBSERVED"))
    made.set_local("l", {"part": 2}, of("HUMAN"))
    made.set_untrusted("u", 3, of("LLM"))
    made.set_belief("b", 4, 0.5, prov=of("EFFECT"))
    made.set_world("h.posterior", 0.3, of("INFERRED", "OBSERVED"))
    return made


@pytest.mark.parametrize(
    ("node", "sources"),
    [
        (Literal(1), {"DECLARED"}),
        (Literal(Labeled(1, of("TOOL"))), {"TOOL"}),
        (path("w"), {"OBSERVED"}),
        (path("l.part"), {"HUMAN"}),
        (path("open"), {"DECLARED"}),
        (path("no.such"), {"UNKNOWN"}),
        (ListExpr(()), {"DECLARED"}),
        (ListExpr((path("w"), path("u"))), {"OBSERVED", "LLM"}),
        (BinOp("+", path("w"), path("l.part")), {"OBSERVED", "HUMAN"}),
        (BinOp("AND", Literal(0), path("u")), {"DECLARED", "LLM"}),
        (BinOp("OR", Literal(1), path("u")), {"DECLARED", "LLM"}),
        (BinOp("==", path("w"), Literal(1)), {"OBSERVED", "DECLARED"}),
        (UnOp("NOT", path("u")), {"LLM"}),
        (CallExpr("UNTRUSTED", (path("u"),)), {"RUNTIME"}),
        (CallExpr("len", (path("u"),)), {"DECLARED", "LLM"}),
        (CallExpr("CONFIDENCE", (path("b"),)), {"RUNTIME", "EFFECT"}),
        (CallExpr("CONFIDENCE", (path("nothing"),)), {"RUNTIME", "DECLARED"}),
        (CallExpr("P", (path("h"),)), {"RUNTIME", "DECLARED", "INFERRED", "OBSERVED"}),
        (CallExpr("wipe", (path("w"),)), {"UNKNOWN", "OBSERVED"}),
    ],
    ids=lambda part: " ".join(sorted(part)) if isinstance(part, set) else str(part),
)
def test_labels(state: State, node: Expr, sources: set[str]) -> None:
    """`PRV-4`: both sides of a connective too, whichever decided."""
    assert Evaluator(state).label(node) == of(*sources)


def test_value_and_label_come_from_one_resolution(state: State) -> None:
    """`STA-5`: for a path, and for what is made of paths."""
    ev = Evaluator(state)
    assert ev.labeled(path("l.part")) == (2, of("HUMAN"))
    assert ev.labeled(path("no.such")) == (UNDEFINED, of("UNKNOWN"))
    assert ev.labeled(BinOp("+", path("w"), path("u"))) == (4, of("OBSERVED", "LLM"))
    assert ev.labeled(Literal(Labeled(7, of("TOOL")))) == (7, of("TOOL"))


def test_labels_of_names_where_the_program_is_known(state: State) -> None:
    """`PRV-4`, `TRI-7`: an unbound variable is UNKNOWN; a constant is DECLARED whatever the state holds."""
    ev = Evaluator(state, bindable=frozenset({"w", "unbound"}))
    assert ev.label(path("w")) == of("OBSERVED")
    assert ev.label(path("unbound")) == of("UNKNOWN")
    assert ev.label(path("u")) == of("DECLARED")
    assert ev.labeled(path("u")) == ("u", of("DECLARED"))


labels = st.sampled_from([of("TOOL"), of("LLM"), of("HUMAN"), of("OBSERVED"), of("EVENT")])
parts = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 5), labels), min_size=1, max_size=4)


@given(parts, st.sampled_from(["+", "AND", "OR", "==", "<", "IN", "list", "min"]))
def test_no_source_is_ever_lost(read: list[tuple[str, int, Prov]], how: str) -> None:
    """`PRV-4`, `INV-8`: whatever combines values keeps each of their sources."""
    state = State()
    for name, value, label in read:
        state.set_local(name, value, label)
    nodes: list[Any] = [path(name) for name, _value, _label in read]
    if how == "list":
        node: Any = ListExpr(tuple(nodes))
    elif how == "min":
        node = CallExpr("min", tuple(nodes))
    else:
        node = nodes[0]
        for part in nodes[1:]:
            node = BinOp(how, node, part)
    kept = Evaluator(state).label(node).sources
    for name, _value, _label in read:
        assert state.get_labeled(name)[1].sources <= kept
