"""What must be true when every driver has ended: judged from the journal, the chronicle and the effects.

Imports nothing of the package.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from tests.machines.drivers.outside import Effect
from tests.machines.drivers.schedule import INSIDE, Schedule
from tests.machines.journal_model import digest

UNNAMED = ("acquire.inside", "release.inside")
PERMITS = ("retry", "not_executed")


class BrokenScheduleError(AssertionError):
    """A clause is broken; the text begins with its id."""

    def __init__(self, clause: str, what: str) -> None:
        super().__init__(f"{clause}: {what}")
        self.clause, self.what = clause, what


def must(holds: bool, clause: str, what: str) -> None:
    if not holds:
        raise BrokenScheduleError(clause, what)


@dataclass
class Verdicts:
    """How the actions of one run ended."""

    actions: int = 0
    once: int = 0
    failed: int = 0
    doubts: int = 0
    traces: int = 0


@dataclass
class Account:
    """What the journal says of one action."""

    action: str
    key: str
    callers: list[int] = field(default_factory=list)
    outcome: str = "none"
    doubted_by: int = 0
    closing: str = "none"
    by_verdict: bool = False


def judge(
    schedule: Schedule,
    notes: list[dict[str, Any]],
    lines: list[bytes],
    settled: list[bytes],
    effects: list[Effect],
    *,
    last: int,
    clean: str | None,
) -> Verdicts:
    """Hold one run against the clauses.

    Args:
        lines: the journal when the last driver had ended. ``settled``: after the operator has spoken too.
        last: that driver. ``clean``: the trace of an undisturbed run.
    """
    ended = {note["driver"]: note for note in notes if note["event"] == "ended"}
    for driver, note in ended.items():
        must(note["how"] != "broken", "RES-1", f"driver {driver} dies of {note.get('trail', '')}")
    must(ended[last]["how"] == "well", "RES-1", f"the last driver does not complete the run: {ended[last]}")
    must(
        ended[last + 1]["how"] == "well", "DCL-5", f"the operator is not heard at the end: {ended[last + 1]}"
    )
    must(settled[: len(lines)] == lines, "DUR-3", "a verdict changed what stood before it")
    entries = chained(settled)
    authors = _authors(notes, settled)
    _leases(notes, settled, entries, authors)
    _takeovers(schedule, notes)
    _endings(schedule, notes, ended, last)
    accounts = _accounts(entries, authors)
    return _effects(schedule, notes, accounts, effects, last, clean)


def chained(lines: list[bytes]) -> list[dict[str, Any]]:
    """The chain verifies: one line of history (DUR-8)."""
    entries, head = [], ""
    for number, line in enumerate(lines):
        entry = json.loads(line)
        must(entry["seq"] == number, "DUR-3", f"entry {number} has the number {entry['seq']}")
        must(entry["h"] == digest(None, head, entry), "DUR-8", f"the chain is broken at entry {number}")
        head = entry["h"]
        entries.append(entry)
    return entries


def _authors(notes: list[dict[str, Any]], lines: list[bytes]) -> list[int]:
    """Who wrote each line."""
    said = {note["line"]: note["driver"] for note in notes if note["event"] == "appends"}
    authors = [said.get(hashlib.sha256(line).hexdigest(), 0) for line in lines]
    must(all(authors), "DUR-3", "the journal has a line that no driver wrote")
    return authors


def _leases(
    notes: list[dict[str, Any]], lines: list[bytes], entries: list[dict[str, Any]], authors: list[int]
) -> None:
    """One driver at a time: epochs grow, and who was superseded adds nothing (STO-6)."""
    epochs = [entry["args"]["epoch"] for entry in entries if entry["kind"] in ("open", "resume")]
    must(epochs == sorted(set(epochs)), "STO-6", f"the epochs do not grow: {epochs}")
    of = {note["driver"]: note["epoch"] for note in notes if note["event"] == "acquired"}
    written = [of[author] for author in authors]
    must(written == sorted(written), "STO-6", f"a superseded driver wrote: epochs {written}")
    latest = 0
    kept = {hashlib.sha256(line).hexdigest() for line in lines}
    for note in notes:
        if note["event"] == "acquired":
            latest = max(latest, note["epoch"])
        elif note["event"] == "appends" and note["epoch"] < latest:
            must(note["line"] not in kept, "STO-6", f"an entry of an old epoch was admitted: {note}")


def _takeovers(schedule: Schedule, notes: list[dict[str, Any]]) -> None:
    """Nobody takes a lease that is held: its driver ended, is known dead, or did not renew in time."""
    before, late = 0, False
    for note in notes:
        if note["event"] == "late":
            late = True
        elif note["event"] == "acquired":
            free = before in (0, note["driver"]) or late or _over(schedule, notes, before, note["driver"])
            # In a race a lease may be free before anybody has noted down why.
            must(
                free or not schedule.exact, "STO-6", f"{note['driver']} took over from {before}, who held it"
            )
            before, late = note["driver"], False


def _endings(
    schedule: Schedule, notes: list[dict[str, Any]], ended: dict[int, dict[str, Any]], last: int
) -> None:
    """Who did not drive heard why: refused by name, fenced, or stopped by a store that a sleeper holds."""
    pids = {note["of"]: note["pid"] for note in notes if note["event"] == "forked"}
    acquired: list[int] = []
    # Whoever sleeps between the lock of a directory and the note of whose it is cannot be named.
    between = schedule.store == "file" and not schedule.exact
    inside: set[int] = set()
    slept: set[int] = set()
    for note in notes:
        if note["event"] == "acquired":
            acquired.append(note["driver"])
        if note["event"] == "sleeps":
            between = between or (schedule.store == "file" and note["at"].split("#")[0] in UNNAMED)
            if note["at"].split("#")[0] in INSIDE:
                inside.add(note["driver"])
                slept.add(note["driver"])
        if note["event"] in ("woken", "killed"):
            inside.discard(note["of"])
        if note["event"] == "ended" and note["how"] == "store":
            # Its own transaction was ended while it slept in it, or somebody sleeps in one of his.
            known = bool(inside) or note["driver"] in slept
            must(known or not schedule.exact, "DRF-3", f"the store fails {note}")
        if note["event"] == "refused" and acquired and not between:
            names = [driver for driver in pids if f"pid {pids[driver]} " in note["text"]]
            must(bool(names), "STO-6", f"the refusal names nobody: {note['text']}")
            must(note["driver"] not in names, "STO-6", f"a driver is refused because of itself: {note}")
    for driver, note in ended.items():
        if note["how"] == "fenced":
            must(any(d > driver or d in acquired for d in acquired), "STO-6", f"fenced by nobody: {note}")
        if note["how"] == "durable" and driver < last:
            must("settle" in {c.do for c in schedule.commands}, "DRF-1", f"driver {driver}: {note}")


def _accounts(entries: list[dict[str, Any]], authors: list[int]) -> dict[str, Account]:
    """The journal's own account of each action."""
    found: dict[str, Account] = {}
    open_one: Account | None = None
    for entry, author in zip(entries, authors, strict=True):
        kind, args = entry["kind"], entry.get("args") or {}
        if kind == "intent":
            must(args["action_id"] not in found, "DUR-5", f"two intents for {args['action_id']}")
            open_one = found[args["action_id"]] = Account(args["action_id"], args["key"], [author])
        elif kind == "resolution":
            account = found[args["action_id"]]
            if args["how"] in PERMITS and "attempt" in args:
                account.callers.append(author)
            elif args["how"] == "in_doubt":
                account.doubted_by = author
        elif kind in ("invoke", "delegate"):
            assert open_one is not None
            must(open_one.outcome == "none", "DUR-5", f"two results for {open_one.action}")
            error = entry.get("error")
            doubt = bool(error) and error[0] == "ActionInDoubt"
            open_one.outcome = "doubt" if doubt else "failed" if error else "result"
            if doubt and not open_one.doubted_by:
                open_one.doubted_by = author
        elif kind in ("verdict", "reconcile"):
            account = found[args["action_id"]]
            executed = args["executed"] if kind == "verdict" else _executed(entry)
            account.by_verdict |= kind == "verdict"
            if account.outcome == "doubt":
                account.closing = "took_place" if executed else "did_not"
    return found


