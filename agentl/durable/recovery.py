"""The journal port of the kernel: intents, attempts, outcomes, and interrupted actions (`RES-5`, `RES-6`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agentl.durable.lease import may_still_act
from agentl.durable.served import ServedJournal, error_text, recorded_value, verdict_of
from agentl.errors import ActionInDoubt, ReplayDivergence
from agentl.journal.entry import encode_args, form_text, quote
from agentl.journal.failures import describe, rebuild
from agentl.journal.index import Intention
from agentl.kernel.permit import ExecutionPermit
from agentl.kernel.port import FAILED, FRESH, IN_DOUBT, RESULT, Outcome, Recovery, Verdict


class DurableJournal(ServedJournal):
    """The journal of one durable run, and the record of its actions that the kernel writes to (`DUR-11`)."""

    _narrowed: tuple[str, list[str]] | None = None

    def intent(self, permit: ExecutionPermit, promise: tuple[str, ...]) -> Recovery:
        """Put the intent on record, durable, or consume the recorded one (`RES-5`, `RES-6`, `DUR-2`)."""
        entry = self.upcoming()
        if entry is None:
            args = intent_args(permit, promise)
            self.write("intent", permit.target, args, sync=True, text=intent_text(args))
            self.acting = (permit.kind, permit.target)
            return FRESH
        if entry.kind != "intent" or entry.key != permit.target:
            raise ReplayDivergence(
                code="durable.diverged",
                entry=entry.seq,
                recorded=f"{entry.kind}:{entry.key}",
                derived=f"intent:{permit.target}",
            )
        recorded = entry.stored_args if isinstance(entry.stored_args, dict) else {}
        if recorded.get("action_id") != permit.action_id:
            raise ReplayDivergence(
                code="durable.diverged_intent",
                entry=entry.seq,
                recorded=recorded.get("action_id"),
                derived=permit.action_id,
            )
        if recorded.get("hash") != permit.action_hash or recorded.get("kind") != permit.kind:
            raise ReplayDivergence(
                code="durable.diverged_args",
                entry=entry.seq,
                crossing=f"intent:{permit.target}",
                recorded=recorded.get("hash"),
                derived=permit.action_hash,
            )
        self.parked = None
        self._ordered.take()
        return self._after_intent(permit, recorded, promise)

    def _after_intent(
        self, permit: ExecutionPermit, recorded: Mapping[str, Any], now: tuple[str, ...]
    ) -> Recovery:
        attempt, settled, verdict = 1, None, None
        promise = tuple(recorded.get("promise") or ())
        while True:
            entry = self._ordered.peek()
            if entry is None:
                break
            args = entry.stored_args if isinstance(entry.stored_args, dict) else {}
            if entry.kind == "verdict":
                if args.get("action_id") == permit.action_id:
                    verdict = verdict_of(entry)
                else:
                    self._waiting.append(verdict_of(entry))
            elif entry.kind == "resolution" and args.get("action_id") == permit.action_id:
                # What was decided after a verdict has used it up.
                verdict, settled = None, args.get("how")
                attempt = args.get("attempt", attempt)
                promise = tuple(args.get("promise", promise))
            elif entry.kind not in ("resume", "cancel"):
                return Recovery(outcome=self._served(permit), attempt=attempt, verdict=verdict)
            self._ordered.take()
        # A promise that one driver did not make, although it called, is not made good by a later one.
        kept = tuple(name for name in promise if name in now)
        self._narrowed = (permit.action_id, list(kept)) if kept != promise else None
        self.acting = (permit.kind, permit.target)
        return Recovery(
            attempt=attempt,
            pending=True,
            recorded_promise=promise,
            verdict=verdict,
            restricted=self._restricted(self.index.settleable(permit.action_id)),
            # An earlier process declared the doubt and died before its result: the doubt stands.
            declared=settled == IN_DOUBT,
        )

    def _served(self, permit: ExecutionPermit) -> Outcome:
        entry = self.take(permit.kind, permit.target, encode_args(permit.kind, dict(permit.args)))
        if entry is None:
            raise ReplayDivergence(code="durable.prefix_exhausted", crossing=f"{permit.kind}:{permit.target}")
        if entry.error is None:
            return Outcome(RESULT, recorded_value(entry))
        problem = rebuild(entry.error)
        if isinstance(problem, ActionInDoubt):
            problem = ActionInDoubt(entry.error[1], action_id=permit.action_id, tool=permit.target)
            return Outcome(IN_DOUBT, None, problem)
        return Outcome(FAILED, None, problem)

    def _restricted(self, found: Intention | None) -> bool:
        """Whether an older driver of this action may still be inside its call (`STO-6`)."""
        if self.lease is None or found is None:
            return False
        return may_still_act(self.lease.unsure, tuple(found["callers"]))

    def resolution(self, permit: ExecutionPermit, how: str, attempt: int | None) -> None:
        """Put a further attempt, or the answer of a reconciler, on record, durable (`DUR-5`)."""
        self._resolve(permit, how, attempt)

    def _resolve(self, permit: ExecutionPermit, how: str, attempt: int | None) -> None:
        args: dict[str, Any] = {"action_id": permit.action_id, "how": how}
        if attempt is not None:
            args["attempt"] = attempt
            if self._narrowed is not None and self._narrowed[0] == permit.action_id:
                args["promise"] = self._narrowed[1]
        self.write("resolution", permit.target, args, sync=True)
        taken = {"tool": permit.target, **args}
        self.resolutions.append(taken)
        if self.on_resolution is not None:
            self.on_resolution(taken)

    def result(self, permit: ExecutionPermit, outcome: Outcome) -> None:
        """Put the outcome on record, durable: the action never runs again (`DUR-6`, `DUR-7`)."""
        self.acting = None
        kind, target, args = permit.kind, permit.target, permit.args
        text = form_text(args if type(args) is dict else dict(args))
        if outcome.error is not None:
            failure = describe(outcome.error)
            self.write(kind, target, None, error_text(failure), sync=True, error=failure, text=text)
        else:
            self.write(kind, target, None, f'"value":{form_text(outcome.value)}', sync=True, text=text)

    def doubt(self, permit: ExecutionPermit) -> None:
        """Put on record that the recorded result broke its OUTPUT contract: in doubt (`TOL-4`)."""
        args = {"action_id": permit.action_id, "how": IN_DOUBT}
        if self.take("resolution", permit.target, args) is None:
            self._resolve(permit, IN_DOUBT, None)

    def lookup(self, target: str, call: Callable[[], bool]) -> bool:
        """The crossing ``delegate_lookup``."""
        return bool(self.crossing("delegate_lookup", target, call))

    def reconcile(
        self, target: str, action_id: str, call: Callable[[], tuple[bool, Any]] | None
    ) -> tuple[bool, Any] | None:
        """The crossing ``reconcile``: served if it comes next, else asked if that is allowed (`TOL-8`)."""
        args = {"action_id": action_id}
        entry = self.upcoming()
        if entry is None:
            if call is None or self._restricted(self.index.settleable(action_id)):
                return None
        elif entry.kind != "reconcile" or entry.key != target or entry.stored_args != args:
            return None

        def ask() -> dict[str, Any]:
            assert call is not None
            executed, value = call()
            return {"executed": executed, "value": value}

        answer = self.crossing("reconcile", target, ask, args=args, sync=True)
        if type(answer) is not dict or type(answer.get("executed")) is not bool:
            raise ReplayDivergence(code="durable.unreadable_value", entry=0 if entry is None else entry.seq)
        return answer["executed"], answer.get("value")

    def verdicts(self) -> list[Verdict]:
        """The verdicts on doubtful actions that wait at the start of a tick (`RES-10`)."""
        self.upcoming()
        waiting, self._waiting = self._waiting, []
        return waiting


def intent_args(permit: ExecutionPermit, promise: tuple[str, ...]) -> dict[str, Any]:
    """The arguments of an ``intent`` (`DUR-4`)."""
    return {
        "action_id": permit.action_id,
        "hash": permit.action_hash,
        "key": permit.idempotency_key,
        "kind": permit.kind,
        "policy": permit.policy_digest[:16],
        "promise": list(promise),
    }


def intent_text(args: dict[str, Any]) -> str:
    """The canonical text of ``intent_args``: all of it is text, so no encoder has to look what it is."""
    return (
        f'{{"action_id":{quote(args["action_id"])},"hash":"{args["hash"]}","key":"{args["key"]}",'
        f'"kind":"{args["kind"]}","policy":"{args["policy"]}",'
        f'"promise":[{",".join([quote(name) for name in args["promise"]])}]}}'
    )


def resolutions_of(journal: DurableJournal) -> list[dict[str, Any]]:
    """Every resolution that the journal holds, verdicts included (`DUR-11`)."""
    return [dict(found) for found in journal.index.resolutions]
