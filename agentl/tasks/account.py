"""What the entries of a run account for: effects that are confirmed, open or in doubt, failures, spending.

One pass over the journal, beside the derivation: the entries alone say this (`TSK-4` to `TSK-6`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from agentl.journal.entry import Entry, dump
from agentl.tasks.evidence import KINDS, Evidence

MODEL: Final = ("reason", "judge", "select_plan")
_CAUSES: Final = {
    "InvalidArguments": "invalid_arguments",
    "PermissionRefused": "permission_refused",
    "PermissionError": "permission_refused",
    "NotExecuted": "not_executed",
    "NotRegistered": "not_executed",
    "ActionInDoubt": "unconfirmed",
}
_PLACES: Final = {
    "read": "sensor",
    "reason": "model",
    "judge": "model",
    "select_plan": "model",
    "ask": "person",
    "drain": "events",
}
CAUSES: Final = tuple(sorted({*_CAUSES.values(), *_PLACES.values(), "failed", "denied", "expired"}))


@dataclass(frozen=True, slots=True)
class Confirmed:
    """An action that took place, with its proof. ``attempts`` counts the calls that were made."""

    target: str
    action_id: str
    kind: str
    attempts: int
    evidence: Evidence | None


@dataclass(frozen=True, slots=True)
class Failed:
    """What did not work: ``cause`` is one of ``CAUSES``, ``error`` the class, ``text`` its words."""

    cause: str
    target: str
    action_id: str
    entry: int
    error: str
    text: str


@dataclass
class Account:
    """What was found. ``latest`` maps paths of sensors, and ``tool()``, to the last entry that proves."""

    confirmed: list[Confirmed] = field(default_factory=list)
    failures: list[Failed] = field(default_factory=list)
    latest: dict[str, Entry] = field(default_factory=dict)
    actions: int = 0
    model_calls: int = 0

    def of(self, path: str) -> Evidence | None:
        """The latest proof for a path: its reading, or the result of the tool that its first word names."""
        entry = self.latest.get(path) or self.latest.get(f"{path.split('.', 1)[0]}()")
        return None if entry is None else Evidence.of(entry)

    def reading(self, path: str) -> str | None:
        """What the sensor of that path saw last, in journal form."""
        entry = self.latest.get(path)
        return None if entry is None else dump(entry.stored_value)


def account(entries: Iterable[Entry]) -> Account:
    """Go through the entries of a run, once (`TSK-4` to `TSK-6`)."""
    found = Account()
    open_id, attempts = "", 1
    for entry in entries:
        args: Mapping[str, Any] = entry.stored_args if isinstance(entry.stored_args, dict) else {}
        if entry.kind in KINDS and entry.error is None and _took_place(entry, args):
            found.latest[entry.key if entry.kind == "read" else f"{entry.key}()"] = entry
        match entry.kind:
            case "intent":
                open_id, attempts = str(args.get("action_id")), 1
                found.actions += 1
            case "resolution":
                attempt = args.get("attempt")
                attempts = attempt if type(attempt) is int else attempts
            case "invoke" | "delegate":
                if entry.error is None:
                    seen = Evidence.of(entry) if entry.kind in KINDS else None
                    found.confirmed.append(Confirmed(entry.key, open_id, entry.kind, attempts, seen))
                else:
                    found.failures.append(_failed(entry, open_id))
            case "approve":
                answer = entry.value.get("answer") if isinstance(entry.value, dict) else None
                if answer != "approved":
                    cause = "expired" if answer == "expired" else "denied"
                    found.failures.append(Failed(cause, "", entry.key, entry.seq, "", str(answer or "")))
            case _ if entry.error is not None:
                found.failures.append(_failed(entry, ""))
        if entry.kind in MODEL:
            found.model_calls += 1
    return found


def _took_place(entry: Entry, args: Mapping[str, Any]) -> bool:
    if entry.kind == "verdict":
        return args.get("executed") is True
    if entry.kind == "reconcile":
        return isinstance(entry.value, dict) and entry.value.get("executed") is True
    return True


def _failed(entry: Entry, action_id: str) -> Failed:
    assert entry.error is not None
    name, text = entry.error
    cause = _PLACES.get(entry.kind) or _CAUSES.get(name, "failed")
    return Failed(cause, entry.key, action_id, entry.seq, name, text)


__all__ = ["CAUSES", "MODEL", "Account", "Confirmed", "Failed", "account"]
