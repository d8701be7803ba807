"""What can be wrong with the matrix."""

from __future__ import annotations

from typing import NamedTuple


class Problem(NamedTuple):
    """One hole or contradiction: its kind, the file and line to look at, and what to know."""

    kind: str
    place: str
    text: str


KINDS = {
    "undefined": "cited, but not defined",
    "twice": "defined twice",
    "no code": "clauses without code",
    "no test": "clauses without a test",
    "excuse": "excuses that are not needed any more",
    "name": "names that differ between model, code and trace",
}
