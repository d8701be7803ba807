"""A process that forks does not share what it drives: the child lets go at once (`STO-6`).

A lock of an open file is inherited by a forked child and would outlive the driver in it; and a
tool that forks and returns twice would leave two drivers behind one lease.
"""

from __future__ import annotations

import os
import weakref
from typing import Any, Final

_driving: Final[list[weakref.ref[Any]]] = []


def watch(store: Any) -> None:
    """From now on a child of this process calls ``store.forked()`` before anything else."""
    _driving[:] = [known for known in _driving if known() not in (None, store)]
    _driving.append(weakref.ref(store))


def _in_child() -> None:
    for known in _driving:
        store = known()
        if store is not None:
            store.forked()
    _driving.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
