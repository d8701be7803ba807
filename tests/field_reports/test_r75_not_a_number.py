"""R75: one NaN, somewhere, costs one clear refusal, and never the run or the effect."""

from __future__ import annotations

from typing import Any

import pytest

from agentl import Host, Runtime
from tests.field_reports import relay
from tests.field_reports.kit import Ledger, Place, agent_of, blocked, drive

NAN, INF = float("nan"), float("inf")
ODD: dict[str, Any] = {
    "nan": NAN,
    "infinity": INF,
    "minus infinity": -INF,
    "overflow": float("1e400"),
    "minus zero": -0.0,
    "smallest": 5e-324,
    "largest": 1.7976931348623157e308,
    "in a list": [1.0, NAN, [-0.0, INF]],
    "in a mapping": {"a": {"b": NAN}, "c": -INF},
    "in a tuple": (NAN, (INF,)),
}
TYPED = """
AGENT TYPED {
  TOOL measure { OUTPUT { level: Number } }
  TOOL act { INPUT { level: Number } }
  POLICY { DEFAULT ALLOW }
  PLAN go WHEN tools.measure.calls == 0 {
    measure()
    IF tools.measure.in_doubt == false THEN { act(level: measure.level) }
  }
}
"""


@pytest.mark.real_kill
@pytest.mark.parametrize("name", ODD)
def test_an_untyped_value_goes_round_exactly_on_every_store(place: Place, name: str) -> None:
    """ENC-1, ENC-5: NaN, the infinities and the sign of zero are kept, and the effect is never repeated."""
    seen, _ = relay.both_ways(place, lambda: ODD[name])
    assert [tool for tool, _, _ in seen] == ["sink"]
    text = str(seen[0][1]["data"])
    for mark in ("nan", "inf", "-0.0"):
        assert (mark in text) is (mark in str(ODD[name]))


@pytest.mark.parametrize("level", [NAN, INF, -INF, "12", True, None, [1]], ids=repr)
def test_a_typed_result_that_is_no_number_is_a_doubt_and_not_an_undone_effect(
    place: Place, ledger: Ledger, level: Any
) -> None:
    """TOL-4: nothing bound, the call in doubt, and no second call."""
    host = Host()

    @host.tool("measure")
    def measure() -> dict[str, Any]:
        ledger.add("measure")
        return {"level": level}

    @host.tool("act")
    def act(level: float) -> dict[str, str]:
        ledger.add("act", level=level)
        return {}

    run = drive(place, TYPED, host, ticks=3)
    assert ledger.tools() == ["measure"]
    assert run.runtime.state.world["tools.measure.in_doubt"] is True
    assert run.runtime.metrics["tool_contract_failures"] == 1
    assert run.status == "completed"


@pytest.mark.parametrize("level", [NAN, INF, -INF], ids=repr)
def test_a_typed_argument_is_refused_before_the_tool(ledger: Ledger, level: float) -> None:
    """KRN-7: ``kernel.input_finite``, nothing is called."""
    host = Host()
    host.tool("act")(lambda level: ledger.add("act", level=level))
    runtime = Runtime(agent_of(TYPED), host)
    runtime.call_tool("act", {"level": level})
    assert blocked(runtime) == ["tool.input"]
    assert ledger.rows() == []
