"""Lost connections: made anew only by a driver that can prove where it stands (`STO-9`, R54)."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from agentl.durable import LeaseLost, PostgresStore, StoreFailure
from agentl.durable.collections.postgres import PostgresCollection
from agentl.durable.lease import LEASE_SECONDS
from agentl.durable.stores import postgres_append
from agentl.durable.stores.postgres_append import Appender
from agentl.durable.stores.process import this_process
from tests.durable.test_postgres_store import ELSEWHERE, pass_time
from tests.support.postgres import Server, blocked, database_of, locked, needed, server, sql


class Driver:
    """A driver with one entry on record."""

    def __init__(self, dsn: str, holder: str = "", **more: Any) -> None:
        self.dsn = dsn
        self.store = PostgresStore(dsn, "r", **more)
        self.epoch = self.store.acquire(holder or str(this_process())).epoch
        self.append(b"0")

    def append(self, line: bytes) -> None:
        self.store.append(line, self.epoch, sync=True)

    def lines(self) -> list[Any]:
        return list(PostgresStore(self.dsn, "r").load()[1])


@pytest.fixture
def driver(database: str) -> Iterator[Driver]:
    found = Driver(database)
    yield found
    found.store.close()


def cut(dsn: str) -> None:
    assert server().cut(dsn) == 1


@pytest.mark.parametrize("what", ["append", "waiting", "meta", "refusal", "release", "load", "held"])
def test_an_idle_connection_that_was_cut_is_made_anew(driver: Driver, what: str) -> None:
    """STO-9: whatever comes next; nothing is written twice."""
    store, epoch = driver.store, driver.epoch
    if what == "waiting":
        store.append(b"w", epoch, sync=False)
    cut(driver.dsn)
    does: dict[str, Callable[[], Any]] = {
        "append": lambda: driver.append(b"1"),
        "waiting": lambda: driver.append(b"1"),
        "meta": lambda: store.write_meta({"n": 1}, sync=True),
        "refusal": lambda: store.write_refusal({"n": 1}),
        "release": lambda: store.release(epoch),
        "load": store.load,
        "held": store.held,
    }
    answer = does[what]()
    assert driver.lines() == [
        b"0",
        *([b"w"] if what == "waiting" else []),
        *([b"1"] if what in ("append", "waiting") else []),
    ]
    other = PostgresStore(driver.dsn, "r")
    assert other.load()[0] == ({"n": 1} if what == "meta" else None)
    assert other.refusal() == ({"n": 1} if what == "refusal" else None)
    assert (other.held() is None) is (what == "release")
    if what == "load":
        assert answer == (None, [b"0"])
    if what != "release":
        driver.append(b"more")
        assert driver.lines()[-1] == b"more"


def test_it_is_cut_again_and_again(driver: Driver) -> None:
    """STO-9: before every entry."""
    for number in range(1, 10):
        cut(driver.dsn)
        driver.append(b"%d" % number)
    assert driver.lines() == [b"%d" % number for number in range(10)]


def answered_too_late(monkeypatch: pytest.MonkeyPatch, dsn: str) -> None:
    """The next append is committed, and its answer is lost with the connection."""
    real = Appender.append

    def append(self: Appender, first: int, lines: Any) -> int:
        real(self, first, lines)
        monkeypatch.setattr(Appender, "append", real)
        cut(dsn)
        return real(self, first, lines)

    monkeypatch.setattr(Appender, "append", append)


def test_an_append_whose_answer_is_lost_is_looked_up(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    """STO-9: it is there, so it is done."""
    driver.store.append(b"w", driver.epoch, sync=False)
    answered_too_late(monkeypatch, driver.dsn)
    driver.append(b"1")
    driver.append(b"2")
    assert driver.lines() == [b"0", b"w", b"1", b"2"]


def test_the_first_entry_of_a_run_too(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """STO-9: with nothing acknowledged before it."""
    store = PostgresStore(database, "r")
    epoch = store.acquire(str(this_process())).epoch
    answered_too_late(monkeypatch, database)
    store.append(b"0", epoch, sync=True)
    cut(database)
    store.append(b"1", epoch, sync=True)
    assert store.load()[1] == [b"0", b"1"]
    store.close()


def meanwhile(work: Callable[[], None]) -> tuple[threading.Thread, list[BaseException]]:
    raised: list[BaseException] = []

    def guarded() -> None:
        try:
            work()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=guarded)
    thread.start()
    return thread, raised


def test_a_connection_cut_in_the_middle_of_the_transaction(driver: Driver) -> None:
    """STO-9, R54: it was rolled back; the entry is written again, once."""
    with locked(driver.dsn) as other:
        thread, raised = meanwhile(lambda: driver.append(b"1"))
        for process in blocked(driver.dsn):
            sql(driver.dsn)(f"SELECT pg_terminate_backend({process}, 5000)")
        assert blocked(driver.dsn), "the new connection waits for the same row"
        other.rollback()
    thread.join(30)
    assert raised == []
    assert driver.lines() == [b"0", b"1"]


def test_a_takeover_and_an_append_that_meet_exclude_each_other(database: str) -> None:
    """STO-7: the append waits for the takeover, and then finds another epoch."""
    driver = Driver(database, ELSEWHERE)
    pass_time(database, LEASE_SECONDS + 1)
    with psycopg.connect(database) as other:
        other.execute("UPDATE agentl.runs SET epoch = epoch + 1 WHERE run_id = 'r'")
        thread, raised = meanwhile(lambda: driver.append(b"1"))
        assert blocked(database)
        other.execute(
            "INSERT INTO agentl.leases VALUES ('r', 2, 'new', now(), now() + interval '1 minute', 'c')"
        )
        other.commit()
    thread.join(30)
    assert [type(error) for error in raised] == [LeaseLost]
    assert driver.lines() == [b"0"]
    driver.store.close()


def taken_over(driver: Driver) -> PostgresStore:
    pass_time(driver.dsn, LEASE_SECONDS + 1)
    other = PostgresStore(driver.dsn, "r")
    other.acquire(str(this_process()))
    return other


@pytest.mark.parametrize("what", ["append", "meta", "refusal", "release"])
def test_who_was_superseded_does_not_come_back(database: str, what: str) -> None:
    """STO-9: the epoch is not the last."""
    driver = Driver(database, ELSEWHERE)
    store = driver.store
    if what == "release":
        store.append(b"w", driver.epoch, sync=False)
    other = taken_over(driver)
    server().cut(database)
    does: dict[str, Callable[[], Any]] = {
        "append": lambda: driver.append(b"1"),
        "meta": lambda: store.write_meta({"n": 1}),
        "refusal": lambda: store.write_refusal({"n": 1}),
        "release": lambda: store.release(driver.epoch),
    }
    with pytest.raises(LeaseLost):
        does[what]()
    assert driver.lines() == [b"0"]
    assert other.load()[0] is None
    store.close()
    other.close()


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM agentl.entries WHERE seq = 1",
        "UPDATE agentl.entries SET body = 'other' WHERE seq = 1",
        "INSERT INTO agentl.entries VALUES ('r', 2, 'foreign')",
        "DELETE FROM agentl.entries",
    ],
)
@pytest.mark.parametrize("what", ["append", "meta"])
def test_entries_that_are_not_ours_stop_the_driver(driver: Driver, change: str, what: str) -> None:
    """STO-9: a standby that was behind has lost what was acknowledged; nothing is written upon that."""
    driver.append(b"1")
    sql(driver.dsn)(change)
    left = driver.lines()
    cut(driver.dsn)
    with pytest.raises(StoreFailure) as failed:
        driver.append(b"2") if what == "append" else driver.store.write_meta({"n": 1})
    assert not isinstance(failed.value, LeaseLost)
    with pytest.raises(StoreFailure):
        driver.append(b"3")
    assert driver.lines() == left


def test_a_released_epoch_does_not_come_back(driver: Driver) -> None:
    """STO-9."""
    sql(driver.dsn)("UPDATE agentl.runs SET driven = false; UPDATE agentl.leases SET expires = NULL")
    cut(driver.dsn)
    with pytest.raises(LeaseLost):
        driver.append(b"1")
    assert driver.lines() == [b"0"]


def test_a_lock_is_not_waited_for_for_ever(database: str) -> None:
    """STO-9, DRF-3: the server has rolled back, and the run ends."""
    driver = Driver(database, statement_seconds=0.3)
    with locked(database), pytest.raises(StoreFailure) as failed:
        driver.append(b"1")
    assert "lock" in failed.value.values["cause"]
    driver.store.close()
    assert driver.lines() == [b"0"]


def test_the_lease_of_a_failed_opening_is_given_back(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """STO-9: the lease was committed, and then the connection was lost: nobody drives, nobody is unsure."""
    with monkeypatch.context() as broken:

        def lost(*_args: Any) -> Any:
            cut(database)
            raise psycopg.OperationalError("lost")

        broken.setattr("agentl.durable.stores.postgres.Appender", lost)
        with pytest.raises(StoreFailure):
            PostgresStore(database, "r").acquire(str(this_process()))
    assert PostgresStore(database, "r").held() is None
    lease = PostgresStore(database, "r").acquire("me")
    assert (lease.epoch, lease.unsure) == (2, ())


@pytest.fixture(scope="module")
def own() -> Iterator[Server]:
    """A server that nobody else uses: it is stopped and killed."""
    needed()
    found = Server()
    yield found
    found.remove()


def test_a_server_that_is_restarted_in_time_is_found_again(own: Server) -> None:
    """STO-9: the append in flight waits for it."""
    driver = Driver(own.database())
    own.kill()
    thread, raised = meanwhile(lambda: driver.append(b"1"))
    own.start()
    thread.join(30)
    assert raised == []
    driver.append(b"2")
    assert driver.lines() == [b"0", b"1", b"2"]
    driver.store.close()


def test_a_server_that_stays_away_ends_the_run_and_the_next_driver_resumes(own: Server) -> None:
    """STO-9, DRF-3, R54: what was acknowledged is there after the crash of the server."""
    driver = Driver(own.database(), reconnect_seconds=0.2)
    driver.append(b"1")
    own.kill()
    with pytest.raises(StoreFailure) as failed:
        driver.append(b"2")
    assert "PostgreSQL" in str(failed.value)
    driver.store.close()
    own.start()
    assert driver.lines() == [b"0", b"1"]
    assert PostgresStore(driver.dsn, "r").held() is not None, "it could not be told that this driver ended"


def test_a_server_that_has_fallen_silent_is_given_up(own: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """STO-9: its machine still answers, itself it does not."""
    monkeypatch.setattr(postgres_append, "_SILENCE", 0.2)
    driver = Driver(own.database(), statement_seconds=0.1, reconnect_seconds=0.1)
    backend = own.run(
        f"SELECT pid FROM pg_stat_activity WHERE datname = '{database_of(driver.dsn)}'", "postgres"
    )[0][0]
    for process in (own.process, backend):
        os.kill(process, signal.SIGSTOP)
    try:
        with pytest.raises(StoreFailure):
            driver.append(b"1")
    finally:
        for process in (own.process, backend):
            os.kill(process, signal.SIGCONT)
    driver.store.close()
    assert driver.lines() in ([b"0"], [b"0", b"1"])


@pytest.mark.parametrize("reconnects", [False, True])
@pytest.mark.parametrize("what", ["append", "meta", "refusal"])
def test_rows_that_contradict_each_other_stop_the_driver(driver: Driver, reconnects: bool, what: str) -> None:
    """STO-9, DRF-3: the run says another epoch than its last lease; nobody is named, and nothing written."""
    sql(driver.dsn)("UPDATE agentl.runs SET epoch = 9")
    if reconnects:
        cut(driver.dsn)
    does: dict[str, Callable[[], Any]] = {
        "append": lambda: driver.append(b"1"),
        "meta": lambda: driver.store.write_meta({"n": 1}),
        "refusal": lambda: driver.store.write_refusal({"n": 1}),
    }
    with pytest.raises(StoreFailure) as failed:
        does[what]()
    assert not isinstance(failed.value, LeaseLost)
    for more in (does[what], lambda: driver.append(b"2")):
        with pytest.raises(StoreFailure):
            more()
    assert driver.lines() == [b"0"]
    assert (driver.store.load()[0], driver.store.refusal()) == (None, None)


def test_who_looks_at_many_runs_connects_once(database: str) -> None:
    """STO-9, OPS-2: and looks on when that connection is lost."""
    for name in ("a", "b", "c"):
        store = PostgresStore(database, name)
        store.append(name.encode(), store.acquire("me").epoch, sync=True)
        store.write_meta({"run_id": name})
        store.close()
    collection = PostgresCollection(database)
    found = [collection.store_of(note) for note in collection.notes()]
    for _ in range(2):
        assert [store.load()[1] for store in found] == [[b"a"], [b"b"], [b"c"]]
        assert [store.held() for store in found] == [None] * 3
        assert server().cut(database) == 1


@pytest.mark.parametrize("change", ["DROP TABLE agentl.entries", "ALTER TABLE agentl.runs DROP COLUMN meta"])
def test_what_the_server_refuses_after_the_reconnect_ends_the_run(driver: Driver, change: str) -> None:
    """STO-9, DRF-3: said once, with the operation; it is not tried again."""
    sql(driver.dsn)(change)
    cut(driver.dsn)
    with pytest.raises(StoreFailure) as failed:
        driver.store.write_meta({"n": 1})
    assert failed.value.values["operation"] == "write"
    assert "does not exist" in failed.value.values["cause"]
    with pytest.raises(StoreFailure) as again:
        driver.append(b"1")
    assert again.value is failed.value
