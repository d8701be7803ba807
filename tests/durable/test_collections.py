"""All runs of a place, and what is noted of them without reading a chain (`OPS-2`, `OPS-3`)."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest

from agentl.durable import DurableError, FileStore, SQLiteStore
from agentl.durable.address import collection_at
from agentl.durable.collections import Collection
from agentl.durable.collections.names import directory_name
from agentl.durable.stores.process import this_process

IDS = [
    "a:b", "a/b", "../x", "a\\b", "CON", "con", "nul.txt", "a.", "a", "A", "Run", "run", "RUN", "caf\u00e9",
    "cafe\u0301", "x" * 200, "X" * 200, ".", "..", "...", "~", "%s", "-rf", "a b", "\U0001f600", "lpt1.x",
    "run-" + "0" * 16, directory_name("Run"), "wal.jsonl", "#", "a#b",
]  # fmt: skip


def test_no_two_ids_share_a_directory() -> None:
    """`OPS-2`, R58: not even where the file system folds case or accents; and no name leaves the folder."""
    names = [directory_name(run_id) for run_id in IDS]
    folded = [unicodedata.normalize("NFKD", name).casefold() for name in names]
    assert len(dict.fromkeys(folded)) == len(IDS)
    for name in names:
        assert name == Path(name).name
        assert name.isascii()
        assert not name.startswith((".", "-", "~"))
        assert not name.endswith((".", " "))
        assert len(name) <= 80
        assert name.split(".")[0] not in ("con", "nul", "lpt1")
    assert directory_name("payments-2026.11") == "payments-2026.11"


@pytest.fixture(params=["directory", "sqlite", "postgres"])
def collection(request: pytest.FixtureRequest, tmp_path: Path) -> Collection:
    if request.param == "postgres":
        return collection_at(request.getfixturevalue("database"))
    place = str(tmp_path / "runs") if request.param == "directory" else f"sqlite:{tmp_path / 'runs.db'}"
    return collection_at(place)


def write(collection: Collection, run_id: str, entries: int = 1, *, meta: bool = True) -> None:
    """A run as its store would keep it, without the cost of driving one."""
    store = collection.store(run_id)
    lease = store.acquire(str(this_process()))
    for seq in range(entries):
        line = {"seq": seq, "kind": "open" if not seq else "read", "key": run_id if not seq else "x"}
        store.append(json.dumps(line).encode(), lease.epoch, sync=True)
    if meta:
        store.write_meta({"run_id": run_id, "entries": entries, "last_tick": 3, "in_doubt": ["d"]})
    store.close()


def test_every_id_is_itself(collection: Collection) -> None:
    """`OPS-2`, R58: create, list, find again; the id that is listed is the one that was given."""
    assert not collection.exists()
    for run_id in IDS:
        write(collection, run_id)
    assert collection.exists()
    assert isinstance(collection, Collection)
    assert sorted(collection.ids()) == sorted(IDS)
    assert sorted(note.run_id for note in collection.notes()) == sorted(IDS)
    for run_id in IDS:
        first = json.loads(collection.store(run_id).load()[1][0])
        assert first["key"] == run_id
        assert collection_at(collection.address(run_id).partition("#")[0]).exists()


def test_a_note_tells_what_stands_beside_the_chain(collection: Collection) -> None:
    """`OPS-3`: meta, entries, lease, refusal; and by how much the notes are behind."""
    write(collection, "a", 3)
    write(collection, "bare", 2, meta=False)
    store = collection.store("driven")
    lease = store.acquire(str(this_process()))
    store.append(b'{"seq":0,"kind":"open","key":"driven"}', lease.epoch, sync=True)
    refused = collection.store("a")
    epoch = refused.acquire(str(this_process())).epoch
    refused.append(b'{"seq":3,"kind":"read","key":"x"}', epoch, sync=True)
    refused.write_refusal({"code": "x", "at": "now"})
    refused.close()
    notes = {note.run_id: note for note in collection.notes()}
    store.close()
    assert list(notes) == ["a", "bare", "driven"]
    assert (notes["a"].entries, notes["a"].behind, notes["a"].last_tick) == (4, 1, 3)
    assert (notes["a"].status, notes["a"].in_doubt) == ("refused", ("d",))
    assert (notes["bare"].meta, notes["bare"].entries, notes["bare"].status) == (None, 2, "interrupted")
    assert notes["driven"].status == "running"
    assert notes["driven"].lease is not None
    assert notes["driven"].lease.epoch == lease.epoch


def test_directories_that_somebody_named(tmp_path: Path) -> None:
    """`OPS-2`: a run keeps its directory; the place itself may be one; other things are passed over."""
    collection = collection_at(str(tmp_path))
    for name, run_id in (("zebra", "one"), (".", "itself"), ("b", "two")):
        store = FileStore(tmp_path / name)
        lease = store.acquire(str(this_process()))
        line = json.dumps({"seq": 0, "kind": "open", "key": run_id}).encode()
        store.append(line, lease.epoch, sync=True)
        store.close()
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    assert [note.run_id for note in collection.notes()] == ["itself", "two", "one"]
    assert collection.store("one").directory == tmp_path / "zebra"
    assert collection.store("new").directory == tmp_path / "new"
    assert collection.address("two") == str(tmp_path / "b")


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    """`OPS-1`: neither listed nor overwritten."""
    file = tmp_path / "notes.txt"
    file.write_text("not a database, by any measure\n" * 200)
    for place in (file, tmp_path):
        with pytest.raises(DurableError) as refused:
            collection_at(f"sqlite:{place}").exists()
        assert refused.value.code == "durable.no_database"
    assert SQLiteStore.runs(tmp_path / "absent.db") == []
