"""What every store promises, with one process looking (`STO-10`)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import pytest

from agentl.durable.stores.base import Store
from agentl.durable.stores.process import this_process
from agentl.durable.testing.places import RUN, Driver, Place, entry, lines_of, numbers_of
from agentl.errors import LeaseHeld, LeaseLost

# What the journal makes of values that JSON or Unicode has no room for, and plain text beside it.
ODD: Final[tuple[Any, ...]] = (
    {"$float": "nan"},
    "half \ud83d",
    "\0 and \x1b",
    "première ✗ \U0001f600",
    "\u2028\u2029\x85",
    [0.1, -0.0, 1e308, 2**200],
    "'; DROP TABLE entries; --",
)


class StoreConformance:
    """For every store (`STO-10`)."""

    def test_it_has_everything_a_store_needs(self, place: Place) -> None:
        """`STO-1`: and a name for messages; nothing is there, and looking makes nothing."""
        store = place.store()
        assert isinstance(store, Store)
        assert store.name
        assert (store.load()[0], list(store.load()[1])) == (None, [])
        assert (store.held(), store.refusal()) == (None, None)

    def test_lines_come_back_byte_for_byte(self, place: Place) -> None:
        """`STO-1`, `ENC-1`: whatever a value was, and however long."""
        driver = Driver(place.store())
        wrote = [driver.write(value) for value in (*ODD, "x" * 1_000_000)]
        plain = '{"seq":9,"kind":"read","key":"é✗\U0001f600"}'.encode()
        driver.store.append(plain, driver.epoch, sync=True)
        driver.store.close()
        assert lines_of(place.store())[1:] == [*wrote, plain]

    def test_a_durable_line_takes_along_those_that_wait(self, place: Place) -> None:
        """`DUR-6`: in their order; and letting go loses none."""
        driver = Driver(place.store())
        for _ in range(3):
            driver.write(sync=False)
        driver.write()
        assert numbers_of(place.store()) == [0, 1, 2, 3, 4]
        driver.write(sync=False)
        driver.store.close()
        assert numbers_of(place.store()) == [0, 1, 2, 3, 4, 5]

    def test_many_lines_may_wait(self, place: Place) -> None:
        """`DUR-6`: more than fits into a buffer."""
        driver = Driver(place.store())
        for _ in range(3000):
            driver.write("x" * 200, sync=False)
        driver.write()
        assert numbers_of(place.store()) == list(range(3002))
        driver.store.close()

    def test_a_second_driver_is_refused_by_name(self, place: Place) -> None:
        """`STO-6`: with the holder, since when and its epoch; the first goes on."""
        driver = Driver(place.store())
        for _ in range(2):
            with pytest.raises(LeaseHeld) as refused:
                place.store().acquire("somebody else")
            assert refused.value.code == "durable.lease_held"
            assert refused.value.values["holder"] == this_process().shown
            assert refused.value.values["since"] == driver.lease.since
            assert refused.value.values["epoch"] == driver.epoch
        held = place.store().held()
        assert held is not None
        assert (held.epoch, held.holder, held.since) == (
            driver.epoch,
            str(this_process()),
            driver.lease.since,
        )
        driver.write()
        driver.store.close()
        assert numbers_of(place.store()) == [0, 1]

    def test_a_lease_given_back_is_taken_over_with_a_later_epoch(self, place: Place) -> None:
        """`STO-6`: nobody is unsure, and the earlier driver can write nothing more."""
        first = Driver(place.store())
        first.store.release(first.epoch)
        assert place.store().held() is None
        second = Driver(place.store())
        assert second.epoch > first.epoch
        assert second.lease.unsure == ()
        for sync in (False, True):
            with pytest.raises(LeaseLost) as lost:
                first.write(sync=sync)
            assert lost.value.code == "durable.lease_lost"
        second.write()
        second.store.close()
        assert numbers_of(place.store()) == [0, 1, 2]

    def test_an_epoch_that_is_not_its_own_writes_nothing(self, place: Place) -> None:
        """`STO-6`: neither an older nor a later one, not even a line that may wait."""
        driver = Driver(place.store())
        for other in (driver.epoch - 1, driver.epoch + 1):
            for sync in (False, True):
                with pytest.raises(LeaseLost):
                    driver.store.append(entry(9), other, sync=sync)
        driver.store.release(driver.epoch + 1)
        driver.write()
        driver.store.close()
        assert numbers_of(place.store()) == [0, 1]

    def test_epochs_only_grow(self, place: Place) -> None:
        """`STO-6`: over many resumes."""
        epochs = []
        for _ in range(20):
            driver = Driver(place.store())
            assert driver.lease.unsure == ()
            epochs.append(driver.epoch)
            driver.store.close()
        assert epochs == sorted(dict.fromkeys(epochs))
        assert numbers_of(place.store()) == list(range(20))

    def test_who_has_let_go_writes_nothing(self, place: Place) -> None:
        """`STO-6`: lines, meta and refusal are the driver's; letting go twice is nothing."""
        driver = Driver(place.store())
        driver.store.close()
        driver.store.close()
        driver.store.release(driver.epoch)
        for late in (
            lambda: driver.write(),
            lambda: driver.store.write_meta({"late": True}),
            lambda: driver.store.write_refusal({"late": True}),
        ):
            with pytest.raises(LeaseLost):
                late()
        store = place.store()
        assert (store.load()[0], numbers_of(store), store.refusal()) == (None, [0], None)

    def test_the_meta_is_replaced_whole(self, place: Place) -> None:
        """`DUR-10`: what was there before is gone, and what is changed later does not reach it."""
        driver = Driver(place.store())
        driver.store.write_meta({"run_id": RUN, "odd": list(ODD), "big": "x" * 100_000}, sync=True)
        assert place.store().load()[0] == {"run_id": RUN, "odd": list(ODD), "big": "x" * 100_000}
        meta: dict[str, Any] = {"entries": 1, "more": {"n": 1}}
        driver.store.write_meta(meta)
        meta["more"]["n"] = 2
        assert place.store().load()[0] == {"entries": 1, "more": {"n": 1}}
        driver.store.close()
        assert place.store().load()[0] == {"entries": 1, "more": {"n": 1}}

    def test_a_refusal_is_kept_until_it_is_taken_back(self, place: Place) -> None:
        """`DUR-13`: beside the journal, over a release."""
        driver = Driver(place.store())
        driver.store.write_refusal({"code": "x", "values": {"text": "half \ud83d"}})
        driver.store.write_refusal({"code": "y", "values": {"text": "half \ud83d"}})
        driver.store.close()
        assert place.store().refusal() == {"code": "y", "values": {"text": "half \ud83d"}}
        driver = Driver(place.store())
        driver.store.write_refusal(None)
        assert driver.store.refusal() is None
        driver.store.close()
        assert place.store().refusal() is None

    def test_looking_takes_no_lease(self, place: Place) -> None:
        """`STO-6`, `DUR-13`: while somebody drives, and before anybody has."""
        for _ in range(2):
            looking = place.store()
            looking.load()
            looking.held()
            looking.refusal()
            looking.close()
        driver = Driver(place.store())
        assert numbers_of(place.store()) == [0]
        driver.write()
        driver.store.close()

    def test_a_repair_without_damage_changes_nothing(self, place: Place) -> None:
        """`STO-5`."""
        driver = Driver(place.store())
        driver.write()
        driver.store.repair()
        driver.write()
        driver.store.close()
        assert numbers_of(place.store()) == [0, 1, 2]

    def test_runs_do_not_see_each_other(self, place: Place) -> None:
        """`STO-1`, R58: drivers at once, one in each thread."""
        names = ["a", "A", "b", "a b", "ä", "a\u0308", "a#b", "%s"]

        def drive(name: str) -> list[int]:
            driver = Driver(place.store(name))
            for number in range(25):
                driver.write(name, sync=number % 3 == 0)
            driver.store.write_meta({"run_id": name})
            driver.store.close()
            return numbers_of(place.store(name))

        with ThreadPoolExecutor(len(names)) as pool:
            assert list(pool.map(drive, names)) == [list(range(26))] * len(names)
        for name in names:
            store = place.store(name)
            assert store.load()[0] == {"run_id": name}
            assert lines_of(store)[1:] == [entry(number, name) for number in range(1, 26)]
