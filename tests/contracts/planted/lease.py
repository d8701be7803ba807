"""Decisions about leases with one fault each, for CrossHair to find (``tools/crosshair_check.py``)."""

from __future__ import annotations

from agentl.durable import lease
from agentl.durable.lease import Liveness, Standing
from tests.contracts.planted.shared import under


@under(lease.liveness)
def liveness(holder_space: str, here_space: str, started: str, started_now: str) -> Liveness:
    """Judges a process of another machine by the process table of this one."""
    return Liveness.ALIVE if started_now and started_now == started else Liveness.DEAD


@under(lease.standing)
def standing(released: bool, alive: Liveness, late: bool, itself: bool) -> Standing:
    """A process takes the run over from itself."""
    if released or alive is Liveness.DEAD:
        return Standing.FREE
    return Standing.RAN_OUT if late else Standing.HELD


@under(lease.unsure)
def unsure(released: bool, alive: Liveness) -> bool:
    """Takes a driver that nobody can see for dead."""
    return not released and alive is Liveness.ALIVE


@under(lease.next_epoch)
def next_epoch(latest: int) -> int:
    """Gives the same number twice."""
    return max(latest, 1)


@under(lease.may_append)
def may_append(own: int, latest: int) -> bool:
    """An older driver writes as well."""
    return own <= latest


@under(lease.may_still_act)
def may_still_act(unsure: tuple[int, ...], callers: tuple[int, ...]) -> bool:
    """Fears every older driver, also one that never had leave to call."""
    return bool(unsure)
