"""Types and domains of model answers, enforced whatever the model says (`LLM-2` to `LLM-4`, `INV-10`)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from agentl.language.nodes import Domain, Expr, JudgeStmt, Question, ReasonStmt
from agentl.language.printer import expression_text
from agentl.logic import equal
from agentl.messages import fmt
from agentl.values import UNDEFINED, Symbol

_TRUE: Final = frozenset(("true", "yes", "on", "1", "oui", "vrai"))
_FALSE: Final = frozenset(("false", "no", "off", "0", "non", "faux", "", "none", "null"))
_NUMERIC: Final = frozenset(("number", "float", "int"))


class Field:
    """One field of a REASON or JUDGE, with all that depends on the program alone."""

    __slots__ = ("default", "domain", "domain_text", "kind", "name", "numeric", "reason_local", "schema")

    def __init__(self, name: str, kind: str, domain: Domain | None, default: Expr | None) -> None:
        self.name = name
        self.kind = kind.lower()
        self.domain = domain
        self.default = default
        self.numeric = self.kind in _NUMERIC
        self.reason_local = f"reason.{name}"
        self.domain_text = domain_text(domain) if domain is not None else ""
        text = f"{kind} IN {self.domain_text}" if domain is not None else kind
        self.schema = f"{text} DEFAULT {expression_text(default)}" if default is not None else text


def fields_of(stmt: ReasonStmt) -> tuple[Field, ...]:
    """The fields of a statement, computed once and kept beside its node."""
    kept: tuple[Field, ...] | None = stmt.memo.get("fields")
    if kept is None:
        domains, defaults = dict(stmt.domains), dict(stmt.defaults)
        if isinstance(stmt, JudgeStmt):
            kept = tuple(_judged(question, defaults.get(question.name)) for question in stmt.questions)
        else:
            kept = tuple(
                Field(name, kind, domains.get(name), defaults.get(name)) for name, kind in stmt.produce
            )
        stmt.memo["fields"] = kept
    return kept


def schema_of(stmt: ReasonStmt) -> dict[str, str]:
    """What the model is told about each field, computed once; to be copied before it is given away."""
    kept: dict[str, str] | None = stmt.memo.get("schema")
    if kept is None:
        kept = stmt.memo["schema"] = {field.name: field.schema for field in fields_of(stmt)}
    return kept


def _judged(question: Question, default: Expr | None) -> Field:
    """What a question asks for (`AST-6`)."""
    if question.kind == "CHOICE":
        options = tuple(Symbol(option) for option, _ in question.criteria)
        return Field(question.name, "Symbol", Domain("SET", values=options), default)
    if question.kind == "SCORE":
        return Field(question.name, "Number", Domain("RANGE", 0, len(question.levels) - 1), default)
    return Field(question.name, "Bool", None, default)


def domain_text(domain: Domain) -> str:
    """A domain as messages and models read it: ``[a, b]`` (`GRM-23`)."""
    if domain.kind == "RANGE":
        return fmt([domain.low, domain.high])
    return fmt(list(domain.values))


def is_finite(value: Any) -> bool:
    """Whether a number is one: not NaN, not infinite."""
    if isinstance(value, Decimal):
        return value.is_finite()
    return not isinstance(value, float) or math.isfinite(value)


def coerce(field: Field, value: Any) -> Any:
    """``value`` as the declared type wants it, else ``UNDEFINED`` (`LLM-3`).

    A number that is not finite is given back as it is: the domain refuses it (`LLM-4`).
    """
    kind = field.kind
    if value is UNDEFINED or value is None:
        return UNDEFINED if value is UNDEFINED or kind != "any" else None
    if field.numeric:
        return value if type(value) is int and kind != "float" else _number(kind, value)
    if kind in ("bool", "boolean"):
        return _boolean(value)
    if kind == "string":
        return value if type(value) is str else fmt(value)
    if kind == "symbol":
        return value if type(value) is Symbol else Symbol(fmt(value))
    if kind == "list":
        return list(value) if isinstance(value, (list, tuple)) else UNDEFINED
    return value


def _number(kind: str, value: Any) -> Any:
    if isinstance(value, bool):
        return UNDEFINED
    if isinstance(value, (str, Symbol)):
        try:
            value = float(str(value))
        except ValueError:
            return UNDEFINED
        if math.isfinite(value) and value.is_integer() and kind != "float":
            value = int(value)
    if not isinstance(value, (int, float, Decimal)):
        return UNDEFINED
    if not is_finite(value):
        return value
    if kind == "int":
        return int(value) if value == int(value) else UNDEFINED
    if kind == "float":
        try:
            return float(value)
        except OverflowError:
            return UNDEFINED
    return value


def _boolean(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, (int, float, Decimal)):
        return value != 0 if is_finite(value) else UNDEFINED
    if isinstance(value, (str, Symbol)):
        word = str(value).strip().lower()
        if word in _TRUE:
            return True
        if word in _FALSE:
            return False
    return UNDEFINED


def inside(field: Field, value: Any) -> bool:
    """Whether ``value`` lies in the field's domain; a field without one takes any finite number (`LLM-4`)."""
    domain = field.domain
    if field.numeric and type(value) is not int and not is_finite(value):
        return False
    if domain is None:
        return True
    if domain.kind == "SET":
        return any(equal(value, item) for item in domain.values)
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return False
    return (domain.low is None or value >= domain.low) and (domain.high is None or value <= domain.high)


def probability(answer: Mapping[str, Any], name: str) -> Any:
    """A finite number in [0, 1] that is no boolean, else ``UNDEFINED`` (`LLM-7`)."""
    value = answer.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)) or not is_finite(value):
        return UNDEFINED
    return float(value) if 0 <= value <= 1 else UNDEFINED


__all__ = ["Field", "coerce", "domain_text", "fields_of", "inside", "is_finite", "probability", "schema_of"]
