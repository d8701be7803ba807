"""Cancellation with an account: future work stops, and what was done is named, not undone (`TSK-9`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentl.durable.recovery import DurableJournal
from agentl.durable.status import meta_of
from agentl.durable.stores.base import Store
from agentl.durable.stores.request_book import withdraw_open
from agentl.durable.timeline import timeline
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
    """The actions that took place, also by an operator's word or a late answer of the world."""
    done: dict[str, Mapping[str, str]] = {}
    for step in timeline(journal):
        if step.outcome == "done" or step.facts.get("executed") is True:
            found = {name: str(step.facts[name]) for name in ("target", "action_id")}
            done.setdefault(found["action_id"], found)
    return list(done.values())


def _named(found: Mapping[str, Any]) -> Mapping[str, str]:
    return {"target": str(found.get("tool")), "action_id": str(found.get("action_id"))}


__all__ = ["Cancellation", "cancel"]
