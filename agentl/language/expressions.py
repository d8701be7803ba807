"""Expressions of the syntax tree (`AST-1`, `AST-2`); read them through ``nodes``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Node:
    """Base of all nodes; ``line`` is 1-based, 0 when the node was made by hand (`AST-1`)."""

    line: int = field(default=0, kw_only=True)


@dataclass(frozen=True, slots=True)
class Expr(Node):
    """Base of expressions. ``memo`` lets the evaluator keep the compiled form beside its node;
    it is no part of the tree: not compared, not printed, not digested."""

    memo: dict[str, Any] = field(
        default_factory=dict, init=False, compare=False, repr=False, hash=False, kw_only=True
    )


@dataclass(frozen=True, slots=True)
class Literal(Expr):
    value: Any


@dataclass(frozen=True, slots=True)
class PathExpr(Expr):
    parts: tuple[str, ...]

    @property
    def dotted(self) -> str:
        return ".".join(self.parts)


@dataclass(frozen=True, slots=True)
class ListExpr(Expr):
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class BinOp(Expr):
    """``op`` is one of ``OR AND == != > >= < <= IN + - * /``."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class UnOp(Expr):
    """``op`` is ``NOT`` or ``-``."""

    op: str
    operand: Expr


@dataclass(frozen=True, slots=True)
class CallExpr(Expr):
    name: str
    args: tuple[Expr, ...] = ()
    kwargs: tuple[tuple[str, Expr], ...] = ()
