"""What a store promises when several processes use it, and when they die (`STO-10`)."""

from __future__ import annotations

import json
import os
import random
from typing import Any

import pytest

from agentl.durable.stores.process import this_process
from agentl.durable.testing.children import Child, Line
from agentl.durable.testing.places import ELSEWHERE, Driver, Place, lines_of, numbers_of
from agentl.errors import LeaseHeld, LeaseLost, StoreFailure

ROUNDS = 100
KILLS = 12


def write_on(place: Place, line: Line) -> None:
    """Drive, and say after each entry that it is durable; some entries wait for the next."""
    driver = Driver(place.store())
    line.say(["drives", driver.epoch, list(driver.lease.unsure), driver.count])
    while True:
        driver.write("waits", sync=False)
        driver.write("x" * (driver.count % 700))
        line.say(["durable", driver.count])


def write_when_told(place: Place, line: Line, holder: str | None = None) -> None:
    """Drive, and write an entry for each message; say how it went."""
    driver = Driver(place.store(), holder)
    line.say(["drives", driver.epoch])
    for _ in line.everything():
        try:
            driver.write()
        except StoreFailure as failed:
            line.say(["refused", type(failed).__name__])
        else:
            line.say(["durable", driver.count])


class ProcessConformance:
    """For a store that several processes can use (`STO-10`)."""

    @pytest.mark.parametrize("seed", [1, 2])
    def test_a_killed_driver_loses_nothing_that_was_durable(self, place: Place, seed: int) -> None:
        """`DUR-6`, `STO-5`, `STO-6`: killed anywhere, again and again; the next takes over at once."""
        moments = random.Random(seed)  # noqa: S311 - moments of death, to be had again
        durable = 0
        for _ in range(KILLS):
            with Child(lambda line: write_on(place, line)) as child:
                drives = child.line.hear()
                assert drives[0] == "drives", drives
                assert drives[2] == [], "whoever is known to be dead is not unsure"
                for _ in range(moments.randrange(12)):
                    durable = child.line.hear()[1]
                for _ in range(moments.randrange(2000)):
                    pass  # somewhere in the middle of an append
                child.kill()
                durable = max([drives[3], durable, *(said[1] for said in child.line.everything())])
            found = numbers_of(place.store())
            assert found == list(range(len(found))), f"seed {seed}"
            assert durable <= len(found) <= durable + 2, f"seed {seed}"
        driver = Driver(place.store())
        driver.write()
        driver.store.close()
        for raw in lines_of(place.store()):
            json.loads(raw)

    def test_a_paused_driver_that_wakes_doubles_nothing(self, place: Place) -> None:
        """`STO-6`: it still drives, or it is fenced; never are there two."""
        with Child(lambda line: write_when_told(place, line)) as child:
            assert child.line.hear()[0] == "drives"
            child.line.say("write")
            assert child.line.hear() == ["durable", 2]
            child.pause()
            try:
                driver = Driver(place.store())
            except LeaseHeld:
                driver = None
            child.line.say("write")
            child.wake()
            said = child.line.hear()
            if driver is None:
                assert said == ["durable", 3]
                assert numbers_of(place.store()) == [0, 1, 2]
            else:
                assert said == ["refused", "LeaseLost"]
                driver.write()
                assert numbers_of(place.store()) == [0, 1, 2, 3]
                driver.store.close()

    def test_two_drivers_in_the_same_instant(self, place: Place) -> None:
        """`STO-6`, R62: a hundred times; one drives, the other is refused by name."""

        def compete(line: Line) -> None:
            for name in line.everything():
                store = place.store(name)
                try:
                    driver = Driver(store)
                except LeaseHeld as held:
                    line.say(["refused", held.values["holder"]])
                else:
                    line.say(["drives", this_process().shown])
                    line.hear()
                    driver.store.close()
                    line.say("done")

        with Child(compete) as one, Child(compete) as other:
            for number in range(ROUNDS):
                name = f"round{number % 4}"
                for child in (one, other):
                    child.line.say(name)
                answers = [child.line.hear() for child in (one, other)]
                assert sorted(answer[0] for answer in answers) == ["drives", "refused"], answers
                assert answers[0][1] == answers[1][1], "the holder is named"
                winner = one if answers[0][0] == "drives" else other
                winner.line.say("let go")
                assert winner.line.hear() == "done"
        for number in range(4):
            assert numbers_of(place.store(f"round{number}")) == list(range(ROUNDS // 4))

    def test_a_forked_child_drives_nothing(self, place: Place) -> None:
        """`STO-6`: it can neither write nor keep the lease alive; the parent goes on."""
        driver = Driver(place.store())

        def child(line: Line) -> None:
            try:
                driver.write("from the child")
            except LeaseLost:
                line.say("refused")
            driver.store.close()

        with Child(child) as forked:
            assert forked.line.hear() == "refused"
            assert forked.line.hear() is None
        driver.write()
        assert place.store().held() is not None
        driver.store.close()
        assert numbers_of(place.store()) == [0, 1]

    def test_a_lease_ends_with_its_process_whoever_that_has_started(self, place: Place) -> None:
        """`STO-6`: a process it had forked lives on, and holds nothing."""

        def parent(line: Line) -> None:
            driver = Driver(place.store())
            grandchild = os.fork()
            if grandchild == 0:
                line.say("here")
            line.hear()
            os._exit(driver.count)

        with Child(parent) as child:
            assert child.line.hear() == "here"
            assert place.store().held() is not None
            child.kill()
            driver = Driver(place.store())
            assert driver.lease.unsure == ()
            driver.store.close()


class DiskConformance:
    """For a place that can be made full; needs ``full`` (`STO-10`)."""

    def test_a_full_disk_ends_the_run_and_loses_nothing(self, place: Place) -> None:
        """`DRF-3`, R52: the entry that found no room is refused, and every one after it."""

        def fill(line: Line) -> None:
            driver = Driver(place.store())
            line.say(["durable", driver.count])
            blob = random.Random(7).randbytes(20_000).hex()  # noqa: S311 - nothing that can be packed
            while True:
                try:
                    driver.write(blob)
                except StoreFailure as failed:
                    line.say(["full", str(failed)])
                    break
                line.say(["durable", driver.count])
            for sync in (False, True):
                try:
                    driver.write(sync=sync)
                except StoreFailure:
                    line.say(["refused", sync])
            driver.store.close()

        with place.full(), Child(fill) as child:
            said: list[Any] = list(child.line.everything())
        assert "raised" not in [message[0] for message in said], said
        durable = max(message[1] for message in said if message[0] == "durable")
        assert durable < 5000
        assert [message[1] for message in said if message[0] == "refused"] == [False, True]
        assert numbers_of(place.store()) == list(range(durable))
        driver = Driver(place.store(), ELSEWHERE)
        assert driver.lease.unsure == ()
        for _ in range(10):
            driver.write("room again")
        driver.store.close()
        assert numbers_of(place.store()) == list(range(durable + 11))
