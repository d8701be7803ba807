"""Permits: single use, bound to one exact action, worth nothing outside the kernel that issued them.

The truth about a permit is kept by the ledger of its kernel, under a nonce from a counter, and
compared by identity: a copy, a look-alike or a permit whose fields were forced is unknown there.
While an action runs, its *dispatch* is in a context variable; the host checks every call against it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, NoReturn

from agentl.contracts import clause, ensure
from agentl.errors import KernelAbort, PermitError
from agentl.kernel import protocol
from agentl.kernel.action import ActionRequest, action_digest
from agentl.kernel.protocol import PermitStage, Presentation, RecordStage

Status = PermitStage

_SEAL: Final = object()


class ActionContext:
    """What a running tool may know about its own action (`KRN-13`).

    ``attempt`` counts from 1; ``fencing_token`` is the lease epoch of a durable run, else ``None``.
    """

    __slots__ = ("action_id", "attempt", "fencing_token", "idempotency_key", "kind", "tool")

    def __init__(
        self,
        kind: str,
        tool: str,
        action_id: str,
        idempotency_key: str,
        attempt: int = 1,
        fencing_token: int | None = None,
    ) -> None:
        self.kind = kind
        self.tool = tool
        self.action_id = action_id
        self.idempotency_key = idempotency_key
        self.attempt = attempt
        self.fencing_token = fencing_token

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ActionContext):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"ActionContext({fields})"


class Held:
    """What the ledger knows about one permit; the permit only shows it to others."""

    __slots__ = (
        "action_hash",
        "action_id",
        "approved",
        "by_verdict",
        "idempotency_key",
        "issuer",
        "kind",
        "policy_digest",
        "record",
        "request",
        "stage",
        "target",
    )

    def __init__(
        self,
        kind: str,
        target: str,
        action_hash: str,
        action_id: str,
        idempotency_key: str,
        stage: PermitStage,
        request: ActionRequest,
        policy_digest: str,
        approved: bool,
        issuer: str,
    ) -> None:
        self.kind = kind
        self.target = target
        self.action_hash = action_hash
        self.action_id = action_id
        self.idempotency_key = idempotency_key
        self.stage = stage
        self.record = RecordStage.NONE
        self.by_verdict = False  # a person said that the interrupted action took place (`RES-6`)
        self.request = request
        self.policy_digest = policy_digest
        self.approved = approved
        self.issuer = issuer


class ExecutionPermit:
    """The kernel's permission to run one action once (`KRN-9`). Only ``Kernel.authorize`` makes one.

    Immutable, its own copy, and impossible to serialise: it holds in its process and its kernel only.
    """

    __slots__ = ("_held", "args", "nonce")

    args: Mapping[str, Any]
    nonce: int
    _held: Held

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        raise PermitError(code="permit.forged")

    def __init_subclass__(cls, **_kwargs: Any) -> None:
        raise PermitError(code="permit.forged")

    @property
    def kind(self) -> str:
        """``invoke`` or ``delegate``."""
        return self._held.kind

    @property
    def target(self) -> str:
        """The tool or sub-agent."""
        return self._held.target

    @property
    def action_hash(self) -> str:
        """The digest of the action that was judged (`KRN-2`)."""
        return self._held.action_hash

    @property
    def action_id(self) -> str:
        """Names the action in its run (`KRN-10`)."""
        return self._held.action_id

    @property
    def idempotency_key(self) -> str:
        """The same on every resume (`KRN-10`)."""
        return self._held.idempotency_key

    @property
    def policy_digest(self) -> str:
        """The policy under which it was judged."""
        return self._held.policy_digest

    @property
    def approved(self) -> bool:
        """Whether a person said yes."""
        return self._held.approved

    @property
    def issuer(self) -> str:
        """The run and agent of the kernel that issued it."""
        return self._held.issuer

    @property
    def status(self) -> PermitStage:
        """``issued``, ``dispatching``, ``spent`` or ``void`` (`KRN-9`)."""
        return self._held.stage

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise PermitError(code="permit.immutable", field=name)

    def __delattr__(self, name: str) -> NoReturn:
        raise PermitError(code="permit.immutable", field=name)

    def __copy__(self) -> ExecutionPermit:
        return self

    def __deepcopy__(self, _memo: Any) -> ExecutionPermit:
        return self

    def __reduce_ex__(self, _protocol: Any) -> NoReturn:
        raise PermitError(code="permit.serialised")

    def __repr__(self) -> str:
        return f"<ExecutionPermit {self.kind} {self.target} {self.action_id} {self.status.value}>"


class Dispatch:
    """One attempt under way. Made by the kernel alone; a host presents it once (`KRN-11`, `KRN-13`)."""

    __slots__ = ("_seal", "context", "held", "open", "presented", "ticket")

    def __init__(self, seal: object, held: Held, context: ActionContext) -> None:
        if seal is not _SEAL:
            raise PermitError(code="permit.forged")
        self._seal = seal
        self.held = held
        self.context = context
        self.open = True
        self.presented = False
        # Taking the one ticket is atomic, so two threads cannot both present this attempt.
        self.ticket = [True]


_active: ContextVar[Dispatch | None] = ContextVar("agentl_active_dispatch", default=None)


@ensure(
    lambda held, result: (
        result.held is held and held.stage is PermitStage.DISPATCHING and result.open and not result.presented
    ),
    error=clause("KRN-12", "Dispatch"),
)
def start_attempt(held: Held, attempt: int, fencing_token: int | None) -> Dispatch:
    """A new attempt of a permit under way; for the gate (`KRN-12`)."""
    held.stage = protocol.dispatch(held.stage, held.record)
    context = ActionContext(
        held.kind, held.target, held.action_id, held.idempotency_key, attempt, fencing_token
    )
    return Dispatch(_SEAL, held, context)


class entered:  # noqa: N801 - reads as a word in a with statement
    """The block in which an attempt runs: its dispatch is active here and closed afterwards."""

    __slots__ = ("_dispatch", "_token")

    def __init__(self, dispatch: Dispatch) -> None:
        self._dispatch = dispatch

    def __enter__(self) -> None:
        self._token = _active.set(self._dispatch)

    def __exit__(self, *_exc: object) -> None:
        self._dispatch.open = False
        _active.reset(self._token)


@ensure(
    lambda kind, target, result: (
        (dispatch := _active.get()) is not None
        and dispatch.presented
        and dispatch.context is result
        and result.tool == target
        and result.kind == kind
    ),
    error=clause("KRN-13", "Dispatch"),
)
def require_permit(kind: str, target: str, args: Mapping[str, Any]) -> ActionContext:
    """The check inside a host, before anything is done (`KRN-13`, `INV-1`).

    Args:
        kind: ``invoke`` for a tool, ``delegate`` for a sub-agent.
        target: the name that is about to be called.
        args: the arguments that it is about to be called with.

    Returns:
        The context of the authorised action.

    Raises:
        PermitError: no permit, presented already, another action, or other arguments (`KRN-14`).
    """
    dispatch = _active.get()
    if dispatch is None or not dispatch.open:
        raise PermitError(code="permit.missing", kind=kind, target=target)
    held = dispatch.held
    same_target = held.kind == kind and held.target == target
    same_arguments = False
    if same_target and not dispatch.presented:
        try:
            same_arguments = action_digest(kind, target, args) == held.action_hash
        except (ValueError, TypeError, AttributeError, RecursionError):
            same_arguments = False  # no canonical form, so not what was judged
    fresh = not dispatch.presented
    if fresh and same_arguments:
        try:
            dispatch.ticket.pop()
        except IndexError:
            fresh = False
    answer = protocol.present(held.stage, fresh, same_target, same_arguments)
    if answer is Presentation.ACCEPTED:
        dispatch.presented = True
        return dispatch.context
    raise _refusal(answer, held, kind, target)


def _refusal(answer: Presentation, held: Held, kind: str, target: str) -> PermitError:
    if answer is Presentation.OTHER:
        return PermitError(
            code="permit.other", kind=kind, target=target, permit_kind=held.kind, permit_target=held.target
        )
    code = {
        Presentation.MISSING: "permit.missing",
        Presentation.PRESENTED: "permit.presented",
        Presentation.ARGUMENTS: "permit.arguments",
    }[answer]
    return PermitError(code=code, kind=kind, target=target)


def current_action() -> ActionContext | None:
    """The context of the action that is running here, or ``None`` outside one (`KRN-13`)."""
    dispatch = _active.get()
    return None if dispatch is None else dispatch.context


def active_dispatch() -> Dispatch | None:
    """The dispatch under way, to carry it into another thread or task with ``activated`` (`KRN-13`)."""
    return _active.get()


@contextmanager
def activated(active: Any) -> Iterator[Dispatch]:
    """Run a block under a dispatch taken from ``active_dispatch`` in another thread or task (`KRN-13`).

    Raises:
        PermitError: ``active`` is not an execution that the kernel has under way.
    """
    if type(active) is not Dispatch or getattr(active, "_seal", None) is not _SEAL or not active.open:
        raise PermitError(code="permit.activated")
    token = _active.set(active)
    try:
        yield active
    finally:
        _active.reset(token)


def stops_the_run(error: BaseException) -> bool:
    """True for what no boundary may turn into a refusal or an outcome (`KRN-3`, `KRN-15`).

    Interrupts, exits, kernel interruptions and the cancellation of an asyncio task. asyncio is
    looked up rather than imported: where nobody imported it, nobody can raise from it.
    """
    if isinstance(error, (KeyboardInterrupt, SystemExit, KernelAbort)):
        return True
    tasks = sys.modules.get("asyncio.exceptions")
    return tasks is not None and isinstance(error, tasks.CancelledError)


__all__ = [
    "ActionContext",
    "Dispatch",
    "ExecutionPermit",
    "Held",
    "Status",
    "activated",
    "active_dispatch",
    "current_action",
    "entered",
    "require_permit",
    "start_attempt",
    "stops_the_run",
]
