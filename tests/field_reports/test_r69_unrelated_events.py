"""R69: nothing that happens beside a running step starts that step again."""

from __future__ import annotations

import pytest

from agentl import AgentLError, Host
from agentl.durable import DurableJournal, LeaseHeld, settle
from tests.field_reports.kit import Child, Ledger, Place, command, drive
from tests.field_reports.test_r02_slow_tool import Gate

PROGRAM = """
AGENT BUSY {
  TOOL work { INPUT { n: Number } }
  TOOL heard { INPUT { n: Number } }
  POLICY { DEFAULT ALLOW }
  EVENT bell { heard(n: 1) }
  PLAN go WHEN tools.work.calls == 0 { work(n: 1) }
}
"""


def world(ledger: Ledger, gate: Gate | None) -> Host:
    host = Host()

    @host.tool("work", idempotent=True)
    def work(n: float) -> dict[str, str]:
        ledger.add("begin", n=n)
        host.emit("bell", loud=True)
        if gate is not None:
            gate.pass_through()
        ledger.add("end", n=n)
        return {}

    @host.tool("heard")
    def heard(n: float) -> dict[str, str]:
        ledger.add("heard", n=n)
        return {}

    return host


@pytest.mark.real_kill
def test_events_queries_starts_and_verdicts_wait_beside_it(every_place: Place, ledger: Ledger) -> None:
    """STO-6, DCL-3, DCL-5, TCK-14: each is answered or refused; the body is alive once and runs once."""
    place, gate = every_place, Gate()
    driver = Child(lambda: drive(place, PROGRAM, world(ledger, gate), ticks=2).status)
    gate.await_begin()
    store = place.store()
    journal = DurableJournal.open(store, write=False)
    pending = journal.pending()
    store.close()
    assert [entry["tool"] for entry in pending] == ["work"]
    with pytest.raises(LeaseHeld):
        drive(place, PROGRAM, world(ledger, None), ticks=2)
    store = place.store()
    with pytest.raises(AgentLError):
        settle(store, pending[0]["action_id"], executed=False, by="someone")
    store.close()
    if place.kind == "file":
        directory = str(place.path / "run")
        shown = command("durable", "status", directory, "--json", cwd=place.base)
        assert shown.returncode == 0
        assert '"running"' in shown.stdout
        undone = command(
            "durable", "settle", directory, pending[0]["action_id"], "--not-executed", cwd=place.base
        )
        assert undone.returncode == 10, undone.stderr
    assert ledger.tools() == ["begin"]
    gate.open()
    assert driver.wait().ok() == "completed"
    assert ledger.tools() == ["begin", "end", "heard"], "the event is handled after it, once"
    assert len(place.of_kind("invoke")) == 2
