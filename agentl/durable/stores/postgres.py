"""Runs in PostgreSQL: a durable entry is one statement, its epoch compared inside it (`STO-7`).

A connection may be lost while a tool works, or in the middle of an append. It is made anew only if the
database proves that nothing has happened meanwhile: the epoch is still the last, and behind the last entry
that was acknowledged stands exactly what this driver had sent, or nothing (`STO-9`).
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from agentl.durable.lease import LEASE_SECONDS, RENEWALS, Lease
from agentl.durable.marks import Mark, refuse_marked
from agentl.durable.run_ids import check_run_id
from agentl.durable.stores.base import Meta, failure, json_object
from agentl.durable.stores.forks import watch
from agentl.durable.stores.postgres_append import Appender
from agentl.durable.stores.postgres_link import (
    RECONNECT_SECONDS,
    STATEMENT_SECONDS,
    Reader,
    connect,
    failed,
    failing,
    psycopg,
    reconnect,
    rows,
    shown,
)
from agentl.durable.stores.postgres_marks import ERASE, FENCE, LATEST, WRITE_MARK, PostgresRun, iso, lease_row
from agentl.durable.stores.postgres_requests import PostgresBook
from agentl.durable.stores.postgres_schema import prepare
from agentl.durable.stores.postgres_statements import (
    ENTRIES,
    GRANT,
    LEASES,
    META,
    META_SOON,
    REFUSAL,
    RELEASE,
    RENEW,
)
from agentl.durable.stores.renewal import Renewal
from agentl.durable.stores.rows import admit, in_force, succeed
from agentl.errors import DurableError, LeaseLost, StoreFailure

if TYPE_CHECKING:
    from typing import LiteralString

    from agentl.durable.stores.postgres_link import Link

# A connection must be neither used nor closed in a forked child; the child keeps it to its end.
_abandoned: Final[list[Any]] = []


class PostgresStore(PostgresRun):
    """The run ``run_id`` in the PostgreSQL database that ``dsn`` names (`STO-7`).

    The time of leases is that of the server, so the clocks of the drivers do not matter. The rows of older
    leases are kept: they tell whether an older driver may still be inside a call (`STO-6`).

    Args:
        dsn: an address or connection string, as libpq reads it.
        lease_seconds: how long a lease lasts that is not renewed.
        statement_seconds: how long the server works on one statement.
        reconnect_seconds: how long a lost connection is tried again.
        reader: what to look with, while the store does not drive; a connection for each look without one.

    Raises:
        DurableError: no run can have that id, or psycopg is not installed, or the address is none.
    """

    def __init__(
        self,
        dsn: str,
        run_id: str,
        *,
        lease_seconds: float = LEASE_SECONDS,
        statement_seconds: float = STATEMENT_SECONDS,
        reconnect_seconds: float = RECONNECT_SECONDS,
        reader: Reader | None = None,
    ) -> None:
        super().__init__(dsn, check_run_id(run_id))
        self.requests = PostgresBook(dsn, run_id)
        self._shown = shown(dsn)
        self._lease_seconds = lease_seconds
        self._statement_seconds = statement_seconds
        self._reconnect_seconds = reconnect_seconds
        self._reader = reader
        self._link: Link | None = None
        self._appender: Appender | None = None
        self._epoch = 0
        self._claim = ""
        self._seq = 0
        self._last: list[bytes] = []
        self._waiting: list[bytes] = []
        self._renewed = 0.0
        self._broken: StoreFailure | None = None
        self._renewal: Renewal | None = None

    @property
    def name(self) -> str:
        """Server, database and run, without a password."""
        return f"{self._shown}#{self.run_id}"

    @staticmethod
    def runs(dsn: str) -> list[str]:
        """The run ids in a database, sorted by their bytes; none for one without tables (`STO-7`).

        Raises:
            StoreFailure: it cannot be read.
            DurableError: psycopg is not installed, or the address is none.
        """
        with failing("read"), connect(dsn, driving=False) as link:
            found = rows(
                link,
                "SELECT run_id FROM agentl.runs WHERE meta IS NOT NULL OR EXISTS "
                "(SELECT FROM agentl.entries WHERE entries.run_id = runs.run_id) ORDER BY run_id",
                {},
            )
        return [str(row[0]) for row in found]

    # --- reading -----------------------------------------------------------------------

    def load(self) -> tuple[Meta | None, Sequence[bytes | str]]:
        """Meta and lines.

        Raises:
            StoreFailure: the database cannot be read.
        """
        # Meta first: an entry that is written meanwhile must not be missing beside a meta that counts it.
        meta, entries = self._rows(
            ("SELECT meta FROM agentl.runs WHERE run_id = %(run)s", {}), (ENTRIES, {"seq": 0})
        )
        return json_object(meta[0][0]) if meta else None, [bytes(body) for (body,) in entries]

    def exists(self) -> bool:
        """Whether the database holds entries of this run."""
        return bool(self._rows(("SELECT FROM agentl.entries WHERE run_id = %(run)s LIMIT 1", {}))[0])

    def held(self) -> Lease | None:
        """The lease that is in force now, or ``None``."""
        (rows,) = self._rows((LATEST, {}))
        return in_force(lease_row(rows[0]) if rows else None)

    def refusal(self) -> Mapping[str, Any] | None:
        """The refusal in the row of the run."""
        (rows,) = self._rows(("SELECT refusal FROM agentl.runs WHERE run_id = %(run)s", {}))
        return json_object(rows[0][0]) if rows else None

    def _rows(self, *statements: tuple[LiteralString, Mapping[str, Any]]) -> list[list[tuple[Any, ...]]]:
        with failing("read"):
            if self._link is not None:
                with suppress(psycopg().OperationalError):
                    return [self._ask(self._link, *statement) for statement in statements]
            if self._reader is not None:
                with suppress(psycopg().OperationalError), self._reader.link() as link:
                    return [self._ask(link, *statement) for statement in statements]
            with connect(self.dsn, driving=False, statement_seconds=self._statement_seconds) as link:
                return [self._ask(link, *statement) for statement in statements]

    def _ask(self, link: Link, statement: LiteralString, more: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        return rows(link, statement, {"run": self.run_id, **more})

    # --- driving -----------------------------------------------------------------------

    def acquire(self, holder: str) -> Lease:
        """Take the run over, if its latest lease is over; the tables are made when there are none (`STO-8`).

        Raises:
            LeaseHeld: it is not.
            StoreFailure: the database cannot be reached or written.
            DurableError: its tables belong to a later version.
        """
        self._claim = uuid4().hex
        with failing("open"):
            link = self._connect()
            try:
                prepare(link)
                lease = self._take(link, holder)
                appender = Appender(link, self.run_id, lease.epoch, self._statement_seconds)
            except BaseException as error:
                link.close()
                if isinstance(error, psycopg().Error):
                    self._withdraw()
                raise
        self._link, self._appender = link, appender
        self._epoch, self._broken, self._waiting = lease.epoch, None, []
        self._renewed = time.monotonic()
        watch(self)
        self._renewal = Renewal(self.renew, self._lease_seconds / RENEWALS)
        return lease

    def _connect(self, **more: Any) -> Link:
        return connect(self.dsn, driving=True, statement_seconds=self._statement_seconds, **more)

    def _named(self, **more: Any) -> dict[str, Any]:
        return {
            "run": self.run_id,
            "epoch": self._epoch,
            "claim": self._claim,
            "seconds": self._lease_seconds,
            **more,
        }

    def _take(self, link: Link, holder: str) -> Lease:
        with link.transaction():
            link.execute(
                "INSERT INTO agentl.runs (run_id) VALUES (%(run)s) ON CONFLICT DO NOTHING", self._named()
            )
            # From here on no append and no other driver gets through.
            link.execute(FENCE, self._named())
            refuse_marked(self._mark(link), self.name)
            rows = [lease_row(row) for row in link.execute(LEASES, self._named())]
            (now,) = _only(link.execute("SELECT clock_timestamp()").fetchone())
            lease = succeed(rows, holder, iso(now))
            epoch = self._named(epoch=lease.epoch)
            link.execute(GRANT, {**epoch, "holder": holder, "since": now})
            link.execute(
                "UPDATE agentl.runs SET epoch = %(epoch)s, driven = true WHERE run_id = %(run)s", epoch
            )
            last = link.execute(
                "SELECT seq, body FROM agentl.entries WHERE run_id = %(run)s ORDER BY seq DESC LIMIT 1", epoch
            ).fetchone()
        self._seq, self._last = (last[0] + 1, [bytes(last[1])]) if last is not None else (0, [])
        return lease

    def repair(self) -> None:
        """A transaction leaves no torn tail."""

    def append(self, raw: bytes, epoch: int, *, sync: bool) -> None:
        """Add one line; with ``sync``, commit it and all that waited, if ``epoch`` is still the latest.

        Raises:
            LeaseLost: another driver has taken over; nothing was written.
            StoreFailure: the entry could not be written; nothing is accepted any more.
        """
        self._check(epoch)
        self._waiting.append(raw)
        if sync:
            self._commit("append")

    def _commit(self, operation: str) -> None:
        lines, self._waiting = self._waiting, []
        assert self._appender is not None
        try:
            try:
                written = self._appender.append(self._seq, lines)
            except psycopg().Error as error:
                written = self._regain(operation, error, lines)
            if written != len(lines):
                self._lost()
        except BaseException as error:
            # An interruption too: what became of the entry is not known here any more.
            if self._broken is None:
                self._broken = error if isinstance(error, StoreFailure) else failed(operation, error)
            raise
        self._seq += len(lines)
        self._last = lines[-1:]
        if time.monotonic() - self._renewed >= self._lease_seconds / RENEWALS:
            self._write(operation, RENEW)
            self._renewed = time.monotonic()

    def _lost(self) -> None:
        rows = self._rows((LATEST, {}))[0]
        latest = lease_row(rows[0]) if rows else None
        admit(self._epoch, latest)
        raise failure("append", f"epoch {self._epoch}")

    def _regain(self, operation: str, error: Exception, lines: Sequence[bytes]) -> int:
        """After ``error``: a new connection, and ``lines`` committed once, if all is proved (`STO-9`).

        Gives the number of lines: all of them.
        """
        library = psycopg()
        ends = time.monotonic() + self._reconnect_seconds
        while self._link is not None and self._link.closed:
            try:
                link = reconnect(self.dsn, ends=ends, statement_seconds=self._statement_seconds)
                try:
                    self._prove(link, lines)
                    self._appender = Appender(link, self.run_id, self._epoch, self._statement_seconds)
                except BaseException:
                    link.close()
                    raise
            except library.OperationalError as again:
                if time.monotonic() >= ends:
                    raise failed(operation, again) from again
                continue
            except library.Error as again:
                raise failed(operation, again) from again
            self._link = link
            return len(lines)
        raise failed(operation, error) from error

    def _prove(self, link: Link, lines: Sequence[bytes]) -> None:
        with link.transaction():
            # Waits for what the server may still be doing for the connection that was lost; what it has not
            # begun yet comes too late, because the entries are there.
            fence = link.execute(FENCE, self._named()).fetchone()
            if fence is None or fence != (self._epoch, True):
                rows = self._ask(link, LATEST, {})
                admit(self._epoch, lease_row(rows[0]) if rows else None)
                raise failure("reconnect", f"epoch {self._epoch}")
            begins = self._seq - len(self._last)
            found = [bytes(body) for (body,) in link.execute(ENTRIES, self._named(seq=begins))]
            wanted = [*self._last, *lines]
            if found == self._last and lines:
                link.cursor().executemany(
                    "INSERT INTO agentl.entries (run_id, seq, body) VALUES (%(run)s, %(seq)s, %(body)b)",
                    [
                        {"run": self.run_id, "seq": seq, "body": body}
                        for seq, body in enumerate(lines, self._seq)
                    ],
                )
            elif found != wanted:
                raise failure("reconnect", "the last entries are not those of this driver")
            link.execute(RENEW, self._named())
        self._renewed = time.monotonic()

    def _check(self, epoch: int) -> Link:
        if self._broken is not None:
            raise self._broken
        if self._link is None or epoch != self._epoch:
            raise LeaseLost(code="durable.lease_lost", own=epoch, holder="?")
        return self._link

    def renew(self) -> None:
        """Put the end of the lease off, on a connection of its own (`STO-6`)."""
        with failing("renew"), self._connect() as link:
            link.execute(RENEW, self._named())
        self._renewed = time.monotonic()

    # --- notes beside the journal ------------------------------------------------------

    def _write(self, operation: str, statement: LiteralString, **values: Any) -> int:
        """One statement that may be repeated; a lost connection is made anew once."""
        link = self._check(self._epoch)
        try:
            try:
                return link.execute(statement, self._named(**values)).rowcount
            except psycopg().Error as error:
                self._regain(operation, error, [])
            return self._check(self._epoch).execute(statement, self._named(**values)).rowcount
        except psycopg().Error as error:
            self._broken = failed(operation, error)
            raise self._broken from error
        except StoreFailure as error:
            self._broken = error
            raise

    def write_meta(self, meta: Meta, *, sync: bool = False) -> None:
        """Replace the meta; without ``sync`` the commit does not wait for the disk (`DUR-10`).

        Raises:
            LeaseLost: another driver has taken over; nothing was written.
            StoreFailure: it could not be written.
        """
        if not self._write("write", META if sync else META_SOON, text=json.dumps(meta)):
            self._refuse()

    def write_refusal(self, refusal: Mapping[str, Any] | None) -> None:
        """Replace or remove the refusal in the row of the run.

        Raises:
            LeaseLost: another driver has taken over; nothing was written.
            StoreFailure: it could not be written.
        """
        text = None if refusal is None else json.dumps(refusal)
        if not self._write("write", REFUSAL, text=text):
            self._refuse()

    # --- leaving -----------------------------------------------------------------------

    def write_mark(self, mark: Mark) -> None:
        """Put the mark down, durable; only the driver does, and nobody drives the run afterwards (`OPS-6`).

        Raises:
            StoreFailure: it could not be written, or the lease is lost.
        """
        if not self._write("write", WRITE_MARK, text=json.dumps(dict(mark))):
            self._refuse()

    def erase(self, mark: Mark) -> None:
        """Put the mark down and remove all that it stands for, in one step; only the driver does (`OPS-7`).

        Raises:
            StoreFailure: it could not be done, or the lease is lost.
        """
        if not self._write("write", ERASE, text=json.dumps(dict(mark))):
            self._refuse()

    def _refuse(self) -> None:
        try:
            self._lost()
        except StoreFailure as lost:
            self._broken = lost
            raise

    # --- letting go --------------------------------------------------------------------

    def release(self, epoch: int) -> None:
        """Commit what waits and give the lease back.

        After a failure that is tried on a new connection, and not insisted upon: the run has ended here, so
        this driver is no longer inside a call.

        Raises:
            StoreFailure: what waited could not be written.
        """
        if self._link is None or epoch != self._epoch:
            return
        try:
            if self._broken is None and self._waiting:
                self._commit("close")
            if self._broken is None:
                self._write("close", RELEASE)
        finally:
            if self._broken is not None:
                self._withdraw()
            self._let_go()

    def _withdraw(self) -> None:
        """Give back whatever lease this store may have got, if the server is there at once."""
        with suppress(psycopg().Error, StoreFailure, DurableError):
            if self._link is not None:
                self._link.close()
            with self._connect(connect_seconds=2) as link:
                link.execute(
                    "WITH lease AS (UPDATE agentl.leases SET expires = NULL "
                    "WHERE run_id = %(run)s AND claim = %(claim)s RETURNING epoch) "
                    "UPDATE agentl.runs SET driven = false FROM lease "
                    "WHERE runs.run_id = %(run)s AND runs.epoch = lease.epoch",
                    self._named(),
                )

    def forked(self) -> None:
        """In a forked child: the lease stays with the parent, and its connection is not touched (`STO-6`)."""
        if self._link is not None:
            _abandoned.append((self._link, self._appender))
        self._link = self._appender = None
        self._waiting = []

    def _let_go(self) -> None:
        link, self._link = self._link, None
        self._appender = None
        self._waiting = []
        if self._renewal is not None:
            self._renewal.stop()
            self._renewal = None
        if link is not None:
            link.close()

    def close(self) -> None:
        """Release the lease if it is still held."""
        if self._link is not None:
            self.release(self._epoch)

    def __del__(self) -> None:
        """A store that was forgotten gives nothing back: its lease runs out as that of a silent driver."""
        link = getattr(self, "_link", None)
        if link is not None:
            link.close()


def _only(row: tuple[Any, ...] | None) -> tuple[Any, ...]:
    return row if row is not None else (None,)
