"""Where durable runs are kept (`STO-1` to `STO-6`)."""

from agentl.durable.stores.base import Store
from agentl.durable.stores.file import FileStore
from agentl.durable.stores.memory import MemoryStore
from agentl.durable.stores.sqlite import SQLiteStore

__all__ = ["FileStore", "MemoryStore", "SQLiteStore", "Store"]
