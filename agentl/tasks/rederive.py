"""A run derived again from its record, up to where the record ends, without touching the world (`TSK-1`).

It is what a resume does first. Here it stops there: behind the last entry nobody is called, nothing is
written, and no lease is taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NoReturn

from agentl.durable.boundary import DurableHost, DurableLLM
from agentl.durable.digests import StateDigest, TraceDigest, combined
from agentl.durable.program import agents_of, program_digest
from agentl.durable.recovery import DurableJournal
from agentl.durable.stores.base import Store
from agentl.errors import DurableError, KernelAbort, ReplayDivergence
from agentl.language.nodes import Agent, Program
from agentl.messages import speaking
from agentl.runtime.runtime import Runtime

_MODEL: Final = ("reason", "judge", "select_plan")


class EndOfRecord(KernelAbort):
    """The program wants what the record does not hold: there the derivation stops."""


class _Record(DurableJournal):
    """A journal that is only read."""

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


def rederive(store: Store, program: Program, *, key: bytes | str | None = None) -> Derived:
    """Derive the run in ``store`` again (`TSK-1`).

    Args:
        program: the program of the run.
        key: the chain key, as for ``DurableRun``.

    Raises:
        DurableError: the journal is refused, or it is of another program.
        ReplayDivergence: the program does not derive what is on record.
        StoreFailure: the store cannot be read.
    """
    agents = agents_of(program)
    journal = _Record.open(store, key=key, write=False)
    opened = journal.index.open_args or {}
    if len(agents) != 1 or opened.get("program_sha256") != program_digest(agents):
        raise DurableError(code="durable.program_changed", run_id=journal.index.run_id)
    with speaking(opened.get("lang")):
        try:
            return _derived(journal, program, agents[0], model=True)
        except ReplayDivergence:
            # Whether there was a model is not on record. Without one, REASON crosses nothing.
            if any(journal.index.counts.get(kind) for kind in _MODEL):
                raise
            journal = _Record.open(store, key=key, write=False)
            return _derived(journal, program, agents[0], model=False)


def _derived(journal: _Record, program: Program, agent: Agent, *, model: bool) -> Derived:
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


def _ticks(journal: _Record, runtime: Runtime, limit: int) -> bool:
    """Whether the record ends between two ticks."""
    state, trace = StateDigest(runtime), TraceDigest(runtime.trace)
    while True:
        for tick in runtime.iter_ticks(limit - runtime.state.tick):
            entry = journal.take("checkpoint", str(tick))
            if entry is None:
                return True
            recorded = entry.stored_args if isinstance(entry.stored_args, dict) else {}
            for part, digest in (("state", combined([state])), ("trace", trace.value())):
                if recorded.get(part) != digest:
                    raise ReplayDivergence(code="durable.checkpoint", tick=tick, part=part, entry=entry.seq)
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


__all__ = ["Derived", "EndOfRecord", "rederive"]
