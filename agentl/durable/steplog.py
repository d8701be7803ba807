"""A log of the steps of a run, one JSON line each, for those who hold it against the model.

The first line names the format. The last one says how many steps there are: a log without it was cut, and
whoever collects logs writes it when the run is over, however many processes it took.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from agentl.errors import DurableError
from agentl.kernel import steps as told
from agentl.kernel.steps import Step

FORMAT: Final = "agentl.steps.v1"
_KINDS: Final[dict[str, type[Any]]] = {
    kind.__name__: kind
    for kind in (
        told.Decide, told.Approve, told.Mint, told.Intent, told.Dispatch, told.Settle, told.Result,
        told.Verdict, told.Close, told.Crash, told.Resume,
    )
}  # fmt: skip


class StepLog:
    """A listener that appends each step to a file, in one write, so that a killed process loses none."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if not self.path.exists():
            self._append({"format": FORMAT})

    def __call__(self, step: Step, /) -> None:
        """Append one step."""
        self._append({"step": type(step).__name__, **asdict(step)})

    def finish(self) -> None:
        """Say that the log is complete."""
        self._append({"end": len(self.path.read_text(encoding="utf-8").splitlines()) - 1})

    def _append(self, data: dict[str, Any]) -> None:
        with self.path.open("ab", buffering=0) as file:
            file.write(json.dumps(data, ensure_ascii=True).encode("ascii") + b"\n")


def read_steps(path: str | os.PathLike[str]) -> list[Step]:
    """The steps of a complete log.

    Raises:
        DurableError: there is no such file, it is empty or cut, of another format, or a line is no step.
    """
    file = Path(path)
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise _refused(file, 0, "unreadable") from error
    if len(lines) < 2:
        raise _refused(file, len(lines), "empty")
    if _line(file, 1, lines[0]).get("format") != FORMAT:
        raise _refused(file, 1, "format")
    end = _line(file, len(lines), lines[-1]).get("end")
    if end != len(lines) - 2:
        raise _refused(file, len(lines), "cut")
    steps = [_step(file, number, line) for number, line in enumerate(lines[1:-1], 2)]
    if not steps:
        raise _refused(file, 1, "empty")
    return steps


def write_steps(path: str | os.PathLike[str], steps: Iterable[Step]) -> None:
    """A complete log of steps that are known already."""
    log = StepLog(path)
    for step in steps:
        log(step)
    log.finish()


def _line(file: Path, number: int, line: str) -> dict[str, Any]:
    try:
        data = json.loads(line)
    except ValueError as error:
        raise _refused(file, number, "unreadable") from error
    return data if isinstance(data, dict) else {}


def _step(file: Path, number: int, line: str) -> Step:
    data = _line(file, number, line)
    kind = _KINDS.get(str(data.pop("step", "")))
    if kind is None:
        raise _refused(file, number, "unknown")
    try:
        given = {name: tuple(item) if isinstance(item, list) else item for name, item in data.items()}
        step: Step = kind(**given)
    except TypeError as error:
        raise _refused(file, number, "unknown") from error
    return step


def _refused(file: Path, line: int, why: str) -> DurableError:
    return DurableError(code=f"durable.steps_{why}", file=str(file), line=line)
