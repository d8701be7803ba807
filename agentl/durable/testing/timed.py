"""Leases that end by time: what a late driver may do, and what a clock that jumps does (`STO-10`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agentl.durable.testing.places import ELSEWHERE, Driver, Place, numbers_of
from agentl.errors import LeaseHeld, LeaseLost


class TimedLeaseConformance:
    """For a store whose leases run out when they are not renewed; needs ``pass_time`` (`STO-10`)."""

    def test_a_lease_runs_out_and_its_driver_stays_unsure(self, place: Place) -> None:
        """`STO-6`, R02: late is not dead; the old driver may still be inside a call."""
        first = Driver(place.store(), ELSEWHERE)
        place.pass_time(place.lease_seconds - 1)
        with pytest.raises(LeaseHeld):
            place.store().acquire("me")
        assert place.store().held() is not None
        place.pass_time(2)
        assert place.store().held() is None
        second = Driver(place.store(), ELSEWHERE)
        assert second.lease.unsure == (first.epoch,)
        place.pass_time(place.lease_seconds + 1)
        third = Driver(place.store())
        assert third.lease.unsure == (first.epoch, second.epoch)
        third.store.close()
        fourth = Driver(place.store())
        assert fourth.lease.unsure == (first.epoch, second.epoch), "still nobody knows"
        second.store.close()
        fourth.store.close()
        fifth = Driver(place.store())
        assert first.epoch in fifth.lease.unsure
        fifth.store.close()

    def test_a_lease_that_is_renewed_does_not_run_out(self, place: Place) -> None:
        """`STO-6`: by the store itself, between two appends."""
        driver = Driver(place.store(), ELSEWHERE)
        renew: Callable[[], None] = driver.store.renew  # type: ignore[attr-defined]
        for _ in range(5):
            place.pass_time(place.lease_seconds - 1)
            renew()
        with pytest.raises(LeaseHeld):
            place.store().acquire("me")
        driver.write()
        driver.store.close()

    @pytest.mark.parametrize("late", ["line", "waiting line", "meta", "meta of an end", "refusal", "release"])
    def test_a_driver_that_was_superseded_writes_nothing(self, place: Place, late: str) -> None:
        """`STO-6`: each write compares the epoch itself, and after the first refusal all are refused."""
        old = Driver(place.store(), ELSEWHERE)
        if late in ("waiting line", "release"):
            old.write(sync=False)
        place.pass_time(place.lease_seconds + 1)
        new = Driver(place.store())
        new.store.write_meta({"by": "new"})
        before = numbers_of(new.store)
        writes: dict[str, Callable[[], Any]] = {
            "line": old.write,
            "waiting line": old.write,
            "meta": lambda: old.store.write_meta({"by": "old"}),
            "meta of an end": lambda: old.store.write_meta({"by": "old"}, sync=True),
            "refusal": lambda: old.store.write_refusal({"by": "old"}),
            "release": lambda: old.store.release(old.epoch),
        }
        with pytest.raises(LeaseLost):
            writes[late]()
        with pytest.raises(LeaseLost):
            old.write()
        old.store.close()
        assert (new.store.load()[0], numbers_of(new.store)) == ({"by": "new"}, before)
        assert new.store.refusal() is None
        held = place.store().held()
        assert held is not None
        assert held.epoch == new.epoch
        new.write()
        new.store.close()

    def test_a_superseded_driver_that_ended_is_not_unsure_any_more(self, place: Place) -> None:
        """`STO-6`: it said so, on leaving."""
        old = Driver(place.store(), ELSEWHERE)
        place.pass_time(place.lease_seconds + 1)
        new = Driver(place.store())
        with pytest.raises(LeaseLost):
            old.write()
        old.store.close()
        new.store.close()
        last = Driver(place.store())
        assert last.lease.unsure == ()
        last.store.close()

    @pytest.mark.parametrize("jump", [-86_400.0, -3_600.0, 3_600.0, 86_400.0 * 365])
    def test_a_process_takes_nothing_over_from_itself(self, place: Place, jump: float) -> None:
        """`STO-6`, R64: whatever its clock does."""
        driver = Driver(place.store())
        place.pass_time(jump)
        with pytest.raises(LeaseHeld):
            place.store().acquire("me")
        assert place.store().held() is not None
        driver.write()
        driver.store.close()

    def test_a_clock_that_jumps_makes_no_two_drivers(self, place: Place) -> None:
        """`STO-6`: forwards the lease is over early, and its driver fenced; backwards it lasts longer."""
        first = Driver(place.store(), ELSEWHERE)
        place.pass_time(-3_600)
        with pytest.raises(LeaseHeld):
            place.store().acquire("me")
        first.write()
        place.pass_time(7_200)
        second = Driver(place.store(), ELSEWHERE)
        with pytest.raises(LeaseLost):
            first.write()
        place.pass_time(-7_200)
        with pytest.raises(LeaseHeld):
            place.store().acquire("me")
        second.write()
        assert numbers_of(place.store()) == [0, 1, 2, 3]
        second.store.close()
        first.store.close()
