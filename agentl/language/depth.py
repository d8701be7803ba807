"""How deep a tree is, found without recursion (`PER-7`)."""

from __future__ import annotations

from typing import Any

from agentl.language.nodes import Expr, Node, Stmt, parts_of


def deepest(root: Node) -> tuple[int, int]:
    """The depth of the deepest expression or statement below ``root``, and its line.

    A chain such as ``a + b + c`` is as deep as it is long: its tree leans to the left.
    """
    found = (0, 0)
    waiting: list[tuple[Any, int]] = [(root, 0)]
    while waiting:
        value, depth = waiting.pop()
        if type(value) is tuple:
            waiting.extend([(item, depth) for item in value if type(item) is tuple or isinstance(item, Node)])
            continue
        if isinstance(value, Expr | Stmt):
            depth += 1
            if depth > found[0]:
                found = (depth, value.line)
        for name in parts_of(type(value)):
            part = getattr(value, name)
            if type(part) is tuple or isinstance(part, Node):
                waiting.append((part, depth))
    return found
