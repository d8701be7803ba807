"""The PostgreSQL side of a play: one database for the whole process, emptied before each schedule."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agentl.durable.stores import postgres, postgres_append
from tests.machines.drivers.stage import RUN, Stage, Watched
from tests.support.postgres import Server, needed

_TABLES = "agentl.runs, agentl.entries, agentl.leases"
_NOBODY_ELSE = (
    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
)
# Drivers are killed here, the server never is: it need not wait for a disk.
_SETTINGS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
_links: list[tuple[int, str, Any]] = []


def _link() -> Any:
    """The outside's own connection; what a forked child inherits of it is not its own."""
    import psycopg

    if not _links or _links[0][0] != os.getpid():
        needed()
        own = Server(_SETTINGS)
        atexit.register(own.remove)
        place = own.database()
        with postgres.connect(place, driving=True) as link:
            postgres.prepare(link)
        _links[:] = [(os.getpid(), place, psycopg.connect(place, autocommit=True))]
    return _links[0][2]


@contextmanager
def emptied() -> Iterator[None]:
    """The database without any run, and without connections of drivers that are gone."""
    link = _link()
    link.execute(_NOBODY_ELSE)
    link.execute(f"TRUNCATE {_TABLES}")
    yield


def let_leases_end() -> None:
    """No lease was renewed for longer than it lasts, by the server's own clock."""
    _link().execute(
        "UPDATE agentl.leases SET expires = clock_timestamp() - interval '1 second' WHERE expires IS NOT NULL"
    )


def lines() -> list[bytes]:
    """The journal, read without the package."""
    rows = _link().execute("SELECT body FROM agentl.entries WHERE run_id = %s ORDER BY seq", (RUN,))
    return [bytes(body) for (body,) in rows.fetchall()]


def dsn() -> str:
    """The database of this process, in its children too."""
    if not _links:
        _link()
    return _links[0][1]


def store(run_id: str) -> postgres.PostgresStore:
    """A run in the database."""
    return postgres.PostgresStore(dsn(), run_id)


class WatchedPostgres(Watched, postgres.PostgresStore):
    """A database of any machine."""


def watched(stage: Stage) -> WatchedPostgres:
    """The store of a driver; inside the transaction of a takeover, and behind a sent append, are points."""
    succeed, finished = postgres.succeed, postgres_append.Appender._finished

    def inside(*args: Any) -> Any:
        if threading.current_thread() is threading.main_thread():
            stage.reach("acquire.inside")
        return succeed(*args)

    def sent(self: Any) -> Any:
        if not stage.acquiring and self is stage.store._appender:
            stage.reach("append.inside")
        return finished(self)

    postgres.succeed = inside  # type: ignore[attr-defined]
    postgres_append.Appender._finished = sent  # type: ignore[method-assign]
    seconds = 0.3 if stage.patience < 1 else postgres.STATEMENT_SECONDS
    return WatchedPostgres(dsn(), RUN, statement_seconds=seconds)
