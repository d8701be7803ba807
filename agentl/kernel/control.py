"""Labels of what the interpreter proposes, computed inside the trusted base (`KRN-18`, `STM-1`).

The interpreter enters a decision by giving its condition and its source, never a ready label, and
it proposes a call by its argument expressions: value and label come from one resolution.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agentl.errors import InvalidArguments, PermitError
from agentl.evaluator import Evaluator
from agentl.labels import NONE, UNKNOWN_LABEL, Prov, of
from agentl.language.nodes import CallExpr, Expr, ToolDecl
from agentl.state import State

CONTROL_KEY: Final = "$control"

_SEAL: Final = object()


class Decision:
    """A decision in force, with the label of what it was taken on. Only ``Control`` makes one."""

    __slots__ = ("_label",)

    def __init__(self, seal: object, label: Prov) -> None:
        if seal is not _SEAL:
            raise PermitError(code="kernel.decision")
        self._label = label

    @property
    def label(self) -> Prov:
        return self._label

    def joined(self, other: Decision) -> Decision:
        """The decision that rests on both (`TCK-11`)."""
        return Decision(_SEAL, _label_of(self) | _label_of(other))

    def __repr__(self) -> str:
        return f"Decision({', '.join(self._label.names)})"


def _label_of(decision: Any) -> Prov:
    if type(decision) is not Decision:
        raise PermitError(code="kernel.decision")
    return decision._label  # noqa: SLF001 - the same module keeps it


class _Entered:
    """The block under a decision: pushes its label and takes it off again, whatever happens inside."""

    __slots__ = ("_decision", "_stack")

    def __init__(self, stack: list[Prov], decision: Prov) -> None:
        self._stack = stack
        self._decision = decision

    def __enter__(self) -> None:
        stack = self._stack
        stack.append(stack[-1] | self._decision if stack else self._decision)

    def __exit__(self, *_exc: object) -> None:
        self._stack.pop()


class Control:
    """The stack of decisions in force; its union is the control label (`STM-1`, `PRV-5`)."""

    __slots__ = ("_stack",)

    def __init__(self) -> None:
        self._stack: list[Prov] = []

    @property
    def label(self) -> Prov:
        """The union of the decisions in force; empty outside any."""
        return self._stack[-1] if self._stack else NONE

    def decide(
        self,
        *sources: str,
        condition: Expr | None = None,
        state: State | None = None,
        base: Decision | None = None,
    ) -> Decision:
        """The decision taken on ``condition``, because of ``sources``, on top of ``base``.

        A condition whose label cannot be computed counts as UNKNOWN, and so does a decision
        taken on nothing at all.

        Raises:
            SourceError: a source that `PRV-1` does not list.
            PermitError: ``base`` is not a decision made here.
        """
        label = of(*sources) if sources else NONE
        if condition is not None:
            label |= _condition_label(condition, state)
        if base is not None:
            label |= _label_of(base)
        return Decision(_SEAL, label if label is not NONE else UNKNOWN_LABEL)

    def here(self) -> Decision:
        """The decisions in force, as one; to queue something under them (`TCK-11`)."""
        return Decision(_SEAL, self.label)

    def enter(self, decision: Decision) -> _Entered:
        """A ``with`` block under ``decision``. Raises ``PermitError`` for anything not made here."""
        return _Entered(self._stack, _label_of(decision))

    def depth(self) -> int:
        """How many decisions are in force."""
        return len(self._stack)


def _condition_label(condition: Expr, state: State | None) -> Prov:
    if state is None:
        return UNKNOWN_LABEL
    try:
        return Evaluator(state).label(condition)
    except Exception:  # noqa: BLE001 - the condition counts as false (EVA-12); its label is not known
        return UNKNOWN_LABEL


def arguments(
    tool: ToolDecl | tuple[str, ...] | list[str] | None, call: CallExpr, state: State, control: Prov
) -> tuple[dict[str, Any], dict[str, Prov]]:
    """The arguments of a proposed call and the label of each, the control label included (`TOL-1`).

    Args:
        tool: the declaration, or the parameter names; positions beyond them become ``arg<i>``.
        call: the call expression.
        state: where its expressions are evaluated, values and labels by one resolution (`STA-5`).
        control: the control label in force.

    Returns:
        The arguments, and their labels by name; the control label itself as ``$control``.

    Raises:
        InvalidArguments: a parameter is given twice. Whatever an expression raises passes through.
    """
    evaluator = Evaluator(state)
    values: dict[str, Any] = {}
    labels: dict[str, Prov] = {}
    if call.args:
        names = [name for name, _ in tool.inputs] if isinstance(tool, ToolDecl) else list(tool or ())
        for position, node in enumerate(call.args):
            name = names[position] if position < len(names) else f"arg{position}"
            value, label = evaluator.labeled(node)
            values[name] = value
            labels[name] = label | control
    for name, node in call.kwargs:
        if name in values:
            raise InvalidArguments(code="kernel.argument_twice", parameter=name)
        value, label = evaluator.labeled(node)
        values[name] = value
        labels[name] = label | control
    labels[CONTROL_KEY] = control
    return values, labels


def given_labels(args: Mapping[str, Any], given: Mapping[str, Any] | None, control: Prov) -> dict[str, Prov]:
    """The labels of arguments that came without expressions (`KRN-18`).

    What a caller gives can only add sources to the control label; an argument that comes
    without a label is UNKNOWN.
    """
    labels: dict[str, Prov] = {}
    given = given or {}
    for name in args:
        label = given.get(name)
        labels[name] = (label if type(label) is Prov else UNKNOWN_LABEL) | control
    own = given.get(CONTROL_KEY)
    labels[CONTROL_KEY] = (own | control) if type(own) is Prov else control
    return labels


__all__ = ["CONTROL_KEY", "Control", "Decision", "arguments", "given_labels"]
