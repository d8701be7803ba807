"""Host and model that serve a recording and reach nothing (`RPL-5`, `RPL-6`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

from agentl.errors import ReplayError
from agentl.journal.crossings import approval_from, approve_args, question_key
from agentl.kernel.action import ActionRequest
from agentl.kernel.approval import ApprovalRecord, approval_record
from agentl.kernel.permit import require_permit
from agentl.replay.actions import ReplayedActions
from agentl.replay.journal import Journal


class ReplayHost:
    """Serves the crossings of a recording in order; it has no sensor, no tool and no sub-agent (`RPL-5`).

    ``key_rings`` are the rings that the policy names, as ``Host.key_rings``: signed approvals are verified in
    a replay too (`APR-7`).
    """

    def __init__(
        self, journal: Journal, agent: str | None = None, *, key_rings: Mapping[str, Any] | None = None
    ) -> None:
        self._journal = journal
        self._agent = agent
        self.key_rings = dict(key_rings or {})
        self.action_journal = ReplayedActions(journal, agent)

    def read(self, path: str) -> Any:
        """The recorded reading."""
        return self._journal.replay_value("read", path, agent=self._agent)

    def invoke(self, name: str, args: dict[str, Any]) -> Any:
        """The recorded result, under a permit as everywhere (`INV-7`)."""
        require_permit("invoke", name, args)
        return self._journal.replay_value("invoke", name, args, self._agent)

    def ask(self, question: str, reason: str = "") -> Any:
        """The recorded answer."""
        args = {"reason": str(reason)}
        return self._journal.replay_value("ask", question_key(question), args, self._agent)

    def ask_within(self, question: str, reason: str, timeout: float) -> Any:  # noqa: ARG002 - nobody waits
        """The recorded answer, at once."""
        return self.ask(question, reason)

    def approve(self, request: ActionRequest) -> ApprovalRecord:
        """The recorded record, for the action it was made for and no other."""
        if self._journal.meta.get("format", 3) < 3:
            raw = self._journal.replay_value("approve", request.render(), agent=self._agent)
            return approval_record(raw, request, None)
        args = approve_args(request)
        value = self._journal.replay_value("approve", request.action_id, args, self._agent)
        return approval_from(request, value)

    def pending(self) -> Any:
        """The recorded events."""
        return self._journal.replay_value("drain", "", agent=self._agent)

    def drain(self) -> Any:
        """The recorded events."""
        return self.pending()

    def acknowledge(self, ids: Iterable[str]) -> None:
        """Nobody is told."""

    def emit(self, source: str, /, **payload: Any) -> NoReturn:  # noqa: ARG002 - refused whatever it is
        """A replay takes no new event.

        Raises:
            ReplayError: always.
        """
        raise ReplayError(code="replay.emit", source=source)


class ReplayLLM:
    """Serves the answers of a recorded model (`RPL-5`)."""

    def __init__(self, journal: Journal, agent: str | None = None) -> None:
        self._journal = journal
        self._agent = agent
        self.last_reason_missing: list[str] | None = None

    def reason(self, task: str, context: Mapping[str, Any], schema: Mapping[str, str]) -> Any:  # noqa: ARG002
        """The recorded values, and what the adapter said it could not give."""
        entry = self._journal.peek(self._agent)
        args = entry.stored_args if entry is not None and entry.kind == "reason" else None
        self.last_reason_missing = args.get("missing") if isinstance(args, dict) else None
        return self._journal.replay_value("reason", task, agent=self._agent)

    def judge(self, task: str, context: Mapping[str, Any], questions: Mapping[str, Any]) -> Any:  # noqa: ARG002
        """The recorded answers."""
        return self._journal.replay_value("judge", task, agent=self._agent)

    def select_plan(self, context: Mapping[str, Any], names: Sequence[str]) -> Any:  # noqa: ARG002
        """The recorded choice."""
        return self._journal.replay_value("select_plan", "|".join(names), agent=self._agent)
