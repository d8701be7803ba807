"""I2: NEVER cannot be bypassed, neither by an approval nor by an ALLOW (INV-2, POL-2)."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from agentl import MockLLM, Runtime, parse_source
from agentl.durable import MemoryStore
from agentl.errors import ReplayDivergence
from agentl.replay import ReplayHost, ReplayLLM
from tests.support.kernels import Bank, authorized, compare, kernel, rule, transfer
from tests.support.programs import Ledger, durable, host_of, payments, ran

NEVER = rule("NEVER", "transfer", compare("action.args.amount", ">", 50))
OTHERS = (
    rule("ALLOW", "transfer"),
    rule("ALLOW", "*"),
    rule("REQUIRE_APPROVAL", "transfer"),
)


@pytest.mark.parametrize("order", list(permutations((NEVER, *OTHERS))))
@pytest.mark.parametrize("kind", ["invoke", "delegate"])
def test_no_order_of_rules_and_no_approval_lets_it_through(order: Any, kind: str) -> None:
    """INV-2: of a tool and of a sub-agent alike."""
    asked: list[Any] = []
    gate = kernel(*order)
    result = authorized(gate, approve=lambda request: asked.append(request) or True, kind=kind)
    assert (result.stage, result.code, result.permit, asked) == ("policy", "pol.never", None, [])
    assert authorized(gate, transfer(10), approve=lambda _request: True, kind=kind).granted


def test_an_origin_or_a_confidence_does_not_help() -> None:
    """INV-2: a plan, the planner, the model."""
    gate = kernel(NEVER, *OTHERS)
    for origin in ("plan", "decide", "event", "message", "planner", "llm", "delegate"):
        request = transfer()
        request.origin = origin
        request.confidence = 1.0
        request.risk = "NONE"
        assert authorized(gate, request, approve=lambda _request: True).stage == "policy"


def test_a_program_does_not_get_past_it() -> None:
    """INV-2."""
    ledger = Ledger()
    host = host_of(ledger)
    host.approver = lambda _request: True
    policy = "DEFAULT ALLOW NEVER transfer WHEN action.args.amount > 50 REQUIRE APPROVAL FOR transfer"
    runtime = ran(payments(policy), host)
    assert ledger.booked == []
    assert runtime.metrics["blocked"] >= 1


def test_a_model_that_chooses_the_plan_does_not_get_past_it() -> None:
    """INV-2, INV-10."""
    source = """
    AGENT a {
      TOOL transfer { INPUT { amount: Number } OUTPUT { ok: Bool } RISK LOW }
      POLICY { DEFAULT ALLOW NEVER transfer }
      PLAN pay { transfer(amount: 100) }
      DECIDE { REASON { TASK "what now" PRODUCE { note: String } } }
    }"""
    ledger = Ledger()
    ran(parse_source(source).agents[0], host_of(ledger), MockLLM(plan_choice="pay"))
    assert ledger.booked == []


def test_a_stricter_policy_overrules_what_an_earlier_run_was_allowed() -> None:
    """INV-2, RES-5, APR-6: by replaying the old journal."""
    store = MemoryStore()
    ledger = Ledger()
    run = durable(payments(), host_of(ledger), store)
    assert len(ledger.booked) == 1
    journal = run.export()
    strict = payments("DEFAULT ALLOW NEVER transfer")
    runtime = Runtime(strict, ReplayHost(journal), ReplayLLM(journal), run_id="r1")
    with pytest.raises(ReplayDivergence):
        runtime.run(2)
    assert runtime.metrics["tool_calls"] == 0
    assert len(ledger.booked) == 1


def test_tools_run_only_where_no_never_matches() -> None:
    """INV-2: the twin of the refusals, so that they are not empty."""
    bank = Bank()
    gate = kernel(NEVER, *OTHERS)
    permit = authorized(gate, transfer(10), approve=lambda _request: True).permit
    assert permit is not None
    gate.execute(permit, bank.host)
    assert len(bank.effects) == 1
