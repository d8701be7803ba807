"""The decisions about leases, exhaustively (`STO-6`)."""

from __future__ import annotations

from itertools import product

import pytest

from agentl.durable.lease import (
    Holder,
    Liveness,
    Standing,
    liveness,
    may_append,
    may_still_act,
    next_epoch,
    read_holder,
    shown,
    standing,
    unsure,
)


@pytest.mark.parametrize(
    ("released", "alive", "late", "itself"),
    list(product([False, True], Liveness, [False, True], [False, True])),
)
def test_when_a_lease_is_over(released: bool, alive: Liveness, late: bool, itself: bool) -> None:
    """STO-6: released or known dead: free; late: ran out, but never for the process itself; else held."""
    if released or alive is Liveness.DEAD:
        wanted = Standing.FREE
    elif late and not itself:
        wanted = Standing.RAN_OUT
    else:
        wanted = Standing.HELD
    assert standing(released, alive, late, itself) is wanted
    assert unsure(released, alive) is (not released and alive is not Liveness.DEAD)


@pytest.mark.parametrize(
    ("space", "started_now", "wanted"),
    [
        ("here", "17", Liveness.ALIVE),
        ("here", "18", Liveness.DEAD),
        ("here", "", Liveness.DEAD),
        ("there", "17", Liveness.UNKNOWN),
        ("", "17", Liveness.UNKNOWN),
    ],
)
def test_who_is_alive(space: str, started_now: str, wanted: Liveness) -> None:
    """STO-6, R67: only on this machine, and only with the start time; elsewhere nobody knows."""
    assert liveness(space, "here", "17", started_now) is wanted


def test_epochs_only_grow_and_only_the_latest_writes() -> None:
    """STO-6."""
    assert [next_epoch(latest) for latest in range(3)] == [1, 2, 3]
    assert [may_append(2, latest) for latest in (1, 2, 3)] == [False, True, False]


def test_a_holder_is_read_back_as_written() -> None:
    """STO-6: machine names with spaces too; other texts stay opaque."""
    holder = Holder("my machine", 12, "345", "boot/7")
    assert read_holder(str(holder)) == holder
    assert shown(str(holder)) == "my machine, pid 12"
    assert read_holder("somebody") is None
    assert shown("somebody") == "somebody"


def test_who_may_still_be_inside_a_call() -> None:
    """STO-6: a driver counts if nobody knows that it ended, and if one of its entries gave leave to call."""
    assert may_still_act((1,), (1,))
    assert may_still_act((2,), (1, 2)), "whoever called again counts like whoever was first"
    assert not may_still_act((), (1, 2))
    assert not may_still_act((2,), (1,)), "its first entry would be refused, so it cannot call"
