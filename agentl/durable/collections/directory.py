"""Runs in directories: the directory itself, or each one directly below it (`OPS-2`)."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from agentl.durable.address import directory_address
from agentl.durable.collections.base import RunNote
from agentl.durable.collections.names import directory_name
from agentl.durable.requests import Filed
from agentl.durable.stores import oslock
from agentl.durable.stores.base import failing_as
from agentl.durable.stores.file import FileStore
from agentl.durable.stores.file_requests import FileBook
from agentl.durable.stores.run_directory import MARK, REQUESTS, read_lease_note

WAL: Final = "wal.jsonl"
# An entry that is longer than this at the end of a journal is not looked at for its number.
_TAIL: Final = 4096
_NUMBER: Final = re.compile(rb'\{"seq": ?([0-9]+),')


class DirectoryCollection:
    """The runs directly below ``directory``, and the run in it when it holds one (`OPS-2`).

    A run keeps the directory that somebody gave it, whatever its id; one that is begun through the
    collection gets ``directory_name`` of its id.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)

    @property
    def name(self) -> str:
        """The path of the directory."""
        return str(self.directory)

    def exists(self) -> bool:
        """Whether the directory is there."""
        return self.directory.is_dir()

    def count(self) -> int:
        """How many runs are there; 0 as well for a directory that cannot be read."""
        try:
            return len(self._places())
        except OSError:
            return 0

    def ids(self) -> list[str]:
        """The ids of all runs, sorted.

        Raises:
            StoreFailure: a directory cannot be read.
        """
        return sorted(note.run_id for note in self.notes())

    def store(self, run_id: str) -> FileStore:
        """The store of one run: the directory that holds it, else the one that is its own.

        Raises:
            StoreFailure: a directory cannot be read.
        """
        return FileStore(self._place_of(run_id))

    def address(self, run_id: str) -> str:
        """The directory of one run."""
        return directory_address(str(self._place_of(run_id)))

    def _place_of(self, run_id: str) -> Path:
        own = self.directory / directory_name(run_id)
        if (own / WAL).exists() or not self.directory.is_dir():
            return own
        with failing_as("read"):
            for place in self._places():
                if _run_id(str(place), _read(place / "meta.json")) == run_id:
                    return place
        return own

    def _places(self) -> list[Path]:
        """Every directory that holds a run, in the order of names."""
        found = [self.directory] if (self.directory / WAL).is_file() else []
        with os.scandir(self.directory) as listing:
            names = sorted(entry.name for entry in listing if not entry.name.startswith("."))
        return found + [self.directory / name for name in names if (self.directory / name / WAL).is_file()]

    def store_of(self, note: RunNote) -> FileStore:
        """The store in the directory of a note."""
        return FileStore(note.address)

    def reclaim(self) -> None:
        """A file that is removed gives its room back by itself."""

    def marks(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Every mark with the address of its run, in the order of the names of their directories (`OPS-6`).

        Raises:
            StoreFailure: a directory cannot be read.
        """
        with failing_as("read"):
            if not self.directory.is_dir():
                return
            with os.scandir(self.directory) as listing:
                names = sorted(entry.name for entry in listing if not entry.name.startswith("."))
            for place in (self.directory, *(self.directory / name for name in names)):
                found = _read(place / MARK)
                if found is not None:
                    yield directory_address(str(place)), found

    def notes(self) -> Iterator[RunNote]:
        """A note of every run, in the order of the names of their directories (`OPS-3`).

        Raises:
            StoreFailure: a directory cannot be read.
        """
        with failing_as("read"):
            if (self.directory / WAL).is_file():
                note = _note(str(self.directory))
                if note is not None:
                    yield note
            with os.scandir(self.directory) as listing:
                names = sorted(entry.name for entry in listing if not entry.name.startswith("."))
            start = str(self.directory)
            for name in names:
                note = _note(os.path.join(start, name))  # noqa: PTH118 - ten thousand paths in a second
                if note is not None:
                    yield note


def _note(place: str) -> RunNote | None:
    """The note of the run in a directory, in few calls of the system; ``None`` when there is none."""
    try:
        descriptor = os.open(f"{place}/{WAL}", os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        held = oslock.is_held(descriptor)
        meta = _read(f"{place}/meta.json")
        size = os.fstat(descriptor).st_size
        entries = _entries(descriptor, size, held=held)
    finally:
        os.close(descriptor)
    return RunNote(
        run_id=_run_id(place, meta),
        address=directory_address(place),
        meta=meta,
        lease=read_lease_note(Path(place)) if held else None,
        entries=entries,
        refusal=_read(f"{place}/refusal.json"),
        waiting=_waiting(f"{place}/{REQUESTS}"),
        mark=_mark(place),
    )


def _mark(place: str) -> dict[str, Any] | None:
    """The mark; one that cannot be read is one all the same (`OPS-6`)."""
    found = _read(f"{place}/{MARK}")
    return found or ({} if os.path.lexists(f"{place}/{MARK}") else None)


def _waiting(place: str) -> tuple[Filed, ...]:
    """The open requests; most runs have none, and no directory for them."""
    return tuple(FileBook(Path(place)).all(open_only=True)) if os.path.isdir(place) else ()  # noqa: PTH112


def _entries(descriptor: int, size: int, *, held: bool) -> int | None:
    """The number of entries, from the last line; while the run is driven, zeros stand behind it (`STO-3`)."""
    if not size:
        return 0
    if held:
        return None
    tail = os.pread(descriptor, _TAIL, max(size - _TAIL, 0))
    end = tail.rstrip(b"\0\n")
    found = _NUMBER.match(end, end.rfind(b"\n") + 1) if b"\n" in end or size <= _TAIL else None
    return int(found[1]) + 1 if found is not None else None


def _run_id(place: str, meta: Mapping[str, Any] | None) -> str:
    """The id of the run in ``place``: from the notes, else from the first entry, else the name."""
    known = meta.get("run_id") if meta is not None else None
    if isinstance(known, str) and known:
        return known
    try:
        with Path(place, WAL).open("rb") as stream:
            first = json.loads(stream.readline(1 << 20))
    except (OSError, ValueError, RecursionError):
        return Path(place).name
    known = first.get("key") if isinstance(first, dict) and first.get("kind") == "open" else None
    return known if isinstance(known, str) and known else Path(place).name


def _read(file: str | Path) -> dict[str, Any] | None:
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        content = os.read(descriptor, 1 << 16)
        if len(content) == 1 << 16:
            with os.fdopen(os.dup(descriptor), "rb") as stream:
                content += stream.read()
        data = json.loads(content)
    except (OSError, ValueError, RecursionError):
        return None
    finally:
        os.close(descriptor)
    return data if isinstance(data, dict) else None
