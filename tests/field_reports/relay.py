"""A value on its way through the store: `fetch` brings it, `sink` gets it, with or without a kill between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentl import Host
from tests.field_reports.kit import Kill, Ledger, Place, drive, in_child

PROGRAM = """
AGENT RELAY {
  TOOL fetch { OUTPUT { data: Any } }
  TOOL sink { INPUT { data: Any } }
  TOOL alarm { INPUT { n: Number } }
  POLICY { DEFAULT ALLOW }
  PLAN relay WHEN tools.fetch.calls == 0 {
    fetch()
    IF tools.fetch.in_doubt == true THEN { alarm(n: 1) }
    ELSE { IF tools.fetch.calls == 1 THEN { sink(data: fetch.data) } ELSE { alarm(n: 2) } }
  }
}
"""


def world(ledger: Ledger, make: Callable[[], Any]) -> Host:
    """``make`` gives what `fetch` returns (or raises)."""
    host = Host()

    @host.tool("fetch")
    def fetch() -> dict[str, Any]:
        ledger.add("fetch")
        return {"data": make()}

    @host.tool("sink", idempotent=True)
    def sink(data: Any) -> dict[str, str]:
        ledger.add("sink", data=data)
        return {}

    @host.tool("alarm", idempotent=True)
    def alarm(n: float) -> dict[str, str]:
        ledger.add("alarm", n=n)
        return {}

    return host


def outcome(ledger: Ledger) -> list[Any]:
    """What the world saw after the fetch: tool, arguments with types, and key."""
    return [(row["tool"], row["args"], row["key"]) for row in ledger.rows() if row["tool"] != "fetch"]


def both_ways(place: Place, make: Callable[[], Any], program: str = PROGRAM) -> tuple[list[Any], str]:
    """Run once without a break and once killed right after the fetch.

    Returns what the world saw, after checking that both runs showed it the same, and the trace.
    """
    unbroken, broken = Place(place.kind, place.base / "unbroken"), Place(place.kind, place.base / "broken")
    for one in (unbroken, broken):
        one.base.mkdir(exist_ok=True)
    seen, again = Ledger(unbroken.base / "ledger"), Ledger(broken.base / "ledger")
    trace = in_child(lambda: drive(unbroken, program, world(seen, make)).trace_text()).ok()
    assert in_child(
        lambda: drive(broken, program, world(again, make), kill=Kill("after", "invoke", 1))
    ).killed
    retraced = in_child(lambda: drive(broken, program, world(again, make)).trace_text()).ok()
    assert len(again.rows("fetch")) == 1, "an effect is never repeated because of its value"
    assert outcome(seen) == outcome(again)
    assert trace == retraced
    return outcome(seen), trace
