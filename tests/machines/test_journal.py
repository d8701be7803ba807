"""Random lives of a journal file, beside a model that shares no code (DUR-3, DUR-6, DUR-8, DUR-11, STO-5).

A life appends, synchronises, loses power at any byte behind the last synchronisation, with or without zero
bytes left over, is opened again, and may have been damaged meanwhile. The same steps as in
``formal/Journal.tla``; what the reader makes of the bytes is judged after each of them.
"""

from __future__ import annotations

import ast
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from agentl.durable.served import ServedJournal
from agentl.durable.stores import file as file_store
from agentl.errors import DurableError
from agentl.journal.chain import key_id
from agentl.journal.entry import dump
from agentl.journal.journal import DURABLE_FORMAT
from agentl.values import encode
from tests.machines.journal_model import JournalModel
from tests.machines.run_model import BrokenError
from tests.support.graphs import runs
from tests.support.journal_mutants import CODE

KEYS = st.sampled_from([None, b"a key of the machine"])
# A single flipped bit makes a newline of J and *, and keeps the value of 1e+20.
VALUES = st.sampled_from(["J*J", "é\n{", 1e20, 0, None, [1, {"a": "}"}], "x" * 40, '"'])
# How much of what was not synchronised outlives a crash: -1 is all but the last newline.
SHARES = st.one_of(st.sampled_from([-1.0, -1.0, 0.0, 1.0]), st.floats(0, 1))
ZEROS = st.sampled_from([0, 0, 1, 500])
PLACES = st.sampled_from(["first", "body", "last", "newline", "newline"])


