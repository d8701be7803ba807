"""The PostgreSQL store: one statement per durable entry, the epoch inside it (`STO-7`, `STO-6`)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from agentl.durable import DurableError, LeaseHeld, LeaseLost, PostgresStore, StoreFailure
from agentl.durable.lease import LEASE_SECONDS, Lease
from agentl.durable.stores import postgres_link
from agentl.durable.stores.process import this_process
from tests.support.postgres import needed, sql

ELSEWHERE = "other-machine pid 1 start 1 space elsewhere"


def pass_time(dsn: str, seconds: float) -> None:
    """What the server's clock would show later: every lease is that much nearer to its end."""
    sql(dsn)(f"UPDATE agentl.leases SET expires = expires - make_interval(secs => {seconds})")


def driving(dsn: str, holder: str = "", **more: Any) -> tuple[PostgresStore, Lease]:
    store = PostgresStore(dsn, "r", **more)
    return store, store.acquire(holder or str(this_process()))


def test_lines_are_committed_with_the_next_durable_one(database: str) -> None:
    """STO-7, DUR-6: what waits is not there before; runs in one database are apart; bytes stay bytes."""
    store = PostgresStore(database, "a")
    epoch = store.acquire(str(this_process())).epoch
    store.append(b"0", epoch, sync=False)
    assert PostgresStore(database, "a").load() == (None, [])
    store.append(b"\0\xff1", epoch, sync=True)
    store.write_meta({"run_id": "a", "odd": "\0\ud800"})
    assert PostgresStore(database, "a").load() == ({"run_id": "a", "odd": "\0\ud800"}, [b"0", b"\0\xff1"])
    other = PostgresStore(database, "A")
    other.append(b"x", other.acquire("me").epoch, sync=True)
    other.close()
    store.append(b"2", epoch, sync=False)
    store.close()
    assert store.load()[1] == [b"0", b"\0\xff1", b"2"]
    assert PostgresStore.runs(database) == ["A", "a"]
    assert store.exists()


def test_looking_at_a_database_makes_nothing(database: str) -> None:
    """STO-8: no tables, no runs; and no tables afterwards."""
    store = PostgresStore(database, "r")
    assert (store.load(), store.held(), store.refusal(), store.exists()) == ((None, []), None, None, False)
    assert PostgresStore.runs(database) == []
    assert sql(database)("SELECT count(*) FROM pg_namespace WHERE nspname = 'agentl'") == [(0,)]


def test_the_name_holds_no_password(database: str) -> None:
    """STO-7."""
    secret = database.replace("agentl@", "agentl:s3cret@")
    store = PostgresStore(secret, "r")
    assert store.name == database.replace("agentl@", "agentl:***@") + "#r"
    refused = "postgresql://agentl:s3cret@[broken/db"
    with pytest.raises(DurableError) as bad:
        PostgresStore(refused, "r")
    assert bad.value.code == "durable.bad_dsn"
    assert "s3cret" not in str(bad.value)


@pytest.mark.parametrize("run_id", ["", "nul\0byte", "half\ud83d", "x" * 201])
def test_an_id_that_cannot_be_kept_is_refused(run_id: str) -> None:
    """STO-7, R58: before anything is asked of a server."""
    pytest.importorskip("psycopg")
    with pytest.raises(DurableError) as refused:
        PostgresStore("postgresql://nowhere/db", run_id)
    assert refused.value.code == "durable.run_id"


