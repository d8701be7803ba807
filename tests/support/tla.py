"""Reads what TLC writes: values of TLA+, and the state graph that it dumps as dot.

Tuples become tuples, sets frozensets, records and functions ``Map`` (a dict that can be hashed). Equal texts
are read once: in a state graph the same value stands in thousands of states.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

_TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|-?\d+|\w+|<<|>>|:>|@@|\|->|[{}\[\](),])')
_CONJUNCT = re.compile(r"/\\ (\w+) = ")
_NODE = re.compile(r'^(-?\d+) \[label="(.*)"(,style = filled)?\];?$')
_EDGE = re.compile(r'^(-?\d+) -> (-?\d+) \[label="([^"]*)"')
_CLOSING = {"<<": ">>", "{": "}", "[": "]", "(": ")"}


class Map(dict[Any, Any]):
    """A record or a function, as a value."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))


def tokens(text: str) -> list[str]:
    """The words and signs of a value."""
    found, position, end = [], 0, len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            raise ValueError(f"not a TLA+ value: {text[position : position + 40]!r}")
        found.append(match.group(1))
        position = match.end()
    return found


def _read(given: list[str], at: int) -> tuple[Any, int]:
    word = given[at]
    if word[0] == '"':
        return word[1:-1], at + 1
    if word not in _CLOSING:
        if word.lstrip("-").isdigit():
            return int(word), at + 1
        return {"TRUE": True, "FALSE": False}.get(word, word), at + 1
    closing, at = _CLOSING[word], at + 1
    pairs, items = Map(), []
    while given[at] != closing:
        item, at = _read(given, at)
        if given[at] in ("|->", ":>"):
            pairs[item], at = _read(given, at + 1)
        else:
            items.append(item)
        if given[at] in (",", "@@"):
            at += 1
    if word == "<<":
        return tuple(items), at + 1
    return (frozenset(items) if word == "{" else pairs), at + 1


@lru_cache(maxsize=200_000)
def value(text: str) -> Any:
    """One value."""
    given = tokens(text)
    found, at = _read(given, 0)
    if at != len(given):
        raise ValueError(f"more than one value: {text[:60]!r}")
    return found


def state(label: str) -> dict[str, Any]:
    """The variables of a state, from the text between the quotes of a dot node."""
    text = label.replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\")
    marks = list(_CONJUNCT.finditer(text))
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    return {
        mark.group(1): value(text[mark.end() : end].strip()) for mark, end in zip(marks, ends, strict=True)
    }


@dataclass(frozen=True)
class Graph:
    """A state graph: states by number, edges as (source, action, target), repeated ones included."""

    initial: tuple[int, ...]
    states: Mapping[int, Mapping[str, Hashable]]
    edges: tuple[tuple[int, str, int], ...]


def read_dot(path: Path) -> Graph:
    """The state graph in a dot file of TLC. Raises ``ValueError`` for a broken one."""
    states: dict[int, dict[str, Any]] = {}
    initial: list[int] = []
    edges: list[tuple[int, str, int]] = []
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            edge = _EDGE.match(line)
            if edge is not None:
                edges.append((int(edge[1]), edge[3], int(edge[2])))
                continue
            node = _NODE.match(line.rstrip("\n"))
            if node is not None:
                number = int(node[1])
                states[number] = state(node[2])
                if node[3]:
                    initial.append(number)
    lost = {end for source, _, target in edges for end in (source, target) if end not in states}
    if lost or not initial:
        raise ValueError(f"{path}: {len(lost)} ends of edges without a state, {len(initial)} initial states")
    return Graph(tuple(initial), states, tuple(edges))
