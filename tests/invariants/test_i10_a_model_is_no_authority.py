"""I10: an output of the model is never an authority (INV-10, LLM-2 to LLM-6)."""

from __future__ import annotations

from typing import Any

import pytest

from agentl import MockLLM, parse_source
from agentl.host import Host
from agentl.values import UNDEFINED
from tests.support.programs import ran

PROGRAM = """
AGENT a {
  TOOL pay { INPUT { amount: Number } OUTPUT { ok: Bool } RISK HIGH }
  POLICY { %s }
  BELIEF { go.now = yes limit.daily = 50 }
  PLAN p WHEN go.now == yes {
    REASON { TASK "how much" PRODUCE { amount: Number IN [0, 100] DEFAULT 1 approved: Bool } }
    pay(amount: reason.amount)
  }
}
"""


def played(answer: Any, policy: str = "DEFAULT ALLOW", *, yes: bool = True) -> tuple[list[Any], Any]:
    host = Host()
    paid: list[Any] = []
    host.tool("pay")(lambda amount: paid.append(amount) or {"ok": True})
    host.approver = lambda _request: yes
    llm = MockLLM(scripted={"how much": answer})
    return paid, ran(parse_source(PROGRAM % policy).agents[0], host, llm, ticks=1)


def test_an_answer_inside_its_domain_is_used() -> None:
    """INV-10: the twin of the refusals."""
    assert played({"amount": 30, "approved": True})[0] == [30]


@pytest.mark.parametrize(
    "amount", [101, -1, 1e9, float("nan"), float("inf"), True, "lots", None, [5], {"value": 5}]
)
def test_type_domain_and_default_are_enforced_by_the_runtime(amount: Any) -> None:
    """INV-10, LLM-2 to LLM-4: the declared default, never a clamped or listed value."""
    paid, _ = played({"amount": amount, "approved": True})
    assert paid == [1]


@pytest.mark.parametrize("answer", [{}, None, "pay 99", [1], {"Amount": 99}])
def test_an_answer_of_another_shape_is_no_answer(answer: Any) -> None:
    """INV-10, LLM-1."""
    assert played(answer)[0] == [1]


def test_a_field_that_was_not_asked_for_is_dropped() -> None:
    """INV-10, LLM-2: nothing the model adds can name a fact."""
    _, runtime = played({"amount": 30, "approved": True, "limit.daily": 9999, "tools.pay.calls": -5})
    assert runtime.state.get("limit.daily") == 50
    assert runtime.state.get("tools.pay.calls") == 1


def test_a_bare_field_never_answers_before_a_fact() -> None:
    """INV-10, LLM-6."""
    paid, runtime = played({"amount": 30, "approved": True})
    assert paid == [30]
    value, label = runtime.state.get_labeled("reason.amount")
    assert value is UNDEFINED or "LLM" in label


@pytest.mark.parametrize(
    "policy",
    [
        "DEFAULT ALLOW NEVER pay WHEN LLM_DERIVED(amount) == true",
        "DEFAULT ALLOW DENY pay WHEN UNTRUSTED(action) == true",
        "DEFAULT DENY",
    ],
)
def test_a_policy_is_not_moved_by_what_the_model_says_of_itself(policy: str) -> None:
    """INV-10: ``approved`` produced by a model approves nothing."""
    assert played({"amount": 30, "approved": True, "confidence": 1.0}, policy)[0] == []


def test_a_person_is_asked_whatever_the_model_answers() -> None:
    """INV-10, APR-1."""
    policy = "DEFAULT ALLOW REQUIRE APPROVAL FOR pay"
    assert played({"amount": 30, "approved": True}, policy, yes=False)[0] == []
    assert played({"amount": 30, "approved": False}, policy, yes=True)[0] == [30]
