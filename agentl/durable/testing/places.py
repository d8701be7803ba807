"""Where the suite keeps its runs, and the drivers that it plays (`STO-10`)."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from typing import Any, Final

from agentl.durable.lease import Holder, Lease
from agentl.durable.stores.base import Store
from agentl.durable.stores.process import this_process

RUN: Final = "run"
ELSEWHERE: Final = str(Holder("another-machine", 1, "1", "another-boot/1"))
"""A holder whose process nobody here can look for."""


class Place(ABC):
    """An empty place for runs, made anew for each test (`STO-10`).

    ``lease_seconds`` is how long a lease lasts that is not renewed, where leases end by time.
    """

    lease_seconds = 60.0

    @abstractmethod
    def store(self, run_id: str = RUN) -> Store:
        """A new store object on a run; a store that lives in memory may give the same again."""

    def pass_time(self, seconds: float) -> None:
        """Make the clock that leases are measured by show so much more, or less."""
        raise NotImplementedError

    def full(self) -> AbstractContextManager[None]:
        """A time in which the place takes some hundred kilobytes, and then no more.

        A process that is started meanwhile meets the limit.
        """
        raise NotImplementedError

    def cut(self) -> None:
        """End every connection to the place, as a server or a proxy does to an idle one."""
        raise NotImplementedError

    def crash(self) -> None:
        """Stop the server as a power cut does."""
        raise NotImplementedError

    def restart(self) -> None:
        """Start it again; returns when it answers."""
        raise NotImplementedError


def entry(number: int, text: Any = None, *, kind: str = "read") -> bytes:
    """One line as a journal has them: a JSON object in UTF-8 without a newline."""
    return json.dumps({"seq": number, "kind": kind, "key": "", "value": text}).encode("utf-8")


class Driver:
    """A store that drives: it has its lease, and its first entry is durable, as in a run.

    Args:
        holder: who drives; this process when it is not given.
    """

    def __init__(self, store: Store, holder: str | None = None) -> None:
        self.store = store
        self.lease: Lease = store.acquire(holder if holder is not None else str(this_process()))
        _, lines = store.load()
        self.count = len(lines)
        store.repair()
        self.write(kind="resume" if lines else "open")

    @property
    def epoch(self) -> int:
        """The epoch of its lease."""
        return self.lease.epoch

    def write(self, text: Any = None, *, sync: bool = True, kind: str = "read") -> bytes:
        """Append one entry; gives its line."""
        line = entry(self.count, text, kind=kind)
        self.store.append(line, self.epoch, sync=sync)
        self.count += 1
        return line


def lines_of(store: Store) -> list[bytes]:
    """The lines of a run, as bytes."""
    return [line if isinstance(line, bytes) else line.encode("utf-8") for line in store.load()[1]]


def numbers_of(store: Store) -> list[int]:
    """The numbers of the entries of a run."""
    return [json.loads(line)["seq"] for line in lines_of(store)]
