"""What is shown of a run while it is re-derived: nothing, until it is live again (`DCL-1`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Curtain:
    """Keeps the echo and the sink of a trace back as long as the journal is served.

    When the run goes live inside a tick, the lines of that tick are given first: a tick is shown
    whole, or, when it was re-derived to its end, not at all.
    """

    def __init__(self, trace: Any, echo: bool | Callable[[str], Any]) -> None:
        self._trace = trace
        self._echo = echo
        self._sink = trace.sink
        trace.echo = False
        trace.sink = None

    def lift(self, served: int) -> None:
        """Show what comes from now on, and what was traced since the tick ``served``, the last re-derived."""
        trace, self._trace = self._trace, None
        if trace is None:
            return
        trace.sink, trace.echo = self._sink, self._echo
        events = trace.events
        first = len(events)
        while first and events[first - 1].tick > served:
            first -= 1
        for event in events[first:]:
            if self._sink is not None:
                self._give(self._sink, event)
            if self._echo:
                line = trace.line(event)
                if callable(self._echo):
                    self._give(self._echo, line)
                else:
                    print(line)  # noqa: T201 - the echo of a trace is the standard output

    @staticmethod
    def _give(receiver: Callable[[Any], Any], what: Any) -> None:
        try:
            receiver(what)
        except Exception:  # noqa: BLE001 - a sink that raises never stops the run (API-7)
            return
