"""The paths that an expression reads, and how two paths relate."""

from __future__ import annotations

from agentl.language.nodes import BinOp, CallExpr, Expr, ListExpr, PathExpr, UnOp


def covers(path: str, other: str) -> bool:
    """Whether ``other`` is ``path`` or lies below it: ``a`` covers ``a.b``, not ``ab`` (`LLM-5`)."""
    return other == path or other.startswith(path + ".")


def touches(path: str, other: str) -> bool:
    """Whether one of the two covers the other."""
    return covers(path, other) or covers(other, path)


def paths_of(expr: Expr | None) -> tuple[str, ...]:
    """The dotted paths that ``expr`` mentions, each once, in source order."""
    found: dict[str, None] = {}
    pending: list[Expr] = [] if expr is None else [expr]
    while pending:
        node = pending.pop()
        if isinstance(node, PathExpr):
            found[node.dotted] = None
        elif isinstance(node, BinOp):
            pending.extend((node.right, node.left))
        elif isinstance(node, UnOp):
            pending.append(node.operand)
        elif isinstance(node, ListExpr):
            pending.extend(reversed(node.items))
        elif isinstance(node, CallExpr):
            pending.extend(value for _, value in reversed(node.kwargs))
            pending.extend(reversed(node.args))
    return tuple(found)


__all__ = ["covers", "paths_of", "touches"]
