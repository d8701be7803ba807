"""How a clause is cited: ``KRN-3``, ``CHK-E017``, or a range, ``STM-2`` to ``STM-12``."""

from __future__ import annotations

import re
from collections.abc import Iterator

ID = r"[A-Z]{3}-[A-Z]?[0-9]+"
_CITED = re.compile(
    rf"\b(?P<first>{ID})\b(?:`? (?:to|–) `?(?P<last>{ID})\b)?",
)
_PARTS = re.compile(r"([A-Z]{3}-[A-Z]?)([0-9]+)")

FOREIGN = frozenset({"SHA-256", "UTF-8", "UTF-16", "ISO-8601"})
"""Names of other people's standards that have the form of an id."""


def cited(text: str) -> Iterator[str]:
    """The ids that a text names, in order; a range names each id between its ends."""
    for match in _CITED.finditer(text):
        if match["first"] in FOREIGN:
            continue
        yield from _range(match["first"], match["last"])


def _range(first: str, last: str | None) -> Iterator[str]:
    begin = _PARTS.fullmatch(first)
    end = _PARTS.fullmatch(last) if last else None
    if begin is None or end is None or begin[1] != end[1]:
        yield first
        if last:
            yield last
        return
    width = len(begin[2]) if begin[2].startswith("0") else 0
    for number in range(int(begin[2]), int(end[2]) + 1):
        yield f"{begin[1]}{number:0{width}d}"
