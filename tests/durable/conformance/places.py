"""The places of the four stores that come with the package."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from agentl.durable import FileStore, MemoryStore, PostgresStore, SQLiteStore
from agentl.durable.testing import RUN, Place
from tests.support.postgres import Server, database_of

ROOM = 300_000


@contextmanager
def small_files(room: int) -> Iterator[None]:
    """No file of these processes grows beyond ``room`` bytes: a full disk, without filling one."""
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


class InMemory(Place):
    def __init__(self) -> None:
        self._runs: dict[str, MemoryStore] = {}

    def store(self, run_id: str = RUN) -> MemoryStore:
        return self._runs.setdefault(run_id, MemoryStore())


class InFiles(Place):
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def store(self, run_id: str = RUN) -> FileStore:
        return FileStore(self._folder / run_id.encode("utf-8").hex())

    def full(self) -> AbstractContextManager[None]:
        return small_files(ROOM)


class InSQLite(Place):
    def __init__(self, folder: Path) -> None:
        self._path = folder / "runs.db"
        self._ahead = 0.0

    def store(self, run_id: str = RUN) -> SQLiteStore:
        return SQLiteStore(self._path, run_id, clock=lambda: time.time() + self._ahead)

    def pass_time(self, seconds: float) -> None:
        self._ahead += seconds

    def full(self) -> AbstractContextManager[None]:
        return small_files(ROOM)


class InPostgres(Place):
    def __init__(self, server: Server, dsn: str) -> None:
        self._server = server
        self._dsn = dsn

    def store(self, run_id: str = RUN) -> PostgresStore:
        return PostgresStore(self._dsn, run_id)

    def pass_time(self, seconds: float) -> None:
        self._server.run(
            f"UPDATE agentl.leases SET expires = expires - make_interval(secs => {seconds})",
            database_of(self._dsn),
        )

    @contextmanager
    def full(self) -> Iterator[None]:
        """The server is started again with a limit where a full disk would stop it."""
        self._server.stop()
        self._server.start(largest_file=3 * 2**20)
        try:
            yield
        finally:
            self._server.stop()
            self._server.start()

    def cut(self) -> None:
        self._server.cut(self._dsn)

    def crash(self) -> None:
        self._server.kill()

    def restart(self) -> None:
        self._server.start()
