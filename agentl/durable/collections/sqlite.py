"""All runs of one SQLite file (`OPS-2`)."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from agentl.durable.collections.base import RunNote
from agentl.durable.marks import Mark
from agentl.durable.requests import Filed, in_order
from agentl.durable.stores.base import failure, json_object
from agentl.durable.stores.rows import in_force
from agentl.durable.stores.sqlite import SQLiteStore
from agentl.durable.stores.sqlite_file import connected, has_tables, lease_row, reading
from agentl.durable.stores.sqlite_marks import all_marks
from agentl.durable.stores.sqlite_requests import open_requests
from agentl.errors import DurableError

# One row per run: its notes, the number of its last entry (a look at the end of an index), its last lease,
# its refusal. A run that died before its first notes is known by its lease.
_NOTES: Final = """
WITH names(run_id) AS (SELECT run_id FROM runs UNION SELECT run_id FROM leases)
SELECT n.run_id, r.meta,
       (SELECT MAX(seq) + 1 FROM entries e WHERE e.run_id = n.run_id),
       l.epoch, l.holder, l.since, l.expires, f.refusal
FROM names n
LEFT JOIN runs r ON r.run_id = n.run_id
LEFT JOIN leases l ON l.run_id = n.run_id
     AND l.epoch = (SELECT MAX(epoch) FROM leases m WHERE m.run_id = n.run_id)
LEFT JOIN refusals f ON f.run_id = n.run_id
ORDER BY n.run_id
"""


class SQLiteCollection:
    """All runs of the SQLite file ``path`` (`OPS-2`).

    Args:
        clock: seconds since the epoch; only the end of leases by time depends on it.
    """

    def __init__(self, path: str | os.PathLike[str], *, clock: Callable[[], float] = time.time) -> None:
        self.path = Path(path)
        self._clock = clock

    @property
    def name(self) -> str:
        """The address of the file."""
        return f"sqlite:{self.path}"

    def exists(self) -> bool:
        """Whether the file is there.

        Raises:
            DurableError: it is no database.
        """
        if not self.path.exists():
            return False
        self._look(has_tables)
        return True

    def _look(self, ask: Callable[[sqlite3.Connection], Any]) -> Any:
        if not self.path.is_file():
            if self.path.exists():
                raise DurableError(code="durable.no_database", path=str(self.path))
            return None
        try:
            with reading(self.path) as connection:
                return ask(connection) if has_tables(connection) else None
        except sqlite3.Error as error:
            if "not a database" in str(error):
                raise DurableError(code="durable.no_database", path=str(self.path)) from error
            raise failure("read", error) from error

    def ids(self) -> list[str]:
        """The ids of all runs, sorted."""
        return SQLiteStore.runs(self.path)

    def store(self, run_id: str) -> SQLiteStore:
        """The store of one run."""
        return SQLiteStore(self.path, run_id, clock=self._clock)

    def address(self, run_id: str) -> str:
        """File and run."""
        return f"{self.name}#{run_id}"

    def store_of(self, note: RunNote) -> SQLiteStore:
        """The store of the run of a note."""
        return self.store(note.run_id)

    def reclaim(self) -> None:
        """Write the file anew without its holes; left for another time while a run is driven (`OPS-7`).

        Raises:
            StoreFailure: it could not be written.
        """
        if any(note.lease is not None for note in self.notes()):
            return
        try:
            with connected(self.path) as connection:
                connection.execute("VACUUM")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.OperationalError:
            return  # somebody has begun to drive meanwhile: new runs use the room as well
        except sqlite3.Error as error:
            raise failure("write", error) from error

    def marks(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Every mark with the address of its run, in the order of ids (`OPS-6`)."""
        for run_id, mark in (self._look(all_marks) or {}).items():
            yield self.address(run_id), mark

    def notes(self) -> Iterator[RunNote]:
        """A note of every run, in the order of ids (`OPS-3`).

        Raises:
            DurableError: the file is no database.
            StoreFailure: it cannot be read.
        """
        rows, waiting, marks = self._look(_rows) or ((), {}, {})
        for row in rows:
            if row[1] is not None or row[2]:
                yield self._note(row, waiting.get(row[0], ()), marks.get(row[0]))

    def _note(self, row: tuple[Any, ...], waiting: Sequence[Filed], mark: Mark | None) -> RunNote:
        run_id, meta, entries, epoch, holder, since, expires, refusal = row
        row_of_lease = (
            lease_row((epoch, holder, since, expires), self._clock()) if epoch is not None else None
        )
        return RunNote(
            run_id=str(run_id),
            address=self.address(str(run_id)),
            meta=json_object(meta),
            lease=in_force(row_of_lease),
            entries=entries or 0,
            refusal=json_object(refusal),
            waiting=tuple(in_order(waiting, open_only=True)),
            mark=mark,
        )


def _rows(
    connection: sqlite3.Connection,
) -> tuple[list[Any], dict[str, list[Filed]], dict[str, dict[str, Any]]]:
    return connection.execute(_NOTES).fetchall(), open_requests(connection), all_marks(connection)
