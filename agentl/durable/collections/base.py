"""What a collection of durable runs must offer, and what it notes of each without reading it (`OPS-2`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from agentl.durable.lease import Lease
from agentl.durable.marks import Mark
from agentl.durable.requests import Filed
from agentl.durable.states import COMPLETED, INTERRUPTED, NEW, REFUSED, RUNNING, WAITING
from agentl.durable.stores.base import Meta, Store


@dataclass(frozen=True, slots=True)
class RunNote:
    """One run, from the notes beside its journal (`OPS-2`, `OPS-3`).

    Attributes:
        run_id: the id as it was given.
        address: how a command line names this run.
        meta: the notes for people (`DUR-10`), or ``None`` when there are none.
        lease: who drives the run now, or ``None``.
        entries: how many entries the journal has, as its end tells; ``None`` when that is not known. More
            than ``meta`` counts: the notes are behind.
        refusal: the last refusal of a resume that still counts (`DUR-13`).
        waiting: the open requests of the run (`PRK-1`).
        mark: why nobody may drive the run here, or ``None``.
    """

    run_id: str
    address: str
    meta: Meta | None
    lease: Lease | None
    entries: int | None = None
    refusal: Mapping[str, Any] | None = None
    waiting: tuple[Filed, ...] = ()
    mark: Mapping[str, Any] | None = None

    @property
    def status(self) -> str:
        """The status of `DUR-13` as the notes tell it, which may be behind the chain (`OPS-3`)."""
        if self.mark is not None:
            return str(self.mark.get("mark", "?"))
        meta = self.meta or {}
        if meta.get("close") and not self.behind:
            return COMPLETED
        if self.lease is not None:
            return RUNNING
        if self.refusal is not None:
            return REFUSED
        if self.waiting:
            return WAITING
        known = self.entries if self.entries is not None else meta.get("entries")
        return NEW if type(known) is int and known <= 1 else INTERRUPTED

    @property
    def behind(self) -> int:
        """How many entries of the journal the notes do not know; 0 when that is not known."""
        noted = (self.meta or {}).get("entries")
        if self.entries is None:
            return 0
        return max(self.entries - (noted if type(noted) is int else 0), 0)

    @property
    def last_tick(self) -> int:
        """The last tick in the notes."""
        tick = (self.meta or {}).get("last_tick")
        return tick if type(tick) is int else 0

    @property
    def created(self) -> str | None:
        """When the run began, as its journal says."""
        opened = (self.meta or {}).get("open")
        created = opened.get("created") if isinstance(opened, Mapping) else None
        return created if isinstance(created, str) else None

    @property
    def in_doubt(self) -> tuple[str, ...]:
        """The ids of the doubtful actions in the notes."""
        found = (self.meta or {}).get("in_doubt")
        return tuple(str(one) for one in found) if isinstance(found, list) else ()


@runtime_checkable
class KeptStore(Store, Protocol):
    """A store whose run can leave its place and arrive in another (`OPS-6` to `OPS-8`)."""

    def exists(self) -> bool:
        """Whether there are entries of the run."""

    def mark(self) -> Mark | None:
        """Why nobody may drive the run; ``acquire`` looks at it in the step in which it gives a lease."""

    def write_mark(self, mark: Mark) -> None:
        """Put a mark down, durable; only the driver does."""

    def erase(self, mark: Mark) -> None:
        """Put a mark down and remove all that it stands for; only the driver does."""

    def receive(self, lines: Sequence[bytes], meta: Meta, mark: Mark, epoch: int) -> None:
        """Take a run in, under a mark, where none is; ``epoch`` is the greatest that it has had."""

    def settle_in(self) -> None:
        """Take the mark of a run that was arriving away."""

    def remove_marked(self, mark: Mark | None) -> None:
        """Remove a run that is marked, and leave ``mark`` or nothing."""


@runtime_checkable
class Collection(Protocol):
    """All runs of a place (`OPS-2`)."""

    @property
    def name(self) -> str:
        """The address of the place, without a password."""

    def exists(self) -> bool:
        """Whether the place is there; a run that is begun there makes it.

        Raises:
            StoreFailure: what is there is no such place.
        """

    def ids(self) -> list[str]:
        """The ids of all runs, sorted; those that only a tombstone remembers are left out."""

    def store(self, run_id: str) -> KeptStore:
        """The store of one run, there or not yet."""

    def address(self, run_id: str) -> str:
        """How a command line names one run."""

    def store_of(self, note: RunNote) -> KeptStore:
        """The store of the run of a note; in a directory two runs may have one id."""

    def reclaim(self) -> None:
        """Give the room of purged runs back to the system, where that disturbs nobody (`OPS-7`)."""

    def marks(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Every mark of the place with the address of its run (`OPS-6`)."""

    def notes(self) -> Iterator[RunNote]:
        """A note of every run, in the order of ids; no chain is read (`OPS-3`)."""
