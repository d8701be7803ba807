"""Why nobody may drive a run where it lies: it was purged or moved, is arriving, or is a copy (`OPS-6`).

A mark stands beside the journal and is no part of it. A store looks at it in the same step in which it gives
a lease.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from agentl.errors import DurableError

PURGED: Final = "purged"
MOVED: Final = "moved"
ARRIVING: Final = "arriving"
COPY: Final = "copy"
KINDS: Final = (PURGED, MOVED, ARRIVING, COPY)

Mark = Mapping[str, Any]


def mark(
    kind: str,
    run_id: str,
    *,
    head: str,
    entries: int,
    opened: Mapping[str, Any] | None = None,
    at: str | None = None,
    **more: Any,
) -> dict[str, Any]:
    """A mark: what it is, of which run, its digests, and since when (`OPS-6`).

    Args:
        head, entries: digest of the last entry of the journal, and how many there were.
        opened: the arguments of its ``open`` entry.
        more: ``other`` (the address a run went to or came from), ``ended``, ``reason``, ``by``.
    """
    return {
        "mark": kind,
        "run_id": run_id,
        "at": at or datetime.now(UTC).isoformat(timespec="seconds"),
        "head": head,
        "entries": entries,
        "program_sha256": (opened or {}).get("program_sha256"),
        "created": (opened or {}).get("created"),
        **more,
    }


def refusal(found: Mark, name: str) -> DurableError:
    """Why a marked run is not driven. A mark that nobody can read refuses like any other."""
    kind = found.get("mark")
    return DurableError(
        code=f"ops.{kind}" if kind in KINDS else "ops.marked",
        run_id=str(found.get("run_id", "?")),
        at=str(found.get("at", "?")),
        other=str(found.get("other", "—")),
        name=name,
    )


def refuse_marked(found: Mark | None, name: str) -> None:
    """Let an unmarked run be driven (`OPS-6`).

    Raises:
        DurableError: a mark stands.
    """
    if found is not None:
        raise refusal(found, name)


def refuse_occupied(found: Mark | None, entries: bool, name: str) -> None:
    """Let a run arrive where none is, or where it had begun to arrive (`OPS-8`).

    Raises:
        DurableError: a run is there, or a mark that remembers one.
    """
    if found is not None and found.get("mark") == ARRIVING:
        return
    refuse_marked(found, name)
    if entries:
        raise DurableError(code="ops.occupied", name=name)


def refuse_not_arriving(found: Mark | None, name: str) -> None:
    """Let a run be driven that has arrived (`OPS-8`).

    Raises:
        DurableError: it was not arriving.
    """
    if found is None or found.get("mark") != ARRIVING:
        raise DurableError(code="ops.not_arriving", name=name)


def refuse_unmarked(found: Mark | None, name: str) -> None:
    """Let what is marked be removed without its lease, which nobody can have (`OPS-7`).

    Raises:
        DurableError: it is not marked, or is arriving.
    """
    if found is None or found.get("mark") == ARRIVING:
        raise DurableError(code="ops.not_marked", name=name)
