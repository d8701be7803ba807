"""An inbox in a PostgreSQL database, beside the tables of the service (`RCV-11`)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

from agentl.receiver.decisions import KeyState
from agentl.receiver.errors import InboxFailure, KeyBusy, TransactionMisused
from agentl.receiver.fingerprint import Fingerprint
from agentl.receiver.inbox import Inbox, Kept

# Two services that start at once would both create the tables; this number makes one wait for the other.
_SCHEMA_LOCK: Final = 0x61676C_72637631
_TABLES: Final = (
    """CREATE TABLE IF NOT EXISTS agentl_inbox (
    scope text NOT NULL, key text NOT NULL, state text NOT NULL, fingerprint text NOT NULL, fields text,
    answer text, worker text NOT NULL, completed double precision, PRIMARY KEY (scope, key))""",
    """CREATE TABLE IF NOT EXISTS agentl_outbox (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text NOT NULL UNIQUE, topic text NOT NULL,
    payload text NOT NULL, sent double precision, attempts integer NOT NULL DEFAULT 0, error text)""",
    "CREATE INDEX IF NOT EXISTS agentl_outbox_waiting ON agentl_outbox (number) WHERE sent IS NULL",
)
_FIND: Final = (
    "SELECT state, fingerprint, fields, answer, worker FROM agentl_inbox WHERE scope = %s AND key = %s"
)
_CLAIM: Final = (
    "INSERT INTO agentl_inbox (scope, key, state, fingerprint, fields, worker) "
    "VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (scope, key) DO NOTHING"
)
_COMPLETE: Final = "UPDATE agentl_inbox SET answer = %s, completed = %s WHERE scope = %s AND key = %s"
_PUBLISH: Final = "INSERT INTO agentl_outbox (id, topic, payload) VALUES (%s, %s, %s)"


def _driver() -> Any:
    try:
        import psycopg
    except ImportError as error:
        raise InboxFailure(code="receiver.no_driver") from error
    return psycopg


class _Guard:
    """Notices that the block of the service ended the transaction (`RCV-2`).

    The driver itself refuses ``commit`` and ``rollback`` inside; the statements as text it lets through.
    """

    def __init__(self, connection: Any, key: str) -> None:
        self._connection = connection
        self._key = key
        (self._began,) = connection.execute("SELECT pg_current_xact_id()::text").fetchone()

    def close_block(self) -> None:
        row = self._connection.execute("SELECT pg_current_xact_id_if_assigned()::text").fetchone()
        if row[0] != self._began:
            raise TransactionMisused(code="receiver.ended_inside", key=self._key)


class PostgresInbox(Inbox):
    """The inbox in the database of ``dsn``; the service's own tables are in the same database.

    Args:
        dsn: a libpq connection string.
        Others as ``Inbox``.
    """

    def __init__(self, dsn: str, **options: Any) -> None:
        super().__init__(**options)
        self.dsn = dsn
        self._ready = False

    def connect(self) -> Any:
        """A new connection; the tables exist. Raises ``InboxFailure``."""
        driver = _driver()
        try:
            connection = driver.connect(self.dsn, autocommit=True, connect_timeout=10)
        except driver.Error as error:
            raise self.failure("connect", error) from error
        try:
            connection.execute("SET synchronous_commit = on")
            connection.execute(f"SET lock_timeout = {max(int(self.wait * 1000), 1)}")
            if not self._ready:
                with connection.transaction():
                    connection.execute("SELECT pg_advisory_xact_lock(%s)", (_SCHEMA_LOCK,))
                    for statement in _TABLES:
                        connection.execute(statement)
                self._ready = True
        except driver.Error as error:
            self.hang_up(connection)
            raise self.failure("connect", error) from error
        return connection

    def hang_up(self, connection: Any) -> None:
        """Close a connection; an open transaction is taken back."""
        with suppress(Exception):
            connection.close()

    @contextmanager
    def transaction(self, connection: Any, key: str) -> Iterator[_Guard]:
        """A transaction; requests with other keys go on beside it."""
        driver = _driver()
        # What the block of the service raises is its own, errors of the driver included; only what begins
        # and ends the transaction is ours to report.
        inside = False
        try:
            with connection.transaction():
                guard = _Guard(connection, key)
                inside = True
                yield guard
                inside = False
        except driver.Error as error:
            if inside and isinstance(error, driver.ProgrammingError) and error.sqlstate is None:
                raise TransactionMisused(code="receiver.ended_inside", key=key) from error
            if inside:
                raise
            raise self._told(error, "commit", key) from error

    def find(self, connection: Any, scope: str, key: str) -> Kept | None:
        """What is committed under a key."""
        try:
            row = connection.execute(_FIND, (scope, key)).fetchone()
        except _driver().Error as error:
            raise self._told(error, "read", key) from error
        return None if row is None else Kept(KeyState(row[0]), *row[1:])

    def claim(self, connection: Any, scope: str, key: str, asked: Fingerprint) -> bool:
        """Insert the key; waits for an open transaction that has it; whether it was not there (`RCV-1`)."""
        fields = json.dumps(dict(asked.fields))
        values = (scope, key, KeyState.DONE.value, asked.digest, fields, self.worker)
        try:
            return bool(connection.execute(_CLAIM, values).rowcount == 1)
        except _driver().Error as error:
            raise self._told(error, "claim", key) from error

    def complete(
        self, connection: Any, scope: str, key: str, answer: str, messages: Sequence[tuple[str, str, str]]
    ) -> None:
        """Add the answer and the messages to the transaction (`RCV-2`, `RCV-8`)."""
        try:
            connection.execute(_COMPLETE, (answer, self.clock(), scope, key))
            for message in messages:
                connection.execute(_PUBLISH, message)
        except _driver().Error as error:
            raise self._told(error, "complete", key) from error

    def statement(self, statement: str, values: Sequence[Any], operation: str) -> Any:
        """A cursor of one statement of our own, outside of every request."""

        def execute(connection: Any) -> Any:
            try:
                return connection.execute(statement.replace("?", "%s"), values)
            except _driver().Error as error:
                raise self.failure(operation, error) from error

        with self._borrowed(execute) as (_, done):
            return done

    def _told(self, error: Exception, operation: str, key: str) -> KeyBusy | InboxFailure:
        if isinstance(error, _driver().errors.LockNotAvailable):
            return KeyBusy(code="receiver.busy", key=key, seconds=self.wait)
        return self.failure(operation, error)

    @staticmethod
    def failure(operation: str, error: BaseException) -> InboxFailure:
        """A failure of the database."""
        cause = str(error).strip().splitlines()
        return InboxFailure(
            code="receiver.store",
            operation=operation,
            cause=f"{type(error).__name__}: {cause[0] if cause else ''}",
        )


__all__ = ["PostgresInbox"]
