"""Whether a run is what it should be: chain, key, lease, notes, end, one verdict each (`OPS-10`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from agentl.durable.recovery import DurableJournal
from agentl.durable.status import status_of
from agentl.errors import AgentLError, DurableError
from agentl.messages import render

GOOD: Final = "good"
WORTH_KNOWING: Final = "worth_knowing"
BAD: Final = "bad"
_KEY: Final = ("durable.key_missing", "durable.key_other", "durable.key_unexpected")


@dataclass(frozen=True, slots=True)
class Verdict:
    """About ``what`` (``chain``, ``key``, ``lease``, ``notes``, ``end``, ``mark``), how good, and why."""

    what: str
    grade: str
    code: str
    values: Mapping[str, Any]

    def __str__(self) -> str:
        return render(self.code, self.values)

    def data(self) -> dict[str, Any]:
        """The verdict as data."""
        found = {"what": self.what, "grade": self.grade, "code": self.code, "message": str(self)}
        return {**found, "values": dict(self.values)}


def verify(store: Any, *, key: bytes | str | None = None) -> list[Verdict]:
    """Read the whole journal of a run and hold what stands beside it against it; no lease is taken.

    Raises:
        StoreFailure: the store cannot be read.
    """
    mark = store.mark()
    held = store.held()
    try:
        journal = DurableJournal.open(store, key=key, write=False)
    except DurableError as error:
        return [_refused(error), *_of_mark(mark), *_of_lease(held, None)]
    if not journal.lines:
        return [
            Verdict("chain", WORTH_KNOWING, "ops.chain_empty", {}),
            *_of_mark(mark),
            *_of_lease(held, None),
        ]
    index = journal.index
    opened = index.open_args or {}
    chain = Verdict("chain", GOOD, "ops.chain_good", {"entries": index.entries, "head": journal.head[:12]})
    keyed = opened.get("key_id")
    proof = (
        Verdict("key", GOOD, "ops.key_good", {"key_id": keyed})
        if keyed
        else Verdict("key", WORTH_KNOWING, "ops.key_none", {})
    )
    return [
        chain,
        proof,
        *_of_mark(mark),
        *_of_lease(held, index.epoch),
        _of_notes(journal),
        _of_end(journal, held=held is not None),
    ]


def _refused(error: AgentLError) -> Verdict:
    return Verdict("key" if error.code in _KEY else "chain", BAD, error.code, error.values)


def _of_mark(mark: Mapping[str, Any] | None) -> list[Verdict]:
    if mark is None:
        return []
    kind = mark.get("mark")
    said = {"at": mark.get("at", "?"), "other": mark.get("other", "—")}
    return [Verdict("mark", WORTH_KNOWING, f"ops.mark_{kind}", said)]


def _of_lease(held: Any, latest: int | None) -> list[Verdict]:
    """Who drives. A lease below what the journal records was given by one that does not know the journal."""
    if held is None:
        return [Verdict("lease", GOOD, "ops.lease_free", {})]
    said = {"holder": held.holder, "since": held.since, "epoch": held.epoch, "latest": latest}
    if latest is not None and held.epoch and held.epoch < latest:
        return [Verdict("lease", BAD, "ops.lease_behind", said)]
    return [Verdict("lease", GOOD, "ops.lease_held", said)]


def _of_notes(journal: DurableJournal) -> Verdict:
    meta, index = journal.meta, journal.index
    if meta is None:
        return Verdict("notes", WORTH_KNOWING, "ops.notes_none", {})
    noted = meta.get("entries")
    if noted == index.entries:
        same = meta.get("head") == journal.head and meta.get("run_id") == index.run_id
        return Verdict("notes", GOOD if same else BAD, "ops.notes_good" if same else "ops.notes_other", {})
    behind = index.entries - noted if type(noted) is int else index.entries
    # More entries in the notes than there are: without an end in them it may be a crash, and is worth a look.
    grade = WORTH_KNOWING
    return Verdict(
        "notes", grade, "ops.notes_behind" if behind > 0 else "ops.notes_ahead", {"count": abs(behind)}
    )


def _of_end(journal: DurableJournal, *, held: bool) -> Verdict:
    index = journal.index
    doubts = len(journal.in_doubt())
    if index.close_args is None:
        state = status_of(index, held=held, refused=False)
        values = {"status": state, "tick": index.last_tick, "doubts": doubts}
        return Verdict("end", WORTH_KNOWING, "ops.end_none", values)
    said = {
        "reason": index.close_args.get("reason"),
        "ticks": index.close_args.get("ticks"),
        "doubts": doubts,
    }
    return Verdict(
        "end", WORTH_KNOWING if doubts else GOOD, "ops.end_doubts" if doubts else "ops.end_good", said
    )


def good(verdicts: list[Verdict]) -> bool:
    """Whether no verdict is bad."""
    return all(verdict.grade != BAD for verdict in verdicts)


__all__ = ["BAD", "GOOD", "WORTH_KNOWING", "Verdict", "good", "verify"]
