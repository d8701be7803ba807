"""The state as the guards of a policy see it: with the judged action laid over the locals (`POL-4`)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from agentl.labels import RUNTIME_LABEL, UNKNOWN_LABEL, Prov, join
from agentl.paths import MISS, Found, lookup
from agentl.state import State
from agentl.values import UNDEFINED, Symbol

CONTROL: Final = "$control"
"""The entry of a request's provenance that holds the label of the decisions it stands under (`TOL-1`)."""

_RUNTIME_FACTS: Final = ("action.tool", "action.risk", "action.origin")


@lru_cache(maxsize=1024)
def _symbol(name: str) -> Symbol:
    return Symbol(name)


class Scope:
    """A state with one judged action over its locals; nothing is copied, nothing is changed.

    ``action.tool``, ``.risk``, ``.origin``, ``.confidence`` and ``.args.<k>…`` answer for the action.
    A bare argument name answers for exactly that name and hides a homonymous value; ``<k>.x``
    keeps its ordinary resolution (`POL-4`). Labels are those of the proposal (`POL-5`).
    """

    __slots__ = ("arguments", "confidence", "origin", "provenance", "risk", "state", "tool")

    def __init__(
        self,
        state: State,
        tool: str,
        arguments: Mapping[str, Any],
        provenance: Mapping[str, Prov | None],
        risk: str,
        origin: str,
        confidence: Any,
    ) -> None:
        self.state = state
        self.tool = tool
        self.arguments = arguments
        self.provenance = provenance
        self.risk = risk
        self.origin = origin
        self.confidence = confidence

    def _of_action(self, path: str) -> Found | None:
        """What the action itself answers; ``None`` leaves the path to the state."""
        if path[:7] == "action.":
            if path[:12] == "action.args.":
                hit = lookup(self.arguments, path[12:])
                return None if hit is None else Found(hit[0], "argument", hit[1])
            if path in _RUNTIME_FACTS:
                return Found(_symbol(getattr(self, path[7:])), "action", path)
            return Found(self.confidence, "action", path) if path == "action.confidence" else None
        value = self.arguments.get(path, MISS)
        if value is not MISS:
            return Found(value, "argument", path)
        if path == "confidence":
            state = self.state
            if path not in state.locals and path not in state.beliefs and path not in state.world:
                return Found(self.confidence, "action", path)
        return None

    def find(self, path: str) -> Found | None:
        """As ``State.find``; the action answers first."""
        return self._of_action(path) or self.state.find(path)

    def get(self, path: str) -> Any:
        """As ``State.get``."""
        if path[:7] != "action.":
            value = self.arguments.get(path, MISS)
            if value is not MISS:
                return value
            if path != "confidence":
                return self.state.get(path)
        found = self._of_action(path)
        return self.state.get(path) if found is None else found.value

    def get_labeled(self, path: str) -> tuple[Any, Prov]:
        """As ``State.get_labeled``."""
        found = self.find(path)
        return (UNDEFINED, UNKNOWN_LABEL) if found is None else (found.value, self.label_of(found))

    def label_of(self, found: Found) -> Prov:
        """As ``State.label_of``; an argument carries its label of the proposal (`POL-5`)."""
        if found.store == "argument":
            return self.provenance.get(found.key) or UNKNOWN_LABEL
        if found.store == "action":
            return RUNTIME_LABEL if found.key in _RUNTIME_FACTS else UNKNOWN_LABEL
        return self.state.label_of(found)

    @property
    def action_label(self) -> Prov:
        """The label of the whole action: its control label and those of all arguments (`POL-5`)."""
        provenance = self.provenance
        return join(provenance.get(CONTROL), *[provenance.get(name) for name in self.arguments])

    def argument(self, name: str, otherwise: Any) -> Any:
        """The argument of that bare name, else ``otherwise``: an argument always answers (`POL-4`)."""
        return self.arguments.get(name, otherwise)

    def confidence_of(self, path: str) -> float | None:
        """As ``State.confidence_of``."""
        return self.state.confidence_of(path)

    def attested_by(self, value: Any) -> set[str]:
        """As ``State.attested_by``."""
        return self.state.attested_by(value)
