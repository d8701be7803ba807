"""I9: a crash followed by a resume does not double an effect (INV-9, DUR-2, RES-6)."""

from __future__ import annotations

from typing import Any

import pytest

from agentl.durable import NOT_EXECUTED, MemoryStore
from tests.support.programs import Ledger, durable, host_of, payments


class Killed(KeyboardInterrupt):
    """Stands for the death of the process: nothing may be recorded after it."""


def killed_in_the_tool(store: Any, ledger: Ledger, **promises: Any) -> None:
    with pytest.raises(Killed):
        durable(payments(), host_of(ledger, die_after=Killed, **promises), store)
    assert len(ledger.booked) >= 1


def test_an_idempotent_tool_books_exactly_once() -> None:
    """INV-9: however often the process dies."""
    store, ledger = MemoryStore(), Ledger(honours_keys=True)
    for _ in range(3):
        killed_in_the_tool(store, ledger, idempotent=True)
    run = durable(payments(), host_of(ledger, idempotent=True), store)
    assert len(ledger.booked) == 1
    assert run.status == "completed"


def test_a_reconcilable_tool_books_exactly_once() -> None:
    """INV-9: whether it had taken place or not."""
    for took_place in (True, False):
        store, ledger = MemoryStore(), Ledger()

        def reconcilable(host: Any, ledger: Ledger = ledger) -> Any:
            @host.reconciler("transfer")
            def find(args: Any, context: Any) -> Any:
                known = any(key == context.idempotency_key for key, _ in ledger.booked)
                return {"ok": True} if known else NOT_EXECUTED

            return host

        with pytest.raises(Killed):
            durable(payments(), reconcilable(host_of(ledger, die_after=Killed)), store)
        if not took_place:
            ledger.booked.clear()
        run = durable(payments(), reconcilable(host_of(ledger)), store)
        assert len(ledger.booked) == 1
        assert run.runtime.state.get("tools.transfer.in_doubt") is False


def test_a_tool_without_promise_books_at_most_once_and_is_declared_in_doubt() -> None:
    """INV-9, RES-6: never guessed, never lost in silence."""
    store, ledger = MemoryStore(), Ledger()
    killed_in_the_tool(store, ledger)
    run = durable(payments(), host_of(ledger), store)
    assert len(ledger.booked) == 1
    assert run.runtime.state.get("tools.transfer.in_doubt") is True


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_crash_at_each_write_of_the_journal_doubles_nothing(when: str) -> None:
    """INV-9, DUR-6: just before and just after every append."""
    clean = MemoryStore()
    durable(payments(), host_of(Ledger(honours_keys=True), idempotent=True), clean)
    for number in range(len(clean.lines)):
        store, ledger = MemoryStore(), Ledger(honours_keys=True)
        original, count = store.append, iter(range(1000))

        def append(
            *args: Any, _original: Any = original, _count: Any = count, _at: int = number, **more: Any
        ) -> Any:
            now = next(_count) == _at
            if now and when == "before":
                raise Killed
            result = _original(*args, **more)
            if now:
                raise Killed
            return result

        store.append = append  # type: ignore[method-assign]
        with pytest.raises(Killed):
            durable(payments(), host_of(ledger, idempotent=True), store)
        store.append = original  # type: ignore[method-assign]
        run = durable(payments(), host_of(ledger, idempotent=True), store)
        assert run.status == "completed"
        assert len(ledger.booked) == 1, f"write {number}"
