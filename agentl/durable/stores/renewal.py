"""A lease by time is renewed while its driver works: a tool may take minutes (`STO-6`)."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from contextlib import suppress

from agentl.errors import StoreFailure


class Renewal:
    """Calls ``renew``, a method of a store, again and again in a thread of its own.

    It decides nothing: that a lease ran out is for a new driver to see, and that it was lost the next
    append tells. It ends when it is stopped or when the store is gone.

    Args:
        seconds: from one call to the next.
    """

    def __init__(self, renew: Callable[[], None], seconds: float) -> None:
        self._renew = weakref.WeakMethod(renew)
        self._seconds = seconds
        self._stop = threading.Event()
        threading.Thread(target=self._watch, name="agentl-lease", daemon=True).start()

    def stop(self) -> None:
        """Call no more."""
        self._stop.set()

    def _watch(self) -> None:
        while not self._stop.wait(self._seconds):
            renew = self._renew()
            if renew is None:
                return
            with suppress(StoreFailure):  # the next append meets the same trouble, and may end the run
                renew()
            del renew
