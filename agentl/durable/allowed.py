"""Which steps the model allows an action: a table projected from TLC's state graphs, and a check by it.

``steps.json`` is written by ``tools/build_step_table.py`` and shipped with the package, so that a run can be
checked where there is no model checker. It is coarser than the model: it looks at one action at a time, and
does not count attempts. The trace validation of the test suite (``tools/validate_traces.py``) uses TLC.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from agentl.durable.conformance import Line, Promises

TABLE: Final = Path(__file__).with_name("steps.json")
USE_PROMISES: Final = ("Dispatch", "Settle")
_REPEATS: Final = ("retry", "not_executed")


@dataclass
class Standing:
    """Where one action stands: the state that the table is about."""

    permit: str = "none"
    call: str = "idle"
    outcome: str = "none"
    settled: str = "none"
    waiting: str = "none"
    recorded: Promises = field(default_factory=frozenset)
    host: Promises = field(default_factory=frozenset)
    begun: bool = False

    def key(self, step: str) -> str:
        """The state as the table names it; promises matter to the steps that use them."""
        usable = self.recorded & self.host if step in USE_PROMISES else frozenset[str]()
        return key_of(self.permit, self.call, self.outcome, self.settled, self.waiting, usable)


def key_of(permit: str, call: str, outcome: str, settled: str, waiting: str, usable: frozenset[str]) -> str:
    """The name of a state in the table."""
    # A reading may be repeated whatever else is promised.
    kept = {"read_only"} if "read_only" in usable else usable
    return f"{permit} {call} {outcome} {settled} {waiting} {'+'.join(sorted(kept)) or 'plain'}"


@lru_cache(maxsize=1)
def table() -> dict[str, dict[str, list[str]]]:
    """State → step → the next permit, call, outcome, last resolution and waiting verdict."""
    data: dict[str, Any] = json.loads(TABLE.read_text(encoding="utf-8"))
    found: dict[str, dict[str, list[str]]] = data["table"]
    return found


def first_wrong(lines: Sequence[Line]) -> int | None:
    """The place of the first line that the model does not allow, or ``None``."""
    if not lines or lines[0].step != "Start":
        return 0
    actions = [Standing(host=host) for host in lines[0].host]
    up = True
    for place, line in enumerate(lines[1:], 1):
        if line.step in ("Crash", "Resume", "Close"):
            if not _about_run(line, actions, up):
                return place
            up = line.step == "Resume"
        else:
            known = 1 <= line.action <= len(actions) and up is not (line.step == "Verdict")
            if not known or not _step(line, actions):
                return place
    return None


def _about_run(line: Line, actions: list[Standing], up: bool) -> bool:
    if line.step == "Resume":
        if up or len(line.host) != len(actions):
            return False
        for standing, host in zip(actions, line.host, strict=True):
            standing.host = host
        return True
    if not up:
        return False
    if line.step == "Close" and any(one.begun and one.outcome == "none" for one in actions):
        return False
    for standing in actions:
        standing.permit, standing.call = "none", "idle"
    return True


def _step(line: Line, actions: list[Standing]) -> bool:
    one = actions[line.action - 1]
    others = [other for other in actions if other is not one]
    if line.step in ("Decide", "Intent") and any(not _quiet(other) for other in others):
        return False
    if line.step == "Intent" and line.to == "new":
        one.recorded, one.begun = one.host, True
    found = table().get(one.key(line.step), {}).get(f"{line.step} {line.to}".strip())
    if found is None and line.to == "called_off":
        found = table().get(one.key(line.step), {}).get(f"{line.step} unsure")
    if found is None:
        return False
    one.permit, one.call, one.outcome, one.settled, one.waiting = found
    if line.step == "Mint":
        for other in others:
            other.permit = "void" if other.permit == "issued" else other.permit
    if line.step == "Settle" and line.to in _REPEATS:
        one.recorded = one.recorded & one.host
    return True


def _quiet(standing: Standing) -> bool:
    return standing.call == "idle" and standing.permit not in ("judged", "approved", "dispatching")
