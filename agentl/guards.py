"""Three-valued evaluation: what a policy guard is worth when not everything is known (section TRI).

A guard is compiled once into closures over a reader (a state, or the scope of an action). Every
closure answers a value or ``UNKNOWN``; none of them raises, because a guard that raises is a
guard that decides nothing (`TRI-3`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

from agentl.functions import EPISTEMIC, PROVENANCE, PURE, Reader, compile_provenance, epistemic, length, pure
from agentl.labels import Labeled
from agentl.language.nodes import BinOp, CallExpr, Expr, ListExpr, Literal, PathExpr, UnOp
from agentl.logic import (
    ORDERS,
    UNKNOWN,
    Truth,
    arithmetic,
    contains_or_unknown,
    equal_or_unknown,
    is_number,
    kleene_and,
    kleene_not,
    kleene_or,
    negate,
    order_or_unknown,
    truthy,
)
from agentl.values import UNDEFINED, Symbol

Guard: TypeAlias = Callable[[Reader], Truth]
_Closure: TypeAlias = Callable[[Reader], Any]
_LOGICAL: Final = ("AND", "OR", "NOT")


def compile_guard(node: Expr | None, bindable: frozenset[str] | None) -> Guard:
    """The guard as one function of a reader; a missing guard is true (`TRI-1`).

    Args:
        bindable: the one-word names that are variables; any other is a constant (`TRI-7`). With
            ``None`` nothing is known about the program, and a name that resolves is a variable.
    """
    if node is None:
        return lambda _reader: True
    closure = _compile(node, bindable)
    if _is_truth(node):
        return closure
    return lambda reader: truth(closure(reader))


def evaluate_guard(reader: Reader, node: Expr | None, bindable: frozenset[str] | None = None) -> Truth:
    """``True``, ``False`` or ``UNKNOWN`` (`TRI-1`); keeps the compiled guard beside its node."""
    if node is None:
        return True
    kept = node.memo.get("guard")
    if kept is None or kept[0] != bindable:
        kept = node.memo["guard"] = (bindable, compile_guard(node, bindable))
    result: Truth = kept[1](reader)
    return result


def truth(value: Any) -> Truth:
    """What a value counts for as a whole guard, or under AND, OR and NOT (`TRI-4`)."""
    if value is True or value is False or value is UNKNOWN:
        return value
    if value is UNDEFINED:
        return UNKNOWN
    try:
        return truthy(value)
    except Exception:  # noqa: BLE001 - a foreign __bool__ may raise anything
        return UNKNOWN


def _is_truth(node: Expr) -> bool:
    """Whether the closure of this node answers truth values only."""
    return (isinstance(node, BinOp) and node.op not in ("+", "-", "*", "/")) or (
        isinstance(node, UnOp) and node.op == "NOT"
    )


def _compile(node: Expr, bindable: frozenset[str] | None) -> _Closure:
    if isinstance(node, Literal):
        value = node.value.value if type(node.value) is Labeled else node.value
        return lambda _reader: value
    if isinstance(node, PathExpr):
        return _compile_path(node, bindable)
    if isinstance(node, ListExpr):
        items = [_compile(item, bindable) for item in node.items]
        return lambda reader: [item(reader) for item in items]
    if isinstance(node, BinOp) and node.op in _LOGICAL:
        join = kleene_and if node.op == "AND" else kleene_or
        left, right = compile_guard(node.left, bindable), compile_guard(node.right, bindable)
        return lambda reader: join(left(reader), right(reader))
    if isinstance(node, UnOp) and node.op == "NOT":
        operand = compile_guard(node.operand, bindable)
        return lambda reader: kleene_not(operand(reader))
    return _unless_unanswerable(node, _compile_strict(node, bindable))


def _compile_path(node: PathExpr, bindable: frozenset[str] | None) -> _Closure:
    path = node.dotted
    if len(node.parts) > 1 or (bindable is not None and path in bindable):

        def variable(reader: Reader) -> Any:
            value = reader.get(path)
            return UNKNOWN if value is UNDEFINED else value

        return variable
    symbol = Symbol(path)
    if bindable is not None:
        return lambda reader: _known(reader.argument(path, symbol))

    def name(reader: Reader) -> Any:
        found = reader.find(path)
        return symbol if found is None else _known(found.value)

    return name


def _known(value: Any) -> Any:
    return UNKNOWN if value is UNDEFINED else value


# --- nodes that an unknown operand makes unknown (TRI-3, TRI-4) ------------------------------


def _compile_strict(node: Expr, bindable: frozenset[str] | None) -> _Closure:
    if isinstance(node, BinOp):
        return _compile_binary(node, bindable)
    if isinstance(node, UnOp):
        operand = _compile(node.operand, bindable)

        def negated(reader: Reader) -> Any:
            value = operand(reader)
            return negate(value) if is_number(value) else UNKNOWN

        return negated
    if isinstance(node, CallExpr):
        return _compile_call(node, bindable)
    return lambda _reader: UNKNOWN


def _compile_binary(node: BinOp, bindable: frozenset[str] | None) -> _Closure:
    op = node.op
    left, right = _compile(node.left, bindable), _compile(node.right, bindable)
    if op in ("+", "-", "*", "/"):
        return _calculation(op, left, right, node.line)
    if op in ("==", "!="):
        negative = op == "!="

        def compared(reader: Reader) -> Any:
            a, b = left(reader), right(reader)
            kind = type(a)
            if kind is type(b) and (kind is int or kind is str):
                return (a == b) is not negative
            if a is UNKNOWN or b is UNKNOWN:
                return UNKNOWN
            result = equal_or_unknown(a, b)
            return kleene_not(result) if negative else result

        return compared
    if op == "IN":

        def member(reader: Reader) -> Any:
            a, b = left(reader), right(reader)
            if a is UNKNOWN or b is UNKNOWN:
                return UNKNOWN
            try:
                return contains_or_unknown(a, b)
            except Exception:  # noqa: BLE001 - a foreign collection may raise anything
                return UNKNOWN

        return member

    relation = ORDERS[op]

    def ordered(reader: Reader) -> Any:
        a, b = left(reader), right(reader)
        if type(a) is int and type(b) is int:
            return relation(a, b)
        if a is UNKNOWN or b is UNKNOWN:
            return UNKNOWN
        return order_or_unknown(op, a, b)

    return ordered


def _calculation(op: str, left: _Closure, right: _Closure, line: int) -> _Closure:
    def calculated(reader: Reader) -> Any:
        a, b = left(reader), right(reader)
        if not is_number(a) or not is_number(b) or (op == "/" and b == 0):
            return UNKNOWN
        try:
            return arithmetic(op, a, b, line)
        except Exception:  # noqa: BLE001 - an expression that raises decides nothing
            return UNKNOWN

    return calculated


def _compile_call(node: CallExpr, bindable: frozenset[str] | None) -> _Closure:
    name, line = node.name, node.line
    if name in PROVENANCE:
        ask = compile_provenance(node)

        def about_provenance(reader: Reader) -> Any:
            try:
                return _known(ask(reader))
            except Exception:  # noqa: BLE001 - as above
                return UNKNOWN

        return about_provenance
    if name in EPISTEMIC:
        if len(node.args) != 1 or node.kwargs or not isinstance(node.args[0], PathExpr):
            return lambda _reader: UNKNOWN
        path = node.args[0].dotted

        def about_knowledge(reader: Reader) -> Any:
            answer = epistemic(name, path, reader)
            return UNKNOWN if answer is None else answer

        return about_knowledge
    if name not in PURE or node.kwargs:
        return lambda _reader: UNKNOWN
    arguments = [_compile(argument, bindable) for argument in node.args]

    def applied(reader: Reader) -> Any:
        values = [argument(reader) for argument in arguments]
        if name == "len":
            size = length(values[0]) if len(values) == 1 else None
            return UNKNOWN if size is None else size
        for value in values:
            if not is_number(value) and not _is_numbers(value):
                return UNKNOWN
        try:
            return pure(name, values, line)
        except Exception:  # noqa: BLE001 - as above
            return UNKNOWN

    return applied


def _is_numbers(value: Any) -> bool:
    return isinstance(value, (list, tuple, set)) and all(is_number(item) for item in value)


def _unless_unanswerable(node: Expr, closure: _Closure) -> _Closure:
    """A question without an answer makes its node unknown even from under AND, OR, NOT (`TRI-5`)."""
    questions = [(call.name, path) for call, path in _hidden_questions(node, hidden=False)]
    if not questions:
        return closure

    def answered(reader: Reader) -> Any:
        for name, path in questions:
            if epistemic(name, path, reader) is None:
                return UNKNOWN
        return closure(reader)

    return answered


def _hidden_questions(node: Expr, *, hidden: bool) -> Iterator[tuple[CallExpr, str]]:
    """The epistemic calls below a node that a logical connective could absorb."""
    if isinstance(node, CallExpr) and node.name in EPISTEMIC:
        argument = node.args[0] if node.args else None
        if hidden and isinstance(argument, PathExpr):
            yield node, argument.dotted
        return
    below: tuple[Expr, ...] = ()
    if isinstance(node, BinOp):
        below = (node.left, node.right)
        hidden = hidden or node.op in _LOGICAL
    elif isinstance(node, UnOp):
        below = (node.operand,)
        hidden = hidden or node.op == "NOT"
    elif isinstance(node, ListExpr):
        below = node.items
        hidden = True  # len([CONFIDENCE(p)]) would count an item instead of reading it
    elif isinstance(node, CallExpr):
        below = node.args
    for child in below:
        yield from _hidden_questions(child, hidden=hidden)
