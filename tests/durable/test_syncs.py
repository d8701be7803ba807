"""What is on the disk before a run goes on: each synchronisation is looked for (`DUR-6`, `STO-3`)."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from agentl import Host, MockLLM, Symbol, parse_source
from agentl.durable import DurableRun, FileStore, MemoryStore, SQLiteStore, cancel, settle, survey
from agentl.durable.stores import file
from agentl.errors import NotExecuted, Parked
from agentl.journal.entry import read_line
from tests.durable.world import PROGRAM as EVERYTHING
from tests.durable.world import Died, Ledger, host_for, model

DURABLE = {
    "open", "approve", "drain", "intent", "resolution", "verdict", "reconcile", "checkpoint", "close",
    "resume", "extend", "invoke", "delegate",
}  # fmt: skip
"""The entries that are synchronised before the run goes on, as the clause lists them."""


class Watched(MemoryStore):
    """A store that notes down what it was told to make durable."""

    def __init__(self) -> None:
        super().__init__()
        self.appended: list[tuple[str, bool, bool]] = []
        self.metas: list[tuple[str, bool]] = []

    def append(self, raw: bytes, epoch: int, *, sync: bool) -> None:
        entry = read_line(raw)
        self.appended.append((entry.kind, entry.error is not None, sync))
        super().append(raw, epoch, sync=sync)

    def write_meta(self, meta: Mapping[str, Any], *, sync: bool = False) -> None:
        last = self.appended[-1][0] if self.appended else ""
        self.metas.append((last, sync))
        super().write_meta(dict(meta), sync=sync)


ACTING = parse_source("""
AGENT acting {
  TOOL act { INPUT { n: Number } OUTPUT { ok: Symbol } SIDE_EFFECT { world.mark } RISK LOW }
  POLICY { DEFAULT ALLOW }
  OBSERVE { level }
  PLAN go WHEN level > 0 { act(n: level) }
  LOOP MAX 2 { OBSERVE UPDATE_BELIEFS SELECT_PLAN EXECUTE }
}
""")


def acting(store: Watched, tool: Callable[[], Any], ticks: int | None = None, **promise: Any) -> Host:
    """Run the small agent with this tool as far as it comes; gives the host."""
    host = Host()

    @host.sensor("level")
    def level() -> int:
        return 1

    @host.tool("act", **promise)
    def act(n: float) -> Any:
        return tool()

    @host.reconciler("act")
    def found(args: Any, context: Any) -> Any:
        if "cannot tell" in told:
            told.clear()
            raise RuntimeError
        return {"ok": Symbol("yes")}

    told = ["cannot tell"]
    run = DurableRun(ACTING, host, MockLLM({}), store=store, run_id="r")
    with suppress(Died):
        run.run(ticks)
    return host


def dies() -> Any:
    raise Died


def fails() -> Any:
    raise NotExecuted("closed today")


def breaks() -> Any:
    raise RuntimeError("no answer")


def works() -> Any:
    return {"ok": Symbol("yes")}


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Watched]:
    """Runs in which every kind of entry is written."""
    folder = tmp_path_factory.mktemp("syncs")
    found = {name: Watched() for name in ("everything", "killed", "failed", "doubted", "settled")}
    host = host_for(Ledger(folder / "ledger"), "plain")
    DurableRun(EVERYTHING, host, model(), store=found["everything"]).run(1)
    DurableRun(EVERYTHING, host, model(), store=found["everything"]).run(2)
    acting(found["killed"], dies, idempotent=True)
    acting(found["killed"], works, idempotent=True)
    acting(found["failed"], fails)
    acting(found["doubted"], breaks)
    acting(found["settled"], dies)
    settle(found["settled"], survey(found["settled"]).pending()[0]["action_id"], executed=True)
    return found


def test_what_must_be_durable_is_synchronised(stores: dict[str, Watched]) -> None:
    """DUR-6: each kind of the list, whether it carries a value or an error, and no other kind."""
    seen = {entry for store in stores.values() for entry in store.appended}
    assert {kind for kind, _, _ in seen} >= DURABLE
    assert {(kind, failed) for kind, failed, _ in seen} >= {("invoke", False), ("invoke", True)}
    for kind, _failed, sync in sorted(seen):
        assert sync == (kind in DURABLE), kind


def test_the_meta_is_durable_except_for_that_of_a_tick(stores: dict[str, Watched]) -> None:
    """DUR-10, STO-3: at the opening, at the close, when a run is extended, after a verdict."""
    seen = {meta for store in stores.values() for meta in store.metas}
    assert {
        ("open", True),
        ("close", True),
        ("extend", True),
        ("verdict", True),
        ("checkpoint", False),
    } <= seen
    assert {sync for last, sync in seen if last == "checkpoint"} == {False}
    assert {sync for last, sync in seen if last != "checkpoint"} == {True}


# --- files -------------------------------------------------------------------------------------


class Disk:
    """The order of writes and synchronisations in one directory, by file name (``.`` is the directory)."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.done: list[str] = []
        replace, pwrite, write, truncate = Path.replace, os.pwrite, os.write, os.ftruncate
        unlink = Path.unlink

        def removed(path: Path, missing_ok: bool = False) -> None:
            if path.name in ("mark.json", "wal.jsonl"):
                self._note(f"gone {path.name}")
            unlink(path, missing_ok=missing_ok)

        def replaced(path: Path, target: Path) -> Path:
            self._note(f"rename {target.name}")
            return replace(path, target)

        def written(descriptor: int, data: Any, offset: int) -> int:
            self._note(f"write {self._name(descriptor)}")
            return pwrite(descriptor, data, offset)

        def appended(descriptor: int, data: Any) -> int:
            self._note(f"write {self._name(descriptor)}")
            return write(descriptor, data)

        def cut(descriptor: int, length: int) -> None:
            self._note(f"cut {self._name(descriptor)}")
            truncate(descriptor, length)

        patch.setattr(Path, "replace", replaced)
        patch.setattr(Path, "unlink", removed)
        patch.setattr(os, "pwrite", written)
        patch.setattr(os, "write", appended)
        patch.setattr(os, "ftruncate", cut)
        for owner, name in ((os, "fsync"), (file, "_fdatasync")):
            patch.setattr(owner, name, lambda descriptor: self._note(f"sync {self._name(descriptor)}"))

    def _name(self, descriptor: int) -> str:
        here = os.fstat(descriptor)
        for path in [self.folder, *self.folder.iterdir()]:
            if os.path.samestat(here, path.stat()):
                return "." if path == self.folder else path.name
        return "?"

    def _note(self, what: str) -> None:
        if self.done[-1:] != [what]:
            self.done.append(what)

    def since(self) -> list[str]:
        """What was done since the last question; a step several times in a row counts once."""
        done, self.done = self.done, []
        return done


