"""R71: a date keeps its zone and its fold; sums made after a resume are those of an unbroken run."""

from __future__ import annotations

import datetime as dt
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from agentl import Host
from tests.field_reports import relay
from tests.field_reports.kit import Kill, Ledger, Place, drive, in_child

PARIS = ZoneInfo("Europe/Paris")
AUTUMN = dt.datetime(2026, 10, 25, 2, 30, tzinfo=PARIS)
VALUES: dict[str, Any] = {
    "before the change": dt.datetime(2026, 3, 28, 2, 30, tzinfo=PARIS),
    "fold 0": AUTUMN,
    "fold 1": AUTUMN.replace(fold=1),
    "fold 1, naive": AUTUMN.replace(fold=1, tzinfo=None),
    "utc": dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
    "fixed offset": dt.datetime(2026, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=5, minutes=45))),
    "microseconds": AUTUMN.replace(microsecond=1, tzinfo=None),
    "date": dt.date(2026, 3, 29),
    "first date": dt.date(1, 1, 1),
    "time": dt.time(2, 30),
    "time with zone": dt.time(2, 30, tzinfo=PARIS, fold=1),
    "nested": {"when": [AUTUMN.replace(fold=1), (AUTUMN, None)]},
}


@pytest.mark.real_kill
@pytest.mark.parametrize("value", VALUES)
def test_both_runs_send_identical_arguments(place: Place, value: str) -> None:
    """ENC-1, ENC-5: instant, zone name and fold, live as after the kill."""
    seen, _ = relay.both_ways(place, lambda: VALUES[value])
    assert [tool for tool, _, _ in seen] == ["sink"]


@pytest.mark.real_kill
@pytest.mark.parametrize(
    "value", [dt.timedelta(days=1), dt.timedelta(microseconds=-1), {"a": dt.timedelta(0)}], ids=repr
)
def test_a_type_that_is_not_kept_is_refused_when_recorded(place: Place, value: Any) -> None:
    """ENC-6, TOL-4: with a message, and as a doubt about the call, never as another value later."""
    seen, trace = relay.both_ways(place, lambda: value)
    assert [tool for tool, _, _ in seen] == ["alarm"]
    assert "timedelta" in trace


ADDING = """
AGENT ADDING {
  TOOL fetch { OUTPUT { data: Any } }
  TOOL tomorrow { INPUT { data: Any } OUTPUT { data: Any } }
  TOOL sink { INPUT { data: Any } }
  POLICY { DEFAULT ALLOW }
  PLAN go WHEN tools.fetch.calls == 0 { fetch() tomorrow(data: fetch.data) sink(data: tomorrow.data) }
}
"""


@pytest.mark.real_kill
@pytest.mark.parametrize("value", ["before the change", "fold 0", "fold 1"])
def test_a_day_added_after_the_resume_is_the_same_day(place: Place, value: str) -> None:
    """ENC-1: wall-clock arithmetic of a tool gives the same sum although it ran in another process."""

    def world(ledger: Ledger) -> Host:
        host = relay.world(ledger, lambda: VALUES[value])

        @host.tool("tomorrow", idempotent=True)
        def tomorrow(data: dt.datetime) -> dict[str, Any]:
            later = data + dt.timedelta(days=1)
            return {"data": {"wall": later, "instant": later.astimezone(dt.UTC), "name": later.tzname()}}

        return host

    sums = []
    for kill in (None, Kill("after", "invoke", 1)):
        here = Place(place.kind, place.base / str(kill is None))
        here.base.mkdir()
        ledger = Ledger(here.base / "ledger")
        first = in_child(
            lambda here=here, ledger=ledger, kill=kill: drive(here, ADDING, world(ledger), kill=kill).status
        )
        assert first.killed is (kill is not None)
        assert (
            in_child(lambda here=here, ledger=ledger: drive(here, ADDING, world(ledger)).status).ok()
            == "completed"
        )
        sums.append([row["args"] for row in ledger.rows("sink")])
    assert sums[0] == sums[1]
    assert len(sums[0]) == 1
