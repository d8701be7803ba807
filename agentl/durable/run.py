"""A durable run: start it, resume it, extend it; the same call does all three (`RES-1` to `RES-10`)."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from agentl.durable.boundary import DurableHost, DurableLLM
from agentl.durable.closing import Ending, close
from agentl.durable.digests import StateDigest, TraceDigest, checkpoint, compare
from agentl.durable.echo import Curtain
from agentl.durable.parking import Parking
from agentl.durable.program import (
    PromiseChange,
    agents_of,
    pending_changes,
    program_digest,
    promise_changes,
    promises_of,
)
from agentl.durable.recovery import DurableJournal
from agentl.durable.requests import Filed
from agentl.durable.run_ids import check_run_id
from agentl.durable.served import refusal_of
from agentl.durable.states import COMPLETED
from agentl.durable.status import meta_of, open_requests, status_of
from agentl.durable.stores.base import Store, utc_now
from agentl.durable.stores.request_book import book_of
from agentl.errors import DurableError, HandedBack, Parked, ReplayDivergence, RuntimeAgentError, StoreFailure
from agentl.host import Host
from agentl.journal.chain import key_id
from agentl.journal.journal import DURABLE_FORMAT
from agentl.journal.keys import chain_key
from agentl.kernel.approval import iso_time
from agentl.kernel.steps import DISCARD, Close, Crash, Resume, StepListener
from agentl.language.nodes import Agent, Program
from agentl.messages import language, speaking
from agentl.replay.export import exported
from agentl.replay.journal import Journal
from agentl.runtime.runtime import DEFAULT_TICKS, Runtime

UNTIL: Final = "until"
LIMIT: Final = "limit"


class DurableRun:
    """One run of an agent under a journal (`RES-1`).

    Args:
        agents: the agent (or a program of one agent).
        host, llm: the world and the model.
        store: where the run is kept.
        run_id: names a new run; of an existing one it must be the name.
        echo: print the trace as it grows (or give each line to a callable); on a resume, without the
            ticks that are only re-derived, unless ``echo_all``.
        source: path and text of the program, for the record.
        key: the chain key: bytes, a spec, or ``None`` for the environment's (`SEA-10`).
        listener: may have ``opened(run)``, called before the first crossing, and
            ``resolved(target, action_id, how)``, called as soon as a resolution is taken, and
            ``waits(filed)``, called with the request for which the run is about to wait.
        park: a question that needs a person waits in the store, and the run ends with ``Parked`` until it is
            answered (`PRK-4`); the host's approver and asker are not called.
        answer_within: seconds that such a question has, unless it names a time of its own.
        steps: hears of each step of the protocol (``agentl.kernel.steps``), after it is durable.
        runtime_options: passed to ``Runtime``.

    Attributes:
        runtime: the interpreter, once it runs. ``runtimes`` lists it; ``society`` is ``None``.
        resumed: the journal had entries.
        already_completed: the run was over, and this call did not extend it.
        promise_changes: what the host promises now and did not before, or the reverse (`RES-9`).

    Raises:
        DurableError: the journal is refused (`DRF-1`); ``LeaseHeld`` when somebody drives the run.
        StoreFailure: the store failed.
    """

    _parking: Parking

    def __init__(
        self,
        agents: Program | Agent | Sequence[Agent],
        host: Any = None,
        llm: Any = None,
        *,
        store: Store,
        run_id: str | None = None,
        echo: bool | Callable[[str], Any] = False,
        echo_all: bool = False,
        source: tuple[str, str] | None = None,
        key: bytes | str | None = None,
        listener: Any = None,
        steps: StepListener = DISCARD,
        park: bool = False,
        answer_within: float | None = None,
        **runtime_options: Any,
    ) -> None:
        self.agents = agents_of(agents)
        if len(self.agents) != 1:
            raise RuntimeAgentError(
                code="durable.society", agents=", ".join(agent.name for agent in self.agents)
            )
        agent = self.agents[0]
        if isinstance(agents, Program):
            runtime_options.setdefault("program", agents)
        self._host = _for_agent(host, agent) or Host()
        self._llm = _for_agent(llm, agent)
        self._options = runtime_options
        self._echo, self._echo_all = echo, echo_all
        self._source = source
        self._key = chain_key(key)
        self._listener = listener
        self._steps = steps
        self._park, self._within = park, answer_within
        self._store = store
        self._digests: tuple[StateDigest, TraceDigest] | None = None
        self._closed = False
        self._served = 0
        self.runtime: Any = None
        self.society: Any = None
        self.runtimes: list[Any] = []
        self.already_completed = False
        self.promise_changes: list[PromiseChange] = []
        wanted = None if run_id is None else check_run_id(run_id)
        named = getattr(store, "run_id", None)
        if wanted is not None and named is not None and wanted != named:
            raise DurableError(code="durable.other_run", found=named, wanted=wanted)
        if named is not None:
            wanted = check_run_id(named)
        self.journal = DurableJournal.open(store, key=self._key)
        self.journal.clock = self._now
        self.resumed = self.journal.resuming
        try:
            self.run_id = self._recognise(wanted)
        except BaseException as error:
            self._refused(error)
            self.close()
            raise

    def _now(self) -> str:
        now = getattr(self._host, "now", None)
        return utc_now() if now is None else iso_time(now())

    def _recognise(self, wanted: str | None) -> str:
        """The id of the run, after the checks that need no tick (`DRF-1`)."""
        if not self.resumed:
            return wanted or secrets.token_hex(6)
        index = self.journal.index
        opened: Mapping[str, Any] = index.open_args or {}
        if wanted is not None and wanted != index.run_id:
            raise DurableError(code="durable.other_run", found=index.run_id, wanted=wanted)
        if opened.get("program_sha256") != program_digest(self.agents):
            raise DurableError(code="durable.program_changed", run_id=index.run_id)
        if index.cancel_args is not None:
            raise DurableError(code="durable.cancelled", **dict(index.cancel_args))
        self.promise_changes = promise_changes(opened.get("promises"), promises_of(self.agents, [self._host]))
        # A driver in between may have promised something else when it recorded what now waits (`RES-9`).
        known = [change.target for change in self.promise_changes]
        self.promise_changes += [
            change for change in pending_changes(index.pending(), self._host) if change.target not in known
        ]
        return index.run_id

    # --- what a run shows ----------------------------------------------------------------

    @property
    def status(self) -> str:
        """``completed``, ``running``, ``refused``, ``waiting``, ``new`` or ``interrupted`` (`DUR-13`)."""
        held = self.journal.lease is not None
        refused = not held and self._store.refusal() is not None
        waiting = not held and bool(open_requests(self._store))
        return status_of(self.journal.index, held=held, refused=refused, waiting=waiting)

    @property
    def ended(self) -> str | None:
        """How the run ended: ``until``, ``limit``, or ``None`` when it has not."""
        closed = self.journal.index.close_args
        return None if closed is None else str(closed.get("reason"))

    def trace_text(self) -> str:
        """The rendered trace, in the language of the journal (`RES-3`)."""
        opened = self.journal.index.open_args or {}
        with speaking(opened.get("lang")):
            return "" if self.runtime is None else str(self.runtime.trace.render())

    def export(self) -> Journal:
        """The run as a replay journal (`RES-3`).

        Raises:
            DurableError: the run is not completed.
        """
        journal = exported(self.journal.entries, self.journal.index)
        if journal is None:
            raise DurableError(code="durable.not_completed", directory=self._store.name)
        return journal

    # --- running -------------------------------------------------------------------------

    def run(self, max_ticks: int | None = None) -> Any:
        """Start, resume or extend the run; at its end the journal is closed and let go (`RES-2`).

        Args:
            max_ticks: the tick limit. Absent: the stored one, or that of the program.

        Returns:
            The runtime.

        Raises:
            DurableError: the limit is not that of the unfinished run.
            ReplayDivergence: what is re-derived is not what the journal holds (`DRF-2`).
            StoreFailure: the store failed, or the lease is lost (`DRF-3`).
            Parked: a person has to answer first; the same call goes on once that is done (`PRK-4`).
        """
        if self._closed:
            raise DurableError(code="durable.not_driving")
        try:
            runtime = self._run(max_ticks)
        except BaseException as error:
            self._refused(error)
            with suppress(StoreFailure):
                if isinstance(error, Parked):
                    self._wait()
                elif isinstance(error, HandedBack) and self.journal.live:
                    self._store.write_meta(meta_of(self.journal, held=False))
                self.close()
            raise
        self.close()
        return runtime

    def _wait(self) -> None:
        """Leave the notes of a run that waits; one that has added nothing leaves them as they are."""
        if self.journal.live:
            self._store.write_meta(meta_of(self.journal, held=False, waiting=True), sync=True)
        elif self._store.refusal() is not None:
            self._store.write_refusal(None)

    def _run(self, max_ticks: int | None) -> Any:
        journal, index = self.journal, self.journal.index
        extension = self._extension(max_ticks)
        first = index.open_args.get("max_ticks") if index.open_args is not None else None
        limit = self._limit(max_ticks) if not self.resumed else int(first or 0)
        self._build()
        if self._listener is not None and hasattr(self._listener, "opened"):
            self._listener.opened(self)
        if not self.resumed:
            journal.write("open", self.run_id, self._open_args(limit), sync=True)
            self._write_meta(sync=True)
        else:
            self._tell_found()
            journal.take("open", self.run_id)
        while True:
            self._tick_until(limit)
            self._parking.leave()
            self._close_entry()
            more = self._next_limit(extension)
            if more is None:
                break
            limit, extension = more, None if more == extension else extension
        if journal.remaining():
            raise ReplayDivergence(code="durable.incomplete", count=journal.remaining())
        self._store.write_refusal(None)
        return self.runtime

    def _posted(self, filed: Filed) -> None:
        if self._listener is not None and hasattr(self._listener, "waits"):
            self._listener.waits(filed)
        notifier = getattr(self._host, "notifier", None)
        if notifier is not None:
            notifier(filed.request)

    def _tell_found(self) -> None:
        if self._steps is not DISCARD:
            if self.journal.index.close_args is None:
                self._steps(Crash())
            counts = self.journal.index.counts
            self._steps(Resume(sum(counts.get(kind, 0) for kind in ("intent", "invoke", "delegate"))))

    def _limit(self, max_ticks: int | None) -> int:
        if max_ticks is not None:
            return max(max_ticks, 0)
        loop = self.agents[0].loop
        declared = loop.max_iter if loop is not None else None
        return declared if declared is not None and declared > 0 else DEFAULT_TICKS

    def _extension(self, max_ticks: int | None) -> int | None:
        """The new limit when this call extends a completed run, else ``None`` (`RES-2`)."""
        index = self.journal.index
        if not self.resumed:
            return None
        stored = index.limit or 0
        closed = index.close_args
        if closed is None:
            if max_ticks is not None and max_ticks != stored:
                raise DurableError(code="durable.tick_limit", stored=stored, asked=max_ticks)
            return None
        if closed.get("reason") == LIMIT and max_ticks is not None and max_ticks > stored:
            return max_ticks
        self.already_completed = True
        return None

    def _build(self) -> None:
        journal = self.journal
        llm = None if self._llm is None else DurableLLM(self._llm, journal)
        host = DurableHost(self._host, journal)
        runtime = Runtime(self.agents[0], host, llm, run_id=self.run_id, **self._options)
        self._parking = host.parking = Parking(
            self.run_id,
            journal,
            book_of(self._store),
            new=self._park,
            within=self._within,
            runtime=runtime,
            posted=self._posted,
        )
        runtime.kernel.journal = journal
        runtime.kernel.steps = self._steps
        self.runtime = runtime
        self.runtimes = [runtime]
        self._digests = (StateDigest(runtime), TraceDigest(runtime.trace))
        if self._echo_all or not self.resumed:
            runtime.trace.echo = self._echo
            curtain = None
        else:
            curtain = Curtain(runtime.trace, self._echo)

        def live() -> None:
            if curtain is not None:
                curtain.lift(self._served)
            self._store.write_refusal(None)

        journal.on_live = live if self.resumed else None
        if self._listener is not None and hasattr(self._listener, "resolved"):
            resolved = self._listener.resolved

            def told(taken: dict[str, Any]) -> None:
                resolved(taken["tool"], taken["action_id"], taken["how"])

            journal.on_resolution = told

    def _open_args(self, limit: int) -> dict[str, Any]:
        assert self.journal.lease is not None
        args: dict[str, Any] = {
            "format": DURABLE_FORMAT,
            "agents": [agent.name for agent in self.agents],
            "program_sha256": program_digest(self.agents),
            "promises": promises_of(self.agents, [self._host]),
            "max_ticks": limit,
            "epoch": self.journal.lease.epoch,
            "holder": self.journal.lease.holder,
            "created": self._now(),
            "lang": language(),
        }
        if self._key is not None:
            args["key_id"] = key_id(self._key)
        if self._source is not None:
            path, text = self._source
            args["source"] = str(path)
            args["source_sha256"] = _sha256(text)
        return args

    # --- ticks ---------------------------------------------------------------------------

    def _tick_until(self, limit: int) -> None:
        """Ticks, each closed by a checkpoint that is written or compared (`RES-2`, `RES-7`)."""
        runtime, journal = self.runtime, self.journal
        assert self._digests is not None
        state, trace = self._digests
        for tick in runtime.iter_ticks(limit - runtime.state.tick):
            entry = journal.take("checkpoint", str(tick))
            found = checkpoint(state, trace)
            if entry is None:
                journal.write("checkpoint", str(tick), found, sync=True)
                self._write_meta(sync=False)
                continue
            self._served = tick
            compare(entry, found)

    def _close_entry(self) -> None:
        journal, runtime = self.journal, self.runtime
        reason = runtime.ended or LIMIT
        entry = journal.upcoming()
        ending = close(journal.remaining(), entry.kind if entry is not None else None)
        if ending is Ending.WRITE:
            text = self.trace_text()
            args = {
                "ticks": runtime.state.tick,
                "reason": reason,
                "trace": self._digests[1].value() if self._digests is not None else "",
                "trace_sha256": _sha256(text),
            }
            journal.write("close", self.run_id, args, sync=True)
            journal.completed = True
            self._write_meta(sync=True)
            if self._steps is not DISCARD:
                self._steps(Close())
            return
        if entry is None or ending is Ending.REFUSED:
            raise ReplayDivergence(code="durable.incomplete", count=journal.remaining())
        recorded = entry.stored_args if isinstance(entry.stored_args, dict) else {}
        journal.take("close", self.run_id)
        if (recorded.get("ticks"), recorded.get("reason")) != (runtime.state.tick, reason):
            raise ReplayDivergence(
                code="durable.diverged",
                entry=entry.seq,
                recorded=f"close:{recorded.get('reason')} {recorded.get('ticks')}",
                derived=f"close:{reason} {runtime.state.tick}",
            )
        journal.completed = True
        if self._steps is not DISCARD:
            self._steps(Close())

    def _next_limit(self, extension: int | None) -> int | None:
        """The limit up to which a closed run goes on, or ``None``."""
        journal = self.journal
        entry = journal.upcoming()
        if entry is not None:
            if entry.kind != "extend":
                raise ReplayDivergence(code="durable.incomplete", count=journal.remaining())
            journal.take("extend", self.run_id)
            journal.completed = False
            recorded = entry.stored_args if isinstance(entry.stored_args, dict) else {}
            return int(recorded.get("max_ticks") or 0)
        if extension is None or extension <= self.runtime.state.tick:
            return None
        assert journal.lease is not None
        args = {"max_ticks": extension, "holder": journal.lease.holder, "at": self._now()}
        journal.write("extend", self.run_id, args, sync=True)
        journal.completed = False
        self._write_meta(sync=True)
        return extension

    def _write_meta(self, *, sync: bool) -> None:
        self._store.write_meta(meta_of(self.journal, held=True), sync=sync)

    # --- the end -------------------------------------------------------------------------

    def _refused(self, error: BaseException) -> None:
        """Keep a refused resume where ``status`` finds it (`DUR-13`, `DRF-1`, `DRF-2`)."""
        if isinstance(error, DurableError | ReplayDivergence) and not isinstance(error, StoreFailure):
            with suppress(StoreFailure):
                self._store.write_refusal(refusal_of(error, self._now()))

    def close(self) -> None:
        """Give the run back; `run` does it at its end."""
        if not self._closed:
            self._closed = True
            self.journal.release()

    def __enter__(self) -> DurableRun:
        return self

    def __exit__(self, *_stopped: object) -> None:
        self.close()


def _for_agent(given: Any, agent: Agent) -> Any:
    return given.get(agent.name) if isinstance(given, Mapping) else given


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


__all__ = ["COMPLETED", "LIMIT", "UNTIL", "DurableRun"]
