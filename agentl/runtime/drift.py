"""Effect drift: how often what a tool promised was confirmed by a reading (`DRI-1` to `DRI-3`)."""

from __future__ import annotations

from typing import Any, Final

from agentl.labels import RUNTIME_LABEL
from agentl.logic import equal
from agentl.messages import render
from agentl.runtime.core import Core
from agentl.runtime.trace import frozen

EFFECT_CONFIDENCE: Final = 0.80
REGISTRY_KEY: Final = "effect_drift"
EFFECT_SOURCE: Final = "effect:"
_CONFIRMED: Final = "confirmé"
_DENIED: Final = "démenti"


class Drift:
    """The registry of (tool, path) pairs and how readings judged them.

    Attributes:
        judged: confirmations and denials by (tool, path), in the order of the first judgement.
    """

    def __init__(self, core: Core) -> None:
        self.core = core
        self.judged: dict[tuple[str, str], list[int]] = {}
        self._kept = REGISTRY_KEY in core.agent.memory.long_term

    def confidence(self, tool: str, path: str) -> float:
        """The confidence of a belief that ``tool`` predicts for ``path`` (`DRI-2`)."""
        counts = self.judged.get((tool, path))
        if counts is None:
            return EFFECT_CONFIDENCE
        return (counts[0] + 0.5) / (counts[0] + counts[1] + 1)

    def judge(self, path: str, belief: Any, observed: Any) -> None:
        """A reading succeeds ``belief``: if an effect predicted it, it is confirmed or denied (`DRI-1`)."""
        if belief is None or not belief.source.startswith(EFFECT_SOURCE):
            return
        tool = belief.source[len(EFFECT_SOURCE) :]
        counts = self.judged.setdefault((tool, path), [0, 0])
        if equal(belief.value, observed):
            counts[0] += 1
        else:
            counts[1] += 1
            self.core.count("effect_drift")
            self.core.say(
                "ERROR",
                "drift.denied",
                {
                    "tool": tool,
                    "path": path,
                    "predicted": frozen(belief.value),
                    "observed": frozen(observed),
                    "denied": counts[1],
                    "judged": counts[0] + counts[1],
                },
            )
        self._save()

    def _save(self) -> None:
        if not self._kept:
            return
        records = [
            {"tool": tool, "path": path, _CONFIRMED: confirmed, _DENIED: denied}
            for (tool, path), (confirmed, denied) in self.judged.items()
        ]
        self.core.state.set_memory("LONG_TERM", REGISTRY_KEY, records, RUNTIME_LABEL)

    def load(self) -> None:
        """Read the registry back from memory; what is malformed is ignored (`DRI-3`)."""
        if not self._kept:
            return
        records = self.core.state.memory["LONG_TERM"].get(REGISTRY_KEY)
        loaded: dict[tuple[str, str], list[int]] = {}
        for record in records if isinstance(records, list) else ():
            pair = _pair(record)
            if pair is not None:
                loaded[pair[0], pair[1]] = [pair[2], pair[3]]
        self.judged = loaded
        if loaded:
            self.core.say("MEMORY", "drift.loaded", {"pairs": len(loaded)})

    def report(self) -> list[str]:
        """The lines of the final report; empty when nothing was judged (`DRI-3`)."""
        if not self.judged:
            return []
        lines = [render("drift.report")]
        for (tool, path), (confirmed, denied) in self.judged.items():
            values = {
                "confirmed": confirmed,
                "judged": confirmed + denied,
                "credibility": self.confidence(tool, path),
            }
            lines.append(f"  {'✘' if denied else '✔'} {tool}() → {path} : {render('drift.line', values)}")
        return lines


def _pair(record: Any) -> tuple[str, str, int, int] | None:
    if not isinstance(record, dict):
        return None
    tool, path = record.get("tool"), record.get("path")
    confirmed, denied = record.get(_CONFIRMED), record.get(_DENIED)
    if not isinstance(tool, str) or not isinstance(path, str):
        return None
    if type(confirmed) is not int or type(denied) is not int or min(confirmed, denied) < 0:
        return None
    return (tool, path, confirmed, denied) if confirmed + denied else None


__all__ = ["EFFECT_CONFIDENCE", "EFFECT_SOURCE", "Drift"]
