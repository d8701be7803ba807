"""The floor: what two durable writes cost when nothing is governed, checked or remembered.

Every durable figure of the bench is a ratio to one of these two loops, run in the same
process and in alternation with it. The floor stays plain: append and fsync, or insert and
commit; no preallocation, no batching.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from time import perf_counter

LINE_BYTES = 300
SYNCS_PER_STEP = 2


def file_floor(path: Path, steps: int) -> float:
    """Append one line and fsync, twice per step. Returns steps per second."""
    line = b"x" * (LINE_BYTES - 1) + b"\n"
    with path.open("ab", buffering=0) as file:
        descriptor = file.fileno()
        started = perf_counter()
        for _ in range(steps * SYNCS_PER_STEP):
            file.write(line)
            os.fsync(descriptor)
        return steps / (perf_counter() - started)


def sqlite_floor(path: Path, steps: int) -> float:
    """Insert one row and commit, twice per step (write-ahead log, full synchronisation). Steps per second."""
    body = "x" * LINE_BYTES
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("CREATE TABLE entries (seq INTEGER PRIMARY KEY, body TEXT NOT NULL)")
        started = perf_counter()
        for _ in range(steps * SYNCS_PER_STEP):
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO entries (body) VALUES (?)", (body,))
            connection.execute("COMMIT")
        return steps / (perf_counter() - started)
    finally:
        connection.close()
