"""The end of a journal file written past the page cache (`STO-3`, `STO-5`, `DRF-3`)."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentl.durable import FileStore
from agentl.durable.stores import direct
from agentl.durable.stores.direct import BLOCK, CAPACITY, DirectTail, whole_blocks

HARMLESS = os.O_NOCTTY
"""In the place of ``O_DIRECT``, so that the same happens on every file system."""


@pytest.fixture(autouse=True)
def _everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(direct, "_DIRECT", HARMLESS)


@pytest.fixture
def wal(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    path = tmp_path / "wal"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    yield path, descriptor
    os.close(descriptor)


def line(number: int, size: int) -> bytes:
    return bytes([65 + number % 26]) * (size - 1) + b"\n"


LENGTHS = st.integers(1, 700) | st.sampled_from([BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, CAPACITY])


@given(st.lists(LENGTHS, max_size=30), st.sets(st.integers(0, 30)))
def test_it_is_the_same_file(
    tmp_path_factory: pytest.TempPathFactory, lengths: list[int], others: set[int]
) -> None:
    """STO-3: byte for byte what ordinary writes give, zeros behind it, whoever else wrote in between."""
    path = tmp_path_factory.mktemp("wal") / "wal"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    room = whole_blocks(sum(lengths)) + BLOCK
    os.pwrite(descriptor, bytes(room), 0)
    tail = DirectTail(path, descriptor)
    wanted = b""
    for number, size in enumerate(lengths):
        more = line(number, size)
        if number in others or not tail.write(more, len(wanted), room):
            assert number in others or size > CAPACITY - BLOCK
            os.pwrite(descriptor, more, len(wanted))
        wanted += more
        assert path.read_bytes() == wanted.ljust(room, b"\0")
    tail.close()
    os.close(descriptor)


def test_the_file_gets_no_longer(wal: tuple[Path, int]) -> None:
    """R52: where the room ends inside the block, the ordinary write meets the end of the disk."""
    path, descriptor = wal
    os.pwrite(descriptor, bytes(BLOCK + 10), 0)
    tail = DirectTail(path, descriptor)
    assert tail.write(line(0, BLOCK), 0, BLOCK + 10)
    assert not tail.write(line(1, 5), BLOCK, BLOCK + 10)
    assert path.read_bytes() == line(0, BLOCK) + bytes(10)


@pytest.mark.parametrize("code", [errno.EINVAL, errno.EOPNOTSUPP])
def test_what_the_file_system_cannot_do_is_done_the_ordinary_way(
    wal: tuple[Path, int], monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """STO-3: declined, then and from then on."""
    path, descriptor = wal
    os.pwrite(descriptor, bytes(BLOCK), 0)
    tail = DirectTail(path, descriptor)

    def fails(*_args: object) -> int:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", fails)
        assert not tail.write(line(0, 9), 0, BLOCK)
    assert not tail.write(line(0, 9), 0, BLOCK)


def test_a_disk_that_fails_is_no_lack_of_a_feature(
    wal: tuple[Path, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """DRF-3: an error of the device is reported and not tried around."""
    path, descriptor = wal
    os.pwrite(descriptor, bytes(BLOCK), 0)
    tail = DirectTail(path, descriptor)

    def fails(*_args: object) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "pwrite", fails)
    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        tail.write(line(0, 9), 0, BLOCK)


def test_half_a_block_written_is_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """STO-5: a short write is made good by the ordinary one, at the same place."""
    store = FileStore(tmp_path)
    epoch = store.acquire("p").epoch
    store.append(line(0, 300), epoch, sync=True)
    real = os.pwrite

    def short(descriptor: int, data: memoryview, place: int) -> int:
        return real(descriptor, bytes(data[:200]), place)

    monkeypatch.setattr(os, "pwrite", short)
    store.append(line(1, 300)[:-1], epoch, sync=True)
    monkeypatch.undo()
    assert store.wal.read_bytes().startswith(line(0, 300) + b"\n" + line(1, 300) + b"\0")
    store.append(line(2, 300)[:-1], epoch, sync=True)
    store.release(epoch)
    assert store.wal.read_bytes() == line(0, 300) + b"\n" + line(1, 300) + line(2, 300)


def test_a_file_that_took_the_name_is_not_written(tmp_path: Path) -> None:
    """STO-6: the file that is locked, or none."""
    mine, other = tmp_path / "mine", tmp_path / "other"
    mine.write_bytes(bytes(BLOCK))
    descriptor = os.open(mine, os.O_RDWR)
    other.write_bytes(bytes(BLOCK))
    other.rename(mine)
    tail = DirectTail(mine, descriptor)
    assert not tail.write(line(0, 9), 0, BLOCK)
    assert mine.read_bytes() == bytes(BLOCK)
    os.close(descriptor)


def test_without_the_feature_nothing_is_opened(
    wal: tuple[Path, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """STO-3: another system keeps its one descriptor."""
    path, descriptor = wal
    os.pwrite(descriptor, bytes(BLOCK), 0)
    monkeypatch.setattr(direct, "_DIRECT", 0)
    assert not DirectTail(path, descriptor).write(line(0, 9), 0, BLOCK)


def test_the_descriptors_are_given_back(tmp_path: Path) -> None:
    """STO-6: a store that let go holds no file open, nor does a forked one."""
    held = Path("/proc/self/fd")
    if not held.is_dir():
        pytest.skip("the system does not list open files")
    before = len(list(held.iterdir()))
    store = FileStore(tmp_path)
    store.release(store.acquire("p").epoch)
    assert len(list(held.iterdir())) == before
    store.acquire("p")
    store.forked()
    assert len(list(held.iterdir())) == before
