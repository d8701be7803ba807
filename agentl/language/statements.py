"""Statements of the syntax tree (`AST-3`); read them through ``nodes``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias
from typing import Literal as OneOf

from agentl.language.expressions import CallExpr, Expr, Node


@dataclass(frozen=True, slots=True)
class Stmt(Node):
    """Base of statements."""


Body: TypeAlias = tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class CallStmt(Stmt):
    call: CallExpr


@dataclass(frozen=True, slots=True)
class SetStmt(Stmt):
    target: str
    value: Expr


@dataclass(frozen=True, slots=True)
class IfStmt(Stmt):
    cond: Expr
    then: Body
    otherwise: Body = ()


@dataclass(frozen=True, slots=True)
class VerifyStmt(Stmt):
    cond: Expr
    on_fail: Body = ()
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Domain(Node):
    """``kind`` is ``RANGE`` (``low``, ``high``) or ``SET`` (``values``) (`GRM-23`)."""

    kind: OneOf["RANGE", "SET"]
    low: float | int | None = None
    high: float | int | None = None
    values: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Question(Node):
    """One question of a JUDGE; ``criteria`` for CHOICE, ``levels`` for SCORE."""

    name: str
    kind: OneOf["NOUL", "CHOICE", "SCORE"]
    instructions: str
    criteria: tuple[tuple[str, str], ...] = ()
    levels: tuple[str, ...] = ()
    abstain_below: float | None = None


@dataclass(frozen=True, slots=True)
class ReasonStmt(Stmt):
    """``produce`` is (field, type) in source order; ``domains`` and ``defaults`` by field."""

    task: str = ""
    using: tuple[str, ...] = ()
    produce: tuple[tuple[str, str], ...] = ()
    domains: tuple[tuple[str, Domain], ...] = ()
    defaults: tuple[tuple[str, Expr], ...] = ()
    memo: dict[str, Any] = field(
        default_factory=dict, init=False, compare=False, repr=False, hash=False, kw_only=True
    )

    @property
    def keyword(self) -> str:
        return "REASON"


@dataclass(frozen=True, slots=True)
class JudgeStmt(ReasonStmt):
    questions: tuple[Question, ...] = ()

    @property
    def keyword(self) -> str:
        return "JUDGE"


@dataclass(frozen=True, slots=True)
class AskStmt(Stmt):
    """``timeout`` in seconds."""

    addressee: str
    question: str = ""
    reason: str = ""
    timeout: float | None = None
    default: Expr | None = None


@dataclass(frozen=True, slots=True)
class DelegateStmt(Stmt):
    agent: str
    task: str = ""
    inputs: tuple[str, ...] = ()
    expect: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MessageStmt(Stmt):
    name: str
    to: str | None = None
    broadcast: bool = False
    payload: tuple[tuple[str, Expr], ...] = ()


@dataclass(frozen=True, slots=True)
class LoopStmt(Stmt):
    body: Body
    until: Expr | None = None
    max_iter: int = 100


@dataclass(frozen=True, slots=True)
class ForEachStmt(Stmt):
    var: str
    source: Expr
    body: Body
    max_iter: int = 200


@dataclass(frozen=True, slots=True)
class ControlStmt(Stmt):
    """``arg`` is the number of a RETRY or the name of a PHASE."""

    kind: OneOf["RETRY", "ROLLBACK", "ESCALATE", "PHASE"]
    arg: int | str | None = None
    from_start: bool = False


@dataclass(frozen=True, slots=True)
class ThenPlan(Stmt):
    plan: str
