"""Cancellation with an account: future work stops, and what was done is named, not undone (`TSK-9`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentl.durable.recovery import DurableJournal
from agentl.durable.status import meta_of
from agentl.durable.stores.base import Store
from agentl.durable.stores.request_book import withdraw_open
from agentl.errors import DurableError


@dataclass(frozen=True, slots=True)
class Cancellation:
    """What a cancelled run leaves behind (`TSK-9`).

    ``done`` are the actions that took place, ``unknown`` those of which nobody knows: interrupted, or in
    doubt. Each has ``target`` and ``action_id``. ``already`` says that it had been cancelled before, by
    whoever ``by`` and ``at`` name.
    """

    run_id: str
    by: str
    at: str
    reason: str
    already: bool
    done: tuple[Mapping[str, str], ...]
    unknown: tuple[Mapping[str, str], ...]


def cancel(
    store: Store, *, by: str | None = None, reason: str = "", key: bytes | str | None = None
) -> Cancellation:
    """Put on record that the run is not to go on, and say what it has done (`TSK-9`).

    It takes the lease, so that no driver is in the middle of something; a second cancellation changes
    nothing and tells the same.

    Args:
        by: who cancels.
        reason: why, for the record.
        key: the chain key (`SEA-10`).

    Raises:
        DurableError: the journal is refused, or the run is over; ``LeaseHeld`` when it is driven.
        StoreFailure: the store failed.
    """
    journal = DurableJournal.open(store, key=key)
    try:
        index = journal.index
        if not journal.resuming:
            raise DurableError(code="durable.none", directory=store.name)
        if index.close_args is not None:
            raise DurableError(code="durable.cancel_over", run_id=index.run_id)
        already = index.cancel_args is not None
        if not already:
            args = {"at": journal.clock(), "by": by or "unknown", "reason": reason}
            journal.append_cancel(args)
            store.write_meta(meta_of(journal, held=False), sync=True)
        withdraw_open(store, index.run_id, journal.clock())
        said = index.cancel_args or {}
        return Cancellation(
            index.run_id,
            str(said.get("by", "")),
            str(said.get("at", "")),
            str(said.get("reason", "")),
            already,
            tuple(_done(journal)),
            tuple(_named(found) for found in (*journal.pending(), *journal.in_doubt())),
        )
    finally:
        journal.release()


def _done(journal: DurableJournal) -> list[Mapping[str, str]]:
    done: list[Mapping[str, str]] = []
    doubts = {found["action_id"] for found in journal.in_doubt()}
    intent: Mapping[str, Any] = {}
    verdicts: dict[str, Mapping[str, str]] = {}
    for entry in journal.entries:
        args: Mapping[str, Any] = entry.stored_args if isinstance(entry.stored_args, dict) else {}
        if entry.kind == "intent":
            intent = {**args, "tool": entry.key}
        elif entry.kind in ("invoke", "delegate") and entry.error is None:
            if intent.get("action_id") not in doubts:
                done.append(_named(intent))
        elif entry.kind == "verdict" and args.get("executed") is True:
            verdicts[str(args.get("action_id"))] = {
                "target": entry.key,
                "action_id": str(args.get("action_id")),
            }
    known = {one["action_id"] for one in done}
    return done + [found for action_id, found in verdicts.items() if action_id not in known]


def _named(found: Mapping[str, Any]) -> Mapping[str, str]:
    return {"target": str(found.get("tool")), "action_id": str(found.get("action_id"))}


__all__ = ["Cancellation", "cancel"]
