"""The file store: appends, tails, failures, the lock (`STO-3`, `STO-5`, `STO-6`, `DRF-3`, R52, R58)."""

from __future__ import annotations

import errno
import json
import os
import resource
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentl.durable import DurableError, DurableJournal, FileStore, LeaseHeld, LeaseLost, StoreFailure
from agentl.durable.stores import file
from agentl.durable.stores.process import this_process

LINE = b'{"seq":%d,"text":"\xc3\xa9"}'


def opened(folder: Path) -> tuple[FileStore, int]:
    store = FileStore(folder)
    lease = store.acquire(str(this_process()))
    store.load()
    store.repair()
    return store, lease.epoch


def in_child(work: Callable[[], int]) -> int:
    """The exit code of ``work`` in a process of its own."""
    child = os.fork()
    if child == 0:
        code = 99
        try:
            code = work()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_lines_come_back_and_the_zeros_are_cut_off(tmp_path: Path) -> None:
    """STO-3, DUR-6: what waits goes out with the next durable line, in order."""
    store, epoch = opened(tmp_path / "run")
    store.append(LINE % 0, epoch, sync=False)
    assert store.wal.read_bytes() == b"", "it waits"
    store.append(LINE % 1, epoch, sync=True)
    assert store.wal.read_bytes().rstrip(b"\0") == LINE % 0 + b"\n" + LINE % 1 + b"\n"
    store.append(LINE % 2, epoch, sync=False)
    store.release(epoch)
    assert store.wal.read_bytes() == b"".join(LINE % n + b"\n" for n in range(3))
    assert store.load()[1] == [LINE % n for n in range(3)]


def test_modes_and_the_note_for_people(tmp_path: Path) -> None:
    """LLM-5, STO-3: 0700 for the directory; lease.json says who drives."""
    store, epoch = opened(tmp_path / "deep" / "run")
    assert stat.S_IMODE(store.directory.stat().st_mode) == 0o700
    assert stat.S_IMODE(store.wal.stat().st_mode) == 0o600
    note = json.loads((store.directory / "lease.json").read_text())
    assert note["epoch"] == epoch == 1
    assert str(os.getpid()) in note["holder"]
    store.close()


def test_nothing_is_made_by_looking(tmp_path: Path) -> None:
    """STO-1: reading takes no lease and creates nothing."""
    store = FileStore(tmp_path / "absent")
    assert (store.load(), store.held(), store.refusal()) == ((None, []), None, None)
    assert not store.directory.exists()


def test_many_lines_need_many_layouts(tmp_path: Path) -> None:
    """STO-5: the zeros are laid out again and again, and a longer line than one layout fits too."""
    store, epoch = opened(tmp_path / "run")
    lines = [b'{"n":"%d%s"}' % (n, b"x" * (n * 5000)) for n in range(60)]
    for line in lines:
        store.append(line, epoch, sync=True)
    assert FileStore(store.directory).load()[1] == lines, "a reader sees them while the run goes on"
    store.close()
    assert store.load()[1] == lines


def test_a_torn_tail_is_cut_by_the_driver_and_by_nobody_else(tmp_path: Path) -> None:
    """STO-5, R52: dropped by a reader, truncated under the lease; the next line stands alone."""
    whole = LINE % 1
    for cut in range(1, len(whole)):
        folder = tmp_path / str(cut)
        folder.mkdir()
        torn = LINE % 0 + b"\n" + whole[:cut]
        (folder / "wal.jsonl").write_bytes(torn)
        assert FileStore(folder).load()[1] == [LINE % 0]
        assert (folder / "wal.jsonl").read_bytes() == torn
        store, epoch = opened(folder)
        assert (folder / "wal.jsonl").read_bytes() == LINE % 0 + b"\n"
        store.append(LINE % 1, epoch, sync=True)
        store.close()
        assert store.load()[1] == [LINE % 0, LINE % 1]


def test_a_refused_journal_stays_as_it_was(tmp_path: Path) -> None:
    """STO-5, DRF-1: who is refused repairs nothing: the torn tail behind the damage is evidence too."""
    run = tmp_path / "run"
    run.mkdir()
    content = b'{"damaged"}\n{"seq":1,"ki' + bytes(700)
    (run / "wal.jsonl").write_bytes(content)
    with pytest.raises(DurableError):
        DurableJournal.open(FileStore(run))
    assert (run / "wal.jsonl").read_bytes() == content


def test_a_whole_line_without_newline_gets_one(tmp_path: Path) -> None:
    """STO-5."""
    (tmp_path / "wal.jsonl").write_bytes(LINE % 0 + b"\n" + LINE % 1)
    store, epoch = opened(tmp_path)
    store.append(LINE % 2, epoch, sync=True)
    store.close()
    assert store.load()[1] == [LINE % n for n in range(3)]