def noted(name: str) -> list[str]:
    """How a note beside the journal becomes durable: written, synchronised, renamed, directory too."""
    return [f"write {name}.tmp", f"sync {name}.tmp", f"rename {name}", "sync ."]


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(tmp_path / "run", monkeypatch)


def test_a_new_file_and_its_lease_are_in_the_directory(disk: Disk) -> None:
    """STO-3: the name of the journal is durable before anything is written into it, the lease behind it."""
    store = FileStore(disk.folder)
    epoch = store.acquire("me").epoch
    assert disk.since() == ["sync .", *noted("lease.json")]
    store.release(epoch)


def test_a_durable_line_is_synchronised_before_append_returns(disk: Disk) -> None:
    """DUR-6: after the write, not before it; what need not be durable costs nothing."""
    store = FileStore(disk.folder)
    epoch = store.acquire("me").epoch
    disk.since()
    store.append(b'{"n":0}', epoch, sync=False)
    assert disk.since() == []
    store.append(b'{"n":1}', epoch, sync=True)
    assert disk.since() == ["write wal.jsonl", "sync wal.jsonl"]
    store.append(b'{"n":2}', epoch, sync=False)
    store.release(epoch)
    assert disk.since() == ["write wal.jsonl", "cut wal.jsonl", "sync wal.jsonl"]