def _executed(entry: dict[str, Any]) -> bool:
    value = entry["value"]
    return bool(dict(value["$dict"])["executed"] if "$dict" in value else value["executed"])


def _effects(
    schedule: Schedule,
    notes: list[dict[str, Any]],
    accounts: dict[str, Account],
    effects: list[Effect],
    last: int,
    clean: str | None,
) -> Verdicts:
    verdicts = Verdicts(len(accounts))
    for effect in effects:
        must(effect.action in accounts, "DUR-6", f"{effect} is not on record")
        must(effect.key == accounts[effect.action].key, "KRN-10", f"{effect} came under another key")
    reads = schedule.promise == "read_only"
    for account in accounts.values():
        count = sum(effect.action == account.action for effect in effects)
        must(count <= 1, "INV-9", f"{account.action} took place {count} times")
        said = account.outcome
        must(said != "none", "RES-8", f"the run is over and {account.action} has no result")
        must(
            said != "result" or count == 1 or reads, "TOL-3", f"{account.action} has a result, and no effect"
        )
        must(said != "failed" or count == 0, "TOL-3", f"{account.action} failed on record, and took place")
        if said == "doubt":
            verdicts.doubts += 1
            excused = _excused(schedule, notes, account)
            must(
                excused,
                "RES-6",
                f"{account.action} is in doubt although the host promised {schedule.promise}",
            )
            must(account.closing != "none", "DCL-5", f"the operator's verdict on {account.action} is missing")
            must(
                (account.closing == "took_place") == (count == 1),
                "TOL-8",
                f"{account.action} is closed as {account.closing}, with {count} effects",
            )
        verdicts.once += count
        verdicts.failed += said == "failed"
    spoke = any(account.by_verdict for account in accounts.values())
    if clean is not None and not verdicts.doubts and not schedule.replies and not spoke:
        trace = next(n["trace"] for n in notes if n["event"] == "completed" and n["driver"] == last)
        must(trace == clean, "DUR-2", f"the trace is not that of a clean run:\n{trace}\n---\n{clean}")
        verdicts.traces += 1
    return verdicts


