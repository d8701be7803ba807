"""Runs in one SQLite file: a transaction per durable entry, the epoch tested inside it (`STO-4`, `STO-6`)."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from agentl.durable.lease import LEASE_SECONDS, RENEWALS, Lease
from agentl.durable.marks import Mark, refuse_marked
from agentl.durable.stores import sqlite_marks as marks
from agentl.durable.stores.base import Meta, failing_as, failure, json_object, utc_now
from agentl.durable.stores.forks import watch
from agentl.durable.stores.renewal import Renewal
from agentl.durable.stores.rows import admit, succeed
from agentl.durable.stores.sqlite_file import (
    connected,
    failing,
    has_tables,
    lease_row,
    open_file,
    reading,
    transaction,
)
from agentl.durable.stores.sqlite_requests import SQLiteBook
from agentl.durable.stores.sqlite_run import INSERT, LEASES, META, SQLiteRun
from agentl.errors import LeaseLost, StoreFailure

_RELEASE: Final = "UPDATE leases SET expires = NULL WHERE run_id = ? AND epoch = ?"
# A connection must be neither used nor closed in a forked child; the child keeps it to its end.
_abandoned: Final[list[sqlite3.Connection]] = []


class SQLiteStore(SQLiteRun):
    """The run ``run_id`` in the SQLite file ``path`` (`STO-4`).

    A released lease has no ``expires``. Rows of older leases are kept: they tell whether an
    older driver may still be inside a call (`STO-6`).

    Args:
        lease_seconds: how long a lease lasts that is not renewed.
        clock: seconds since the epoch; only the end of leases by time depends on it.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        run_id: str,
        *,
        lease_seconds: float = LEASE_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(path, run_id, clock)
        self.requests = SQLiteBook(self.path, run_id)
        self._lease_seconds = lease_seconds
        self._epoch = 0
        self._seq = 0
        self._waiting: list[tuple[str, int, bytes]] = []
        self._renewed = 0.0
        self._broken: StoreFailure | None = None
        self._renewal: Renewal | None = None

    @staticmethod
    def runs(path: str | os.PathLike[str]) -> list[str]:
        """The run ids in a file, sorted; none for a file without tables, or no file (`STO-4`).

        Raises:
            StoreFailure: the file is no SQLite database.
        """
        if not Path(path).is_file():
            return []
        with failing("read"), reading(Path(path)) as connection:
            if not has_tables(connection):
                return []
            rows = connection.execute(
                "SELECT run_id FROM runs UNION SELECT DISTINCT run_id FROM entries ORDER BY run_id"
            )
            return [str(row[0]) for row in rows]

    # --- reading -----------------------------------------------------------------------

    def load(self) -> tuple[Meta | None, Sequence[bytes | str]]:
        """Meta and lines.

        Raises:
            StoreFailure: the file cannot be read.
        """
        with failing("read"), self._reader() as connection:
            if connection is None:
                return None, []
            row = connection.execute("SELECT meta FROM runs WHERE run_id = ?", (self.run_id,)).fetchone()
            lines = [
                bytes(body) if isinstance(body, bytes) else str(body).encode("utf-8")
                for (body,) in connection.execute(
                    "SELECT body FROM entries WHERE run_id = ? ORDER BY seq", (self.run_id,)
                )
            ]
        return json_object(row[0]) if row else None, lines

    # --- driving -----------------------------------------------------------------------

    def acquire(self, holder: str) -> Lease:
        """Take the lease row over, if the latest is over.

        Raises:
            LeaseHeld: it is not.
            StoreFailure: the file cannot be written.
        """
        with failing_as("open"):
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with failing("open"):
            connection = open_file(self.path)
            try:
                lease = self._take(connection, holder)
            except BaseException:
                connection.close()
                raise
        self._connection, self._epoch, self._broken = connection, lease.epoch, None
        watch(self)
        self._waiting = []
        self._renewal = Renewal(self.renew, self._lease_seconds / RENEWALS)
        return lease

    def _take(self, connection: sqlite3.Connection, holder: str) -> Lease:
        with transaction(connection):
            refuse_marked(marks.mark_of(connection, self.run_id), self.name)
            self._renewed = now = self._clock()
            rows = [lease_row(row, now) for row in connection.execute(LEASES, (self.run_id,)).fetchall()]
            lease = succeed(rows, holder, utc_now())
            connection.execute(
                "INSERT INTO leases VALUES (?, ?, ?, ?, ?)",
                (self.run_id, lease.epoch, holder, lease.since, now + self._lease_seconds),
            )
            (self._seq,) = connection.execute(
                "SELECT COALESCE(MAX(seq) + 1, 0) FROM entries WHERE run_id = ?", (self.run_id,)
            ).fetchone()
        return lease

    def repair(self) -> None:
        """A transaction leaves no torn tail."""

    def append(self, raw: bytes, epoch: int, *, sync: bool) -> None:
        """Add one line; with ``sync``, commit it and all that waited, if ``epoch`` is still the latest.

        Raises:
            LeaseLost: another driver has taken over; nothing was written.
            StoreFailure: the transaction failed; nothing is accepted any more.
        """
        connection = self._check(epoch)
        self._waiting.append((self.run_id, self._seq, raw))
        self._seq += 1
        if not sync:
            return
        waiting, self._waiting = self._waiting, []
        try:
            with transaction(connection):
                self._fence(connection, epoch)
                if len(waiting) == 1:
                    connection.execute(INSERT, waiting[0])
                else:
                    connection.executemany(INSERT, waiting)
                now = self._clock()
                if now - self._renewed >= self._lease_seconds / RENEWALS:
                    self._renew(connection, now)
        except sqlite3.Error as error:
            raise self._break("append", error) from error
        except LeaseLost as lost:
            self._broken = lost
            raise

    def _fence(self, connection: sqlite3.Connection, epoch: int) -> None:
        admit(epoch, self._latest(connection))

    def _check(self, epoch: int) -> sqlite3.Connection:
        if self._broken is not None:
            raise self._broken
        if self._connection is None or epoch != self._epoch:
            raise LeaseLost(code="durable.lease_lost", own=epoch, holder="?")
        return self._connection

    def _break(self, operation: str, error: Exception) -> StoreFailure:
        self._broken = failure(operation, error)
        return self._broken

    def _renew(self, connection: sqlite3.Connection, now: float) -> None:
        connection.execute(
            "UPDATE leases SET expires = ? WHERE run_id = ? AND epoch = ? AND expires IS NOT NULL",
            (now + self._lease_seconds, self.run_id, self._epoch),
        )
        self._renewed = now

    def renew(self) -> None:
        """Put the end of the lease off, from a connection of its own (`STO-6`); the watch calls it."""
        with failing("renew"), connected(self.path) as connection, transaction(connection):
            self._renew(connection, self._clock())

    # --- notes beside the journal ------------------------------------------------------

    def write_meta(self, meta: Meta, *, sync: bool = False) -> None:
        """Replace the meta; without ``sync`` the commit does not wait for the disk (`DUR-10`).

        Raises:
            StoreFailure: it could not be written.
        """
        connection = self._check(self._epoch)
        try:
            if not sync:
                connection.execute("PRAGMA synchronous=NORMAL")
            with transaction(connection):
                self._fence(connection, self._epoch)
                connection.execute(META, (self.run_id, json.dumps(meta)))
            if not sync:
                connection.execute("PRAGMA synchronous=FULL")
        except sqlite3.Error as error:
            raise self._break("write", error) from error

    def refusal(self) -> Mapping[str, Any] | None:
        """The row of ``refusals``."""
        with failing("read"), self._reader() as connection:
            if connection is None:
                return None
            row = connection.execute(
                "SELECT refusal FROM refusals WHERE run_id = ?", (self.run_id,)
            ).fetchone()
        return json_object(row[0]) if row else None

    def write_refusal(self, refusal: Mapping[str, Any] | None) -> None:
        """Replace or remove the row of ``refusals``.

        Raises:
            LeaseLost: another driver has taken over; nothing was written.
            StoreFailure: it could not be written.
        """
        connection = self._check(self._epoch)
        with failing("write"), transaction(connection):
            self._fence(connection, self._epoch)
            if refusal is None:
                connection.execute("DELETE FROM refusals WHERE run_id = ?", (self.run_id,))
            else:
                connection.execute(
                    "INSERT INTO refusals VALUES (?, ?) "
                    "ON CONFLICT (run_id) DO UPDATE SET refusal = excluded.refusal",
                    (self.run_id, json.dumps(refusal)),
                )

    # --- leaving -----------------------------------------------------------------------

    def write_mark(self, mark: Mark) -> None:
        """Put the mark down, durable; only the driver does, and nobody drives the run afterwards.

        Raises:
            StoreFailure: it could not be written, or the lease is lost.
        """
        self._as_driver(lambda connection: marks.write(connection, self.run_id, mark))

    def erase(self, mark: Mark) -> None:
        """Put the mark down and remove all that it stands for, in one step; only the driver does (`OPS-7`).

        Raises:
            StoreFailure: it could not be done, or the lease is lost.
        """

        def work(connection: sqlite3.Connection) -> None:
            marks.erase(connection, self.run_id)
            marks.write(connection, self.run_id, mark)

        self._as_driver(work)

    def _as_driver(self, work: Callable[[sqlite3.Connection], None]) -> None:
        connection = self._check(self._epoch)
        try:
            with transaction(connection):
                self._fence(connection, self._epoch)
                work(connection)
        except sqlite3.Error as error:
            raise self._break("write", error) from error

    # --- letting go --------------------------------------------------------------------

    def release(self, epoch: int) -> None:
        """Commit what waits and give the lease back.

        Raises:
            StoreFailure: that could not be written.
        """
        connection = self._connection
        if connection is None or epoch != self._epoch:
            return
        try:
            if self._broken is None:
                with transaction(connection):
                    if self._waiting:
                        self._fence(connection, epoch)
                        connection.executemany(INSERT, self._waiting)
                    connection.execute(_RELEASE, (self.run_id, epoch))
            else:
                # The run has ended here, so this driver is no longer inside a call. A file that cannot be
                # written does not hear so; then the lease ends with the process, or by time.
                with suppress(sqlite3.Error):
                    connection.execute(_RELEASE, (self.run_id, epoch))
        except sqlite3.Error as error:
            raise self._break("close", error) from error
        finally:
            self._let_go()

    def forked(self) -> None:
        """In a forked child: the lease stays with the parent, and its connection is not touched (`STO-6`)."""
        if self._connection is not None:
            _abandoned.append(self._connection)
        self._connection = None
        self._waiting = []

    def _let_go(self) -> None:
        connection, self._connection = self._connection, None
        self._waiting = []
        if self._renewal is not None:
            self._renewal.stop()
            self._renewal = None
        if connection is not None:
            connection.close()

    def close(self) -> None:
        """Release the lease if it is still held."""
        if self._connection is not None:
            self.release(self._epoch)
