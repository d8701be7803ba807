"""What every queue does, given a transaction over its rows (`WRK-1` to `WRK-4`)."""

from __future__ import annotations

import secrets
import select
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Protocol

from agentl.durable.lease import Liveness
from agentl.durable.queue.jobs import (
    CLAIM_SECONDS,
    CLAIMED,
    ENDED,
    READY,
    WAITING,
    Job,
    Outcome,
    abandoned,
    claimed,
    is_due,
    settled,
    submitted,
)
from agentl.durable.stores.process import liveness_of


class Rows(Protocol):
    """The jobs of a queue, inside a transaction that excludes every other one that looks at the same jobs."""

    def now(self) -> float:
        """Seconds since the epoch, by the clock of the queue."""

    def get(self, run_id: str) -> Job | None:
        """One job, kept from others until the end of the transaction."""

    def candidates(self, now: float, limit: int) -> Iterable[Job]:
        """Jobs that may be due, those that have waited longest first; others are passed over."""

    def open_requests(self, run_id: str) -> bool:
        """Whether the run waits for somebody."""

    def put(self, job: Job) -> None:
        """Write a job; the queue wakes who waits when the transaction ends."""

    def remove(self, run_id: str) -> None:
        """Remove a job."""


class Queue:
    """Jobs, and who takes them. It proposes only: two that take the same run are told apart by its lease."""

    poll_seconds = 2.0
    """How often to look without being told; a safety net where being told works."""

    def rows(self) -> AbstractContextManager[Rows]:
        """A transaction."""
        raise NotImplementedError

    def jobs(self) -> list[Job]:
        """Every job, in the order of run ids."""
        raise NotImplementedError

    def submit(self, job: Job) -> Job:
        """Put a job in, and give the one that stands (`WRK-1`).

        Raises:
            DurableError: another program, or limit, was submitted under its id.
            StoreFailure: the queue failed.
        """
        with self.rows() as rows:
            standing = rows.get(job.run_id)
            result = submitted(standing, job)
            if result is not standing:
                rows.put(replace(result, due=rows.now()))
        return result

    def claim(self, holder: str, limit: int, seconds: float = CLAIM_SECONDS) -> list[Job]:
        """Take up to ``limit`` runs that are due; one that never ends is stopped (`WRK-2`, `WRK-4`)."""
        taken: list[Job] = []
        with self.rows() as rows:
            now = rows.now()
            for job in rows.candidates(now, limit):
                dead = job.state == CLAIMED and _dead(job.holder)
                waits = job.state == WAITING and rows.open_requests(job.run_id)
                if not is_due(job, now, open_requests=waits, holder_dead=dead):
                    continue
                if dead and not (job.due is not None and job.due <= now):
                    later = abandoned(job, now)
                    if later.due is not None and later.due > now:
                        rows.put(later)
                        continue
                mine = claimed(job, now, holder, secrets.token_hex(8), seconds)
                rows.put(mine)
                if mine.state == CLAIMED:
                    taken.append(mine)
                if len(taken) == limit:
                    break
        return taken

    def settle(self, job: Job, outcome: Outcome) -> Job | None:
        """Write how a turn at a claimed run ended; ``None`` when the claim is no longer ours (`WRK-3`)."""
        with self.rows() as rows:
            standing = rows.get(job.run_id)
            if standing is None or standing.claim != job.claim:
                return None
            result = settled(standing, outcome, rows.now())
            rows.put(result)
        return result

    def forget(self, run_ids: Iterable[str]) -> None:
        """Remove the jobs of runs that are over: those that were purged (`OPS-7`)."""
        with self.rows() as rows:
            for run_id in run_ids:
                standing = rows.get(run_id)
                if standing is not None and standing.state == ENDED:
                    rows.remove(run_id)

    def renew(self, jobs: Iterable[Job], seconds: float = CLAIM_SECONDS) -> None:
        """Put the end of claims off."""
        with self.rows() as rows:
            for job in jobs:
                standing = rows.get(job.run_id)
                if standing is not None and standing.claim == job.claim:
                    rows.put(replace(standing, due=rows.now() + seconds))

    def next_due(self) -> float | None:
        """Seconds until some run is due by itself; ``None`` when none is."""
        now = time.time()
        times = [job.due for job in self.jobs() if job.due is not None and job.state in (READY, WAITING)]
        return max(min(times) - now, 0.0) if times else None

    def wait(self, seconds: float, wake: int) -> None:
        """Wait until something may be due, the descriptor ``wake`` can be read, or the time is over."""
        ends = time.monotonic() + seconds
        mark = self.changed()
        while True:
            left = ends - time.monotonic()
            if left <= 0 or select.select([wake], [], [], min(left, self.look_seconds))[0]:
                return
            if self.changed() != mark:
                return

    look_seconds = 0.05
    """How often to ask whether anything has changed, where nobody tells; asking costs some microseconds."""

    def changed(self) -> object:
        """Something that is another after a change."""
        return None

    def close(self) -> None:
        """Let go of connections."""


def _dead(holder: str | None) -> bool:
    return holder is not None and liveness_of(holder)[0] is Liveness.DEAD


def in_order(jobs: Iterable[Job]) -> Iterator[Job]:
    """Those that have waited longest first."""
    yield from sorted(jobs, key=lambda job: (job.due if job.due is not None else 0.0, job.run_id))


__all__ = ["Queue", "Rows", "in_order"]
