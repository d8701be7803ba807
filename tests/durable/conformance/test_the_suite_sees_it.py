"""The suite fails for stores that break a promise: each of these does one thing wrong (`STO-10`)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentl.durable import FileStore, MemoryStore, PostgresStore, SQLiteStore
from agentl.durable.lease import Lease
from agentl.durable.requests import Decision, Extension, Filed, Request
from agentl.durable.stores.base import Meta, Store
from agentl.durable.stores.request_book import MemoryBook
from agentl.durable.testing import (
    RUN,
    DiskConformance,
    Place,
    ProcessConformance,
    RemoteConformance,
    RequestConformance,
    StoreConformance,
    TimedLeaseConformance,
)
from agentl.errors import LeaseHeld, StoreFailure
from tests.durable.conformance.places import InMemory, InPostgres, InSQLite, small_files
from tests.support.postgres import server

SEEN = (AssertionError, pytest.fail.Exception)


class AdmitsAll(MemoryStore):
    def append(self, raw: bytes, epoch: int, *, sync: bool) -> None:
        self.lines.append(raw.decode("utf-8"))


class SameEpoch(MemoryStore):
    def acquire(self, holder: str) -> Lease:
        self._epoch = 0
        self.lines, kept = [], self.lines
        lease = super().acquire(holder)
        self.lines = kept
        return lease


class ForgetsWhatWaits(MemoryStore):
    def append(self, raw: bytes, epoch: int, *, sync: bool) -> None:
        super().append(raw, epoch, sync=sync)
        if not sync:
            self.lines.pop()


class KeepsTheMetaItself(MemoryStore):
    def write_meta(self, meta: Meta, *, sync: bool = False) -> None:
        super().write_meta(meta, sync=sync)
        self.meta = meta


class NamesNobody(MemoryStore):
    def acquire(self, holder: str) -> Lease:
        try:
            return super().acquire(holder)
        except LeaseHeld:
            raise LeaseHeld(code="durable.lease_held", holder="?", since="?", epoch=0) from None


class KeepsOldRefusals(MemoryStore):
    def write_refusal(self, refusal: Mapping[str, Any] | None) -> None:
        if refusal is not None:
            super().write_refusal(refusal)


class TakesTheLeaseToLook(MemoryStore):
    def load(self) -> Any:
        if self._lease is None:
            self.acquire("reader")
        return super().load()


class LetsAnybodyWriteNotes(MemoryStore):
    def _driven(self) -> None:
        return


class Strips(MemoryStore):
    def append(self, raw: bytes, epoch: int, *, sync: bool) -> None:
        super().append(raw.replace(b"\\u0000", b""), epoch, sync=sync)


@pytest.mark.parametrize(
    ("broken", "test"),
    [
        (AdmitsAll, "test_an_epoch_that_is_not_its_own_writes_nothing"),
        (AdmitsAll, "test_a_lease_given_back_is_taken_over_with_a_later_epoch"),
        (SameEpoch, "test_epochs_only_grow"),
        (ForgetsWhatWaits, "test_a_durable_line_takes_along_those_that_wait"),
        (ForgetsWhatWaits, "test_many_lines_may_wait"),
        (KeepsTheMetaItself, "test_the_meta_is_replaced_whole"),
        (NamesNobody, "test_a_second_driver_is_refused_by_name"),
        (KeepsOldRefusals, "test_a_refusal_is_kept_until_it_is_taken_back"),
        (TakesTheLeaseToLook, "test_it_has_everything_a_store_needs"),
        (LetsAnybodyWriteNotes, "test_who_has_let_go_writes_nothing"),
        (Strips, "test_lines_come_back_byte_for_byte"),
    ],
)
def test_one_process(broken: type[MemoryStore], test: str) -> None:
    """STO-10: StoreConformance."""

    class Kept(InMemory):
        def store(self, run_id: str = RUN) -> MemoryStore:
            return self._runs.setdefault(run_id, broken())

    with pytest.raises(SEEN):
        getattr(StoreConformance(), test)(Kept())


class LastWins(MemoryBook):
    def decide(self, request_id: str, decision: Decision) -> Decision:
        self._rows[request_id] = replace(self._rows[request_id], decision=decision)
        return decision


class TellsNobody(MemoryBook):
    def decide(self, request_id: str, decision: Decision) -> Decision:
        super().decide(request_id, decision)
        return decision


class LooksAtNoClock(MemoryBook):
    def decide(self, request_id: str, decision: Decision) -> Decision:
        filed = self._rows[request_id]
        self._rows[request_id] = filed if filed.decision else replace(filed, decision=decision)
        return self._rows[request_id].decision or decision


class PostsAgain(MemoryBook):
    def post(self, request: Request) -> Filed:
        self._rows[request.request_id] = Filed(request)
        return self._rows[request.request_id]


class ForgetsExtensions(MemoryBook):
    def extend(self, request_id: str, extension: Extension) -> Filed:
        return replace(self._rows[request_id], extensions=(extension,))


class DropsFalsehoods(MemoryBook):
    def decide(self, request_id: str, decision: Decision) -> Decision:
        return super().decide(request_id, replace(decision, value=decision.value or None))


@pytest.mark.parametrize(
    ("broken", "test", "more"),
    [
        (LastWins, "test_the_first_decision_stands", ()),
        (LastWins, "test_of_many_at_once_one_stands", ()),
        (TellsNobody, "test_the_first_decision_stands", ()),
        (LooksAtNoClock, "test_behind_the_deadline_only_expiry_is_written", ()),
        (PostsAgain, "test_a_request_is_kept_whole_and_once", ()),
        (ForgetsExtensions, "test_an_extension_counts", ()),
        (DropsFalsehoods, "test_an_answer_comes_back_as_it_is", (False,)),
    ],
)
def test_requests(broken: type[MemoryBook], test: str, more: tuple[Any, ...]) -> None:
    """STO-10, PRK-1: RequestConformance."""

    class Kept(InMemory):
        def store(self, run_id: str = RUN) -> MemoryStore:
            found = super().store(run_id)
            if type(found.requests) is MemoryBook:
                found.requests = broken()
            return found

    with pytest.raises(SEEN):
        getattr(RequestConformance(), test)(Kept(), *more)


def test_runs_that_share_a_place() -> None:
    """STO-10, R58."""

    class OneForAll(InMemory):
        def store(self, run_id: str = RUN) -> MemoryStore:
            return super().store(run_id.casefold())

    with pytest.raises((*SEEN, LeaseHeld, StoreFailure)):
        StoreConformance().test_runs_do_not_see_each_other(OneForAll())


class LooksOnlyAtItself(SQLiteStore):
    """The epoch is compared with what the process remembers."""

    def _fence(self, connection: Any, epoch: int) -> None:
        assert epoch == self._epoch


class BelievesItIsDead(SQLiteStore):
    """Whoever does not renew is dead."""

    def acquire(self, holder: str) -> Lease:
        lease = super().acquire(holder)
        return Lease(lease.epoch, lease.holder, lease.since)


class NeverRenews(SQLiteStore):
    def renew(self) -> None:
        return


@pytest.mark.parametrize(
    ("broken", "test", "more"),
    [
        (LooksOnlyAtItself, "test_a_driver_that_was_superseded_writes_nothing", ["line"]),
        (LooksOnlyAtItself, "test_a_driver_that_was_superseded_writes_nothing", ["meta"]),
        (LooksOnlyAtItself, "test_a_driver_that_was_superseded_writes_nothing", ["refusal"]),
        (LooksOnlyAtItself, "test_a_clock_that_jumps_makes_no_two_drivers", []),
        (BelievesItIsDead, "test_a_lease_runs_out_and_its_driver_stays_unsure", []),
        (NeverRenews, "test_a_lease_that_is_renewed_does_not_run_out", []),
    ],
)
def test_leases_by_time(broken: type[SQLiteStore], test: str, more: list[str], quick_path: Path) -> None:
    """STO-10: TimedLeaseConformance."""

    class Kept(InSQLite):
        def store(self, run_id: str = RUN) -> SQLiteStore:
            return broken(self._path, run_id, clock=lambda: time.time() + self._ahead)

    with pytest.raises((*SEEN, StoreFailure)):
        getattr(TimedLeaseConformance(), test)(Kept(quick_path), *more)


class SaysItIsDurable(FileStore):
    """Entries go out with the next one, whatever was asked."""

    def append(self, raw: bytes, epoch: int, *, sync: bool) -> None:
        super().append(raw, epoch, sync=False)


class NoLock(FileStore):
    """The note is believed, and no lock is taken."""

    def _lock(self) -> int:
        descriptor = super()._lock()
        import fcntl

        from agentl.durable.stores import oslock

        fcntl.fcntl(descriptor, oslock._SET or 0, oslock._FLOCK.pack(fcntl.F_UNLCK, 0, 0, 0, 0))
        return descriptor


class GoesOnWhenFull(FileStore):
    """An entry that found no room is not the last."""

    def append(self, raw: bytes, epoch: int, *, sync: bool) -> None:
        try:
            super().append(raw, epoch, sync=sync)
        finally:
            self._broken = None


class StaysInTheChild(FileStore):
    def forked(self) -> None:
        return


class Files(Place):
    def __init__(self, folder: Path, broken: type[FileStore]) -> None:
        self.folder, self.broken = folder, broken

    def store(self, run_id: str = RUN) -> Store:
        return self.broken(self.folder / run_id)

    def full(self) -> Any:
        return small_files(300_000)


@pytest.mark.parametrize(
    ("broken", "test", "more"),
    [
        (SaysItIsDurable, "test_a_killed_driver_loses_nothing_that_was_durable", [1]),
        (NoLock, "test_two_drivers_in_the_same_instant", []),
        (StaysInTheChild, "test_a_forked_child_drives_nothing", []),
        (StaysInTheChild, "test_a_lease_ends_with_its_process_whoever_that_has_started", []),
    ],
)
def test_several_processes(broken: type[FileStore], test: str, more: list[Any], quick_path: Path) -> None:
    """STO-10: ProcessConformance."""
    with pytest.raises((*SEEN, LeaseHeld)):
        getattr(ProcessConformance(), test)(Files(quick_path, broken), *more)


def test_a_full_disk(quick_path: Path) -> None:
    """STO-10: DiskConformance."""
    with pytest.raises(SEEN):
        DiskConformance().test_a_full_disk_ends_the_run_and_loses_nothing(Files(quick_path, GoesOnWhenFull))


def test_a_lost_connection(database: str) -> None:
    """STO-10: RemoteConformance: an append whose answer was lost is believed to be there."""

    class BelievesItIsThere(PostgresStore):
        def _prove(self, link: Any, lines: Any) -> None:
            super()._prove(link, [])

    class Kept(InPostgres):
        def store(self, run_id: str = RUN) -> PostgresStore:
            return BelievesItIsThere(self._dsn, run_id)

    with pytest.raises(SEEN):
        RemoteConformance().test_a_connection_that_is_cut_while_nothing_happens(
            Kept(server(), database), waits=False
        )
