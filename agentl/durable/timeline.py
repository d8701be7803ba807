"""What happened in a run, in the order in which its journal holds it (`OPS-5`).

No argument and no value of an action is in it: the journal holds what the program saw, and a timeline is
shown to whoever keeps the machines.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from agentl.durable.recovery import DurableJournal
from agentl.journal.entry import Entry

# What is read, asked or reasoned between two events is counted, not listed.
COUNTED: Final = ("read", "ask", "drain", "reason", "select_plan", "judge", "delegate_lookup")


@dataclass(slots=True)
class Step:
    """One line of a timeline.

    Attributes:
        what: ``begun``, ``driver``, ``tick``, ``action``, ``approval``, ``verdict``, ``reconciled``,
            ``extended``, ``parked``, ``cancelled``, ``ended``, or the kind of an entry that has no line of
            its own.
        seq: the number of its first entry.
        facts: what is said about it; times in ISO form.
        outcome: of an action: ``done``, ``failed``, ``in_doubt``, or ``open`` when there is none yet.
    """

    what: str
    seq: int
    tick: int
    facts: dict[str, Any] = field(default_factory=dict)
    outcome: str | None = None

    def data(self) -> dict[str, Any]:
        """The line as data."""
        found = {"seq": self.seq, "tick": self.tick, "what": self.what, **self.facts}
        return found if self.outcome is None else {**found, "outcome": self.outcome}


def timeline(journal: DurableJournal) -> list[Step]:
    """The steps of a run whose chain holds (`OPS-5`); an action is one step, wherever its entries stand."""
    story = _Story()
    for entry in journal.entries:
        story.add(entry)
    return story.steps


class _Story:
    """Entries gathered into steps."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._tick = 1
        self._actions: dict[str, Step] = {}
        self._unfinished: dict[str | None, Step] = {}
        self._counts: dict[str, int] = {}

    def add(self, entry: Entry) -> None:
        """Take one entry in."""
        if entry.kind in COUNTED:
            self._counts[entry.kind] = self._counts.get(entry.kind, 0) + 1
            return
        step = self._STEPS.get(entry.kind)
        if step is None:
            self._say(entry.kind, entry)
        else:
            step(self, entry, entry.stored_args if isinstance(entry.stored_args, dict) else {})

    def _say(self, what: str, entry: Entry, outcome: str | None = None, **facts: Any) -> Step:
        step = Step(what, entry.seq, self._tick, facts, outcome)
        self.steps.append(step)
        return step

    def _begin(self, entry: Entry, args: dict[str, Any]) -> None:
        self._say(
            "begun",
            entry,
            run_id=entry.key,
            at=args.get("created"),
            holder=args.get("holder"),
            epoch=args.get("epoch"),
            source=args.get("source"),
        )

    def _resume(self, entry: Entry, args: dict[str, Any]) -> None:
        self._say("driver", entry, at=args.get("at"), holder=args.get("holder"), epoch=args.get("epoch"))

    def _checkpoint(self, entry: Entry, _args: dict[str, Any]) -> None:
        if entry.key.isdecimal():
            self._tick = int(entry.key)
        self._say("tick", entry, counts={kind: self._counts[kind] for kind in sorted(self._counts)})
        self._counts = {}
        self._tick += 1

    def _approve(self, entry: Entry, args: dict[str, Any]) -> None:
        value = entry.value if entry.error is None else None
        said = dict(value) if isinstance(value, dict) else {}
        request = args.get("request")
        target = request.get("target") if isinstance(request, dict) else None
        self._say(
            "approval",
            entry,
            action_id=entry.key,
            target=target,
            answer=str(said.get("answer")) if said else (entry.error or ("?",))[0],
            by=said.get("by"),
            at=said.get("at"),
        )

    def _intent(self, entry: Entry, args: dict[str, Any]) -> None:
        step = self._say(
            "action",
            entry,
            "open",
            target=entry.key,
            action_id=args.get("action_id"),
            attempts=1,
            promise=list(args.get("promise") or ()),
            resolutions=[],
        )
        self._actions[str(args.get("action_id"))] = step
        self._unfinished[entry.agent] = step

    def _resolution(self, entry: Entry, args: dict[str, Any]) -> None:
        step = self._actions.get(str(args.get("action_id")))
        if step is None:
            self._say("resolution", entry, target=entry.key)
            return
        how = str(args.get("how"))
        step.facts["resolutions"].append({"how": how, "seq": entry.seq})
        attempt = args.get("attempt")
        if how in ("retry", "not_executed"):
            step.facts["attempts"] = attempt if isinstance(attempt, int) else step.facts["attempts"] + 1
        elif how == "in_doubt":
            step.outcome = "in_doubt"

    def _invoke(self, entry: Entry, _args: dict[str, Any]) -> None:
        step = self._unfinished.pop(entry.agent, None)
        if step is None:
            self._say(entry.kind, entry, target=entry.key)
            return
        if entry.error is None:
            step.outcome = "done"
        else:
            step.outcome = "in_doubt" if entry.error[0] == "ActionInDoubt" else "failed"
            step.facts["error"] = entry.error[0]
        step.facts["ended_seq"] = entry.seq

    def _verdict(self, entry: Entry, args: dict[str, Any]) -> None:
        self._say(
            "verdict",
            entry,
            target=entry.key,
            action_id=args.get("action_id"),
            executed=args.get("executed"),
            by=args.get("by"),
            at=args.get("at"),
        )

    def _reconcile(self, entry: Entry, args: dict[str, Any]) -> None:
        value = entry.value if entry.error is None else None
        executed = value.get("executed") if isinstance(value, dict) else None
        self._say("reconciled", entry, target=entry.key, action_id=args.get("action_id"), executed=executed)

    def _extend(self, entry: Entry, args: dict[str, Any]) -> None:
        self._say(
            "extended", entry, max_ticks=args.get("max_ticks"), at=args.get("at"), holder=args.get("holder")
        )

    def _park(self, entry: Entry, args: dict[str, Any]) -> None:
        self._say(
            "parked",
            entry,
            at=args.get("at"),
            kind=args.get("kind"),
            request_id=args.get("request_id"),
            deadline=args.get("deadline"),
        )

    def _close(self, entry: Entry, args: dict[str, Any]) -> None:
        self._say("ended", entry, reason=args.get("reason"), ticks=args.get("ticks"))

    def _cancel(self, entry: Entry, args: dict[str, Any]) -> None:
        self._say("cancelled", entry, by=args.get("by"), at=args.get("at"), reason=args.get("reason"))

    _STEPS: ClassVar[dict[str, Callable[[_Story, Entry, dict[str, Any]], None]]] = {
        "open": _begin,
        "resume": _resume,
        "checkpoint": _checkpoint,
        "approve": _approve,
        "intent": _intent,
        "resolution": _resolution,
        "invoke": _invoke,
        "delegate": _invoke,
        "verdict": _verdict,
        "reconcile": _reconcile,
        "extend": _extend,
        "cancel": _cancel,
        "park": _park,
        "close": _close,
    }


__all__ = ["Step", "timeline"]
