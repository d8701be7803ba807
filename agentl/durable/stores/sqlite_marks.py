"""The marks of a SQLite file: which run may not be driven here, and why (`OPS-6`)."""

from __future__ import annotations

import json
import sqlite3
from typing import Any, Final

from agentl.durable.marks import Mark
from agentl.durable.stores.base import json_object

_TABLES: Final = ("entries", "runs", "leases", "refusals", "requests", "marks")
_THERE: Final = "SELECT name FROM sqlite_master WHERE type = 'table'"


def mark_of(connection: sqlite3.Connection, run_id: str) -> Mark | None:
    """The mark of a run; one that cannot be read is one all the same."""
    if "marks" not in tables_of(connection):
        return None  # a file of before
    row = connection.execute("SELECT mark FROM marks WHERE run_id = ?", (run_id,)).fetchone()
    return None if row is None else json_object(row[0]) or {"run_id": run_id}


def all_marks(connection: sqlite3.Connection) -> dict[str, dict[str, Any]]:
    """Every mark, by run id."""
    if "marks" not in tables_of(connection):
        return {}
    rows = connection.execute("SELECT run_id, mark FROM marks ORDER BY run_id")
    return {str(run_id): json_object(mark) or {"run_id": run_id} for run_id, mark in rows}


def write(connection: sqlite3.Connection, run_id: str, mark: Mark) -> None:
    """Put a mark down, in the caller's transaction."""
    connection.execute("INSERT OR REPLACE INTO marks VALUES (?, ?)", (run_id, json.dumps(dict(mark))))


def clear(connection: sqlite3.Connection, run_id: str) -> None:
    """Take a mark away, in the caller's transaction."""
    connection.execute("DELETE FROM marks WHERE run_id = ?", (run_id,))


def erase(connection: sqlite3.Connection, run_id: str) -> None:
    """Remove every row of a run, in the caller's transaction."""
    there = tables_of(connection)
    for table in _TABLES:
        if table in there:
            connection.execute(f"DELETE FROM {table} WHERE run_id = ?", (run_id,))  # noqa: S608 - from a list


def tables_of(connection: sqlite3.Connection) -> list[str]:
    """The tables of the file."""
    return [str(name) for (name,) in connection.execute(_THERE)]
