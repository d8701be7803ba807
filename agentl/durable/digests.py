"""Digests of state and trace at a checkpoint (`DUR-9`): a tick costs what it changed.

Every key of the state has a digest of its own, made again only when the key was written; the
digest of the whole is kept up by taking the old one out of a sum and adding the new one. The
sum modulo 2**256 shows that a re-derived state differs; against a forger the chain stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

from agentl.errors import ReplayDivergence
from agentl.journal.entry import Entry, canonical_json
from agentl.values import DataModelError, Opaque, canonical_bytes

_MODULUS: Final = 1 << 256
_STATE: Final = b"agentl.state.v1\n"
_TRACE: Final = b"agentl.trace.v1\n"
_RECORDS: Final = b"agentl.records.v1\n"
_ABSENT: Final = object()
_STORES: Final = ("world", "beliefs", "locals", "untrusted", "attestations")


def tolerant_bytes(value: Any) -> bytes:
    """Canonical bytes; what has no serial form counts by its type's name only (`DUR-9`)."""
    try:
        return canonical_bytes(value)
    except DataModelError:
        return canonical_bytes(_printable(value, 0))


def _printable(value: Any, depth: int) -> Any:
    kind = type(value)
    if depth > 64:
        return ["deep"]
    if kind is dict:
        return [
            "dict",
            [[_printable(key, depth + 1), _printable(item, depth + 1)] for key, item in value.items()],
        ]
    if kind in (list, tuple):
        return [kind.__name__, [_printable(item, depth + 1) for item in value]]
    if kind is Opaque:
        return ["opaque", value.type_name]
    try:
        canonical_bytes(value)
    except DataModelError:
        return ["opaque", kind.__name__]
    return value


class _Records:
    """The digest chain of a list that only grows between two replacements."""

    __slots__ = ("chain", "length", "replacements")

    def __init__(self, replacements: int) -> None:
        self.replacements = replacements
        self.length = 0
        self.chain = sha256(_RECORDS).digest()

    def catch_up(self, records: list[Any]) -> None:
        for record in records[self.length :] if self.length else records:
            self.chain = sha256(self.chain + tolerant_bytes(record)).digest()
        self.length = len(records)


class StateDigest:
    """The digest of one runtime's state, brought up to date at each checkpoint (`DUR-9`)."""

    def __init__(self, runtime: Any) -> None:
        self._runtime = runtime
        self._parts: dict[tuple[str, str], int] = {}
        self._sum = 0
        self._records: dict[tuple[str, str], _Records] = {}
        self._metrics: dict[str, int] = {}
        # The reading and the belief made from it are one object: its bytes are made once per checkpoint.
        self._last: tuple[Any, bytes] = (None, b"")

    def value(self) -> str:
        """The digest of the state as it is now, 64 hexadecimal digits."""
        runtime = self._runtime
        state = runtime.state
        self._take_in(state, state.take_changes())
        return self._whole()

    def from_scratch(self) -> str:
        """The same digest over every key there is, without marking any change as seen."""
        state = self._runtime.state
        places = [(store, key) for store in _STORES for key in getattr(state, store)]
        places += [(bucket, key) for bucket, records in state.memory.items() for key in records]
        self._take_in(state, places)
        return self._whole()

    def _take_in(self, state: Any, places: list[tuple[str, str]]) -> None:
        for store, key in places:
            self._put(store, key, self._content(state, store, key))
        self._last = (None, b"")

    def _bytes(self, value: Any) -> bytes:
        if type(value) is not list:
            return canonical_bytes(value)
        if self._last[0] is not value:
            self._last = (value, canonical_bytes(value))
        return self._last[1]

    def _belief(self, belief: Any) -> bytes:
        """``tolerant_bytes`` of the four parts of a belief, put together from the bytes of each."""
        parts = [belief.value, belief.confidence, belief.source, belief.updated]
        try:
            body = b"".join([self._bytes(part) for part in parts])
        except DataModelError:
            return tolerant_bytes(parts)
        return b"l%d:%b" % (len(body), body)

    def _whole(self) -> str:
        runtime = self._runtime
        for name, number in runtime.metrics.items():
            if self._metrics.get(name, 0) != number:
                self._metrics[name] = number
                self._put("metrics", name, canonical_bytes(number))
        queue = [_queued(entry) for entry in runtime.plan_queue]
        whole = canonical_bytes([runtime.state.tick, f"{self._sum:064x}", queue])
        return sha256(_STATE + whole).hexdigest()

    def _put(self, store: str, key: str, content: bytes | None) -> None:
        place = (store, key)
        before = self._parts.pop(place, 0)
        after = 0
        if content is not None:
            framed = canonical_bytes([store, key])
            after = int.from_bytes(sha256(_STATE + framed + content).digest(), "big")
            self._parts[place] = after
        self._sum = (self._sum - before + after) % _MODULUS

    def _content(self, state: Any, store: str, key: str) -> bytes | None:
        """The bytes that a key counts with: its value and its label; ``None`` when it is gone."""
        if store == "attestations":
            return canonical_bytes([list(pair) for pair in sorted(state.attestations.get(key, ()))])
        label = state.labels.get((store, key))
        sources = b"" if label is None else canonical_bytes(list(label))
        if store == "beliefs":
            belief = state.beliefs.get(key)
            if belief is None:
                return None
            return sources + self._belief(belief)
        if store in state.memory:
            return self._memory(state, store, key, sources)
        value = getattr(state, store).get(key, _ABSENT)
        if value is _ABSENT:
            return None
        try:
            return sources + self._bytes(value)
        except DataModelError:
            return sources + tolerant_bytes(value)

    def _memory(self, state: Any, bucket: str, key: str, sources: bytes) -> bytes | None:
        value = state.memory[bucket].get(key, _ABSENT)
        if value is _ABSENT:
            return None
        if type(value) is not list:
            return sources + tolerant_bytes(value)
        replacements, length = state.memory_version(bucket, key)
        records = self._records.get((bucket, key))
        if records is None or records.replacements != replacements or records.length > length:
            records = self._records[bucket, key] = _Records(replacements)
        records.catch_up(value)
        return sources + canonical_bytes([replacements, length]) + records.chain


