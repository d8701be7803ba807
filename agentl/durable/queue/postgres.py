"""A queue in PostgreSQL: workers are told at once, and pass over what another takes (`WRK-2`, `WRK-5`)."""

from __future__ import annotations

import json
import select
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from agentl.durable.queue.base import Queue
from agentl.durable.queue.jobs import Job, job_of
from agentl.durable.stores.base import json_object
from agentl.durable.stores.postgres_link import connect, failing, psycopg, rows
from agentl.durable.stores.postgres_requests import CHANNEL as ANSWERED
from agentl.durable.stores.postgres_schema import prepare

if TYPE_CHECKING:
    from agentl.durable.stores.postgres_link import Link

CHANNEL: Final = "agentl_jobs"
# What may be due: ready or claimed for long enough, or waiting for nobody any more. What another worker is
# looking at in this moment is passed over. The holder of a claim may be dead: who can know it judges that.
_CANDIDATES: Final = """
SELECT j.run_id, j.job FROM agentl.jobs j
WHERE (j.state IN ('ready', 'claimed') AND j.due <= %(now)s)
   OR (j.state = 'claimed' AND j.space = %(space)s)
   OR (j.state = 'waiting' AND (j.due <= %(now)s OR NOT EXISTS (
       SELECT FROM agentl.requests r WHERE r.run_id = j.run_id AND r.decision IS NULL)))
ORDER BY j.due NULLS FIRST, j.run_id LIMIT %(limit)s FOR UPDATE OF j SKIP LOCKED
"""
_OPEN: Final = "SELECT FROM agentl.requests WHERE run_id = %(run)s AND decision IS NULL LIMIT 1"
_PUT: Final = """
INSERT INTO agentl.jobs (run_id, state, due, space, job)
VALUES (%(run)s, %(state)s, %(due)s, %(space)s, %(job)s)
ON CONFLICT (run_id) DO UPDATE
SET state = excluded.state, due = excluded.due, space = excluded.space, job = excluded.job
"""
_NEXT: Final = (
    "SELECT min(due) - extract(epoch FROM clock_timestamp())::float8 FROM agentl.jobs "
    "WHERE state IN ('ready', 'waiting')"
)


# Claims of this machine come behind what is due; a few are looked at each time.
_MORE: Final = 8


class PostgresQueue(Queue):
    """The jobs in the table ``agentl.jobs`` of the database that ``dsn`` names."""

    poll_seconds = 5.0

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self._link: Link | None = None
        self._told = False

    def _hear(self, _notification: Any) -> None:
        self._told = True

    def _open(self) -> Link:
        if self._link is None or self._link.closed:
            link = connect(self.dsn, driving=True)
            try:
                prepare(link)
                # Before the first look: what is told from now on is not missed.
                link.add_notify_handler(self._hear)
                link.execute(f"LISTEN {CHANNEL}")
                link.execute(f"LISTEN {ANSWERED}")
            except BaseException:
                link.close()
                raise
            self._link = link
        return self._link

    @contextmanager
    def rows(self) -> Iterator[PostgresQueue]:
        """A transaction; a connection that was lost is made anew for the next one."""
        with failing("queue"):
            link = self._open()
            with link.transaction():
                yield self

    def _ask(self, statement: Any, **values: Any) -> list[tuple[Any, ...]]:
        return self._open().execute(statement, values).fetchall()

    def now(self) -> float:
        """The clock of the server."""
        return float(self._ask("SELECT extract(epoch FROM clock_timestamp())::float8")[0][0])

    def get(self, run_id: str) -> Job | None:
        """One job, locked."""
        found = self._ask("SELECT job FROM agentl.jobs WHERE run_id = %(run)s FOR UPDATE", run=run_id)
        return job_of(json_object(found[0][0]), run_id) if found else None

    def jobs(self) -> list[Job]:
        """Every job."""
        with failing("read"), connect(self.dsn, driving=False) as link:
            found = rows(link, "SELECT run_id, job FROM agentl.jobs ORDER BY run_id")
        return [job_of(json_object(job), str(run_id)) for run_id, job in found]

    def candidates(self, now: float, limit: int) -> Iterable[Job]:
        """Jobs that may be due, and claims of this machine, whose holder may be dead."""
        for run_id, job in self._ask(_CANDIDATES, now=now, space=here(), limit=limit + _MORE):
            yield job_of(json_object(job), str(run_id))

    def open_requests(self, run_id: str) -> bool:
        """Whether the run has a request that nobody has answered."""
        return bool(self._ask(_OPEN, run=run_id))

    def put(self, job: Job) -> None:
        """Write the row of a job, and tell who listens."""
        space = here() if job.state == "claimed" else None
        named = {
            "run": job.run_id,
            "state": job.state,
            "due": job.due,
            "space": space,
            "job": json.dumps(job.data()),
        }
        link = self._open()
        link.execute(_PUT, {**named, "job": json.dumps(job.data())})
        if job.state == "ready":
            link.execute("SELECT pg_notify(%(channel)s, %(run)s)", {"channel": CHANNEL, "run": job.run_id})

    def remove(self, run_id: str) -> None:
        """Remove the row of a job."""
        self._open().execute("DELETE FROM agentl.jobs WHERE run_id = %(run)s", {"run": run_id})

    def next_due(self) -> float | None:
        """Seconds until some run is due by itself, by the clock of the server."""
        with failing("read"):
            (left,) = self._ask(_NEXT)[0]
        return None if left is None else max(float(left), 0.0)

    def wait(self, seconds: float, wake: int) -> None:
        """Wait for a notification: a submitted job, or an answer to somebody's question."""
        with suppress(psycopg().Error):
            connection = self._open().pgconn
            ends = time.monotonic() + seconds
            while True:
                connection.consume_input()
                while connection.notifies() is not None:
                    self._told = True
                left = ends - time.monotonic()
                if self._told or left <= 0:
                    self._told = False
                    return
                if wake in select.select([connection.socket, wake], [], [], left)[0]:
                    return
        # The connection is gone: the next look makes another, or fails.
        select.select([wake], [], [], min(seconds, 1.0))

    def close(self) -> None:
        """Close the connection."""
        link, self._link = self._link, None
        if link is not None:
            link.close()


def here() -> str:
    """Where a process id of this process counts (`STO-6`)."""
    from agentl.durable.stores.process import this_process

    return this_process().space
