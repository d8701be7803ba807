"""R90: an approval that waits shows the time it has left and never lives through a change of clock."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from agentl import Host
from agentl.durable.requests import Decision, Extension, near, remaining
from agentl.errors import Parked
from tests.field_reports.kit import Ledger, Place, drive

PROGRAM = """
AGENT PAYS {
  TOOL transfer { INPUT { amount: Number } }
  POLICY { DEFAULT ALLOW  REQUIRE APPROVAL FOR transfer }
  PLAN pay WHEN done != yes { SET done = yes  transfer(amount: 10) }
}
"""
START = datetime(2030, 3, 31, 0, 59, 30, tzinfo=UTC)  # half a minute before summer time in Paris


@pytest.fixture(params=["UTC", "Europe/Paris", "America/New_York", "Asia/Kolkata"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


class Clock:
    """The clock of the host, which may give its times in any form."""

    def __init__(self) -> None:
        self.now = START
        self.form: Any = lambda moment: moment

    def __call__(self) -> datetime:
        said: datetime = self.form(self.now)
        return said


def world(ledger: Ledger, clock: Clock) -> Host:
    host = Host()
    host.now = clock

    @host.tool("transfer", idempotent=True)
    def transfer(amount: float) -> dict[str, Any]:
        ledger.add("transfer", amount=amount)
        return {}

    return host


def parks(place: Place, ledger: Ledger, clock: Clock) -> Any:
    with pytest.raises(Parked):
        drive(place, PROGRAM, world(ledger, clock), park=True, answer_within=60.0)
    (filed,) = place.store().requests.all()
    return filed


@pytest.mark.parametrize("form", ["aware", "naive", "elsewhere"])
@pytest.mark.parametrize(("after", "lives"), [(59, True), (60, False), (3659, False)])
def test_sixty_seconds_are_sixty_seconds_in_every_zone(
    place: Place, ledger: Ledger, zone: str, form: str, after: int, lives: bool
) -> None:
    """PRK-3: over a change to summer time, in four zones, with aware and naive times."""
    clock = Clock()
    clock.form = {
        "aware": lambda moment: moment,
        "naive": lambda moment: moment.replace(tzinfo=None),
        "elsewhere": lambda moment: moment.astimezone(timezone(timedelta(hours=5, minutes=30))),
    }[form]
    filed = parks(place, ledger, clock)
    assert filed.deadline == "2030-03-31T01:00:30+00:00"
    clock.now += timedelta(seconds=after)
    said = Decision("approved", "owner", clock.now.isoformat(timespec="seconds"))
    stands = place.store().requests.decide(filed.request.request_id, said)
    assert (stands.answer == "approved") == lives
    drive(place, PROGRAM, world(ledger, clock), park=True)
    assert len(ledger.rows()) == (1 if lives else 0)


@pytest.mark.parametrize("jump", [timedelta(days=-1), timedelta(days=365), timedelta(minutes=5)])
def test_a_jump_of_the_clock_revives_nothing(place: Place, ledger: Ledger, jump: timedelta) -> None:
    """PRK-3: set back, set forward, or asleep for five minutes: once it has expired it stays so."""
    clock = Clock()
    filed = parks(place, ledger, clock)
    clock.now += timedelta(seconds=61)
    drive(place, PROGRAM, world(ledger, clock), park=True)
    clock.now += jump
    said = Decision("approved", "owner", clock.now.isoformat(timespec="seconds"))
    assert place.store().requests.decide(filed.request.request_id, said).answer == "expired"
    drive(place, PROGRAM, world(ledger, clock), park=True)
    assert ledger.rows() == []


def test_a_clock_that_was_set_forward_kills_and_set_back_does_not_revive(
    place: Place, ledger: Ledger
) -> None:
    """PRK-3: dead by a wrong clock is dead."""
    clock = Clock()
    filed = parks(place, ledger, clock)
    clock.now += timedelta(days=365)
    drive(place, PROGRAM, world(ledger, clock), park=True)
    clock.now = START
    said = Decision("approved", "owner", START.isoformat())
    assert place.store().requests.decide(filed.request.request_id, said).answer == "expired"
    assert ledger.rows() == []


def test_the_time_left_is_shown_and_more_can_be_given(place: Place, ledger: Ledger) -> None:
    """PRK-3, PRK-9: a sign before it runs out; an extension is on record and counts."""
    clock = Clock()
    filed = parks(place, ledger, clock)
    now = (START + timedelta(seconds=50)).isoformat()
    assert remaining(filed.deadline, now) == 10
    assert near(filed, now)
    more = Extension((START + timedelta(days=3)).isoformat(), "owner", now)
    assert place.store().requests.extend(filed.request.request_id, more).extensions == (more,)
    clock.now += timedelta(days=2)
    said = Decision("approved", "owner", clock.now.isoformat(timespec="seconds"))
    assert place.store().requests.decide(filed.request.request_id, said).answer == "approved"
    drive(place, PROGRAM, world(ledger, clock), park=True)
    assert len(ledger.rows()) == 1
