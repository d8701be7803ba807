"""A journal on a store: what is recorded is served in order, what is new is appended.

A resumed program runs from its beginning; as long as the journal has entries, each crossing
takes the next one (`RES-4`), and only behind the last one does anything reach the world
again (`RES-7`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Self

from agentl.durable.lease import Lease
from agentl.durable.stores.base import Store, utc_now
from agentl.durable.stores.process import this_process
from agentl.errors import DurableError, HandedBack, PermitError, ReplayDivergence, StoreFailure
from agentl.journal.entry import Entry, dump, flat_copy, flat_text, quote
from agentl.journal.failures import Failure, describe, rebuild
from agentl.journal.index import Index, Intention
from agentl.journal.journal import Entries, OrderedJournal
from agentl.journal.keys import chain_key
from agentl.journal.shapes import fits
from agentl.kernel.permit import stops_the_run
from agentl.kernel.port import Verdict
from agentl.values import decode, encode

# What may be left undone without a loss. An answer of a person or a model is put on record first.
HALTS: Final = ("intent", "read", "drain", "delegate_lookup")
NO_VALUE: Final = '"value":null'


def error_text(failure: Failure) -> str:
    """The outcome part of an entry with an error."""
    return f'"error":[{quote(failure[0])},{quote(failure[1])}]'


class ServedJournal:
    """The ordered journal of one run, opened on a store (`DUR-11`).

    ``resolutions`` are those of this process; ``resuming`` tells whether there were entries;
    ``clock`` gives the times of entries in ISO form; ``on_resolution`` is told of each one.
    """

    def __init__(self, store: Store, key: bytes | None, lease: Lease | None) -> None:
        self.store = store
        self.lease = lease
        self.resolutions: list[dict[str, Any]] = []
        self.clock: Callable[[], str] = utc_now
        self.on_resolution: Callable[[dict[str, Any]], None] | None = None
        self.on_live: Callable[[], None] | None = None
        # Asked before the run begins something new: whether it is to be handed back instead (`WRK-3`).
        self.halt: Callable[[], bool] | None = None
        self.index = Index()
        self.meta: Mapping[str, Any] | None = None
        self.resuming = False
        self.completed = False
        # The action that has an intent and no result yet: nothing else crosses meanwhile (`DUR-5`).
        self.acting: tuple[str, str] | None = None
        # The arguments of the `park` that stands right before the next crossing (`PRK-4`).
        self.parked: Mapping[str, Any] | None = None
        self._ordered = OrderedJournal(key)
        self._resume_due = False
        self._live = False
        self._torn = ""
        self._waiting: list[Verdict] = []

    # --- opening -----------------------------------------------------------------------

    @classmethod
    def open(cls, store: Store, *, key: bytes | str | None = None, write: bool = True) -> Self:
        """Open and check the whole journal; for writing, under its lease (`DUR-11`, `STO-6`).

        Raises:
            DurableError: the journal is refused (`DRF-1`); ``LeaseHeld`` when somebody drives it.
            StoreFailure: the store failed.
        """
        if not callable(getattr(store, "acquire", None)):
            raise DurableError(code="durable.no_lease", store=type(store).__name__)
        secret = chain_key(key)
        journal = cls(store, secret, store.acquire(str(this_process())) if write else None)
        try:
            journal._read(secret)
            if write:
                store.repair()
        except BaseException as error:
            if journal.lease is not None:
                if isinstance(error, DurableError):
                    store.write_refusal(refusal_of(error, journal.clock()))
                store.release(journal.lease.epoch)
            raise
        return journal

    def _read(self, key: bytes | None) -> None:
        self.meta, lines = self.store.load()
        index = self.index

        def note(entry: Entry) -> None:
            if not fits(entry):
                raise DurableError(code="durable.unreadable_line", file=self.store.name, position=entry.seq)
            index.note(entry.kind, entry.key, entry.stored_args, entry.error, entry.agent)
            if entry.kind == "drain" and entry.error is None:
                index.add_events(event_ids(recorded_value(entry)))

        self._ordered.read(lines, name=self.store.name, key=key, note=note)
        self.resuming = self._resume_due = bool(self._ordered.lines)
        self._check_meta()

    def _check_meta(self) -> None:
        # Only an end that meta claims is evidence: it is written after the entries it counts.
        meta, held = self.meta, len(self._ordered.lines)
        if not isinstance(meta, Mapping) or meta.get("status") != "completed":
            return
        claimed = meta.get("entries")
        if type(claimed) is int and claimed > held:
            raise DurableError(code="durable.cut_tail", claimed=claimed, held=held)

    # --- looking -----------------------------------------------------------------------

    @property
    def entries(self) -> Entries:
        """All entries, decoded as they are looked at."""
        return Entries(self._ordered.lines)

    @property
    def lines(self) -> list[bytes]:
        """All entries as they are stored."""
        return self._ordered.lines

    @property
    def live(self) -> bool:
        """Whether this process has added anything to the run."""
        return self._live

    @property
    def in_prefix(self) -> bool:
        """Whether entries of an earlier process remain to be served."""
        return self._ordered.in_prefix

    @property
    def head(self) -> str:
        """The digest of the last entry, empty when there is none."""
        return self._ordered.head

    @property
    def fencing_token(self) -> int | None:
        """The lease epoch of this driver (`STO-6`)."""
        return None if self.lease is None else self.lease.epoch

    def pending(self) -> list[Intention]:
        """Intentions without result or verdict (`DUR-11`)."""
        return self.index.pending()

    def in_doubt(self) -> list[Intention]:
        """Doubtful actions that nobody has settled (`DUR-11`)."""
        return self.index.in_doubt()

    def remaining(self) -> int:
        """How many entries of the prefix were not consumed."""
        return self._ordered.prefix - self._ordered.cursor

    def release(self) -> None:
        """Give the lease back."""
        if self.lease is not None:
            lease, self.lease = self.lease, None
            self.store.release(lease.epoch)

    # --- writing -----------------------------------------------------------------------

    def write(
        self,
        kind: str,
        key: str,
        args: Any = None,
        outcome: str = NO_VALUE,
        *,
        sync: bool,
        error: Failure | None = None,
        agent: str | None = None,
        text: str | None = None,
    ) -> None:
        """Append one entry; ``args`` in journal form, ``outcome`` as its text.

        ``text`` is the canonical text of the arguments, where it is known; ``args`` is then for the index.

        Raises:
            ReplayDivergence: the prefix is not at its end, or the run is completed (`DRF-2`).
            StoreFailure: the store failed.
        """
        ordered = self._ordered
        if ordered.cursor < ordered.prefix:
            raise ReplayDivergence(
                code="durable.prefix_write", entry=ordered.cursor, crossing=f"{kind}:{key}"
            )
        if self.index.cancel_args is not None and kind != "verdict":
            raise DurableError(code="durable.cancelled", **dict(self.index.cancel_args))
        if self.completed and kind not in ("extend", "verdict"):
            raise ReplayDivergence(code="durable.completed", crossing=f"{kind}:{key}")
        if self.lease is None:
            raise DurableError(code="durable.not_driving")
        if self.halt is not None and kind in HALTS and self.halt():
            raise HandedBack(code="worker.handed_back", run_id=self.index.run_id)
        if not self._live:
            self._go_live(kind)
        if self._resume_due and kind not in ("verdict", "extend"):
            # An operator's verdict is no resume; what an extension adds begins with one (`DUR-4`).
            self._resume_due = False
            lease = self.lease
            args_of_resume = {"at": self.clock(), "epoch": lease.epoch, "holder": lease.holder}
            self.write("resume", self.index.run_id, args_of_resume, sync=True)
        if self._torn:
            raise StoreFailure(code="durable.store_failed", operation="append", cause=self._torn)
        # Until the line is kept, the chain is ahead of the store. Whatever is raised in between, nothing may
        # be added behind the gap, and nobody may take it for an answer of a sensor or a person (`DRF-3`).
        self._torn = f"{kind} {ordered.prefix}"
        try:
            if text is None and args is not None:
                text = dump(args)
            line = ordered.sealed(kind, key, text, outcome, agent)
            self.store.append(line, self.lease.epoch, sync=sync)
            ordered.keep(line)
            self.index.note(kind, key, args, error, agent)
            if kind not in ("resume", "verdict"):
                self.parked = args if kind == "park" else None
        except Exception as problem:
            if stops_the_run(problem):
                raise
            raise StoreFailure(
                code="durable.store_failed", operation="append", cause=type(problem).__name__
            ) from problem
        self._torn = ""

    def append_verdict(self, target: str, args: Mapping[str, Any], outcome: str) -> None:
        """Add an operator's verdict behind everything, whether the run is over or not (`DCL-5`)."""
        ordered = self._ordered
        ordered.cursor = ordered.prefix
        self.write("verdict", target, args, outcome, sync=True)

    def append_cancel(self, args: Mapping[str, Any]) -> None:
        """Add that somebody stopped the run; nothing but verdicts comes after it (`TSK-9`)."""
        ordered = self._ordered
        ordered.cursor = ordered.prefix
        self._resume_due = False
        self.write("cancel", self.index.run_id, args, sync=True)

    def _go_live(self, kind: str) -> None:
        if kind != "verdict":
            self._live = True
            if self.on_live is not None:
                self.on_live()

    # --- serving -----------------------------------------------------------------------

    def upcoming(self) -> Entry | None:
        """The next entry that a crossing must match; notes that need no crossing are consumed (`RES-10`)."""
        ordered = self._ordered
        while ordered.cursor < ordered.prefix:
            entry = ordered.peek()
            if entry is None:
                break
            if entry.kind == "verdict":
                self._waiting.append(verdict_of(entry))
            elif entry.kind == "park":
                self.parked = entry.stored_args
            elif entry.kind not in ("resume", "cancel"):
                return entry
            ordered.take()
        return None

    def take(self, kind: str, key: str, args: Any = None) -> Entry | None:
        """The recorded entry of this crossing, or ``None`` behind the prefix (`RES-4`).

        Args:
            args: the arguments in journal form where they must match, else ``None``.

        Raises:
            ReplayDivergence: the journal holds something else.
            PermitError: an action is under way, and this is asked from inside it.
        """
        entry = self.upcoming()
        if entry is None:
            if self.completed:
                raise ReplayDivergence(code="durable.completed", crossing=f"{kind}:{key}")
            if self.acting is not None:
                kind_of_action, target = self.acting
                raise PermitError(code="permit.nested", kind=kind_of_action, target=target)
            return None
        if entry.kind != kind or entry.key != key:
            raise ReplayDivergence(
                code="durable.diverged",
                entry=entry.seq,
                recorded=f"{entry.kind}:{entry.key}",
                derived=f"{kind}:{key}",
            )
        if args is not None and dump(entry.stored_args) != dump(args):
            raise ReplayDivergence(
                code="durable.diverged_args",
                entry=entry.seq,
                crossing=f"{kind}:{key}",
                recorded=dump(entry.stored_args),
                derived=dump(args),
            )
        self.parked = None
        return self._ordered.take()

    def crossing(
        self,
        kind: str,
        key: str,
        call: Callable[[], Any],
        *,
        args: Any = None,
        result_args: Callable[[], Any] | None = None,
        on_served: Callable[[Entry], None] | None = None,
        sync: bool = False,
    ) -> Any:
        """One crossing without effect: served, or called and recorded (`DUR-4`, `DUR-7`).

        Args:
            args: arguments in journal form that the recorded ones must equal.
            result_args: arguments that are known after the call only.
            on_served: sees the recorded entry.
        """
        entry = self.take(kind, key, args)
        if entry is not None:
            if on_served is not None:
                on_served(entry)
            if entry.error is not None:
                raise rebuild(entry.error)
            return recorded_value(entry)
        try:
            value = call()
        except Exception as problem:
            if stops_the_run(problem):
                raise
            failure = describe(problem)
            self.write(kind, key, args, error_text(failure), sync=sync, error=failure)
            raise rebuild(failure) from problem
        known = args if result_args is None else result_args()
        text = flat_text(value)
        if text is not None:
            self.write(kind, key, known, f'"value":{text}', sync=sync)
            return flat_copy(value)
        stored = encode(value)
        self.write(kind, key, known, f'"value":{dump(stored)}', sync=sync)
        return decode(stored)


