"""One execution under a permit: the attempts, the settling, the one outcome (`TOL-3`, `RES-6`).

This is the only module that calls a host. What to do next is never decided here but by
``protocol.settle``; here is the input and output around it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agentl.datamodel import MAX_INTEGER_BITS
from agentl.errors import ActionInDoubt, InvalidArguments, NotExecuted, PermissionRefused, PermitError
from agentl.kernel import protocol
from agentl.kernel.action import isolated
from agentl.kernel.permit import (
    ActionContext,
    ExecutionPermit,
    Held,
    entered,
    start_attempt,
    stops_the_run,
)
from agentl.kernel.port import (
    FAILED,
    FRESH,
    IN_DOUBT,
    NOT_EXECUTED,
    RESULT,
    ActionJournal,
    Outcome,
    Recovery,
    promise_of,
)
from agentl.kernel.protocol import Finding, Promise, RecordStage, Settlement
from agentl.kernel.steps import DISCARD, Dispatch, Intent, Result, Settle, StepListener
from agentl.labels import HUMAN_LABEL, Labeled
from agentl.messages import render
from agentl.values import DataModelError, Symbol, decode, encode, plain_copy

_CLASSIFIED: Final = {
    "transient": Finding.UNSURE,
    "failed": Finding.NOTHING_DONE,
    "in_doubt": Finding.CALLED_OFF,
}
_PLAIN: Final = frozenset({str, bool, type(None), Symbol})


def normalised(value: Any) -> Any:
    """The value as the program receives it, live as on resume: what a journal gives back (`ENC-5`)."""
    kind = type(value)
    if kind in _PLAIN or (kind is int and value.bit_length() <= MAX_INTEGER_BITS):
        return value
    if kind is dict:
        for key, item in value.items():
            part = type(item)
            if type(key) is not str or (
                part not in _PLAIN and (part is not int or item.bit_length() > MAX_INTEGER_BITS)
            ):
                break
        else:
            return dict(value)
    return decode(encode(value))


def call_host(held: Held, args: Mapping[str, Any], host: Any) -> Any:
    """Call the target of a dispatch under way with its own copy of the arguments (`KRN-12`).

    Raises:
        PermitError: the arguments are no longer what was judged. Whatever the target raises passes.
    """
    try:
        own = isolated(args)
    except DataModelError as problem:
        raise PermitError(code="permit.arguments", kind=held.kind, target=held.target) from problem
    if held.kind == "invoke":
        return host.invoke(held.target, own)
    return host.subagents[held.target](own)


def reconcile(
    host: Any, action: Any, args: Mapping[str, Any], attempt: int, token: int | None
) -> tuple[bool, Any]:
    """Ask the host's reconciler about an action: (it took place, its value) (`HST-4`).

    ``action`` has the kind, target, action id and key. Raises whatever means that nobody knows.
    """
    context = ActionContext(
        action.kind, action.target, action.action_id, action.idempotency_key, attempt, token
    )
    answer = host.reconcile(action.target, plain_copy(args), context)
    return (False, None) if answer is NOT_EXECUTED else (True, normalised(answer))


def let_through(problem: BaseException) -> None:
    """Raise on what is no outcome of an action: interruptions of the kernel or of the process."""
    if stops_the_run(problem):
        raise problem


def promised(host: Any, target: str, kind: str) -> tuple[str, ...]:
    """The names of what the host promises; a host that says nothing promises nothing (`HST-4`)."""
    promise = getattr(host, "promise", None)
    return () if promise is None else tuple(promise(target, kind))


def classified(host: Any, target: str, kind: str, problem: Exception) -> str | None:
    """What the host says that a raise means; ``None`` leaves it to `TOL-3` (`HST-4`)."""
    classify = getattr(host, "classification", None)
    if classify is None:
        return None
    try:
        meaning = classify(target, kind, problem)
    except Exception as failure:  # noqa: BLE001 - a classifier that fails has said nothing
        let_through(failure)
        return None
    return meaning if isinstance(meaning, str) else None


def _text(problem: BaseException) -> str:
    try:
        said = str(problem)
    except Exception as failure:  # noqa: BLE001 - the text of a foreign class is foreign code
        let_through(failure)
        return type(problem).__name__
    return said if isinstance(problem, NotExecuted | ActionInDoubt) else f"{type(problem).__name__}: {said}"


def _failure(problem: BaseException | None, held: Held) -> NotExecuted:
    """The failure as it is recorded: one of three classes and a text, so that it reads back the same."""
    if problem is None:
        return NotExecuted(
            render("kernel.not_executed", {"target": held.target, "action_id": held.action_id})
        )
    kind: type[NotExecuted] = NotExecuted
    if isinstance(problem, InvalidArguments):
        kind = InvalidArguments
    elif isinstance(problem, PermissionRefused | PermissionError):
        kind = PermissionRefused
    failure = kind(_text(problem))
    failure.__cause__ = problem
    return failure


def _in_doubt(problem: BaseException | None, held: Held) -> ActionInDoubt:
    """The doubt as it is recorded; without a cause, the process died under the action (`RES-6`)."""
    if problem is None:
        text = render("durable.in_doubt", {"action_id": held.action_id, "tool": held.target})
    else:
        text = _text(problem)
    doubt = ActionInDoubt(text, action_id=held.action_id, tool=held.target)
    doubt.__cause__ = problem
    return doubt


class Execution:
    """The one execution of a permit. ``run`` gives its value, or raises its failure or doubt."""

    __slots__ = (
        "_host", "_journal", "_permit", "_restricted", "_steps", "attempt", "doubtful", "held", "presented",
        "promise",
    )  # fmt: skip

    def __init__(
        self,
        permit: ExecutionPermit,
        held: Held,
        host: Any,
        journal: ActionJournal | None,
        steps: StepListener = DISCARD,
    ) -> None:
        self._permit = permit
        self._host = host
        self._journal = journal
        self._restricted = False
        self._steps = steps
        self.held = held
        self.attempt = 1
        self.promise = Promise.PLAIN
        self.doubtful = False
        self.presented = True

    def run(self) -> Any:
        """Put the intent on record, then serve, settle or call (`DUR-5`, `RES-5`, `RES-6`).

        Raises:
            NotExecuted: nothing was done.
            ActionInDoubt: nobody knows whether it was done; ``doubtful`` is then true.
            KernelAbort: the run must stop.
        """
        held, journal = self.held, self._journal
        names = promised(self._host, held.target, held.kind)
        self.promise = promise_of(names)
        recovery = FRESH if journal is None else journal.intent(self._permit, names)
        held.record = protocol.intent(held.stage, _on_record(recovery))
        self.attempt = recovery.attempt
        if self._steps is not DISCARD:
            found = "interrupted" if recovery.pending else "new" if recovery.outcome is None else "served"
            self._steps(Intent(held.action_id, found, names))
        held.by_verdict = recovery.verdict is not None and recovery.verdict.executed
        if recovery.outcome is not None:
            return self._end(recovery.outcome, served=True)
        if recovery.pending:
            return self._resume(recovery)
        return self._attempts(unsure=False)

    # --- live attempts ---------------------------------------------------------------------

    def _attempts(self, unsure: bool) -> Any:
        held, host = self.held, self._host
        while True:
            dispatch = start_attempt(held, self.attempt, self._token())
            try:
                with entered(dispatch):
                    value = call_host(held, self._permit.args, host)
            except Exception as problem:  # noqa: BLE001 - a tool may raise anything; settle decides
                step = self._after(problem, unsure)
                if step is not Settlement.RETRY:
                    return self._settled(step, problem, live=True)
                unsure = True
            else:
                self.presented = dispatch.presented
                outcome = Outcome(RESULT, normalised(value))
                if self._steps is not DISCARD:
                    self._steps(Dispatch(held.action_id, self.attempt, "returned", self._bound()))
                return self._end(outcome)

    def _token(self) -> int | None:
        return None if self._journal is None else self._journal.fencing_token

    def _after(self, problem: Exception, unsure: bool) -> Settlement:
        """What a raise of the target leads to; a repeat is waited for and put on record here."""
        held, host = self.held, self._host
        finding = self._finding(problem)
        policy = getattr(host, "retry_policy", None)
        bound = None if policy is None else policy(held.target, held.kind)
        step = protocol.settle(
            self.promise, finding, unsure, bound is not None and self.attempt < bound.attempts
        )
        if step is Settlement.RETRY and bound is not None and not self._waited(bound):
            finding = Finding.CALLED_OFF
            step = protocol.settle(self.promise, finding, unsure, False)
        if self._steps is not DISCARD:
            heard = (
                "failed" if step is Settlement.FAILED
                else "unsure" if finding is Finding.UNSURE
                else "called_off"
            )  # fmt: skip
            self._steps(Dispatch(held.action_id, self.attempt, heard, self._bound()))
        if step is Settlement.RETRY:
            self._repeat()
        return step

    def _waited(self, bound: Any) -> bool:
        """Wait before the next call; a wait that raises ends the attempts, it is no end of the run."""
        try:
            pause = bound.pause(self.attempt, self.held.idempotency_key)
            if pause > 0:
                self._host.sleep(pause)
        except Exception as problem:  # noqa: BLE001 - ``sleep`` and a retry policy are the host's own code
            let_through(problem)
            return False
        return True

    def _repeat(self) -> None:
        self.attempt += 1
        if self._journal is not None:
            self._journal.resolution(self._permit, Settlement.RETRY.value, self.attempt)
        self._tell_settled(Settlement.RETRY.value)

    def _bound(self) -> int:
        policy = getattr(self._host, "retry_policy", None)
        bound = None if policy is None else policy(self.held.target, self.held.kind)
        return 1 if bound is None else int(bound.attempts)

    def _tell_settled(self, how: str) -> None:
        if self._steps is not DISCARD:
            self._steps(Settle(self.held.action_id, how))

    def _finding(self, problem: Exception) -> Finding:
        """What a raise says about the action; interruptions are no outcome and pass on (`TOL-3`)."""
        let_through(problem)
        named = classified(self._host, self.held.target, self.held.kind, problem)
        if named in _CLASSIFIED:
            return _CLASSIFIED[named]
        sure = isinstance(problem, NotExecuted | PermissionError)
        return Finding.NOTHING_DONE if sure else Finding.UNSURE

    # --- settling --------------------------------------------------------------------------

    def _resume(self, recovery: Recovery) -> Any:
        """An earlier process died between intent and result (`RES-6`)."""
        self.promise = protocol.usable(promise_of(recovery.recorded_promise), self.promise)
        self._restricted = recovery.restricted
        verdict = recovery.verdict
        if verdict is not None:
            if protocol.verdict(self.held.record, verdict.executed) is RecordStage.RESULT:
                value = normalised(Labeled(verdict.value, HUMAN_LABEL))
                self._tell_settled("executed")
                return self._end(Outcome(RESULT, value), settled=True)
            # The call that follows may be interrupted in its turn: the verdict must not cover that one.
            self.attempt += 1
            self._note(Settlement.NOT_EXECUTED, self.attempt)
            return self._attempts(unsure=False)
        if recovery.declared:
            self._tell_settled(Settlement.IN_DOUBT.value)
            return self._end(Outcome(IN_DOUBT, None, _in_doubt(None, self.held)), settled=True)
        step = protocol.settle(self.promise, Finding.UNSURE, True, may_repeat=True)
        if step is Settlement.RETRY:
            self._repeat()
            return self._attempts(unsure=True)
        return self._settled(step, None, live=False)

    def _settled(self, step: Settlement, problem: Exception | None, *, live: bool) -> Any:
        value = None
        asked = step is Settlement.ASK
        if asked:
            finding, value = self._ask()
            step = protocol.settle(self.promise, finding, True, may_repeat=False)
        if step is Settlement.RECONCILED:
            self._note(step, None)
            return self._end(Outcome(RESULT, value), settled=True)
        if step is Settlement.NOT_EXECUTED:
            if not live:
                self.attempt += 1
                self._note(step, self.attempt)
                return self._attempts(unsure=False)
            self._note(step, None)
            return self._end(Outcome(FAILED, None, _failure(problem, self.held)), settled=True)
        if step is Settlement.FAILED:
            if asked or not live:
                self._tell_settled(step.value)
            return self._end(Outcome(FAILED, None, _failure(problem, self.held)), settled=True)
        if asked or not live:
            self._note(Settlement.IN_DOUBT, None)
        else:
            self._tell_settled(Settlement.IN_DOUBT.value)
        return self._end(Outcome(IN_DOUBT, None, _in_doubt(problem, self.held)), settled=True)

    def _ask(self) -> tuple[Finding, Any]:
        """Ask the reconciler whether the action took place; a raise means that it does not know."""
        executed, value = False, None
        try:
            executed, value = reconcile(self._host, self.held, self._permit.args, self.attempt, self._token())
        except Exception as problem:  # noqa: BLE001 - a reconciler may raise anything (HST-4)
            let_through(problem)
            return Finding.NOT_KNOWN, None
        finding = Finding.TOOK_PLACE if executed else Finding.DID_NOT
        return protocol.believed(finding, self._restricted), value if executed else None

    def _note(self, step: Settlement, attempt: int | None) -> None:
        if self._journal is not None:
            self._journal.resolution(self._permit, step.value, attempt)
        self._tell_settled(step.value)

    # --- the outcome -----------------------------------------------------------------------

    def _end(self, outcome: Outcome, *, served: bool = False, settled: bool = False) -> Any:
        held = self.held
        stage = RecordStage.DOUBT if outcome.status == IN_DOUBT else RecordStage.RESULT
        ended = protocol.result(held.stage, held.record, stage, settled)
        if not served and self._journal is not None:
            self._journal.result(self._permit, outcome)
        held.stage, held.record = ended
        if not served and self._steps is not DISCARD:
            self._steps(Result(held.action_id, outcome.status))
        if outcome.status == RESULT:
            return outcome.value
        self.doubtful = outcome.status == IN_DOUBT
        problem = outcome.error
        if self.doubtful:
            raise problem if isinstance(problem, ActionInDoubt) else _in_doubt(problem, held)
        raise problem if isinstance(problem, NotExecuted) else _failure(problem, held)


def _on_record(recovery: Recovery) -> RecordStage:
    if recovery.outcome is not None:
        return RecordStage.DOUBT if recovery.outcome.status == IN_DOUBT else RecordStage.RESULT
    return RecordStage.INTENT if recovery.pending else RecordStage.NONE
