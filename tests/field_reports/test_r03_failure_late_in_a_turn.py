"""R03: when the last of three calls fails or is killed, the two finished ones are not made again."""

from __future__ import annotations

import pytest

from agentl import Host
from agentl.durable import NOT_EXECUTED, DurableJournal
from tests.field_reports.kit import Kill, Ledger, Place, codes, die, drive, in_child

PROGRAM = """
AGENT TURN {
  TOOL charge { INPUT { amount: Number } }
  TOOL mark { INPUT { order: String } }
  TOOL notify { INPUT { order: String } }
  POLICY { DEFAULT ALLOW  NEVER notify WHEN tools.notify.in_doubt == true }
  PLAN turn WHEN tools.charge.calls == 0 {
    STEP book { charge(amount: 10) mark(order: "o-1") }
    STEP tell {
      notify(order: "o-1")
      VERIFY "told" { tools.notify.in_doubt == false AND tools.notify.calls >= 1 ON FAIL { RETRY 2 } }
    }
  }
}
"""


def world(ledger: Ledger, promise: str, *, deadly: str = "") -> Host:
    host = Host()

    @host.tool("charge")
    def charge(amount: float) -> dict[str, str]:
        ledger.add("charge", amount=amount)
        return {}

    @host.tool("mark")
    def mark(order: str) -> dict[str, str]:
        ledger.add("mark", order=order)
        return {}

    @host.tool("notify", idempotent=promise == "idempotent")
    def notify(order: str) -> dict[str, str]:
        if deadly == "raise":
            raise ConnectionError("no answer")
        if deadly == "early":
            die()
        ledger.add("notify", order=order)
        if deadly == "late":
            die()
        return {}

    if promise == "reconcilable":

        @host.reconciler("notify")
        def told(args: dict[str, str], context: object) -> object:
            return {} if ledger.rows("notify") else NOT_EXECUTED

    return host


@pytest.mark.parametrize("promise", ["idempotent", "reconcilable", "plain"])
def test_a_raising_last_call_does_not_repeat_the_earlier_ones(
    place: Place, ledger: Ledger, promise: str
) -> None:
    """TCK-13, TOL-3: a retry starts at the step that failed; the run tells which call is open."""
    run = drive(place, PROGRAM, world(ledger, promise, deadly="raise"), ticks=3)
    assert ledger.tools() == ["charge", "mark"]
    assert run.runtime.state.world["tools.charge.in_doubt"] is False
    assert run.runtime.state.world["tools.mark.in_doubt"] is False
    assert run.runtime.state.world["tools.notify.in_doubt"] is (promise != "reconcilable")
    drive(place, PROGRAM, world(ledger, promise), ticks=3)
    assert ledger.tools() == ["charge", "mark"], "a completed run makes no call"


@pytest.mark.real_kill
@pytest.mark.parametrize("promise", ["idempotent", "reconcilable", "plain"])
@pytest.mark.parametrize("point", ["P1", "P2", "body", "P3", "P4", "P5"])
def test_killed_in_the_last_call_only_that_call_is_settled(
    place: Place, ledger: Ledger, promise: str, point: str
) -> None:
    """DUR-2, RES-5, RES-6: one row each for charge and mark wherever the third call was killed."""
    kills = {
        "P1": Kill("before", "intent", 3),
        "P2": Kill("after", "intent", 3),
        "P4": Kill("before", "invoke", 3),
        "P5": Kill("after", "invoke", 3),
    }
    deadly = {"body": "early", "P3": "late"}.get(point, "")
    child = in_child(
        lambda: drive(place, PROGRAM, world(ledger, promise, deadly=deadly), kill=kills.get(point))
    )
    assert child.killed
    store = place.store()
    journal = DurableJournal.open(store, write=False)
    pending = [entry["tool"] for entry in journal.pending()]
    store.close()
    assert pending == ([] if point in {"P1", "P5"} else ["notify"])

    run = in_child(
        lambda: (lambda done: (done.status, codes(done.runtime)))(
            drive(place, PROGRAM, world(ledger, promise))
        )
    )
    assert run.ok()[0] == "completed"
    assert len(ledger.rows("charge")) == 1
    assert len(ledger.rows("mark")) == 1
    notified = ledger.rows("notify")
    if promise == "plain":
        assert len(notified) == (0 if point in {"P2", "body"} else 1)
        assert ("tool.in_doubt" in run.ok()[1]) is (point in {"P2", "body", "P3", "P4"})
    elif promise == "reconcilable":
        assert len(notified) == 1
    else:
        assert len({row["key"] for row in notified}) == 1, "the receiver sees one key"
