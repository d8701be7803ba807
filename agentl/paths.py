"""Dotted paths: how one is looked up in a store, and the roots that the runtime keeps (`STA-4`, `STA-10`)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

RESERVED_ROOTS: Final = frozenset(
    {
        "tools", "sensors", "goal", "planner", "reason", "judge", "delegate", "action", "payload", "event",
        "message", "result", "last_action", "SHARED",
    }
)  # fmt: skip
"""Only the runtime writes under these (`STA-10`)."""


def is_reserved(path: str) -> bool:
    """Whether a path lies under a reserved root (`STA-10`)."""
    return path.partition(".")[0] in RESERVED_ROOTS


class Found(NamedTuple):
    """What a path resolved to: the value, and the store and key that hold it (`STA-5`)."""

    value: Any
    store: str
    key: str


@lru_cache(maxsize=8192)
def splits(path: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Every way to cut a dotted path into a flat prefix and segments, longest prefix first."""
    parts = path.split(".")
    return tuple((".".join(parts[:cut]), tuple(parts[cut:])) for cut in range(len(parts) - 1, 0, -1))


MISS: Final = object()
"""Stands for "no such key" where ``None`` and ``UNDEFINED`` are values."""


def descend(value: Any, segments: tuple[str, ...]) -> Any:
    """What nested dictionaries hold under these segments, or ``MISS`` (`STA-4`)."""
    for segment in segments:
        if type(value) is not dict:
            return MISS
        value = value.get(segment, MISS)
    return value


def lookup(store: Mapping[str, Any], path: str) -> tuple[Any, str] | None:
    """A path in one store: the flat key, else the longest flat prefix that descends (`STA-4`)."""
    if path in store:
        return store[path], path
    if store and "." in path:
        for prefix, segments in splits(path):
            if prefix in store:
                value = descend(store[prefix], segments)
                if value is not MISS:
                    return value, prefix
    return None
