"""A mark that nobody can read is one all the same, on each store (OPS-6)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agentl.durable import FileStore, SQLiteStore
from agentl.durable.marks import MOVED, mark
from agentl.errors import DurableError

DAMAGES = ["", "{", "[]", "null", "{}", '"moved"', "\x00\x00", "ÿ"]


def file_store(folder: Path) -> tuple[Callable[[], Any], Callable[[str], None]]:
    def damage(text: str) -> None:
        (folder / "run" / "mark.json").write_text(text, encoding="latin-1")

    return lambda: FileStore(folder / "run"), damage


def sqlite_store(folder: Path) -> tuple[Callable[[], Any], Callable[[str], None]]:
    def damage(text: str) -> None:
        with closing(sqlite3.connect(folder / "runs.db")) as connection, connection:
            connection.execute("UPDATE marks SET mark = ?", (text,))

    return lambda: SQLiteStore(folder / "runs.db", "r1"), damage


@pytest.mark.parametrize("damaged", DAMAGES)
@pytest.mark.parametrize("kind", [file_store, sqlite_store])
def test_a_damaged_mark_still_refuses(kind: Any, damaged: str, tmp_path: Path) -> None:
    """`OPS-6`: a run that has left is not driven here because the note of it was damaged."""
    store, damage = kind(tmp_path)
    driver = store()
    lease = driver.acquire("first")
    driver.append(b'{"seq":0}', lease.epoch, sync=True)
    driver.write_mark(mark(MOVED, "r1", head="", entries=1, other="elsewhere"))
    driver.release(lease.epoch)
    damage(damaged)
    with pytest.raises(DurableError) as refused:
        store().acquire("second")
    assert refused.value.code == "ops.marked"
