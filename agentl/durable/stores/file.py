"""A run in a directory: one line per entry, synchronised where `DUR-6` says so (`STO-3`).

Entries that need not be durable yet wait in memory and go out in one write with the next one
that does. The file is laid out in zero bytes ahead of the lines: a synchronisation then has
no new file size to record, which is most of its cost. The zeros are cut off when the driver
lets go; after a crash they are a torn tail (`STO-5`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from agentl.durable.lease import Lease, may_append, next_epoch, shown
from agentl.durable.marks import Mark, refuse_marked
from agentl.durable.stores.base import Meta, failing_as, failure, utc_now
from agentl.durable.stores.direct import DirectTail, whole_blocks
from agentl.durable.stores.file_requests import FileBook
from agentl.durable.stores.forks import watch
from agentl.durable.stores.run_directory import MARK, REQUESTS, RunDirectory
from agentl.durable.stores.torn import Division, divide
from agentl.errors import LeaseLost, StoreFailure

FIRST_LAYOUT: Final = 32 * 1024
LAYOUT: Final = 256 * 1024
# Entries that wait are written out, unsynchronised, when they get this many bytes.
WAITING: Final = 256 * 1024
# As an entry begins; the same words further on may be what a sensor said.
_DRIVER: Final = re.compile(rb'\{"seq": ?[0-9]+, ?"kind": ?"(?:open|resume)"')
_EPOCH: Final = re.compile(rb'"epoch": ?([0-9]{1,18})[,}]')
_fdatasync: Final = getattr(os, "fdatasync", os.fsync)


class FileStore(RunDirectory):
    """One run in ``directory``: ``wal.jsonl``, ``meta.json``, ``lease.json`` (`STO-3`).

    Nothing is touched before the lease is taken. The directory is created with mode 0700
    (`LEX: LLM-5`): the journal holds what the program saw.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        super().__init__(directory)
        self.requests = FileBook(self.directory / REQUESTS)
        self._descriptor = -1
        self._epoch = 0
        self._end = 0
        self._laid_out = 0
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._broken: StoreFailure | None = None
        self._unfinished = False
        self._changed = False
        self._division: Division | None = None
        self._tail: DirectTail | None = None

    # --- reading -----------------------------------------------------------------------

    def load(self) -> tuple[Meta | None, Sequence[bytes | str]]:
        """Meta and lines; a torn tail is left out, and left in the file.

        Raises:
            StoreFailure: the directory cannot be read.
        """
        # What taking the lease has read is handed over once, and not kept beside the journal.
        division, self._division = self._division or self._divide(), None
        return self._read_json("meta.json"), division.lines

    def _divide(self) -> Division:
        with failing_as("read"):
            try:
                return divide(self.wal.read_bytes())
            except FileNotFoundError:
                return Division([], 0, 0, False)

    # --- driving -----------------------------------------------------------------------

    def acquire(self, holder: str) -> Lease:
        """Take the lock of the operating system and note down who has it.

        Raises:
            LeaseHeld: another driver has it.
            StoreFailure: the directory cannot be written.
        """
        with failing_as("open"):
            fresh = not self.wal.exists()
            if fresh:
                refuse_marked(self.mark(), self.name)
                self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = self._lock()
            if fresh:
                self._sync_directory()
        self._descriptor = descriptor
        self._tail = DirectTail(self.wal, descriptor)
        watch(self)
        self._broken = None
        self._changed = False
        self._waiting.clear()
        self._waiting_bytes = 0
        try:
            refuse_marked(self.mark(), self.name)
            division = self._division = self._divide()
            self._end, self._laid_out = division.end, division.end + division.torn
            self._unfinished = division.unfinished
            lease = Lease(next_epoch(_latest_epoch(division.lines)), holder, utc_now())
            self._epoch = lease.epoch
            self._replace(
                "lease.json", {"epoch": lease.epoch, "holder": holder, "since": lease.since}, sync=True
            )
        except BaseException:
            self._let_go()
            raise
        return lease

    def forked(self) -> None:
        """In a forked child: the lock stays with the parent, and nothing is written here (`STO-6`)."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1
        self._forget_tail()
        self._waiting = []

    def repair(self) -> None:
        """Cut a torn tail off, and end an unfinished last line.

        Raises:
            StoreFailure: the file cannot be written.
        """
        self._check(self._epoch)
        self._changed = True
        if self._laid_out == self._end and not self._unfinished:
            return
        try:
            os.ftruncate(self._descriptor, self._end)
            self._laid_out = self._end
            if self._unfinished:
                self._write(b"\n")
                self._unfinished = False
            os.fsync(self._descriptor)
        except OSError as error:
            raise self._break("repair", error) from error

    def append(self, raw: bytes, epoch: int, *, sync: bool) -> None:
        """Add one line; with ``sync`` it is on the disk on return, with all that waited.

        Raises:
            LeaseLost: ``epoch`` is not the one of this driver.
            StoreFailure: the line could not be written; nothing is accepted any more.
        """
        self._check(epoch)
        self._waiting.append(raw)
        self._waiting_bytes += len(raw) + 1
        if not sync and self._waiting_bytes < WAITING:
            return
        try:
            self._flush()
            if sync:
                _fdatasync(self._descriptor)
        except OSError as error:
            raise self._break("append", error) from error

    def _flush(self) -> None:
        if not self._waiting:
            return
        self._waiting.append(b"")
        block = b"\n".join(self._waiting)
        self._waiting.clear()
        self._waiting_bytes = 0
        if whole_blocks(self._end + len(block)) > self._laid_out:
            self._lay_out(len(block))
        self._write(block)

    def _lay_out(self, needed: int) -> None:
        # A full disk, or a limit on file sizes, must fail the line itself, not the room for later ones.
        size = max(needed, FIRST_LAYOUT if self._end < FIRST_LAYOUT else LAYOUT)
        try:
            written = os.pwrite(self._descriptor, bytes(size), self._end)
        except OSError:
            written = 0
        self._laid_out = self._end + written

    def _write(self, block: bytes) -> None:
        self._changed = True
        if self._tail is not None and self._tail.write(block, self._end, self._laid_out):
            self._end += len(block)
            return
        written = os.pwrite(self._descriptor, block, self._end)
        self._end += written
        while written < len(block):
            block = block[written:]
            written = os.pwrite(self._descriptor, block, self._end)
            self._end += written
        if self._end > self._laid_out:
            self._laid_out = self._end

    def _check(self, epoch: int) -> None:
        if self._broken is not None:
            raise self._broken
        if self._descriptor < 0 or not may_append(epoch, self._epoch):
            raise LeaseLost(code="durable.lease_lost", own=epoch, holder=shown(self._note().holder))

    def _break(self, operation: str, error: OSError) -> StoreFailure:
        self._broken = failure(operation, error)
        return self._broken

    # --- notes beside the journal ------------------------------------------------------

    def write_meta(self, meta: Meta, *, sync: bool = False) -> None:
        """Replace ``meta.json`` in one step; with ``sync`` durably.

        Raises:
            StoreFailure: it could not be written.
        """
        self._check(self._epoch)
        try:
            self._replace("meta.json", meta, sync=sync)
        except StoreFailure as error:
            self._broken = error
            raise

    def write_refusal(self, refusal: Mapping[str, Any] | None) -> None:
        """Replace or remove ``refusal.json``.

        Raises:
            LeaseLost: this store does not drive the run.
            StoreFailure: it could not be written.
        """
        self._check(self._epoch)
        if refusal is not None:
            self._replace("refusal.json", refusal, sync=True)
            return
        with failing_as("write"):
            (self.directory / "refusal.json").unlink(missing_ok=True)

    def write_mark(self, mark: Mark) -> None:
        """Put the mark down, durable; only the driver does, and nobody drives the run afterwards.

        Raises:
            StoreFailure: it could not be written.
        """
        self._check(self._epoch)
        self._replace(MARK, mark, sync=True)

    def erase(self, mark: Mark) -> None:
        """Put the mark down, then remove all that it stands for; only the driver does (`OPS-7`).

        Raises:
            StoreFailure: something could not be removed; the mark stands, and the same again goes on.
        """
        self.write_mark(mark)
        self._waiting, self._changed = [], False
        self._clear(MARK)

    # --- letting go --------------------------------------------------------------------

    def release(self, epoch: int) -> None:
        """Write what waits, cut the laid out zeros off, give the lock back.

        After a failure nothing more is written: the next driver repairs the tail. A file that was
        only read stays as it was, byte for byte: a refused journal is evidence.

        Raises:
            StoreFailure: what waited could not be written.
        """
        if self._descriptor < 0 or epoch != self._epoch:
            return
        try:
            if self._broken is None and (self._changed or self._waiting):
                self._flush()
                if self._laid_out > self._end:
                    os.ftruncate(self._descriptor, self._end)
                os.fsync(self._descriptor)
            # Else the next driver would seem to be this one until it has noted down its own name.
            (self.directory / "lease.json").unlink(missing_ok=True)
        except OSError as error:
            raise self._break("close", error) from error
        finally:
            self._let_go()

    def _let_go(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        self._division = None
        self._forget_tail()
        self._waiting = []
        if descriptor >= 0:
            os.close(descriptor)

    def _forget_tail(self) -> None:
        tail, self._tail = self._tail, None
        if tail is not None:
            tail.close()

    def close(self) -> None:
        """Release the lease if it is still held."""
        if self._descriptor >= 0:
            self.release(self._epoch)


def _latest_epoch(lines: Sequence[bytes]) -> int:
    """The greatest epoch so far: the number of drivers, or what one wrote that came from elsewhere."""
    drivers = [line for line in lines if _DRIVER.match(line)]
    written = [int(found[1]) for line in drivers if (found := _EPOCH.search(line)) is not None]
    return max([len(drivers), *written])
