"""What a list of runs is based on, and what it says when the notes are behind (`OPS-4`)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agentl.durable import FileStore
from agentl.durable.address import collection_at
from agentl.durable.collections import Collection, RunNote
from agentl.durable.listing import READ_ANYWAY, listing, moment, seconds_since
from agentl.durable.stores.process import this_process

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


class Noted:
    """A collection of notes, for lists that need no store."""

    name = "noted"

    def __init__(self, *notes: RunNote) -> None:
        self._notes = notes

    def notes(self) -> Any:
        return iter(self._notes)

    def store_of(self, note: RunNote) -> FileStore:
        return FileStore(note.address)


def note(run_id: str = "r", **more: Any) -> RunNote:
    meta = {"run_id": run_id, "entries": 3, "last_tick": 2, **more.pop("meta", {})}
    return RunNote(run_id, f"/nowhere/{run_id}", meta, more.pop("lease", None), **more)


def one(*given: RunNote, **options: Any) -> dict[str, Any]:
    return listing(Noted(*given), **options).runs[0].data(NOW)


def test_short_journals_are_read_and_long_ones_are_not() -> None:
    """`OPS-4`: without being asked only as much as takes a moment; a keyed one without its key never."""
    short = listing(Noted(note(entries=3)))
    assert short.runs[0].problem is None
    assert (short.basis, short.runs[0].basis) == ("chain", "chain"), (
        "the missing journal reads as an empty one"
    )
    many = listing(Noted(note(entries=READ_ANYWAY), note("s", entries=1)))
    assert many.basis == "notes"
    assert listing(Noted(note(entries=None, meta={"entries": 2}))).basis == "chain"
    assert listing(Noted(note(entries=3)), check=False).basis == "notes"
    keyed = note(entries=3, meta={"open": {"key_id": "k"}})
    assert listing(Noted(keyed), check=True).basis == "notes"
    assert listing(Noted(keyed), check=True, key="secret").basis == "chain"


def test_an_end_in_notes_that_are_behind_is_not_believed() -> None:
    """`OPS-3`, `OPS-4`: what was added behind the end may have begun the run again."""
    ended = {"close": {"ticks": 2}}
    assert one(note(entries=3, meta=ended), check=False)["status"] == "completed"
    behind = one(note(entries=5, meta=ended), check=False)
    assert (behind["status"], behind["behind"], behind["basis"]) == ("interrupted", 2, "notes")
    unknown = one(note(entries=None, meta=ended), check=False)
    assert (unknown["status"], unknown["behind"]) == ("completed", None)


def test_times_and_counts() -> None:
    """`OPS-4`: ages in seconds, from the journal's beginning and from the last notes; states are counted."""
    meta = {"open": {"created": "2026-11-30T11:00:00+00:00"}, "written": "2026-11-30T12:59:00+01:00"}
    found = one(note(entries=9, meta=meta), check=False)
    assert (found["age_seconds"], found["idle_seconds"], found["last_tick"]) == (3600, 60, 2)
    assert seconds_since("2026-11-30T13:00:00+00:00", NOW) == 0, "a clock that was set back"
    assert moment("2026-11-30T12:00:00") == NOW
    for nonsense in (None, 7, "yesterday", ""):
        assert seconds_since(nonsense, NOW) is None
    counted = listing(Noted(note("a", entries=1), note("b", entries=9)), check=False)
    assert counted.counts == {"interrupted": 1, "new": 1}
    assert [run.note.run_id for run in listing(Noted(note("a", entries=1), note("b")), states=["new"]).runs]


@pytest.fixture(params=["directory", "sqlite"])
def collection(request: pytest.FixtureRequest, tmp_path: Path) -> Collection:
    place = str(tmp_path / "runs") if request.param == "directory" else f"sqlite:{tmp_path / 'runs.db'}"
    return collection_at(place)


def test_a_refused_journal_says_why(collection: Collection) -> None:
    """`DCL-6`, `OPS-4`: where the chain is read; the notes alone do not know it."""
    store = collection.store("bad")
    lease = store.acquire(str(this_process()))
    line = json.dumps({"seq": 0, "kind": "open", "key": "bad", "h": "0" * 64})
    store.append(line.encode(), lease.epoch, sync=True)
    store.write_meta({"run_id": "bad", "entries": 1, "last_tick": 0})
    store.close()
    checked = listing(collection).runs[0]
    assert checked.problem is not None
    assert checked.data(NOW)["error"]["code"].startswith("durable.")
    assert listing(collection, check=False).runs[0].problem is None


def test_listing_takes_no_lease_and_changes_nothing(collection: Collection, tmp_path: Path) -> None:
    """`OPS-4`: a run that is driven meanwhile goes on."""
    store = collection.store("r")
    lease = store.acquire(str(this_process()))
    store.append(b'{"seq":0}', lease.epoch, sync=True)
    before = {path: path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()}
    assert listing(collection, check=False).runs[0].status == "running"
    assert listing(collection, check=True).runs[0].problem is not None
    after = {path: path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()}
    assert before == after
    store.append(b'{"seq":1}', lease.epoch, sync=True)
    store.close()


def test_a_journal_longer_than_its_tail(tmp_path: Path) -> None:
    """`OPS-3`: the number of entries is that of the last line; of a line too long to look at, unknown."""
    store = FileStore(tmp_path / "r")
    lease = store.acquire(str(this_process()))
    for seq in range(3):
        store.append(b'{"seq":%d,"kind":"read","value":"%s"}' % (seq, b"x" * 3000), lease.epoch, sync=True)
    store.close()
    collection = collection_at(str(tmp_path))
    assert next(iter(collection.notes())).entries == 3
    lease = store.acquire(str(this_process()))
    store.append(b'{"seq":3,"kind":"read","value":"%s"}' % (b"y" * 9000), lease.epoch, sync=True)
    store.close()
    assert next(iter(collection.notes())).entries is None
