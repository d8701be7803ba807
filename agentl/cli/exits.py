"""Exit codes (`CLI-16`), and which one counts when several apply."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

DONE: Final = 0
FAILED: Final = 1
USAGE: Final = 2
STORE_FAILED: Final = 4
IN_DOUBT: Final = 5
WAITING: Final = 6
HELD: Final = 10
INTERRUPTED: Final = 130

PRECEDENCE: Final = (INTERRUPTED, STORE_FAILED, HELD, USAGE, FAILED, IN_DOUBT, 9, 7, 6, 8)


def first(codes: Iterable[int]) -> int:
    """The code that counts among those that apply; ``DONE`` when none does."""
    applying = list(codes)
    return next((code for code in PRECEDENCE if code in applying), DONE)
