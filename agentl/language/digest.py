"""The identity of a tree: its digest without positions (`AST-7`).

The tree is written as one flat row in which every node and every tuple gives its length first, so
that the row can be read in one way only; the digest is that of the row's canonical bytes (`KRN-2`).
Only ``nodes`` and ``agentl.values`` are needed: the trusted base digests policies without a parser.
"""

from __future__ import annotations

from typing import Any

from agentl.language.nodes import Node, parts_of
from agentl.values import value_digest


def tree_row(root: Any) -> list[Any]:
    """The flat row of a node, or of a tuple of nodes and values."""
    row: list[Any] = []
    waiting: list[Any] = [root]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Node):
            kind = type(value)
            names = parts_of(kind)
            row.append(("node", kind.__name__, len(names)))
            for name in reversed(names):
                waiting.append(getattr(value, name))  # noqa: PERF401 - the order matters
        elif type(value) is tuple:
            row.append(("tuple", len(value)))
            waiting.extend(reversed(value))
        else:
            row.append(("value", value))
    return row


def tree_digest(root: Any) -> str:
    """SHA-256 of a tree in hexadecimal digits; comments, layout and positions change nothing.

    Raises:
        DataModelError: a hand-made tree holds a value outside the data model (`KRN-2`).
    """
    return value_digest(tree_row(root))
