"""Small programs, run and looked at: what the tests of the interpreter share."""

from __future__ import annotations

from typing import Any

from agentl.host import Host
from agentl.language.nodes import Agent
from agentl.language.parser import parse_source
from agentl.runtime.runtime import Runtime
from agentl.runtime.trace import TraceEvent


def agent_of(body: str) -> Agent:
    """The agent of a program whose sections are ``body``."""
    return parse_source("AGENT T { " + body + " }").agents[0]


def start(body: str, host: Host | None = None, llm: Any = None, **options: Any) -> Runtime:
    """A runtime that has not ticked yet."""
    return Runtime(agent_of(body), host, llm, **options)


def run(body: str, host: Host | None = None, llm: Any = None, ticks: int = 1, **options: Any) -> Runtime:
    """A runtime after ``ticks`` ticks."""
    runtime = start(body, host, llm, **options)
    runtime.run(ticks)
    return runtime


def codes(runtime: Runtime, *kinds: str) -> list[str]:
    """The message codes of the trace, of these kinds or of all."""
    return [event.code for event in runtime.trace.events if not kinds or event.kind in kinds]


def events(runtime: Runtime, code: str) -> list[TraceEvent]:
    """The events of one code."""
    return [event for event in runtime.trace.events if event.code == code]


def texts(runtime: Runtime, *kinds: str) -> list[str]:
    """The lines of the trace as they are shown, without the frame."""
    shown = [event for event in runtime.trace.events if not kinds or event.kind in kinds]
    return [f"{event.text} [{event.detail}]" if event.detail else event.text for event in shown]


def label(runtime: Runtime, path: str) -> tuple[str, ...]:
    """The sources of what a path resolves to."""
    return runtime.state.get_labeled(path)[1].names


class World:
    """A host whose sensors read a dictionary and whose tools are recorded."""

    def __init__(self, **readings: Any) -> None:
        self.readings: dict[str, Any] = dict(readings)
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.host = Host()

    def sensor(self, path: str, value: Any = None) -> World:
        """Read ``path`` from the readings; an exception there is raised."""
        self.readings[path] = value

        def read() -> Any:
            reading = self.readings.get(path)
            if isinstance(reading, BaseException):
                raise reading
            return reading

        self.host.sensor(path)(read)
        return self

    def tool(self, name: str, answer: Any = None, **promises: Any) -> World:
        """A tool that answers ``answer``: a value, an exception to raise, or a function of the arguments."""

        def call(**args: Any) -> Any:
            self.calls.append((name, args))
            given = answer(**args) if callable(answer) else answer
            if isinstance(given, BaseException):
                raise given
            return given

        self.host.tool(name, **promises)(call)
        return self
