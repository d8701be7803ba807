"""Runs of one process that share a SQLite file commit together (`OPS-11`).

A file has one writer at a time, and a commit waits for the disk. So whoever comes first takes all that wait
with him: one transaction, one wait, for as many runs as there are. Each does its own part in it, the
comparison of its epoch included, and fails alone.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from agentl.durable.stores.sqlite_file import open_file
from agentl.errors import AgentLError

Part = Callable[[sqlite3.Connection], Any]
_Key = tuple[str, int, int]


class _Waiting:
    """One part, and the thread that waits for it."""

    __slots__ = ("done", "durable", "error", "gate", "leads", "part", "value")

    def __init__(self, part: Part, durable: bool) -> None:
        self.part = part
        self.durable = durable
        self.gate = threading.Lock()
        self.gate.acquire()
        self.done = False
        self.leads = False
        self.value: Any = None
        self.error: BaseException | None = None


class Committer:
    """The one writing connection of this process to a file, and those who wait for it.

    Made by `committer_of`, once per file; given back with ``leave``.
    """

    def __init__(self, path: Path) -> None:
        self.users = 0
        self._connection: sqlite3.Connection | None = open_file(path)
        self._full = True
        self._mutex = threading.Lock()
        self._queue: list[_Waiting] = []
        self._busy = False

    def commit(self, part: Part, *, durable: bool = True) -> Any:
        """Do ``part`` in a transaction, alone or with the parts of others, and give what it gave.

        Args:
            part: must refuse (raise an error of this package) before it writes anything. It may be called
                again when the transaction of the others failed.
            durable: wait for the disk.

        Raises:
            AgentLError: the part refused; nothing of it was written.
            sqlite3.Error: the part, or the commit, failed; nothing of it was written.
        """
        waiting = _Waiting(part, durable)
        with self._mutex:
            leads = not self._busy
            if leads:
                self._busy = True
            else:
                self._queue.append(waiting)
        if not leads:
            try:
                waiting.gate.acquire()
            except BaseException:
                self._give_up(waiting)
                raise
            leads = waiting.leads
        if leads:
            self._lead(waiting)
        if waiting.error is not None:
            raise waiting.error
        return waiting.value

    def _lead(self, own: _Waiting) -> None:
        batch = [own]
        try:
            with self._mutex:
                batch += self._queue
                self._queue.clear()
            self._transact(batch)
        finally:
            self._hand_over([waiting for waiting in batch if waiting is not own])

    def _hand_over(self, others: list[_Waiting]) -> None:
        """Let those go that are done, and the next one lead; what was broken off is done again by it."""
        with self._mutex:
            self._queue[:0] = [waiting for waiting in others if not waiting.done]
            following = self._queue.pop(0) if self._queue else None
            if following is None:
                self._busy = False
            else:
                following.leads = True
        for waiting in others:
            if waiting.done:
                waiting.gate.release()
        if following is not None:
            following.gate.release()

    def _give_up(self, waiting: _Waiting) -> None:
        """Somebody was interrupted while he waited; what he wanted may be written all the same."""
        with self._mutex:
            if waiting in self._queue:
                self._queue.remove(waiting)
                return
            leads = waiting.leads
        if leads:
            self._hand_over([])

    def _transact(self, batch: list[_Waiting]) -> None:
        connection = self._connection
        if connection is None:
            raise sqlite3.ProgrammingError("the file was closed")
        failed: Exception | None = None
        committing = False
        try:
            self._wait_for_disk(connection, any(waiting.durable for waiting in batch))
            connection.execute("BEGIN IMMEDIATE")
            for waiting in batch:
                try:
                    waiting.value = waiting.part(connection)
                except AgentLError as refusal:
                    waiting.error = refusal
            committing = True
            connection.execute("COMMIT")
        except Exception as error:  # noqa: BLE001 - told to the one whose part it was
            failed = error
        finally:
            left_open = connection.in_transaction
            if left_open:
                connection.execute("ROLLBACK")
            if failed is None and committing and not left_open:
                # Also when an interruption came right behind the commit.
                for waiting in batch:
                    waiting.done = True
        if failed is None:
            return
        if len(batch) == 1:
            batch[0].error, batch[0].done = failed, True
            return
        # One of them spoils it, or the file does: each for himself, so that each hears his own.
        for waiting in batch:
            waiting.error = None
        for waiting in batch:
            self._transact([waiting])

    def _wait_for_disk(self, connection: sqlite3.Connection, full: bool) -> None:
        if full != self._full:
            connection.execute("PRAGMA synchronous=FULL" if full else "PRAGMA synchronous=NORMAL")
            self._full = full

    def leave(self) -> None:
        """One store less; the last one closes the connection."""
        with _registry_lock:
            self.users -= 1
            if self.users:
                return
            for key in [key for key, known in _registry.items() if known is self]:
                del _registry[key]
            connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def forget(self) -> None:
        """In a forked child: the connection is neither used nor closed."""
        if self._connection is not None:
            _abandoned.append(self._connection)
        self._connection = None


# A store that was forgotten lets go of its committer as it did of a connection.
_registry: Final[weakref.WeakValueDictionary[_Key, Committer]] = weakref.WeakValueDictionary()
_registry_lock = threading.Lock()
# A connection must be neither used nor closed in a forked child; the child keeps it to its end.
_abandoned: Final[list[sqlite3.Connection]] = []


def committer_of(path: Path) -> Committer:
    """The committer of this process for a file; the file is made when it is not there.

    Raises:
        sqlite3.Error: it cannot be opened, or is no database.
        OSError: it cannot be made.
    """
    with _registry_lock:
        found = _registry.get(_key(path)) if path.exists() else None
        if found is None:
            found = Committer(path)
            _registry[_key(path)] = found
        found.users += 1
        return found


def _key(path: Path) -> _Key:
    """The file itself: another one may have taken its name."""
    there = path.stat()
    return str(path.resolve()), there.st_dev, there.st_ino


def _in_child() -> None:
    global _registry_lock
    for committer in list(_registry.values()):
        committer.forget()
    _registry.clear()
    _registry_lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
