"""The identity of a tree: a digest that ignores positions (`AST-7`).

It is built from the leaves up, so that its cost is linear and no nesting is too deep for the
canonical form of values.
"""

from __future__ import annotations

import hashlib
from dataclasses import fields
from typing import Any, Final

from agentl.language.nodes import Node
from agentl.values import canonical_bytes

TREE_DOMAIN: Final = b"agentl.tree.v1\n"


_FIELD_NAMES: Final[dict[type[Node], tuple[str, ...]]] = {}


def _field_names(kind: type[Node]) -> tuple[str, ...]:
    """The fields that make a node what it is: neither its line nor what is kept beside it."""
    names = _FIELD_NAMES.get(kind)
    if names is None:
        names = tuple(field.name for field in fields(kind) if field.compare and field.name != "line")
        _FIELD_NAMES[kind] = names
    return names


def _digest(part: Any) -> bytes:
    if isinstance(part, Node):
        kind = type(part)
        names = _field_names(kind)
        body = b"".join([name.encode("ascii") + b"=" + _digest(getattr(part, name)) for name in names])
        return hashlib.sha256(TREE_DOMAIN + b"node " + kind.__name__.encode("ascii") + b"\n" + body).digest()
    if isinstance(part, (tuple, list)):
        body = b"".join([_digest(item) for item in part])
        return hashlib.sha256(TREE_DOMAIN + b"list %d\n" % len(part) + body).digest()
    return hashlib.sha256(TREE_DOMAIN + b"leaf\n" + canonical_bytes(part)).digest()


def tree_digest(tree: Any) -> str:
    """64 hex digits that identify a node, or a sequence of nodes and plain values (`AST-7`).

    Comments, layout, commas, noise words and line numbers change nothing.
    """
    return _digest(tree).hex()
