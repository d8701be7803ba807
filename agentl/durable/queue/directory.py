"""A queue beside directories of runs: one file per job, under one lock (`WRK-6`)."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from agentl.durable.collections.directory import DirectoryCollection
from agentl.durable.collections.names import directory_name
from agentl.durable.queue.base import Queue, in_order
from agentl.durable.queue.jobs import Job, job_of
from agentl.durable.stores.base import failing_as

FOLDER: Final = ".jobs"


class DirectoryQueue(Queue):
    """The jobs in ``DIR/.jobs``."""

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)
        self.folder = self.directory / FOLDER
        self._runs = DirectoryCollection(directory)

    @contextmanager
    def rows(self) -> Iterator[DirectoryQueue]:
        """The lock of the folder."""
        with failing_as("open"):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            with failing_as("open"):
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield self
        finally:
            os.close(descriptor)

    def now(self) -> float:
        """The clock of this machine."""
        return time.time()

    def _file(self, run_id: str) -> Path:
        return self.folder / f"{directory_name(run_id)}.json"

    def get(self, run_id: str) -> Job | None:
        """One job."""
        return self._read(self._file(run_id))

    def _read(self, file: Path) -> Job | None:
        with failing_as("read"):
            try:
                content = file.read_bytes()
            except FileNotFoundError:
                return None
        try:
            return job_of(json.loads(content), str(file))
        except (ValueError, RecursionError):
            return job_of(None, str(file))

    def jobs(self) -> list[Job]:
        """Every job."""
        with failing_as("read"):
            try:
                names = sorted(name for name in os.listdir(self.folder) if name.endswith(".json"))  # noqa: PTH208
            except FileNotFoundError:
                return []
        found = [self._read(self.folder / name) for name in names]
        return sorted((job for job in found if job is not None), key=lambda job: job.run_id)

    def candidates(self, now: float, limit: int) -> Iterable[Job]:  # noqa: ARG002 - all are looked at
        """Every job."""
        return in_order(self.jobs())

    def open_requests(self, run_id: str) -> bool:
        """Whether the run has a request that nobody has answered."""
        return bool(self._runs.store(run_id).requests.all(open_only=True))

    def put(self, job: Job) -> None:
        """Replace the file of a job, durably."""
        file = self._file(job.run_id)
        temporary = file.with_suffix(".tmp")
        with failing_as("write"):
            with temporary.open("wb") as stream:
                stream.write(json.dumps(job.data()).encode("ascii"))
                stream.flush()
                os.fsync(stream.fileno())
            temporary.replace(file)

    def remove(self, run_id: str) -> None:
        """Remove the file of a job."""
        with failing_as("write"):
            self._file(run_id).unlink(missing_ok=True)

    def changed(self) -> object:
        """When a file of the folder was replaced last."""
        try:
            return self.folder.stat().st_mtime_ns
        except OSError:
            return None
