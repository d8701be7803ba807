"""The rows of the table: what is measured in which order, and the target beside each figure."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from tools.bench.child import ROOT, environment, run_task
from tools.bench.measure import median
from tools.bench.postgres import postgres_rows

MODES = {"on": True, "off": False}
PAYMENTS = ROOT / "docs" / "examples" / "payments" / "payments.agent"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. ``met`` is None where nothing is bound."""

    group: str
    name: str
    value: float
    unit: str
    target: str = ""
    met: bool | None = None
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much work each row does."""

    rounds: int
    steps: int
    calls: int
    decisions: int
    actions: int
    ticks: tuple[int, ...]
    lines: int
    starts: int
    many: int = 64
    many_steps: int = 60


FULL = Sizes(5, 2000, 20000, 4000, 10000, (2500, 5000, 10000), 2000, 9)
QUICK = Sizes(1, 60, 300, 200, 200, (50, 100, 200), 2000, 2, 8, 5)


def at_least(group: str, name: str, value: float, unit: str, bound: float, **more: str) -> Row:
    """A row whose figure must not be below ``bound``."""
    return Row(group, name, value, unit, f"≥ {bound:g}", value >= bound, **more)


def at_most(group: str, name: str, value: float, unit: str, bound: float, **more: str) -> Row:
    """A row whose figure must not be above ``bound``."""
    return Row(group, name, value, unit, f"≤ {bound:g}", value <= bound, **more)


@contextmanager
def workspace(base: Path | None) -> Iterator[Path]:
    """A directory on the disk that is measured, removed afterwards."""
    directory = Path(tempfile.mkdtemp(prefix="agentl-bench-", dir=base))
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def durable_rows(sizes: Sizes, place: Path) -> Iterator[Row]:
    """The two-sync floor and the durable step beside it, contracts on and off in alternation."""
    rounds: dict[str, list[dict[str, Any]]] = {mode: [] for mode in MODES}
    for number in range(sizes.rounds):
        for mode, contracts in MODES.items():
            with workspace(place) as directory:
                rounds[mode].append(
                    run_task(
                        "durable_round",
                        contracts=contracts,
                        directory=str(directory),
                        steps=sizes.steps,
                        number=number,
                    )
                )

    def middle(mode: str, kind: str, figure: str) -> float:
        return median([figures[kind][figure] for figures in rounds[mode]])

    names = {"file": "FileStore", "sqlite": "SQLiteStore"}
    bounds = {("file", "on"): 0.50, ("file", "off"): 0.65, ("sqlite", "on"): 0.50}
    for kind, store in names.items():
        floors = [figures[kind]["floor_per_s"] for mode in MODES for figures in rounds[mode]]
        what = "append + fsync, twice" if kind == "file" else "insert + commit, twice"
        yield Row("floor", f"{what} ({kind})", median(floors), "steps/s")
        for mode in MODES:
            yield Row(
                "durable", f"{store} step, contracts {mode}", middle(mode, kind, "steps_per_s"), "steps/s"
            )
            yield Row(
                "durable", f"{store} processor time per step, {mode}", middle(mode, kind, "cpu_us"), "µs"
            )
            ratio = middle(mode, kind, "ratio")
            name = f"{store} step / floor, contracts {mode}"
            bound = bounds.get((kind, mode))
            yield (
                Row("durable", name, ratio, "×")
                if bound is None
                else at_least("durable", name, ratio, "×", bound)
            )
        yield at_most(
            "durable", f"{store} bytes per action at rest", middle("on", kind, "bytes_per_action"), "B", 1000
        )
    yield Row(
        "durable",
        "FileStore syncs per action",
        middle("on", "file", "syncs_per_action"),
        "syncs",
        "2 + what opens and closes the run",
        abs(middle("on", "file", "syncs") - 2 * sizes.steps) <= 20,
        f"{middle('on', 'file', 'syncs'):.0f} syncs for {sizes.steps} actions",
    )


def ephemeral_rows(sizes: Sizes, _place: Path) -> Iterator[Row]:
    """Governed calls of a run that is not durable."""
    rates: dict[str, list[float]] = {mode: [] for mode in MODES}
    for _ in range(sizes.rounds):
        for mode, contracts in MODES.items():
            rates[mode].append(run_task("ephemeral", contracts=contracts, calls=sizes.calls)["calls_per_s"])
    for mode, bound in (("on", 8000), ("off", 20000)):
        yield at_least(
            "ephemeral", f"governed calls, contracts {mode}", median(rates[mode]), "calls/s", bound
        )


def policy_rows(sizes: Sizes, _place: Path) -> Iterator[Row]:
    """One policy decision, contracts on."""
    for tools, per_tool, bound in ((5, 10, 25.0), (1, 50, None), (50, 10, 60.0), (1, 500, None)):
        figures = run_task("policy", tools=tools, rules_per_tool=per_tool, times=sizes.decisions)
        where = "one tool" if tools == 1 else f"{tools} tools"
        name = f"decision p50, {tools * per_tool} rules over {where}"
        note = f"p99 {figures['p99_us']:.0f} µs"
        if bound is None:
            yield Row("policy", name, figures["p50_us"], "µs", note=note)
        else:
            yield at_most("policy", name, figures["p50_us"], "µs", bound, note=note)


def resume_rows(sizes: Sizes, place: Path) -> Iterator[Row]:
    """Re-derivation of a long journal, and of many ticks with a growing memory."""
    with workspace(place) as directory:
        run = str(directory / "actions")
        run_task("write_actions", status=9, directory=run, actions=sizes.actions)
        figures = run_task("resume_actions", directory=run, actions=sizes.actions)
    note = f"{figures['entries']} entries in {figures['resume_s']:.2f} s, opening {figures['open_s']:.2f} s"
    yield at_least(
        "resume",
        f"re-derived after {sizes.actions} actions",
        figures["entries_per_s"],
        "entries/s",
        10000,
        note=note,
    )
    yield at_most("resume", "peak resident memory of that resume", figures["peak_rss_mb"], "MB", 120)
    yield from _tick_rows(sizes, place)


def _tick_rows(sizes: Sizes, place: Path) -> Iterator[Row]:
    per_tick: dict[str, list[float]] = {"run": [], "resume": []}
    for ticks in sizes.ticks:
        with workspace(place) as directory:
            run = str(directory / "ticks")
            run_task("run_ticks", status=9, directory=run, ticks=ticks)
            figures = run_task("resume_ticks", directory=run, ticks=ticks)
        for word, costs in per_tick.items():
            costs.append(figures[f"{word}_cpu_s"] / ticks)
            note = f"{costs[-1] * 1e6:.0f} µs of processor time per tick"
            yield Row("ticks", f"{word} {ticks} ticks, one record each", figures[f"{word}_s"], "s", note=note)
    times = sizes.ticks[-1] // sizes.ticks[0]
    for word, costs in per_tick.items():
        name = f"{word}: processor time per tick after {times} times the ticks"
        yield at_most("ticks", name, costs[-1] / costs[0], "×", 1.25)


def parse_rows(sizes: Sizes, _place: Path) -> Iterator[Row]:
    """Parsing of a long program."""
    figures = run_task("parse", lines=sizes.lines, rounds=3)
    note = f"{figures['again_s']:.2f} s once the grammar is loaded; {figures['bytes'] / 1000:.0f} kB"
    yield at_most(
        "parse",
        f"a program of {figures['lines']} lines, first parse",
        figures["first_s"],
        "s",
        1.0,
        note=note,
    )


def _start(arguments: list[str], starts: int, accepted: tuple[int, ...] = (0,)) -> float:
    times: list[float] = []
    for _ in range(starts + 1):
        started = perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "agentl", *arguments],
            cwd=ROOT,
            env=environment(),
            capture_output=True,
            check=False,
        )
        times.append(perf_counter() - started)
        if done.returncode not in accepted:
            said = done.stderr.decode("utf-8", "replace").strip()[-500:]
            raise RuntimeError(f"agentl {' '.join(arguments)} ended with {done.returncode}: {said}")
    return median(times[1:])


def start_rows(sizes: Sizes, _place: Path) -> Iterator[Row]:
    """How long a command takes from the shell to its end."""
    yield at_most("start", "agentl --version", _start(["--version"], sizes.starts), "s", 0.25)
    if not PAYMENTS.exists():
        return
    yield Row("start", "agentl check payments.agent", _start(["check", str(PAYMENTS)], sizes.starts), "s")
    # Zero ticks: host module, check, parse and runtime are set up, and nothing is called.
    arguments = ["run", str(PAYMENTS), "--ticks", "0", "--quiet"]
    yield Row("start", "agentl run payments.agent, no tick", _start(arguments, sizes.starts), "s")


GROUPS: dict[str, Callable[[Sizes, Path], Iterator[Row]]] = {
    "durable": durable_rows,
    "postgres": postgres_rows,
    "ephemeral": ephemeral_rows,
    "policy": policy_rows,
    "resume": resume_rows,
    "parse": parse_rows,
    "start": start_rows,
}
