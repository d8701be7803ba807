"""The end of a run with a fault. CrossHair must find it (``tools/crosshair_check.py``)."""

from __future__ import annotations

from agentl.durable import closing
from agentl.durable.closing import Ending
from tests.contracts.planted.shared import under


@under(closing.close)
def close(left: int, kind: str | None) -> Ending:
    """A run that ends over a rest of its record."""
    if left == 0:
        return Ending.WRITE
    return Ending.SERVED
