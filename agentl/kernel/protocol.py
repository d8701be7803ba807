"""The protocol of the kernel as pure steps: one function per action of ``formal/Kernel.tla``.

A step takes the stage of a permit, the stage of the record of its action, and what was found
out, and gives the next stage. The gate does the input and output and calls these functions
to decide; there is no second copy of this logic. Each step keeps one order: the enabling
condition (``require``), the refusal that protects somebody (ordinary code, active with the
contracts off as well), the effect (``ensure``).

| action of the model | step | clauses |
|---|---|---|
| Decide | ``decide`` | KRN-3, POL-2 |
| Approve | ``approve`` | APR-1, APR-6 |
| Mint | ``mint`` | KRN-3, KRN-10 |
| Intent | ``intent`` | DUR-5, DUR-6 |
| Dispatch | ``dispatch``, and ``present`` on the side of the host | KRN-11 to KRN-13 |
| Result | ``result`` | KRN-11, TOL-3 |
| Settle | ``settle`` | TOL-3, RES-6 |
| Verdict | ``verdict`` | RES-6, TOL-8 |
"""

from __future__ import annotations

from enum import Enum, IntFlag
from typing import Final, NamedTuple

from agentl.contracts import clause, ensure, require
from agentl.errors import PermitError


class PermitStage(Enum):
    """The life of one permission (`KRN-3`, `KRN-9`, `KRN-11`)."""

    NONE = "none"
    JUDGED = "judged"
    APPROVED = "approved"
    REFUSED = "refused"
    ISSUED = "issued"
    DISPATCHING = "dispatching"
    SPENT = "spent"
    VOID = "void"


class RecordStage(Enum):
    """What is on record about one action (`DUR-4`, `TOL-3`)."""

    NONE = "none"
    INTENT = "intent"
    RESULT = "result"
    DOUBT = "doubt"


class Judgement(Enum):
    """What the policy said (`POL-3`)."""

    ALLOWED = "ALLOWED"
    DENIED = "DENIED"
    APPROVAL_REQUIRED = "APPROVAL_REQUIRED"


class Answer(Enum):
    """What the approver said (`APR-6`)."""

    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"


class Promise(IntFlag):
    """What a host promises for a target (`HST-4`); no flag is the plain tool."""

    PLAIN = 0
    IDEMPOTENT = 1
    RECONCILABLE = 2
    READ_ONLY = 4


class Finding(Enum):
    """What is known about an action whose result is missing (`TOL-3`, `RES-6`).

    ``NOTHING_DONE`` the failure is sure; ``UNSURE`` a raise, a time-out or a death of the process;
    ``CALLED_OFF`` unsure, and calling again is ruled out; the other three are what a reconciler found.
    """

    NOTHING_DONE = "nothing_done"
    UNSURE = "unsure"
    CALLED_OFF = "called_off"
    TOOK_PLACE = "took_place"
    DID_NOT = "did_not"
    NOT_KNOWN = "not_known"


class Settlement(Enum):
    """How an action without a result goes on (`TOL-3`, `RES-6`).

    ``RETRY`` call again under the same key; ``ASK`` ask the reconciler; ``RECONCILED`` its answer is
    the result; ``NOT_EXECUTED`` the reconciler says that nothing was done; ``FAILED`` it is sure that
    nothing was done; ``IN_DOUBT`` nobody knows.
    """

    RETRY = "retry"
    ASK = "ask"
    RECONCILED = "reconciled"
    NOT_EXECUTED = "not_executed"
    FAILED = "failed"
    IN_DOUBT = "in_doubt"


class Presentation(Enum):
    """The answer of the check inside the host (`KRN-13`, `KRN-14`)."""

    ACCEPTED = "accepted"
    MISSING = "missing"
    PRESENTED = "presented"
    OTHER = "other"
    ARGUMENTS = "arguments"


class Ended(NamedTuple):
    """Where a permit and its record stand once the action has an outcome (`KRN-11`)."""

    permit: PermitStage
    record: RecordStage


_AFTER_DECIDE: Final = {
    Judgement.ALLOWED: PermitStage.APPROVED,
    Judgement.DENIED: PermitStage.REFUSED,
    Judgement.APPROVAL_REQUIRED: PermitStage.JUDGED,
}


def _refuse(step: str, stage: Enum) -> PermitError:
    return PermitError(code="permit.step", step=step, stage=stage.value)


@require(lambda permit: permit is PermitStage.NONE, error=clause("KRN-3", "Decide"))
@ensure(
    lambda judgement, result: (
        (result is PermitStage.REFUSED) == (judgement is Judgement.DENIED)
        and (result is PermitStage.APPROVED) == (judgement is Judgement.ALLOWED)
    ),
    error=clause("POL-2", "Decide"),
)
def decide(permit: PermitStage, judgement: Judgement) -> PermitStage:
    """Decide (`KRN-3`): denied refuses, allowed may be minted, anything else waits for a person.

    :raises PermitError: the action was judged before.
    """
    if permit is not PermitStage.NONE:
        raise _refuse("decide", permit)
    return _AFTER_DECIDE[judgement]


