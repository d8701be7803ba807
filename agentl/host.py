"""The host: what the world looks like to an agent (`HST-1` to `HST-6`).

Sensors to read, tools and sub-agents to call under a permit, people to ask, events that arrive. The
host makes promises about its targets (idempotent, read-only, reconcilable) that no runtime can verify.
"""

from __future__ import annotations

import inspect
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any, Final, TypeVar

from agentl.errors import HostDeclarationError, InvalidArguments, NotRegistered
from agentl.kernel.action import ActionRequest
from agentl.kernel.permit import ActionContext, require_permit
from agentl.kernel.registry import SubagentRegistry, plain_name
from agentl.kernel.retry import DEFAULT_RETRY, Retry
from agentl.messages import render
from agentl.values import Symbol

_F = TypeVar("_F", bound=Callable[..., Any])

NO_ANSWER: Final = Symbol("no_answer")


class _Shape:
    """Which keyword arguments a function takes; read once, checked on every call."""

    __slots__ = ("any_name", "function", "names", "plain", "required")

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.names: frozenset[str] = frozenset()
        self.required: tuple[str, ...] = ()
        self.any_name = True
        self.plain = False
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            return  # a built-in without a signature: the call itself will tell
        by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        self.names = frozenset(p.name for p in parameters if p.kind in by_name)
        self.required = tuple(
            p.name
            for p in parameters
            if p.default is inspect.Parameter.empty
            and p.kind not in (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
        )
        self.any_name = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
        self.plain = not self.any_name and self.names.issuperset(self.required)

    def misfits(self, args: Mapping[str, Any]) -> list[str]:
        """The parameters that are missing and the arguments that have no place."""
        if self.plain and args.keys() == self.names:
            return []
        wrong = [
            name
            for name in self.required
            if name not in args or (name not in self.names and (self.names or not self.any_name))
        ]
        if not self.any_name:
            wrong += [name for name in args if name not in self.names]
        return wrong


def _key_bytes(ring: str, key: Any) -> Any:
    if isinstance(key, str) and key.lstrip().startswith("-----BEGIN"):
        return key.encode("utf-8")
    if not isinstance(key, str | PathLike):
        return key
    try:
        return Path(key).read_bytes()
    except (OSError, ValueError) as error:
        raise HostDeclarationError(
            code="apr.key_file", name=ring, file=str(key), error=type(error).__name__
        ) from error


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Host:
    """The world of an agent.

    Attributes:
        sensors: path → function without arguments that gives a reading, or ``None`` when mute.
        tools: name → function; to be called directly in a test of its logic only (`HST-5`).
        subagents: name → guarded function of one payload.
        approver: asked with an ``ActionRequest``; answers as `APR-1` says, or an ``Approval``.
        asker: asked with a question and a reason.
        notifier: told of each request that a parked run waits for, under the same id each time (`PRK-4`).
        events: what waits to be taken: dictionaries with ``id``, ``source``, ``payload``.
        key_rings: the key rings that policies may name.
        trace_sink: called with every trace event, when set.
        sleep: does all waiting, in seconds; ``time.sleep`` unless replaced.
        now: gives all times; UTC unless replaced.
    """

    def __init__(self) -> None:
        self.sensors: dict[str, Callable[[], Any]] = {}
        self.tools: dict[str, Callable[..., Any]] = {}
        self.subagents = SubagentRegistry()
        self.approver: Callable[[ActionRequest], Any] | None = None
        self.asker: Callable[[str, str], Any] | None = None
        self.notifier: Callable[[Any], Any] | None = None
        self.events: list[dict[str, Any]] = []
        self.idempotent_tools: set[str] = set()
        self.idempotent_subagents: set[str] = set()
        self.read_only_tools: set[str] = set()
        self.read_only_subagents: set[str] = set()
        self.reconcilers: dict[str, Callable[..., Any]] = {}
        self.subagent_reconcilers: dict[str, Callable[..., Any]] = {}
        self.key_rings: dict[str, Any] = {}
        self.trace_sink: Any = None
        self.sleep: Callable[[float], None] = time.sleep
        self.now: Callable[[], datetime] = _utc_now
        self._retries: dict[tuple[str, str], Retry] = {}
        self._classifiers: dict[tuple[str, str], Callable[[Exception], str | None]] = {}
        self._shapes: dict[str, _Shape] = {}
        self._emitted = 0
        self._event_prefix = ""

    # --- declarations ----------------------------------------------------------------------

    def sensor(self, path: str) -> Callable[[_F], _F]:
        """Register the function that reads ``path``."""

        def register(function: _F) -> _F:
            self.sensors[path] = function
            return function

        return register

    def tool(
        self,
        name: str,
        *,
        idempotent: bool = False,
        read_only: bool = False,
        retry: Retry = DEFAULT_RETRY,
        classify: Callable[[Exception], str | None] | None = None,
    ) -> Callable[[_F], _F]:
        """Register a tool; it is called with its arguments by name (`HST-1`, `HST-4`).

        Args:
            name: an identifier.
            idempotent: the host passes the idempotency key on, and a repeated key is ignored.
            read_only: a call changes nothing.
            retry: how often it may be called again, if one of the two promises holds.
            classify: may name what a raise means: ``transient``, ``failed``, ``in_doubt``.

        Raises:
            HostDeclarationError: the name is no identifier in NFKC form (`KRN-19`).
        """
        plain_name(name)

        def register(function: _F) -> _F:
            self.tools[name] = function
            self._promise("invoke", name, idempotent, read_only, retry, classify)
            return function

        return register

    def subagent(
        self,
        name: str,
        *,
        idempotent: bool = False,
        read_only: bool = False,
        retry: Retry = DEFAULT_RETRY,
        classify: Callable[[Exception], str | None] | None = None,
    ) -> Callable[[_F], _F]:
        """Register a sub-agent, called with one payload; the parameters are those of ``tool``."""
        plain_name(name)

        def register(function: _F) -> _F:
            self.subagents[name] = function
            self._promise("delegate", name, idempotent, read_only, retry, classify)
            return function

        return register

    def reconciler(self, name: str, *, kind: str = "invoke") -> Callable[[_F], _F]:
        """Register ``fn(args, context)``, which knows whether an action took place (`HST-4`).

        It gives the result if the action took place, ``NOT_EXECUTED`` if it did not, and **raises when
        it does not know**.
        """
        plain_name(name)

        def register(function: _F) -> _F:
            (self.reconcilers if kind == "invoke" else self.subagent_reconcilers)[name] = function
            return function

        return register

    def _promise(
        self,
        kind: str,
        name: str,
        idempotent: bool,
        read_only: bool,
        retry: Retry,
        classify: Callable[[Exception], str | None] | None,
    ) -> None:
        tool = kind == "invoke"
        for kept, promised in (
            (self.idempotent_tools if tool else self.idempotent_subagents, idempotent),
            (self.read_only_tools if tool else self.read_only_subagents, read_only),
        ):
            kept.discard(name)
            if promised:
                kept.add(name)
        self._retries[kind, name] = retry
        self._classifiers.pop((kind, name), None)
        if classify is not None:
            self._classifiers[kind, name] = classify

    def key_ring(self, name: str, keys: Mapping[str, Any]) -> None:
        """Declare a key ring that policies may name: ``REQUIRE APPROVAL FOR t BY name`` (`APR-7`).

        Args:
            keys: for each person the public key, or a list of keys: PEM text, or the path of a PEM file,
                which is read now.

        Raises:
            HostDeclarationError: the name is no identifier, or a file cannot be read.
        """
        plain_name(name)
        ring: dict[str, list[Any]] = {}
        for holder, given in keys.items():
            several = given if isinstance(given, list | tuple) else [given]
            ring[holder] = [_key_bytes(name, key) for key in several]
        self.key_rings[name] = ring

    # --- promises --------------------------------------------------------------------------

    def promise(self, target: str, kind: str = "invoke") -> tuple[str, ...]:
        """What is promised for a target, sorted: of ``idempotent``, ``read_only``, ``reconcilable``."""
        tool = kind == "invoke"
        promised = []
        if target in (self.idempotent_tools if tool else self.idempotent_subagents):
            promised.append("idempotent")
        if target in (self.read_only_tools if tool else self.read_only_subagents):
            promised.append("read_only")
        if target in (self.reconcilers if tool else self.subagent_reconcilers):
            promised.append("reconcilable")
        return tuple(promised)

    def retry_policy(self, target: str, kind: str = "invoke") -> Retry:
        """How often a promising target may be called again."""
        return self._retries.get((kind, target), DEFAULT_RETRY)

    def classification(self, target: str, kind: str, problem: Exception) -> str | None:
        """What the target's ``classify`` says about a raise; ``None`` leaves it to `TOL-3`."""
        classify = self._classifiers.get((kind, target))
        return None if classify is None else classify(problem)

    # --- the boundary ----------------------------------------------------------------------

    def read(self, path: str) -> Any:
        """The reading of a sensor; ``None`` when there is no such sensor or it is mute."""
        sensor = self.sensors.get(path)
        return None if sensor is None else sensor()

    def invoke(self, name: str, args: dict[str, Any]) -> Any:
        """Call a tool; only the kernel can, under a permit for exactly this call (`HST-2`).

        Raises:
            PermitError: there is no such permit.
            NotRegistered: the host has no such tool (a ``KeyError``).
            InvalidArguments: the arguments do not fit the signature of the function.
        """
        require_permit("invoke", name, args)
        function = self.tools.get(name)
        if function is None:
            raise NotRegistered(code="host.tool_missing", name=name)
        shape = self._shapes.get(name)
        if shape is None or shape.function is not function:
            shape = self._shapes[name] = _Shape(function)
        misfits = shape.misfits(args)
        if misfits:
            raise InvalidArguments(code="host.signature", name=name, parameters=", ".join(misfits))
        return function(**args)

    def reconcile(self, name: str, args: dict[str, Any], context: ActionContext) -> Any:
        """Ask the reconciler of a target about the action of ``context``.

        Raises:
            LookupError: there is no reconciler. Whatever it raises means that it does not know.
        """
        registry = self.reconcilers if context.kind == "invoke" else self.subagent_reconcilers
        function = registry.get(name)
        if function is None:
            raise LookupError(render("host.reconciler_missing", {"name": name}))
        return function(args, context)

    def ask(self, question: str, reason: str = "") -> Any:
        """Ask a person; the symbol ``no_answer`` when nobody is there to be asked."""
        return NO_ANSWER if self.asker is None else self.asker(question, reason)

    def approve(self, request: ActionRequest) -> Any:
        """The raw answer of the approver; without one, no (`APR-2`)."""
        return False if self.approver is None else self.approver(request)

    # --- events ----------------------------------------------------------------------------

    def emit(self, source: str, /, **payload: Any) -> str:
        """Queue an event and give its id, which stays the same until it is acknowledged (`HST-6`).

        Ids are never used again, in another process neither: a run that resumes knows an old event by
        its id. They come from outside the core and are journalled with the event.
        """
        if not self._event_prefix:
            self._event_prefix = secrets.token_hex(6)
        self._emitted += 1
        event_id = f"{self._event_prefix}-{self._emitted}"
        self.events.append({"id": event_id, "source": source, "payload": payload})
        return event_id

    def pending(self) -> list[dict[str, Any]]:
        """The waiting events, oldest first; nothing is removed."""
        return [dict(event) for event in self.events]

    def acknowledge(self, ids: Iterable[str]) -> None:
        """Remove events that were taken over; unknown ids are ignored."""
        taken = list(ids)
        self.events = [event for event in self.events if event.get("id") not in taken]

    def drain(self) -> list[dict[str, Any]]:
        """The waiting events, removed at once: at most once."""
        events = self.pending()
        self.events.clear()
        return events


__all__ = ["DEFAULT_RETRY", "NO_ANSWER", "Host", "HostDeclarationError", "Retry", "SubagentRegistry"]
