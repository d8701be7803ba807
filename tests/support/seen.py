"""What can be seen of a run, in one form for both sides: the model's states and the real process.

``model_view`` leaves out what nothing in the code shows: ``excuse`` (a ghost of the model). ``Records`` reads
the lines of a real journal into the same records.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from agentl.values import decode

HEADS = ("approve", "intent")
REPEATS = ("retry", "not_executed")
NOTHING: frozenset[str] = frozenset()


class Record(NamedTuple):
    """One entry of the model's log."""

    kind: str
    action: int
    id: int
    note: str
    promise: frozenset[str]


class Effect(NamedTuple):
    """One effect on the world."""

    args: str
    lawful: bool
    key: Any
    promise: frozenset[str]


class View(NamedTuple):
    """A state, as far as it can be seen; tuples are indexed by action."""

    log: tuple[Record, ...]
    permit: tuple[str, ...]
    args: tuple[str, ...]
    call: tuple[str, ...]
    cursor: int
    run: str
    rule: tuple[str, ...]
    host: tuple[frozenset[str], ...]
    effects: tuple[tuple[Effect, ...], ...]
    crashes: int


def _listed(of: Any) -> tuple[Any, ...]:
    """A function on 1..n, which TLC writes as a tuple or, for one action, perhaps as a map."""
    return of if isinstance(of, tuple) else tuple(of[key] for key in sorted(of))


def _record(entry: Mapping[str, Any]) -> Record:
    kind, note = entry["kind"], entry["note"]
    kept = kind == "intent" or (kind == "resolution" and note in REPEATS)
    # An operator names an action by the id on record; the model counts under the policy of the day.
    number = 0 if kind == "verdict" else entry["id"]
    return Record(kind, entry["action"], number, note, entry["promise"] if kept else NOTHING)


def model_view(state: Mapping[str, Any]) -> View:
    """What can be seen of a state of ``Kernel.tla``."""
    return View(
        tuple(_record(entry) for entry in state["log"]),
        _listed(state["permit"]),
        _listed(state["args"]),
        _listed(state["call"]),
        state["cursor"],
        state["run"],
        _listed(state["rule"]),
        _listed(state["host"]),
        tuple(
            tuple(Effect(e["args"], e["lawful"], e["key"], e["promise"]) for e in effects)
            for effects in _listed(state["effects"])
        ),
        state["crashes"],
    )


class Records:
    """Reads journal lines into records; remembers what it read, since walks meet the same lines again.

    The digest in a line covers all that stands before it, so the last line names a whole journal.

    Args:
        rules: the policy digest of each rule vector, as an ``intent`` keeps it.
    """

    def __init__(self, rules: Mapping[str, tuple[str, ...]]) -> None:
        self._rules = rules
        self._known: dict[bytes, tuple[tuple[Record, ...], list[str]]] = {}

    def _read(self, lines: list[bytes]) -> tuple[tuple[Record, ...], list[str]]:
        if not lines:
            return (), []
        found = self._known.get(lines[-1])
        if found is None:
            entries = [json.loads(line) for line in lines]
            promised: dict[str, frozenset[str]] = {}
            made = [self._one(entry["kind"], entry, promised) for entry in entries]
            records = tuple(record for record in made if record is not None)
            found = self._known[lines[-1]] = (records, [entry["kind"] for entry in entries])
        return found

    def of(self, lines: list[bytes]) -> tuple[Record, ...]:
        """The records of a whole journal."""
        return self._read(lines)[0]

    def consumed(self, lines: list[bytes], cursor: int) -> int:
        """How many records were consumed when ``cursor`` lines were: annotations that follow count too."""
        records = 0
        for position, kind in enumerate(self._read(lines)[1]):
            if kind not in ("approve", "intent", "resolution", "verdict", "invoke"):
                continue
            if position >= cursor and (kind in HEADS or records == 0):
                break
            records += 1
        return records

    def _one(self, kind: str, entry: Any, promised: dict[str, frozenset[str]]) -> Record | None:
        args = entry.get("args") or {}
        if kind == "approve":
            seq = number_of(entry["key"])
            answer = str(decode(entry["value"])["answer"])
            return Record("approve", action_of(args["request"]), seq, answer, NOTHING)
        if kind == "intent":
            promised[args["action_id"]] = frozenset(args["promise"])
            action = action_of(entry["key"])
            rule = self._rules.get(args["policy"], ("?",) * 9)[action - 1]
            return Record("intent", action, number_of(args["action_id"]), rule, promised[args["action_id"]])
        if kind == "resolution":
            how, name = args["how"], args["action_id"]
            if "promise" in args:
                promised[name] = frozenset(args["promise"])
            kept = promised.get(name, NOTHING) if how in REPEATS else NOTHING
            return Record("resolution", action_of(entry["key"]), number_of(name), how, kept)
        if kind == "verdict":
            note = "executed" if args["executed"] else "not_executed"
            return Record("verdict", action_of(entry["key"]), 0, note, NOTHING)
        if kind == "invoke":
            # The result stands behind its intent, whose id it has.
            error = entry.get("error")
            note = "result" if error is None else "doubt" if error[0] == "ActionInDoubt" else "failed"
            return Record("result", action_of(entry["key"]), number_of(list(promised)[-1]), note, NOTHING)
        return None


def action_of(text: str) -> int:
    """The number of the action whose target is ``t<number>``."""
    return int(text.split("(")[0].strip().removeprefix("t"))


def number_of(action_id: str) -> int:
    """The number that the kernel gave an action."""
    return int(action_id.rsplit(":a", 1)[1])
