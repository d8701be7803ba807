"""The kernel's record of actions in a run that is recorded, and in a replay (`RPL-4`, `RPL-5`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentl.errors import ActionInDoubt
from agentl.journal.failures import rebuild
from agentl.kernel.permit import ExecutionPermit
from agentl.kernel.port import FAILED, FRESH, IN_DOUBT, RESULT, Outcome, Recovery, Verdict
from agentl.replay.journal import Journal


class RecordedActions:
    """Writes one entry per action, its outcome; the attempts in between are none of the recording's."""

    fencing_token: int | None = None

    def __init__(self, journal: Journal, agent: str | None) -> None:
        self._journal = journal
        self._agent = agent
        self.under_way = False

    def intent(self, permit: ExecutionPermit, promise: tuple[str, ...]) -> Recovery:  # noqa: ARG002
        """Every action is new."""
        self.under_way = True
        return FRESH

    def resolution(self, permit: ExecutionPermit, how: str, attempt: int | None) -> None:
        """No part of a recording."""

    def result(self, permit: ExecutionPermit, outcome: Outcome) -> None:
        """One entry for the action."""
        self.under_way = False
        self._journal.record(
            permit.kind,
            permit.target,
            args=dict(permit.args),
            value=outcome.value,
            error=outcome.error,
            agent=self._agent,
        )

    def doubt(self, permit: ExecutionPermit) -> None:
        """No part of a recording: the broken OUTPUT contract is found again."""

    def lookup(self, target: str, call: Callable[[], bool]) -> bool:
        """Whether a sub-agent is registered."""
        found = bool(call())
        self._journal.record("delegate_lookup", target, value=found, agent=self._agent)
        return found

    def reconcile(
        self, target: str, action_id: str, call: Callable[[], tuple[bool, Any]] | None
    ) -> tuple[bool, Any] | None:
        """What a reconciler says about a doubtful action."""
        if call is None:
            return None
        args = {"action_id": action_id}
        try:
            executed, value = call()
        except Exception as problem:
            self._journal.record("reconcile", target, args=args, error=problem, agent=self._agent)
            raise
        said = {"executed": executed, "value": value}
        self._journal.record("reconcile", target, args=args, value=said, agent=self._agent)
        return executed, value

    def verdicts(self) -> list[Verdict]:
        """Nobody settles a run that is only recorded."""
        return []


class ReplayedActions:
    """Serves every action from the recording: no tool is ever called (`INV-7`)."""

    fencing_token: int | None = None

    def __init__(self, journal: Journal, agent: str | None) -> None:
        self._journal = journal
        self._agent = agent

    def intent(self, permit: ExecutionPermit, promise: tuple[str, ...]) -> Recovery:  # noqa: ARG002
        """The recorded outcome of this action."""
        entry = self._journal.matched(permit.kind, permit.target, dict(permit.args), self._agent)
        # What stands before the result was said about the interrupted action, not about a doubt (`RES-6`).
        verdict = self._journal.verdict_on(permit.action_id)
        if entry.error is None:
            return Recovery(outcome=Outcome(RESULT, entry.value), verdict=verdict)
        problem = rebuild(entry.error)
        if isinstance(problem, ActionInDoubt):
            doubt = ActionInDoubt(entry.error[1], action_id=permit.action_id, tool=permit.target)
            return Recovery(outcome=Outcome(IN_DOUBT, None, doubt))
        return Recovery(outcome=Outcome(FAILED, None, problem))

    def resolution(self, permit: ExecutionPermit, how: str, attempt: int | None) -> None:
        """Nothing is left open in a recording."""

    def result(self, permit: ExecutionPermit, outcome: Outcome) -> None:
        """Nothing is added to a recording."""

    def doubt(self, permit: ExecutionPermit) -> None:
        """Nothing is added to a recording."""

    def lookup(self, target: str, call: Callable[[], bool]) -> bool:  # noqa: ARG002 - never called
        """The recorded answer."""
        return bool(self._journal.replay_value("delegate_lookup", target, agent=self._agent))

    def reconcile(
        self,
        target: str,
        action_id: str,
        call: Callable[[], tuple[bool, Any]] | None,  # noqa: ARG002 - never called
    ) -> tuple[bool, Any] | None:
        """The recorded answer, if one comes next."""
        entry = self._journal.peek(self._agent)
        if entry is None or entry.kind != "reconcile" or entry.key != target:
            return None
        if not isinstance(entry.stored_args, dict) or entry.stored_args.get("action_id") != action_id:
            return None
        said = self._journal.replay_value("reconcile", target, agent=self._agent)
        return bool(said["executed"]), said["value"]

    def verdicts(self) -> list[Verdict]:
        """The verdicts that stand before the crossings of this tick."""
        return self._journal.verdicts(self._agent)
