"""Have TLC judge recorded runs: does some behaviour of ``Kernel.tla`` match each of them?

Logs become the generated module ``TraceData.tla``; ``formal/TraceKernel.tla`` says what accepts them. Nothing
passes by being absent: no log, an empty one, or a run of TLC that did not finish is a failure.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from tools.formal_check.tlc import Tlc

ACTIONS: Final = (
    "Decide", "Approve", "Mint", "Intent", "Dispatch", "Settle", "Result", "Verdict", "Close", "Crash",
    "Resume",
)  # fmt: skip
"""The actions of the model that a log can tell of. ``Tamper`` is the environment's, and nobody sees it."""

UNKNOWN: Final = 1_000_000


class TraceError(Exception):
    """The traces cannot be judged, which is never a pass."""


class Line(Protocol):
    """What is read of a line (``agentl.durable.conformance.Line``)."""

    @property
    def step(self) -> str: ...
    @property
    def action(self) -> int: ...
    @property
    def to(self) -> str: ...
    @property
    def bound(self) -> int: ...
    @property
    def rule(self) -> tuple[str, ...]: ...
    @property
    def host(self) -> tuple[frozenset[str], ...]: ...
    @property
    def records(self) -> int: ...


@dataclass(frozen=True)
class Rejected:
    """A log that no behaviour of the model matches.

    ``line`` is the first one that contradicts the model: its place in the log (from 0).
    """

    log: int
    line: int


@dataclass
class Verdict:
    """What came out: how many logs, how many lines of each kind, what was never seen, what was rejected."""

    logs: int
    lines: Counter[str]
    states: int
    seconds: float
    rejected: list[Rejected] = field(default_factory=list)

    @property
    def never_seen(self) -> list[str]:
        """Actions of the model without a single line."""
        return [action for action in ACTIONS if not self.lines[action]]

    def report(self) -> str:
        """The numbers, for people (R100)."""
        kinds = ", ".join(f"{action} {self.lines[action]}" for action in ACTIONS)
        never = ", ".join(self.never_seen) or "none"
        return (
            f"{self.logs} traces, {self.logs - len(self.rejected)} accepted; "
            f"{sum(self.lines.values())} steps ({kinds}); model actions never seen: {never}; "
            f"{self.states} states, {self.seconds:.1f} s"
        )


def _sequence(items: Sequence[str]) -> str:
    return f"<<{', '.join(items)}>>"


def _line(line: Line, size: int) -> str:
    rule = [f'"{word}"' for word in line.rule] + ['"deny"'] * (size - len(line.rule) if line.rule else 0)
    host = ["{" + ", ".join(f'"{name}"' for name in sorted(promise)) + "}" for promise in line.host]
    host += ["{}"] * (size - len(line.host) if line.host else 0)
    return (
        f'[step |-> "{line.step}", action |-> {max(line.action, 1)}, to |-> "{line.to}", '
        f"bound |-> {line.bound}, records |-> {line.records}, "
        f"rule |-> {_sequence(rule)}, host |-> {_sequence(host)}]"
    )


def _padding(size: int, judged: int) -> list[str]:
    return [
        f'[step |-> "Decide", action |-> {late}, to |-> "refused", bound |-> 1, records |-> {UNKNOWN}, '
        f"rule |-> <<>>, host |-> <<>>]"
        for late in range(judged + 1, size + 1)
    ]


def module(logs: Sequence[Sequence[Line]], *, verbose: bool) -> tuple[str, list[list[int]]]:
    """The text of ``TraceData.tla``, and for each line in it the place of its origin in the log.

    All logs share one number of actions: what a program does not propose is a proposal refused at its end,
    just before the run closes.
    """
    size = max(len(log[0].rule) for log in logs)
    texts, places = [], []
    for log in logs:
        lines, origin = [], []
        for place, line in enumerate(log):
            if line.step == "Close":
                added = _padding(size, len(log[0].rule))
                lines += added
                origin += [place] * len(added)
            lines.append(_line(line, size))
            origin.append(place)
        texts.append("  <<\n    " + ",\n    ".join(lines) + "\n  >>")
        places.append(origin)
    text = (
        "------------------------------ MODULE TraceData ------------------------------\n"
        "EXTENDS Naturals\n"
        f"LogActions == 1..{size}\n"
        f"Verbose == {'TRUE' if verbose else 'FALSE'}\n"
        "Logs == <<\n" + ",\n".join(texts) + "\n>>\n"
        "=============================================================================\n"
    )
    return text, places


def _run(tlc: Tlc, text: str, limit: int) -> tuple[str, int]:
    box = Path(tempfile.mkdtemp(prefix="check_traces."))
    try:
        for found in (*tlc.modules.glob("*.tla"), tlc.modules / "TraceKernel.cfg"):
            shutil.copy(found, box)
        (box / "TraceData.tla").write_text(text, encoding="utf-8")
        command = [
            tlc.java, "-XX:+UseSerialGC", "-Xmx2g", "-Xss16m", f"-Djava.io.tmpdir={box}", "-cp", str(tlc.jar),
            "tlc2.TLC", "-deadlock", "-workers", "1", "-metadir", str(box / "meta"),
            "-config", "TraceKernel.cfg", "TraceKernel",
        ]  # fmt: skip
        try:
            done = subprocess.run(
                command, cwd=box, capture_output=True, text=True, timeout=limit, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise TraceError(f"TLC did not finish within {limit} s, so nothing is established") from error
    finally:
        shutil.rmtree(box, ignore_errors=True)
    if done.returncode != 0 or "Model checking completed. No error has been found." not in done.stdout:
        raise TraceError(f"TLC ended with {done.returncode}:\n{done.stdout[-3000:]}")
    states = re.findall(r"([\d,]+) states generated", done.stdout)
    return done.stdout, int(states[-1].replace(",", "")) if states else 0


def judge(tlc: Tlc, logs: Sequence[Sequence[Line]], *, limit: int = 300) -> Verdict:
    """Judge all logs in one run of TLC; those that are rejected get a second one that finds the line.

    Raises:
        TraceError: there is no log, one has no step, or TLC did not finish.
    """
    if not logs:
        raise TraceError("there is no trace, so nothing would be checked")
    for number, log in enumerate(logs):
        if len(log) < 2 or log[0].step != "Start":
            raise TraceError(f"trace {number} is empty, so nothing would be checked")
    started = time.perf_counter()
    counts = Counter(line.step for log in logs for line in log[1:])
    output, states = _run(tlc, module(logs, verbose=False)[0], limit)
    accepted = {int(number) for number in re.findall(r'<<"ACCEPTED", (\d+)>>', output)}
    missing = [number for number in range(len(logs)) if number + 1 not in accepted]
    rejected = []
    if missing:
        text, places = module([logs[number] for number in missing], verbose=True)
        output, _ = _run(tlc, text, limit)
        reached = Counter[int]()
        for log_number, line in re.findall(r'<<"REACHED", (\d+), (\d+)>>', output):
            reached[int(log_number)] = max(reached[int(log_number)], int(line))
        for position, number in enumerate(missing):
            failing = max(reached[position + 1], 1)
            rejected.append(Rejected(number, places[position][min(failing, len(places[position]) - 1)]))
    return Verdict(len(logs), counts, states, time.perf_counter() - started, rejected)
