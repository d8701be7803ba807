"""PostgreSQL: the durable step beside what two plain commits cost, one run and many at once.

The server is one of our own (``tools/scratch_postgres.py``), on the disk that is measured. The floor is the
plain use of the library: insert a row, commit, twice per step. That is three messages to the server and back
for each commit; the second floor is one statement that commits itself, which is the least there is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

from agentl.durable import DurableRun, PostgresStore
from tools.bench.floor import LINE_BYTES, SYNCS_PER_STEP
from tools.bench.measure import median, seconds
from tools.bench.programs import steps_agent, steps_world
from tools.scratch_postgres import Server, why_not

if TYPE_CHECKING:
    from tools.bench.rows import Row, Sizes

RUNS = 64


def _insert(dsn: str, steps: int, *, plain: bool, begin: Callable[[], Any] = lambda: None) -> None:
    import psycopg

    body = "x" * LINE_BYTES
    with psycopg.connect(dsn, autocommit=not plain) as connection:
        begin()
        for _ in range(steps * SYNCS_PER_STEP):
            connection.execute("INSERT INTO floor (body) VALUES (%s)", (body,))
            if plain:
                connection.commit()


def postgres_floor(dsn: str, steps: int, *, plain: bool = True, runs: int = 1) -> float:
    """Insert one row and commit, twice per step, in ``runs`` connections at once. Steps per second of all."""
    import psycopg

    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS floor (seq bigserial PRIMARY KEY, body text NOT NULL)")
    return _together(runs, steps, lambda begin, _number: _insert(dsn, steps, plain=plain, begin=begin))


def _together(runs: int, steps: int, work: Callable[[Callable[[], Any], int], None]) -> float:
    """Steps per second of ``runs`` threads that are ready before the clock starts."""
    ready = Barrier(runs + 1)
    with ThreadPoolExecutor(runs) as pool:
        ended = [pool.submit(work, ready.wait, number) for number in range(runs)]
        ready.wait()
        started = perf_counter()
        for one in ended:
            one.result()
        return runs * steps / (perf_counter() - started)


def _drive(dsn: str, name: str, steps: int) -> tuple[float, float]:
    host, model = steps_world(steps)
    run = DurableRun(steps_agent(), host, model, store=PostgresStore(dsn, name))
    burnt = process_time()
    spent = seconds(lambda: run.run(max_ticks=1))
    burnt = process_time() - burnt
    if run.runtime.metrics["tool_calls"] != steps:
        raise RuntimeError("the durable run did not make all its calls")
    return steps / spent, burnt / steps * 1e6


def postgres_round(dsn: str, steps: int, number: int) -> dict[str, Any]:
    """One alternating round: floors, run, floors."""
    _drive(dsn, f"warm{number}", 50)
    before = postgres_floor(dsn, steps), postgres_floor(dsn, steps, plain=False)
    rate, cpu = _drive(dsn, f"run{number}", steps)
    after = postgres_floor(dsn, steps), postgres_floor(dsn, steps, plain=False)
    plain, least = (median(list(pair)) for pair in zip(before, after, strict=True))
    return {"floor_per_s": plain, "least_per_s": least, "steps_per_s": rate, "cpu_us": cpu}


def postgres_many(dsn: str, steps: int, number: int) -> dict[str, Any]:
    """The same with many runs at once in one process, each with a thread and a connection of its own."""

    def drive(begin: Callable[[], Any], run: int) -> None:
        host, model = steps_world(steps)
        opened = DurableRun(steps_agent(), host, model, store=PostgresStore(dsn, f"many{number}-{run}"))
        begin()
        opened.run(max_ticks=1)

    before = postgres_floor(dsn, steps, runs=RUNS)
    rate = _together(RUNS, steps, drive)
    after = postgres_floor(dsn, steps, runs=RUNS)
    return {"floor_per_s": median([before, after]), "steps_per_s": rate}


def postgres_rows(sizes: Sizes, place: Path) -> Iterator[Row]:
    """One run and many at once, beside their own floors; nothing but a note where there is no server."""
    from tools.bench.child import run_task
    from tools.bench.rows import MODES, Row, at_least

    reason = why_not()
    if reason is not None:
        yield Row("postgres", "not measured", 0, "", note=reason)
        return
    rounds: dict[str, list[dict[str, Any]]] = {f"{mode} {runs}": [] for mode in MODES for runs in (1, RUNS)}
    # Started by root, the server is somebody else, who must get through to its folder.
    place.chmod(0o711)
    server = Server(base=place)
    try:
        for number in range(sizes.rounds):
            for mode, contracts in MODES.items():
                for runs, task in ((1, "postgres_round"), (RUNS, "postgres_many")):
                    steps = sizes.steps if runs == 1 else max(10, sizes.steps // 20)
                    figures = run_task(
                        task, contracts=contracts, dsn=server.database(), steps=steps, number=number
                    )
                    rounds[f"{mode} {runs}"].append(figures)
    finally:
        server.remove()

    def middle(key: str, figure: str) -> float:
        return median([figures[figure] for figures in rounds[key]])

    def ratio(key: str, floor: str) -> float:
        return median([figures["steps_per_s"] / figures[floor] for figures in rounds[key]])

    yield Row("postgres", "floor: insert + commit, twice", middle("on 1", "floor_per_s"), "steps/s")
    yield Row("postgres", "floor: one statement, twice", middle("on 1", "least_per_s"), "steps/s")
    for mode in MODES:
        key = f"{mode} 1"
        yield Row("postgres", f"PostgresStore step, contracts {mode}", middle(key, "steps_per_s"), "steps/s")
        yield Row("postgres", f"PostgresStore processor time per step, {mode}", middle(key, "cpu_us"), "µs")
        name = f"PostgresStore step / floor, contracts {mode}"
        bounded = at_least("postgres", name, ratio(key, "floor_per_s"), "×", 0.50)
        yield bounded if mode == "on" else Row("postgres", name, bounded.value, "×")
        name = f"PostgresStore step / one-statement floor, contracts {mode}"
        yield Row("postgres", name, ratio(key, "least_per_s"), "×")
    yield Row(
        "postgres", f"floor: {RUNS} at once, insert + commit", middle(f"on {RUNS}", "floor_per_s"), "steps/s"
    )
    for mode in MODES:
        key = f"{mode} {RUNS}"
        name = f"PostgresStore, {RUNS} runs at once, contracts {mode}"
        yield Row("postgres", name, middle(key, "steps_per_s"), "steps/s")
        yield at_least("postgres", f"{name} / their floor", ratio(key, "floor_per_s"), "×", 0.60)


TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "postgres_round": postgres_round,
    "postgres_many": postgres_many,
}
