"""R20: with several questions open at once each answer reaches the call it was given for.

The language makes one call after the other, so one run asks one thing at a time. Here several runs ask at
once, and one run asks several things behind each other.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from agentl import Host
from agentl.durable.requests import Decision
from agentl.errors import Parked, StoreFailure
from tests.field_reports.kit import Ledger, Place, drive

PROGRAM = """
AGENT ASKS {
  OBSERVE { desk.amount }
  TOOL transfer { INPUT { amount: Number } }
  POLICY { DEFAULT ALLOW  REQUIRE APPROVAL FOR transfer }
  PLAN pay WHEN done != yes { SET done = yes  transfer(amount: desk.amount) }
}
"""
THREE = """
AGENT ASKS {
  TOOL transfer { INPUT { amount: Number } }
  POLICY { DEFAULT ALLOW  REQUIRE APPROVAL FOR transfer }
  PLAN pay WHEN done != yes {
    SET done = yes  transfer(amount: 1)  transfer(amount: 2)  transfer(amount: 3)
  }
}
"""
AT = "2030-01-01T00:00:00+00:00"


def world(ledger: Ledger, amount: int = 0) -> Host:
    host = Host()
    host.sensor("desk.amount")(lambda: amount)

    @host.tool("transfer", idempotent=True)
    def transfer(amount: float) -> dict[str, Any]:
        ledger.add("transfer", amount=amount)
        return {}

    return host


def done(ledger: Ledger) -> list[str]:
    return [row["args"]["amount"][1] for row in ledger.rows()]


@pytest.mark.parametrize("seed", range(10))
def test_three_runs_answered_in_any_order_over_two_restarts(place: Place, ledger: Ledger, seed: int) -> None:
    """PRK-2: the second approved, the third denied, the first left: no swap, whatever the order."""
    order = random.Random(seed)
    runs = {"r1": 1, "r2": 2, "r3": 3}

    def start(names: list[str]) -> dict[str, str]:
        ended = {}
        for name in order.sample(names, len(names)):
            try:
                ended[name] = drive(place, PROGRAM, world(ledger, runs[name]), run_id=name, park=True).status
            except Parked:
                ended[name] = "waiting"
        return ended

    assert set(start([*runs]).values()) == {"waiting"}
    asked = {name: place.store(name).requests.all()[0].request for name in runs}
    assert len({request.request_id for request in asked.values()}) == 3
    assert {name: request.args["amount"] for name, request in asked.items()} == runs
    for name, answer in order.sample([("r2", "approved"), ("r3", "denied")], 2):
        place.store(name).requests.decide(asked[name].request_id, Decision(answer, "owner", AT))
    for _ in range(2):
        assert start([*runs]) == {"r1": "waiting", "r2": "completed", "r3": "completed"}
    assert done(ledger) == ["2"]


def test_one_run_asks_three_things_and_each_answer_is_for_its_own(place: Place, ledger: Ledger) -> None:
    """PRK-2, APR-6: denied, approved, approved; the id of one is none of another."""
    seen = []
    for answer in ("denied", "approved", "approved"):
        with pytest.raises(Parked):
            drive(place, THREE, world(ledger), park=True)
        book = place.store().requests
        (filed,) = book.all(open_only=True)
        seen.append(filed.request.request_id)
        book.decide(filed.request.request_id, Decision(answer, "owner", AT))
    drive(place, THREE, world(ledger), park=True)
    assert len(set(seen)) == 3
    assert done(ledger) == ["2", "3"]


def test_an_answer_for_another_run_is_refused(place: Place, ledger: Ledger) -> None:
    """PRK-1: the row of one run is none of another."""
    for name in ("r1", "r2"):
        with pytest.raises(Parked):
            drive(place, PROGRAM, world(ledger, 1), run_id=name, park=True)
    first = place.store("r1").requests.all()[0].request.request_id
    with pytest.raises(StoreFailure):
        place.store("r2").requests.decide(first, Decision("approved", "owner", AT))
    assert place.store("r2").requests.all()[0].open
