"""The store of tests: text lines, a copy of the meta, one driver (STO-2)."""

from __future__ import annotations

import pytest

from agentl.durable import MemoryStore
from agentl.errors import LeaseHeld, LeaseLost


def test_lines_and_meta_are_what_was_written() -> None:
    """`STO-2`: ``lines`` in their order as text; ``meta`` a copy, which later changes do not reach."""
    store = MemoryStore()
    assert (store.lines, store.meta) == ([], None)
    lease = store.acquire("me pid 1 start 1 space a")
    store.append("première".encode(), lease.epoch, sync=True)
    store.append(b"second", lease.epoch, sync=False)
    meta = {"run_id": "r", "limit": {"ticks": 1}}
    store.write_meta(meta)
    meta["limit"] = {"ticks": 2}
    assert store.lines == ["première", "second"]
    assert store.meta == {"run_id": "r", "limit": {"ticks": 1}}
    assert store.load() == (store.meta, store.lines)


def test_one_driver_at_a_time_and_each_has_a_later_epoch() -> None:
    """`STO-2`, `STO-6`: a second one is refused, and the first cannot write once it gave the run back."""
    store = MemoryStore()
    first = store.acquire("me pid 1 start 1 space a")
    with pytest.raises(LeaseHeld):
        store.acquire("you pid 2 start 2 space a")
    store.release(first.epoch)
    second = store.acquire("you pid 2 start 2 space a")
    assert second.epoch > first.epoch
    with pytest.raises(LeaseLost):
        store.append(b"late", first.epoch, sync=True)
    assert store.lines == []
