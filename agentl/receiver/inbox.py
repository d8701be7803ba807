"""An inbox: one change per key, in one transaction (`RCV-1` to `RCV-8`). What is common to the databases."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Self, TypeVar

from agentl.receiver.decisions import KeyState, Ruling, check_key, expire, ruling
from agentl.receiver.errors import KeyGone, KeyMismatch, ReceiverError, TransactionMisused
from agentl.receiver.fingerprint import Fingerprint, canonical, differing, fingerprint

WAIT_SECONDS: Final = 5.0
_MESSAGE: Final = b"agentl.receiver.message.v1\n"
_Seen = TypeVar("_Seen")
# With the placeholders of SQLite; a driver that has others puts them in.
_EXPIRE: Final = (
    "UPDATE agentl_inbox SET state = ?, answer = NULL, fields = NULL WHERE state = ? AND completed <= ?"
)
_WAITING: Final = "SELECT id, topic, payload FROM agentl_outbox WHERE sent IS NULL ORDER BY number LIMIT ?"
_SENT: Final = "UPDATE agentl_outbox SET sent = ?, error = NULL, attempts = attempts + 1 WHERE id = ?"
_UNSENT: Final = "UPDATE agentl_outbox SET error = ?, attempts = attempts + 1 WHERE id = ?"


@dataclass(frozen=True, slots=True)
class Kept:
    """What is committed under a key. ``answer`` and ``fields`` are JSON texts, ``None`` once forgotten."""

    state: KeyState
    fingerprint: str
    fields: str | None
    answer: str | None
    worker: str


class Once:
    """The transaction of one request (`RCV-2`).

    Attributes:
        key, scope: whose request it is.
        fresh: the request is the first under its key, and the block is to make the change. If not,
            ``answer`` is what the first one was told, and nothing can be changed.
    """

    def __init__(self, key: str, scope: str, connection: Any, answer: Any = None) -> None:
        self.key = key
        self.scope = scope
        self.fresh = connection is not None
        self._connection = connection
        self._answer = answer
        self.messages: list[tuple[str, str, str]] = []

    @property
    def connection(self) -> Any:
        """The connection of the database driver, inside the transaction.

        Raises:
            TransactionMisused: the request was answered before (`RCV-3`).
        """
        if self._connection is None:
            raise TransactionMisused(code="receiver.answered", key=self.key)
        return self._connection

    def execute(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """Execute a statement of the change; placeholders are those of the database's driver."""
        return self.connection.execute(statement, values)

    @property
    def answer(self) -> Any:
        """What the client is told: a JSON value."""
        return self._answer

    @answer.setter
    def answer(self, value: Any) -> None:
        if not self.fresh:
            raise TransactionMisused(code="receiver.answered", key=self.key)
        self._answer = value

    def publish(self, topic: str, payload: Any) -> str:
        """Write a message down, to be delivered behind the commit (`RCV-8`).

        Returns:
            The id of the message: the same when the same request is tried again.

        Raises:
            ReceiverError: the payload is no JSON value.
        """
        if not self.fresh:
            raise TransactionMisused(code="receiver.answered", key=self.key)
        name = canonical([self.scope, self.key, len(self.messages)])
        message_id = hashlib.sha256(_MESSAGE + name).hexdigest()[:32]
        self.messages.append((message_id, topic, _json(payload)))
        return message_id

    def end(self) -> None:
        """The block is over: nothing more can be changed through this object."""
        self._connection = None


