"""Runs that share a SQLite file commit together; each is durable before it goes on (`OPS-11`)."""

from __future__ import annotations

import gc
import os
import sqlite3
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from agentl.durable import LeaseLost, SQLiteStore, StoreFailure
from agentl.durable.stores import committer as module
from agentl.durable.stores.committer import Committer, committer_of
from agentl.durable.stores.process import this_process
from agentl.errors import DurableError


class Gate:
    """Holds the leader inside its transaction until others wait behind it."""

    def __init__(self) -> None:
        self.inside = threading.Event()
        self.go_on = threading.Event()

    def part(self, connection: sqlite3.Connection) -> None:
        del connection
        self.inside.set()
        assert self.go_on.wait(30)


class Together:
    """A leader that is held, and parts that gather behind it."""

    def __init__(self, committer: Committer) -> None:
        self.committer = committer
        self.gate = Gate()
        self.results: dict[str, Any] = {}
        self.threads = [threading.Thread(target=self._run, args=("leader", self.gate.part))]
        self.threads[0].start()
        assert self.gate.inside.wait(30)

    def _run(self, name: str, part: Callable[[sqlite3.Connection], Any]) -> None:
        try:
            self.results[name] = self.committer.commit(part)
        except BaseException as error:
            self.results[name] = error

    def add(self, name: str, part: Callable[[sqlite3.Connection], Any]) -> None:
        before = len(self.committer._queue)
        self.threads.append(threading.Thread(target=self._run, args=(name, part)))
        self.threads[-1].start()
        while len(self.committer._queue) == before:
            os.sched_yield()

    def finish(self) -> dict[str, Any]:
        self.gate.go_on.set()
        for thread in self.threads:
            thread.join(30)
            assert not thread.is_alive(), "somebody waits for ever"
        return self.results


@pytest.fixture
def committer(tmp_path: Path) -> Any:
    found = committer_of(tmp_path / "runs.db")
    found.commit(lambda connection: connection.execute("CREATE TABLE t (name TEXT PRIMARY KEY)"))
    yield found
    found.leave()


def insert(name: str) -> Callable[[sqlite3.Connection], str]:
    def part(connection: sqlite3.Connection) -> str:
        connection.execute("INSERT INTO t VALUES (?)", (name,))
        return name

    return part


def rows(tmp_path: Path) -> list[str]:
    connection = sqlite3.connect(tmp_path / "runs.db")
    try:
        return [row[0] for row in connection.execute("SELECT name FROM t ORDER BY name")]
    finally:
        connection.close()


def commits_of(committer: Committer) -> list[str]:
    heard: list[str] = []
    assert committer._connection is not None
    committer._connection.set_trace_callback(
        lambda text: heard.append(text) if text in ("COMMIT", "ROLLBACK") else None
    )
    return heard


def test_those_who_wait_go_with_the_first_of_them(committer: Committer, tmp_path: Path) -> None:
    """`OPS-11`: one commit for all that gathered while the one before was under way; each hears its own."""
    heard = commits_of(committer)
    together = Together(committer)
    for name in "abc":
        together.add(name, insert(name))
    assert together.finish() == {"leader": None, "a": "a", "b": "b", "c": "c"}
    assert heard == ["COMMIT", "COMMIT"]
    assert rows(tmp_path) == ["a", "b", "c"]


def test_one_that_is_refused_fails_alone(committer: Committer, tmp_path: Path) -> None:
    """`OPS-11`, `STO-6`: the others of the same transaction are written."""

    def refuse(connection: sqlite3.Connection) -> None:
        del connection
        raise LeaseLost(code="durable.lease_lost", own=1, holder="?")

    heard = commits_of(committer)
    together = Together(committer)
    for name, part in (("a", insert("a")), ("lost", refuse), ("b", insert("b"))):
        together.add(name, part)
    results = together.finish()
    assert (results["a"], results["b"]) == ("a", "b")
    assert isinstance(results["lost"], LeaseLost)
    assert heard == ["COMMIT", "COMMIT"]
    assert rows(tmp_path) == ["a", "b"]


