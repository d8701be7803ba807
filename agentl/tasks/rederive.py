"""A run derived again from its record, up to where the record ends, without touching the world (`TSK-1`).

It is what a resume does first. Here it stops there: behind the last entry nobody is called, nothing is
written, and no lease is taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from agentl.durable.boundary import DurableHost, DurableLLM
from agentl.durable.digests import StateDigest, TraceDigest, checkpoint, compare
from agentl.durable.program import agents_of, program_digest
from agentl.durable.recovery import DurableJournal
from agentl.errors import DurableError, KernelAbort, ReplayDivergence
from agentl.language.nodes import Agent, Program
from agentl.messages import speaking
from agentl.runtime.runtime import Runtime
from agentl.tasks.account import MODEL


class EndOfRecord(KernelAbort):
    """The program wants what the record does not hold: there the derivation stops."""


class Record(DurableJournal):
    """A journal that is only read; open it with ``write=False``."""

    def write(self, *_entry: Any, **_more: Any) -> NoReturn:
        raise EndOfRecord


class _Nobody:
    """A world and a model in which nobody is there: whoever is called ends the derivation."""

    def __init__(self, promises: Mapping[str, Any]) -> None:
        self._promises = promises

    def promise(self, target: str, _kind: str = "invoke") -> frozenset[str]:
        """What the first driver's host promised."""
        return frozenset(str(name) for name in self._promises.get(target) or ())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _end


def _end(*_given: Any, **_named: Any) -> NoReturn:
    raise EndOfRecord


class Derived:
    """What a run comes to.

    Attributes:
        journal: its record, checked.
        runtime: the program as it stands at the end of the record; between two ticks when ``whole``.
        agent: the agent of the run.
    """

    def __init__(self, journal: DurableJournal, agent: Agent, runtime: Runtime, whole: bool) -> None:
        self.journal = journal
        self.agent = agent
        self.runtime = runtime
        self.whole = whole


def rederive(record: Record, program: Program, *, key: bytes | str | None = None) -> Derived:
    """Derive the run of a record again (`TSK-1`).

    Args:
        record: the record, opened and not yet served.
        program: the program of the run.
        key: the chain key with which the record was opened.

    Raises:
        DurableError: the journal is refused, or it is of another program.
        ReplayDivergence: the program does not derive what is on record.
        StoreFailure: the store cannot be read.
    """
    agents = agents_of(program)
    opened = record.index.open_args or {}
    if len(agents) != 1 or opened.get("program_sha256") != program_digest(agents):
        raise DurableError(code="durable.program_changed", run_id=record.index.run_id)
    with speaking(opened.get("lang")):
        try:
            return _derived(record, program, agents[0], model=True)
        except ReplayDivergence:
            # Whether there was a model is not on record. Without one, REASON crosses nothing.
            if any(record.index.counts.get(kind) for kind in MODEL):
                raise
            again = Record.open(record.store, key=key, write=False)
            return _derived(again, program, agents[0], model=False)


def _derived(journal: Record, program: Program, agent: Agent, *, model: bool) -> Derived:
    opened = journal.index.open_args or {}
    promises = opened.get("promises") or {}
    nobody = _Nobody(promises.get(agent.name) or {})
    llm = DurableLLM(nobody, journal) if model else None
    runtime = Runtime(agent, DurableHost(nobody, journal), llm, run_id=journal.index.run_id, program=program)
    runtime.kernel.journal = journal
    whole = True
    try:
        if journal.take("open", journal.index.run_id) is not None:
            whole = _ticks(journal, runtime, int(opened.get("max_ticks") or 0))
    except EndOfRecord:
        whole = False
    return Derived(journal, agent, runtime, whole)


def _ticks(journal: Record, runtime: Runtime, limit: int) -> bool:
    """Whether the record ends between two ticks."""
    state, trace = StateDigest(runtime), TraceDigest(runtime.trace)
    while True:
        for tick in runtime.iter_ticks(limit - runtime.state.tick):
            entry = journal.take("checkpoint", str(tick))
            if entry is None:
                return True
            compare(entry, checkpoint(state, trace))
            if journal.upcoming() is None:
                return True
        if journal.take("close", journal.index.run_id) is None:
            return True
        entry = journal.upcoming()
        if entry is None or entry.kind != "extend":
            return True
        journal.take("extend", journal.index.run_id)
        recorded = entry.stored_args if isinstance(entry.stored_args, dict) else {}
        limit = int(recorded.get("max_ticks") or 0)


__all__ = ["Derived", "EndOfRecord", "Record", "rederive"]
