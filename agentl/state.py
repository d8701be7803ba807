"""The state of one agent: what it knows, and where each piece of it comes from (`STA-1`).

One function resolves a path, and both the value and the label follow from what it found, so
that they never come from two stores (`STA-5`). Every write goes through a method, which keeps
the label beside the value and remembers which keys changed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from agentl.labels import NONE, RUNTIME_LABEL, SHARED_LABEL, UNKNOWN_LABEL, Prov
from agentl.paths import MISS, RESERVED_ROOTS, Found, is_reserved, lookup, splits
from agentl.values import UNDEFINED, DataModelError, Symbol, value_digest

BUCKETS: Final = ("SHORT_TERM", "LONG_TERM", "KNOWLEDGE", "SHARED")
_PRIVATE_BUCKETS: Final = ("SHORT_TERM", "LONG_TERM", "KNOWLEDGE")


class Belief:
    """A value held for true: with a confidence in [0, 1], its source, and the tick it is from."""

    __slots__ = ("confidence", "source", "updated", "value")

    def __init__(
        self, value: Any, confidence: float = 1.0, source: str = "runtime", updated: Any = None
    ) -> None:
        self.value = value
        self.confidence = confidence
        self.source = source
        self.updated = updated

    def __eq__(self, other: object) -> bool:
        if type(other) is not Belief:
            return NotImplemented
        return (self.value, self.confidence, self.source, self.updated) == (
            other.value,
            other.confidence,
            other.source,
            other.updated,
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Belief({self.value!r}, {self.confidence!r}, {self.source!r}, {self.updated!r})"


class Saved(NamedTuple):
    """Keys of one store as they were, with their labels; ``restore`` puts exactly them back."""

    store: str
    entries: tuple[tuple[str, Any, Prov | None], ...]


class Frame(NamedTuple):
    """Locals and untrusted names, with their labels, as they were (`TCK-5`)."""

    locals: dict[str, Any]
    untrusted: dict[str, Any]
    labels: dict[tuple[str, str], Prov]


class State:
    """One agent's state (`STA-1`). ``tick`` is 0 before the first tick.

    The dictionaries may be read by anybody and are written by the methods alone.
    """

    __slots__ = (
        "_changes", "_memory_versions", "attestations", "beliefs", "labels", "locals", "memory",
        "shared_labels", "shared_versions", "tick", "untrusted", "world",
    )  # fmt: skip

    def __init__(self) -> None:
        self.world: dict[str, Any] = {}
        self.beliefs: dict[str, Belief] = {}
        self.memory: dict[str, dict[str, Any]] = {bucket: {} for bucket in BUCKETS}
        self.locals: dict[str, Any] = {}
        self.untrusted: dict[str, Any] = {}
        self.tick = 0
        self.labels: dict[tuple[str, str], Prov] = {}
        self.attestations: dict[str, set[tuple[str, str]]] = {}
        self.shared_versions: dict[str, int] = {}
        self.shared_labels: dict[str, list[Prov]] = {}
        self._memory_versions: dict[tuple[str, str], int] = {}
        self._changes: dict[tuple[str, str], None] = {}

    # --- reading ---------------------------------------------------------------------------

    def find(self, path: str) -> Found | None:
        """The one resolution of a path, in the order of `STA-3`; ``None`` when nothing answers.

        A key bound to ``UNDEFINED`` answers: what is known to be missing hides what lies below.
        """
        hit = lookup(self.locals, path)
        if hit is not None:
            return Found(hit[0], "locals", hit[1])
        return self.find_below_locals(path)

    def find_below_locals(self, path: str) -> Found | None:
        """The rest of the resolution, once the locals have not answered (`STA-3`, steps 2 to 7; `INV-4`)."""
        if path.startswith("SHARED."):
            return self._find_shared(path[7:])
        belief = self.beliefs.get(path)
        if belief is not None:
            return Found(belief.value, "beliefs", path)
        hit = lookup(self.world, path)
        if hit is not None:
            return Found(hit[0], "world", hit[1])
        for bucket in _PRIVATE_BUCKETS:
            store = self.memory[bucket]
            if store and (hit := lookup(store, path)) is not None:
                return Found(hit[0], bucket, hit[1])
        if path.endswith(".confidence"):
            belief = self.beliefs.get(path[:-11])
            if belief is not None:
                return Found(belief.confidence, "confidence", path[:-11])
        hit = lookup(self.untrusted, path)
        if hit is not None:
            return Found(hit[0], "untrusted", hit[1])
        return None

    def _find_shared(self, path: str) -> Found | None:
        store = self.memory["SHARED"]
        if path in store:
            return Found(store[path], "SHARED", path)
        for key, segments in splits(path):
            if key in store:
                return self._find_shared_form(key, store[key], segments)
        if path.endswith(".version"):
            return Found(0, "SHARED", path[:-8])
        return None

    def _find_shared_form(self, key: str, records: Any, segments: tuple[str, ...]) -> Found | None:
        """What is asked about the records of a shared key, behind its name (`STA-6`)."""
        if segments == ("version",):
            return Found(self.shared_versions.get(key, 0), "SHARED", key)
        if type(records) is not list:
            return None
        if segments == ("count",):
            return Found(len(records), "SHARED", key)
        if segments[0] == "last" and records:
            if len(segments) == 1:
                return Found(records[-1], "SHARED.last", key)
            hit = lookup(records[-1], ".".join(segments[1:])) if type(records[-1]) is dict else None
            if hit is not None:
                return Found(hit[0], "SHARED.last", key)
        return None

    def get(self, path: str) -> Any:
        """The value of a path, or ``UNDEFINED`` (`STA-3`)."""
        # The first steps of ``find`` for a flat key, without building its answer: guards read often.
        held = self.locals
        if path in held:
            return held[path]
        flat = path[:7] != "SHARED."
        if held and "." in path:
            for prefix, _segments in splits(path):
                if prefix in held:
                    flat = False
        if flat:
            belief = self.beliefs.get(path)
            if belief is not None:
                return belief.value
            value = self.world.get(path, MISS)
            if value is not MISS:
                return value
        found = self.find(path)
        return UNDEFINED if found is None else found[0]

    def get_labeled(self, path: str) -> tuple[Any, Prov]:
        """The value of a path and the label of the store key that held it (`STA-5`)."""
        found = self.find(path)
        return (UNDEFINED, UNKNOWN_LABEL) if found is None else (found[0], self.label_of(found))

    def label_of(self, found: Found) -> Prov:
        """The label of what ``find`` returned; a missing one reads as UNKNOWN (`STA-5`)."""
        _value, store, key = found
        if store == "confidence":
            return RUNTIME_LABEL | self.labels.get(("beliefs", key), UNKNOWN_LABEL)
        if store == "SHARED.last":
            kept = self.shared_labels.get(key)
            return SHARED_LABEL | (kept[-1] if kept else UNKNOWN_LABEL)
        if store == "SHARED":
            # An absent or empty key reads no record.
            empty = NONE if not self.memory["SHARED"].get(key) else UNKNOWN_LABEL
            return SHARED_LABEL | self.labels.get((store, key), empty)
        return self.labels.get((store, key), UNKNOWN_LABEL)

    def argument(self, name: str, otherwise: Any) -> Any:  # noqa: ARG002 - the scope of an action has some
        """An argument of the action under judgement; a state alone judges none."""
        return otherwise

    @property
    def action_label(self) -> Prov | None:
        """The label of the whole action under judgement; a state alone judges none (`PRV-7`)."""
        return None

    def confidence_of(self, path: str) -> float | None:
        """The confidence of a believed path, ``None`` when it is not believed (`EVA-10`)."""
        belief = self.beliefs.get(path)
        return None if belief is None else belief.confidence

    # --- writing ---------------------------------------------------------------------------

    def _wrote(self, store: str, key: str, prov: Prov | None) -> None:
        place = (store, key)
        self.labels[place] = UNKNOWN_LABEL if prov is None else prov
        self._changes[place] = None

    def set_world(self, path: str, value: Any, prov: Prov | None = None) -> None:
        """Write a world fact (`STA-7`); without a label it is UNKNOWN."""
        self.world[path] = value
        self._wrote("world", path, prov)

    def set_belief(
        self,
        path: str,
        value: Any,
        confidence: float = 1.0,
        source: str = "runtime",
        updated: Any = None,
        prov: Prov | None = None,
    ) -> None:
        """Write a belief (`STA-7`); without a label it is UNKNOWN."""
        self.beliefs[path] = Belief(value, confidence, source, updated)
        self._wrote("beliefs", path, prov)

    def set_local(self, path: str, value: Any, prov: Prov | None = None) -> None:
        """Write a local (`STA-7`); without a label it is UNKNOWN."""
        self.locals[path] = value
        self._wrote("locals", path, prov)

    def set_untrusted(self, key: str, value: Any, prov: Prov | None) -> None:
        """Write a bare name from outside (`STA-7`)."""
        self.untrusted[key] = value
        self._wrote("untrusted", key, prov)

    def set_memory(self, bucket: str, key: str, value: Any, prov: Prov | None = None) -> None:
        """Replace what a memory key holds; the label becomes ``prov``."""
        self.memory[bucket][key] = value
        place = (bucket, key)
        self._memory_versions[place] = self._memory_versions.get(place, 0) + 1
        if bucket == "SHARED":
            self.shared_labels[key] = [prov or UNKNOWN_LABEL] * (len(value) if type(value) is list else 0)
        self._wrote(bucket, key, prov)

    def append_memory(self, bucket: str, key: str, record: Any, prov: Prov | None = None) -> None:
        """Add a record to a memory key, in place; the label is joined with ``prov`` (`MEM-1`)."""
        store = self.memory[bucket]
        if type(store.get(key)) is not list:
            self.set_memory(bucket, key, [], NONE)
        store[key].append(record)
        added = prov or UNKNOWN_LABEL
        if bucket == "SHARED":
            self.shared_versions[key] = self.shared_versions.get(key, 0) + 1
            self.shared_labels.setdefault(key, []).append(added)
        self._wrote(bucket, key, self.labels.get((bucket, key), NONE) | added)

    def label_memory(self, bucket: str, key: str, prov: Prov) -> None:
        """Set the label of a memory key (`STA-7`)."""
        self._wrote(bucket, key, prov)

    def memory_version(self, bucket: str, key: str) -> tuple[int, int]:
        """(replacements, length) of a memory key: between two replacements it only grew."""
        records = self.memory[bucket].get(key)
        return self._memory_versions.get((bucket, key), 0), len(records) if type(records) is list else 0

    def _remove(self, store: str, contents: dict[str, Any], key: str) -> None:
        if key in contents:
            del contents[key]
            self.labels.pop((store, key), None)
            self._changes[(store, key)] = None

    def drop_local(self, path: str) -> None:
        """Remove a local and its label; nothing happens when it is absent."""
        self._remove("locals", self.locals, path)

    def invalidate(self, path: str) -> None:
        """Remove a path from world, beliefs and locals, with its labels (`STA-7`)."""
        self._remove("world", self.world, path)
        self._remove("beliefs", self.beliefs, path)
        self._remove("locals", self.locals, path)

    def assign(self, path: str, value: Any, prov: Prov | None = None) -> None:
        """What SET does once it is permitted: update the belief of that path, else a local (`STA-8`)."""
        belief = self.beliefs.get(path)
        if belief is None:
            self.set_local(path, value, prov)
        else:
            self.set_belief(path, value, belief.confidence, "assignment", self.tick, prov)

    # --- saving and restoring --------------------------------------------------------------

    def _contents(self, store: str) -> dict[str, Any]:
        contents: dict[str, Any] = self.memory[store] if store in BUCKETS else getattr(self, store)
        return contents

    def save(self, store: str, keys: Iterable[str]) -> Saved:
        """Remember keys of a store, present or absent, with their labels (`STM-4`)."""
        contents = self._contents(store)
        labels = self.labels
        return Saved(store, tuple((key, contents.get(key, MISS), labels.get((store, key))) for key in keys))

    def restore(self, saved: Saved) -> None:
        """Put back exactly what ``save`` remembered, absences included."""
        store = saved.store
        contents = self._contents(store)
        for key, value, label in saved.entries:
            if value is MISS:
                self._remove(store, contents, key)
                continue
            contents[key] = value
            place = (store, key)
            self._changes[place] = None
            if label is None:
                self.labels.pop(place, None)
            else:
                self.labels[place] = label

    def frame(self) -> Frame:
        """Locals and untrusted names with their labels, before a handler binds its payload (`TCK-5`)."""
        places = [("locals", key) for key in self.locals] + [("untrusted", key) for key in self.untrusted]
        labels = {place: self.labels[place] for place in places if place in self.labels}
        return Frame(dict(self.locals), dict(self.untrusted), labels)

    def restore_frame(self, frame: Frame) -> None:
        """Go back exactly to a frame (`TCK-5`)."""
        for store, contents, before in (
            ("locals", self.locals, frame.locals),
            ("untrusted", self.untrusted, frame.untrusted),
        ):
            for key in [key for key in contents if key not in before]:
                self._remove(store, contents, key)
            for key, value in before.items():
                place = (store, key)
                label = frame.labels.get(place)
                if contents.get(key, MISS) is value and self.labels.get(place) is label:
                    continue
                contents[key] = value
                self._changes[place] = None
                if label is None:
                    self.labels.pop(place, None)
                else:
                    self.labels[place] = label

    def take_changes(self) -> list[tuple[str, str]]:
        """The (store, key) pairs written since the last call, in the order of first writing."""
        changes = list(self._changes)
        self._changes.clear()
        return changes

    # --- attestations and overview ---------------------------------------------------------

    def attest(self, tool: str, parameter: str, value: Any) -> None:
        """Record that a validator attested a value (`PRV-8`). Raises ``DataModelError``."""
        digest = _attested_digest(value)
        self.attestations.setdefault(digest, set()).add((tool, parameter))
        self._changes[("attestations", digest)] = None

    def attested_by(self, value: Any) -> set[str]:
        """The tools that attested this value (`STA-9`); none for one outside the data model."""
        if not self.attestations:
            return set()
        try:
            digest = _attested_digest(value)
        except DataModelError:
            return set()
        return {tool for tool, _parameter in self.attestations.get(digest, ())}

    def snapshot(self) -> dict[str, Any]:
        """An overview for people and tests: tick, world, beliefs, memory, locals (`STA-9`)."""
        return {
            "tick": self.tick,
            "world": dict(self.world),
            "beliefs": {path: (belief.value, belief.confidence) for path, belief in self.beliefs.items()},
            "memory": {
                bucket: {key: list(held) if type(held) is list else held for key, held in store.items()}
                for bucket, store in self.memory.items()
            },
            "locals": dict(self.locals),
        }


def _attested_digest(value: Any) -> str:
    return value_digest(_with_texts(value))


def _with_texts(value: Any) -> Any:
    """Symbols as plain text: a validator that was given ``paris`` attested "paris" (`PRV-8`)."""
    kind = type(value)
    if kind is Symbol:
        return value.name
    if kind is dict:
        return {key: _with_texts(item) for key, item in value.items()}
    if kind is list or kind is tuple or kind is set:
        return kind(_with_texts(item) for item in value)
    return value


__all__ = ["BUCKETS", "RESERVED_ROOTS", "Belief", "Found", "Frame", "Saved", "State", "is_reserved", "lookup"]
