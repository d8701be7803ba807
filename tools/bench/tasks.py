"""One measurement per function, each run in a child process of its own (see ``child.py``).

A task takes plain options and returns plain figures, so that parent and child speak JSON. Tasks
of the contracts-on and contracts-off kind are the same code: the switch is read at import.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

from agentl import PolicyEngine, Runtime, parse_source
from agentl.durable import DurableRun, FileStore, SQLiteStore
from agentl.kernel import ActionRequest
from tools.bench.floor import file_floor, sqlite_floor
from tools.bench.many import many_round
from tools.bench.measure import SYNCS, bytes_below, median, peak_rss_mb, percentile_micros, seconds
from tools.bench.postgres import TASKS as POSTGRES_TASKS
from tools.bench.programs import (
    long_program,
    policy_program,
    steps_agent,
    steps_world,
    ticks_agent,
    ticks_world,
)
from tools.bench.workers import pickup, throughput

Figures = dict[str, Any]
KILLED = 9  # exit status of a child that left without closing anything, as a kill does


def _store(kind: str, place: Path) -> FileStore | SQLiteStore:
    if kind == "file":
        return FileStore(place)
    return SQLiteStore(place.with_suffix(".db"), "bench")


def _at_rest(kind: str, place: Path) -> int:
    return bytes_below(place if kind == "file" else place.with_suffix(".db"))


class _Run(NamedTuple):
    """One whole durable run, opening and closing included."""

    steps_per_s: float
    cpu_us: float
    syncs: int
    size: int


def _durable_run(kind: str, place: Path, steps: int) -> _Run:
    host, model = steps_world(steps)
    run = DurableRun(steps_agent(), host, model, store=_store(kind, place))
    synced, burnt = SYNCS.total, process_time()
    spent = seconds(lambda: run.run(max_ticks=1))
    synced, burnt = SYNCS.total - synced, process_time() - burnt
    made = run.runtime.metrics["tool_calls"]
    if made != steps:
        raise RuntimeError(f"the durable run made {made} calls instead of {steps}")
    return _Run(steps / spent, burnt / steps * 1e6, synced, _at_rest(kind, place))


def durable_round(directory: str, steps: int, number: int) -> Figures:
    """One alternating round: file floor, file run, SQLite floor, SQLite run."""
    base = Path(directory)
    _durable_run("file", base / f"warm{number}", 50)
    figures: Figures = {}
    floors: dict[str, Callable[[Path, int], float]] = {"file": file_floor, "sqlite": sqlite_floor}
    for kind, floor in floors.items():
        before = floor(base / f"{kind}-before{number}", steps)
        run = _durable_run(kind, base / f"{kind}-run{number}", steps)
        after = floor(base / f"{kind}-after{number}", steps)
        bare = median([before, after])
        figures[kind] = {
            "floor_per_s": bare,
            "steps_per_s": run.steps_per_s,
            "ratio": run.steps_per_s / bare,
            "cpu_us": run.cpu_us,
            "syncs": run.syncs,
            "syncs_per_action": run.syncs / steps,
            "bytes_per_action": run.size / steps,
        }
    return figures


def ephemeral(calls: int) -> Figures:
    """Governed calls per second of a run that is not durable, measured at the call a statement makes."""
    host, model = steps_world(1)
    runtime = Runtime(steps_agent(), host, model)
    runtime.run(max_ticks=1)

    def loop() -> None:
        for _ in range(calls):
            runtime.call_tool("transfer", {"amount": 125, "to": "acct-00001"})

    warm = min(500, calls)
    for _ in range(warm):
        runtime.call_tool("transfer", {"amount": 125, "to": "acct-00001"})
    spent = seconds(loop)
    made = runtime.metrics["tool_calls"]
    if made != calls + warm + 1:
        raise RuntimeError(f"{made} calls were made instead of {calls + warm + 1}")
    return {"calls_per_s": calls / spent}


def policy(tools: int, rules_per_tool: int, times: int) -> Figures:
    """p50 and p99 of one policy decision that is allowed, so that every rule of its target is looked at."""
    agent = parse_source(policy_program(tools, rules_per_tool)).agents[0]
    runtime = Runtime(agent)
    next(iter(runtime.iter_ticks(1)))
    engine = PolicyEngine(agent)
    requests = [
        ActionRequest(f"act{tool}", {"amount": 10, "to": "acct-1"}, "MEDIUM") for tool in range(tools)
    ]
    turn: Iterator[int] = iter(range(10**9))

    def decide() -> None:
        decision = engine.check(requests[next(turn) % tools], runtime.state)
        if not decision.allowed:
            raise RuntimeError(f"the bench policy refused: {decision.reason}")

    p50, p99 = percentile_micros(decide, times)
    return {"p50_us": p50, "p99_us": p99}


def write_actions(directory: str, actions: int) -> Figures:
    """Run ``actions`` durable actions and die inside the next one: nothing is closed. Does not return."""
    host, model = steps_world(actions + 1, lambda call: os._exit(KILLED) if call > actions else None)
    DurableRun(steps_agent(), host, model, store=FileStore(Path(directory))).run(max_ticks=1)
    raise RuntimeError("the run ended before it was to die")


def resume_actions(directory: str, actions: int) -> Figures:
    """Resume that run: time until it is live again, entries per second, peak memory of this process."""
    entries = sum(1 for _ in (Path(directory) / "wal.jsonl").open("rb"))
    live: list[float] = []
    host, model = steps_world(actions + 1, lambda _call: live.append(perf_counter()))
    agent = steps_agent()
    started = perf_counter()
    run = DurableRun(agent, host, model, store=FileStore(Path(directory)))
    opened = perf_counter() - started
    run.run(max_ticks=1)
    if len(live) != 1:
        raise RuntimeError(f"the resume made {len(live)} live calls instead of 1")
    spent = live[0] - started
    return {
        "entries": entries,
        "open_s": opened,
        "resume_s": spent,
        "entries_per_s": entries / spent,
        "peak_rss_mb": peak_rss_mb(),
    }


def _beside(directory: str) -> Path:
    return Path(directory).parent / f"{Path(directory).name}.seconds"


def run_ticks(directory: str, ticks: int) -> Figures:
    """Run ``ticks`` ticks, each storing one memory record, and die in the next one. Does not return."""
    started, burnt = perf_counter(), process_time()

    def on_read(reading: int) -> None:
        if reading > ticks:
            figures = {"run_s": perf_counter() - started, "run_cpu_s": process_time() - burnt}
            _beside(directory).write_text(json.dumps(figures), encoding="ascii")
            os._exit(KILLED)

    DurableRun(ticks_agent(), ticks_world(on_read), None, store=FileStore(directory)).run(max_ticks=ticks + 1)
    raise RuntimeError("the run ended before it was to die")


def resume_ticks(directory: str, ticks: int) -> Figures:
    """Resume that run: time until its first live reading, beside that of the run itself."""
    live: list[tuple[float, float]] = []
    started, burnt = perf_counter(), process_time()
    host = ticks_world(lambda _reading: live.append((perf_counter(), process_time())))
    DurableRun(ticks_agent(), host, None, store=FileStore(directory)).run(max_ticks=ticks + 1)
    if len(live) != 1:
        raise RuntimeError(f"the resume made {len(live)} live readings instead of 1")
    written: Figures = json.loads(_beside(directory).read_text(encoding="ascii"))
    return {**written, "resume_s": live[0][0] - started, "resume_cpu_s": live[0][1] - burnt}


def parse(lines: int, rounds: int) -> Figures:
    """Time to parse a generated program of ``lines`` lines: the first time in a process, and afterwards."""
    text = long_program(lines)
    times = [seconds(lambda: parse_source(text)) for _ in range(rounds + 1)]
    return {"lines": text.count("\n"), "bytes": len(text), "first_s": times[0], "again_s": median(times[1:])}


TASKS: dict[str, Callable[..., Figures]] = POSTGRES_TASKS | {
    task.__name__: task
    for task in (
        durable_round,
        ephemeral,
        policy,
        write_actions,
        resume_actions,
        run_ticks,
        resume_ticks,
        parse,
        many_round,
        pickup,
        throughput,
    )
}
