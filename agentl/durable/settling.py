"""An operator's verdict on an action of which nobody knows whether it took place (`DCL-5`, `RES-10`)."""

from __future__ import annotations

from typing import Any

from agentl.durable.recovery import DurableJournal
from agentl.durable.status import meta_of
from agentl.durable.stores.base import Store
from agentl.errors import DurableError
from agentl.journal.entry import dump
from agentl.kernel.steps import DISCARD, StepListener, Verdict
from agentl.values import encode, is_opaque_inside


def settle(
    store: Store,
    action_id: str,
    *,
    executed: bool,
    value: Any = None,
    by: str | None = None,
    key: bytes | str | None = None,
    steps: StepListener = DISCARD,
) -> dict[str, Any]:
    """Take the lease, put a verdict on a pending or doubtful action on record, give the lease back.

    Args:
        executed: the action took place, with ``value`` as its result (``{}`` when none is given).
        by: who says so.
        key: the chain key (`SEA-10`).
        steps: hears of the verdict once it is durable.

    Returns:
        ``target``, ``action_id``, ``executed`` and ``by``.

    Raises:
        DurableError: the journal is refused, or no such action waits; ``LeaseHeld`` when it is driven.
        StoreFailure: the store failed.
    """
    journal = DurableJournal.open(store, key=key)
    try:
        found = journal.index.settleable(action_id)
        if found is None:
            raise DurableError(code="durable.not_settleable", action_id=action_id)
        said = ({} if value is None else value) if executed else None
        stored = encode(said)
        if is_opaque_inside(said):
            raise DurableError(code="durable.verdict_value", action_id=action_id)
        args = {
            "action_id": action_id,
            "at": journal.clock(),
            "by": by or "unknown",
            "executed": executed,
        }
        journal.append_verdict(found["tool"], args, f'"value":{dump(stored)}')
        store.write_meta(meta_of(journal, held=False), sync=True)
        if steps is not DISCARD:
            steps(Verdict(action_id, executed))
    finally:
        journal.release()
    return {"target": found["tool"], "action_id": action_id, "executed": executed, "by": args["by"]}
