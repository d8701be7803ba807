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
from agentl.durable.stores.committer import Committer, committer_of
from agentl.durable.stores.forks import watch
from agentl.durable.stores.renewal import Renewal
from agentl.durable.stores.rows import admit, succeed
from agentl.durable.stores.sqlite_file import (
    failing,
    has_tables,
    lease_row,
    reading,
)
from agentl.durable.stores.sqlite_requests import SQLiteBook
from agentl.durable.stores.sqlite_run import INSERT, LEASES, META, SQLiteRun
from agentl.errors import LeaseLost, StoreFailure

_RELEASE: Final = "UPDATE leases SET expires = NULL WHERE run_id = ? AND epoch = ?"
_REFUSE: Final = (
    "INSERT INTO refusals VALUES (?, ?) ON CONFLICT (run_id) DO UPDATE SET refusal = excluded.refusal"
)


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
        self._committer: Committer | None = None
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
        with failing("open"), failing_as("open"):
            committer = committer_of(self.path)
            try:
                lease: Lease = committer.commit(lambda connection: self._take(connection, holder))
            except BaseException:
                committer.leave()
                raise
        self._committer, self._epoch, self._broken = committer, lease.epoch, None
        watch(self)
        self._waiting = []
        self._renewal = Renewal(self.renew, self._lease_seconds / RENEWALS)
        return lease

    def _take(self, connection: sqlite3.Connection, holder: str) -> Lease:
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
        committer = self._check(epoch)
        self._waiting.append((self.run_id, self._seq, raw))
        self._seq += 1
        if not sync:
            return
        waiting, self._waiting = self._waiting, []

        def part(connection: sqlite3.Connection) -> None:
            self._fence(connection, epoch)
            if len(waiting) == 1:
                connection.execute(INSERT, waiting[0])
            else:
                connection.executemany(INSERT, waiting)
            now = self._clock()
            if now - self._renewed >= self._lease_seconds / RENEWALS:
                self._renew(connection, now)

        try:
            committer.commit(part)
        except sqlite3.Error as error:
            raise self._break("append", error) from error
        except LeaseLost as lost:
            self._broken = lost
            raise

    def _fence(self, connection: sqlite3.Connection, epoch: int) -> None:
        admit(epoch, self._latest(connection))

    def _check(self, epoch: int) -> Committer:
        if self._broken is not None:
            raise self._broken
        if self._committer is None or epoch != self._epoch:
            raise LeaseLost(code="durable.lease_lost", own=epoch, holder="?")
        return self._committer

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
        """Put the end of the lease off (`STO-6`); the watch calls it, also while a tool works."""
        committer = self._committer
        if committer is not None:
            with failing("renew"):
                committer.commit(lambda connection: self._renew(connection, self._clock()))

    # --- notes beside the journal ------------------------------------------------------

    def write_meta(self, meta: Meta, *, sync: bool = False) -> None:
        """Replace the meta; without ``sync`` the commit does not wait for the disk (`DUR-10`).

        Raises:
            StoreFailure: it could not be written.
        """
        text = json.dumps(meta)
        self._as_driver(lambda connection: connection.execute(META, (self.run_id, text)), durable=sync)

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
        text = None if refusal is None else json.dumps(refusal)

        def part(connection: sqlite3.Connection) -> None:
            if text is None:
                connection.execute("DELETE FROM refusals WHERE run_id = ?", (self.run_id,))
            else:
                connection.execute(_REFUSE, (self.run_id, text))

        self._as_driver(part)

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

    def _as_driver(self, part: Callable[[sqlite3.Connection], Any], *, durable: bool = True) -> None:
        """Write beside the journal, if the lease is still ours."""
        committer, epoch = self._check(self._epoch), self._epoch

        def fenced(connection: sqlite3.Connection) -> None:
            self._fence(connection, epoch)
            part(connection)

        try:
            committer.commit(fenced, durable=durable)
        except sqlite3.Error as error:
            raise self._break("write", error) from error

    # --- letting go --------------------------------------------------------------------

    def release(self, epoch: int) -> None:
        """Commit what waits and give the lease back.

        Raises:
            StoreFailure: that could not be written.
        """
        committer = self._committer
        if committer is None or epoch != self._epoch:
            return
        waiting = self._waiting

        def part(connection: sqlite3.Connection) -> None:
            if waiting:
                self._fence(connection, epoch)
                connection.executemany(INSERT, waiting)
            connection.execute(_RELEASE, (self.run_id, epoch))

        try:
            if self._broken is None:
                committer.commit(part)
            else:
                # The run has ended here, so this driver is no longer inside a call. A file that cannot be
                # written does not hear so; then the lease ends with the process, or by time.
                waiting = []
                with suppress(sqlite3.Error):
                    committer.commit(part)
        except sqlite3.Error as error:
            raise self._break("close", error) from error
        finally:
            self._let_go()

    def forked(self) -> None:
        """In a forked child: the lease stays with the parent, and its connection is not touched (`STO-6`)."""
        self._committer = None
        self._waiting = []

    def _let_go(self) -> None:
        committer, self._committer = self._committer, None
        self._waiting = []
        if self._renewal is not None:
            self._renewal.stop()
            self._renewal = None
        if committer is not None:
            committer.leave()

    def close(self) -> None:
        """Release the lease if it is still held."""
        if self._committer is not None:
            self.release(self._epoch)
