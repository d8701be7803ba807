"""Who may drive a run: the decisions about leases, as pure functions (`STO-6`).

A store keeps the rows and asks these functions; none of them looks at a clock or a process
table. A lease ends when it is released, when its process is known to be dead, or, in a
database, by time; only in the last case may the old driver still be at work.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final

from agentl.contracts import clause, ensure, require
from agentl.errors import StoreFailure

LEASE_SECONDS: Final = 60.0
RENEWALS: Final = 3
"""How often a lease by time is renewed before it would run out."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to drive a run (`STO-1`).

    ``epoch`` is the fencing number, ``since`` UTC in ISO form. ``unsure`` lists older epochs whose
    driver was neither released nor is known to be dead: it may still be inside a call.
    """

    epoch: int
    holder: str
    since: str
    unsure: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Holder:
    """A process that no other can be taken for (`STO-6`).

    A process id alone is soon given to somebody else, so ``started`` (when the process began) and
    ``space`` (this boot of this machine, and the namespace the id is counted in) belong to it.
    """

    machine: str
    process: int
    started: str
    space: str

    def __str__(self) -> str:
        return f"{self.machine} pid {self.process} start {self.started} space {self.space}"

    @property
    def shown(self) -> str:
        """Machine and process, for people."""
        return f"{self.machine}, pid {self.process}"


_HOLDER: Final = re.compile(
    r"(?P<machine>.*) pid (?P<process>[0-9]+) start (?P<started>\S*) space (?P<space>\S*)"
)


def read_holder(text: str) -> Holder | None:
    """The holder that a text names, or ``None`` when it has another form."""
    found = _HOLDER.fullmatch(text)
    if found is None:
        return None
    return Holder(found["machine"], int(found["process"]), found["started"], found["space"])


def shown(text: str) -> str:
    """A holder's text for people: machine and process, or the text itself."""
    holder = read_holder(text)
    return text if holder is None else holder.shown


class Liveness(Enum):
    """What is known about the process of a holder."""

    ALIVE = "alive"
    DEAD = "dead"
    UNKNOWN = "unknown"


@ensure(
    lambda holder_space, here_space, result: holder_space == here_space or result is Liveness.UNKNOWN,
    error=clause("STO-6", "Liveness"),
)
def liveness(holder_space: str, here_space: str, started: str, started_now: str) -> Liveness:
    """Whether a holder still lives, judged from this machine.

    Args:
        holder_space: where the holder runs.
        here_space: where we look from.
        started: when the holder's process began.
        started_now: when the process of that id that runs now began; empty when there is none.
    """
    if holder_space != here_space or not holder_space:
        return Liveness.UNKNOWN
    return Liveness.ALIVE if started_now and started_now == started else Liveness.DEAD


class Standing(Enum):
    """What stands in the way of a new driver."""

    FREE = "free"
    HELD = "held"
    RAN_OUT = "ran_out"


@ensure(
    lambda released, result: not released or result is Standing.FREE,
    error=clause("STO-6", "Release"),
)
@ensure(
    lambda released, alive, late, itself, result: (
        released or alive is Liveness.DEAD or (result is Standing.RAN_OUT) == (late and not itself)
    ),
    error=clause("STO-6", "Expire"),
)
def standing(released: bool, alive: Liveness, late: bool, itself: bool) -> Standing:
    """Whether the latest lease of a run is over.

    Args:
        released: its holder gave it back.
        alive: what is known about its holder.
        late: it was not renewed in time.
        itself: the holder is the process that asks. A process never takes a run over from
            itself, whatever its clock says.
    """
    if released or alive is Liveness.DEAD:
        return Standing.FREE
    if itself or not late:
        return Standing.HELD
    return Standing.RAN_OUT


@ensure(
    lambda released, alive, result: result == (not released and alive is not Liveness.DEAD),
    error=clause("STO-6", "Acquire"),
)
def unsure(released: bool, alive: Liveness) -> bool:
    """Whether the driver of an older lease may still be inside a call."""
    return not released and alive is not Liveness.DEAD


@require(lambda latest: latest >= 0, error=clause("STO-6", "Acquire"))
@ensure(lambda latest, result: result > latest, error=clause("STO-6", "Acquire"))
def next_epoch(latest: int) -> int:
    """The epoch of a new lease: above every one before.

    :raises StoreFailure: the store gave a number that no lease has.
    """
    if latest < 0:
        raise StoreFailure(code="durable.store_failed", operation="acquire", cause=f"epoch {latest}")
    return latest + 1


@ensure(lambda own, latest, result: result == (own == latest), error=clause("STO-6", "Admit"))
def may_append(own: int, latest: int) -> bool:
    """Fencing: only the latest lease writes."""
    return own == latest


@ensure(
    lambda unsure, callers, result: result == (not all(epoch not in unsure for epoch in callers)),
    error=clause("STO-6", "MayStillAct"),
)
def may_still_act(unsure: tuple[int, ...], callers: tuple[int, ...]) -> bool:
    """Whether an older driver may still be inside a call of this action.

    Args:
        unsure: epochs whose driver was neither released nor is known to be dead.
        callers: epochs under which an entry gave leave to call: the intent, and each further attempt.
            A driver that wrote none of them cannot call: its first entry is refused (``may_append``).
    """
    return any(epoch in callers for epoch in unsure)