class JournalLife(RuleBasedStateMachine):
    """Append, synchronise, lose power, damage, open: after each step the bytes are looked at."""

    folder: Path | None = None
    journal: ServedJournal | None = None

    @initialize(key=KEYS)
    def begin(self, key: bytes | None) -> None:
        shared = Path("/dev/shm")
        self.folder = Path(
            tempfile.mkdtemp(dir=shared if shared.is_dir() else None, prefix="agentl-journal-")
        )
        self.wal = self.folder / "run" / "wal.jsonl"
        self.key = key
        self.model = JournalModel(key)
        self.image = self.durable = b""
        self.intact: bytes | None = None
        self._patched = pytest.MonkeyPatch()
        # Each line goes to the file at once, so that a crash finds it there, synchronised or not.
        self._patched.setattr(file_store, "WAITING", 1)
        self._patched.setattr(file_store, "FIRST_LAYOUT", 64)
        self._patched.setattr(file_store, "LAYOUT", 64)
        self._patched.setattr(file_store, "_fdatasync", self._synchronise)
        self._patched.setattr(os, "fsync", self._synchronise)
        self._open()

    def _synchronise(self, descriptor: int) -> None:
        # Only of the journal itself: meta and lease are notes.
        if self.wal.exists() and os.path.samestat(os.fstat(descriptor), self.wal.stat()):
            self.durable = self.wal.read_bytes()

    def _open(self) -> None:
        self.refusal = None
        self.image = self.wal.read_bytes() if self.wal.exists() else b""
        try:
            self.journal = ServedJournal.open(file_store.FileStore(self.wal.parent), key=self.key)
        except DurableError as refusal:
            found = refusal.values
            self.model.refused(self.image, found.get("entry", found.get("position")))
            return
        self.journal.clock = lambda: "2030-01-01T00:00:00Z"
        self.model.accepted(self.image, list(self.journal.lines))
        while self.journal.in_prefix:
            self.journal._ordered.take()

    @property
    def up(self) -> bool:
        return self.journal is not None

    @precondition(lambda self: self.up)
    @rule(value=VALUES, sync=st.sampled_from([False, False, True]))
    def append(self, value: Any, sync: bool) -> None:
        """Append1, and Sync where it is asked for."""
        journal = self.journal
        assert journal is not None
        if self.model.known:
            journal.write("read", "gauge", None, f'"value":{dump(encode(value))}', sync=sync)
            self.model.appended(list(journal.lines), encode(value), sync)
            return
        named = {} if self.key is None else {"key_id": key_id(self.key)}
        args = {"format": DURABLE_FORMAT, "max_ticks": 3, "program_sha256": "", "agents": [], "promises": {}}
        journal.write("open", "run", {**args, **named, "epoch": 1}, sync=sync)
        self.model.appended(list(journal.lines), None, sync)

    @precondition(lambda self: self.up)
    @rule(share=SHARES, zeros=ZEROS)
    def crash(self, share: float, zeros: int) -> None:
        """The power is cut: a part of what was not synchronised is left, and perhaps zeros behind it."""
        assert self.journal is not None
        full, safe = self.wal.read_bytes().rstrip(b"\0"), self.durable.rstrip(b"\0")
        at = (
            len(safe) + round(share * (len(full) - len(safe)))
            if share >= 0
            else max(len(safe), len(full) - 1)
        )
        self.journal.store.forked()  # what a process does not get to do when it is killed: write and cut off
        self.journal = None
        self.image = self.durable = full[:at] + bytes(zeros)
        self.wal.write_bytes(self.image)
        self.model.crashed()

    @precondition(lambda self: self.up)
    @rule()
    def leave(self) -> None:
        """The process ends in order: all it wrote is durable."""
        assert self.journal is not None
        self.journal.release()
        self.journal = None
        self.image = self.wal.read_bytes()
        self.model.acked = len(self.model.known)
        self.model.crashed()

    @precondition(lambda self: not self.up and self.model.acked > 0 and self.intact is None)
    @rule(line=st.integers(0, 30), place=PLACES, bit=st.integers(0, 7), share=st.floats(0, 0.999))
    def flip(self, line: int, place: str, bit: int, share: float) -> None:
        """Damage: one bit of a durable line, its newline included; mostly of the last ones."""
        line = max(0, self.model.acked - 1 - line % self.model.acked)
        start = sum(len(found) + 1 for found in self.model.flight[:line])
        size = len(self.model.flight[line])
        offset = {"first": 0, "last": size - 1, "newline": size, "body": int(share * size)}[place]
        changed = bytearray(self.image)
        changed[start + offset] ^= 1 << bit
        self._damage(bytes(changed))

    @precondition(lambda self: not self.up and self.model.acked > 0 and self.intact is None)
    @rule(how=st.sampled_from(["remove", "swap", "double"]), line=st.integers(0, 30))
    def rearrange(self, how: str, line: int) -> None:
        """Damage: a durable line is gone, changes places with the next, or is there twice."""
        movable = self.model.acked - (how != "double")
        if movable == 0:
            return
        at = line % movable
        lines = self.image.split(b"\n")
        if how == "remove":
            del lines[at]
        elif how == "swap":
            lines[at], lines[at + 1] = lines[at + 1], lines[at]
        else:
            lines.insert(at, lines[at])
        self._damage(b"\n".join(lines))

    def _damage(self, image: bytes) -> None:
        self.intact, self.model.damaged = self.image, True
        self.image = self.durable = image
        self.wal.write_bytes(image)

    @precondition(lambda self: not self.up)
    @rule(again=st.booleans())
    def open(self, again: bool) -> None:
        """Open: accepted, repaired and durable, or refused, as often as it is tried."""
        self._open()
        if again and not self.up:
            self._open()

    @precondition(lambda self: not self.up and self.intact is not None)
    @rule()
    def put_back(self) -> None:
        """Somebody has a copy of the file from before the damage."""
        assert self.intact is not None
        self.image = self.durable = self.intact
        self.intact, self.model.damaged = None, False
        self.wal.write_bytes(self.image)

    @invariant()
    def the_file_says_so(self) -> None:
        """DUR-6, DUR-11: what is held for true is in the file, and what was acknowledged is durable."""
        if self.journal is not None:
            self.model.seen(self.wal.read_bytes(), self.durable)

    def teardown(self) -> None:
        if self.folder is None:
            return
        if self.journal is not None:
            self.journal.store.forked()
        self._patched.undo()
        shutil.rmtree(self.folder, ignore_errors=True)


TestJournalLife = JournalLife.TestCase

FEW = settings(
    max_examples=1500,
    stateful_step_count=14,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate],
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)


def live() -> None:
    """Some random lives, always the same; raises where the machine objects."""
    run_state_machine_as_test(JournalLife, settings=FEW)


def test_every_mutant_of_the_journal_model_has_a_twin() -> None:
    """R104: none is left out."""
    mutants = {
        run.name.removeprefix("mutant/")
        for run in runs().values()
        if run.kind == "mutant" and run.base == "journal"
    }
    assert set(CODE) == mutants


@pytest.mark.parametrize("name", sorted(CODE))
def test_the_machine_catches_the_twin(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """DUR-6, DUR-8, DUR-11, STO-5: the machine objects to each mutant of the journal."""
    CODE[name](monkeypatch)
    with pytest.raises(BrokenError):
        live()


def test_the_model_shares_nothing_with_the_journal() -> None:
    """R104: a model that shares its code with what it judges agrees with every fault."""
    tree = ast.parse((Path(__file__).parent / "journal_model.py").read_text(encoding="utf-8"))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {
        alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    }
    assert not [name for name in imported if name and name.split(".")[0] == "agentl"]
