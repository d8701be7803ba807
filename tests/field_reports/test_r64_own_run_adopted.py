"""R64: a run that this very process is driving is never picked up a second time by it."""

from __future__ import annotations

import datetime as dt

import pytest

from agentl import Host
from agentl.durable import LeaseHeld
from tests.field_reports.kit import Ledger, Place, drive

PROGRAM = """
AGENT OWN {
  TOOL act { INPUT { n: Number } }
  POLICY { DEFAULT ALLOW }
  PLAN go WHEN tools.act.calls == 0 { act(n: 1) }
}
"""
NOW = dt.datetime(2026, 3, 29, 1, 0, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    "clock", [lambda _n: NOW, lambda n: NOW - dt.timedelta(hours=n % 2)], ids=["frozen", "set back"]
)
def test_a_sweep_inside_the_same_process_is_refused(every_place: Place, ledger: Ledger, clock) -> None:
    """STO-6: the lease decides, not a time: every sweep over a live run is refused, and one row each."""
    place = every_place
    refused: list[str] = []
    runs = [f"run{number}" for number in range(12)]
    readings = iter(range(10**6))

    def world(run_id: str, *, sweeping: bool) -> Host:
        host = Host()
        host.now = lambda: clock(next(readings))

        @host.tool("act")
        def act(n: float) -> dict[str, str]:
            ledger.add("act", n=n)
            if sweeping:
                for _ in range(2):
                    with pytest.raises(LeaseHeld) as held:
                        drive(place, PROGRAM, world(run_id, sweeping=False), run_id=run_id)
                    refused.append(str(held.value))
            return {}

        return host

    for run_id in runs:
        drive(place, PROGRAM, world(run_id, sweeping=True), run_id=run_id)
    assert len(ledger.rows()) == len(runs)
    assert len(refused) == 2 * len(runs)
    for run_id in runs:
        drive(place, PROGRAM, world(run_id, sweeping=False), run_id=run_id)
    assert len(ledger.rows()) == len(runs)
