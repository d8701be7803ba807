"""A SQLite file of runs: its tables, its connections, its transactions (`STO-4`)."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from agentl.durable.stores.base import failure
from agentl.durable.stores.rows import LeaseRow

TABLES: Final = """
CREATE TABLE IF NOT EXISTS runs (run_id TEXT PRIMARY KEY, meta TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS entries (
    run_id TEXT NOT NULL, seq INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (run_id, seq)
);
CREATE TABLE IF NOT EXISTS leases (
    run_id TEXT NOT NULL, epoch INTEGER NOT NULL, holder TEXT NOT NULL, since TEXT NOT NULL, expires REAL,
    PRIMARY KEY (run_id, epoch)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS marks (run_id TEXT PRIMARY KEY, mark TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS refusals (run_id TEXT PRIMARY KEY, refusal TEXT NOT NULL) WITHOUT ROWID;
"""
_COUNT: Final = (
    "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' "
    "AND name IN ('runs', 'entries', 'leases', 'refusals')"
)
BUSY_SECONDS: Final = 10.0
_PAUSE: Final = 0.005
# A commit writes every page that it touched, whole. Entries are short: in small pages, in a table that only
# grows at its end, beside an index of small keys, a commit touches the fewest bytes.
PAGE: Final = 2048


def open_file(path: Path) -> sqlite3.Connection:
    """Open the file for writing; it is made, readable by its owner alone, when it is not there.

    Where another process opens or leaves the file in the same instant, SQLite may say at once that it is
    busy, without the patience that it was asked for; that is no failure, and is tried again.
    """
    ends = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            return _opened(path)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= ends:
                raise
        time.sleep(_PAUSE)


def _opened(path: Path) -> sqlite3.Connection:
    if not path.exists():
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        connection.execute(f"PRAGMA page_size={PAGE}")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.executescript(TABLES)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def failing(operation: str) -> Iterator[None]:
    """Turn the errors of SQLite into ``StoreFailure`` (`DRF-3`)."""
    try:
        yield
    except sqlite3.Error as error:
        raise failure(operation, error) from error


class transaction:  # noqa: N801 - reads as a word in a with statement
    """A block that is committed as a whole or not at all."""

    __slots__ = ("_connection",)

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: type[BaseException] | None, *_raised: object) -> None:
        connection = self._connection
        try:
            if kind is None:
                connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")


@contextmanager
def connected(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that is closed behind the block."""
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        yield connection
    finally:
        connection.close()


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that changes nothing."""
    with connected(path) as connection:
        connection.execute("PRAGMA query_only=ON")
        yield connection


def lease_row(row: Sequence[Any], now: float) -> LeaseRow:
    """A lease from its epoch, holder, since and expires, at the time ``now`` (`STO-6`)."""
    epoch, holder, since, expires = row
    return LeaseRow(epoch, holder, since, expires is None, expires is not None and now >= expires)


def has_tables(connection: sqlite3.Connection) -> bool:
    """Whether somebody has kept runs in this file."""
    return bool(connection.execute(_COUNT).fetchone()[0] == 4)