def test_without_the_library_there_is_one_clear_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """STO-7: the extra is named."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(DurableError) as refused:
        PostgresStore("postgresql://nowhere/db", "r")
    assert refused.value.code == "durable.no_psycopg"


def test_one_driver_at_a_time(database: str) -> None:
    """STO-6, R64: never taken over from this very process, whatever the clock says."""
    store, lease = driving(database)
    assert (lease.epoch, lease.unsure) == (1, ())
    for seconds in (0, -3600, 100 * LEASE_SECONDS):
        pass_time(database, seconds)
        with pytest.raises(LeaseHeld) as held:
            PostgresStore(database, "r").acquire("me")
        assert f"pid {this_process().process}" in str(held.value)
        assert held.value.values["epoch"] == 1
        assert PostgresStore(database, "r").held() is not None
    store.release(lease.epoch)
    assert PostgresStore(database, "r").held() is None
    again = PostgresStore(database, "r").acquire("me")
    assert (again.epoch, again.unsure) == (2, ())


def test_a_dead_holder_on_this_machine_is_known_dead(database: str) -> None:
    """STO-6, R67: a process id with another start time is not the holder; nobody is unsure then."""
    here = this_process()
    dead = f"{here.machine} pid {here.process} start 0 space {here.space}"
    store, _ = driving(database, dead)
    lease = PostgresStore(database, "r").acquire(str(here))
    assert (lease.epoch, lease.unsure) == (2, ())
    with pytest.raises(LeaseLost):
        store.append(b"0", 1, sync=True)
    store.close()


def test_a_lease_elsewhere_ends_by_time_and_stays_unsure(database: str) -> None:
    """STO-6, R02: renewed it holds, late it is taken over; the old driver may still be inside a call."""
    first, _ = driving(database, ELSEWHERE)
    pass_time(database, LEASE_SECONDS - 1)
    first.renew()
    pass_time(database, LEASE_SECONDS - 1)
    with pytest.raises(LeaseHeld):
        PostgresStore(database, "r").acquire("me")
    pass_time(database, 2)
    second = PostgresStore(database, "r")
    assert second.acquire(str(this_process())).unsure == (1,)
    second.close()
    third = PostgresStore(database, "r")
    assert third.acquire(str(this_process())).unsure == (1,), "still nobody knows"
    first.renew()
    with pytest.raises(LeaseLost):
        first.append(b"0", 1, sync=True)
    first.close()
    third.close()
    fourth = PostgresStore(database, "r")
    assert fourth.acquire("me").unsure == (), "the fenced driver has ended its run and said so"


def test_the_late_driver_is_fenced_inside_the_statement(database: str) -> None:
    """STO-6, R02: an older epoch writes no entry, no meta, no refusal, and nothing on leaving."""
    old, lease = driving(database, ELSEWHERE)
    old.append(b"0", lease.epoch, sync=True)
    old.append(b"waits", lease.epoch, sync=False)
    pass_time(database, LEASE_SECONDS + 1)
    new, new_lease = driving(database)
    new.write_meta({"by": "new"})
    with pytest.raises(LeaseLost) as lost:
        old.append(b"later", lease.epoch, sync=True)
    assert lost.value.values["own"] == lease.epoch
    assert f"pid {this_process().process}" in str(lost.value)
    for late in (lambda: old.write_meta({"by": "old"}), lambda: old.write_refusal({"by": "old"})):
        with pytest.raises(LeaseLost):
            late()
    old.close()
    new.append(b"1", new_lease.epoch, sync=True)
    assert new.load() == ({"by": "new"}, [b"0", b"1"])
    assert new.refusal() is None
    new.close()


@pytest.mark.parametrize("what", ["meta", "refusal", "release"])
def test_each_write_compares_the_epoch_itself(database: str, what: str) -> None:
    """STO-7: not only the append that would have told."""
    old, lease = driving(database, ELSEWHERE)
    if what == "release":
        old.append(b"waits", lease.epoch, sync=False)
    pass_time(database, LEASE_SECONDS + 1)
    new, _ = driving(database)
    late: dict[str, Callable[[], None]] = {
        "meta": lambda: old.write_meta({"by": "old"}, sync=True),
        "refusal": lambda: old.write_refusal({"by": "old"}),
        "release": lambda: old.release(lease.epoch),
    }
    with pytest.raises(LeaseLost):
        late[what]()
    assert new.load() == (None, [])
    assert new.refusal() is None
    assert new.held() is not None
    old.close()
    new.close()


def test_a_line_of_another_epoch_does_not_even_wait(database: str) -> None:
    """STO-6, DUR-6."""
    store, lease = driving(database)
    for other in (lease.epoch - 1, lease.epoch + 1):
        with pytest.raises(LeaseLost):
            store.append(b"odd", other, sync=False)
    store.append(b"even", lease.epoch, sync=True)
    assert store.load()[1] == [b"even"]
    store.close()
    with pytest.raises(LeaseLost):
        store.append(b"late", lease.epoch, sync=False)


def test_refusals_are_kept_beside_the_journal(database: str) -> None:
    """DUR-13."""
    store, _ = driving(database)
    store.write_refusal({"code": "x", "odd": "\ud800"})
    assert PostgresStore(database, "r").refusal() == {"code": "x", "odd": "\ud800"}
    store.write_refusal(None)
    assert store.refusal() is None
    store.close()


def test_a_failing_database_ends_the_run(database: str) -> None:
    """DRF-3: an entry that the server refuses leaves the store refusing everything, its lease given back."""
    store, lease = driving(database)
    store.append(b"0", lease.epoch, sync=True)
    sql(database)("INSERT INTO agentl.entries VALUES ('r', 1, 'taken')")
    with pytest.raises(StoreFailure) as failed:
        store.append(b"1", lease.epoch, sync=True)
    assert failed.value.code == "durable.store_failed"
    assert "PostgreSQL" in str(failed.value)
    for more in (lambda: store.append(b"2", lease.epoch, sync=False), lambda: store.write_meta({})):
        with pytest.raises(StoreFailure):
            more()
    store.close()
    assert PostgresStore(database, "r").held() is None
    assert PostgresStore(database, "r").acquire("me").unsure == ()


@pytest.mark.parametrize("what", ["meta", "release"])
def test_what_the_server_refuses_is_said_with_its_operation(database: str, what: str) -> None:
    """DRF-3."""
    store, lease = driving(database)
    if what == "meta":
        sql(database)("ALTER TABLE agentl.runs DROP COLUMN meta")
        with pytest.raises(StoreFailure) as failed:
            store.write_meta({"n": 1})
    else:
        store.append(b"0", lease.epoch, sync=False)
        sql(database)("DROP TABLE agentl.entries")
        with pytest.raises(StoreFailure) as failed:
            store.release(lease.epoch)
    assert failed.value.values["operation"] == ("write" if what == "meta" else "close")
    with pytest.raises(StoreFailure):
        store.append(b"0", lease.epoch, sync=True)
    store.close()


def test_a_server_that_cannot_be_reached_is_a_failure_of_the_store() -> None:
    """DRF-3: with words, and without a traceback's worth of them."""
    pytest.importorskip("psycopg")
    store = PostgresStore("postgresql://agentl@127.0.0.1:1/db?connect_timeout=2", "r")
    for asks in (store.load, store.held, lambda: store.acquire("me")):
        with pytest.raises(StoreFailure) as failed:
            asks()
        assert "PostgreSQL" in str(failed.value)


