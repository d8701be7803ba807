"""The end of a file that grows by short lines, written past the page cache where the system can (`STO-3`).

A line of a few hundred bytes that must reach the disk at once gains nothing from the page cache: its page is
copied, marked, searched for and cleaned again by the synchronisation that follows. Written directly, whole
blocks at a time, the same line costs the processor half. It makes nothing durable by itself: the caller
synchronises as before.

Only blocks that lie in room which the file has already are written here; no file gets longer, so a full disk
or a limit on file sizes is met by the ordinary write, at the byte where it always was. What comes before the
line in its block is written again as it is, and what comes behind is zero, as the room was.
"""

from __future__ import annotations

import errno
import fcntl
import mmap
import os
from pathlib import Path
from typing import Final

BLOCK: Final = 4096
CAPACITY: Final = 16 * BLOCK
_DIRECT: Final = getattr(os, "O_DIRECT", 0)
_NOT_HERE: Final = (errno.EINVAL, errno.EOPNOTSUPP)


def whole_blocks(size: int) -> int:
    """``size`` rounded up to whole blocks."""
    return (size + BLOCK - 1) // BLOCK * BLOCK


def open_apart(path: Path, flags: int) -> int:
    """Open a file under a number that no standard stream has.

    A process that was started without one of them would get it, and whatever is written to
    that stream by number would land in the file.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | flags, 0o600)
    if descriptor > 2:
        return descriptor
    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    finally:
        os.close(descriptor)


class DirectTail:
    """The last, unfinished block of a file, kept in memory as the file has it.

    A system or a file system without such writes makes it decline everything.

    Args:
        path: the file.
        ordinary: the same file, open for reading; it stays the caller's.
    """

    __slots__ = ("_begin", "_descriptor", "_filled", "_ordinary", "_room", "_view")

    def __init__(self, path: Path, ordinary: int) -> None:
        self._ordinary = ordinary
        self._descriptor = -1
        self._begin = 0
        self._filled = -1
        # Memory of its own pages: direct writes ask for addresses at whole blocks.
        self._room = mmap.mmap(-1, CAPACITY)
        self._view = memoryview(self._room)
        if _DIRECT:
            try:
                self._descriptor = open_apart(path, _DIRECT)
            except OSError:
                return
            if not os.path.samestat(os.fstat(self._descriptor), os.fstat(ordinary)):
                self.close()

    def write(self, lines: bytes, end: int, laid_out: int) -> bool:
        """Write ``lines`` at ``end``; ``False`` when it must be done the ordinary way.

        Args:
            end: where the lines so far end; what was written otherwise meanwhile is read again.
            laid_out: how long the file is, with zeros behind ``end``.

        Raises:
            OSError: the system refused the write itself.
        """
        if self._descriptor < 0:
            return False
        if self._begin + self._filled != end and not self._reload(end):
            return False
        filled = self._filled + len(lines)
        size = whole_blocks(filled)
        if size > CAPACITY or self._begin + size > laid_out:
            return False
        room = self._room
        room[self._filled : filled] = lines
        try:
            written = os.pwrite(self._descriptor, self._view[:size], self._begin)
        except OSError as error:
            if error.errno not in _NOT_HERE:
                raise
            written = 0
        if written != size:
            self.close()
            return False
        done = filled // BLOCK * BLOCK
        if done:
            rest = filled - done
            room[:rest] = room[done:filled]
            room[rest:size] = bytes(size - rest)
            self._begin += done
            filled = rest
        self._filled = filled
        return True

    def _reload(self, end: int) -> bool:
        """Take in what the file has of the block that ``end`` lies in."""
        begin = end // BLOCK * BLOCK
        block = os.pread(self._ordinary, end - begin, begin)
        if len(block) < end - begin:
            return False
        self._room[:] = block.ljust(CAPACITY, b"\0")
        self._begin, self._filled = begin, end - begin
        return True

    def close(self) -> None:
        """Decline from now on."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)
