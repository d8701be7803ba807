"""Host and model that record every crossing while they work (`RPL-4`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from agentl.journal.crossings import (
    approval_data,
    approval_from,
    approve_args,
    model_silence,
    put_to_a_person,
    question_key,
)
from agentl.kernel.action import ActionRequest
from agentl.kernel.approval import ApprovalRecord, approval_record
from agentl.kernel.permit import stops_the_run
from agentl.reasoning.model import ask_judge
from agentl.replay.actions import RecordedActions
from agentl.replay.journal import Journal
from agentl.runtime.asking import ask_within
from agentl.values import decode, encode


class _Recorder:
    def __init__(self, journal: Journal, agent: str | None) -> None:
        self.journal = journal
        self.agent = agent

    def crossing(
        self,
        kind: str,
        key: str,
        call: Callable[[], Any],
        args: Any = None,
        result_args: Callable[[], Any] | None = None,
    ) -> Any:
        try:
            value = call()
        except Exception as problem:
            if not stops_the_run(problem):
                self.journal.record(kind, key, args=args, error=problem, agent=self.agent)
            raise
        known = args if result_args is None else result_args()
        self.journal.record(kind, key, args=known, value=value, agent=self.agent)
        return decode(encode(value))


class RecordingHost:
    """A host that works as the one it wraps, and records what crosses (`RPL-4`).

    ``action_journal`` is what a kernel under this host writes its actions to.
    """

    def __init__(self, host: Any, journal: Journal, agent: str | None = None) -> None:
        self._host = host
        self._recorder = _Recorder(journal, agent)
        self.action_journal = RecordedActions(journal, agent)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._host, name)

    def read(self, path: str) -> Any:
        """A reading."""
        return self._recorder.crossing("read", path, lambda: self._host.read(path))

    def invoke(self, name: str, args: dict[str, Any]) -> Any:
        """A governed call; recorded here only when no kernel records the whole action."""
        if self.action_journal.under_way:
            return self._host.invoke(name, args)
        return self._recorder.crossing("invoke", name, lambda: self._host.invoke(name, args), dict(args))

    def ask(self, question: str, reason: str = "") -> Any:
        """A question to a person."""
        return self._recorder.crossing(
            "ask", question_key(question), lambda: self._host.ask(question, reason), {"reason": str(reason)}
        )

    def ask_within(self, question: str, reason: str, timeout: float) -> Any:
        """A question with a time limit in seconds (`STM-9`)."""
        return self._recorder.crossing(
            "ask",
            question_key(question),
            lambda: ask_within(self._host, question, reason, timeout),
            {"reason": str(reason)},
        )

    def approve(self, request: ActionRequest) -> ApprovalRecord:
        """An approval, kept as the record of `APR-6`."""
        frozen = ActionRequest(tool=request.tool, action_id=request.action_id, hash=request.hash)
        args = approve_args(request)
        now = getattr(self._host, "now", None)

        def ask() -> dict[str, Any]:
            raw = put_to_a_person(self._host, request)
            return approval_data(approval_record(raw, frozen, None if now is None else now()))

        return approval_from(frozen, self._recorder.crossing("approve", frozen.action_id, ask, args))

    def pending(self) -> list[dict[str, Any]]:
        """The events that wait."""
        source = self._host.pending if hasattr(self._host, "pending") else self._host.drain
        events: list[dict[str, Any]] = self._recorder.crossing("drain", "", source)
        return events

    def acknowledge(self, ids: Iterable[str]) -> None:
        """Passed on; no crossing of its own."""
        acknowledge = getattr(self._host, "acknowledge", None)
        if acknowledge is not None:
            acknowledge(ids)

    def drain(self) -> list[dict[str, Any]]:
        """Events taken and acknowledged at once."""
        events: list[dict[str, Any]] = self._recorder.crossing("drain", "", self._host.drain)
        return events


class RecordingLLM:
    """A model that works as the one it wraps, and records its answers (`RPL-4`)."""

    def __init__(self, llm: Any, journal: Journal, agent: str | None = None) -> None:
        self._llm = llm
        self._recorder = _Recorder(journal, agent)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._llm, name)

    def reason(self, task: str, context: Mapping[str, Any], schema: Mapping[str, str]) -> Any:
        """Values for a schema."""

        said: list[str] | None = None

        def ask() -> Any:
            nonlocal said
            answer = self._llm.reason(task, context, schema)
            said = model_silence(self._llm)
            return answer

        def missing() -> Any:
            return None if said is None else {"missing": said}

        return self._recorder.crossing("reason", task, ask, None, missing)

    def judge(self, task: str, context: Mapping[str, Any], questions: Mapping[str, Any]) -> Any:
        """Answers to questions."""
        return self._recorder.crossing("judge", task, lambda: ask_judge(self._llm, task, context, questions))

    def select_plan(self, context: Mapping[str, Any], names: Sequence[str]) -> Any:
        """The name of a plan."""
        return self._recorder.crossing(
            "select_plan", "|".join(names), lambda: self._llm.select_plan(context, names)
        )
