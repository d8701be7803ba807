"""What must be true of a durable run, judged from outside alone. Imports nothing from ``agentl``.

``RunModel`` hears what people, services and reconcilers saw, in order, and what is on the disk. It
knows the clauses, not the kernel: who may be called when, and what the record may say afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

REPEATABLE = frozenset({"idempotent", "read_only"})


class BrokenError(AssertionError):
    """A clause is broken; the message begins with its id."""


def must(holds: object, clause: str, what: str) -> None:
    """Raise unless it holds."""
    if not holds:
        raise BrokenError(f"{clause}: {what}")


@dataclass
class Action:
    """One action, as the world knows it."""

    asked: list[bool] = field(default_factory=list)
    calls: int = 0
    effects: int = 0
    key: Any = None
    open: bool = False
    promise: frozenset[str] | None = None
    reading: bool = False


class RunModel:
    """The run so far. ``rule`` and ``host`` are those of the process at work."""

    def __init__(self, size: int, attempts: int) -> None:
        self.actions = {number: Action() for number in range(1, size + 1)}
        self.attempts = attempts
        self.records: tuple[Any, ...] = ()
        self.rule: Sequence[str] = ()
        self.host: Sequence[frozenset[str]] = ()
        self.excused: set[int] = set()

    def boot(self, rule: Sequence[str], host: Sequence[frozenset[str]]) -> None:
        """A process begins."""
        self.rule, self.host = rule, host

    def hear(self, event: tuple[Any, ...]) -> None:
        """One thing that happened outside."""
        what, number, *rest = event
        action = self.actions[number]
        if what == "asked":
            must(not action.asked, "APR-6", f"a person is asked twice about {number}")
            must(self.rule[number - 1] == "ask", "APR-4", f"a person is asked about {number} without need")
            action.asked.append(rest[0])
        elif what == "called":
            self._called(number, action, *rest)
        elif what == "happened":
            action.effects += 1
            must(action.effects == 1, "INV-9", f"the effect of {number} is doubled")
        elif what == "unknown":
            self.excused.add(number)
        elif what == "found nothing":
            action.open = False

    def _called(
        self, number: int, action: Action, key: Any, n: int, promise: frozenset[str], hears: str, disk: Any
    ) -> None:
        word = self.rule[number - 1]
        must(word != "deny", "INV-2", f"{number} is called although the policy denies")
        must(word != "ask" or action.asked == [True], "INV-1", f"{number} is called and nobody said yes")
        must(n == number, "INV-6", f"{number} is called with other arguments")
        mine = [record for record in disk if record.action == number]
        must(
            any(r.kind == "intent" for r in mine), "DUR-6", f"{number} is called before its intent is durable"
        )
        must(all(r.kind != "result" for r in mine), "DUR-2", f"{number} is called although it has a result")
        must(action.key in (None, key), "KRN-10", f"{number} is called under another key")
        action.key = key
        usable = promise if action.promise is None else action.promise & promise
        if action.open:
            must(usable & REPEATABLE, "RES-6", f"{number} is called again while it is in doubt")
        action.promise = usable
        action.reading = "read_only" in promise
        action.calls += 1
        if action.calls >= self.attempts:
            self.excused.add(number)
        if hears == "failed":
            if action.open:
                self.excused.add(number)
            action.open = action.open and not action.reading
        else:
            action.open = True

    def settled(self, number: int) -> None:
        """An operator spoke."""
        self.actions[number].open = False

    def read(self, records: tuple[Any, ...], ended: str, *, told: tuple[Any, ...] = ()) -> None:
        """What is on the disk after a process, read from its bytes; ``told`` is what it held for durable."""
        must(records[: len(self.records)] == self.records, "DUR-2", "a record is lost or changed")
        must(records[: len(told)] == told, "DUR-6", "a record that was acknowledged is lost")
        known = {record.action for record in self.records if record.note in ("in_doubt", "doubt")}
        self.records = records
        for number, action in self.actions.items():
            mine = [record for record in records if record.action == number]
            results = [record.note for record in mine if record.kind == "result"]
            intents = [record for record in mine if record.kind == "intent"]
            must(len(results) <= 1 and len(intents) <= 1, "DUR-5", f"{number} has more than one record")
            must(not action.effects or intents, "DUR-6", f"the effect of {number} is not on record")
            if results == ["result"]:
                must(action.effects or action.reading, "TOL-3", f"{number} has a result and did nothing")
            if results == ["failed"]:
                must(not action.effects, "TOL-3", f"{number} is recorded as failed and took place")
            if number not in known and any(record.note in ("in_doubt", "doubt") for record in mine):
                narrowed = [
                    r.promise for r in mine if r.note in ("retry", "not_executed") and r.kind != "verdict"
                ]
                kept = [intents[0].promise, *narrowed][-1]
                excused = number in self.excused or not kept & self.host[number - 1]
                must(excused, "RES-6", f"{number} is in doubt although the host promised")
            if ended == "closed":
                must(len(intents) == len(results), "RES-8", f"the run closed and {number} is open")

    def watch(self, view: Any) -> None:
        """The permits of the process at one moment."""
        in_force = [
            number for number, stage in enumerate(view.permit, 1) if stage in ("issued", "dispatching")
        ]
        must(len(in_force) <= 1, "KRN-11", f"two permits are in force: {in_force}")
        for number in in_force:
            must(self.rule[number - 1] != "deny", "KRN-3", f"a permit for {number}, which the policy denies")
            if self.rule[number - 1] == "ask":
                must(
                    self.actions[number].asked == [True],
                    "KRN-3",
                    f"a permit for {number} that nobody approved",
                )
            done = [r for r in view.log[: view.cursor] if r.kind == "result" and r.action == number]
            must(not done, "KRN-11", f"the permit of {number} outlives its use")
