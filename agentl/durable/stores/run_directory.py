"""The files of one run in a directory, apart from the driving: notes, marks, the lock (`STO-3`, `OPS-6`)."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from agentl.durable.lease import Lease, Liveness, shown
from agentl.durable.marks import Mark, refuse_not_arriving, refuse_occupied, refuse_unmarked
from agentl.durable.stores import oslock
from agentl.durable.stores.base import Meta, failing_as
from agentl.durable.stores.direct import open_apart
from agentl.durable.stores.process import liveness_of
from agentl.errors import LeaseHeld

# How often, and how long apart, a refused driver looks for the name of one that has just begun.
LOOKS: Final = 20
LOOK_SECONDS: Final = 0.01
REQUESTS: Final = "requests"
MARK: Final = "mark.json"
# In the order in which they are removed: as long as the journal is there, something is left to be removed.
OWN: Final = ("meta.json", "lease.json", "refusal.json", "wal.jsonl", MARK)


class RunDirectory:
    """The directory of one run: ``wal.jsonl`` and what stands beside it."""

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)
        self.wal = self.directory / "wal.jsonl"

    @property
    def name(self) -> str:
        """The path of the journal file."""
        return str(self.wal)

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

    def refusal(self) -> Mapping[str, Any] | None:
        """The content of ``refusal.json``."""
        return self._read_json("refusal.json")

    # --- leaving and arriving ----------------------------------------------------------

    def mark(self) -> Mark | None:
        """The content of ``mark.json``: why nobody may drive the run here (`OPS-6`).

        One that cannot be read is a mark all the same: a run that has left must not be driven because the
        note of it is damaged.
        """
        found = self._read_json(MARK)
        if found:
            return found
        return {"run_id": self.directory.name} if os.path.lexists(self.directory / MARK) else None

    def _clear(self, *kept: str) -> None:
        with failing_as("write"):
            for name in (*OWN, *(f"{name}.tmp" for name in OWN)):
                if name not in kept:
                    (self.directory / name).unlink(missing_ok=True)
            if (self.directory / REQUESTS).is_dir():
                shutil.rmtree(self.directory / REQUESTS)
            self._sync_directory()

    def receive(self, lines: Sequence[bytes], meta: Meta, mark: Mark, epoch: int) -> None:  # noqa: ARG002
        """Take a run in, under a mark; one that was arriving before is replaced (`OPS-8`).

        The lines tell the epochs of a directory themselves.

        Raises:
            LeaseHeld: somebody drives a run here.
            DurableError: a run is here, or was.
            StoreFailure: it could not be written.
        """
        with failing_as("write"):
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = self._lock()
        try:
            refuse_occupied(self.mark(), bool(os.fstat(descriptor).st_size), self.name)
            self._replace(MARK, mark, sync=True)
            with failing_as("write"):
                os.ftruncate(descriptor, 0)
                content = b"".join(line + b"\n" for line in lines)
                written = 0
                while written < len(content):
                    written += os.pwrite(descriptor, content[written:], written)
                os.fsync(descriptor)
            self._replace("meta.json", meta, sync=True)
        finally:
            os.close(descriptor)

    def remove_marked(self, mark: Mark | None) -> None:
        """Remove a run that is marked already, and leave ``mark``, or nothing at all (`OPS-7`).

        Raises:
            LeaseHeld: somebody holds the lock.
            DurableError: it is not marked.
            StoreFailure: something could not be removed.
        """
        with failing_as("write"):
            descriptor = self._lock()
        try:
            refuse_unmarked(self.mark(), self.name)
            if mark is not None:
                self._replace(MARK, mark, sync=True)
            self._clear(*(() if mark is None else (MARK,)))
        finally:
            os.close(descriptor)

    def settle_in(self) -> None:
        """Take the mark of a run that was arriving away: from here on it is driven here (`OPS-8`).

        Raises:
            DurableError: it was not arriving.
        """
        with failing_as("write"):
            refuse_not_arriving(self.mark(), self.name)
            (self.directory / MARK).unlink()
            self._sync_directory()

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

    def _read_json(self, name: str) -> dict[str, Any] | None:
        return read_json(self.directory / name)

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
