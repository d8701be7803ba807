"""Where a value comes from: sources, and labels as immutable sets of them (`PRV-1`, `PRV-2`).

A label only ever grows: the one operation is union, and nothing removes a source (`PRV-4`).
Labels are interned bit masks, so that a union costs one dictionary look-up and equal labels
are the same object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, NoReturn

from agentl.messages import render

DECLARED: Final = "DECLARED"
RUNTIME: Final = "RUNTIME"
OBSERVED: Final = "OBSERVED"
HUMAN: Final = "HUMAN"
EFFECT: Final = "EFFECT"
INFERRED: Final = "INFERRED"
FALLBACK: Final = "FALLBACK"
TOOL: Final = "TOOL"
MESSAGE: Final = "MESSAGE"
EVENT: Final = "EVENT"
DELEGATE: Final = "DELEGATE"
LLM: Final = "LLM"
SHARED: Final = "SHARED"
MEMORY: Final = "MEMORY"
EXTERNAL: Final = "EXTERNAL"
UNKNOWN: Final = "UNKNOWN"

TRUSTED_SOURCES: Final = (DECLARED, RUNTIME, OBSERVED, HUMAN, EFFECT, INFERRED, FALLBACK)
UNTRUSTED_SOURCES: Final = (TOOL, MESSAGE, EVENT, DELEGATE, LLM, SHARED, MEMORY, EXTERNAL, UNKNOWN)
SOURCES: Final = TRUSTED_SOURCES + UNTRUSTED_SOURCES

_BIT: Final = {name: 1 << position for position, name in enumerate(SOURCES)}
_UNTRUSTED_MASK: Final = sum(_BIT[name] for name in UNTRUSTED_SOURCES)
_LLM_MASK: Final = _BIT[LLM]


class SourceError(ValueError):
    """A source name that `PRV-1` does not list (code ``prov.source``)."""

    def __init__(self, source: object) -> None:
        super().__init__(source)
        self.code = "prov.source"
        self.values = {"source": str(source)}

    def __str__(self) -> str:
        return render(self.code, self.values)


class Prov:
    """A label: an immutable set of sources (`PRV-1`, `PRV-2`).

    Attributes:
        sources: the set, for membership and comparison.
        names: the same in alphabetical order, for iteration and display.
        untrusted: some source is untrusted, **or there is none at all**.
        llm_derived: a model had a part in the value.

    Raises:
        SourceError: a name is not a listed source.
    """

    __slots__ = ("llm_derived", "mask", "names", "sources", "untrusted")
    mask: int
    names: tuple[str, ...]
    sources: frozenset[str]
    untrusted: bool
    llm_derived: bool

    def __new__(cls, sources: Iterable[str] = ()) -> Prov:
        mask = 0
        for source in (sources,) if isinstance(sources, str) else sources:
            bit = _BIT.get(source)
            if bit is None:
                raise SourceError(source)
            mask |= bit
        return _label(mask)

    def __or__(self, other: Prov) -> Prov:
        if type(other) is not Prov:
            return NotImplemented
        mask = self.mask | other.mask
        return self if mask == self.mask else _INTERNED.get(mask) or _label(mask)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, source: object) -> bool:
        return source in self.sources

    def __len__(self) -> int:
        return len(self.names)

    def __bool__(self) -> bool:
        return True

    def __hash__(self) -> int:
        return self.mask

    def __repr__(self) -> str:
        return f"Prov({', '.join(self.names)})"

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"a label is immutable: {name}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a label is immutable: {name}")

    def __copy__(self) -> Prov:
        return self

    def __deepcopy__(self, _memo: Any) -> Prov:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (Prov, (self.names,))


_INTERNED: Final[dict[int, Prov]] = {}


def _label(mask: int) -> Prov:
    found = _INTERNED.get(mask)
    if found is not None:
        return found
    label = object.__new__(Prov)
    names = tuple(sorted(name for name in SOURCES if mask & _BIT[name]))
    for attribute, value in (
        ("mask", mask),
        ("names", names),
        ("sources", frozenset(names)),
        ("untrusted", not mask or bool(mask & _UNTRUSTED_MASK)),
        ("llm_derived", bool(mask & _LLM_MASK)),
    ):
        object.__setattr__(label, attribute, value)
    # Two threads may race here: setdefault lets exactly one object win.
    return _INTERNED.setdefault(mask, label)


NONE: Final = Prov()
UNKNOWN_LABEL: Final = Prov((UNKNOWN,))
DECLARED_LABEL: Final = Prov((DECLARED,))
RUNTIME_LABEL: Final = Prov((RUNTIME,))
OBSERVED_LABEL: Final = Prov((OBSERVED,))
HUMAN_LABEL: Final = Prov((HUMAN,))
EFFECT_LABEL: Final = Prov((EFFECT,))
INFERRED_LABEL: Final = Prov((INFERRED,))
FALLBACK_LABEL: Final = Prov((FALLBACK,))
TOOL_LABEL: Final = Prov((TOOL,))
MESSAGE_LABEL: Final = Prov((MESSAGE,))
EVENT_LABEL: Final = Prov((EVENT,))
DELEGATE_LABEL: Final = Prov((DELEGATE,))
LLM_LABEL: Final = Prov((LLM,))
SHARED_LABEL: Final = Prov((SHARED,))
MEMORY_LABEL: Final = Prov((MEMORY,))
EXTERNAL_LABEL: Final = Prov((EXTERNAL,))


def of(*names: str) -> Prov:
    """The label of these sources (`PRV-2`). Raises ``SourceError`` for an unlisted one."""
    return Prov(names)


def join(*labels: Prov | None) -> Prov:
    """The union of labels; a missing one (``None``) counts as UNKNOWN (`PRV-2`)."""
    mask = 0
    for label in labels:
        mask |= UNKNOWN_LABEL.mask if label is None else label.mask
    return _INTERNED.get(mask) or _label(mask)


class Labeled:
    """A value with a label of its own, crossing the host boundary (`PRV-3`).

    The label can only lower trust: the boundary joins its own label to it.
    """

    __slots__ = ("prov", "value")

    def __init__(self, value: Any, prov: Prov | str) -> None:
        if isinstance(value, Labeled):
            value, inner = unwrap(value)
        else:
            inner = NONE
        self.value = value
        self.prov = (of(prov) if isinstance(prov, str) else prov) | inner

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Labeled):
            return NotImplemented
        return self.prov is other.prov and bool(self.value == other.value)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Labeled({self.value!r}, {self.prov!r})"


def untrusted(value: Any) -> Labeled:
    """The value, marked as coming from outside: adds EXTERNAL (`PRV-3`)."""
    return Labeled(value, EXTERNAL_LABEL)


def unwrap(value: Any) -> tuple[Any, Prov]:
    """The bare value and the label its host gave it; ``NONE`` when it gave none (`PRV-3`)."""
    if type(value) is Labeled or isinstance(value, Labeled):
        return value.value, value.prov
    return value, NONE
