"""What the arguments of an annotation look like; a line of another shape is none of ours (`DUR-4`).

The chain shows that nobody changed a line by accident. Whoever makes the whole chain again can
still write nonsense into it, and nonsense must be refused as such, not met later as an error of
the program that reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from agentl.journal.entry import Entry

Check = Callable[[Any], bool]


def _text(value: Any) -> bool:
    return type(value) is str


def _count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _truth(value: Any) -> bool:
    return type(value) is bool


def _texts(value: Any) -> bool:
    return type(value) is list and all(type(item) is str for item in value)


def _promises(value: Any) -> bool:
    return type(value) is dict and all(
        type(targets) is dict and all(_texts(names) for names in targets.values())
        for targets in value.values()
    )


_NEEDED: Final[Mapping[str, tuple[tuple[str, Check], ...]]] = {
    "open": (("max_ticks", _count), ("program_sha256", _text), ("agents", _texts), ("promises", _promises)),
    "intent": (
        ("action_id", _text),
        ("hash", _text),
        ("key", _text),
        ("kind", _text),
        ("promise", _texts),
    ),
    "resolution": (("action_id", _text), ("how", _text)),
    "verdict": (("action_id", _text), ("executed", _truth)),
    "reconcile": (("action_id", _text),),
    "checkpoint": (),
    "close": (("ticks", _count), ("reason", _text)),
    "resume": (),
    "extend": (("max_ticks", _count),),
    "cancel": (("by", _text), ("at", _text)),
    "park": (("request_id", _text), ("kind", _text), ("hash", _text), ("at", _text)),
}
_OPTIONAL: Final[Mapping[str, tuple[tuple[str, Check], ...]]] = {
    "open": (("epoch", _count), ("lang", _text)),
    "resolution": (("attempt", _count), ("promise", _texts)),
    "verdict": (("by", _text), ("at", _text)),
    "resume": (("epoch", _count),),
    "close": (("trace_sha256", _text),),
    "park": (("deadline", _text),),
    "cancel": (("reason", _text),),
}


def fits(entry: Entry) -> bool:
    """Whether an entry has the arguments that `DUR-4` names; crossings are compared as they are served."""
    needed = _NEEDED.get(entry.kind)
    if needed is None:
        return True
    args = entry.stored_args
    if type(args) is not dict:
        return False
    for name, check in needed:
        if name not in args or not check(args[name]):
            return False
    return all(name not in args or check(args[name]) for name, check in _OPTIONAL.get(entry.kind, ()))