def _excused(schedule: Schedule, notes: list[dict[str, Any]], account: Account) -> bool:
    """Whether nobody could know what became of an action (RES-6, STO-6)."""
    unsure = [
        note["driver"] for note in notes
        if note["event"] == "called" and note["action"] == account.action and note["reply"] != "good"
    ]  # fmt: skip
    others = [caller for caller in account.callers if caller != account.doubted_by]
    if schedule.promise == "none":
        return bool(unsure or others)
    if schedule.promise in ("idempotent", "both"):
        return bool(unsure) and schedule.promise == "idempotent"
    if schedule.promise == "reconcilable":
        # "It took place" stays true, whoever sleeps beside it.
        found = any(
            note["event"] == "asked" and note["driver"] == account.doubted_by and note["found"]
            for note in notes
            if note.get("action") == account.action
        )
        return not found and any(not _over(schedule, notes, caller, account.doubted_by) for caller in others)
    return False


def _over(schedule: Schedule, notes: list[dict[str, Any]], caller: int, by: int) -> bool:
    """Whether ``by`` could know, when it took the lease, that ``caller`` was inside no call any more."""
    for note in notes:
        if note["event"] == "acquired" and note["driver"] == by:
            return False
        if note["event"] == "ended" and note["driver"] == caller and note["how"] != "store":
            return True
        if note["event"] == "gave back" and note["driver"] == caller:
            return True
        gone = note["event"] in ("killed", "gone") and note["of"] == caller
        if gone and not {caller, by} & schedule.away:
            return True
    return False
