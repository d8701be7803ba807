"""I4: untrusted data never masks trusted data of the same name (INV-4, STA-3, TCK-6)."""

from __future__ import annotations

from typing import Any

import pytest

from agentl import parse_source
from agentl.host import Host
from agentl.kernel.gate import Kernel
from agentl.kernel.provenance import of, untrusted
from agentl.labels import UNTRUSTED_SOURCES
from agentl.state import State
from agentl.values import Symbol
from tests.support.kernels import agent, compare, rule, transfer
from tests.support.programs import ran

WRITES: dict[str, Any] = {
    "local": lambda state: state.set_local("limit", 10, of("DECLARED")),
    "belief": lambda state: state.set_belief("limit", 10, prov=of("OBSERVED")),
    "world": lambda state: state.set_world("limit", 10, of("OBSERVED")),
    "memory": lambda state: state.set_memory("LONG_TERM", "limit", 10, of("DECLARED")),
}


@pytest.mark.parametrize("store", WRITES)
@pytest.mark.parametrize("source", UNTRUSTED_SOURCES)
@pytest.mark.parametrize("first", [True, False])
def test_a_known_value_answers_before_an_outside_one(store: str, source: str, first: bool) -> None:
    """INV-4: whichever came first; value and label come from the same store."""
    state = State()
    steps = [WRITES[store], lambda state: state.set_untrusted("limit", 9999, of(source))]
    for step in steps if first else reversed(steps):
        step(state)
    value, label = state.get_labeled("limit")
    assert value == 10
    assert not label.untrusted


def test_an_outside_value_answers_where_nothing_is_known() -> None:
    """STA-3: the twin, so that the test above is not empty."""
    state = State()
    state.set_untrusted("limit", 9999, of("LLM"))
    assert state.get_labeled("limit") == (9999, of("LLM"))


def test_a_guard_reads_the_known_value() -> None:
    """INV-4, POL-4."""
    gate = Kernel(agent(rule("NEVER", "transfer", compare("limits.daily", "==", 10))))
    state = State()
    state.set_world("limits.daily", 10, of("OBSERVED"))
    state.set_untrusted("limits.daily", 9999, of("LLM"))
    assert gate.authorize(transfer(), state).stage == "policy"


PROGRAM = """
AGENT a {
  TOOL act { INPUT { level: Any } OUTPUT { ok: Bool } RISK LOW }
  POLICY { DEFAULT ALLOW }
  OBSERVE { level }
  EVENT alarm { act(level: level) act(level: payload.level) }
}
"""


def test_an_event_does_not_mask_an_observation() -> None:
    """INV-4, TCK-6: it stays readable under its payload."""
    host = Host()
    seen: list[Any] = []
    host.sensor("level")(lambda: Symbol("low"))
    host.tool("act")(lambda level: seen.append(level) or {"ok": True})
    host.emit("alarm", level="critical")
    runtime = ran(parse_source(PROGRAM).agents[0], host, ticks=1)
    assert seen == [Symbol("low"), "critical"]
    assert "payload.masked" in [event.code for event in runtime.trace.events]


def test_a_host_can_lower_trust_but_not_raise_it() -> None:
    """PRV-3."""
    from agentl.kernel.provenance import Labeled, crossed

    assert crossed(untrusted(1), of("OBSERVED"))[1].untrusted
    assert crossed(Labeled(1, of("DECLARED")), of("TOOL"))[1].untrusted
