"""The requests of a run in an SQLite file: one row each, decided in one transaction (`PRK-1`, `PRK-3`)."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from agentl.durable.requests import (
    Decision,
    Extension,
    Filed,
    Request,
    filed_of,
    in_order,
    unreadable,
)
from agentl.durable.stores.base import failure
from agentl.durable.stores.request_book import answered, extended
from agentl.errors import StoreFailure

TABLE: Final = """
CREATE TABLE IF NOT EXISTS requests (
    run_id TEXT NOT NULL, request_id TEXT NOT NULL, request TEXT NOT NULL, decision TEXT,
    extensions TEXT NOT NULL DEFAULT '[]', PRIMARY KEY (run_id, request_id)
) WITHOUT ROWID
"""
INDEX: Final = "CREATE INDEX IF NOT EXISTS open_requests ON requests (run_id) WHERE decision IS NULL"
COLUMNS: Final = "request, decision, extensions"
_THERE: Final = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = 'requests'"
_BUSY_SECONDS: Final = 10.0


def open_requests(connection: sqlite3.Connection) -> dict[str, list[Filed]]:
    """The open requests of every run of a file, by run (`PRK-1`)."""
    found: dict[str, list[Filed]] = {}
    if connection.execute(_THERE).fetchone()[0]:
        query = f"SELECT run_id, {COLUMNS} FROM requests WHERE decision IS NULL"  # noqa: S608 - constants only
        for run_id, *row in connection.execute(query):
            found.setdefault(str(run_id), []).append(filed_of(*row))
    return found


class SQLiteBook:
    """The requests of the run ``run_id`` in the file ``path``; each call has a connection of its own."""

    def __init__(self, path: str | os.PathLike[str], run_id: str) -> None:
        self.path = Path(path)
        self.run_id = run_id

    def post(self, request: Request) -> Filed:
        """Keep a request, durable on return.

        Raises:
            StoreFailure: it cannot be written.
        """
        with self._writing() as connection:
            connection.execute(
                "INSERT INTO requests (run_id, request_id, request) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                (self.run_id, request.request_id, _text(request.data())),
            )
            filed = self._one(connection, request.request_id)
        if filed is None:
            raise unreadable(request.request_id)
        return filed

    def get(self, request_id: str) -> Filed | None:
        """The request of that id."""
        with self._reading() as connection:
            return None if connection is None else self._one(connection, request_id)

    def all(self, *, open_only: bool = False) -> list[Filed]:
        """Every request, oldest first."""
        query = f"SELECT {COLUMNS} FROM requests WHERE run_id = ?"  # noqa: S608 - constants only
        if open_only:
            query += " AND decision IS NULL"
        with self._reading() as connection:
            if connection is None:
                return []
            rows = connection.execute(query, (self.run_id,)).fetchall()
        return in_order([filed_of(*row) for row in rows], open_only=open_only)

    def decide(self, request_id: str, decision: Decision) -> Decision:
        """The decision that stands: the first that was committed.

        Raises:
            StoreFailure: it cannot be written, or there is no such request.
        """
        with self._writing() as connection:
            filed = self._one(connection, request_id)
            stands = answered(filed, request_id, decision)
            if filed is not None and filed.open:
                self._set(connection, "decision", request_id, stands.data())
        return stands

    def extend(self, request_id: str, extension: Extension) -> Filed:
        """Put the deadline off."""
        with self._writing() as connection:
            known = self._one(connection, request_id)
            filed = extended(known, request_id, extension)
            if filed is not known:
                self._set(connection, "extensions", request_id, [asdict(one) for one in filed.extensions])
        return filed

    # --- rows --------------------------------------------------------------------------

    def _one(self, connection: sqlite3.Connection, request_id: str) -> Filed | None:
        row = connection.execute(
            f"SELECT {COLUMNS} FROM requests WHERE run_id = ? AND request_id = ?",  # noqa: S608 - as above
            (self.run_id, request_id),
        ).fetchone()
        return None if row is None else filed_of(*row)

    def _set(self, connection: sqlite3.Connection, column: str, request_id: str, data: Any) -> None:
        connection.execute(
            f"UPDATE requests SET {column} = ? WHERE run_id = ? AND request_id = ?",  # noqa: S608 - as above
            (_text(data), self.run_id, request_id),
        )

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._connected("write") as connection:
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("BEGIN IMMEDIATE")
            try:
                connection.execute(TABLE)
                connection.execute(INDEX)
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        if not self.path.is_file():
            yield None
            return
        with self._connected("read") as connection:
            connection.execute("PRAGMA query_only=ON")
            yield connection if connection.execute(_THERE).fetchone()[0] else None

    @contextmanager
    def _connected(self, operation: str) -> Iterator[sqlite3.Connection]:
        try:
            connection = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None)
            try:
                yield connection
            finally:
                connection.close()
        except StoreFailure:
            raise
        except sqlite3.Error as error:
            raise failure(operation, error) from error


def _text(data: Any) -> str:
    return json.dumps(data, ensure_ascii=True, sort_keys=True)