class Inbox(ABC):
    """One change per key.

    Args:
        wait: how long a request waits for another one with its key, in seconds.
        worker: who completes requests here, for the record; by default machine and process.
        clock: seconds since the epoch; only retention depends on it.
    """

    def __init__(
        self, *, wait: float = WAIT_SECONDS, worker: str | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self.wait = wait
        self.worker = worker or f"{socket.gethostname()}:{os.getpid()}"
        self.clock = clock
        self._idle: list[Any] = []
        self._lock = threading.Lock()
        self._process = os.getpid()

    @contextmanager
    def once(self, key: str, params: Any = None, *, scope: str = "") -> Iterator[Once]:
        """The transaction of one request (`RCV-1`, `RCV-2`).

        Inside the block of a ``fresh`` one, make the change and set ``answer``. Behind the block everything
        is committed, and the answer may be given.

        Args:
            key: the idempotency key.
            params: what is asked for, a JSON value.
            scope: who asks; keys of different scopes have nothing to do with one another.

        Raises:
            BadKey: the key has not the form of one (`RCV-7`).
            KeyMismatch: the key was used for something else (`RCV-4`).
            KeyBusy: a request with the key is being worked on, for longer than ``wait`` (`RCV-5`).
            KeyGone: the retention of the key is over (`RCV-6`).
            InboxFailure: the database failed; the same key may be tried again.
            Everything that the block raises, after it was taken back.
        """
        check_key(key)
        asked = fingerprint(params)
        # Short cut for requests that come late: what is committed under a key never disappears. Who is
        # first is decided by the insert alone.
        with self._borrowed(lambda connection: self.find(connection, scope, key)) as (connection, kept):
            if kept is None:
                with self.transaction(connection, key) as claim:
                    if self.claim(connection, scope, key, asked):
                        tx = Once(key, scope, connection)
                        try:
                            yield tx
                        finally:
                            tx.end()
                        claim.close_block()
                        self.complete(connection, scope, key, _json(tx.answer), tx.messages)
                        return
                    kept = self.find(connection, scope, key)
        yield self._settled(kept, key, scope, asked)

    def _settled(self, kept: Kept | None, key: str, scope: str, asked: Fingerprint) -> Once:
        """The answer to a key that is on record, or why there is none (`RCV-3`, `RCV-4`, `RCV-6`)."""
        if kept is None:
            raise self.failure("claim", RuntimeError(key))
        match ruling(kept.state, kept.fingerprint == asked.digest):
            case Ruling.REPLAY:
                return Once(key, scope, None, None if kept.answer is None else json.loads(kept.answer))
            case Ruling.GONE:
                raise KeyGone(code="receiver.gone", key=key)
            case _:
                fields = json.loads(kept.fields) if kept.fields is not None else {}
                names = differing(fields, asked.fields)
                raise KeyMismatch(
                    code="receiver.mismatch", key=key, fields=", ".join(names) or "—", differing=names
                )

    def handle(self, key: str, params: Any, work: Callable[[Once], Any], *, scope: str = "") -> Any:
        """The answer of ``work(tx)``, called at most once per key; raises as ``once`` and as ``work``."""
        with self.once(key, params, scope=scope) as tx:
            if tx.fresh:
                tx.answer = work(tx)
        return tx.answer

    # --- beside the requests -----------------------------------------------------------------

    def expire(self, older_than: float) -> int:
        """Forget the answers of keys completed ``older_than`` seconds ago or earlier; how many (`RCV-6`)."""
        values = (expire(KeyState.DONE).value, KeyState.DONE.value, self.clock() - older_than)
        return int(self.statement(_EXPIRE, values, "expire").rowcount)

    def waiting(self, limit: int) -> list[tuple[str, str, str]]:
        """Messages that were not delivered: id, topic, payload as JSON; the oldest first (`RCV-9`)."""
        return list(self.statement(_WAITING, (limit,), "read").fetchall())

    def mark(self, message_id: str, error: str | None) -> None:
        """Note that a message was delivered, or why not (`RCV-9`)."""
        if error is None:
            self.statement(_SENT, (self.clock(), message_id), "mark")
        else:
            self.statement(_UNSENT, (error.replace("\0", ""), message_id), "mark")

    # --- connections -------------------------------------------------------------------------

    @contextmanager
    def _borrowed(self, look: Callable[[Any], _Seen]) -> Iterator[tuple[Any, _Seen]]:
        """A connection of this process, and what ``look`` saw there first.

        An idle connection may have been cut meanwhile, which shows only when it is used: ``look`` is then
        tried once more, on a new one. A connection on which something failed is not used again.
        """
        with self._lock:
            if self._process != os.getpid():
                # A forked child must not touch what its parent has open.
                self._idle, self._process = [], os.getpid()
            connection = self._idle.pop() if self._idle else None
        if connection is not None:
            try:
                seen = look(connection)
            except ReceiverError:
                self.hang_up(connection)
                connection = None
            except BaseException:
                self.hang_up(connection)
                raise
        if connection is None:
            connection = self.connect()
            try:
                seen = look(connection)
            except BaseException:
                self.hang_up(connection)
                raise
        try:
            yield connection, seen
        except ReceiverError as error:
            if error.status >= 500:
                self.hang_up(connection)
            else:
                self._give(connection)
            raise
        except BaseException:
            self.hang_up(connection)
            raise
        self._give(connection)

    def _give(self, connection: Any) -> None:
        with self._lock:
            self._idle.append(connection)

    def close(self) -> None:
        """Close the connections that nobody uses."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            self.hang_up(connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    # --- what a database does ----------------------------------------------------------------

    @abstractmethod
    def connect(self) -> Any:
        """A new connection; the tables exist. Raises ``InboxFailure``."""

    @abstractmethod
    def hang_up(self, connection: Any) -> None:
        """Close a connection, whatever its state; raises nothing."""

    @abstractmethod
    def transaction(self, connection: Any, key: str) -> Any:
        """A context manager: committed at its end, taken back when anything is raised.

        What it yields has ``close_block()``, called when the block of the service is over: it raises
        ``TransactionMisused`` when the block ended the transaction (`RCV-2`).
        Raises ``KeyBusy`` and ``InboxFailure``.
        """

    @abstractmethod
    def find(self, connection: Any, scope: str, key: str) -> Kept | None:
        """What is committed under a key."""

    @abstractmethod
    def claim(self, connection: Any, scope: str, key: str, asked: Fingerprint) -> bool:
        """Insert the key; whether it was not there (`RCV-1`). Raises ``KeyBusy``."""

    @abstractmethod
    def complete(
        self, connection: Any, scope: str, key: str, answer: str, messages: Sequence[tuple[str, str, str]]
    ) -> None:
        """Add the answer and the messages to the transaction (`RCV-2`, `RCV-8`)."""

    @abstractmethod
    def statement(self, statement: str, values: Sequence[Any], operation: str) -> Any:
        """A cursor of one statement of our own, outside of every request. Raises ``InboxFailure``."""

    @staticmethod
    @abstractmethod
    def failure(operation: str, error: BaseException) -> ReceiverError:
        """A failure of the database as ``InboxFailure``."""


def _json(value: Any) -> str:
    try:
        return canonical(value).decode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise ReceiverError(code="receiver.answer_form", cause=type(error).__name__) from error


__all__ = ["WAIT_SECONDS", "Inbox", "Kept", "Once"]
