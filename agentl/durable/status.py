"""The state of a run as its chain and its lease tell it; nothing is stored as truth (`DUR-13`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from agentl.durable.lease import Lease
from agentl.durable.recovery import DurableJournal, resolutions_of
from agentl.durable.requests import Filed
from agentl.durable.states import CANCELLED, COMPLETED, INTERRUPTED, NEW, REFUSED, RUNNING, WAITING
from agentl.durable.stores.base import Meta, Store, utc_now
from agentl.durable.stores.request_book import book_of
from agentl.journal.index import Index
from agentl.messages import render
from agentl.replay.export import exported
from agentl.replay.journal import Journal

# Entries that say who drives, not that something was executed.
_PRELIMINARY: Final = ("open", "resume")


def status_of(index: Index, *, held: bool, refused: bool, waiting: bool = False) -> str:
    """The status of a run whose chain holds (`DUR-13`); ``waiting``: a request of it is open (`PRK-4`)."""
    if index.close_args is not None:
        return COMPLETED
    if index.cancel_args is not None:
        return CANCELLED
    if held:
        return RUNNING
    if refused:
        return REFUSED
    if waiting:
        return WAITING
    executed = index.entries - sum(index.counts.get(kind, 0) for kind in _PRELIMINARY)
    return INTERRUPTED if executed else NEW


def open_requests(store: Store) -> list[Filed]:
    """What a run waits for, as far as its store keeps requests; no lease is taken (`PRK-1`)."""
    book = book_of(store)
    return [] if book is None else book.all(open_only=True)


def meta_of(journal: DurableJournal, *, held: bool, waiting: bool = False) -> Meta:
    """The notes for people beside a journal (`DUR-10`)."""
    index = journal.index
    return {
        "run_id": index.run_id,
        "status": status_of(index, held=held, refused=False, waiting=waiting),
        "entries": index.entries,
        "head": journal.head,
        "last_tick": index.last_tick,
        "in_doubt": [found["action_id"] for found in journal.in_doubt()],
        "waiting_for": [found["action_id"] for found in journal.pending()],
        "written": utc_now(),
        "open": dict(index.open_args or {}),
        "close": None if index.close_args is None else dict(index.close_args),
    }


@dataclass(frozen=True)
class Survey:
    """What ``durable status`` shows of a run (`DCL-3`).

    ``refusal`` is the last refusal of a resume that still counts: ``at``, ``code``, ``values`` and its
    ``message`` in the language in force. ``resolutions`` are dictionaries with ``target``,
    ``action_id``, ``how``, ``attempt``, and for verdicts (``how`` = ``verdict``) ``executed`` and ``by``.
    ``waiting`` are the open requests of a run that is not over.
    """

    run_id: str
    status: str
    agents: tuple[str, ...]
    entries: int
    kinds: Mapping[str, int]
    head: str
    last_tick: int
    holder: Lease | None
    refusal: Mapping[str, Any] | None
    resolutions: Sequence[Mapping[str, Any]]
    ended: str | None = None
    waiting: Sequence[Filed] = ()
    _pending: Sequence[Mapping[str, Any]] = field(default=(), repr=False)
    _in_doubt: Sequence[Mapping[str, Any]] = field(default=(), repr=False)

    def pending(self) -> list[Mapping[str, Any]]:
        """Intentions without result or verdict."""
        return list(self._pending)

    def in_doubt(self) -> list[Mapping[str, Any]]:
        """Doubtful actions that nobody has settled."""
        return list(self._in_doubt)


def survey(store: Store, *, key: bytes | str | None = None) -> Survey:
    """Look at a run without taking its lease (`DUR-13`).

    Raises:
        DurableError: the journal is refused (`DRF-1`).
        StoreFailure: the store cannot be read.
    """
    holder = store.held()
    return surveyed(DurableJournal.open(store, key=key, write=False), holder)


def surveyed(journal: DurableJournal, holder: Lease | None) -> Survey:
    """The same of a journal that was read, and whoever drove the run just before (`DUR-13`).

    Raises:
        StoreFailure: the store cannot be read.
    """
    store, index = journal.store, journal.index
    refusal = store.refusal()
    shown = None if refusal is None else {**refusal, "message": _message(refusal)}
    opened = index.open_args or {}
    over = index.close_args is not None or index.cancel_args is not None
    waiting = [] if over else open_requests(store)
    held = holder is not None
    return Survey(
        run_id=index.run_id,
        status=status_of(index, held=held, refused=refusal is not None, waiting=bool(waiting)),
        agents=tuple(str(name) for name in opened.get("agents") or ()),
        entries=index.entries,
        kinds={kind: index.counts[kind] for kind in sorted(index.counts)},
        head=journal.head,
        last_tick=index.last_tick,
        holder=holder,
        refusal=shown,
        resolutions=[_resolution(found) for found in resolutions_of(journal)],
        ended=None if index.close_args is None else str(index.close_args.get("reason")),
        waiting=waiting,
        _pending=journal.pending(),
        _in_doubt=journal.in_doubt(),
    )


def export_journal(store: Store, *, key: bytes | str | None = None) -> Journal | None:
    """The replay journal of a completed run, or ``None`` when it is not completed (`RES-3`, `DCL-4`).

    Raises:
        DurableError: the journal is refused (`DRF-1`).
        StoreFailure: the store cannot be read.
    """
    journal = DurableJournal.open(store, key=key, write=False)
    return exported(journal.entries, journal.index)


def _message(refusal: Mapping[str, Any]) -> str:
    code, values = refusal.get("code"), refusal.get("values")
    if isinstance(code, str) and code and isinstance(values, Mapping):
        return render(code, values)
    return str(refusal.get("text", ""))


def _resolution(found: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "target": found.get("tool"),
        "action_id": found.get("action_id"),
        "how": found.get("how"),
        "attempt": found.get("attempt"),
        "executed": found.get("executed"),
        "by": found.get("by"),
    }


__all__ = ["Survey", "export_journal", "meta_of", "status_of", "survey", "surveyed"]
