"""Refusals of stores and journal that little leads to, found by taking them away (``tools/survivors.py``)."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentl import Host, MockLLM, parse_source
from agentl.durable import DurableError, DurableJournal, DurableRun, FileStore, MemoryStore, SQLiteStore
from agentl.durable.lease import LEASE_SECONDS
from agentl.errors import KernelAbort, LeaseLost, ReplayDivergence, StoreFailure
from agentl.journal.chain import Chain
from agentl.journal.entry import finish, read_line

LINE = b'{"n":0}'


def sql(path: Path, statement: str) -> None:
    """Something that another program does to the database."""
    other = sqlite3.connect(path)
    other.execute(statement)
    other.commit()
    other.close()


def fails(*_args: Any) -> Any:
    raise OSError(28, "no space")


# --- files -------------------------------------------------------------------------------------


def test_only_the_driver_repairs(tmp_path: Path) -> None:
    """STO-5, STO-6."""
    store = FileStore(tmp_path / "run")
    with pytest.raises(LeaseLost):
        store.repair()
    store.release(store.acquire("me").epoch)
    with pytest.raises(LeaseLost):
        store.repair()


def test_a_lease_that_cannot_be_noted_is_not_taken(tmp_path: Path) -> None:
    """STO-3, DRF-3: and the lock is free for the next."""
    store = FileStore(tmp_path)
    (tmp_path / "lease.json.tmp").mkdir()
    with pytest.raises(StoreFailure) as failed:
        store.acquire("me")
    assert failed.value.code == "durable.store_failed"
    (tmp_path / "lease.json.tmp").rmdir()
    assert FileStore(tmp_path).acquire("you").epoch == 1


@pytest.mark.parametrize("call", ["ftruncate", "fsync"])
def test_a_repair_that_fails_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    """STO-5, DRF-3."""
    store = FileStore(tmp_path / "run")
    store.release(store.acquire("me").epoch)
    store.wal.write_bytes(LINE + b"\n" + LINE[:3])
    epoch = store.acquire("me").epoch
    with monkeypatch.context() as broken:
        broken.setattr(os, call, fails)
        with pytest.raises(StoreFailure) as failed:
            store.repair()
    assert failed.value.values["operation"] == "repair"
    with pytest.raises(StoreFailure):
        store.append(LINE, epoch, sync=True)
    store.close()


def test_a_meta_that_cannot_be_written_ends_the_run(tmp_path: Path) -> None:
    """DUR-10, DRF-3."""
    store = FileStore(tmp_path)
    epoch = store.acquire("me").epoch
    (tmp_path / "meta.json.tmp").mkdir()
    with pytest.raises(StoreFailure):
        store.write_meta({"n": 1})
    with pytest.raises(StoreFailure):
        store.append(LINE, epoch, sync=True)
    store.close()


def test_a_close_that_fails_says_so_and_lets_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DRF-3, STO-6: what waited may be lost; who drives next must be able to."""
    store = FileStore(tmp_path)
    epoch = store.acquire("me").epoch
    store.append(LINE, epoch, sync=False)
    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", fails)
        with pytest.raises(StoreFailure) as failed:
            store.release(epoch)
    assert failed.value.values["operation"] == "close"
    FileStore(tmp_path).acquire("you")


# --- SQLite ------------------------------------------------------------------------------------


def test_a_file_that_is_no_database_is_named_as_such(tmp_path: Path) -> None:
    """DRF-3, STO-4: the cause is the file, not a connection of ours that was closed."""
    path = tmp_path / "runs.db"
    path.write_bytes(b"a letter to a friend, and no database at all" * 50)
    with pytest.raises(StoreFailure) as failed:
        SQLiteStore(path, "r").acquire("me")
    assert "not a database" in failed.value.values["cause"]


def test_a_line_of_another_epoch_does_not_even_wait(tmp_path: Path) -> None:
    """STO-6, DUR-6: also one that need not be durable yet."""
    store = SQLiteStore(tmp_path / "runs.db", "r")
    epoch = store.acquire("me").epoch
    for other in (epoch - 1, epoch + 1):
        with pytest.raises(LeaseLost):
            store.append(b"odd", other, sync=False)
    store.append(b"even", epoch, sync=True)
    assert store.load()[1] == [b"even"]
    store.close()
    with pytest.raises(LeaseLost):
        store.append(b"late", epoch, sync=False)


def taken_over(path: Path, late: Callable[[SQLiteStore, int], None]) -> SQLiteStore:
    """What a late driver does after another one has taken the run over; gives the store of the other."""
    now = [1000.0]
    old = SQLiteStore(path, "r", clock=lambda: now[0])
    epoch = old.acquire("elsewhere pid 1 start 1 space other").epoch
    old.append(b"0", epoch, sync=True)
    old.append(b"waits", epoch, sync=False)
    now[0] += LEASE_SECONDS + 1
    new = SQLiteStore(path, "r", clock=lambda: now[0])
    new_epoch = new.acquire("me").epoch
    new.write_meta({"by": "new"})
    late(old, epoch)
    new.append(b"1", new_epoch, sync=True)
    old.close()
    return new


def test_a_late_driver_writes_no_meta(tmp_path: Path) -> None:
    """STO-6: the note for people is the new driver's."""

    def late(old: SQLiteStore, epoch: int) -> None:
        with pytest.raises(LeaseLost):
            old.write_meta({"by": "old"})
        old._waiting.clear()

    new = taken_over(tmp_path / "runs.db", late)
    assert new.load() == ({"by": "new"}, [b"0", b"1"])
    new.close()


