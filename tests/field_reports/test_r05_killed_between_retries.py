"""R05: killed while it waits between two attempts, the run goes on with the attempts that are left."""

from __future__ import annotations

import pytest

from agentl import Host, Retry
from tests.field_reports.kit import Ledger, Place, die, drive, in_child

PROGRAM = """
AGENT RETRIES {
  TOOL charge { INPUT { amount: Number } }
  TOOL done { INPUT { amount: Number } }
  POLICY { DEFAULT ALLOW }
  PLAN pay WHEN tools.charge.calls == 0 {
    charge(amount: 10)
    IF tools.charge.in_doubt == false THEN { done(amount: 10) }
  }
}
"""
ATTEMPTS = 4


def world(ledger: Ledger, *, failing: int, kill_after: int | None = None) -> Host:
    """``charge`` fails ``failing`` times; the waiting after attempt ``kill_after`` is deadly."""
    host = Host()

    def wait(_seconds: float) -> None:
        if kill_after is not None and len(ledger.rows("charge")) == kill_after:
            die()

    host.sleep = wait

    @host.tool("charge", idempotent=True, retry=Retry(attempts=ATTEMPTS, delay=5.0, factor=2.0))
    def charge(amount: float) -> dict[str, str]:
        ledger.add("charge", amount=amount)
        if len(ledger.rows("charge")) <= failing:
            raise ConnectionError("no answer")
        return {}

    @host.tool("done")
    def done(amount: float) -> dict[str, str]:
        ledger.add("done", amount=amount)
        return {}

    return host


@pytest.mark.real_kill
@pytest.mark.parametrize("kill_after", [1, 2, 3])
def test_the_attempts_that_are_left_are_made_under_the_same_key(
    place: Place, ledger: Ledger, kill_after: int
) -> None:
    """TOL-3, RES-6, HST-4: the count of attempts is durable, the key is the same, the end is success."""
    assert in_child(lambda: drive(place, PROGRAM, world(ledger, failing=3, kill_after=kill_after))).killed
    assert len(ledger.rows("charge")) == kill_after
    assert in_child(lambda: drive(place, PROGRAM, world(ledger, failing=3)).status).ok() == "completed"
    charged = ledger.rows("charge")
    assert [row["attempt"] for row in charged] == [1, 2, 3, 4]
    assert len({row["key"] for row in charged}) == 1
    assert len(ledger.rows("done")) == 1


@pytest.mark.real_kill
def test_the_bound_holds_over_any_number_of_kills(place: Place, ledger: Ledger) -> None:
    """HST-4: a service that never answers is tried at most as often as promised, kills included."""
    for turn in (1, 2, 3):
        assert in_child(
            lambda turn=turn: drive(place, PROGRAM, world(ledger, failing=99, kill_after=turn))
        ).killed
    run = in_child(lambda: drive(place, PROGRAM, world(ledger, failing=99)).runtime.state.world)
    assert run.ok()["tools.charge.in_doubt"] is True
    assert len(ledger.rows("charge")) <= ATTEMPTS
    assert not ledger.rows("done")
