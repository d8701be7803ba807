"""Durable runs: killed at any instant, resumed by the same call, no effect doubled (`API-9`).

Each name is imported when it is first used: looking at runs must not cost what driving one does.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

_HOME: Final[dict[str, str]] = {
    "DurableHost": "agentl.durable.boundary",
    "DurableLLM": "agentl.durable.boundary",
    "state_digest": "agentl.durable.digests",
    "Lease": "agentl.durable.lease",
    "program_digest": "agentl.durable.program",
    "DurableJournal": "agentl.durable.recovery",
    "resolutions_of": "agentl.durable.recovery",
    "Decision": "agentl.durable.requests",
    "Request": "agentl.durable.requests",
    "DurableRun": "agentl.durable.run",
    "cancel": "agentl.durable.cancelling",
    "settle": "agentl.durable.settling",
    "Survey": "agentl.durable.status",
    "export_journal": "agentl.durable.status",
    "survey": "agentl.durable.status",
    "FileStore": "agentl.durable.stores",
    "MemoryStore": "agentl.durable.stores",
    "PostgresStore": "agentl.durable.stores.postgres",
    "SQLiteStore": "agentl.durable.stores",
    "Store": "agentl.durable.stores",
    "DurableError": "agentl.errors",
    "LeaseHeld": "agentl.errors",
    "LeaseLost": "agentl.errors",
    "Parked": "agentl.errors",
    "StoreFailure": "agentl.errors",
    "ANNOTATIONS": "agentl.journal.entry",
    "DURABLE_FORMAT": "agentl.journal.journal",
    "NOT_EXECUTED": "agentl.kernel.port",
}

if TYPE_CHECKING:
    from agentl.durable.boundary import DurableHost, DurableLLM
    from agentl.durable.cancelling import cancel
    from agentl.durable.digests import state_digest
    from agentl.durable.lease import Lease
    from agentl.durable.program import program_digest
    from agentl.durable.recovery import DurableJournal, resolutions_of
    from agentl.durable.requests import Decision, Request
    from agentl.durable.run import DurableRun
    from agentl.durable.settling import settle
    from agentl.durable.status import Survey, export_journal, survey
    from agentl.durable.stores import FileStore, MemoryStore, SQLiteStore, Store
    from agentl.durable.stores.postgres import PostgresStore
    from agentl.errors import DurableError, LeaseHeld, LeaseLost, Parked, StoreFailure
    from agentl.journal.entry import ANNOTATIONS
    from agentl.journal.journal import DURABLE_FORMAT
    from agentl.kernel.port import NOT_EXECUTED

__all__ = [
    "ANNOTATIONS",
    "DURABLE_FORMAT",
    "NOT_EXECUTED",
    "Decision",
    "DurableError",
    "DurableHost",
    "DurableJournal",
    "DurableLLM",
    "DurableRun",
    "FileStore",
    "Lease",
    "LeaseHeld",
    "LeaseLost",
    "MemoryStore",
    "Parked",
    "PostgresStore",
    "Request",
    "SQLiteStore",
    "Store",
    "StoreFailure",
    "Survey",
    "cancel",
    "export_journal",
    "program_digest",
    "resolutions_of",
    "settle",
    "state_digest",
    "survey",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'agentl.durable' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
