"""A run in a directory: one line per entry, synchronised where `DUR-6` says so (`STO-3`).

Entries that need not be durable yet wait in memory and go out in one write with the next one
that does. The file is laid out in zero bytes ahead of the lines: a synchronisation then has
no new file size to record, which is most of its cost. The zeros are cut off when the driver
lets go; after a crash they are a torn tail (`STO-5`).
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from agentl.durable.lease import Lease, Liveness, may_append, next_epoch, shown
from agentl.durable.stores import oslock
from agentl.durable.stores.base import Meta, failing_as, failure, utc_now
from agentl.durable.stores.direct import DirectTail, open_apart, whole_blocks
from agentl.durable.stores.file_requests import FileBook
from agentl.durable.stores.forks import watch
from agentl.durable.stores.process import liveness_of
from agentl.durable.stores.torn import Division, divide
from agentl.errors import LeaseHeld, LeaseLost, StoreFailure

REQUESTS: Final = "requests"
FIRST_LAYOUT: Final = 32 * 1024
LAYOUT: Final = 256 * 1024
# Entries that wait are written out, unsynchronised, when they get this many bytes.
WAITING: Final = 256 * 1024
# How often, and how long apart, a refused driver looks for the name of one that has just begun.
LOOKS: Final = 20
LOOK_SECONDS: Final = 0.01
_DRIVER: Final = re.compile(rb'"kind": ?"(?:open|resume)"')
_fdatasync: Final = getattr(os, "fdatasync", os.fsync)


class FileStore:
    """One run in ``directory``: ``wal.jsonl``, ``meta.json``, ``lease.json`` (`STO-3`).

    Nothing is touched before the lease is taken. The directory is created with mode 0700
    (`LEX: LLM-5`): the journal holds what the program saw.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)
        self.wal = self.directory / "wal.jsonl"
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

    @property
    def name(self) -> str:
        """The path of the journal file."""
        return str(self.wal)

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

    def _read_json(self, name: str) -> dict[str, Any] | None:
        return read_json(self.directory / name)

    def exists(self) -> bool:
        """Whether there is a journal file."""
        return self.wal.is_file()

    def held(self) -> Lease | None:
        """The lease of the process that drives the run now, or ``None``."""
        try:
            descriptor = os.open(self.wal, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            return self._note() if oslock.is_held(descriptor) else None
        finally:
            os.close(descriptor)

    def _note(self) -> Lease:
        return read_lease_note(self.directory)

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
            division = self._division = self._divide()
            self._end, self._laid_out = division.end, division.end + division.torn
            self._unfinished = division.unfinished
            drivers = sum(1 for line in division.lines if _DRIVER.search(line))
            lease = Lease(next_epoch(drivers), holder, utc_now())
            self._epoch = lease.epoch
            self._replace(
                "lease.json", {"epoch": lease.epoch, "holder": holder, "since": lease.since}, sync=True
            )
        except BaseException:
            self._let_go()
            raise
        return lease

    def _lock(self) -> int:
        looks = 0
        while True:
            descriptor = open_apart(self.wal, os.O_CREAT)
            try:
                if not oslock.take(descriptor):
                    looks += 1
                    self._refuse(patient=looks < LOOKS)
                # The file that is locked must be the one that the name leads to.
                elif os.path.samestat(os.fstat(descriptor), self.wal.stat()):
                    return descriptor
            except FileNotFoundError:
                pass
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)

    def _refuse(self, *, patient: bool) -> None:
        """Refuse by name. Whoever has just got the lock may not have noted down yet that it is his."""
        note = self._note()
        if patient and (note.holder == "?" or liveness_of(note.holder)[0] is Liveness.DEAD):
            time.sleep(LOOK_SECONDS)
            return
        raise LeaseHeld(
            code="durable.lease_held", holder=shown(note.holder), since=note.since, epoch=note.epoch
        )

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

    def refusal(self) -> Mapping[str, Any] | None:
        """The content of ``refusal.json``."""
        return self._read_json("refusal.json")

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

    def _replace(self, name: str, data: Mapping[str, Any], *, sync: bool) -> None:
        content = json.dumps(data, ensure_ascii=True, indent=2).encode("ascii") + b"\n"
        temporary = self.directory / f"{name}.tmp"
        with failing_as("write"):
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            try:
                view = memoryview(content)
                while view:
                    view = view[os.write(descriptor, view) :]
                if sync:
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)
            temporary.replace(self.directory / name)
            if sync:
                self._sync_directory()

    def _sync_directory(self) -> None:
        descriptor = os.open(self.directory, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

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


def read_json(file: Path) -> dict[str, Any] | None:
    """The JSON object in a file; ``None`` when there is no file, or something else in it.

    Raises:
        StoreFailure: the file cannot be read.
    """
    with failing_as("read"):
        try:
            content = file.read_bytes()
        except FileNotFoundError:
            return None
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def read_lease_note(directory: Path) -> Lease:
    """What ``lease.json`` says of the driver; it is a note for people and decides nothing (`STO-6`)."""
    note = read_json(directory / "lease.json") or {}
    epoch = note.get("epoch")
    holder, since = str(note.get("holder", "?")), str(note.get("since", "?"))
    return Lease(epoch if isinstance(epoch, int) else 0, holder, since)
