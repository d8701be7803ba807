"""Stores that die at a chosen write, and places that forget nothing of it (`DUR-6`)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentl.durable import FileStore, SQLiteStore
from agentl.durable.lease import read_holder
from tests.durable.world import RUN_ID


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


def store_at(kind: str, folder: Path) -> Any:
    """A store of the crash run in ``folder``."""
    return DyingFile(folder / "run") if kind == "file" else DyingSQLite(folder / "runs.db", RUN_ID)


def bury(kind: str, folder: Path) -> None:
    """Make the process that held the lease a dead one, where a test only played its death."""
    if kind == "file":
        return
    connection = sqlite3.connect(folder / "runs.db")
    for epoch, holder in connection.execute("SELECT epoch, holder FROM leases").fetchall():
        found = read_holder(holder)
        assert found is not None
        dead = f"{found.machine} pid {found.process} start 0 space {found.space}"
        connection.execute("UPDATE leases SET holder = ? WHERE epoch = ?", (dead, epoch))
    connection.commit()
    connection.close()
