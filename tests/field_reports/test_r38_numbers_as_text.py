"""R38: a number that arrives as text, or with another type, does not slip under a limit."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from agentl import Host, Runtime
from tests.field_reports.kit import Ledger, agent_of, blocked

PROGRAM = """
AGENT LIMITS {{
  TOOL pay {{ INPUT {{ {inputs} }} }}
  POLICY {{ DEFAULT {default} {rule} }}
}}
"""
ODD: list[Any] = [
    "5000", "5,000", " 5000", "5e3", "５０００", "", True, False, 1000.0000001, 5000, Decimal("1000.01"),
    float("nan"), float("inf"), float("-inf"), None, [1], {"n": 1}, b"1", "N/A",
]  # fmt: skip
FINE: list[Any] = [0, -0.0, 1000, 1000.0, Decimal(1000), 1]


def call(ledger: Ledger, amount: Any, *, inputs: str, rule: str, default: str = "ALLOW") -> Runtime:
    host = Host()

    def pay(amount: Any) -> dict[str, str]:
        ledger.add("pay", amount=amount)
        return {}

    host.tool("pay")(pay)
    runtime = Runtime(agent_of(PROGRAM.format(inputs=inputs, rule=rule, default=default)), host)
    runtime.call_tool("pay", {"amount": amount})
    return runtime


@pytest.mark.parametrize("amount", ODD, ids=repr)
@pytest.mark.parametrize(
    ("rule", "default"),
    [
        ("NEVER pay WHEN amount > 1000", "ALLOW"),
        ("DENY pay WHEN NOT amount <= 1000", "ALLOW"),
        ("ALLOW pay WHEN amount <= 1000", "DENY"),
        ('NEVER pay WHEN amount > "1000"', "ALLOW"),
    ],
)
def test_a_typed_parameter_is_checked_before_the_policy(
    ledger: Ledger, amount: Any, rule: str, default: str
) -> None:
    """KRN-7, TOL-2: text, booleans and non-finite numbers are no Number; too much is too much."""
    runtime = call(ledger, amount, inputs="amount: Number", rule=rule, default=default)
    assert blocked(runtime)
    assert ledger.rows() == []
    if not isinstance(amount, int | float | Decimal) or isinstance(amount, bool) or amount != amount:
        assert "tool.input" in blocked(runtime)


@pytest.mark.parametrize(
    "amount", [value for value in ODD if value not in ("", False) or value is None], ids=repr
)
def test_without_types_the_rule_still_holds(ledger: Ledger, amount: Any) -> None:
    """TRI-3, TRI-6: a numeric text is compared as the number it is; what cannot be compared is denied."""
    runtime = call(ledger, amount, inputs="amount", rule="NEVER pay WHEN amount > 1000 OR amount < 0")
    assert blocked(runtime)
    assert ledger.rows() == []


@pytest.mark.parametrize("amount", FINE, ids=repr)
def test_what_is_within_the_limit_runs_with_the_value_the_policy_saw(ledger: Ledger, amount: Any) -> None:
    """KRN-6, INV-6: no coercion between policy and tool: type and value are the same."""
    call(ledger, amount, inputs="amount: Number", rule="NEVER pay WHEN amount > 1000")
    assert [row["args"]["amount"][:2] for row in ledger.rows()] == [[type(amount).__name__, repr(amount)]]


@pytest.mark.parametrize("limit", ['"1000"', '"1,000"', '"lots"', "none", "lots", '""'])
def test_a_limit_given_as_text_does_not_open_the_gate(ledger: Ledger, limit: str) -> None:
    """TRI-3: a numeric text is that number; any other text makes the rule undecidable, so it applies."""
    assert blocked(call(ledger, 5000, inputs="amount: Number", rule=f"NEVER pay WHEN amount > {limit}"))
    assert ledger.rows() == []