# --- failures ------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EROFS, errno.EDQUOT, errno.EACCES])
@pytest.mark.parametrize("call", ["pwrite", "fdatasync"])
def test_a_failed_append_is_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, call: str
) -> None:
    """DRF-3, R52: reported before anything is done upon it; the store takes nothing more."""
    store, epoch = opened(tmp_path / "run")
    store.append(LINE % 0, epoch, sync=True)

    def fails(*_args: Any) -> int:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patched:
        if call == "pwrite":
            patched.setattr(os, "pwrite", fails)
        else:
            patched.setattr(file, "_fdatasync", fails)
        with pytest.raises(StoreFailure) as failed:
            store.append(LINE % 1, epoch, sync=True)
    assert failed.value.code == "durable.store_failed"
    assert os.strerror(code) in str(failed.value)
    for refused in (
        lambda: store.append(LINE % 1, epoch, sync=True),
        lambda: store.append(LINE % 1, epoch, sync=False),
        lambda: store.write_meta({}),
    ):
        with pytest.raises(StoreFailure):
            refused()
    store.close()
    again, epoch = opened(tmp_path / "run")
    kept = list(again.load()[1])
    assert kept in ([LINE % 0], [LINE % 0, LINE % 1])
    again.append(LINE % 2, epoch, sync=True)
    again.close()
    assert again.load()[1] == [*kept, LINE % 2]


def test_a_full_disk_at_every_byte(tmp_path: Path) -> None:
    """R52, STO-5: a real limit stops the append after k bytes, for every k; nothing is lost."""
    line = LINE % 1
    start = LINE % 0 + b"\n"
    for room in range(len(line) + 1):
        folder = tmp_path / str(room)

        def limited(folder: Path = folder, room: int = room) -> int:
            store, epoch = opened(folder)
            store.append(LINE % 0, epoch, sync=True)
            store.release(epoch)
            store, epoch = opened(folder)
            resource.setrlimit(resource.RLIMIT_FSIZE, (len(start) + room, resource.RLIM_INFINITY))
            try:
                store.append(line, epoch, sync=True)
            except StoreFailure:
                return 4
            return 0

        assert in_child(limited) == 4
        size = (folder / "wal.jsonl").stat().st_size
        assert size <= len(start) + room
        store, epoch = opened(folder)
        assert list(store.load()[1])[:1] == [LINE % 0]
        for number in range(1, 11):
            store.append(LINE % number, epoch, sync=True)
        store.close()
        assert list(store.load()[1])[-10:] == [LINE % number for number in range(1, 11)]


def test_a_directory_that_cannot_be_made(tmp_path: Path) -> None:
    """DRF-3: a file in the way is a clear failure, no traceback of the system."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreFailure) as failed:
        FileStore(tmp_path / "file" / "run").acquire("me")
    assert failed.value.code == "durable.store_failed"


def test_a_read_only_file_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DRF-3: EROFS at opening."""

    def fails(*_args: Any, **_more: Any) -> int:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "open", fails)
    with pytest.raises(StoreFailure):
        FileStore(tmp_path / "run").acquire("me")


# --- the lease -----------------------------------------------------------------------------


def test_a_second_driver_in_this_process_is_refused(tmp_path: Path) -> None:
    """STO-6, R64: another store object on the same directory is another driver."""
    store, epoch = opened(tmp_path)
    with pytest.raises(LeaseHeld) as held:
        FileStore(tmp_path).acquire("me")
    assert str(os.getpid()) in held.value.values["holder"]
    FileStore(tmp_path).load()
    assert FileStore(tmp_path).held() is not None, "looking does not disturb the lock"
    with pytest.raises(LeaseHeld):
        FileStore(tmp_path).acquire("me")
    store.release(epoch)
    assert FileStore(tmp_path).held() is None
    with pytest.raises(LeaseLost):
        store.append(LINE % 0, epoch, sync=True)
    opened(tmp_path)[0].close()


def test_a_driver_in_another_process_is_refused_until_it_dies(tmp_path: Path) -> None:
    """STO-6, R67: the lock ends with its process, however that ends, and never by the note."""
    ready, go = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        opened(tmp_path)
        os.write(ready[1], b"x")
        os.read(go[0], 1)
        os.kill(os.getpid(), 9)
    assert os.read(ready[0], 1) == b"x"
    with pytest.raises(LeaseHeld) as held:
        FileStore(tmp_path).acquire("me")
    assert f"pid {child}" in str(held.value)
    os.write(go[1], b"x")
    os.waitpid(child, 0)
    store, _ = opened(tmp_path)
    store.close()
    for end in (*ready, *go):
        os.close(end)


def test_a_stale_note_of_a_living_process_holds_nothing(tmp_path: Path) -> None:
    """R67: lease.json may name whom it likes, half a line too; the lock decides."""
    for note in (json.dumps({"epoch": 4, "holder": str(this_process()), "since": "x"}), '{"epo'):
        (tmp_path / "lease.json").write_text(note)
        assert FileStore(tmp_path).held() is None
        store, _ = opened(tmp_path)
        store.close()


def test_the_epoch_counts_the_drivers(tmp_path: Path) -> None:
    """STO-6: the number of `open` and `resume` entries so far, plus one; another epoch cannot append."""
    (tmp_path / "wal.jsonl").write_bytes(
        b'{"seq":0,"kind":"open"}\n{"seq":1,"kind":"read","key":"\\"kind\\":\\"open\\""}\n{"seq":2,"kind":"resume"}\n'
    )
    store, epoch = opened(tmp_path)
    assert epoch == 3
    with pytest.raises(LeaseLost):
        store.append(LINE % 0, epoch - 1, sync=True)
    store.close()
