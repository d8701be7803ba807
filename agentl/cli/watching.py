"""Watching a run: the trace as it comes, the file of events, the progress on a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from agentl.cli import failures, output
from agentl.errors import AgentLError
from agentl.messages import render

if TYPE_CHECKING:
    from agentl.runtime.trace import Trace, TraceEvent


def event_data(agent: str, seq: int, event: TraceEvent) -> dict[str, Any]:
    """An event as data (`CLI-6`)."""
    return {
        "seq": seq,
        "agent": agent,
        "tick": event.tick,
        "kind": event.kind,
        "text": event.text,
        "detail": event.detail,
        "code": event.code,
        "values": output.plain(dict(event.values)),
    }


def trace_data(agent: str, trace: Trace) -> list[dict[str, Any]]:
    """A whole trace as data."""
    return [event_data(agent, seq, event) for seq, event in enumerate(trace.events)]


class Watch:
    """What a command shows of a run while it goes on.

    Args:
        agent: the name under which events are written.
        quiet: nothing of the trace until the end (``--quiet``), or not at all (``--json``).
    """

    def __init__(self, agent: str, *, quiet: bool) -> None:
        self.agent = agent
        self.quiet = quiet
        self._kept: list[str] = []
        self._seq = 0
        self._events: IO[str] | None = None
        self._status: Any = None

    def open_events(self, file: Path | None, opened: ExitStack) -> None:
        """Open the file of events before anything runs (`CLI-5`).

        Raises:
            AgentLError: it cannot be written.
        """
        if file is None:
            return
        try:
            self._events = file.open("w", encoding="utf-8", errors="backslashreplace")
            opened.callback(self._close_events)
        except (OSError, ValueError) as error:
            raise unwritable(file, error) from error

    def _close_events(self) -> None:
        try:
            if self._events is not None:
                self._events.close()
        except (OSError, ValueError) as error:
            self._lose_events(error)

    @property
    def echo(self) -> Any:
        """What a trace calls with each line: shown at once, or kept until the end."""
        return self._kept.append if self.quiet else output.trace

    def sink(self, event: TraceEvent) -> None:
        """What a trace calls with each event."""
        if self._events is not None:
            self._write_event(event)
        self._seq += 1
        if self._status is not None and event.kind == "TICK":
            self._status.update(render("cli.progress", {"tick": event.tick}))

    def _write_event(self, event: TraceEvent) -> None:
        assert self._events is not None
        line = json.dumps(event_data(self.agent, self._seq, event), ensure_ascii=False, default=str)
        try:
            self._events.write(line + "\n")
            self._events.flush()
        except (OSError, ValueError) as error:
            # A run that acts on the world is not stopped by what watches it; but it is said.
            self._lose_events(error)

    def _lose_events(self, error: Exception) -> None:
        events, self._events = self._events, None
        with suppress(OSError, ValueError):
            if events is not None:
                events.close()
        file = str(getattr(events, "name", ""))
        output.note("⚠ " + render("cli.events_lost", {"file": file, "cause": failures.cause(error)}))

    def attach(self, runtime: Any) -> None:
        """Watch the trace of a runtime."""
        runtime.trace.echo = self.echo
        runtime.trace.sink = _both(runtime.trace.sink, self.sink)

    def attach_host(self, host: Any) -> None:
        """Watch the trace of the runtime that will be made for ``host``."""
        host.trace_sink = _both(getattr(host, "trace_sink", None), self.sink)

    @contextmanager
    def progress(self) -> Iterator[None]:
        """A live line on stderr while nothing else is shown, on a terminal only."""
        if not self.quiet or not output.colourful(sys.stderr):
            yield
            return
        from rich.console import Console

        console = Console(file=sys.stderr)
        with console.status(render("cli.progress", {"tick": 0})) as status:
            self._status = status
            try:
                yield
            finally:
                self._status = None

    def show_rest(self) -> None:
        """What was kept back, now that the run is over, and the closing rule of a trace (`TRC-1`)."""
        for line in self._kept:
            output.trace(line)
        output.out("└" + "─" * 52)


def _both(first: Any, second: Any) -> Any:
    if first is None:
        return second

    def sink(event: Any) -> None:
        try:
            first(event)
        finally:
            second(event)

    return sink


def unwritable(file: Path, error: Exception) -> AgentLError:
    """The error of a file that cannot be written."""
    return AgentLError(code="cli.unwritable", file=str(file), cause=failures.cause(error))
