"""Read the state graph that TLC dumps as dot: nodes, edges, and what a mutant added."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_EDGE: Final = re.compile(r'^(-?\d+) -> (-?\d+) \[label="([^"]*)"')
_NODE: Final = re.compile(r'^(-?\d+) \[label="(.*)"(?:,style = filled)?\]')


@dataclass(frozen=True)
class Graph:
    """States by TLC's fingerprint, and edges (from, to, action), repeated ones included."""

    states: dict[str, str]
    edges: list[tuple[str, str, str]]

    def steps(self) -> set[tuple[str, str]]:
        """The edges as pairs of whole states, those that change nothing left out."""
        known = self.states
        return {(known[a], known[b]) for a, b, _ in self.edges if a != b and a in known and b in known}


def read_dot(text: str) -> Graph:
    """Read the text of a dot file."""
    states: dict[str, str] = {}
    edges: list[tuple[str, str, str]] = []
    for line in text.splitlines():
        edge = _EDGE.match(line)
        if edge is not None:
            edges.append((edge.group(1), edge.group(2), edge.group(3)))
            continue
        node = _NODE.match(line)
        if node is not None:
            states[node.group(1)] = node.group(2)
    return Graph(states, edges)


def load(path: Path) -> Graph:
    """Read a dot file."""
    return read_dot(path.read_text(encoding="utf-8"))


def added(base: Graph, mutant: Graph) -> int:
    """How many steps the mutant makes that the model does not know."""
    return len(mutant.steps() - base.steps())
