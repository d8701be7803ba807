"""The words for the state of a durable run (`DUR-13`)."""

from __future__ import annotations

from typing import Final

COMPLETED: Final = "completed"
CANCELLED: Final = "cancelled"
RUNNING: Final = "running"
REFUSED: Final = "refused"
WAITING: Final = "waiting"
NEW: Final = "new"
INTERRUPTED: Final = "interrupted"
