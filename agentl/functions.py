"""The functions that an expression may call: pure, epistemic and about provenance (`EVA-10`, `PRV-7`).

Nothing else is callable inside an expression: a tool acts, and only the kernel lets it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Any, Final, TypeAlias

from agentl.errors import EvalError
from agentl.labels import Prov
from agentl.language.nodes import CallExpr, Expr, Literal, PathExpr
from agentl.logic import is_number
from agentl.scope import Scope
from agentl.state import State
from agentl.values import UNDEFINED, Symbol

Reader: TypeAlias = State | Scope

PURE: Final = ("len", "abs", "min", "max", "round")
EPISTEMIC: Final = ("CONFIDENCE", "UNCERTAINTY", "P", "PROBABILITY", "POSTERIOR")
PROVENANCE: Final = ("UNTRUSTED", "TRUSTED", "LLM_DERIVED", "ORIGIN", "ATTESTED")
KNOWN_FUNCTIONS: Final = frozenset((*PURE, *EPISTEMIC, *PROVENANCE))

_ROUNDING: Final = Context(prec=5000, rounding=ROUND_HALF_EVEN, traps=[])
_MAX_DIGITS: Final = 4000


# --- pure (EVA-10) -------------------------------------------------------------------------


def length(value: Any) -> int | None:
    """The length of a text or collection, ``None`` for a value that has none (`EVA-10`, `TRI-4`)."""
    if type(value) is Symbol:
        return len(value.name)
    if isinstance(value, (str, bytes, list, tuple, set, frozenset, dict)):
        return len(value)
    return None


def pure(name: str, arguments: Sequence[Any], line: int) -> Any:
    """The value of a pure function (`EVA-10`).

    Raises:
        EvalError: wrong number of arguments (``eval.arguments``), no number
            (``eval.not_numeric``), or decimals beside floats (``eval.decimal_float``).
    """
    if name == "len" and len(arguments) == 1:
        return length(arguments[0]) or 0
    if name == "abs" and len(arguments) == 1:
        value = _number(arguments[0], line)
        return value.copy_abs() if type(value) is Decimal else abs(value)
    if name == "round" and len(arguments) in (1, 2):
        return _round(_number(arguments[0], line), arguments[1] if len(arguments) == 2 else None, line)
    if name in ("min", "max") and arguments:
        return _extreme(name, arguments, line)
    raise EvalError(code="eval.arguments", function=name, line=line)


def _number(value: Any, line: int) -> Any:
    if type(value) not in (int, float, Decimal):
        raise EvalError(code="eval.not_numeric", value=value, line=line)
    return value


def _extreme(name: str, arguments: Sequence[Any], line: int) -> Any:
    listed = isinstance(arguments[0], (list, tuple, set)) and len(arguments) == 1
    values = [_number(value, line) for value in (arguments[0] if listed else arguments)]
    if not values:
        raise EvalError(code="eval.arguments", function=name, line=line)
    kinds = {type(value) for value in values}
    if Decimal in kinds and float in kinds:
        raise EvalError(code="eval.decimal_float", left=values[0], right=values[-1], line=line)
    for value in values:
        if not is_number(value):
            return value  # whatever the order of the others, NaN is the answer
    return min(values) if name == "min" else max(values)


def _round(value: Any, digits: Any, line: int) -> Any:
    if digits is not None and type(digits) is not int:
        raise EvalError(code="eval.not_numeric", value=digits, line=line)
    finite = value.is_finite() if type(value) is Decimal else type(value) is int or math.isfinite(value)
    if not finite or (digits is not None and abs(digits) > _MAX_DIGITS):
        raise EvalError(code="eval.not_numeric", value=value, line=line)
    if type(value) is Decimal:
        if value.adjusted() > _MAX_DIGITS:
            raise EvalError(code="eval.overflow", operator="round", line=line)
        if digits is None:
            return int(value.to_integral_value(rounding=ROUND_HALF_EVEN, context=_ROUNDING))
        return value.quantize(Decimal(1).scaleb(-digits, context=_ROUNDING), context=_ROUNDING)
    try:
        return round(value) if digits is None else round(value, digits)
    except OverflowError:
        raise EvalError(code="eval.overflow", operator="round", line=line) from None


# --- epistemic (EVA-10, TRI-5) -------------------------------------------------------------


def path_argument(node: CallExpr) -> str:
    """The path that is the one argument of an epistemic function. Raises ``EvalError`` otherwise."""
    if len(node.args) == 1 and not node.kwargs and isinstance(node.args[0], PathExpr):
        return node.args[0].dotted
    raise EvalError(code="eval.path_argument", function=node.name, line=node.line)


def epistemic(name: str, path: str, reader: Reader) -> Any:
    """What is known about a belief or a hypothesis; ``None`` when there is no answer (`TRI-5`)."""
    if name in ("CONFIDENCE", "UNCERTAINTY"):
        confidence = reader.confidence_of(path)
        return None if confidence is None else confidence if name == "CONFIDENCE" else 1 - confidence
    posterior = reader.get(path + ".posterior")
    return None if posterior is UNDEFINED else posterior


# --- provenance (PRV-7) --------------------------------------------------------------------


def compile_provenance(node: CallExpr) -> Callable[[Reader], Any]:
    """A provenance function as a closure over a reader (`PRV-7`).

    The closure raises ``EvalError`` when the call is malformed, and for ``ATTESTED(action)``.
    """
    name, arguments = node.name, node.args
    most = 2 if name == "ATTESTED" else 1
    if node.kwargs or not 1 <= len(arguments) <= most or not isinstance(arguments[0], PathExpr):
        return _raising(EvalError(code="eval.path_argument", function=name, line=node.line))
    path = arguments[0].dotted
    if name == "ATTESTED":
        if path == "action":
            return _raising(EvalError(code="eval.attested_action", line=node.line))
        return _attested(path, arguments[1] if len(arguments) == 2 else None, node.line)
    answer = _ANSWERS[name]
    if path == "action":

        def about_action(reader: Reader) -> Any:
            label = reader.action_label
            return UNDEFINED if label is None else answer(label)

        return about_action

    def about_value(reader: Reader) -> Any:
        found = reader.find(path)
        return UNDEFINED if found is None or found.value is UNDEFINED else answer(reader.label_of(found))

    return about_value


_ANSWERS: Final[dict[str, Callable[[Prov], Any]]] = {
    "UNTRUSTED": lambda label: label.untrusted,
    "TRUSTED": lambda label: not label.untrusted,
    "LLM_DERIVED": lambda label: label.llm_derived,
    "ORIGIN": lambda label: [Symbol(name) for name in label.names],
}


def _attested(path: str, by: Expr | None, line: int) -> Callable[[Reader], Any]:
    tool = by.dotted if isinstance(by, PathExpr) else str(by.value) if isinstance(by, Literal) else None
    if by is not None and tool is None:
        return _raising(EvalError(code="eval.path_argument", function="ATTESTED", line=line))

    def attested(reader: Reader) -> Any:
        value = reader.get(path)
        if value is UNDEFINED:
            return UNDEFINED
        tools = reader.attested_by(value)
        return bool(tools) if tool is None else tool in tools

    return attested


def _raising(error: EvalError) -> Callable[[Reader], Any]:
    code, values = error.code, dict(error.values)

    def failing(_reader: Reader) -> Any:
        raise EvalError(code=code, **values)

    return failing
