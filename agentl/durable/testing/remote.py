"""What a store promises whose place can only be reached over a connection (`STO-10`)."""

from __future__ import annotations

from contextlib import suppress

import pytest

from agentl.durable.testing.children import Child
from agentl.durable.testing.places import Driver, Place, lines_of, numbers_of
from agentl.durable.testing.processes import write_on, write_when_told
from agentl.errors import StoreFailure


class RemoteConformance:
    """For a store over a connection; needs ``cut``, ``crash`` and ``restart`` (`STO-10`).

    A store may make a lost connection anew or end the run. What it may not do is write an entry twice, lose
    one that was durable, or accept another after it has failed.
    """

    @pytest.mark.parametrize("waits", [False, True])
    def test_a_connection_that_is_cut_while_nothing_happens(self, place: Place, waits: bool) -> None:
        """`STO-9`, R54: before an append, with and without lines that wait; before the notes; at the end."""
        driver = Driver(place.store())
        wrote = 1
        for _ in range(5):
            if waits:
                driver.write(sync=False)
            place.cut()
            try:
                driver.write()
                wrote = driver.count
                place.cut()
                driver.store.write_meta({"entries": driver.count})
            except StoreFailure:
                with pytest.raises(StoreFailure):
                    driver.write()
                break
        place.cut()
        with suppress(StoreFailure):
            driver.store.close()
        found = numbers_of(place.store())
        assert found == list(range(len(found)))
        assert len(found) >= wrote

    def test_connections_that_are_cut_at_any_moment(self, place: Place) -> None:
        """`STO-9`: while another process writes; each entry is there once."""
        with Child(lambda line: write_on(place, line)) as child:
            assert child.line.hear()[0] == "drives"
            durable = 0
            for _ in range(10):
                place.cut()
                said = child.line.hear()
                if said[0] != "durable":
                    assert said[1] in ("StoreFailure", "LeaseLost"), said
                    break
                durable = said[1]
            child.kill()
            durable = max([durable, *(said[1] for said in child.line.everything() if said[0] == "durable")])
        found = numbers_of(place.store())
        assert found == list(range(len(found)))
        assert len(found) >= durable

    def test_a_server_that_dies_during_an_append_has_every_durable_entry(self, place: Place) -> None:
        """`DUR-6`, `STO-9`: after it was started again; the run is resumed, and it is one line of history."""
        with Child(lambda line: write_on(place, line)) as child:
            assert child.line.hear()[0] == "drives"
            for _ in range(5):
                durable = child.line.hear()[1]
            place.crash()
            child.kill()
            durable = max([durable, *(said[1] for said in child.line.everything() if said[0] == "durable")])
        with pytest.raises(StoreFailure):
            place.store().load()
        place.restart()
        found = numbers_of(place.store())
        assert found == list(range(len(found)))
        assert durable <= len(found) <= durable + 2
        before = lines_of(place.store())
        driver = Driver(place.store())
        assert driver.lease.unsure == ()
        driver.store.close()
        assert lines_of(place.store())[: len(before)] == before

    def test_a_driver_that_sleeps_over_a_restart_of_the_server(self, place: Place) -> None:
        """`STO-9`, R54: it goes on, or it ends; nothing is there twice."""
        with Child(lambda line: write_when_told(place, line)) as child:
            assert child.line.hear()[0] == "drives"
            child.pause()
            place.crash()
            place.restart()
            child.line.say("write")
            child.wake()
            said = child.line.hear()
            assert said == ["durable", 2] or said[0] == "refused", said
            child.kill()
        assert numbers_of(place.store()) in ([0], [0, 1])
