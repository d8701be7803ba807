"""The rows of many durable runs in one process (`OPS-11`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tools.bench.child import run_task
from tools.bench.measure import median
from tools.bench.rows import MODES, Row, Sizes, at_least, workspace

NAMES = {"file": "FileStore", "sqlite": "SQLiteStore", "postgres": "PostgresStore"}
FLOORS = {
    "file": "threads that append + fsync, each its own file",
    "sqlite": "rows per commit, one thread",
    "postgres": "threads that insert + commit, each its own connection",
}
BOUNDS = {("file", "on"): 0.40, ("file", "off"): 0.60, ("postgres", "on"): 0.60}


@contextmanager
def database(kind: str) -> Iterator[str | None]:
    """A database of a server of our own; an empty text where none is needed, ``None`` where none can be."""
    if kind != "postgres":
        yield ""
        return
    from tests.support import postgres

    if postgres.why_not() is not None:
        yield None
        return
    server = postgres.Server({"shared_buffers": "128MB"})
    try:
        yield server.database()
    finally:
        server.remove()


def many_rows(sizes: Sizes, place: Path) -> Iterator[Row]:
    """Runs together beside the floor of as many, on each store, contracts on and off in alternation."""
    for kind, store in NAMES.items():
        with database(kind) as dsn:
            if dsn is None:
                yield Row("many", f"{store}: no PostgreSQL server here", 0, "")
                continue
            yield from _kind(kind, store, dsn, sizes, place)


def _kind(kind: str, store: str, dsn: str, sizes: Sizes, place: Path) -> Iterator[Row]:
    rounds: dict[str, list[dict[str, Any]]] = {mode: [] for mode in MODES}
    for _ in range(sizes.rounds):
        for mode, contracts in MODES.items():
            with workspace(place) as directory:
                asked: dict[str, Any] = {"directory": str(directory), "kind": kind, "dsn": dsn}
                figures = run_task(
                    "many_round", contracts=contracts, runs=sizes.many, steps=sizes.many_steps, **asked
                )
                rounds[mode].append(figures)
    floors = [figures["floor_per_s"] for mode in MODES for figures in rounds[mode]]
    yield Row("many", f"floor: {sizes.many} {FLOORS[kind]}", median(floors), "steps/s")
    for mode in MODES:
        rate = median([figures["steps_per_s"] for figures in rounds[mode]])
        ratio = median([figures["ratio"] for figures in rounds[mode]])
        cpu = median([figures["cpu_us"] for figures in rounds[mode]])
        note = f"{cpu:.0f} µs of processor time per step"
        yield Row("many", f"{sizes.many} runs on {store}, contracts {mode}", rate, "steps/s", note=note)
        name, bound = f"{sizes.many} runs on {store} / floor, contracts {mode}", BOUNDS.get((kind, mode))
        yield Row("many", name, ratio, "×") if bound is None else at_least("many", name, ratio, "×", bound)