def test_every_commit_waits_for_the_disk_whatever_the_user_has_set(database: str) -> None:
    """STO-7, DUR-6: also after the meta of a tick, the one thing that does not wait."""
    sql(database)("ALTER ROLE agentl SET synchronous_commit = off")
    try:
        store, _ = driving(database)
        level = "SELECT current_setting('synchronous_commit')"
        assert store._link is not None
        assert store._link.execute(level).fetchone() == ("on",)
        store.write_meta({"n": 1})
        assert store._link.execute(level).fetchone() == ("on",)
        sql(database)("ALTER ROLE agentl SET synchronous_commit = remote_apply")
        with postgres_link.connect(database, driving=True) as link:
            assert link.execute(level).fetchone() == ("remote_apply",)
        store.close()
    finally:
        sql(database)("ALTER ROLE agentl RESET synchronous_commit")


def test_epochs_only_grow(database: str) -> None:
    """STO-6: over many resumes, and the rows of all of them are kept."""
    for number in range(1, 21):
        store, lease = driving(database)
        assert (lease.epoch, lease.unsure) == (number, ())
        store.append(b"%d" % number, lease.epoch, sync=True)
        store.close()
    assert sql(database)("SELECT count(*) FROM agentl.leases") == [(20,)]
    assert len(PostgresStore(database, "r").load()[1]) == 20


def test_a_connection_that_cannot_be_set_up_is_not_used(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """STO-9: time-outs and the level of commits are set, or there is no connection."""
    monkeypatch.setattr(
        postgres_link, "_SESSION", "SELECT set_config('synchronous_commit', 'perhaps', false)"
    )
    with pytest.raises(StoreFailure) as failed:
        PostgresStore(database, "r").acquire("me")
    assert "synchronous_commit" in failed.value.values["cause"]


def test_in_ci_nothing_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """STO-7: where every check must run, a missing server is an error; elsewhere a reason is shown."""
    monkeypatch.setattr("tests.support.postgres.why_not", lambda: "no server here")
    monkeypatch.setenv("CI", "1")
    with pytest.raises(pytest.fail.Exception, match="no server here"):
        needed()
    monkeypatch.delenv("CI")
    with pytest.raises(pytest.skip.Exception, match="no server here"):
        needed()
