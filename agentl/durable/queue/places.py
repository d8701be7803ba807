"""The queue of a place (`WRK-1`)."""

from __future__ import annotations

from agentl.durable.address import DIRECTORY, SQLITE, Address, known_address
from agentl.durable.queue.base import Queue


def queue_at(address: str | Address) -> Queue:
    """The queue of a place; nothing is opened or created yet.

    Raises:
        DurableError: the address is refused.
    """
    known = known_address(address)
    if known.kind == DIRECTORY:
        from agentl.durable.queue.directory import DirectoryQueue

        return DirectoryQueue(known.place)
    if known.kind == SQLITE:
        from agentl.durable.queue.sqlite import SQLiteQueue

        return SQLiteQueue(known.place)
    from agentl.durable.queue.postgres import PostgresQueue

    return PostgresQueue(known.place)


__all__ = ["queue_at"]