@pytest.mark.parametrize("error", [sqlite3.OperationalError("disk I/O error"), ValueError("a mistake")])
def test_one_that_spoils_the_transaction_fails_alone(
    committer: Committer, tmp_path: Path, error: Exception
) -> None:
    """`OPS-11`: what it wrote is taken back, and the others are written one by one."""

    def spoil(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO t VALUES ('half')")
        raise error

    insert("twice")(committer._connection)  # type: ignore[arg-type]
    together = Together(committer)
    for name, part in (("a", insert("a")), ("bad", spoil), ("twice", insert("twice")), ("b", insert("b"))):
        together.add(name, part)
    results = together.finish()
    assert (results["a"], results["b"]) == ("a", "b")
    assert results["bad"] is error
    assert isinstance(results["twice"], sqlite3.IntegrityError)
    assert rows(tmp_path) == ["a", "b", "twice"]


def test_an_interrupted_leader_leaves_nobody_behind(committer: Committer, tmp_path: Path) -> None:
    """`OPS-11`: its transaction is taken back, and the next one leads."""

    def interrupt(connection: sqlite3.Connection) -> None:
        insert("interrupted")(connection)
        raise KeyboardInterrupt

    together = Together(committer)
    for name, part in (("gone", interrupt), ("a", insert("a")), ("b", insert("b"))):
        together.add(name, part)
    results = together.finish()
    assert isinstance(results["gone"], KeyboardInterrupt)
    assert (results["a"], results["b"]) == ("a", "b")
    assert rows(tmp_path) == ["a", "b"]
    assert committer.commit(insert("c")) == "c"


@pytest.mark.parametrize("leading", [False, True])
def test_an_interrupted_waiter_leaves_nobody_behind(
    committer: Committer, tmp_path: Path, leading: bool
) -> None:
    """`OPS-11`: whether or not it was to lead next."""

    class Interrupted(module._Waiting):
        __slots__ = ()

        def __init__(self, part: Any, durable: bool) -> None:
            super().__init__(part, durable)
            if part is marked:
                self.gate = Broken(self.gate)  # type: ignore[assignment]

    class Broken:
        """A lock whose ``acquire`` is interrupted, at once or when it was given."""

        def __init__(self, real: Any) -> None:
            self.real = real

        def release(self) -> None:
            self.real.release()

        def acquire(self) -> None:
            if leading:
                self.real.acquire()
            raise KeyboardInterrupt

    marked = insert("interrupted")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "_Waiting", Interrupted)
        together = Together(committer)
        thread = threading.Thread(target=together._run, args=("gone", marked))
        thread.start()
        if leading:
            while not committer._queue:
                os.sched_yield()
        else:
            thread.join(30)
        together.add("a", insert("a"))
        together.threads.append(thread)
        results = together.finish()
    assert isinstance(results["gone"], KeyboardInterrupt)
    assert results["a"] == "a"
    assert "a" in rows(tmp_path)
    assert committer.commit(insert("c")) == "c"


def test_many_threads_lose_nothing(committer: Committer, tmp_path: Path) -> None:
    """`OPS-11`: whatever the order, each part is there when its call has returned."""
    missing: list[str] = []

    def work(number: int) -> None:
        for turn in range(25):
            name = f"{number:02d}-{turn:02d}"
            committer.commit(insert(name))
            if name not in rows(tmp_path):
                missing.append(name)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert missing == []
    assert len(rows(tmp_path)) == 200


