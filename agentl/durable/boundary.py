"""Host and model as a durable run sees them: every crossing goes through its journal (`DUR-1`, `DUR-4`).

Actions do not pass here: the kernel puts them on record through its own port, and calls the
tools of the host that is wrapped. Everything else of the host is reached unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agentl.durable.parking import Parking
from agentl.durable.recovery import DurableJournal
from agentl.durable.served import event_ids
from agentl.errors import ReplayDivergence
from agentl.journal.crossings import (
    approval_data,
    approval_from,
    approve_args,
    model_silence,
    put_to_a_person,
    question_key,
)
from agentl.journal.entry import Entry
from agentl.kernel.action import ActionRequest
from agentl.kernel.approval import ApprovalRecord, approval_record
from agentl.kernel.permit import stops_the_run
from agentl.reasoning.model import ask_judge
from agentl.runtime.asking import ask_within


class DurableHost:
    """A host whose readings, questions, approvals and events are journalled (`API-9`)."""

    def __init__(self, host: Any, journal: DurableJournal) -> None:
        self._host = host
        self._journal = journal
        self.parking: Parking | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._host, name)

    @property
    def promise(self) -> Any:
        """As the host has it: every action asks, and should not pay for a look-up that fails first."""
        return self._host.promise

    def read(self, path: str) -> Any:
        """A reading of a sensor."""
        return self._journal.crossing("read", path, lambda: self._host.read(path))

    def ask(self, question: str, reason: str = "") -> Any:
        """The answer of a person."""
        return self._journal.crossing(
            "ask",
            question_key(question),
            lambda: self._host.ask(question, reason),
            args={"reason": str(reason)},
        )

    def ask_within(self, question: str, reason: str, timeout: float) -> Any:
        """The answer of a person within ``timeout`` seconds, which pass inside the crossing (`STM-9`)."""
        return self._journal.crossing(
            "ask",
            question_key(question),
            lambda: ask_within(self._host, question, reason, timeout),
            args={"reason": str(reason)},
        )

    def ask_person(self, who: str, question: str, reason: str, timeout: float | None) -> Any:
        """The answer to an ASK; where questions are kept for people, the run may wait for it (`PRK-7`)."""
        key = question_key(question)

        def put() -> Any:
            kept = None if self.parking is None else self.parking.question(who, key, reason, timeout)
            if kept is not None:
                return kept[0]
            if timeout is None:
                return self._host.ask(question, reason)
            return ask_within(self._host, question, reason, timeout)

        return self._journal.crossing("ask", key, put, args={"reason": str(reason)})

    def approve(self, request: ActionRequest) -> ApprovalRecord:
        """The record of an approval; a recorded one must be for this very action (`RES-4`, `APR-6`)."""
        action_id, digest = request.action_id, request.hash
        args = approve_args(request)
        entry = self._journal.upcoming()
        if entry is not None and entry.kind == "approve" and entry.key == action_id:
            recorded = entry.stored_args if isinstance(entry.stored_args, dict) else {}
            if recorded.get("hash") != digest:
                raise ReplayDivergence(
                    code="durable.diverged_args",
                    entry=entry.seq,
                    crossing=f"approve:{action_id}",
                    recorded=recorded.get("request", recorded.get("hash")),
                    derived=args["request"],
                )
            # The wording of the request is for people and no part of the match.
            args = entry.stored_args

        def ask() -> dict[str, Any]:
            kept = None if self.parking is None else self.parking.approval(request)
            if kept is not None:
                return kept
            frozen = ActionRequest(tool=request.tool, action_id=action_id, hash=digest)
            raw = put_to_a_person(self._host, request)
            return approval_data(approval_record(raw, frozen, self._journal.clock()))

        value = self._journal.crossing("approve", action_id, ask, args=args, sync=True)
        frozen = ActionRequest(tool=request.tool, action_id=action_id, hash=digest)
        return approval_from(frozen, value)

    # --- events --------------------------------------------------------------------------

    def pending(self) -> list[dict[str, Any]]:
        """The events that are new to this run, journalled; `acknowledge` follows (`DUR-12`)."""
        fresh: list[str] = []

        def take() -> Any:
            events = self._host.pending() if hasattr(self._host, "pending") else self._host.drain()
            if not isinstance(events, list):
                return events
            known = self._journal.index.events
            again = [event for event in event_ids(events) if event in known]
            if again:
                self._acknowledge(again)
            seen = dict(known)
            kept = [event for event in events if _first_sight(event, seen)]
            fresh.extend(event_ids(kept))
            return kept

        value: list[dict[str, Any]] = self._journal.crossing("drain", "", take, sync=True)
        self._journal.index.add_events(fresh)
        return value

    def acknowledge(self, ids: Iterable[str]) -> None:
        """Tell the host that these events are on record; inside the prefix it was told long ago."""
        if not self._journal.in_prefix and not self._journal.completed:
            self._acknowledge(ids)

    def _acknowledge(self, ids: Iterable[str]) -> None:
        acknowledge = getattr(self._host, "acknowledge", None)
        if acknowledge is None:
            return
        try:
            acknowledge(list(ids))
        except Exception as problem:
            if stops_the_run(problem):
                raise

    def drain(self) -> list[dict[str, Any]]:
        """Both at once."""
        events = self.pending()
        self.acknowledge(event_ids(events))
        return events


def _first_sight(event: Any, seen: dict[str, None]) -> bool:
    """Whether the event was not seen yet; one without an id cannot be told from another (`DUR-12`)."""
    ids = event_ids([event])
    if not ids:
        return True
    if ids[0] in seen:
        return False
    seen[ids[0]] = None
    return True


class DurableLLM:
    """A model whose answers are journalled (`API-9`)."""

    def __init__(self, llm: Any, journal: DurableJournal) -> None:
        self._llm = llm
        self._journal = journal
        self.last_reason_missing: list[str] | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._llm, name)

    def reason(self, task: str, context: Mapping[str, Any], schema: Mapping[str, str]) -> Any:
        """Values for the fields of a schema, with what the adapter says it could not give (`LLM-1`)."""
        self.last_reason_missing = None

        def ask() -> Any:
            answer = self._llm.reason(task, context, schema)
            self.last_reason_missing = model_silence(self._llm)
            return answer

        def missing() -> Any:
            said = self.last_reason_missing
            return None if said is None else {"missing": said}

        def served(entry: Entry) -> None:
            args = entry.stored_args
            if isinstance(args, dict) and isinstance(args.get("missing"), list):
                self.last_reason_missing = args["missing"]

        return self._journal.crossing(
            "reason",
            task,
            ask,
            result_args=missing,
            on_served=served,
        )

    def judge(self, task: str, context: Mapping[str, Any], questions: Mapping[str, Any]) -> Any:
        """Answers to the questions of a JUDGE (`LLM-7`)."""
        return self._journal.crossing("judge", task, lambda: ask_judge(self._llm, task, context, questions))

    def select_plan(self, context: Mapping[str, Any], names: Sequence[str]) -> Any:
        """The name of a plan (`TCK-10`)."""
        return self._journal.crossing(
            "select_plan", "|".join(names), lambda: self._llm.select_plan(context, names)
        )
