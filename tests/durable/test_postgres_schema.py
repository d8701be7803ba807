"""The tables in PostgreSQL are made in numbered steps, once, whole or not at all (`STO-8`)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from agentl.durable import DurableError, PostgresStore, StoreFailure
from agentl.durable.stores import postgres_schema
from tests.support.postgres import sql


def seen(dsn: str) -> list[int]:
    return [row[0] for row in sql(dsn)("SELECT step FROM agentl.schema_steps ORDER BY step")]


def test_two_that_come_at_once_run_each_step_once(database: str) -> None:
    """STO-8: on an empty database, again and again."""
    for number in range(5):
        sql(database)("DROP SCHEMA IF EXISTS agentl CASCADE")
        together = Barrier(4)

        def drive(name: str, together: Barrier = together) -> int:
            store = PostgresStore(database, name)
            together.wait()
            epoch = store.acquire("me").epoch
            store.append(name.encode(), epoch, sync=True)
            store.close()
            return epoch

        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(drive, ["a", "b", "c", "d"])) == [1, 1, 1, 1], number
        assert seen(database) == list(range(1, len(postgres_schema.STEPS) + 1))
        assert PostgresStore.runs(database) == ["a", "b", "c", "d"]


def test_a_later_version_adds_its_steps_and_an_earlier_one_then_stops(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """STO-8: runs are kept; the refusal names both steps; nothing was leased."""
    store = PostgresStore(database, "r")
    store.append(b"0", store.acquire("me").epoch, sync=True)
    store.close()
    known = len(postgres_schema.STEPS)
    with monkeypatch.context() as later:
        later.setattr(postgres_schema, "STEPS", (*postgres_schema.STEPS, "CREATE TABLE agentl.more (n int)"))
        store.acquire("me")
        store.close()
    assert seen(database) == list(range(1, known + 2))
    assert store.load()[1] == [b"0"]
    with pytest.raises(DurableError) as refused:
        store.acquire("me")
    assert (refused.value.code, refused.value.values) == (
        "durable.schema_newer",
        {"found": known + 1, "known": known},
    )
    assert store.held() is None


def test_a_step_that_fails_leaves_nothing(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """STO-8, DRF-3."""
    store = PostgresStore(database, "r")
    with monkeypatch.context() as broken:
        broken.setattr(postgres_schema, "STEPS", (*postgres_schema.STEPS, "CREATE TABLE nowhere.x (n int)"))
        with pytest.raises(StoreFailure) as failed:
            store.acquire("me")
    assert failed.value.values["operation"] == "open"
    assert sql(database)("SELECT count(*) FROM pg_namespace WHERE nspname = 'agentl'") == [(0,)]
    assert store.acquire("me").epoch == 1
    store.close()


def test_a_driver_needs_no_right_to_make_tables(database: str) -> None:
    """STO-8: where the tables are there."""
    do = sql(database)
    first = PostgresStore(database, "r")
    first.acquire("me")
    first.close()
    name = database.rsplit("/", 1)[1]
    do(f"CREATE ROLE worker_{name} LOGIN")
    try:
        do(f"GRANT USAGE ON SCHEMA agentl TO worker_{name}")
        do(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA agentl TO worker_{name}")
        store = PostgresStore(database.replace("agentl@", f"worker_{name}@"), "r")
        epoch = store.acquire("me").epoch
        store.append(b"0", epoch, sync=True)
        store.close()
        assert epoch == 2
    finally:
        do(f"DROP OWNED BY worker_{name}")
        do(f"DROP ROLE worker_{name}")
