"""An action as the kernel judges it: a request in plain values, its digest, its INPUT contract."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from hashlib import sha256
from typing import Any, Final

from agentl.errors import AgentLError, InvalidArguments
from agentl.language.nodes import ToolDecl
from agentl.messages import fmt
from agentl.values import Symbol, canonical_bytes

_ACTION_DOMAIN: Final = b"agentl.action.v1\n"
_KEY_DOMAIN: Final = b"agentl.idempotency.v1\n"


@dataclass(slots=True)
class ActionRequest:
    """A proposed action: what the policy judges and what a person is asked about (`KRN-1`).

    ``confidence`` lies in 0..1, or is UNDEFINED; ``provenance`` maps each argument, and ``$control``,
    to its label. The kernel fills ``action_id`` and ``hash`` in the copy for the approver.
    """

    tool: str
    args: dict[str, Any] = field(default_factory=dict)
    risk: str = "LOW"
    side_effects: list[str] = field(default_factory=list)
    origin: str = "plan"
    confidence: Any = 1.0
    provenance: Mapping[str, Any] = field(default_factory=dict)
    action_id: str = ""
    hash: str = ""

    def render(self) -> str:
        """``tool(k=v, k2=v2)``, for people only: nothing is keyed by it (`KRN-1`)."""
        return f"{self.tool}({', '.join(f'{name}={fmt(value)}' for name, value in self.args.items())})"


def action_digest(kind: str, target: str, args: Mapping[str, Any]) -> str:
    """The identity of an action: 64 hex digits over kind, target and arguments (`KRN-2`).

    Args:
        kind: ``invoke`` or ``delegate``.
        target: the tool or the sub-agent.
        args: the arguments, in values of the data model.

    Raises:
        DataModelError: a value has no canonical form (`msg:kernel.data_model`).
    """
    return sha256(_ACTION_DOMAIN + canonical_bytes((kind, target, args))).hexdigest()


def idempotency_key(run_id: str, agent: str, seq: int, digest: str) -> str:
    """32 hex digits: the same on every resume, another one for every action of a run (`KRN-10`)."""
    framed = "".join(f"{len(part.encode())}:{part}" for part in (run_id, agent, str(seq), digest))
    return sha256(_KEY_DOMAIN + framed.encode()).hexdigest()[:32]


def action_from_tool(
    tool: ToolDecl,
    args: dict[str, Any],
    origin: str = "plan",
    confidence: Any = 1.0,
    provenance: Mapping[str, Any] | None = None,
) -> ActionRequest:
    """The request to call a declared tool: risk and side effects come from its declaration (`POL-7`)."""
    return ActionRequest(
        tool=tool.name,
        args=args,
        risk=tool.risk,
        side_effects=list(tool.side_effects),
        origin=origin,
        confidence=confidence,
        provenance={} if provenance is None else provenance,
    )


_TRUE_WORDS: Final = ("yes", "true", "on")
_FALSE_WORDS: Final = ("no", "false", "off")


def coerce_inputs(tool: ToolDecl, args: dict[str, Any]) -> None:
    """Turn symbols and strings into what INPUT declares, in place; nothing else is converted (`KRN-6`)."""
    for name, declared in tool.inputs:
        if name not in args:
            continue
        value = args[name]
        wanted = declared.lower()
        if isinstance(value, Symbol):
            if wanted == "string":
                args[name] = str(value)
            elif wanted in ("bool", "boolean"):
                word = str(value).lower()
                if word in _TRUE_WORDS:
                    args[name] = True
                elif word in _FALSE_WORDS:
                    args[name] = False
        elif wanted == "symbol" and type(value) is str:
            args[name] = Symbol(value)


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_float(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _is_boolean(value: Any) -> bool:
    return isinstance(value, bool)


_CHECKS: Final[dict[str, Callable[[Any], bool]]] = {
    "number": _is_number,
    "float": _is_float,
    "int": _is_integer,
    "string": lambda value: isinstance(value, str),
    "bool": _is_boolean,
    "boolean": _is_boolean,
    "symbol": lambda value: isinstance(value, Symbol),
    "list": lambda value: isinstance(value, list | tuple),
}
_NUMERIC: Final = ("number", "float", "int")


def _is_finite(value: Any) -> bool:
    if isinstance(value, Decimal):
        return value.is_finite()
    return not isinstance(value, float) or math.isfinite(value)


def type_violation(value: Any, declared: str) -> str | None:
    """``type`` or ``finite`` when ``value`` breaks the declared type, else ``None`` (`KRN-7`, `TOL-4`)."""
    wanted = declared.lower()
    check = _CHECKS.get(wanted)
    if check is None:
        return None
    if not check(value):
        return "type"
    if wanted in _NUMERIC and not _is_finite(value):
        return "finite"
    return None


def typecheck(tool: ToolDecl, args: Mapping[str, Any]) -> AgentLError | None:
    """The first breach of the INPUT contract, or ``None`` (`KRN-7`).

    Returns:
        An ``InvalidArguments`` error with code ``kernel.input_missing``, ``.input_type``,
        ``.input_finite`` or ``.input_unknown``; it is given back, not raised.
    """
    if not tool.inputs:
        return None
    for name, declared in tool.inputs:
        if name not in args:
            return InvalidArguments(code="kernel.input_missing", parameter=name, type=declared)
        value = args[name]
        breach = type_violation(value, declared)
        if breach == "type":
            return InvalidArguments(
                code="kernel.input_type", parameter=name, type=declared, received=type(value).__name__
            )
        if breach == "finite":
            return InvalidArguments(code="kernel.input_finite", parameter=name, type=declared, value=value)
    if len(args) > len(tool.inputs):
        declared_names = {name for name, _ in tool.inputs}
        extra = [name for name in args if name not in declared_names]
        return InvalidArguments(code="kernel.input_unknown", keys=", ".join(extra))
    return None


__all__ = [
    "ActionRequest",
    "action_digest",
    "action_from_tool",
    "coerce_inputs",
    "idempotency_key",
    "type_violation",
    "typecheck",
]
