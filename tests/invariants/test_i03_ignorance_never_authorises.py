"""I3: a guard that cannot be decided never creates an authorisation (INV-3, TRI-6)."""

from __future__ import annotations

from typing import Any

import pytest

from agentl.language.nodes import BinOp, CallExpr, Expr, ListExpr, Literal, UnOp
from tests.support.kernels import authorized, compare, kernel, path, rule

UNKNOWN: dict[str, Expr] = {
    "undefined path": compare("nothing.known", "==", 1),
    "unordered types": compare("action.args.to", ">", 5),
    "not a number": compare("action.args.amount", "<", float("nan")),
    "raising expression": BinOp("==", BinOp("+", Literal("x"), Literal(1)), Literal(1)),
    "impure function": BinOp("==", CallExpr("now", ()), Literal(1)),
    "unanswerable question": BinOp(">", CallExpr("CONFIDENCE", (path("nothing.known"),)), Literal(0.5)),
    "division by zero": BinOp(">", BinOp("/", path("action.args.amount"), Literal(0)), Literal(1)),
    "unknown item": BinOp("IN", Literal(9), ListExpr((path("nothing.known"),))),
    "bare unknown": path("nothing.known"),
    "negated": UnOp("NOT", compare("nothing.known", "==", 1)),
    "either side": BinOp("OR", compare("nothing.known", "==", 1), compare("nothing.known", "!=", 1)),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_an_allow_needs_a_guard_that_is_true(name: str) -> None:
    """INV-3: under either default."""
    for default in ("ALLOW", "DENY"):
        assert not authorized(kernel(rule("ALLOW", "transfer", UNKNOWN[name]), default=default)).granted


@pytest.mark.parametrize("name", UNKNOWN)
@pytest.mark.parametrize("effect", ["NEVER", "DENY"])
def test_a_prohibition_applies_unless_its_guard_is_false(name: str, effect: str) -> None:
    """INV-3."""
    assert authorized(kernel(rule(effect, "transfer", UNKNOWN[name]))).stage == "policy"


@pytest.mark.parametrize("name", UNKNOWN)
def test_an_approval_is_required_unless_its_guard_is_false(name: str) -> None:
    """INV-3."""
    gate = kernel(rule("REQUIRE_APPROVAL", "transfer", UNKNOWN[name]))
    assert authorized(gate).stage == "approval"
    assert authorized(gate, approve=lambda _request: True).approved


def test_a_guard_that_is_known_decides() -> None:
    """INV-3: the twin, so that the refusals above are not empty."""
    known = compare("action.args.amount", "==", 100)
    assert authorized(kernel(rule("ALLOW", "transfer", known), default="DENY")).granted
    assert authorized(kernel(rule("NEVER", "transfer", UnOp("NOT", known)))).granted


def test_an_engine_that_answers_nonsense_authorises_nothing() -> None:
    """INV-3, KRN-3."""

    class Engine:
        def check(self, request: Any, state: Any) -> Any:
            return type("Decision", (), {"verdict": "YES", "allowed": True})()

    gate = kernel()
    gate.policy = Engine()  # type: ignore[assignment]
    assert authorized(gate, approve=lambda _request: True).stage == "policy_error"
