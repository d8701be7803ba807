"""The steps of an authorisation around the protocol: isolate, observe, ask (`KRN-3`, `APR-1` to `APR-6`).

Whatever is raised on the way refuses; only what must stop the run is raised on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from agentl.contracts import clause, ensure
from agentl.kernel import protocol
from agentl.kernel.action import ActionRequest, action_digest, isolated
from agentl.kernel.approval import ApprovalRecord, approval_record, record_answer, signed_by
from agentl.kernel.permit import ExecutionPermit, stops_the_run
from agentl.kernel.policy import PolicyDecision
from agentl.kernel.protocol import PermitStage
from agentl.labels import UNKNOWN_LABEL, Prov
from agentl.messages import render
from agentl.values import DataModelError

_REFUSED: Final = {"approved": "apr.mismatch", "denied": "apr.denied", "expired": "apr.expired"}


@dataclass(slots=True)
class Authorization:
    """What became of a proposal (`KRN-3`).

    ``stage`` names the step at which it stopped (``data_model`` ``isolation`` ``policy_error``
    ``hook_error`` ``policy`` ``approval_isolation`` ``approval``), or is ``granted``. ``code`` and
    ``values`` say why; ``detail`` is their text. ``approved``: a person said yes.
    """

    stage: str
    request: ActionRequest
    permit: ExecutionPermit | None = None
    decision: PolicyDecision | None = None
    approved: bool = False
    code: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    record: ApprovalRecord | None = None

    @property
    def granted(self) -> bool:
        return self.permit is not None

    @property
    def detail(self) -> str:
        return render(self.code, self.values) if self.code else ""


class Stop(Exception):
    def __init__(self, stage: str, code: str, **values: Any) -> None:
        super().__init__(code)
        self.stage = stage
        self.code = code
        self.values = values


def refusal(stage: str, code: str, problem: BaseException, **values: Any) -> Stop:
    """Any raise refuses (`KRN-3`), except what must stop the run: that is raised on."""
    if stops_the_run(problem):
        raise problem
    return Stop(stage, code, type=type(problem).__name__, message=_said(problem), **values)


def _said(problem: BaseException) -> str:
    try:
        return str(problem)
    except BaseException as failure:
        if stops_the_run(failure):
            raise
        return ""


def call_hook(observer: Any, name: str, request: ActionRequest, what: Any) -> None:
    try:
        hook = getattr(observer, name, None)
        if hook is not None:
            hook(request, what)
    except BaseException as problem:  # noqa: BLE001 - a failing hook refuses (KRN-3)
        raise refusal("hook_error", "kernel.hook_error", problem, hook=name) from None


def _plain_labels(given: Mapping[str, Any]) -> dict[str, Prov]:
    labels = given if type(given) is dict else dict(given)
    return {name: label if type(label) is Prov else UNKNOWN_LABEL for name, label in labels.items()}


def isolate(
    request: ActionRequest, kind: str, declared: Callable[[str, str], tuple[str, list[str]]]
) -> tuple[ActionRequest, str]:
    """A copy in plain values that nobody else holds, and its digest (`KRN-3` step 1).

    Args:
        request: the proposal.
        kind: ``invoke`` or ``delegate``.
        declared: gives risk and side effects of a target, by its declaration; what the caller says about
            them does not count (`POL-7`, `KRN-8`).

    Raises:
        Stop: a value is outside the data model, or the request cannot be read.
    """
    try:
        target = request.tool
        if type(target) is not str or kind not in ("invoke", "delegate"):
            raise Stop("isolation", "kernel.isolation", type=type(target).__name__, message=str(kind))
        args = isolated(request.args)
        if type(args) is not dict:
            raise DataModelError(".", type(args).__name__)
        risk, side_effects = declared(target, kind)
        frozen = ActionRequest(
            target,
            args,
            risk,
            side_effects,
            str(request.origin),
            request.confidence,
            _plain_labels(request.provenance),
        )
        return frozen, action_digest(kind, target, args)
    except Stop:
        raise
    except DataModelError as problem:
        raise Stop("data_model", problem.code, **problem.values) from None
    except BaseException as problem:  # noqa: BLE001 - whatever a foreign request raises refuses
        raise refusal("isolation", "kernel.isolation", problem) from None


@ensure(
    lambda frozen, result: (
        result[0] is PermitStage.APPROVED
        and result[1].action_id == frozen.action_id
        and result[1].hash == frozen.hash
    ),
    error=clause("APR-6", "Approve"),
)
def ask(
    stage: PermitStage,
    frozen: ActionRequest,
    request: ActionRequest,
    decision: PolicyDecision,
    approve: Callable[[ActionRequest], Any] | None,
    observer: Any,
    clock: Callable[[], datetime] | None,
    run_id: str,
    rings: Mapping[str, Any],
) -> tuple[PermitStage, ApprovalRecord]:
    """Put a second copy to a person and turn the answer into a record (`APR-1` to `APR-7`).

    Raises:
        Stop: anything but the answer ``approved``, for this action.
    """
    if observer is not None:
        call_hook(observer, "pending", request, decision)
    for ring in decision.rings:
        if ring not in rings:
            raise Stop("approval", "apr.no_ring", name=ring)
    if approve is None:
        raise Stop("approval", "apr.no_approver", target=frozen.tool)
    try:
        shown = ActionRequest(
            frozen.tool,
            isolated(frozen.args),
            frozen.risk,
            list(frozen.side_effects),
            frozen.origin,
            frozen.confidence,
            dict(frozen.provenance),
            frozen.action_id,
            frozen.hash,
        )
    except BaseException as problem:  # noqa: BLE001 - what cannot be shown is not approved
        raise refusal("approval_isolation", "kernel.isolation", problem) from None
    try:
        raw = approve(shown)
    except BaseException as problem:  # noqa: BLE001 - an approver that raises refuses (APR-2)
        stop = refusal("approval", "apr.failed", problem, target=frozen.tool)
        if observer is not None:
            call_hook(observer, "approver_failed", request, problem)
        raise stop from None
    try:
        if type(raw) is ApprovalRecord:
            record = raw
        else:
            record = approval_record(raw, frozen, None if clock is None else clock())
        same = record.action_id == frozen.action_id and record.hash == frozen.hash
        after = protocol.approve(stage, record_answer(record), bool(same))
        asked = decision.rings if after is PermitStage.APPROVED else ()
        unsigned = [ring for ring in asked if not signed_by(rings[ring], run_id, record)]
    except BaseException as problem:  # noqa: BLE001 - an answer that cannot be read refuses
        raise refusal("approval", "apr.failed", problem, target=frozen.tool) from None
    if after is PermitStage.REFUSED:
        raise Stop("approval", _REFUSED[record_answer(record).value], target=frozen.tool, by=record.by)
    if unsigned:
        raise Stop("approval", "apr.not_signed", target=frozen.tool, by=record.by, name=unsigned[0])
    return after, record


__all__ = ["Authorization", "Stop", "ask", "call_hook", "isolate", "refusal"]