def test_a_late_driver_leaves_nothing_when_it_lets_go(tmp_path: Path) -> None:
    """STO-6: what still waited is not written behind the new driver's back."""

    def late(old: SQLiteStore, epoch: int) -> None:
        with pytest.raises(LeaseLost):
            old.release(epoch)

    new = taken_over(tmp_path / "runs.db", late)
    assert new.load()[1] == [b"0", b"1"]
    new.close()


def test_a_meta_that_the_database_refuses_ends_the_run(tmp_path: Path) -> None:
    """DUR-10, DRF-3."""
    path = tmp_path / "runs.db"
    store = SQLiteStore(path, "r")
    epoch = store.acquire("me").epoch
    sql(path, "DROP TABLE runs")
    with pytest.raises(StoreFailure) as failed:
        store.write_meta({"n": 1})
    assert failed.value.values["operation"] == "write"
    with pytest.raises(StoreFailure):
        store.append(b"0", epoch, sync=True)
    store.close()


def test_a_close_that_the_database_refuses_says_so(tmp_path: Path) -> None:
    """DRF-3."""
    path = tmp_path / "runs.db"
    store = SQLiteStore(path, "r")
    epoch = store.acquire("me").epoch
    store.append(b"0", epoch, sync=False)
    sql(path, "DROP TABLE entries")
    with pytest.raises(StoreFailure) as failed:
        store.release(epoch)
    assert failed.value.values["operation"] == "close"


# --- the journal -------------------------------------------------------------------------------

READING = parse_source("AGENT reading { OBSERVE { level } LOOP MAX 2 { OBSERVE UPDATE_BELIEFS } }")


def reading(store: MemoryStore, ticks: int | None = None) -> DurableRun:
    host = Host()
    host.sensor("level")(lambda: 1)
    run = DurableRun(READING, host, MockLLM({}), store=store)
    run.run(ticks)
    return run


def test_a_completed_run_asks_nobody_and_writes_nothing() -> None:
    """RES-3: it is refused before the world is asked, not when the answer is written down."""
    store = MemoryStore()
    reading(store)
    journal = reading(store).journal
    asked: list[str] = []
    with pytest.raises(ReplayDivergence) as stopped:
        journal.crossing("read", "level", lambda: asked.append("level"))
    assert (stopped.value.code, asked) == ("durable.completed", [])
    lines = list(store.lines)
    with pytest.raises(ReplayDivergence) as stopped:
        journal.write("read", "level", sync=False)
    assert (stopped.value.code, store.lines) == ("durable.completed", lines)


def test_a_journal_that_is_only_looked_at_is_not_written() -> None:
    """DUR-11, STO-6."""
    journal = DurableJournal.open(MemoryStore(), write=False)
    with pytest.raises(DurableError) as refused:
        journal.write("read", "level", sync=False)
    assert refused.value.code == "durable.not_driving"


def test_an_interruption_of_a_crossing_is_not_its_answer() -> None:
    """DUR-7, KRN-15: nothing is recorded, so the crossing is made again by the next process."""

    def stopped() -> Any:
        raise KernelAbort("stop")

    store = MemoryStore()
    journal = DurableJournal.open(store)
    with pytest.raises(KernelAbort) as caught:
        journal.crossing("read", "level", stopped)
    assert str(caught.value) == "stop"
    assert store.lines == []
    journal.release()


def test_a_value_that_no_run_can_have_written_stops_the_resume() -> None:
    """DRF-2, ENC-1: it is never served as something else."""
    store = MemoryStore()
    with pytest.raises(KernelAbort):
        interrupted(store)
    forged, chain = MemoryStore(), Chain()
    for line in store.lines:
        entry = read_line(line.encode())
        if entry.kind == "read":
            entry.stored_value = {"$symbol": 1}
        canonical, opening = entry.composed()
        forged.lines.append(finish(opening, chain.add(canonical)).decode())
    with pytest.raises(ReplayDivergence) as refused:
        reading(forged)
    assert refused.value.code == "durable.unreadable_value"


def interrupted(store: MemoryStore) -> None:
    """A run that is stopped by its second reading."""
    host = Host()
    read: list[int] = []

    def level() -> int:
        read.append(1)
        if len(read) > 1:
            raise KernelAbort("stop")
        return 1

    host.sensor("level")(level)
    DurableRun(READING, host, MockLLM({}), store=store).run()


@pytest.mark.parametrize(
    ("raised", "kind"),
    [(RuntimeError("odd"), StoreFailure), (KernelAbort("stop"), KernelAbort), (LeaseLost("gone"), LeaseLost)],
)
def test_a_write_that_breaks_off_is_the_last_one(raised: Exception, kind: type[Exception]) -> None:
    """DRF-3: whatever the store raised; its own kind of failure and an interruption pass as they are."""

    class Breaking(MemoryStore):
        breaks = False

        def append(self, raw: bytes, epoch: int, *, sync: bool) -> None:
            if self.breaks:
                raise raised
            super().append(raw, epoch, sync=sync)

    store = Breaking()
    journal = DurableJournal.open(store)
    journal.write("read", "level", sync=False)
    store.breaks = True
    with pytest.raises(kind) as failed:
        journal.write("read", "level", sync=False)
    assert type(failed.value) is kind
    store.breaks = False
    with pytest.raises(StoreFailure) as refused:
        journal.write("read", "level", sync=False)
    assert refused.value.values["cause"] == "read 1"
    assert len(store.lines) == 1
    journal.release()
