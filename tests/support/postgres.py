"""The PostgreSQL server of the tests: one for each of their processes, started by the first that asks."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tools.scratch_postgres import Server, binaries, database_of, free_port, run_on, why_not

__all__ = [
    "Server",
    "binaries",
    "blocked",
    "database_for",
    "database_of",
    "free_port",
    "kept_database",
    "locked",
    "needed",
    "run_on",
    "server",
    "sql",
    "why_not",
]


def needed() -> None:
    """Skip the test, with its reason, where there is no server; where every check must run, fail it."""
    reason = why_not()
    if reason is None:
        return
    if os.environ.get("CI"):
        pytest.fail(f"{reason}; in CI this is not skipped", pytrace=False)
    pytest.skip(reason)


_shared: list[Server] = []


def server() -> Server:
    """The one server of this process, started when it is first asked for."""
    needed()
    if not _shared:
        _shared.append(Server())
        atexit.register(_shared[0].remove)
    return _shared[0]


_kept: list[str] = []


def kept_database() -> str:
    """One database of the shared server for the whole process: for tests whose runs have ids of their own."""
    if not _kept:
        _kept.append(server().database())
    return _kept[0]


_places: dict[Path, str] = {}


def database_for(folder: Path) -> str:
    """The database of the shared server that belongs to ``folder``, made when it is first asked for."""
    if folder not in _places:
        _places[folder] = server().database()
    return _places[folder]


def sql(dsn: str) -> Callable[[str], list[tuple[Any, ...]]]:
    """Statements on one database, each on a connection of its own."""
    return lambda statement: run_on(dsn, statement)


@contextmanager
def locked(dsn: str, run_id: str = "r") -> Iterator[Any]:
    """Somebody holds the row of a run, so that an append has to wait in the middle of its transaction."""
    import psycopg

    with psycopg.connect(dsn) as other:
        other.execute("SELECT FROM agentl.runs WHERE run_id = %s FOR UPDATE", (run_id,))
        yield other


def blocked(dsn: str) -> list[int]:
    """The backends of a database that wait for a lock, once there are any."""
    while True:
        found = run_on(
            dsn,
            "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
            f"AND datname = '{database_of(dsn)}'",
        )
        if found:
            return [row[0] for row in found]
