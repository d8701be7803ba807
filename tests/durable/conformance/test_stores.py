"""The four stores, each through the suite that every store passes (`STO-10`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentl.durable.testing import (
    DiskConformance,
    Place,
    ProcessConformance,
    RemoteConformance,
    RequestConformance,
    StoreConformance,
    TimedLeaseConformance,
)
from tests.durable.conformance.places import InFiles, InMemory, InPostgres, InSQLite
from tests.support.postgres import Server, needed, server


class TestMemory(StoreConformance, RequestConformance):
    """STO-2, STO-10, PRK-1."""

    @pytest.fixture
    def place(self) -> Place:
        return InMemory()


class TestFiles(StoreConformance, RequestConformance, ProcessConformance, DiskConformance):
    """STO-3, STO-5, STO-6, STO-10, PRK-1."""

    @pytest.fixture
    def place(self, quick_path: Path) -> Place:
        return InFiles(quick_path)


class TestSQLite(
    StoreConformance, RequestConformance, ProcessConformance, DiskConformance, TimedLeaseConformance
):
    """STO-4, STO-6, STO-10."""

    @pytest.fixture
    def place(self, quick_path: Path) -> Place:
        return InSQLite(quick_path)


class TestPostgres(StoreConformance, RequestConformance, ProcessConformance, TimedLeaseConformance):
    """STO-6, STO-7, STO-9, STO-10."""

    @pytest.fixture
    def place(self, database: str) -> Place:
        return InPostgres(server(), database)


@pytest.fixture(scope="module")
def own() -> Iterator[Server]:
    """A server that may be stopped."""
    needed()
    found = Server(segments=1)
    yield found
    found.remove()


class TestPostgresOwnServer(RemoteConformance, DiskConformance):
    """STO-7, STO-9, STO-10: with a server that can be cut, killed and filled without disturbing others."""

    @pytest.fixture
    def place(self, own: Server) -> Iterator[Place]:
        dsn = own.database()
        yield InPostgres(own, dsn)
        own.empty(dsn)
