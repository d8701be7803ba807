"""An action as the kernel judges it: a request in plain values, its digest, its INPUT contract."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final

from agentl.errors import AgentLError, InvalidArguments
from agentl.language.nodes import ToolDecl
from agentl.messages import fmt
from agentl.values import Symbol, canonical_bytes, plain_copy

_ACTION_DOMAIN: Final = b"agentl.action.v1\n"
_KIND_FRAMES: Final = {kind: b"%d:%b" % (len(kind), kind.encode()) for kind in ("invoke", "delegate")}
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
    return sha256(_named(kind, target) + canonical_bytes(args)).hexdigest()


@lru_cache(maxsize=1024)
def _named(kind: str, target: str) -> bytes:
    """The frame of an action up to its arguments."""
    name = target.encode("utf-8", "surrogatepass")
    return b"%b%b%d:%b" % (_ACTION_DOMAIN, _KIND_FRAMES[kind], len(name), name)


def idempotency_key(run_id: str, agent: str, seq: int, digest: str) -> str:
    """32 hex digits: the same on every resume, another one for every action of a run (`KRN-10`)."""
    return key_maker(run_id, agent)(seq, digest)


def key_maker(run_id: str, agent: str) -> Callable[[int, str], str]:
    """``idempotency_key`` for one run and agent, whose part of the frame is digested once."""
    run, name = run_id.encode("utf-8", "surrogatepass"), agent.encode("utf-8", "surrogatepass")
    begun = sha256(b"%b%d:%b%d:%b" % (_KEY_DOMAIN, len(run), run, len(name), name))

    def key(seq: int, digest: str) -> str:
        count = b"%d" % seq
        whole = begun.copy()
        whole.update(b"%d:%b%d:%b" % (len(count), count, len(digest), digest.encode()))
        return whole.hexdigest()[:32]

    return key


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
_COERCED: Final = ("string", "symbol", "bool", "boolean")


def _is_finite(value: Any) -> bool:
    if isinstance(value, Decimal):
        return value.is_finite()
    return not isinstance(value, float) or math.isfinite(value)


def type_violation(value: Any, declared: str) -> str | None:
    """``type`` or ``finite`` when ``value`` breaks the declared type, else ``None`` (`KRN-7`, `TOL-4`)."""
    check, numeric = _check_of(declared)
    if check is None:
        return None
    if not check(value):
        return "type"
    if numeric and not _is_finite(value):
        return "finite"
    return None


@lru_cache(maxsize=1024)
def _check_of(declared: str) -> tuple[Callable[[Any], bool] | None, bool]:
    wanted = declared.lower()
    return _CHECKS.get(wanted), wanted in _NUMERIC


class InputContract:
    """The INPUT of one tool, read once: coercion (`KRN-6`), then the check (`KRN-7`)."""

    __slots__ = ("_checks", "_coercions", "_count", "_tool")

    def __init__(self, tool: ToolDecl) -> None:
        self._tool = tool
        wanted = [(name, declared, declared.lower()) for name, declared in tool.inputs]
        self._coercions = [(name, low) for name, _, low in wanted if low in _COERCED]
        self._checks = [(name, declared, _CHECKS.get(low), low in _NUMERIC) for name, declared, low in wanted]
        self._count = len({name for name, _ in tool.inputs})

    def coerce(self, args: dict[str, Any]) -> None:
        """Turn symbols and strings into what INPUT declares, in place; nothing else is converted."""
        for name, wanted in self._coercions:
            value: Any = args.get(name)
            kind = type(value)
            if kind is Symbol:
                if wanted == "string":
                    args[name] = value.name
                elif wanted != "symbol":
                    word = value.name.lower()
                    if word in _TRUE_WORDS:
                        args[name] = True
                    elif word in _FALSE_WORDS:
                        args[name] = False
            elif kind is str and wanted == "symbol":
                args[name] = Symbol(value)

    def breach(self, args: Mapping[str, Any]) -> InvalidArguments | None:
        """The first breach, or ``None``."""
        for name, declared, check, numeric in self._checks:
            if name not in args:
                return InvalidArguments(code="kernel.input_missing", parameter=name, type=declared)
            if check is None:
                continue
            value = args[name]
            if not check(value):
                received = type(value).__name__
                return InvalidArguments(
                    code="kernel.input_type", parameter=name, type=declared, received=received
                )
            if numeric and type(value) is not int and not _is_finite(value):
                return InvalidArguments(
                    code="kernel.input_finite", parameter=name, type=declared, value=value
                )
        if self._count and len(args) > self._count:
            declared_names = [name for name, _ in self._tool.inputs]
            extra = [name for name in args if name not in declared_names]
            return InvalidArguments(code="kernel.input_unknown", keys=", ".join(extra))
        return None


def coerce_inputs(tool: ToolDecl, args: dict[str, Any]) -> None:
    """Turn symbols and strings into what INPUT declares, in place; nothing else is converted (`KRN-6`)."""
    InputContract(tool).coerce(args)


def typecheck(tool: ToolDecl, args: Mapping[str, Any]) -> AgentLError | None:
    """The first breach of the INPUT contract, or ``None`` (`KRN-7`).

    Returns:
        An ``InvalidArguments`` error with code ``kernel.input_missing``, ``.input_type``,
        ``.input_finite`` or ``.input_unknown``; it is given back, not raised.
    """
    return InputContract(tool).breach(args)


_SCALARS: Final = frozenset({str, int, float, bool, type(None), Symbol})


def isolated(args: Any) -> Any:
    """``plain_copy`` of arguments, at the price of one flat copy where they are flat (`KRN-3`).

    Raises:
        DataModelError: a value is outside the data model.
    """
    if type(args) is dict:
        for name, value in args.items():
            if type(value) not in _SCALARS or type(name) is not str:
                return plain_copy(args)
        return args.copy()
    return plain_copy(args)


__all__ = [
    "ActionRequest",
    "InputContract",
    "action_digest",
    "action_from_tool",
    "coerce_inputs",
    "idempotency_key",
    "isolated",
    "key_maker",
    "type_violation",
    "typecheck",
]
