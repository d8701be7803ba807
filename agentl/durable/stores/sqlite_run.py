"""One run in a SQLite file, apart from the driving: its mark, and how it arrives and goes (`OPS-6`)."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from agentl.durable.lease import Lease, shown
from agentl.durable.marks import Mark, refuse_not_arriving, refuse_occupied, refuse_unmarked
from agentl.durable.stores import sqlite_marks as marks
from agentl.durable.stores.base import Meta, failing_as
from agentl.durable.stores.rows import LeaseRow, in_force
from agentl.durable.stores.sqlite_file import failing, has_tables, lease_row, open_file, reading, transaction
from agentl.errors import LeaseHeld

LEASES: Final = "SELECT epoch, holder, since, expires FROM leases WHERE run_id = ? ORDER BY epoch"
_LATEST: Final = f"{LEASES} DESC LIMIT 1"
INSERT: Final = "INSERT INTO entries VALUES (?, ?, ?)"
META: Final = "INSERT INTO runs VALUES (?, ?) ON CONFLICT (run_id) DO UPDATE SET meta = excluded.meta"
_ANY: Final = "SELECT 1 FROM entries WHERE run_id = ? LIMIT 1"


class SQLiteRun:
    """The rows of one run."""

    def __init__(self, path: str | os.PathLike[str], run_id: str, clock: Callable[[], float]) -> None:
        self.path = Path(path)
        self.run_id = run_id
        self._clock = clock

    @property
    def name(self) -> str:
        """File and run."""
        return f"{self.path}#{self.run_id}"

    def exists(self) -> bool:
        """Whether the file holds entries of this run."""
        with failing("read"), self._reader() as connection:
            if connection is None:
                return False
            found = connection.execute(_ANY, (self.run_id,))
            return found.fetchone() is not None

    def held(self) -> Lease | None:
        """The lease that is in force now, or ``None``."""
        with failing("read"), self._reader() as connection:
            return in_force(self._latest(connection)) if connection is not None else None

    @contextmanager
    def _reader(self) -> Iterator[sqlite3.Connection | None]:
        if not self.path.is_file():
            yield None
            return
        with reading(self.path) as connection:
            yield connection if has_tables(connection) else None

    def _latest(self, connection: sqlite3.Connection) -> LeaseRow | None:
        row = connection.execute(_LATEST, (self.run_id,)).fetchone()
        return lease_row(row, self._clock()) if row is not None else None

    # --- marks and arrivals ------------------------------------------------------------

    def mark(self) -> Mark | None:
        """The row of ``marks``: why nobody may drive the run here (`OPS-6`)."""
        with failing("read"), self._reader() as connection:
            return None if connection is None else marks.mark_of(connection, self.run_id)

    def receive(self, lines: Sequence[bytes], meta: Meta, mark: Mark, epoch: int) -> None:
        """Take a run in, under a mark; one that was arriving before is replaced (`OPS-8`).

        Args:
            epoch: the greatest that the run has had; its next driver here gets a greater one.

        Raises:
            LeaseHeld: somebody drives a run of this id here.
            DurableError: a run of this id is here, or was.
            StoreFailure: it could not be written.
        """
        with failing_as("open"):
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with failing("write"), closing(open_file(self.path)) as connection, transaction(connection):
            held = in_force(self._latest(connection))
            if held is not None:
                raise LeaseHeld(
                    code="durable.lease_held", holder=shown(held.holder), since=held.since, epoch=held.epoch
                )
            entries = connection.execute(_ANY, (self.run_id,)).fetchone()
            refuse_occupied(marks.mark_of(connection, self.run_id), entries is not None, self.name)
            marks.erase(connection, self.run_id)
            connection.executemany(INSERT, ((self.run_id, seq, line) for seq, line in enumerate(lines)))
            connection.execute(META, (self.run_id, json.dumps(meta)))
            if epoch:
                row = (self.run_id, epoch, str(mark.get("other", "?")), str(mark.get("at", "?")), None)
                connection.execute("INSERT INTO leases VALUES (?, ?, ?, ?, ?)", row)
            marks.write(connection, self.run_id, mark)

    def settle_in(self) -> None:
        """Take the mark of a run that was arriving away: from here on it is driven here (`OPS-8`).

        Raises:
            DurableError: it was not arriving.
            StoreFailure: it could not be written.
        """
        with failing("write"), closing(open_file(self.path)) as connection, transaction(connection):
            refuse_not_arriving(marks.mark_of(connection, self.run_id), self.name)
            marks.clear(connection, self.run_id)

    def remove_marked(self, mark: Mark | None) -> None:
        """Remove a run that is marked already, and leave ``mark``, or nothing at all (`OPS-7`).

        Raises:
            DurableError: it is not marked.
            StoreFailure: it could not be done.
        """
        with failing("write"), closing(open_file(self.path)) as connection, transaction(connection):
            refuse_unmarked(marks.mark_of(connection, self.run_id), self.name)
            marks.erase(connection, self.run_id)
            if mark is not None:
                marks.write(connection, self.run_id, mark)