def recorded_value(entry: Entry) -> Any:
    """The value of an entry; a form that no run can have written stops the resume (`DRF-2`)."""
    try:
        return entry.value
    except ValueError as error:
        raise ReplayDivergence(code="durable.unreadable_value", entry=entry.seq) from error


def verdict_of(entry: Entry) -> Verdict:
    """The operator's verdict that an entry holds."""
    args = entry.stored_args if isinstance(entry.stored_args, dict) else {}
    return Verdict(
        str(args.get("action_id", "")),
        entry.key,
        args.get("executed") is True,
        recorded_value(entry),
        str(args.get("by", "unknown")),
        str(args.get("at", "")),
    )


def event_ids(events: Any) -> list[str]:
    """The ids in the value of a ``drain``."""
    if not isinstance(events, list):
        return []
    return [str(event["id"]) for event in events if isinstance(event, dict) and event.get("id") is not None]


def refusal_of(error: Exception, at: str) -> dict[str, Any]:
    """A refusal as ``refusal.json`` keeps it (`DUR-13`)."""
    values = getattr(error, "values", {})
    return {
        "at": at,
        "error": type(error).__name__,
        "code": getattr(error, "code", ""),
        "values": {
            str(name): value if type(value) in (int, bool) else str(value) for name, value in values.items()
        },
        "text": str(error),
    }