def test_one_connection_per_file_and_none_that_stays(tmp_path: Path) -> None:
    """`OPS-11`: shared by the stores of a file, by whatever path; a file that replaced it is another."""
    stores = [SQLiteStore(tmp_path / "runs.db", str(number)) for number in range(3)]
    (tmp_path / "link").symlink_to(tmp_path)
    stores.append(SQLiteStore(tmp_path / "link" / "runs.db", "3"))
    for store in stores:
        store.acquire(str(this_process()))
    assert len({id(store._committer) for store in stores}) == 1
    shared = stores[0]._committer
    for store in stores[1:]:
        store.close()
    assert shared is not None
    assert shared._connection is not None
    stores[0].close()
    assert shared._connection is None
    assert shared not in module._registry.values()
    kept = SQLiteStore(tmp_path / "runs.db", "kept")
    kept.acquire(str(this_process()))
    for name in ("runs.db", "runs.db-wal", "runs.db-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    fresh = SQLiteStore(tmp_path / "runs.db", "kept")
    fresh.acquire(str(this_process()))
    assert fresh._committer is not kept._committer
    with suppress(StoreFailure):
        kept.close()
    fresh.close()
    assert SQLiteStore.runs(tmp_path / "runs.db") == []


def test_a_store_that_was_forgotten_keeps_nothing(tmp_path: Path) -> None:
    """`OPS-11`: as before, its connection goes with it."""
    store = SQLiteStore(tmp_path / "runs.db", "r")
    store.acquire(str(this_process()))
    kept = weakref.ref(store._committer)
    del store
    gc.collect()
    assert kept() is None


def test_a_superseded_driver_beside_others(tmp_path: Path) -> None:
    """`OPS-11`, `STO-6`: an old epoch is refused in the transaction in which others write."""
    old = SQLiteStore(tmp_path / "runs.db", "r", clock=lambda: 0.0)
    epoch = old.acquire("elsewhere pid 7 start 1 space other").epoch
    new = SQLiteStore(tmp_path / "runs.db", "r")
    lease = new.acquire(str(this_process()))
    other = SQLiteStore(tmp_path / "runs.db", "s")
    beside = other.acquire(str(this_process())).epoch
    assert old._committer is new._committer is other._committer
    assert old._committer is not None
    together = Together(old._committer)
    results: dict[str, Any] = {}

    def append(name: str, store: SQLiteStore, own: int) -> None:
        try:
            store.append(b'{"seq":0}', own, sync=True)
        except StoreFailure as error:
            results[name] = error

    for name, store, own in (("old", old, epoch), ("new", new, lease.epoch), ("other", other, beside)):
        thread = threading.Thread(target=append, args=(name, store, own))
        before = len(old._committer._queue)
        thread.start()
        together.threads.append(thread)
        while len(old._committer._queue) == before:
            os.sched_yield()
    together.finish()
    assert list(results) == ["old"]
    assert isinstance(results["old"], LeaseLost)
    assert len(new.load()[1]) == len(other.load()[1]) == 1
    for store in (old, new, other):
        store.close()


def test_a_forked_child_has_a_connection_of_its_own(tmp_path: Path) -> None:
    """`OPS-11`, `STO-6`: it neither uses nor closes that of its parent, and both go on."""
    store = SQLiteStore(tmp_path / "runs.db", "parent")
    epoch = store.acquire(str(this_process())).epoch
    child = os.fork()
    if child == 0:
        code = 1
        try:
            if module._registry or store._committer is not None:
                os._exit(2)
            own = SQLiteStore(tmp_path / "runs.db", "child")
            lease = own.acquire(str(this_process()))
            own.append(b'{"seq":0}', lease.epoch, sync=True)
            own.close()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    store.append(b'{"seq":0}', epoch, sync=True)
    store.close()
    assert SQLiteStore.runs(tmp_path / "runs.db") == ["child", "parent"]


def test_a_part_that_gives_an_error_of_ours_wrote_nothing(committer: Committer) -> None:
    """`OPS-11`: and the connection is left without a transaction."""

    def refuse(connection: sqlite3.Connection) -> None:
        del connection
        raise DurableError(code="durable.not_driving")

    with pytest.raises(DurableError):
        committer.commit(refuse)
    assert committer._connection is not None
    assert not committer._connection.in_transaction
