"""One run in PostgreSQL, apart from the driving: its mark, and how it arrives and goes (`OPS-6`)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from agentl.durable.lease import shown
from agentl.durable.marks import Mark, refuse_not_arriving, refuse_occupied, refuse_unmarked
from agentl.durable.stores.base import Meta, json_object
from agentl.durable.stores.postgres_link import connect, failing, rows
from agentl.durable.stores.postgres_schema import prepare
from agentl.durable.stores.rows import LeaseRow, in_force
from agentl.errors import LeaseHeld

if TYPE_CHECKING:
    from agentl.durable.stores.postgres_link import Link

FENCE: Final = "SELECT epoch, driven FROM agentl.runs WHERE run_id = %(run)s FOR NO KEY UPDATE"
LATEST: Final = (
    "SELECT epoch, holder, since, expires IS NULL, coalesce(expires <= clock_timestamp(), false) "
    "FROM agentl.leases WHERE run_id = %(run)s ORDER BY epoch DESC LIMIT 1"
)
MARK: Final = "SELECT mark FROM agentl.runs WHERE run_id = %(run)s"
WRITE_MARK: Final = (
    "UPDATE agentl.runs SET mark = %(text)s WHERE run_id = %(run)s AND epoch = %(epoch)s AND driven"
)
ERASE: Final = (
    "WITH fence AS (UPDATE agentl.runs SET mark = %(text)s, meta = NULL, refusal = NULL "
    "WHERE run_id = %(run)s AND epoch = %(epoch)s AND driven RETURNING run_id), "
    "gone AS (DELETE FROM agentl.entries USING fence WHERE entries.run_id = fence.run_id), "
    "asked AS (DELETE FROM agentl.requests USING fence WHERE requests.run_id = fence.run_id) "
    "SELECT run_id FROM fence"
)


class PostgresRun:
    """The rows of one run; the rows of its leases are never deleted (`STO-6`)."""

    def __init__(self, dsn: str, run_id: str) -> None:
        self.dsn = dsn
        self.run_id = run_id

    @property
    def name(self) -> str:
        """Server, database and run, without a password."""
        raise NotImplementedError

    def mark(self) -> Mark | None:
        """The mark in the row of the run: why nobody may drive it here (`OPS-6`)."""
        with failing("read"), connect(self.dsn, driving=False) as link:
            return self._mark(link)

    def _mark(self, link: Link) -> Mark | None:
        found = rows(link, MARK, {"run": self.run_id})
        text = found[0][0] if found else None
        return None if text is None else json_object(text) or {"run_id": self.run_id}

    @contextmanager
    def _alone(self) -> Iterator[Link]:
        """A transaction beside which nobody takes the run over or adds to it."""
        with failing("write"), connect(self.dsn, driving=True) as link:
            prepare(link)
            with link.transaction():
                link.execute(
                    "INSERT INTO agentl.runs (run_id) VALUES (%(run)s) ON CONFLICT DO NOTHING",
                    {"run": self.run_id},
                )
                link.execute(FENCE, {"run": self.run_id})
                yield link

    def receive(self, lines: Sequence[bytes], meta: Meta, mark: Mark, epoch: int) -> None:
        """Take a run in, under a mark; one that was arriving before is replaced (`OPS-8`).

        Args:
            epoch: the greatest that the run has had; its next driver here gets a greater one.

        Raises:
            LeaseHeld: somebody drives a run of this id here.
            DurableError: a run of this id is here, or was.
            StoreFailure: it could not be written.
        """
        with self._alone() as link:
            named: dict[str, Any] = {"run": self.run_id}
            row = link.execute(LATEST, named).fetchone()
            held = in_force(lease_row(row)) if row is not None else None
            if held is not None:
                raise LeaseHeld(
                    code="durable.lease_held", holder=shown(held.holder), since=held.since, epoch=held.epoch
                )
            entries = link.execute("SELECT FROM agentl.entries WHERE run_id = %(run)s LIMIT 1", named)
            refuse_occupied(self._mark(link), entries.fetchone() is not None, self.name)
            latest = max(epoch, row[0] if row is not None else 0)
            self._empty(link)
            with link.cursor().copy(
                "COPY agentl.entries (run_id, seq, body) FROM STDIN (FORMAT binary)"
            ) as copy:
                copy.set_types(["text", "int8", "bytea"])
                for seq, line in enumerate(lines):
                    copy.write_row((self.run_id, seq, line))
            if latest:
                link.execute(
                    "INSERT INTO agentl.leases (run_id, epoch, holder, since, expires, claim) VALUES "
                    "(%(run)s, %(epoch)s, %(holder)s, clock_timestamp(), NULL, '') ON CONFLICT DO NOTHING",
                    {**named, "epoch": latest, "holder": str(mark.get("other", "?"))},
                )
            link.execute(
                "UPDATE agentl.runs SET meta = %(meta)s, mark = %(mark)s, epoch = %(epoch)s, driven = false "
                "WHERE run_id = %(run)s",
                {**named, "epoch": latest, "meta": json.dumps(meta), "mark": json.dumps(dict(mark))},
            )

    def _empty(self, link: Link) -> None:
        named = {"run": self.run_id}
        link.execute("DELETE FROM agentl.entries WHERE run_id = %(run)s", named)
        link.execute("DELETE FROM agentl.requests WHERE run_id = %(run)s", named)
        link.execute("UPDATE agentl.runs SET meta = NULL, refusal = NULL WHERE run_id = %(run)s", named)

    def settle_in(self) -> None:
        """Take the mark of a run that was arriving away: from here on it is driven here (`OPS-8`).

        Raises:
            DurableError: it was not arriving.
            StoreFailure: it could not be written.
        """
        with self._alone() as link:
            refuse_not_arriving(self._mark(link), self.name)
            link.execute("UPDATE agentl.runs SET mark = NULL WHERE run_id = %(run)s", {"run": self.run_id})

    def remove_marked(self, mark: Mark | None) -> None:
        """Remove a run that is marked already, and leave ``mark``, or nothing at all (`OPS-7`).

        Raises:
            DurableError: it is not marked.
            StoreFailure: it could not be done.
        """
        with self._alone() as link:
            refuse_unmarked(self._mark(link), self.name)
            self._empty(link)
            text = None if mark is None else json.dumps(dict(mark))
            link.execute(
                "UPDATE agentl.runs SET mark = %(mark)s WHERE run_id = %(run)s",
                {"run": self.run_id, "mark": text},
            )


def lease_row(row: Sequence[Any]) -> LeaseRow:
    """A lease from its epoch, holder, since, whether it was released and whether it is late (`STO-6`)."""
    epoch, holder, since, released, late = row
    return LeaseRow(epoch, holder, iso(since), released, late)


def iso(moment: datetime) -> str:
    """A time of the server, in UTC and ISO form."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")
