"""The steps of a run as its journal tells them: what the kernel must have done to leave these entries.

A journal has no entry for a judgement, a permit or the answer of a service, but every entry that it has was
written by one step, and the steps before it follow. What wrote nothing and led to nothing stays unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from agentl.journal.entry import Entry
from agentl.kernel import steps as told
from agentl.kernel.steps import Step


class _Run:
    """The run as far as it was read: which actions there are, and where the last one stands."""

    def __init__(self) -> None:
        self.known: list[tuple[str, str, bool, bool]] = []  # action id, target, a person was asked, answer
        self.promise: dict[str, tuple[str, ...]] = {}
        self.outcome: dict[str, str] = {}
        self.open = ""
        self.phase = ""
        self.verdict: bool | None = None
        self.asked: dict[str, bool] = {}

    # --- one process -----------------------------------------------------------------------

    def rederived(self) -> Iterator[Step]:
        """A process takes the run up: it goes again through all that is on record."""
        yield told.Crash()
        yield told.Resume(len(self.promise) + len(self.outcome))
        for action_id, target, asked, yes in self.known:
            yield from self._proposed(action_id, target, asked, yes)
            if action_id in self.outcome:
                yield told.Intent(action_id, "served", self.promise[action_id])
            elif action_id in self.promise:
                yield told.Intent(action_id, "interrupted", self.promise[action_id])
                self.phase = "interrupted"

    def _proposed(self, action_id: str, target: str, asked: bool, yes: bool) -> Iterator[Step]:
        yield told.Decide(target, action_id, "judged" if asked else "approved")
        if asked:
            yield told.Approve(action_id, "approved" if yes else "refused")
        if yes:
            yield told.Mint(action_id)

    # --- entries ---------------------------------------------------------------------------

    def approve(self, entry: Entry) -> Iterator[Step]:
        yes = (
            entry.error is None and isinstance(entry.value, dict) and entry.value.get("answer") == "approved"
        )
        target = ""
        self.asked[entry.key] = yes
        self.known.append((entry.key, target, True, yes))
        yield told.Decide(target, entry.key, "judged")
        yield told.Approve(entry.key, "approved" if yes else "refused")
        if yes:
            yield told.Mint(entry.key)

    def intent(self, entry: Entry, args: dict[str, Any]) -> Iterator[Step]:
        action_id = str(args.get("action_id"))
        if action_id not in self.asked:
            self.known.append((action_id, entry.key, False, True))
            yield from self._proposed(action_id, entry.key, False, True)
        self.promise[action_id] = tuple(args.get("promise") or ())
        self.open, self.phase, self.verdict = action_id, "ready", None
        yield told.Intent(action_id, "new", self.promise[action_id])

    def resolution(self, args: dict[str, Any]) -> Iterator[Step]:
        action_id, how = str(args.get("action_id")), str(args.get("how"))
        if action_id != self.open:
            return  # a result that broke its contract is declared in doubt: no step of the model
        if self.phase == "ready":
            yield told.Dispatch(action_id, 1, "unsure", 2)
        yield told.Settle(action_id, how)
        again = how == "retry" or (how == "not_executed" and self.phase == "interrupted")
        self.phase = "ready" if again else "settled"
        self.verdict = None

    def result(self, entry: Entry) -> Iterator[Step]:
        action_id = self.open
        doubt = entry.error is not None and entry.error[0] == "ActionInDoubt"
        status = "result" if entry.error is None else "in_doubt" if doubt else "failed"
        if self.phase == "ready":
            heard = {"result": "returned", "failed": "failed", "in_doubt": "unsure"}[status]
            yield told.Dispatch(action_id, 1, heard, 2)
            if doubt:
                yield told.Settle(action_id, "in_doubt")
        elif self.phase == "interrupted":
            yield told.Settle(action_id, "executed" if self.verdict else status)
        self.outcome[action_id] = status
        self.open = ""
        yield told.Result(action_id, status)

    def said(self, args: dict[str, Any]) -> Iterator[Step]:
        action_id = str(args.get("action_id"))
        executed = args.get("executed") is True
        if self.outcome.get(action_id, "in_doubt") != "in_doubt":
            return  # about a doubt that was declared behind a result
        if action_id == self.open:
            self.verdict = executed
        yield told.Verdict(action_id, executed)


def steps_of(entries: Iterable[Entry]) -> list[Step]:
    """The steps of the whole run, over all its processes."""
    run = _Run()
    steps: list[Step] = []
    for entry in entries:
        args = entry.stored_args if isinstance(entry.stored_args, dict) else {}
        match entry.kind:
            case "approve":
                steps += run.approve(entry)
            case "intent":
                steps += run.intent(entry, args)
            case "resolution":
                steps += run.resolution(args)
            case "invoke" | "delegate":
                steps += run.result(entry)
            case "verdict":
                steps += run.said(args)
            case "resume":
                steps += run.rederived()
            case "close":
                steps.append(told.Close())
    return steps
