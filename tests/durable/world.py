"""An outside world for crash tests: a ledger file that only the tools write, and a host over it.

Results depend on the ledger alone, and each effect is found again by its key: what a tool
answers is then the same in a clean run and after any crash.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agentl import Host, MockLLM, Symbol, parse_file
from agentl.durable import NOT_EXECUTED
from agentl.errors import KernelAbort
from agentl.kernel import current_action

PROGRAM = parse_file(str(Path(__file__).parent / "programs" / "every_boundary.agent"))
TICKS = 2
ACTIONS = 6
RUN_ID = "crash"
PROMISES = ("idempotent", "reconcilable", "plain")


class Died(KernelAbort):
    """Stands for the death of the process in tests that stay in one process."""


class Ledger:
    """The effects that really took place, one line each, in a file of their own."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def rows(self) -> list[dict[str, Any]]:
        if not self.path.exists():
            return []
        return [json.loads(line) for line in self.path.read_text("ascii").splitlines()]

    def book(self, key: str, target: str, *, once: bool) -> str:
        """Book an effect; with ``once`` a known key is not booked again, as a good service does."""
        if not once or key not in [row["key"] for row in self.rows()]:
            with self.path.open("ab", buffering=0) as file:
                file.write(json.dumps({"key": key, "target": target}).encode("ascii") + b"\n")
                os.fsync(file.fileno())
        return f"ref-{key[:6]}"

    def of(self, key: str) -> list[dict[str, Any]]:
        return [row for row in self.rows() if row["key"] == key]


class QueueHost(Host):
    """A host over a persistent queue with one event: it is given again until it is acknowledged."""

    def __init__(self, acknowledged: Path) -> None:
        super().__init__()
        self.acknowledged = acknowledged

    def pending(self) -> list[dict[str, Any]]:
        if self.acknowledged.exists():
            return []
        return [{"id": "alarm-1", "source": "alarm", "payload": {"level": 3}}]

    def acknowledge(self, ids: Any) -> None:
        if "alarm-1" in ids:
            self.acknowledged.touch()


def host_for(ledger: Ledger, promise: str, after_effect: Callable[[str], None] | None = None) -> Host:
    """A host that keeps one kind of promise for every target; ``after_effect`` may kill the process."""
    host = QueueHost(ledger.path.with_suffix(".acknowledged"))
    host.now = lambda: datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
    host.sleep = lambda _seconds: None
    idempotent = promise == "idempotent"

    def effect(target: str) -> str:
        action = current_action()
        assert action is not None
        reference = ledger.book(action.idempotency_key, target, once=idempotent)
        if after_effect is not None:
            after_effect(target)
        return reference

    @host.sensor("account.balance")
    def balance() -> int:
        return 100

    @host.tool("transfer", idempotent=idempotent)
    def transfer(amount: float, to: str) -> dict[str, Any]:
        return {"id": effect("transfer")}

    @host.tool("notify", idempotent=idempotent)
    def notify(text: str) -> dict[str, Any]:
        effect("notify")
        return {"sent": Symbol("yes")}

    @host.subagent("auditor", idempotent=idempotent)
    def auditor(payload: dict[str, Any]) -> dict[str, Any]:
        return {"opinion": effect("auditor")}

    if promise == "reconcilable":

        def found(answer: Callable[[str], Any]) -> Callable[[Mapping[str, Any], Any], Any]:
            def reconcile(_args: Mapping[str, Any], context: Any) -> Any:
                key = context.idempotency_key
                return answer(f"ref-{key[:6]}") if ledger.of(key) else NOT_EXECUTED

            return reconcile

        host.reconciler("transfer")(found(lambda reference: {"id": reference}))
        host.reconciler("notify")(found(lambda _reference: {"sent": Symbol("yes")}))
        host.reconciler("auditor", kind="delegate")(found(lambda reference: {"opinion": reference}))

    host.approver = lambda _request: True
    host.asker = lambda *_question: Symbol("alice")
    return host


def model() -> MockLLM:
    return MockLLM(
        {
            "classify": {"category": "rent", "share": 0.25},
            "urgent": {"urgent": {"value": "yes", "p": 0.9}},
            "next": {"next": "pay"},
        },
        plan_choice="pay",
    )