def test_a_repaired_tail_is_synchronised(disk: Disk) -> None:
    """STO-5: cut off for good before the run goes on behind it."""
    store = FileStore(disk.folder)
    store.release(store.acquire("me").epoch)
    store.wal.write_bytes(b'{"n":0}\n{"n":')
    store.acquire("me")
    disk.since()
    store.repair()
    assert disk.since() == ["cut wal.jsonl", "sync wal.jsonl"]
    assert store.wal.read_bytes() == b'{"n":0}\n'
    store.close()


def test_notes_beside_the_journal_are_durable(disk: Disk) -> None:
    """STO-3, DUR-10, DUR-13: meta and refusal; the meta of a tick is only renamed."""
    store = FileStore(disk.folder)
    store.acquire("me")
    disk.since()
    store.write_meta({"n": 1}, sync=True)
    assert disk.since() == noted("meta.json")
    store.write_meta({"n": 2})
    assert disk.since() == ["write meta.json.tmp", "rename meta.json"]
    store.write_refusal({"why": "no"})
    assert disk.since() == noted("refusal.json")
    store.close()


def test_a_mark_is_durable_before_what_relies_on_it(disk: Disk) -> None:
    """OPS-6, OPS-7: the mark, then what goes; and the end of a mark."""
    store = FileStore(disk.folder)
    epoch = store.acquire("me").epoch
    store.append(b'{"n":0}', epoch, sync=True)
    disk.since()
    store.write_mark({"mark": "moved"})
    assert disk.since() == noted("mark.json")
    store.close()
    disk.since()
    store.remove_marked({"mark": "purged"})
    assert disk.since() == [*noted("mark.json"), "gone wal.jsonl", "sync ."]


def test_a_run_that_arrives_is_durable_under_its_mark(disk: Disk) -> None:
    """OPS-8: mark, journal, notes; then the mark goes, durable too."""
    store = FileStore(disk.folder)
    disk.folder.mkdir()
    store.receive([b'{"n":0}', b'{"n":1}'], {"n": 1}, {"mark": "arriving"}, 1)
    assert disk.since() == [
        *noted("mark.json"),
        "cut wal.jsonl",
        "write wal.jsonl",
        "sync wal.jsonl",
        *noted("meta.json"),
    ]
    store.settle_in()
    assert disk.since() == ["gone mark.json", "sync ."]


# --- SQLite ------------------------------------------------------------------------------------


def test_every_transaction_of_sqlite_is_fully_synchronised(tmp_path: Path) -> None:
    """STO-4: also after the meta of a tick, the one thing that does not wait for the disk."""
    store = SQLiteStore(tmp_path / "runs.db", "r")
    epoch = store.acquire("me").epoch
    assert store._committer is not None
    connection = store._committer._connection
    assert connection is not None
    commits: list[int] = []
    level = int(connection.execute("PRAGMA synchronous").fetchone()[0])

    def heard(statement: str) -> None:
        nonlocal level
        if statement.startswith("PRAGMA synchronous="):
            level = {"FULL": 2, "NORMAL": 1}[statement.partition("=")[2]]
        if statement == "COMMIT":
            commits.append(level)

    connection.set_trace_callback(heard)
    store.append(b"{}", epoch, sync=True)
    store.write_meta({"n": 1})
    store.write_meta({"n": 2})
    store.append(b"{}", epoch, sync=True)
    store.write_meta({"n": 3}, sync=True)
    store.write_meta({"n": 4})
    store.write_refusal({"code": "x"})
    store.write_meta({"n": 5})
    store.release(epoch)
    assert commits == [2, 1, 1, 2, 2, 1, 2, 1, 2]


