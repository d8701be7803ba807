"""Hold a run against the protocol of the kernel: ``agentl durable validate``."""

from __future__ import annotations

from typing import Any, Final

from agentl.durable.allowed import first_wrong
from agentl.durable.conformance import lines_of
from agentl.durable.derive import steps_of
from agentl.durable.recovery import DurableJournal
from agentl.durable.stores.base import Store
from agentl.errors import DurableError

KINDS: Final = (
    "Decide", "Approve", "Mint", "Intent", "Dispatch", "Settle", "Result", "Verdict", "Crash", "Resume",
    "Close",
)  # fmt: skip


def validate(store: Store, *, key: bytes | str | None = None) -> dict[str, Any]:
    """Whether the steps that a journal tells of are allowed by the model; no lease is taken.

    Returns:
        ``run_id``, the number of ``steps``, and ``kinds``: how often each step of the model occurs.

    Raises:
        DurableError: the journal is refused (`DRF-1`), holds no action, or a step is not allowed.
        StoreFailure: the store cannot be read.
    """
    journal = DurableJournal.open(store, key=key, write=False)
    lines = lines_of(steps_of(journal.entries))
    wrong = first_wrong(lines)
    if wrong is not None:
        line = lines[wrong]
        step = f"{line.step} {line.to}".strip()
        raise DurableError(code="durable.steps_wrong", file=store.name, step=step, action=line.action)
    if not any(line.step == "Intent" for line in lines):
        raise DurableError(code="durable.steps_none", file=store.name)
    told = [line.step for line in lines[1:]]
    return {
        "run_id": journal.index.run_id,
        "steps": len(told),
        "kinds": {kind: told.count(kind) for kind in KINDS},
    }
