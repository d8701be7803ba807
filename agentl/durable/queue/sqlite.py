"""A queue in a SQLite file of runs (`WRK-6`)."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from agentl.durable.queue.base import Queue, in_order
from agentl.durable.queue.jobs import Job, job_of
from agentl.durable.stores.base import failing_as, json_object
from agentl.durable.stores.sqlite_file import failing, open_file, reading, transaction
from agentl.durable.stores.sqlite_requests import open_requests

_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS jobs "
    "(run_id TEXT PRIMARY KEY, state TEXT NOT NULL, job TEXT NOT NULL) WITHOUT ROWID"
)
_THERE: Final = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'jobs'"
_LIVE: Final = "SELECT run_id, job FROM jobs WHERE state IN ('ready', 'claimed', 'waiting')"
_PUT: Final = (
    "INSERT INTO jobs VALUES (?, ?, ?) "
    "ON CONFLICT (run_id) DO UPDATE SET state = excluded.state, job = excluded.job"
)


class SQLiteQueue(Queue):
    """The jobs in the table ``jobs`` of the file ``path``."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._connection: sqlite3.Connection | None = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            with failing_as("open"), failing("open"):
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._connection = open_file(self.path)
                self._connection.execute(_TABLE)
        return self._connection

    @contextmanager
    def rows(self) -> Iterator[SQLiteQueue]:
        """A transaction that excludes every other writer of the file."""
        connection = self._open()
        with failing("write"), transaction(connection):
            yield self

    def now(self) -> float:
        """The clock of this machine."""
        return time.time()

    def get(self, run_id: str) -> Job | None:
        """One job."""
        row = self._open().execute("SELECT job FROM jobs WHERE run_id = ?", (run_id,)).fetchone()
        return None if row is None else job_of(json_object(row[0]), run_id)

    def jobs(self) -> list[Job]:
        """Every job; none in a file that nobody has put one into."""
        if not self.path.is_file():
            return []
        with failing("read"), reading(self.path) as connection:
            if not connection.execute(_THERE).fetchone():
                return []
            found = connection.execute("SELECT run_id, job FROM jobs ORDER BY run_id").fetchall()
        return [job_of(json_object(job), str(run_id)) for run_id, job in found]

    def candidates(self, now: float, limit: int) -> Iterable[Job]:  # noqa: ARG002 - all are looked at
        """Every job that is not over."""
        found = self._open().execute(_LIVE).fetchall()
        return in_order(job_of(json_object(job), str(run_id)) for run_id, job in found)

    def open_requests(self, run_id: str) -> bool:
        """Whether the run has a request that nobody has answered."""
        return bool(open_requests(self._open()).get(run_id))

    def put(self, job: Job) -> None:
        """Write the row of a job."""
        self._open().execute(_PUT, (job.run_id, job.state, json.dumps(job.data())))

    def remove(self, run_id: str) -> None:
        """Remove the row of a job."""
        self._open().execute("DELETE FROM jobs WHERE run_id = ?", (run_id,))

    def changed(self) -> object:
        """Another number after a change by somebody else."""
        with failing("read"):
            return self._open().execute("PRAGMA data_version").fetchone()[0]

    def close(self) -> None:
        """Close the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
