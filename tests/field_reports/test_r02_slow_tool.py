"""R02: a slow tool call must not be started a second time while the first one is still running."""

from __future__ import annotations

import os
import signal

import pytest

from agentl import Host
from agentl.durable import DurableRun, LeaseHeld
from tests.field_reports.kit import RUN, Child, Ledger, Place, agent_of, drive

PROGRAM = """
AGENT SLOW {
  TOOL charge { INPUT { amount: Number } }
  POLICY { DEFAULT ALLOW }
  PLAN pay WHEN tools.charge.calls == 0 { charge(amount: 10) }
}
"""


class Gate:
    """A tool body that says when it has begun and goes on when it is told to."""

    def __init__(self) -> None:
        self.begun = os.pipe()
        self.release = os.pipe()

    def pass_through(self) -> None:
        os.write(self.begun[1], b"b")
        os.read(self.release[0], 1)

    def await_begin(self) -> None:
        assert os.read(self.begun[0], 1) == b"b"

    def open(self) -> None:
        os.write(self.release[1], b"g")


def world(ledger: Ledger, gate: Gate | None, *, idempotent: bool) -> Host:
    host = Host()

    @host.tool("charge", idempotent=idempotent)
    def charge(amount: float) -> dict[str, str]:
        if gate is not None:
            gate.pass_through()
        ledger.add("charge", amount=amount)
        return {}

    return host


@pytest.mark.real_kill
@pytest.mark.parametrize("idempotent", [True, False])
def test_a_second_worker_is_refused_for_as_long_as_the_first_lives(
    place: Place, ledger: Ledger, idempotent: bool
) -> None:
    """STO-6, RES-6: slow is not dead; who holds the run is named; one effect, one result."""
    gate = Gate()
    first = Child(lambda: drive(place, PROGRAM, world(ledger, gate, idempotent=idempotent)).status)
    gate.await_begin()
    for _ in range(3):
        store = place.store()
        with pytest.raises(LeaseHeld) as refused:
            DurableRun(
                agent_of(PROGRAM), world(ledger, None, idempotent=idempotent), store=store, run_id=RUN
            ).run(max_ticks=1)
        store.close()
        assert str(first.pid) in str(refused.value)
    gate.open()
    assert first.wait().ok() == "completed"
    assert len(ledger.rows()) == 1
    assert len(place.of_kind("invoke")) == 1


@pytest.mark.real_kill
@pytest.mark.parametrize("idempotent", [True, False])
def test_the_late_result_of_a_worker_judged_lost_is_fenced(
    database_place: Place, ledger: Ledger, idempotent: bool
) -> None:
    """STO-6: a stopped worker loses a lease that ends by time; what it brings back later is refused."""
    place = database_place
    gate = Gate()
    first = Child(lambda: drive(place, PROGRAM, world(ledger, gate, idempotent=idempotent)).status)
    gate.await_begin()
    os.kill(first.pid, signal.SIGSTOP)
    try:
        past = "1.0" if place.kind == "sqlite" else "'2001-01-01T00:00:00+00:00'"
        place.change(f"UPDATE leases SET expires = {past} RETURNING 1")
        second = Child(
            lambda: drive(place, PROGRAM, world(ledger, None, idempotent=idempotent)).runtime.state.world
        )
        facts = second.wait().ok()
    finally:
        os.kill(first.pid, signal.SIGCONT)
    gate.open()
    late = first.wait()
    assert late.error == "LeaseLost", late
    results = place.of_kind("invoke")
    assert len(results) == 1
    if idempotent:
        assert len({row["key"] for row in ledger.rows()}) == 1, "one key, so the receiver keeps one effect"
        assert facts["tools.charge.in_doubt"] is False
    else:
        assert [row["pid"] for row in ledger.rows()] == [first.pid], "not run again, and declared in doubt"
        assert facts["tools.charge.in_doubt"] is True
        assert results[0]["error"][0] == "ActionInDoubt"
