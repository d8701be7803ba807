"""Leases that are rows of a database: what the rows say, and who comes next (`STO-4`, `STO-6`, `STO-7`).

Both databases keep every lease that a run ever had, and ask here. The rows of older ones tell whether an
older driver may still be inside a call, so none is ever deleted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from agentl.durable.lease import Lease, Standing, may_append, next_epoch, shown, standing, unsure
from agentl.durable.stores.process import liveness_of
from agentl.errors import LeaseHeld, LeaseLost


class LeaseRow(NamedTuple):
    """One lease: ``since`` in UTC and ISO form; ``late`` when it was not renewed in time (`STO-6`)."""

    epoch: int
    holder: str
    since: str
    released: bool
    late: bool


def in_force(row: LeaseRow | None) -> Lease | None:
    """The lease of the latest row, if somebody drives under it now (`DUR-13`)."""
    if row is None or row.released or _standing(row) is not Standing.HELD:
        return None
    return Lease(row.epoch, row.holder, row.since)


def succeed(rows: Sequence[LeaseRow], holder: str, since: str) -> Lease:
    """The lease of a new driver, given every row so far in the order of epochs (`STO-6`).

    Raises:
        LeaseHeld: the latest lease is not over.
    """
    latest = rows[-1] if rows else None
    if latest is not None and _standing(latest) is Standing.HELD:
        raise LeaseHeld(
            code="durable.lease_held", holder=shown(latest.holder), since=latest.since, epoch=latest.epoch
        )
    loose = tuple(row.epoch for row in rows if unsure(row.released, liveness_of(row.holder)[0]))
    return Lease(next_epoch(latest.epoch if latest is not None else 0), holder, since, loose)


def admit(own: int, latest: LeaseRow | None) -> None:
    """Let the driver of epoch ``own`` write, if its lease is the latest and was not released (`STO-6`).

    Raises:
        LeaseLost: it is not.
    """
    if latest is None or latest.released or not may_append(own, latest.epoch):
        raise LeaseLost(
            code="durable.lease_lost", own=own, holder=shown(latest.holder) if latest is not None else "?"
        )


def _standing(row: LeaseRow) -> Standing:
    alive, itself = liveness_of(row.holder)
    return standing(row.released, alive, row.late, itself)