def _queued(entry: Any) -> list[Any]:
    label = getattr(entry, "label", ())
    return [
        str(getattr(entry, "plan", entry)),
        str(getattr(entry, "origin", "")),
        [str(source) for source in label],
        getattr(entry, "not_before", 0),
    ]


def _event_bytes(identity: tuple[Any, ...]) -> bytes:
    """What an event counts with: its JSON text where it is plain JSON, else its canonical bytes."""
    try:
        return b"j" + canonical_json(identity)
    except (TypeError, ValueError, RecursionError):
        return b"c" + tolerant_bytes(list(identity))


class TraceDigest:
    """The digest of all events so far, as a chain over them (`DUR-9`)."""

    def __init__(self, trace: Any) -> None:
        self._trace = trace
        self._seen = 0
        self._chain = sha256(_TRACE).digest()

    def value(self) -> str:
        """The digest of the trace as it is now, 64 hexadecimal digits."""
        events = self._trace.events
        chain = self._chain
        for position in range(self._seen, len(events)):
            chain = sha256(chain + _event_bytes(events[position].identity())).digest()
        self._seen = len(events)
        self._chain = chain
        return chain.hex()


def checkpoint(state: StateDigest, trace: TraceDigest) -> dict[str, str]:
    """What a checkpoint holds (`DUR-9`)."""
    return {"state": combined([state]), "trace": trace.value()}


def compare(entry: Entry, found: Mapping[str, str]) -> None:
    """Hold what was derived again against the recorded checkpoint (`RES-7`).

    Raises:
        ReplayDivergence: something is not deterministic.
    """
    recorded = entry.stored_args if isinstance(entry.stored_args, dict) else {}
    for part, digest in found.items():
        if recorded.get(part) != digest:
            raise ReplayDivergence(code="durable.checkpoint", tick=int(entry.key), part=part, entry=entry.seq)


def state_digest(*runtimes: Any) -> str:
    """The state digest of runtimes, made from scratch (`DUR-9`)."""
    return _joined([StateDigest(runtime).from_scratch() for runtime in runtimes])


def combined(digests: list[StateDigest]) -> str:
    """One digest for all runtimes of a run, brought up to date."""
    return _joined([digest.value() for digest in digests])


def _joined(values: list[str]) -> str:
    if len(values) == 1:
        return values[0]
    return sha256(_STATE + "\n".join(values).encode("ascii")).hexdigest()
