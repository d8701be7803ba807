"""An inbox in a SQLite file, beside the tables of the service (`RCV-11`)."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from agentl.receiver.decisions import KeyState
from agentl.receiver.errors import InboxFailure, KeyBusy, TransactionMisused
from agentl.receiver.fingerprint import Fingerprint
from agentl.receiver.inbox import Inbox, Kept

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS agentl_inbox (
    scope TEXT NOT NULL, key TEXT NOT NULL, state TEXT NOT NULL, fingerprint TEXT NOT NULL, fields TEXT,
    answer TEXT, worker TEXT NOT NULL, completed REAL, PRIMARY KEY (scope, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS agentl_outbox (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, topic TEXT NOT NULL, payload TEXT NOT NULL,
    sent REAL, attempts INTEGER NOT NULL DEFAULT 0, error TEXT
);
CREATE INDEX IF NOT EXISTS agentl_outbox_waiting ON agentl_outbox (number) WHERE sent IS NULL;
"""
_FIND: Final = (
    "SELECT state, fingerprint, fields, answer, worker FROM agentl_inbox WHERE scope = ? AND key = ?"
)
_CLAIM: Final = (
    "INSERT INTO agentl_inbox (scope, key, state, fingerprint, fields, worker) VALUES (?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (scope, key) DO NOTHING"
)
_COMPLETE: Final = "UPDATE agentl_inbox SET answer = ?, completed = ? WHERE scope = ? AND key = ?"
_PUBLISH: Final = "INSERT INTO agentl_outbox (id, topic, payload) VALUES (?, ?, ?)"


class _Guard:
    """Refuses statements that would end the transaction while the block of the service runs (`RCV-2`)."""

    def __init__(self, connection: sqlite3.Connection, key: str) -> None:
        self._connection = connection
        self._key = key
        self._misused = False
        connection.set_authorizer(self._allow)

    def _allow(self, action: int, *_details: Any) -> int:
        if action == sqlite3.SQLITE_TRANSACTION:
            self._misused = True
            return sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_OK

    def close_block(self) -> None:
        self._connection.set_authorizer(None)
        if self._misused:
            raise TransactionMisused(code="receiver.ended_inside", key=self._key)


class SQLiteInbox(Inbox):
    """The inbox in the SQLite file ``path``; the service's own tables are in the same file.

    Args: as ``Inbox``.
    """

    def __init__(self, path: str | os.PathLike[str], **options: Any) -> None:
        super().__init__(**options)
        self.path = Path(path)

    def connect(self) -> sqlite3.Connection:
        """A new connection; the tables exist. Raises ``InboxFailure``."""
        try:
            connection = sqlite3.connect(
                self.path, timeout=self.wait, isolation_level=None, check_same_thread=False
            )
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")
                connection.executescript(_TABLES)
            except BaseException:
                connection.close()
                raise
        except sqlite3.Error as error:
            raise self.failure("connect", error) from error
        return connection

    def hang_up(self, connection: Any) -> None:
        """Close a connection; an open transaction is taken back."""
        with suppress(sqlite3.Error):
            connection.close()

    @contextmanager
    def transaction(self, connection: Any, key: str) -> Iterator[_Guard]:
        """One writer at a time: who does not get to it within ``wait`` is told so (`RCV-5`)."""
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            raise self._told(error, "begin", key) from error
        guard = _Guard(connection, key)
        try:
            yield guard
        except BaseException as error:
            connection.set_authorizer(None)
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            if guard._misused and isinstance(error, sqlite3.DatabaseError):  # noqa: SLF001 - one module
                raise TransactionMisused(code="receiver.ended_inside", key=key) from error
            raise
        connection.set_authorizer(None)
        try:
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise self._told(error, "commit", key) from error

    def find(self, connection: Any, scope: str, key: str) -> Kept | None:
        """What is committed under a key."""
        try:
            row = connection.execute(_FIND, (scope, key)).fetchone()
        except sqlite3.Error as error:
            raise self._told(error, "read", key) from error
        return None if row is None else Kept(KeyState(row[0]), *row[1:])

    def claim(self, connection: Any, scope: str, key: str, asked: Fingerprint) -> bool:
        """Insert the key; whether it was not there (`RCV-1`)."""
        fields = json.dumps(dict(asked.fields))
        values = (scope, key, KeyState.DONE.value, asked.digest, fields, self.worker)
        try:
            return bool(connection.execute(_CLAIM, values).rowcount == 1)
        except sqlite3.Error as error:
            raise self._told(error, "claim", key) from error

    def complete(
        self, connection: Any, scope: str, key: str, answer: str, messages: Sequence[tuple[str, str, str]]
    ) -> None:
        """Add the answer and the messages to the transaction (`RCV-2`, `RCV-8`)."""
        try:
            connection.execute(_COMPLETE, (answer, self.clock(), scope, key))
            connection.executemany(_PUBLISH, messages)
        except sqlite3.Error as error:
            raise self._told(error, "complete", key) from error

    def statement(self, statement: str, values: Sequence[Any], operation: str) -> sqlite3.Cursor:
        """A cursor of one statement of our own, outside of every request."""

        def execute(connection: Any) -> sqlite3.Cursor:
            try:
                done: sqlite3.Cursor = connection.execute(statement, values)
            except sqlite3.Error as error:
                raise self.failure(operation, error) from error
            return done

        with self._borrowed(execute) as (_, done):
            return done

    def _told(self, error: sqlite3.Error, operation: str, key: str) -> KeyBusy | InboxFailure:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY:
            return KeyBusy(code="receiver.busy", key=key, seconds=self.wait)
        return self.failure(operation, error)

    @staticmethod
    def failure(operation: str, error: BaseException) -> InboxFailure:
        """A failure of the database."""
        return InboxFailure(
            code="receiver.store", operation=operation, cause=f"{type(error).__name__}: {error}"
        )


__all__ = ["SQLiteInbox"]
