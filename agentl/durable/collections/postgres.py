"""All runs of one PostgreSQL database (`OPS-2`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from agentl.durable.address import hidden
from agentl.durable.collections.base import RunNote
from agentl.durable.requests import Filed, in_order
from agentl.durable.stores.base import json_object
from agentl.durable.stores.postgres import PostgresStore
from agentl.durable.stores.postgres_link import Reader, connect, failing, rows, settings
from agentl.durable.stores.postgres_marks import lease_row
from agentl.durable.stores.postgres_requests import open_requests
from agentl.durable.stores.rows import in_force

# One row per run: its notes, the number of its last entry (a look at the end of an index), its last lease.
_NOTES: Final = """
SELECT r.run_id, r.meta, r.refusal, r.mark,
       (SELECT max(e.seq) + 1 FROM agentl.entries e WHERE e.run_id = r.run_id),
       l.epoch, l.holder, l.since, l.expires IS NULL, coalesce(l.expires <= clock_timestamp(), false)
FROM agentl.runs r LEFT JOIN agentl.leases l ON l.run_id = r.run_id AND l.epoch = r.epoch
ORDER BY r.run_id
"""


class PostgresCollection:
    """All runs of the PostgreSQL database that ``dsn`` names (`OPS-2`).

    Args:
        dsn: an address, as libpq reads it.

    Raises:
        DurableError: psycopg is not installed, or the address is none.
    """

    def __init__(self, dsn: str) -> None:
        settings(dsn)
        self.dsn = dsn
        self._name = hidden(dsn)
        self._reader = Reader(dsn)

    @property
    def name(self) -> str:
        """The address of the database, without its password."""
        return self._name

    def exists(self) -> bool:
        """Whether somebody has kept runs in the database.

        Raises:
            StoreFailure: there is no such database, or it cannot be reached.
        """
        return self._ask("SELECT FROM agentl.schema_steps LIMIT 1") != []

    def ids(self) -> list[str]:
        """The ids of all runs, sorted."""
        return PostgresStore.runs(self.dsn)

    def store(self, run_id: str) -> PostgresStore:
        """The store of one run."""
        return PostgresStore(self.dsn, run_id)

    def address(self, run_id: str) -> str:
        """Database and run."""
        return f"{self.name}#{run_id}"

    def store_of(self, note: RunNote) -> PostgresStore:
        """The store of the run of a note; all of them look over one connection."""
        return PostgresStore(self.dsn, note.run_id, reader=self._reader)

    def reclaim(self) -> None:
        """The server gives the room of deleted rows to new ones by itself."""

    def marks(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Every mark with the address of its run, in the order of ids (`OPS-6`).

        Raises:
            StoreFailure: the database cannot be read.
        """
        for run_id, mark in self._ask(
            "SELECT run_id, mark FROM agentl.runs WHERE mark IS NOT NULL ORDER BY run_id"
        ):
            yield self.address(run_id), json_object(mark) or {"run_id": run_id}

    def notes(self) -> Iterator[RunNote]:
        """A note of every run, in the order of ids (`OPS-3`).

        Raises:
            StoreFailure: the database cannot be read.
        """
        with failing("read"), connect(self.dsn, driving=False) as link:
            found, waiting = rows(link, _NOTES), open_requests(link)
        for row in found:
            if row[1] is not None or row[4]:
                yield self._note(row, waiting.get(row[0], []))

    def _ask(self, statement: Any) -> list[tuple[Any, ...]]:
        with failing("read"), connect(self.dsn, driving=False) as link:
            return rows(link, statement)

    def _note(self, row: tuple[Any, ...], waiting: list[Filed]) -> RunNote:
        run_id, meta, refusal, mark, entries, *lease = row
        return RunNote(
            run_id=run_id,
            address=self.address(run_id),
            meta=json_object(meta),
            lease=in_force(lease_row(lease)) if lease[0] is not None else None,
            entries=entries or 0,
            refusal=json_object(refusal),
            waiting=tuple(in_order(waiting, open_only=True)),
            mark=None if mark is None else json_object(mark) or {"run_id": run_id},
        )
