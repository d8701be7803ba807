"""The lock of the operating system that is the lease of a ``FileStore`` (`STO-6`).

A lock that belongs to the open file, not to the process, so that a second run inside the same
process is refused like any other, and closing another handle on the file loses nothing. It
ends with the process, however that dies. Where it can be asked about, asking does not take it.
"""

from __future__ import annotations

import fcntl
import struct
from typing import Final

# struct flock: type, whence, start, length, pid; the lock covers the whole file.
_FLOCK: Final = struct.Struct("hhqqi4x")
_SET: Final[int | None] = getattr(fcntl, "F_OFD_SETLK", None)
_ASK: Final[int | None] = getattr(fcntl, "F_OFD_GETLK", None)


def take(descriptor: int) -> bool:
    """Take the lock without waiting; ``False`` when somebody holds it."""
    try:
        if _SET is None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            fcntl.fcntl(descriptor, _SET, _FLOCK.pack(fcntl.F_WRLCK, 0, 0, 0, 0))
    except (BlockingIOError, PermissionError):
        return False
    return True


def is_held(descriptor: int) -> bool:
    """Whether somebody else holds the lock of this file."""
    if _ASK is None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        return False
    answer = fcntl.fcntl(descriptor, _ASK, _FLOCK.pack(fcntl.F_WRLCK, 0, 0, 0, 0))
    return bool(_FLOCK.unpack(answer)[0] != fcntl.F_UNLCK)
