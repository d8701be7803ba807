"""Ended runs are thrown away by age; a tombstone keeps their digests (`OPS-7`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from agentl.durable.collections.base import Collection, RunNote
from agentl.durable.listing import moment, written
from agentl.durable.marks import ARRIVING, COPY, PURGED, Mark, mark
from agentl.durable.recovery import DurableJournal
from agentl.errors import AgentLError, DurableError, LeaseHeld, StoreFailure

_SPAN: Final = re.compile(r"([0-9]{1,6})(w|d|h|min|m|s)")
_SECONDS: Final = {"w": 604_800, "d": 86_400, "h": 3_600, "min": 60, "m": 60, "s": 1}
# Why a run is kept; each is a message code behind ``ops.kept_``.
ACTIVE, YOUNG, UNDATED, DOUBTS, WAITING, REFUSED, HELD = (
    "active",
    "young",
    "undated",
    "doubts",
    "waiting",
    "refused",
    "held",
)


@dataclass(frozen=True, slots=True)
class Purged:
    """What became of one run: ``kept`` says why it was left, or is ``None`` when it went (or would go)."""

    note: RunNote
    ended_at: str | None
    kept: str | None = None
    problem: AgentLError | None = None


def span(text: str) -> timedelta:
    """The time span that ``30d``, ``12h``, ``90min``, ``2w`` or ``0s`` name (`OPS-7`).

    Raises:
        DurableError: the text names none.
    """
    found = _SPAN.fullmatch(text.strip())
    if found is None:
        raise DurableError(code="ops.span", given=text)
    return timedelta(seconds=int(found[1]) * _SECONDS[found[2]])


@dataclass(frozen=True, slots=True)
class Rule:
    """What is thrown away, and when it is looked at (`OPS-7`).

    ``with_doubts``: also runs with an action in doubt that nobody has settled. ``key``: the chain key; keyed
    journals are kept without it. ``dry``: only say what would go.
    """

    older_than: timedelta
    now: datetime
    with_doubts: bool = False
    key: bytes | str | None = None
    by: str | None = None
    dry: bool = False

    @property
    def at(self) -> str:
        """Now, as text."""
        return self.now.isoformat(timespec="seconds")


def purge(collection: Collection, rule: Rule, run_id: str | None = None) -> Iterator[Purged]:
    """Throw away each run that ended longer ago than the rule says (`OPS-7`).

    Only what its own journal, read and checked under its lease, shows to have ended goes; and, by the same
    age, a copy, or what was moved away. Each run is gone for good when it is yielded.

    Args:
        run_id: look at this run only.

    Raises:
        StoreFailure: the place failed.
    """
    for note in collection.notes():
        if run_id is not None and note.run_id != run_id:
            continue
        if note.mark is not None and note.mark.get("mark") == PURGED:
            if not rule.dry:
                collection.store_of(note).remove_marked(note.mark)  # an earlier purge was stopped half-way
            continue
        yield _marked(collection, note, rule) if note.mark is not None else _one(collection, note, rule)


def _marked(collection: Collection, note: RunNote, rule: Rule) -> Purged:
    """A run that nobody drives here: it was checked when it was marked."""
    found: Mark = note.mark or {}
    kind, at = found.get("mark"), str(found.get("at"))
    kept = ACTIVE if kind == ARRIVING else _too_young(at, rule)
    if kept is None and not rule.dry:
        # A copy leaves nothing behind; where a run moved to is worth remembering.
        rest = None if kind == COPY else {**found, "mark": PURGED, "was": kind, "purged_at": rule.at}
        collection.store_of(note).remove_marked(rest)
    return Purged(note, at, kept)


def _one(collection: Collection, note: RunNote, rule: Rule) -> Purged:
    ended_at = written(note)
    kept = _kept(note, rule) or _too_young(ended_at, rule)
    if kept is not None:
        return Purged(note, ended_at, kept)
    try:
        return Purged(note, ended_at, _by_chain(collection.store_of(note), ended_at, rule))
    except StoreFailure:
        raise
    except AgentLError as error:
        return Purged(note, ended_at, HELD if isinstance(error, LeaseHeld) else REFUSED, error)


def _too_young(at: str | None, rule: Rule) -> str | None:
    ended = moment(at)
    if ended is None:
        return UNDATED
    return YOUNG if rule.now - ended < rule.older_than else None


def _kept(note: RunNote, rule: Rule) -> str | None:
    """Why the notes alone keep a run."""
    if not (note.meta or {}).get("close"):
        return ACTIVE
    if note.lease is not None:
        return HELD
    if note.waiting:
        return WAITING
    return DOUBTS if note.in_doubt and not rule.with_doubts else None


def _by_chain(store: Any, ended_at: str | None, rule: Rule) -> str | None:
    """Why the journal itself keeps a run; else it is erased (unless ``dry``)."""
    journal = DurableJournal.open(store, key=rule.key, write=not rule.dry)
    try:
        index = journal.index
        if index.close_args is None or journal.pending():
            return ACTIVE
        doubts = [str(found["action_id"]) for found in journal.in_doubt()]
        if doubts and not rule.with_doubts:
            return DOUBTS
        if not rule.dry:
            tombstone = mark(
                PURGED,
                index.run_id,
                head=journal.head,
                entries=index.entries,
                opened=index.open_args,
                at=rule.at,
                ended=str(index.close_args.get("reason")),
                ended_at=ended_at,
                ticks=index.close_args.get("ticks"),
                trace_sha256=index.close_args.get("trace_sha256"),
                in_doubt=doubts,
                by=rule.by,
            )
            store.erase(tombstone)
        return None
    finally:
        journal.release()
        store.close()


__all__ = ["Purged", "Rule", "purge", "span"]
