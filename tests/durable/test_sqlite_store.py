"""The SQLite store: one transaction per durable entry, the epoch inside it (`STO-4`, `STO-6`, R02, R58)."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from agentl.durable import LeaseHeld, LeaseLost, SQLiteStore, StoreFailure
from agentl.durable.lease import LEASE_SECONDS
from agentl.durable.stores.process import this_process
from tests.durable.dying import bury

ELSEWHERE = "other-machine pid 1 start 1 space elsewhere"


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_lines_are_committed_with_the_next_durable_one(tmp_path: Path) -> None:
    """STO-4, DUR-6: what waits is not there before; runs in one file are apart."""
    store = SQLiteStore(tmp_path / "runs.db", "a")
    epoch = store.acquire(str(this_process())).epoch
    store.append(b"0", epoch, sync=False)
    assert SQLiteStore(tmp_path / "runs.db", "a").load()[1] == []
    store.append(b"1", epoch, sync=True)
    store.write_meta({"run_id": "a"})
    assert SQLiteStore(tmp_path / "runs.db", "a").load() == ({"run_id": "a"}, [b"0", b"1"])
    other = SQLiteStore(tmp_path / "runs.db", "A")
    other.append(b"x", other.acquire("me").epoch, sync=True)
    other.close()
    store.append(b"2", epoch, sync=False)
    store.close()
    assert store.load()[1] == [b"0", b"1", b"2"]
    assert SQLiteStore.runs(tmp_path / "runs.db") == ["A", "a"]


def test_listing_what_is_no_run(tmp_path: Path) -> None:
    """STO-4: empty for no file and for a file without tables; a foreign file is a failure with words."""
    assert SQLiteStore.runs(tmp_path / "absent.db") == []
    (tmp_path / "empty.db").touch()
    assert SQLiteStore.runs(tmp_path / "empty.db") == []
    assert SQLiteStore(tmp_path / "empty.db", "r").load() == (None, [])
    (tmp_path / "text.db").write_text("x" * 5000)
    with pytest.raises(StoreFailure):
        SQLiteStore.runs(tmp_path / "text.db")
    with pytest.raises(StoreFailure):
        SQLiteStore(tmp_path / "text.db", "r").acquire("me")


def test_one_driver_at_a_time(tmp_path: Path) -> None:
    """STO-6, R64: never taken over from this very process, whatever the clock says."""
    clock = Clock()
    store = SQLiteStore(tmp_path / "r.db", "r", clock=clock)
    lease = store.acquire(str(this_process()))
    for passed in (0, -3600, LEASE_SECONDS * 100):
        clock.now = 1000.0 + passed
        with pytest.raises(LeaseHeld) as held:
            SQLiteStore(tmp_path / "r.db", "r", clock=clock).acquire("me")
        assert f"pid {os.getpid()}" in str(held.value)
    store.release(lease.epoch)
    again = SQLiteStore(tmp_path / "r.db", "r").acquire("me")
    assert (again.epoch, again.unsure) == (lease.epoch + 1, ())


def test_a_dead_holder_on_this_machine_is_known_dead(tmp_path: Path) -> None:
    """STO-6, R67: its process id with another start time is not alive; nobody is unsure then."""
    store = SQLiteStore(tmp_path / "runs.db", "r")
    store.acquire(str(this_process()))
    bury("sqlite", tmp_path)
    lease = SQLiteStore(tmp_path / "runs.db", "r").acquire(str(this_process()))
    assert (lease.epoch, lease.unsure) == (2, ())


def test_a_lease_elsewhere_ends_by_time_and_stays_unsure(tmp_path: Path) -> None:
    """STO-6, R02: renewed it holds, late it is taken over; the old driver may still be inside a call."""
    clock = Clock()
    path = tmp_path / "r.db"
    first = SQLiteStore(path, "r", clock=clock)
    first.acquire(ELSEWHERE)
    clock.now += LEASE_SECONDS - 1
    first.renew()
    clock.now += LEASE_SECONDS - 1
    with pytest.raises(LeaseHeld):
        SQLiteStore(path, "r", clock=clock).acquire("me")
    assert SQLiteStore(path, "r", clock=clock).held() is not None
    clock.now += 2
    second = SQLiteStore(path, "r", clock=clock)
    assert second.acquire(str(this_process())).unsure == (1,)
    second.close()
    third = SQLiteStore(path, "r", clock=clock)
    assert third.acquire(str(this_process())).unsure == (1,), "still nobody knows"


def test_the_late_driver_is_fenced_inside_the_transaction(tmp_path: Path) -> None:
    """STO-6, R02: the append of an older epoch leaves no trace, and ends that driver."""
    clock = Clock()
    path = tmp_path / "r.db"
    old = SQLiteStore(path, "r", clock=clock)
    epoch = old.acquire(ELSEWHERE).epoch
    old.append(b"0", epoch, sync=True)
    clock.now += LEASE_SECONDS + 1
    new = SQLiteStore(path, "r", clock=clock)
    new_epoch = new.acquire(str(this_process())).epoch
    old.append(b"late", epoch, sync=False)
    with pytest.raises(LeaseLost) as lost:
        old.append(b"later", epoch, sync=True)
    assert lost.value.values["own"] == epoch
    with pytest.raises(LeaseLost):
        old.write_meta({})
    new.append(b"1", new_epoch, sync=True)
    assert new.load()[1] == [b"0", b"1"]
    old.close()
    new.close()
    again = SQLiteStore(path, "r", clock=clock).acquire("me")
    assert again.unsure == (), "the fenced driver has ended its run and said so"


def test_a_failing_database_ends_the_run(tmp_path: Path) -> None:
    """DRF-3: an entry that cannot be written leaves the store refusing everything."""
    path = tmp_path / "r.db"
    store = SQLiteStore(path, "r")
    epoch = store.acquire(str(this_process())).epoch
    store.append(b"0", epoch, sync=True)
    other = sqlite3.connect(path)
    other.execute("INSERT INTO entries VALUES ('r', 1, 'taken')")
    other.commit()
    other.close()
    with pytest.raises(StoreFailure) as failed:
        store.append(b"1", epoch, sync=True)
    assert failed.value.code == "durable.store_failed"
    with pytest.raises(StoreFailure):
        store.append(b"2", epoch, sync=False)
    store.close()
