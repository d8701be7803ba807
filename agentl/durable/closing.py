"""When a run may end: the one step of the protocol that is about the run and not about a permit (`RES-8`)."""

from __future__ import annotations

from enum import Enum

from agentl.contracts import clause, ensure, require


class Ending(Enum):
    """How a run that has come to its end goes on from there (`RES-8`)."""

    WRITE = "write"
    SERVED = "served"
    REFUSED = "refused"


@require(lambda left: left >= 0, error=clause("RES-8", "Close"))
@ensure(
    lambda left, result: (result is Ending.WRITE) == (left == 0),
    error=clause("RES-8", "Close"),
)
@ensure(
    lambda left, kind, result: (result is Ending.REFUSED) == (left > 0 and kind != "close"),
    error=clause("RES-8", "Close"),
)
def close(left: int, kind: str | None) -> Ending:
    """Close (`RES-8`): a run ends at the end of its record, or where the record itself says that it ended.

    ``left`` entries of the record were not derived again; ``kind`` is that of the next one, if any.
    """
    if left == 0:
        return Ending.WRITE
    return Ending.SERVED if kind == "close" else Ending.REFUSED


__all__ = ["Ending", "close"]
