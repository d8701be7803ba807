"""What a store of a durable run must offer (`STO-1`)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Protocol, runtime_checkable

from agentl.durable.lease import Lease
from agentl.errors import StoreFailure

Meta = dict[str, Any]


@runtime_checkable
class Store(Protocol):
    """A place that keeps one run (`STO-1`).

    Lines are bytes without their newline. Whatever fails raises ``StoreFailure``, after which
    the store accepts nothing more (`DRF-3`).
    """

    @property
    def name(self) -> str:
        """What messages call the place of the entries."""

    def load(self) -> tuple[Meta | None, Sequence[bytes | str]]:
        """The meta for people (or ``None``) and every line, without a torn tail; takes no lease."""

    def acquire(self, holder: str) -> Lease:
        """Become the one driver of the run; ``LeaseHeld`` when there is another."""

    def repair(self) -> None:
        """Drop a torn tail for good; only the driver does (`STO-5`)."""

    def append(self, raw: bytes, epoch: int, *, sync: bool) -> None:
        """Add a line; with ``sync`` it and all before it are durable on return (`DUR-6`)."""

    def write_meta(self, meta: Meta, *, sync: bool = False) -> None:
        """Replace the meta, whole or not at all."""

    def release(self, epoch: int) -> None:
        """Give the lease back."""

    def close(self) -> None:
        """Let go of files and connections; a lease still held is released."""

    def held(self) -> Lease | None:
        """The lease that somebody holds now, or ``None``; takes none (`DUR-13`)."""

    def refusal(self) -> Mapping[str, Any] | None:
        """The last refusal of a resume that still counts (`DUR-13`)."""

    def write_refusal(self, refusal: Mapping[str, Any] | None) -> None:
        """Keep the refusal of a resume, or forget it (``None``)."""


@contextmanager
def failing_as(operation: str) -> Iterator[None]:
    """Turn the errors of the operating system into ``StoreFailure`` (`DRF-3`)."""
    try:
        yield
    except OSError as error:
        raise failure(operation, error) from error


def failure(operation: str, error: Exception | str) -> StoreFailure:
    """The failure of ``operation``, with its cause (`DRF-3`)."""
    cause = error if isinstance(error, str) else (getattr(error, "strerror", None) or str(error))
    return StoreFailure(code="durable.store_failed", operation=operation, cause=cause)


def json_object(text: Any) -> dict[str, Any] | None:
    """The object that a note beside the journal holds; ``None`` for anything else: notes decide nothing."""
    try:
        data = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def utc_now() -> str:
    """Now, in UTC and ISO form, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
