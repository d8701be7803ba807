"""NEVER SEND: what is withheld from models, sub-agents and whoever reads a trace (`LLM-5`).

A protected path is withheld with everything below it, wherever it is named. In a trace the
value may also arrive under another name (an argument, the text of an error), so the values
that stand under protected paths are withheld by their text as well, when that text is long
enough to be told apart from ordinary words and numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, Final

from agentl.messages import fmt
from agentl.runtime.paths import covers
from agentl.state import State
from agentl.values import UNDEFINED

REDACTED: Final = "⟦retenu⟧"
_DISTINCT: Final = 4
_COLLECTIONS: Final = (list, tuple, set, frozenset)
_NUMBERS: Final = (int, float, Decimal)
_PATH_VALUES: Final = ("value", "before", "after", "predicted", "observed", "hidden")


class Redactor:
    """Withholds the values of the protected paths of one agent."""

    def __init__(self, protected: Iterable[str]) -> None:
        self.protected = tuple(dict.fromkeys(protected))

    def covered(self, path: str) -> bool:
        """Whether ``path`` is protected, itself or through a parent."""
        return any(covers(secret, path) for secret in self.protected)

    def mask(self, path: str, value: Any, withheld: list[str]) -> Any:
        """``value`` of ``path`` as it may be shown; the paths withheld are added to ``withheld``."""
        if self.covered(path):
            withheld.append(path)
            return REDACTED
        if not any(covers(path, secret) for secret in self.protected):
            return value
        return self._walk(path, value, withheld)

    def _walk(self, path: str, value: Any, withheld: list[str]) -> Any:
        if isinstance(value, Mapping):
            return {key: self.mask(f"{path}.{key}", item, withheld) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._walk(path, item, withheld) for item in value]
        if value is None or value is UNDEFINED:
            return value
        withheld.append(path)
        return REDACTED

    def secrets(self, state: State) -> list[str]:
        """The texts that stand under protected paths now, longest first."""
        found: dict[str, None] = {}
        for store in (state.world, state.locals, state.untrusted):
            for path, value in store.items():
                self._collect(path, value, found)
        for path, belief in state.beliefs.items():
            self._collect(path, belief.value, found)
        for secret in self.protected:
            self._collect(secret, state.get(secret), found)
        return sorted(found, key=lambda text: (-len(text), text))

    def _collect(self, path: str, value: Any, found: dict[str, None]) -> None:
        if self.covered(path):
            _texts(value, found)
        elif isinstance(value, Mapping):
            for key, item in value.items():
                self._collect(f"{path}.{key}", item, found)

    def mask_event(self, values: Mapping[str, Any], state: State) -> dict[str, Any]:
        """The values of a trace event as they may be shown."""
        path = values.get("path")
        shown: dict[str, Any] = {}
        secrets = self.secrets(state)
        for name, value in values.items():
            if isinstance(path, str) and name in _PATH_VALUES:
                value = self.mask(path, value, [])
            elif name in ("payload", "record", "args", "produced", "result") and isinstance(value, Mapping):
                value = {key: self._field(name, str(key), item) for key, item in value.items()}
            shown[name] = _without(value, secrets)
        return shown

    def _field(self, holder: str, key: str, value: Any) -> Any:
        if self.covered(key) or (holder == "payload" and self.covered(f"payload.{key}")):
            return REDACTED
        return self.mask(key, value, [])


def _texts(value: Any, found: dict[str, None]) -> None:
    if isinstance(value, Mapping):
        for key, item in value.items():
            _texts(key, found)
            _texts(item, found)
    elif isinstance(value, _COLLECTIONS):
        for item in value:
            _texts(item, found)
    elif value is not None and not isinstance(value, bool):
        for text in (fmt(value), str(value)):
            if len(text) >= _DISTINCT and value is not UNDEFINED and text != REDACTED:
                found[text] = None


def _without(value: Any, secrets: list[str]) -> Any:
    if isinstance(value, str):
        for secret in secrets:
            if secret in value:
                value = value.replace(secret, REDACTED)
        return value
    if isinstance(value, Mapping):
        return {_without(key, secrets): _without(item, secrets) for key, item in value.items()}
    if isinstance(value, _COLLECTIONS):
        return type(value)(_without(item, secrets) for item in value)
    if value is None or value is UNDEFINED or isinstance(value, bool):
        return value
    texts = (fmt(value), str(value))
    if isinstance(value, _NUMBERS):
        # A number is the secret or it is another one; part of its digits says nothing.
        return REDACTED if any(text in secrets for text in texts) else value
    return REDACTED if any(secret in text for secret in secrets for text in texts) else value


__all__ = ["REDACTED", "Redactor"]
