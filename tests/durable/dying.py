"""Stores that die at a chosen write, and places that forget nothing of it (`DUR-6`)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentl.durable import FileStore, PostgresStore, SQLiteStore
from agentl.durable.lease import read_holder
from tests.durable.world import RUN_ID
from tests.support.postgres import kept_database, sql


class Dying:
    """Mixed into a store: calls ``die`` just before, or just after, the write of one number."""

    die: Callable[[], None] | None = None
    when = ""
    at = -1
    written = 0
    dead = False

    def append(self, raw: bytes, epoch: int, *, sync: bool) -> None:
        here = self.written == self.at
        self.written += 1
        if here and self.when == "before":
            self._fall()
        super().append(raw, epoch, sync=sync)  # type: ignore[misc]
        if here and self.when == "after":
            self._fall()

    def _fall(self) -> None:
        assert self.die is not None
        self.dead = True
        self.die()

    def release(self, epoch: int) -> None:
        """The dead release nothing: what waited in memory is gone."""
        if self.dead:
            self._let_go()  # type: ignore[attr-defined]
        else:
            super().release(epoch)  # type: ignore[misc]


class DyingFile(Dying, FileStore):
    """A file store that dies."""


class DyingSQLite(Dying, SQLiteStore):
    """A SQLite store that dies."""


class DyingPostgres(Dying, PostgresStore):
    """A PostgreSQL store that dies."""


_here: list[Path] = []


def _database(folder: Path) -> str:
    """The address of a database that holds what belongs to ``folder``: it is emptied for another one."""
    dsn = kept_database()
    if _here != [folder]:
        _here[:] = [folder]
        sql(dsn)(
            "DO $$ BEGIN IF to_regclass('agentl.runs') IS NOT NULL THEN "
            "DELETE FROM agentl.entries; DELETE FROM agentl.leases; DELETE FROM agentl.runs; END IF; END $$"
        )
    return dsn


def store_at(kind: str, folder: Path) -> Any:
    """A store of the crash run in ``folder``."""
    if kind == "file":
        return DyingFile(folder / "run")
    if kind == "sqlite":
        return DyingSQLite(folder / "runs.db", RUN_ID)
    return DyingPostgres(_database(folder), RUN_ID)


def bury(kind: str, folder: Path) -> None:
    """Make the process that held the lease a dead one, where a test only played its death."""
    if kind == "file":
        return
    if kind == "postgres":
        sql(kept_database())(
            "UPDATE agentl.leases SET holder = regexp_replace(holder, ' start [0-9]+ ', ' start 0 ')"
        )
        return
    connection = sqlite3.connect(folder / "runs.db")
    for epoch, holder in connection.execute("SELECT epoch, holder FROM leases").fetchall():
        found = read_holder(holder)
        assert found is not None
        dead = f"{found.machine} pid {found.process} start 0 space {found.space}"
        connection.execute("UPDATE leases SET holder = ? WHERE epoch = ?", (dead, epoch))
    connection.commit()
    connection.close()
