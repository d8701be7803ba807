"""For each mutant of ``formal/MutKernel.tla`` the same fault in the code, planted by replacing one function.

``CODE`` maps the name of a model mutant to a function that plants its twin with a ``pytest.MonkeyPatch``.
What is replaced is the step that the model mutant replaces, so that both sides have the same fault.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agentl.durable import closing
from agentl.durable import run as durable_run
from agentl.durable.recovery import DurableJournal
from agentl.durable.served import ServedJournal, verdict_of
from agentl.errors import PermitError
from agentl.journal.journal import Entries
from agentl.kernel import execution, gate, protocol
from agentl.kernel.approval import ApprovalRecord
from agentl.kernel.authorization import Stop
from agentl.kernel.ledger import Ledger
from agentl.kernel.policy import PolicyEngine
from agentl.kernel.port import Recovery
from agentl.kernel.protocol import Ended, Finding, Judgement, PermitStage, Presentation, Promise, Settlement

Plant = Callable[[pytest.MonkeyPatch], None]
CODE: dict[str, Plant] = {}


def twin(plant: Plant) -> Plant:
    """Register the twin of the model mutant that has this name."""
    CODE[plant.__name__] = plant
    return plant


def settling(patch: pytest.MonkeyPatch, change: Callable[[Settlement, dict[str, Any]], Settlement]) -> None:
    real = protocol.settle

    def settle(promise: Promise, finding: Finding, unsure: bool, may_repeat: bool) -> Settlement:
        given = {"promise": promise, "finding": finding, "unsure": unsure, "may_repeat": may_repeat}
        return change(real(promise, finding, unsure, may_repeat), given)

    patch.setattr(protocol, "settle", settle)


# --- the five that the seed names ----------------------------------------------------------


@twin
def RetriesBlindly(patch: pytest.MonkeyPatch) -> None:
    def change(step: Settlement, given: dict[str, Any]) -> Settlement:
        again = given["finding"] is Finding.UNSURE and given["may_repeat"]
        return Settlement.RETRY if again else step

    settling(patch, change)


@twin
def ChecksNothing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(protocol, "present", lambda *_args: Presentation.ACCEPTED)


@twin
def TakesResultForPending(patch: pytest.MonkeyPatch) -> None:
    real = DurableJournal._after_intent

    def after(self: Any, given: Any, recorded: Any, now: Any) -> Recovery:
        found = real(self, given, recorded, now)
        if found.outcome is None:
            return found
        return Recovery(attempt=found.attempt, pending=True, recorded_promise=tuple(recorded["promise"]))

    patch.setattr(DurableJournal, "_after_intent", after)


@twin
def CannotServe(patch: pytest.MonkeyPatch) -> None:
    def served(self: Any, given: Any) -> Any:
        raise PermitError(code="permit.missing", kind=given.kind, target=given.target)

    patch.setattr(DurableJournal, "_served", served)


@twin
def MintsRefused(patch: pytest.MonkeyPatch) -> None:
    real = gate.ask

    def ask(stage: Any, frozen: Any, *rest: Any) -> Any:
        try:
            return real(stage, frozen, *rest)
        except Stop:
            return PermitStage.REFUSED, ApprovalRecord(frozen.action_id, frozen.hash, "denied")

    patch.setattr(gate, "ask", ask)
    patch.setattr(protocol, "mint", lambda _stage: PermitStage.ISSUED)


# --- policy and approval -------------------------------------------------------------------


@twin
def HearsYes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(protocol, "approve", lambda *_args: PermitStage.APPROVED)


@twin
def JudgesByOldPolicy(patch: pytest.MonkeyPatch) -> None:
    real, first = PolicyEngine.check, []

    def check(self: Any, request: Any, state: Any) -> Any:
        first.append(self)
        return real(first[0], request, state)

    patch.setattr(PolicyEngine, "check", check)


@twin
def CallsBeforeApproval(patch: pytest.MonkeyPatch) -> None:
    real = protocol.decide

    def decide(stage: PermitStage, judgement: Judgement) -> PermitStage:
        after = real(stage, judgement)
        return PermitStage.APPROVED if after is PermitStage.JUDGED else after

    patch.setattr(protocol, "decide", decide)


@twin
def CallsBeforeIntent(patch: pytest.MonkeyPatch) -> None:
    intent, result = DurableJournal.intent, DurableJournal.result
    late: list[Any] = []

    def put_off(self: Any, given: Any, promise: Any) -> Recovery:
        if self.upcoming() is not None:
            return intent(self, given, promise)
        late[:] = [promise]
        return Recovery()

    def with_intent(self: Any, given: Any, outcome: Any) -> None:
        if late:
            intent(self, given, late.pop())
        result(self, given, outcome)

    patch.setattr(DurableJournal, "intent", put_off)
    patch.setattr(DurableJournal, "result", with_intent)


# --- permits and calls ---------------------------------------------------------------------


@twin
def PermitSurvives(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        protocol, "result", lambda _permit, _record, outcome, _settled: Ended(PermitStage.ISSUED, outcome)
    )
    patch.setattr(Ledger, "spend", lambda *_args: None)


@twin
def RevokesNothing(patch: pytest.MonkeyPatch) -> None:
    real = Ledger._drop

    def drop(self: Any, nonce: int, stage: PermitStage) -> None:
        if stage is not PermitStage.VOID:
            real(self, nonce, stage)

    patch.setattr(Ledger, "_drop", drop)


@twin
def KeyPerAttempt(patch: pytest.MonkeyPatch) -> None:
    real = execution.start_attempt

    def start(held: Any, attempt: int, token: Any) -> Any:
        dispatch = real(held, attempt, token)
        dispatch.context.idempotency_key += f"-{attempt}"
        return dispatch

    patch.setattr(execution, "start_attempt", start)


# --- settling ------------------------------------------------------------------------------


@twin
def UnknownMeansNo(patch: pytest.MonkeyPatch) -> None:
    settling(
        patch,
        lambda step, given: Settlement.NOT_EXECUTED if given["finding"] is Finding.NOT_KNOWN else step,
    )


@twin
def TrustsNewPromise(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(protocol, "usable", lambda _recorded, made: made)


@twin
def TrustsOldPromise(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(protocol, "usable", lambda recorded, _made: recorded)


@twin
def ForgetsWithdrawal(patch: pytest.MonkeyPatch) -> None:
    real = DurableJournal._after_intent

    def after(self: Any, given: Any, recorded: Any, now: Any) -> Recovery:
        found = real(self, given, recorded, now)
        self._narrowed = None
        return found

    patch.setattr(DurableJournal, "_after_intent", after)


@twin
def DoubtsTooSoon(patch: pytest.MonkeyPatch) -> None:
    settling(patch, lambda step, _given: Settlement.IN_DOUBT if step is Settlement.RETRY else step)


@twin
def GuessesFailure(patch: pytest.MonkeyPatch) -> None:
    settling(patch, lambda step, _given: Settlement.FAILED if step is Settlement.IN_DOUBT else step)


@twin
def GuessesSuccess(patch: pytest.MonkeyPatch) -> None:
    settling(patch, lambda step, _given: Settlement.RECONCILED if step is Settlement.IN_DOUBT else step)


@twin
def LateFailureClears(patch: pytest.MonkeyPatch) -> None:
    settling(
        patch,
        lambda step, given: Settlement.FAILED if given["finding"] is Finding.NOTHING_DONE else step,
    )


@twin
def VerdictTwice(patch: pytest.MonkeyPatch) -> None:
    real = DurableJournal._after_intent

    def after(self: Any, given: Any, recorded: Any, now: Any) -> Recovery:
        found = real(self, given, recorded, now)
        said = [
            verdict_of(entry)
            for entry in Entries(self._ordered.lines[: self._ordered.cursor])
            if entry.kind == "verdict" and entry.args.get("action_id") == given.action_id
        ]
        if not found.pending or not said:
            return found
        return Recovery(found.outcome, found.attempt, True, found.recorded_promise, said[-1])

    patch.setattr(DurableJournal, "_after_intent", after)


# --- the record ----------------------------------------------------------------------------


def unsynced(patch: pytest.MonkeyPatch, skipped: str) -> None:
    real = ServedJournal.write

    def write(self: Any, kind: str, *args: Any, sync: bool, **options: Any) -> None:
        real(self, kind, *args, sync=sync and kind != skipped, **options)

    patch.setattr(ServedJournal, "write", write)


@twin
def IntentNotSynced(patch: pytest.MonkeyPatch) -> None:
    unsynced(patch, "intent")


@twin
def ResultNotSynced(patch: pytest.MonkeyPatch) -> None:
    unsynced(patch, "invoke")


@twin
def ResumesAfresh(patch: pytest.MonkeyPatch) -> None:
    def upcoming(self: Any) -> None:
        self._ordered.cursor = self._ordered.prefix

    patch.setattr(ServedJournal, "upcoming", upcoming)


@twin
def ClosesEarly(patch: pytest.MonkeyPatch) -> None:
    for module in (closing, durable_run):
        patch.setattr(module, "close", lambda _left, _kind: closing.Ending.SERVED)