@require(lambda permit: permit is PermitStage.JUDGED, error=clause("APR-6", "Approve"))
@ensure(
    lambda answer, same_action, result: (
        (result is PermitStage.APPROVED) == (answer is Answer.APPROVED and same_action)
    ),
    error=clause("APR-6", "Approve"),
)
def approve(permit: PermitStage, answer: Answer, same_action: bool) -> PermitStage:
    """Approve (`APR-6`): only the answer ``approved``, given for this id and digest, approves.

    :raises PermitError: nobody was to be asked about this action.
    """
    if permit is not PermitStage.JUDGED:
        raise _refuse("approve", permit)
    return PermitStage.APPROVED if answer is Answer.APPROVED and same_action else PermitStage.REFUSED


@require(lambda permit: permit is PermitStage.APPROVED, error=clause("KRN-3", "Mint"))
@ensure(lambda result: result is PermitStage.ISSUED, error=clause("KRN-10", "Mint"))
def mint(permit: PermitStage) -> PermitStage:
    """Mint (`KRN-3`): the permit comes last, after the policy and the person have said yes.

    :raises PermitError: the action was refused, or not decided yet.
    """
    if permit is not PermitStage.APPROVED:
        raise _refuse("mint", permit)
    return PermitStage.ISSUED


@require(lambda permit: permit is PermitStage.ISSUED, error=clause("DUR-6", "Intent"))
@ensure(
    lambda record, result: result is (RecordStage.INTENT if record is RecordStage.NONE else record),
    error=clause("DUR-6", "Intent"),
)
def intent(permit: PermitStage, record: RecordStage) -> RecordStage:
    """Intent (`DUR-5`, `DUR-6`): what will be done is on record first; a recorded one is consumed in place.

    :raises PermitError: the permit is not one that can still be used.
    """
    if permit is not PermitStage.ISSUED:
        raise _refuse("intent", permit)
    return RecordStage.INTENT if record is RecordStage.NONE else record


@require(
    lambda permit, record: (
        record is RecordStage.INTENT and permit in (PermitStage.ISSUED, PermitStage.DISPATCHING)
    ),
    error=clause("KRN-11", "Dispatch"),
)
@ensure(lambda result: result is PermitStage.DISPATCHING, error=clause("KRN-11", "Dispatch"))
def dispatch(permit: PermitStage, record: RecordStage) -> PermitStage:
    """Dispatch (`KRN-11`, `KRN-12`): an attempt starts; only with its intent on record and no result.

    A further attempt of the same execution finds the permit already dispatching.

    :raises PermitError: the permit is used, revoked or was never issued, or the record forbids a call.
    """
    if record is not RecordStage.INTENT:
        raise _refuse("dispatch", record)
    if permit is not PermitStage.ISSUED and permit is not PermitStage.DISPATCHING:
        raise _refuse("dispatch", permit)
    return PermitStage.DISPATCHING


@ensure(
    lambda permit, fresh, same_target, same_arguments, result: (
        (result is Presentation.ACCEPTED)
        == (permit is PermitStage.DISPATCHING and fresh and same_target and same_arguments)
    ),
    error=clause("KRN-13", "Dispatch"),
)
def present(permit: PermitStage, fresh: bool, same_target: bool, same_arguments: bool) -> Presentation:
    """The host's half of Dispatch (`KRN-13`, `INV-6`): is this call exactly the one that was authorised?

    ``fresh``: this attempt was not presented before; ``same_target``: kind and name are those of the
    permit; ``same_arguments``: the digest of the arguments is the one that was judged.
    """
    if permit is not PermitStage.DISPATCHING:
        return Presentation.MISSING
    if not fresh:
        return Presentation.PRESENTED
    if not same_target:
        return Presentation.OTHER
    return Presentation.ACCEPTED if same_arguments else Presentation.ARGUMENTS


@require(
    lambda permit, record, outcome, settled: (
        outcome in (RecordStage.RESULT, RecordStage.DOUBT)
        and (
            (permit is PermitStage.DISPATCHING and record is RecordStage.INTENT)
            or (permit is PermitStage.ISSUED and record is RecordStage.INTENT and settled)
            or (permit is PermitStage.ISSUED and record is outcome)
        )
    ),
    error=clause("KRN-11", "Result"),
)
@ensure(
    lambda outcome, result: result == (PermitStage.SPENT, outcome),
    error=clause("KRN-11", "Result"),
)
def result(permit: PermitStage, record: RecordStage, outcome: RecordStage, settled: bool) -> Ended:
    """Result (`KRN-11`, `TOL-3`): the outcome is recorded once, and the permit is spent.

    Without a dispatch there is an outcome only where it is served from the record, or ``settled``
    (by a reconciler, by a verdict, or as in doubt) after an interruption.

    :raises PermitError: the action has another outcome already, or was never under way.
    """
    if outcome is not RecordStage.RESULT and outcome is not RecordStage.DOUBT:
        raise _refuse("result", outcome)
    if record is RecordStage.INTENT:
        if permit is not PermitStage.DISPATCHING and not (permit is PermitStage.ISSUED and settled):
            raise _refuse("result", permit)
    elif permit is not PermitStage.ISSUED or record is not outcome:
        raise _refuse("result", record)
    return Ended(PermitStage.SPENT, outcome)


