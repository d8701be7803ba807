"""Provenance at the boundary: the labels, and the label that each boundary adds (`PRV-3`, `PRV-6`).

Re-exports ``agentl.labels``. A host may lower trust with ``Labeled`` or ``untrusted``; it can never
raise it, because the boundary joins its own label to whatever the host says.
"""

from __future__ import annotations

from typing import Any

from agentl.labels import (
    DECLARED,
    DELEGATE,
    EFFECT,
    EVENT,
    EXTERNAL,
    FALLBACK,
    HUMAN,
    INFERRED,
    LLM,
    MEMORY,
    MESSAGE,
    NONE,
    OBSERVED,
    RUNTIME,
    SHARED,
    SOURCES,
    TOOL,
    TRUSTED_SOURCES,
    UNKNOWN,
    UNKNOWN_LABEL,
    UNTRUSTED_SOURCES,
    Labeled,
    Prov,
    join,
    of,
    untrusted,
    unwrap,
)


def crossed(value: Any, boundary: Prov) -> tuple[Any, Prov]:
    """The bare value of what crossed a boundary, and its label: the boundary's, plus the host's (`PRV-3`)."""
    bare, own = unwrap(value)
    return bare, boundary | own


def crossed_field(value: Any, whole: Prov) -> tuple[Any, Prov]:
    """A field of a composite that crossed: its own label on top of that of the whole (`PRV-3`, `STA-5`)."""
    bare, own = unwrap(value)
    return bare, whole | own


__all__ = [
    "DECLARED",
    "DELEGATE",
    "EFFECT",
    "EVENT",
    "EXTERNAL",
    "FALLBACK",
    "HUMAN",
    "INFERRED",
    "LLM",
    "MEMORY",
    "MESSAGE",
    "NONE",
    "OBSERVED",
    "RUNTIME",
    "SHARED",
    "SOURCES",
    "TOOL",
    "TRUSTED_SOURCES",
    "UNKNOWN",
    "UNKNOWN_LABEL",
    "UNTRUSTED_SOURCES",
    "Labeled",
    "Prov",
    "crossed",
    "join",
    "of",
    "untrusted",
    "unwrap",
]