def test_a_question_and_its_answer_are_fully_synchronised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PRK-1, PRK-3: on SQLite, where each change has a connection of its own."""
    from agentl.durable.requests import Decision, Request
    from agentl.durable.stores import sqlite_requests

    commits: list[str] = []
    levels: list[str] = []
    connect = sqlite3.connect

    def heard(statement: str) -> None:
        if statement.startswith("PRAGMA synchronous="):
            levels.append(statement.partition("=")[2])
        if statement == "COMMIT":
            commits.append(levels[-1] if levels else "")

    def watched(*words: Any, **named: Any) -> sqlite3.Connection:
        levels.clear()
        connection = connect(*words, **named)
        connection.set_trace_callback(heard)
        return connection

    store = SQLiteStore(tmp_path / "runs.db", "r")
    monkeypatch.setattr(sqlite_requests.sqlite3, "connect", watched)
    request = Request("r", "a1@0", "approval", "pay", "a1", "0")
    store.requests.post(request)
    store.requests.decide("a1@0", Decision("approved", "ann", "2026-01-01T00:00:00+00:00"))
    assert commits == ["FULL", "FULL"]


# --- beside the run ----------------------------------------------------------------------------

ASKING = parse_source("""
AGENT asking {
  TOOL act { INPUT { n: Number } OUTPUT { ok: Symbol } RISK LOW }
  POLICY { DEFAULT ALLOW  REQUIRE APPROVAL FOR act }
  DECIDE { RULES { IF 1 == 1 THEN go } }
  PLAN go { act(n: 1) }
  LOOP MAX 1 { SELECT_PLAN EXECUTE }
}
""")


def test_a_run_that_waits_or_is_cancelled_says_so_durably() -> None:
    """PRK-4, TSK-9: the entry, and the note beside it that people read while nobody drives the run."""
    store = Watched()
    with pytest.raises(Parked):
        DurableRun(ASKING, Host(), store=store, park=True).run(1)
    assert store.appended[-1] == ("park", False, True)
    assert store.metas[-1] == ("park", True)
    cancel(store, by="olga")
    assert store.appended[-1] == ("cancel", False, True)
    assert store.metas[-1] == ("cancel", True)


def counted(monkeypatch: pytest.MonkeyPatch, module: Any) -> list[bool]:
    """What a module synchronises: ``True`` for a directory."""
    found: list[bool] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        found.append(stat.S_ISDIR(os.fstat(descriptor).st_mode))
        real(descriptor)

    monkeypatch.setattr(module.os, "fsync", fsync)
    return found


def test_a_question_in_a_directory_is_durable_with_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PRK-1, PRK-3: the file first, then the directory that names it; the answer alike."""
    from agentl.durable.requests import Decision, Request
    from agentl.durable.stores import file_requests

    store = FileStore(tmp_path / "run")
    store.acquire("me")
    store.requests.post(Request("r", "first@0", "approval", "pay", "first", "0"))
    synced = counted(monkeypatch, file_requests)
    store.requests.post(Request("r", "a1@0", "approval", "pay", "a1", "0"))
    assert synced[-2:] == [False, True]
    synced.clear()
    store.requests.decide("a1@0", Decision("approved", "ann", "2026-01-01T00:00:00+00:00"))
    assert synced[-2:] == [False, True]
    store.close()


def test_a_job_in_a_directory_is_durable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """WRK-6: its file is on the disk before its name leads to it."""
    from agentl.durable.queue import directory
    from agentl.durable.queue.jobs import Job

    queue = directory.DirectoryQueue(tmp_path)
    with queue.rows():
        synced = counted(monkeypatch, directory)
        queue.put(Job("r1", "a.agent", "0"))
    assert synced == [False]