@ensure(
    lambda recorded, made, result: (result | recorded) == recorded and (result | made) == made,
    error=clause("RES-9", "Settle"),
)
def usable(recorded: Promise, made: Promise) -> Promise:
    """The promises by which an interrupted action may be settled: on record, and still made (`RES-9`)."""
    return recorded & made


@ensure(
    lambda finding, restricted, result: (
        result is finding if not restricted or finding is not Finding.DID_NOT else result is Finding.NOT_KNOWN
    ),
    error=clause("STO-6", "Settle"),
)
def believed(finding: Finding, restricted: bool) -> Finding:
    """What the answer of a reconciler is worth (`STO-6`).

    While an older driver may still be inside its call (``restricted``), "it did not" is true only until
    that driver wakes, so nobody knows; "it took place" stays true.
    """
    return Finding.NOT_KNOWN if restricted and finding is Finding.DID_NOT else finding


@require(
    lambda promise, finding: (
        finding in (Finding.NOTHING_DONE, Finding.UNSURE, Finding.CALLED_OFF)
        or bool(promise & Promise.RECONCILABLE)
    ),
    error=clause("RES-6", "Settle"),
)
@ensure(
    lambda promise, result: (
        result is not Settlement.RETRY or bool(promise & (Promise.IDEMPOTENT | Promise.READ_ONLY))
    ),
    error=clause("RES-6", "Settle"),
)
@ensure(
    lambda finding, result: (
        (result is not Settlement.RECONCILED or finding is Finding.TOOK_PLACE)
        and (result is not Settlement.NOT_EXECUTED or finding is Finding.DID_NOT)
    ),
    error=clause("RES-6", "Settle"),
)
@ensure(
    lambda promise, finding, unsure, result: (
        result is not Settlement.FAILED
        or bool(promise & Promise.READ_ONLY)
        or (finding is Finding.NOTHING_DONE and not unsure)
    ),
    error=clause("TOL-3", "Settle"),
)
def settle(promise: Promise, finding: Finding, unsure: bool, may_repeat: bool) -> Settlement:
    """Settle (`TOL-3`, `RES-6`, `DUR-2`, `INV-9`): what to do about an action without a result: no guess.

    Args:
        promise: the usable promises of the host (``usable``).
        finding: what is known now.
        unsure: an earlier attempt of this action ended without anybody knowing how.
        may_repeat: the bound on the number of calls is not reached (`HST-4`).

    :raises PermitError: the answer of a reconciler, where the host promises none that may be asked.
    """
    reported = finding is Finding.TOOK_PLACE or finding is Finding.DID_NOT or finding is Finding.NOT_KNOWN
    if reported and not promise & Promise.RECONCILABLE:
        raise _refuse("settle", finding)
    if finding is Finding.TOOK_PLACE:
        return Settlement.RECONCILED
    if finding is Finding.DID_NOT:
        return Settlement.NOT_EXECUTED
    if finding is Finding.NOT_KNOWN:
        return Settlement.FAILED if promise & Promise.READ_ONLY else Settlement.IN_DOUBT
    if finding is Finding.NOTHING_DONE and not unsure:
        return Settlement.FAILED
    if finding is Finding.UNSURE and may_repeat and promise & (Promise.IDEMPOTENT | Promise.READ_ONLY):
        return Settlement.RETRY
    if promise & Promise.READ_ONLY:
        return Settlement.FAILED
    return Settlement.ASK if promise & Promise.RECONCILABLE else Settlement.IN_DOUBT


@require(lambda record: record in (RecordStage.INTENT, RecordStage.DOUBT), error=clause("RES-6", "Verdict"))
@ensure(
    lambda record, executed, result: (
        result
        is (
            RecordStage.RESULT
            if executed
            else RecordStage.INTENT
            if record is RecordStage.INTENT
            else RecordStage.NONE
        )
    ),
    error=clause("RES-6", "Verdict"),
)
def verdict(record: RecordStage, executed: bool) -> RecordStage:
    """Verdict (`RES-6`, `TOL-8`): an operator says whether an unsettled action took place.

    Executed: there is a result. Not executed: an interrupted action is called, a doubtful one is
    closed without having been done (the program may propose it anew, as another action).

    :raises PermitError: the action is not one that waits to be settled.
    """
    if record is not RecordStage.INTENT and record is not RecordStage.DOUBT:
        raise _refuse("verdict", record)
    if executed:
        return RecordStage.RESULT
    return RecordStage.INTENT if record is RecordStage.INTENT else RecordStage.NONE


__all__ = [
    "Answer",
    "Ended",
    "Finding",
    "Judgement",
    "PermitStage",
    "Presentation",
    "Promise",
    "RecordStage",
    "Settlement",
    "approve",
    "decide",
    "dispatch",
    "intent",
    "mint",
    "present",
    "result",
    "settle",
    "usable",
    "verdict",
]
