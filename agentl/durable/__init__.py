"""Durable runs: killed at any instant, resumed by the same call, no effect doubled (`API-9`)."""

from agentl.durable.boundary import DurableHost, DurableLLM
from agentl.durable.digests import state_digest
from agentl.durable.lease import Lease
from agentl.durable.program import program_digest
from agentl.durable.recovery import DurableJournal, resolutions_of
from agentl.durable.run import DurableRun
from agentl.durable.settle import settle
from agentl.durable.status import Survey, export_journal, survey
from agentl.durable.stores import FileStore, MemoryStore, SQLiteStore, Store
from agentl.errors import DurableError, LeaseHeld, LeaseLost, StoreFailure
from agentl.journal.entry import ANNOTATIONS
from agentl.journal.journal import DURABLE_FORMAT
from agentl.kernel.port import NOT_EXECUTED

__all__ = [
    "ANNOTATIONS",
    "DURABLE_FORMAT",
    "NOT_EXECUTED",
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
    "SQLiteStore",
    "Store",
    "StoreFailure",
    "Survey",
    "export_journal",
    "program_digest",
    "resolutions_of",
    "settle",
    "state_digest",
    "survey",
]
