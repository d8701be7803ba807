"""Expressions over a state: values, truth, and where they come from (`EVA-1` to `EVA-13`).

An expression is compiled once into closures that are kept beside its node; an ``Evaluator``
brings the state, the strictness and the notes. The three-valued regime is ``agentl.guards``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from agentl.errors import EvalError
from agentl.functions import (
    EPISTEMIC,
    KNOWN_FUNCTIONS,
    PROVENANCE,
    PURE,
    Reader,
    compile_provenance,
    epistemic,
    path_argument,
    pure,
)
from agentl.guards import compile_guard, evaluate_guard
from agentl.labels import DECLARED_LABEL, RUNTIME_LABEL, UNKNOWN_LABEL, Labeled, Prov
from agentl.language.nodes import BinOp, CallExpr, Expr, ListExpr, Literal, PathExpr, UnOp
from agentl.logic import UNKNOWN, Truth, arithmetic, contains, equal, negate, order, truthy
from agentl.values import UNDEFINED, Symbol


class Evaluator:
    """Evaluates expressions over a state, two-valued (`EVA-11`).

    Args:
        state: where paths are read (a state, or the scope of an action).
        strict_undefined: VERIFY's regime: ignorance makes every comparison false, and ``test``
            is true only when the three-valued regime is sure as well.
        bindable: the one-word names that are variables (`TRI-7`); with ``None`` a one-word name
            that does not resolve is a constant (`EVA-2`).

    ``notes`` collects ``(code, values)`` of what was found missing or unorderable.
    """

    __slots__ = ("bindable", "notes", "state", "strict_undefined")

    def __init__(
        self, state: Reader, strict_undefined: bool = False, bindable: frozenset[str] | None = None
    ) -> None:
        self.state = state
        self.strict_undefined = strict_undefined
        self.bindable = bindable
        self.notes: list[tuple[str, dict[str, Any]]] = []

    def eval(self, node: Expr) -> Any:
        """The value of an expression. Raises ``EvalError`` (`EVA-8`, `EVA-10`)."""
        run = node.memo.get("value")
        if run is None:
            run = node.memo["value"] = _compile(node)
        return run(self)

    def test(self, node: Expr | None) -> bool:
        """Whether a condition holds; a missing one does (`EVA-11`). Raises ``EvalError``."""
        if node is None:
            return True
        holds = truthy(self.eval(node))
        if holds and self.strict_undefined:
            return evaluate_guard(self.state, node, self.bindable) is True
        return holds

    def label(self, node: Expr) -> Prov:
        """The label of an expression: the union of everything it reads (`PRV-4`, `INV-8`)."""
        run = node.memo.get("label")
        if run is None:
            run = node.memo["label"] = _compile_label(node)
        label: Prov = run(self)
        return label

    def labeled(self, node: Expr) -> tuple[Any, Prov]:
        """Value and label; for a path both from one resolution (`STA-5`). Raises ``EvalError``."""
        if type(node) is PathExpr:
            found = None if self._is_constant(node) else self.state.find(node.dotted)
            if found is not None:
                return found.value, self.state.label_of(found)
        return self.eval(node), self.label(node)

    def note(self, code: str, **values: Any) -> None:
        """Add a note about what was found missing or unorderable."""
        self.notes.append((code, values))

    def _is_constant(self, node: PathExpr) -> bool:
        bindable = self.bindable
        return bindable is not None and len(node.parts) == 1 and node.parts[0] not in bindable


def evaluate(
    evaluator: Evaluator | Reader, node: Expr | None, bindable: frozenset[str] | None = None
) -> Truth:
    """The three-valued truth of a guard (`TRI-1`): ``True``, ``False`` or ``UNKNOWN``."""
    if isinstance(evaluator, Evaluator):
        return evaluate_guard(evaluator.state, node, evaluator.bindable if bindable is None else bindable)
    return evaluate_guard(evaluator, node, bindable)


# --- values --------------------------------------------------------------------------------

_Value: TypeAlias = Callable[[Evaluator], Any]


def _compile(node: Expr) -> _Value:
    if isinstance(node, Literal):
        value = node.value.value if type(node.value) is Labeled else node.value
        return lambda _evaluator: value
    if isinstance(node, PathExpr):
        return _compile_path(node)
    if isinstance(node, ListExpr):
        items = [_compile(item) for item in node.items]
        return lambda evaluator: [item(evaluator) for item in items]
    if isinstance(node, BinOp):
        return _compile_binary(node)
    if isinstance(node, UnOp):
        operand, line = _compile(node.operand), node.line
        if node.op == "NOT":
            return lambda evaluator: not truthy(operand(evaluator))
        return lambda evaluator: negate(operand(evaluator), line)
    if isinstance(node, CallExpr):
        return _compile_call(node)
    raise EvalError(code="eval.no_expression", type=type(node).__name__, line=node.line)


def _compile_path(node: PathExpr) -> _Value:
    path = node.dotted
    if len(node.parts) > 1:

        def dotted(evaluator: Evaluator) -> Any:
            found = evaluator.state.find(path)
            if found is not None:
                return found.value
            evaluator.note("eval.unresolved", path=path)
            return UNDEFINED

        return dotted
    symbol = Symbol(path)

    def name(evaluator: Evaluator) -> Any:
        bindable = evaluator.bindable
        if bindable is not None and path not in bindable:
            return evaluator.state.argument(path, symbol)
        found = evaluator.state.find(path)
        if found is not None:
            return found.value
        if bindable is None:
            return symbol
        evaluator.note("eval.unresolved", path=path)
        return UNDEFINED

    return name


def _compile_binary(node: BinOp) -> _Value:
    op, line = node.op, node.line
    left, right = _compile(node.left), _compile(node.right)
    if op == "AND":  # a boolean; the right side only where the left one decides nothing (`EVA-9`)
        return lambda evaluator: truthy(left(evaluator)) and truthy(right(evaluator))
    if op == "OR":
        return lambda evaluator: truthy(left(evaluator)) or truthy(right(evaluator))
    if op in ("+", "-", "*", "/"):
        return lambda evaluator: arithmetic(op, left(evaluator), right(evaluator), line)
    if op in ("==", "!="):
        negative = op == "!="

        def compared(evaluator: Evaluator) -> bool:
            a, b = left(evaluator), right(evaluator)
            if a is UNDEFINED or b is UNDEFINED:
                evaluator.note("eval.undefined", operator=op, line=line)
                return negative and a is not b and not evaluator.strict_undefined
            return equal(a, b) is not negative

        return compared
    if op == "IN":

        def member(evaluator: Evaluator) -> bool:
            a, b = left(evaluator), right(evaluator)
            return a is not UNDEFINED and contains(a, b)

        return member

    def ordered(evaluator: Evaluator) -> bool:
        a, b = left(evaluator), right(evaluator)
        if a is UNDEFINED or b is UNDEFINED:
            evaluator.note("eval.undefined", operator=op, line=line)
            return False
        result = order(op, a, b)
        if result is UNKNOWN:
            evaluator.note("eval.unorderable", left=a, operator=op, right=b)
            return False
        return result is True

    return ordered


def _compile_call(node: CallExpr) -> _Value:
    name, line = node.name, node.line
    if name in PROVENANCE:
        ask = compile_provenance(node)
        return lambda evaluator: ask(evaluator.state)
    if name in EPISTEMIC:

        def about_knowledge(evaluator: Evaluator) -> Any:
            path = path_argument(node)
            answer = epistemic(name, path, evaluator.state)
            if answer is not None:
                return answer
            evaluator.note("eval.unanswered", function=name, path=path)
            return 1.0 if name == "UNCERTAINTY" else 0.0

        return about_knowledge
    if name not in PURE:

        def impure(_evaluator: Evaluator) -> Any:
            raise EvalError(code="eval.impure", function=name, line=line)

        return impure
    arguments = [_compile(argument) for argument in node.args]
    named = bool(node.kwargs)

    def applied(evaluator: Evaluator) -> Any:
        if named:
            raise EvalError(code="eval.arguments", function=name, line=line)
        return pure(name, [argument(evaluator) for argument in arguments], line)

    return applied


# --- labels (PRV-4) ------------------------------------------------------------------------

_Labeler: TypeAlias = Callable[[Evaluator], Prov]


def _compile_label(node: Expr) -> _Labeler:
    if isinstance(node, Literal):
        kept = node.value.prov if type(node.value) is Labeled else DECLARED_LABEL
        return lambda _evaluator: kept
    if isinstance(node, PathExpr):
        return _compile_path_label(node)
    if isinstance(node, ListExpr):
        return _union(
            DECLARED_LABEL if not node.items else None, [_compile_label(item) for item in node.items]
        )
    if isinstance(node, BinOp):
        return _union(None, [_compile_label(node.left), _compile_label(node.right)])
    if isinstance(node, UnOp):
        return _compile_label(node.operand)
    if isinstance(node, CallExpr):
        return _compile_call_label(node)
    return lambda _evaluator: UNKNOWN_LABEL


def _union(base: Prov | None, parts: list[_Labeler]) -> _Labeler:
    def joined(evaluator: Evaluator) -> Prov:
        label = base
        for part in parts:
            found = part(evaluator)
            label = found if label is None else label | found
        return UNKNOWN_LABEL if label is None else label

    return joined


def _compile_path_label(node: PathExpr) -> _Labeler:
    path, single = node.dotted, len(node.parts) == 1

    def labelled(evaluator: Evaluator) -> Prov:
        bindable = evaluator.bindable
        if single and bindable is not None and path not in bindable:
            return DECLARED_LABEL
        found = evaluator.state.find(path)
        if found is not None:
            return evaluator.state.label_of(found)
        return DECLARED_LABEL if single and bindable is None else UNKNOWN_LABEL

    return labelled


def _compile_call_label(node: CallExpr) -> _Labeler:
    if node.name in PROVENANCE:
        return lambda _evaluator: RUNTIME_LABEL
    arguments = [_compile_label(argument) for argument in node.args]
    arguments += [_compile_label(argument) for _name, argument in node.kwargs]
    if node.name in EPISTEMIC:
        if node.args and isinstance(node.args[0], PathExpr):
            arguments.append(_read_by_question(node.name, node.args[0].dotted))
        return _union(RUNTIME_LABEL, arguments)
    return _union(DECLARED_LABEL if node.name in KNOWN_FUNCTIONS else UNKNOWN_LABEL, arguments)


def _read_by_question(name: str, path: str) -> _Labeler:
    """What an epistemic function reads beside its argument: the belief, or the posterior."""
    read = path + (".confidence" if name in ("CONFIDENCE", "UNCERTAINTY") else ".posterior")

    def labelled(evaluator: Evaluator) -> Prov:
        found = evaluator.state.find(read)
        return RUNTIME_LABEL if found is None else evaluator.state.label_of(found)

    return labelled


__all__ = ["Evaluator", "compile_guard", "evaluate"]
