"""A worker: takes runs that are due, drives them, and hands them back (`WRK-2`, `WRK-3`)."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from agentl.durable.queue.base import Queue
from agentl.durable.queue.jobs import CLAIM_SECONDS, Job, Outcome
from agentl.durable.stores.process import this_process
from agentl.errors import StoreFailure

RENEWALS: Final = 3
"""How often a claim is renewed while it lasts."""

PATIENCE: Final = 60.0
"""How long a queue that fails is tried again before the worker gives up."""

Drive = Callable[[Job, Callable[[], bool]], Outcome]
Tell = Callable[[str, Job, Outcome | None], Any]


class Worker:
    """Drives runs of a queue, each in a thread of its own.

    Args:
        queue: where runs wait.
        drive: drives one run, and says how its turn ended; asks its second argument before each step whether
            it shall hand the run back. It raises nothing.
        concurrency: how many runs at once.
        tell: told of each run that is ``taken`` and that is ``left``, with its outcome.
        claim_seconds: how long a claim stands that is not renewed.
        poll_seconds: how often to look without being told.
    """

    def __init__(
        self,
        queue: Queue,
        drive: Drive,
        *,
        concurrency: int = 1,
        tell: Tell = lambda _what, _job, _outcome: None,
        claim_seconds: float = CLAIM_SECONDS,
        poll_seconds: float | None = None,
    ) -> None:
        self._queue = queue
        self._drive = drive
        self._concurrency = concurrency
        self._tell = tell
        self._claim_seconds = claim_seconds
        self._poll = queue.poll_seconds if poll_seconds is None else poll_seconds
        self._running: dict[str, Job] = {}
        self._done: deque[tuple[Job, Outcome]] = deque()
        self._stopping = False
        self._renewed = 0.0
        self._failing: float | None = None
        self._ear, self._bell = os.pipe()
        for descriptor in (self._ear, self._bell):
            os.set_blocking(descriptor, False)

    def stop(self) -> None:
        """Take nothing more, hand back what runs after the action in flight; a signal handler may call it."""
        self._stopping = True
        self._ring()

    def _ring(self) -> None:
        with suppress(BlockingIOError):  # it rings already
            os.write(self._bell, b"!")

    def run(self, *, once: bool = False, drain: bool = False) -> None:
        """Work until stopped; ``once``: take what is due now; ``drain``: until nothing is due any more.

        Raises:
            StoreFailure: the queue failed for longer than ``PATIENCE``.
        """
        taken = False
        try:
            while True:
                self._settle_all()
                if not self._stopping and not (once and taken):
                    fresh = self._take()
                    taken = taken or fresh >= 0
                    if fresh > 0:
                        continue
                idle = self._failing is None and not self._running and not self._done
                if idle and (self._stopping or drain or (once and taken)):
                    return
                self._renew()
                self._wait()
        finally:
            self._stopping = True
            for thread in threading.enumerate():
                if thread.name.startswith(_THREAD) and getattr(thread, "worker", None) is self:
                    thread.join()
            os.close(self._ear)
            os.close(self._bell)

    def _take(self) -> int:
        """Take runs up to the number that may run at once; how many, or -1 when the queue failed."""
        free = self._concurrency - len(self._running)
        if free <= 0:
            return 0
        try:
            jobs = self._queue.claim(str(this_process()), free, self._claim_seconds)
        except StoreFailure as failure:
            self._note(failure)
            return -1
        self._failing = None
        for job in jobs:
            self._running[job.run_id] = job
            self._tell("taken", job, None)
            _Turn(self, job).start()
        return len(jobs)

    def turn(self, job: Job) -> None:
        """One turn at a run, in its own thread."""
        outcome = self._drive(job, lambda: self._stopping)
        self._done.append((job, outcome))
        self._ring()

    def _settle_all(self) -> None:
        while self._done:
            job, outcome = self._done[0]
            try:
                self._queue.settle(job, outcome)
            except StoreFailure as failure:
                self._note(failure)
                return
            self._done.popleft()
            self._running.pop(job.run_id, None)
            self._tell("left", job, outcome)

    def _note(self, failure: StoreFailure) -> None:
        """A queue that fails is tried again for a while: the runs go on, each with its own store."""
        now = time.monotonic()
        if self._failing is None:
            self._failing = now
        elif now - self._failing > PATIENCE or (self._stopping and not self._running):
            raise failure

    def _renew(self) -> None:
        if time.monotonic() - self._renewed < self._claim_seconds / RENEWALS or not self._running:
            return
        try:
            self._queue.renew(list(self._running.values()), self._claim_seconds)
        except StoreFailure as failure:
            self._note(failure)
            return
        self._renewed = time.monotonic()

    def _wait(self) -> None:
        seconds = self._poll
        if self._running:
            seconds = min(seconds, self._claim_seconds / RENEWALS)
        if self._failing is not None:
            seconds = min(seconds, 1.0)
        elif len(self._running) < self._concurrency and not self._stopping:
            try:
                due = self._queue.next_due()
            except StoreFailure as failure:
                self._note(failure)
                due = None
            # What another worker has claimed in this moment may look due: never without a pause.
            seconds = seconds if due is None else min(seconds, max(due, 0.02))
        self._queue.wait(seconds, self._ear)
        with suppress(BlockingIOError):
            os.read(self._ear, 4096)


_THREAD: Final = "agentl-run"


class _Turn(threading.Thread):
    """The thread of one turn."""

    def __init__(self, worker: Worker, job: Job) -> None:
        super().__init__(name=f"{_THREAD} {job.run_id}")
        self.worker = worker
        self._job = job

    def run(self) -> None:
        self.worker.turn(self._job)


__all__ = ["Worker"]
