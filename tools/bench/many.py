"""Many durable runs in one process: what they reach together, and the floors for as many (`OPS-11`).

A floor of many is as plain as that of one: each thread appends to a file of its own and synchronises it (the
system merges the flushes); or inserts into a database that all share.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from agentl.durable import DurableRun, FileStore, SQLiteStore
from tools.bench.floor import LINE_BYTES, SYNCS_PER_STEP
from tools.bench.programs import steps_agent, steps_world

Figures = dict[str, Any]
_LINE = b"x" * (LINE_BYTES - 1) + b"\n"


def together(works: list[Callable[[], None]]) -> tuple[float, float]:
    """Run every work in a thread of its own, begun at once; wall and processor seconds until the last ends.

    Raises:
        RuntimeError: one of them failed.
    """
    ready = threading.Barrier(len(works) + 1)
    failed: list[BaseException] = []

    def one(work: Callable[[], None]) -> None:
        ready.wait()
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - told below
            failed.append(error)

    threads = [threading.Thread(target=one, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    ready.wait()
    started, burnt = perf_counter(), process_time()
    for thread in threads:
        thread.join()
    spent = perf_counter() - started, process_time() - burnt
    if failed:
        raise RuntimeError(f"{len(failed)} of {len(works)} failed: {failed[0]!r}")
    return spent


def file_floor(base: Path, runs: int, steps: int) -> float:
    """Steps per second of ``runs`` threads that append and fsync, twice per step, each its own file."""
    with ExitStack() as opened:
        files = [opened.enter_context((base / f"floor{n}").open("ab", buffering=0)) for n in range(runs)]

        def work(file: Any) -> Callable[[], None]:
            def loop() -> None:
                descriptor = file.fileno()
                for _ in range(steps * SYNCS_PER_STEP):
                    file.write(_LINE)
                    os.fsync(descriptor)

            return loop

        spent, _ = together([work(file) for file in files])
    return runs * steps / spent


def sqlite_floor(base: Path, runs: int, steps: int) -> float:
    """Steps per second of one thread that writes a row for each of ``runs`` runs per commit."""
    connection = sqlite3.connect(base / "floor.db", isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute(
            "CREATE TABLE entries (run INTEGER, seq INTEGER, body BLOB, PRIMARY KEY (run, seq))"
        )
        started = perf_counter()
        for seq in range(steps * SYNCS_PER_STEP):
            connection.execute("BEGIN IMMEDIATE")
            for run in range(runs):
                connection.execute("INSERT INTO entries VALUES (?, ?, ?)", (run, seq, _LINE))
            connection.execute("COMMIT")
        return runs * steps / (perf_counter() - started)
    finally:
        connection.close()


def postgres_floor(dsn: str, runs: int, steps: int) -> float:
    """Steps per second of ``runs`` threads with a connection each, one insert per commit, twice per step."""
    import psycopg

    with ExitStack() as opened:
        links = [opened.enter_context(psycopg.connect(dsn, autocommit=True)) for _ in range(runs)]
        links[0].execute(
            "CREATE TABLE IF NOT EXISTS floor (run int, seq int, body bytea, PRIMARY KEY (run, seq))"
        )
        links[0].execute("TRUNCATE floor")

        def work(run: int, link: Any) -> Callable[[], None]:
            def loop() -> None:
                for seq in range(steps * SYNCS_PER_STEP):
                    link.execute("INSERT INTO floor VALUES (%s, %s, %s)", (run, seq, _LINE), prepare=True)

            return loop

        spent, _ = together([work(number, link) for number, link in enumerate(links)])
    return runs * steps / spent


def runs_together(runs: int, steps: int, store: Callable[[int], Any]) -> tuple[float, float]:
    """``runs`` durable runs of ``steps`` steps at once: steps per second, processor seconds per step."""
    made = []
    for number in range(runs):
        host, model = steps_world(steps)
        made.append(DurableRun(steps_agent(), host, model, store=store(number)))
    spent, burnt = together([lambda run=run: run.run(max_ticks=1) for run in made])  # type: ignore[misc]
    calls = sum(run.runtime.metrics["tool_calls"] for run in made)
    if calls != runs * steps:
        raise RuntimeError(f"{calls} calls were made instead of {runs * steps}")
    return runs * steps / spent, burnt / (runs * steps)


def many_round(directory: str, kind: str, runs: int, steps: int, dsn: str = "") -> Figures:
    """One alternating round: floor of many, runs together, floor of many."""
    base = Path(directory)

    def floor() -> float:
        with tempfile.TemporaryDirectory(dir=base) as here:
            if kind == "file":
                return file_floor(Path(here), runs, steps)
            return (
                sqlite_floor(Path(here), runs, steps)
                if kind == "sqlite"
                else postgres_floor(dsn, runs, steps)
            )

    place = Path(tempfile.mkdtemp(dir=base))

    def store(number: int) -> Any:
        if kind == "file":
            return FileStore(place / str(number))
        if kind == "sqlite":
            return SQLiteStore(place / "runs.db", str(number))
        from agentl.durable import PostgresStore

        return PostgresStore(dsn, f"{place.name}-{number}")

    before = floor()
    rate, cpu = runs_together(runs, steps, store)
    after = floor()
    shutil.rmtree(place, ignore_errors=True)
    bare = (before + after) / 2
    return {"floor_per_s": bare, "steps_per_s": rate, "ratio": rate / bare, "cpu_us": cpu * 1e6}
