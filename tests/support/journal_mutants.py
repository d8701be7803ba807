"""For each mutant of ``formal/MutJournal.tla`` the same fault in the code, planted by replacing one function.

See ``tests/support/mutants.py``, which does the same for the kernel's model.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agentl.durable.stores import file as file_store
from agentl.durable.stores import torn
from agentl.durable.stores.file import FileStore
from agentl.durable.stores.torn import Division, Shape
from agentl.errors import DurableError
from agentl.journal.chain import Chain
from agentl.journal.entry import read_line
from agentl.journal.journal import OrderedJournal

Plant = Callable[[pytest.MonkeyPatch], None]
CODE: dict[str, Plant] = {}


def twin(plant: Plant) -> Plant:
    """Register the twin of the model mutant that has this name."""
    CODE[plant.__name__] = plant
    return plant


@twin
def ForgetsSync(patch: pytest.MonkeyPatch) -> None:
    real = FileStore.append

    def append(self: Any, raw: bytes, epoch: int, *, sync: bool) -> None:
        real(self, raw, epoch, sync=False)

    patch.setattr(FileStore, "append", append)


@twin
def KeepsTorn(patch: pytest.MonkeyPatch) -> None:
    def repair(self: Any) -> None:
        # The next line goes behind whatever is there.
        self._end = self._laid_out = self.wal.stat().st_size
        self._unfinished = False

    patch.setattr(FileStore, "repair", repair)


@twin
def OmitsNewline(patch: pytest.MonkeyPatch) -> None:
    real = FileStore.repair

    def repair(self: Any) -> None:
        self._unfinished = False
        real(self)

    patch.setattr(FileStore, "repair", repair)


@twin
def ForgivesLast(patch: pytest.MonkeyPatch) -> None:
    real = OrderedJournal.read

    def read(self: Any, lines: Any, *, name: str, key: Any = None, note: Any = None) -> None:
        kept = list(lines)
        try:
            real(OrderedJournal(key), kept, name=name, key=key)
        except DurableError:
            kept = kept[:-1]
        real(self, kept, name=name, key=key, note=note)

    patch.setattr(OrderedJournal, "read", read)


@twin
def Unchained(patch: pytest.MonkeyPatch) -> None:
    add, made = Chain.add, set()

    def adding(self: Any, canonical: bytes) -> str:
        digest = add(self, canonical)
        made.add((canonical, digest))
        return digest

    def read(self: Any, lines: Any, *, name: str, key: Any = None, note: Any = None) -> None:
        for position, line in enumerate(lines):
            # Sound in itself: a line that was once written so, wherever it stands now.
            try:
                entry = read_line(line)
            except ValueError as error:
                raise DurableError(code="durable.unreadable_line", file=name, position=position) from error
            canonical, opening = entry.composed()
            if (canonical, entry.h) not in made or not line.startswith(opening):
                raise DurableError(code="durable.altered", entry=position)
            self.lines.append(line)
            self._chain.head = entry.h
            if note is not None:
                note(entry)
        self.prefix, self.cursor = len(self.lines), 0

    patch.setattr(Chain, "add", adding)
    patch.setattr(OrderedJournal, "read", read)


def reshaping(patch: pytest.MonkeyPatch, taken: Shape, instead: Shape) -> None:
    real = torn.shape_of

    def shape_of(tail: bytes) -> Shape:
        shape = real(tail)
        return instead if shape is taken else shape

    patch.setattr(torn, "shape_of", shape_of)


@twin
def DropsAnyTail(patch: pytest.MonkeyPatch) -> None:
    reshaping(patch, Shape.OTHER, Shape.BEGINNING)


@twin
def DropsAllZeros(patch: pytest.MonkeyPatch) -> None:
    real = torn.divide

    def divide(data: bytes) -> Division:
        if not data.endswith(b"\0"):
            return real(data)
        end = data.rfind(b"\n") + 1
        return Division(data[:end].split(b"\n")[:-1], end, len(data) - end, False)

    patch.setattr(file_store, "divide", divide)


@twin
def RefusesTorn(patch: pytest.MonkeyPatch) -> None:
    reshaping(patch, Shape.BEGINNING, Shape.OTHER)
