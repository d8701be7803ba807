"""A run in memory, for tests (`STO-2`)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from agentl.durable.lease import Lease, may_append, next_epoch, shown
from agentl.durable.stores.base import Meta, utc_now
from agentl.durable.stores.request_book import MemoryBook
from agentl.errors import LeaseHeld, LeaseLost


class MemoryStore:
    """Keeps ``lines`` (text, one entry each) and ``meta`` as long as the object lives (`STO-2`)."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.meta: Meta | None = None
        self.requests = MemoryBook()
        self._lease: Lease | None = None
        self._epoch = 0
        self._refusal: Mapping[str, Any] | None = None

    @property
    def name(self) -> str:
        """What messages call it."""
        return "memory"

    def load(self) -> tuple[Meta | None, Sequence[bytes | str]]:
        """Meta and lines."""
        return self.meta, list(self.lines)

    def acquire(self, holder: str) -> Lease:
        """Become the one driver.

        Raises:
            LeaseHeld: there is one.
        """
        if self._lease is not None:
            raise LeaseHeld(
                code="durable.lease_held",
                holder=shown(self._lease.holder),
                since=self._lease.since,
                epoch=self._lease.epoch,
            )
        drivers = sum('"kind":"open"' in line or '"kind":"resume"' in line for line in self.lines)
        self._epoch = next_epoch(max(drivers, self._epoch))
        self._lease = Lease(self._epoch, holder, utc_now())
        return self._lease

    def repair(self) -> None:
        """There is no torn tail in memory."""

    def append(self, raw: bytes, epoch: int, *, sync: bool) -> None:  # noqa: ARG002 - memory is never behind
        """Add one line.

        Raises:
            LeaseLost: ``epoch`` is not the one of the driver.
        """
        if self._lease is None or not may_append(epoch, self._epoch):
            holder = shown(self._lease.holder) if self._lease is not None else "?"
            raise LeaseLost(code="durable.lease_lost", own=epoch, holder=holder)
        self.lines.append(raw.decode("utf-8"))

    def write_meta(self, meta: Meta, *, sync: bool = False) -> None:  # noqa: ARG002 - as above
        """Keep a copy of the meta.

        Raises:
            LeaseLost: nobody drives.
        """
        self._driven()
        self.meta = json.loads(json.dumps(meta))

    def _driven(self) -> None:
        if self._lease is None:
            raise LeaseLost(code="durable.lease_lost", own=self._epoch, holder="?")

    def release(self, epoch: int) -> None:
        """Give the lease back."""
        if self._lease is not None and self._lease.epoch == epoch:
            self._lease = None

    def close(self) -> None:
        """Release the lease."""
        self._lease = None

    def held(self) -> Lease | None:
        """The lease that is held."""
        return self._lease

    def refusal(self) -> Mapping[str, Any] | None:
        """The last refusal of a resume."""
        return self._refusal

    def write_refusal(self, refusal: Mapping[str, Any] | None) -> None:
        """Keep or forget a refusal.

        Raises:
            LeaseLost: nobody drives.
        """
        self._driven()
        self._refusal = refusal
