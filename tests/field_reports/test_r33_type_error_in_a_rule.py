"""R33: a restricting rule that cannot be evaluated restricts."""

from __future__ import annotations

from typing import Any

import pytest

from agentl import UNDEFINED, Host, Runtime
from tests.field_reports.kit import Ledger, agent_of, blocked

PROGRAM = """
AGENT REGIONS {{
  BELIEF {{ desk.allowed: [north, south], desk.word: hello }}
  TOOL send {{ INPUT {{ {inputs} }} }}
  POLICY {{ DEFAULT {default} {rule} }}
}}
"""


class Text(str):
    """A subclass of str: not a value of the data model."""


BAD_REGIONS: dict[str, Any] = {
    "undefined": UNDEFINED,
    "none": None,
    "number": 7,
    "boolean": True,
    "list": ["north"],
    "mapping": {"north": True},
    "not a number": float("nan"),
}


def outcome(
    ledger: Ledger, rule: str, args: dict[str, Any], *, default: str = "ALLOW", inputs: str = ""
) -> Runtime:
    host = Host()

    def send(**given: Any) -> dict[str, str]:
        ledger.add("send", **given)
        return {}

    host.tool("send")(send)
    host.approver = lambda _request: False
    runtime = Runtime(agent_of(PROGRAM.format(rule=rule, default=default, inputs=inputs)), host)
    next(iter(runtime.iter_ticks(1)))
    runtime.call_tool("send", args)
    return runtime


@pytest.mark.parametrize("effect", ["NEVER send WHEN", "DENY send WHEN", "REQUIRE APPROVAL FOR send WHEN"])
@pytest.mark.parametrize("region", BAD_REGIONS)
def test_a_comparison_of_unlike_types_restricts(ledger: Ledger, effect: str, region: str) -> None:
    """TRI-3, TRI-6, INV-3: an ordering, a membership or a function that cannot answer applies the rule."""
    value = BAD_REGIONS[region]
    for guard in ("action.args.region > 5.5 AND action.args.region < 6", "north IN action.args.region"):
        if guard.startswith("north") and isinstance(value, list | dict):
            continue  # there the question has an answer
        if ">" in guard and value == 7 and value is not True:
            continue
        runtime = outcome(ledger, f"{effect} {guard}", {"region": value})
        assert blocked(runtime), (effect, guard, region)
    assert ledger.rows() == []


@pytest.mark.parametrize("effect", ["NEVER send WHEN", "DENY send WHEN"])
@pytest.mark.parametrize(
    "guard",
    [
        "action.args.region IN desk.missing",
        "action.args.region IN desk.word + 1 > 0",
        "len(action.args.amount) > 3",
        "abs(action.args.region) > 3",
        "action.args.amount / 0 > 1",
        "action.args.nowhere == 1",
        "CONFIDENCE(action.args.region) > 0.5",
        "nonsense(action.args.region)",
        "NOT action.args.nowhere == 1",
    ],
)
def test_an_error_inside_a_restricting_rule_denies(ledger: Ledger, effect: str, guard: str) -> None:
    """TRI-4, TRI-5, POL-2: whatever raises or has no value inside the guard."""
    if guard.startswith("action.args.region IN desk.word"):
        guard = "(action.args.region IN (desk.word + 1))"
    runtime = outcome(ledger, f"{effect} {guard}", {"region": "north", "amount": 5})
    assert blocked(runtime)
    assert ledger.rows() == []


@pytest.mark.parametrize("region", BAD_REGIONS)
def test_an_error_inside_an_allow_does_not_allow(ledger: Ledger, region: str) -> None:
    """POL-2.3: only a guard that is strictly true opens a closed default."""
    runtime = outcome(
        ledger,
        "ALLOW send WHEN NOT action.args.region > 5.5 OR north IN action.args.nowhere",
        {"region": BAD_REGIONS[region]},
        default="DENY",
    )
    if BAD_REGIONS[region] == 7 and BAD_REGIONS[region] is not True:
        assert blocked(runtime)
    assert blocked(runtime)
    assert ledger.rows() == []


def test_a_subclass_of_text_is_no_value_of_the_language(ledger: Ledger) -> None:
    """KRN-2, KRN-3: it could answer a comparison as it likes, so it is refused before the policy."""
    runtime = outcome(ledger, "DENY send WHEN region IN desk.allowed", {"region": Text("north")})
    assert blocked(runtime)
    assert ledger.rows() == []


def test_the_refusal_names_the_rule(ledger: Ledger) -> None:
    """POL-2, POL-3: the trace names effect and line of the rule."""
    runtime = outcome(ledger, "DENY send WHEN action.args.region > 5.5", {"region": "north"})
    lines = [event.text + " " + event.detail for event in runtime.trace.events if event.kind == "BLOCKED"]
    assert any("DENY" in line for line in lines), lines
    assert (
        outcome(ledger, "DENY send WHEN action.args.region > 5.5", {"region": 3}).metrics["tool_calls"] == 1
    )
