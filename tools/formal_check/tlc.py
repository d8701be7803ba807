"""Run TLC once, in a folder of its own, and read what it says.

Each run has its own ``java.io.tmpdir`` and meta folder (TLC unpacks its standard modules there, and
runs that share one destroy each other's), ``-deadlock`` (a finished run is no error), never
``-continue`` (it ends with 0 although an invariant failed).
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools.formal_check.manifest import Run

FAULTS: Final = {
    1: "bad option", 10: "an assumption is false", 11: "deadlock", 75: "an expression could not be evaluated",
    150: "a module does not parse", 151: "the cfg names something wrong", 255: "the cfg does not parse",
}  # fmt: skip


@dataclass(frozen=True)
class Tlc:
    """Where things are: the Java executable, the jar, the folder of the modules."""

    java: str
    jar: Path
    modules: Path


@dataclass(frozen=True)
class Outcome:
    """What one run of TLC said.

    ``verdict`` is ``ok``, the name of the violated clause, ``unfinished``, ``time limit``, or the name
    of a fault; ``taken`` says per action how often it was found enabled.
    """

    verdict: str
    generated: int | None
    distinct: int | None
    depth: int | None
    initial: int | None
    taken: dict[str, int]
    seconds: float
    output: str


def verdict_of(code: int, output: str, clauses: tuple[str, ...], properties: tuple[str, ...]) -> str:
    """The verdict by name, from the exit code and the text; an unfinished run is never ``ok``."""
    if code == 0:
        finished = "Model checking completed. No error has been found." in output
        drained = re.search(r"\b0 states left on queue", output) is not None
        return "ok" if finished and drained and clauses else "unfinished"
    if code == 12 or code == 13:
        named = re.search(r"^Error: (?:Invariant|Action property) (\w+) is violated", output, re.MULTILINE)
        if named is not None and named.group(1) in clauses:
            return named.group(1)
        # An action property of another module, or a temporal one, is named by its place alone.
        if re.search(
            r"^Error: (Action property line|Temporal properties were violated)", output, re.MULTILINE
        ):
            return properties[0] if len(properties) == 1 else "one of " + ", ".join(properties)
        return "an unnamed clause"
    return FAULTS.get(code, f"exit code {code}")


def _number(pattern: str, output: str) -> int | None:
    found = re.findall(pattern, output)
    return int(found[-1].replace(",", "")) if found else None


def actions_taken(output: str) -> dict[str, int]:
    """Per action of the coverage report, the states it generated (0: never taken)."""
    taken: dict[str, int] = {}
    pattern = r"^<(\w+) line \d+, col \d+ to line \d+, col \d+ of module \w+>: (\d+):(\d+)$"
    for name, _, generated in re.findall(pattern, output, re.MULTILINE):
        taken[name] = max(taken.get(name, 0), int(generated))
    return taken


def read(code: int, output: str, run: Run, seconds: float) -> Outcome:
    """Everything the text of a finished process says."""
    return Outcome(
        verdict=verdict_of(code, output, run.clauses, run.properties),
        generated=_number(r"([\d,]+) states generated", output),
        distinct=_number(r"([\d,]+) distinct states found", output),
        depth=_number(r"depth of the complete state graph search is (\d+)", output),
        initial=_number(r"Finished computing initial states: ([\d,]+) distinct", output),
        taken=actions_taken(output),
        seconds=seconds,
        output=output,
    )


def execute(tlc: Tlc, run: Run, *, graph: Path | None = None, coverage: bool = False) -> Outcome:
    """Run TLC on ``run``; with ``graph``, leave the state graph there (the part seen, if it stops early)."""
    box = Path(tempfile.mkdtemp(prefix="check_formal."))
    started = time.perf_counter()
    try:
        for module in tlc.modules.glob("*.tla"):
            shutil.copy(module, box)
        (box / "Run.cfg").write_text(run.configuration(), encoding="utf-8")
        command = [
            tlc.java, "-XX:+UseSerialGC", "-Xmx2g", f"-Djava.io.tmpdir={box}",
            "-cp", str(tlc.jar), "tlc2.TLC", "-deadlock", "-workers", "1", "-fp", "0",
            "-metadir", str(box / "meta"), "-config", "Run.cfg",
        ]  # fmt: skip
        if run.tier == "default":  # short runs: the second compiler costs more than it gives
            command.insert(1, "-XX:TieredStopAtLevel=1")
        if coverage:
            command += ["-coverage", "60"]
        if graph is not None:
            command += ["-dump", "dot,actionlabels", str(box / "graph")]
        command.append(run.module)
        try:
            done = subprocess.run(
                command, cwd=box, capture_output=True, text=True, timeout=run.limit, check=False
            )
        except subprocess.TimeoutExpired:
            seconds = time.perf_counter() - started
            return Outcome("time limit", None, None, None, None, {}, seconds, f"more than {run.limit} s")
        if graph is not None and (box / "graph.dot").exists():
            shutil.move(str(box / "graph.dot"), graph)
        return read(done.returncode, done.stdout + done.stderr, run, time.perf_counter() - started)
    finally:
        shutil.rmtree(box, ignore_errors=True)
