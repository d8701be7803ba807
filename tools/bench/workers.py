"""Workers on a queue in PostgreSQL: how soon a run is taken up, what several reach together (`WRK-5`)."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter, process_time, sleep
from typing import Any

from tools.bench.child import ROOT, environment, run_task
from tools.bench.many_rows import database
from tools.bench.measure import median
from tools.bench.rows import Row, Sizes, at_most, workspace

HOST = """\
from tools.bench.programs import steps_world


def build():
    return steps_world({steps})
"""


def pickup(dsn: str, times: int) -> dict[str, Any]:
    """From a submission to the first line of a turn, in milliseconds; and what waiting costs."""
    from agentl.durable.queue.jobs import Job, Outcome
    from agentl.durable.queue.places import queue_at
    from agentl.durable.queue.worker import Worker

    begun: dict[str, float] = {}
    heard = threading.Event()

    def drive(job: Job, _halt: Any) -> Outcome:
        begun[job.run_id] = perf_counter()
        heard.set()
        return Outcome("ended")

    worker, queue = Worker(queue_at(dsn), drive), queue_at(dsn)
    thread = threading.Thread(target=worker.run)
    thread.start()
    waits: list[float] = []
    for number in range(times + 1):
        heard.clear()
        started = perf_counter()
        queue.submit(Job(f"r{number}", "bench.agent", "0" * 64))
        if not heard.wait(60):
            raise RuntimeError("the worker heard nothing")
        waits.append((begun[f"r{number}"] - started) * 1000)
        sleep(0.02)  # until it waits again: that is what is measured
    burnt = process_time()
    sleep(1.0)
    burnt = process_time() - burnt
    worker.stop()
    thread.join()
    return {"median_ms": median(waits[1:]), "worst_ms": max(waits[1:]), "idle_cpu": burnt}


def throughput(dsn: str, directory: str, workers: int, runs: int, steps: int) -> dict[str, Any]:
    """Steps per second of so many workers with two runs at a time, from submission to the last end."""
    from agentl.durable.program import program_digest
    from agentl.durable.queue.places import queue_at
    from agentl.language.parser import parse_file
    from tools.bench.programs import STEPS

    folder = Path(directory)
    program = folder / "bench.agent"
    program.write_text(STEPS, encoding="utf-8")
    program.with_suffix(".py").write_text(HOST.format(steps=steps), encoding="utf-8")
    digest = program_digest(parse_file(program))
    words = [sys.executable, "-m", "agentl", "worker", "--store", dsn, "--program", directory]
    words += ["--concurrency", "2", "--quiet"]
    started = [subprocess.Popen(words, cwd=ROOT, env=environment()) for _ in range(workers)]
    queue = queue_at(dsn)
    try:
        # Each has driven something once: what is measured is work, not the start of an interpreter.
        _submit(queue, program, digest, [f"warm{number}" for number in range(4 * workers)])
        begun = perf_counter()
        _submit(queue, program, digest, [f"run{number:03d}" for number in range(runs)])
        rate = runs * steps / (perf_counter() - begun)
    finally:
        for process in started:
            process.terminate()
        codes = [process.wait(60) for process in started]
        queue.close()
    if any(codes):
        raise RuntimeError(f"workers ended with {codes}")
    return {"steps_per_s": rate}


def _submit(queue: Any, program: Path, digest: str, run_ids: list[str]) -> None:
    from agentl.durable.queue.jobs import Job

    for run_id in run_ids:
        queue.submit(Job(run_id, program.name, digest, ticks=1, lang="en"))
    while any(job.state != "ended" for job in queue.jobs()):
        if any(job.state in ("refused", "stopped") for job in queue.jobs()):
            raise RuntimeError(f"a run was given up: {[job.failure for job in queue.jobs() if job.failure]}")
        sleep(0.01)


def worker_rows(sizes: Sizes, place: Path) -> Iterator[Row]:
    """The rows of workers on a PostgreSQL server of our own."""
    with database("postgres") as dsn:
        if dsn is None:
            yield Row("workers", "no PostgreSQL server here", 0, "")
            return
        figures = run_task("pickup", dsn=dsn, times=max(sizes.starts * 4, 4))
        note = (
            f"worst {figures['worst_ms']:.1f} ms; waiting takes {figures['idle_cpu'] * 100:.2f} % of a core"
        )
        name = "from submission to the turn of a waiting worker"
        yield at_most("workers", name, figures["median_ms"], "ms", 100, note=note)
    rates = []
    for workers in (1, 2):
        with database("postgres") as dsn, workspace(place) as directory:
            asked: dict[str, Any] = {"dsn": dsn, "directory": str(directory), "workers": workers}
            figures = run_task("throughput", runs=sizes.many // 2, steps=sizes.many_steps, **asked)
        rates.append(figures["steps_per_s"])
        yield Row("workers", f"{workers} worker processes, 2 runs at a time", rates[-1], "steps/s")
    yield Row("workers", "2 workers / 1 worker", rates[1] / rates[0], "×")
