"""Truth and comparison: strong Kleene logic, the ordinal scale, equality and order.

Everything here is a function of values alone. The tables of ``spec/logic.md`` are the test
data for this module, so the words and the code cannot drift apart. A comparison answers
``True``, ``False`` or ``UNKNOWN``; the two-valued regime (`EVA-12` b) reads its own functions,
the policy guards (`EVA-12` a) read those whose name ends in ``_or_unknown`` (`TRI-3`).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Context, Decimal, DivisionByZero, Inexact, InvalidOperation, Overflow
from typing import Any, Final, NoReturn, TypeAlias

from agentl.datamodel import MAX_INTEGER_BITS
from agentl.errors import EvalError
from agentl.messages import render as render_message
from agentl.values import UNDEFINED, Symbol, fmt


class Unknown:
    """The type of ``UNKNOWN``, the third truth value; it is no boolean (`TRI-1`)."""

    __slots__ = ()
    _only: Unknown | None = None

    def __new__(cls) -> Unknown:
        if cls._only is None:
            cls._only = object.__new__(cls)
        return cls._only

    def __bool__(self) -> NoReturn:
        raise TypeError("UNKNOWN is neither true nor false")

    def __repr__(self) -> str:
        return "UNKNOWN"

    def __copy__(self) -> Unknown:
        return self

    def __deepcopy__(self, _memo: Any) -> Unknown:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (Unknown, ())


UNKNOWN: Final = Unknown()
Truth: TypeAlias = bool | Unknown


# --- strong Kleene (TRI-2) -----------------------------------------------------------------


def kleene_and(left: Truth, right: Truth) -> Truth:
    """Conjunction: one false side decides, else one unknown side leaves it open (`TRI-2`)."""
    if left is False or right is False:
        return False
    return UNKNOWN if left is UNKNOWN or right is UNKNOWN else True


def kleene_or(left: Truth, right: Truth) -> Truth:
    """Disjunction: one true side decides, else one unknown side leaves it open (`TRI-2`)."""
    if left is True or right is True:
        return True
    return UNKNOWN if left is UNKNOWN or right is UNKNOWN else False


def kleene_not(operand: Truth) -> Truth:
    """Negation: what is unknown stays unknown (`TRI-2`)."""
    return UNKNOWN if operand is UNKNOWN else operand is False


def applies_when_unknown(effect: str) -> bool:
    """Whether a rule of this effect matches when its guard is unknown (`TRI-6`, `INV-3`).

    Only an ALLOW is withheld: ignorance keeps every prohibition and never permits.
    """
    return effect != "ALLOW"


def render(truth: Truth) -> str:
    """The word for a truth value in the language in force (`TRI-6`)."""
    return render_message("tri.unknown" if truth is UNKNOWN else "tri.true" if truth else "tri.false")


# --- truthiness and the scale (EVA-3, EVA-4) -----------------------------------------------

FALSE_WORDS: Final = frozenset({"false", "no", "off", "none", "unknown", "null"})
_TRUE_BOOLEANS: Final = frozenset({"true", "yes", "on"})
_FALSE_BOOLEANS: Final = frozenset({"false", "no", "off"})
_SCALE: Final = {
    "NONE": 0, "INFO": 1, "LOW": 2, "MODERATE": 3, "MEDIUM": 3, "HIGH": 4, "SEVERE": 5, "CRITICAL": 6,
    "UNSET": 7,
}  # fmt: skip


def truthy(value: Any) -> bool:
    """Whether a value counts as true (`EVA-3`). ``UNKNOWN`` raises ``TypeError``."""
    kind = type(value)
    if kind is bool:
        return bool(value)
    if kind is Symbol:
        return bool(value.name) and value.name.lower() not in FALSE_WORDS
    if kind is str:
        return bool(value) and value.lower() not in FALSE_WORDS
    return bool(value)


def ordinal(value: Any) -> int | None:
    """The rank of a word on the ordinal scale, in any case; ``None`` off the scale (`EVA-4`)."""
    word = _word(value)
    if word is None:
        return None
    rank = _SCALE.get(word)
    return _SCALE.get(word.upper()) if rank is None else rank


# --- equality (EVA-5) ----------------------------------------------------------------------


def _word(value: Any) -> str | None:
    kind = type(value)
    return value.name if kind is Symbol else value if kind is str else None


_NUMBERS: Final = frozenset({int, float, Decimal})


def equal_or_raise(left: Any, right: Any) -> bool:
    """Equality of two defined values (`EVA-5`); lets an ``__eq__`` of a foreign type raise."""
    kind, other = type(left), type(right)
    if kind is other and kind in _PLAINLY_COMPARED:
        return bool(left == right)
    if left is None or right is None:
        rest = right if left is None else left
        return rest is None or (type(rest) is Symbol and rest.name.lower() in ("none", "null"))
    if kind is bool or other is bool:
        truth, rest = (left, right) if kind is bool else (right, left)
        word = _word(rest)
        if word is not None:
            return word.lower() in (_TRUE_BOOLEANS if truth else _FALSE_BOOLEANS)
        return type(rest) is bool and truth is rest
    if kind is Symbol or other is Symbol:
        return fmt(left) == fmt(right)
    if (kind is Decimal and other is float) or (kind is float and other is Decimal):
        return False
    return bool(left == right)


_PLAINLY_COMPARED: Final = frozenset({int, float, str, bool})  # a signalling decimal raises


def equal(left: Any, right: Any) -> bool:
    """Equality of two defined values (`EVA-5`); an equality that raises is false."""
    try:
        return equal_or_raise(left, right)
    except Exception:  # noqa: BLE001 - whatever a foreign __eq__ raises means "not shown equal"
        return False


# --- order (EVA-6) -------------------------------------------------------------------------

ORDERS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


def _as_float(value: Any) -> float | None:
    kind = type(value)
    if kind is str:
        if "_" in value:
            return None  # Python reads 5_000 as a number; a receiver may well not
    elif kind not in _NUMBERS and kind is not bool:
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def order(op: str, left: Any, right: Any) -> Truth:
    """``left op right`` for two defined values; ``UNKNOWN`` when unorderable (`EVA-6`).

    The two-valued regime counts unorderable as false, with a note.
    """
    kind, other = type(left), type(right)
    if (kind is int and other is int) or (kind is float and other is float):
        return bool(ORDERS[op](left, right))
    rank, other_rank = ordinal(left), ordinal(right)
    if rank is not None and other_rank is not None:
        return bool(ORDERS[op](rank, other_rank))
    if kind is Decimal or other is Decimal:
        if kind is float or other is float:
            return UNKNOWN
        if kind in _NUMBERS and other in _NUMBERS:
            if any(type(side) is Decimal and side.is_nan() for side in (left, right)):
                return UNKNOWN  # asked before comparing: whether NaN raises is up to the ambient context
            return bool(ORDERS[op](left, right))
    number, other_number = _as_float(left), _as_float(right)
    if number is None or other_number is None:
        return UNKNOWN
    return bool(ORDERS[op](number, other_number))


def _finite(value: Any) -> bool:
    kind = type(value)
    if kind is int:
        return True
    if kind is float:
        return math.isfinite(value)
    if kind is Decimal:
        return bool(value.is_finite())
    number = _as_float(value) if kind is str else None
    return number is not None and math.isfinite(number)


def order_or_unknown(op: str, left: Any, right: Any) -> Truth:
    """``left op right`` in a guard: only two ranks or two finite numbers are orderable (`TRI-3`)."""
    if type(left) is int and type(right) is int:
        return bool(ORDERS[op](left, right))
    rank, other_rank = ordinal(left), ordinal(right)
    if rank is not None and other_rank is not None:
        return bool(ORDERS[op](rank, other_rank))
    return order(op, left, right) if _finite(left) and _finite(right) else UNKNOWN


# --- membership (EVA-7) --------------------------------------------------------------------


def contains(left: Any, right: Any) -> bool:
    """``left IN right`` (`EVA-7`): an equal item, an equal key, or a word inside a string."""
    if isinstance(right, (list, tuple, set, frozenset, dict)):
        return any(item is not UNDEFINED and equal(left, item) for item in right)
    word = _word(left)
    return isinstance(right, str) and word is not None and word in right


def has_gap(value: Any) -> bool:
    """Whether a list holds, at any depth, an item whose value is not known (`TRI-3`, `TRI-4`)."""
    kind = type(value)
    if kind in _NESTING:
        return any(has_gap(item) for item in value)
    return value is UNKNOWN or value is UNDEFINED


def contains_or_unknown(left: Any, right: Any) -> Truth:
    """``left IN right`` in a guard; ``UNKNOWN`` beside an unknown item or no collection (`TRI-3`)."""
    if isinstance(right, str):
        return UNKNOWN if has_gap(left) else contains(left, right)
    if not isinstance(right, (list, tuple, set, frozenset, dict)) or has_gap(left):
        return UNKNOWN
    found: Truth = False
    for item in right:  # to the end: one unknown item leaves the whole question open
        if item is UNKNOWN or item is UNDEFINED or (type(item) in _NESTING and has_gap(item)):
            return UNKNOWN
        if found is not True:
            found = kleene_or(found, equal_or_unknown(left, item))
    return found


_NESTING: Final = frozenset({list, tuple, set})


def equal_or_unknown(left: Any, right: Any) -> Truth:
    """``left == right`` in a guard: ``UNKNOWN`` for a gap, a decimal with a float, a raise (`TRI-3`)."""
    kind, other = type(left), type(right)
    if kind is other and kind in _PLAINLY_COMPARED:
        return bool(left == right)
    if kind in _WORDS and other in _WORDS:
        return bool(_word(left) == _word(right))
    if (kind is Decimal and other is float) or (kind is float and other is Decimal):
        return UNKNOWN
    try:
        if has_gap(left) or has_gap(right):
            return UNKNOWN
        return equal_or_raise(left, right)
    except Exception:  # noqa: BLE001 - a comparison that raises decides nothing
        return UNKNOWN


_WORDS: Final = frozenset({str, Symbol})


# --- arithmetic (EVA-8) --------------------------------------------------------------------

# Own contexts: the ambient one belongs to the host, and what it computes must not depend on it.
_EXACT: Final = Context(prec=5000, rounding=ROUND_HALF_EVEN, traps=[InvalidOperation, Overflow, Inexact])
_QUOTIENT: Final = Context(
    prec=28, rounding=ROUND_HALF_EVEN, traps=[InvalidOperation, Overflow, DivisionByZero]
)


def _infinity(kind: type, negative: bool) -> Any:
    return kind("-Infinity" if negative else "Infinity")


def arithmetic(op: str, left: Any, right: Any, line: int = 0) -> Any:
    """``left op right`` for ``+ - * /`` (`EVA-8`).

    Raises:
        EvalError: an operand is no number (``eval.not_numeric``), a decimal meets a float
            (``eval.decimal_float``), or the result has no exact decimal or finite float form.
    """
    kind, other = type(left), type(right)
    if kind not in _NUMBERS or other not in _NUMBERS:
        raise EvalError(code="eval.not_numeric", value=right if kind in _NUMBERS else left, line=line)
    if kind is Decimal or other is Decimal:
        if kind is float or other is float:
            raise EvalError(code="eval.decimal_float", left=left, right=right, line=line)
        return _decimal(op, Decimal(left), Decimal(right), line)
    if op == "/":
        if right == 0:
            return _infinity(float, left < 0)
        if kind is int and other is int and left % right == 0:
            return left // right
    try:
        found = _OPERATIONS[op](left, right)
    except OverflowError:
        raise EvalError(code="eval.overflow", operator=op, line=line) from None
    if type(found) is int and found.bit_length() > MAX_INTEGER_BITS:
        # It could be neither shown nor stored, and a loop of products would grow it without end.
        raise EvalError(code="eval.overflow", operator=op, line=line)
    return found


def _decimal(op: str, left: Decimal, right: Decimal, line: int) -> Decimal:
    try:
        if op == "/":
            if right == 0:
                return Decimal(_infinity(Decimal, left < 0))
            return _QUOTIENT.divide(left, right)
        operation = {"+": _EXACT.add, "-": _EXACT.subtract, "*": _EXACT.multiply}[op]
        return operation(left, right)
    except (InvalidOperation, Overflow, Inexact):
        raise EvalError(code="eval.overflow", operator=op, line=line) from None


_OPERATIONS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def negate(value: Any, line: int = 0) -> Any:
    """Unary minus (`EVA-8`). Raises ``EvalError`` for what is no number."""
    if type(value) not in _NUMBERS:
        raise EvalError(code="eval.not_numeric", value=value, line=line)
    return value.copy_negate() if type(value) is Decimal else -value


def is_number(value: Any) -> bool:
    """An integer, float or decimal that is a number: no boolean, no NaN."""
    kind = type(value)
    if kind is float:
        return not math.isnan(value)
    return kind is int or (kind is Decimal and not value.is_nan())
