"""``formal/Lease.tla`` once more, as a successor function. Imports nothing from ``agentl``.

A test holds its reachable states against the sizes that TLC found, so that what the machine compares the
stores with is the model that was checked. Names, and the order of the actions, are those of the module.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

Promises = frozenset[str]


class World(NamedTuple):
    """Outside: the kind of lease, where each driver runs, the promises, and what the receiver knows."""

    lease: str
    home: tuple[int, ...]
    host: Promises
    knows: Promises


class Entry(NamedTuple):
    kind: str
    note: str
    by: int


class Bounds(NamedTuple):
    """The constants of the module."""

    drivers: int = 2
    jumps: bool = False
    pauses: int = 1
    repeats: int = 1
    verdicts: int = 0


class State(NamedTuple):
    """The variables. Drivers are numbered from 0; ``unsure`` and ``released`` hold such numbers."""

    world: World
    process: tuple[str, ...]
    log: tuple[Entry, ...] = ()
    epoch: tuple[int, ...] = ()
    released: frozenset[int] = frozenset()
    late: bool = False
    at: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    unsure: tuple[frozenset[int], ...] = ()
    effects: tuple[str, ...] = ()
    fence: int = 0
    excuse: bool = False
    pauses: int = 0

    # --- what is on record ---------------------------------------------------------------

    def of(self, kind: str) -> list[Entry]:
        return [entry for entry in self.log if entry.kind == kind]

    @property
    def repeats(self) -> list[Entry]:
        return [e for e in self.log if e.kind == "resolution" and e.note in ("retry", "not_executed")]

    @property
    def outcome(self) -> str:
        return next((entry.note for entry in self.of("result")), "none")

    @property
    def closing(self) -> str:
        return next((entry.note for entry in self.of("reconcile")), "none")

    @property
    def waiting(self) -> str:
        return self.log[-1].note if self.log and self.log[-1].kind == "verdict" else "none"

    @property
    def open_doubt(self) -> bool:
        return bool(self.repeats) and self.repeats[-1].note == "retry"

    @property
    def declared(self) -> bool:
        return bool(self.of("resolution")) and self.of("resolution")[-1].note == "in_doubt"

    @property
    def callers(self) -> set[int]:
        return {entry.by for entry in self.log if permits(entry)}

    # --- leases --------------------------------------------------------------------------

    @property
    def taken(self) -> list[int]:
        return [d for d, epoch in enumerate(self.epoch) if epoch > 0]

    @property
    def latest(self) -> int:
        return self.epoch[self.taken[-1]] if self.taken else 0

    def awake(self, d: int) -> bool:
        return self.process[d] == "awake"

    def over(self, c: int, d: int) -> bool:
        return c in self.released or self.liveness(c, d) == "dead"

    def liveness(self, c: int, d: int) -> str:
        if self.world.lease == "time" and self.world.home[c] != self.world.home[d]:
            return "unknown"
        return "dead" if self.process[c] == "dead" else "alive"

    def may_take(self, d: int) -> bool:
        taken = self.taken
        return not taken or self.over(taken[-1], d) or (self.world.lease == "time" and self.late)

    def admit(self, d: int) -> bool:
        return self.epoch[d] == self.latest and d not in self.released

    # --- the rule ------------------------------------------------------------------------

    def may_still_act(self, d: int) -> set[int]:
        return (set(self.unsure[d]) & self.callers) - {d}

    def believes(self, d: int, answer: str) -> bool:
        if answer == "did_not":
            return not self.may_still_act(d) or "fenced" in self.world.host
        return answer == "took_place"

    def may_retry(self, d: int, bounds: Bounds) -> bool:
        return (
            bool(self.world.host & {"idempotent", "read_only"})
            and self.at[d] in ("found", "unsure")
            and len(self.repeats) < bounds.repeats
        )

    def may_ask(self, d: int, bounds: Bounds) -> bool:
        if "reconcilable" not in self.world.host or self.said[d] != "nothing" or self.waiting != "none":
            return False
        if self.at[d] == "doubtful":
            return self.closing == "none"
        return (
            self.at[d] in ("found", "unsure", "called_off")
            and not self.declared
            and not self.may_retry(d, bounds)
        )

    def settlement(self, d: int, bounds: Bounds) -> str:
        if self.waiting != "none":
            return self.waiting
        if self.declared:
            return "in_doubt"
        if self.may_retry(d, bounds):
            return "retry"
        if self.said[d] == "took_place" and self.believes(d, "took_place"):
            return "reconciled"
        if self.said[d] == "did_not" and self.believes(d, "did_not"):
            return "not_executed" if self.at[d] == "found" else "failed"
        return "failed" if "read_only" in self.world.host else "in_doubt"

    def excused(self, d: int, bounds: Bounds) -> bool:
        host = self.world.host
        beside = any(permits(entry) and entry.by in self.unsure[d] for entry in self.log)
        return (
            self.waiting != "none"
            or self.declared
            or not host & {"idempotent", "reconcilable"}
            or ("idempotent" in host and "reconcilable" not in host and not self.may_retry(d, bounds))
            or self.said[d] == "unknown"
            or (self.said[d] == "did_not" and "fenced" not in host and beside)
        )

    # --- the receiver --------------------------------------------------------------------

    def refuses(self, d: int) -> bool:
        return "token" in self.world.knows and self.epoch[d] < self.fence

    def shown(self, d: int) -> int:
        return max(self.fence, self.epoch[d]) if "token" in self.world.knows else self.fence

    def acted(self) -> tuple[str, ...]:
        known = "key" in self.world.knows and bool(self.effects)
        return self.effects if "read_only" in self.world.host or known else (*self.effects, "key")

    def heard(self, reply: str) -> str:
        return "called_off" if reply == "failed" and self.open_doubt else reply

    # --- steps ---------------------------------------------------------------------------

    def with_(self, d: int, **changes: str) -> State:
        """Another place of one driver in ``process``, ``at`` or ``said``."""
        new = {name: _put(getattr(self, name), d, value) for name, value in changes.items()}
        return self._replace(**new)

    def ends(self, d: int) -> State:
        return self.with_(d, process="ended", at="nowhere", said="nothing")._replace(
            released=self.released | {d}
        )

    def write(self, d: int, kind: str, note: str, to: str) -> State:
        """Fencing: whoever was superseded hears it at its next entry, and its run ends."""
        if not self.admit(d):
            return self.ends(d)
        return self.with_(d, at=to, said="nothing")._replace(log=(*self.log, Entry(kind, note, d)))

    @property
    def start(self) -> str:
        if not self.log:
            return "fresh"
        return {"none": "found", "doubt": "doubtful"}.get(self.outcome, "done")


class Step(NamedTuple):
    """An action, its driver (-1 for none), what the world chose, and where it leads."""

    action: str
    driver: int
    choice: str
    state: State


def permits(entry: Entry) -> bool:
    return entry.kind == "intent" or (entry.kind == "resolution" and entry.note in ("retry", "not_executed"))


def _put(values: tuple[Any, ...], place: int, value: Any) -> tuple[Any, ...]:
    return (*values[:place], value, *values[place + 1 :])


AFTER = {
    "retry": "ready",
    "not_executed": "ready",
    "reconciled": "returned",
    "failed": "failed",
    "in_doubt": "doubt",
}
STATUS = {"returned": "result", "failed": "failed", "doubt": "doubt"}


def initial(world: World, bounds: Bounds) -> State:
    """Init, for one world."""
    n = bounds.drivers
    return State(
        world,
        process=("new",) * n,
        epoch=(0,) * n,
        at=("nowhere",) * n,
        said=("nothing",) * n,
        unsure=(frozenset(),) * n,
    )


def steps(s: State, bounds: Bounds) -> Iterator[Step]:
    """Next: every step that is possible, each disjunct once."""
    for d in range(bounds.drivers):
        yield from _of_driver(s, d, bounds)
    if (
        s.world.lease == "time"
        and s.taken
        and not s.late
        and s.taken[-1] not in s.released
        and (bounds.jumps or not s.awake(s.taken[-1]))
    ):
        yield Step("Expire", -1, "", s._replace(late=True))


def _of_driver(s: State, d: int, bounds: Bounds) -> Iterator[Step]:
    if (
        s.process[d] == "new"
        and all(s.process[c] != "new" for c in range(d))
        and s.may_take(d)
        and s.start != "done"
    ):
        yield Step("Acquire", d, "", _acquired(s, d))
    if s.awake(d):
        yield from _awake(s, d, bounds)
    if s.process[d] in ("awake", "asleep"):
        yield Step("Crash", d, "", s.with_(d, process="dead", at="nowhere", said="nothing"))
    if s.process[d] == "asleep":
        yield Step("Wake", d, "", s.with_(d, process="awake"))


def _acquired(s: State, d: int) -> State:
    writers = {entry.by for entry in s.log}
    epoch = 1 + (len(writers) if s.world.lease == "os" else s.latest)
    unsure = frozenset(c for c in s.taken if not s.over(c, d))
    return s.with_(d, process="awake", at=s.start)._replace(
        epoch=_put(s.epoch, d, epoch), unsure=_put(s.unsure, d, unsure), late=False
    )


def _awake(s: State, d: int, bounds: Bounds) -> Iterator[Step]:
    at = s.at[d]
    if d == s.taken[-1] and d not in s.released and s.late:
        yield Step("Renew", d, "", s._replace(late=False))
    yield Step("Release", d, "", s.ends(d))
    if at == "fresh":
        yield Step("Intent", d, "", s.write(d, "intent", "", "ready"))
    if at == "ready":
        yield from _dispatch(s, d)
    if s.may_ask(d, bounds):
        yield Step("Ask", d, "unknown", s.with_(d, said="unknown"))
        if not s.refuses(d):
            truth = "took_place" if s.effects else "did_not"
            yield Step("Ask", d, "truth", s.with_(d, said=truth)._replace(fence=s.shown(d)))
    elif at in ("found", "unsure", "called_off"):
        yield Step("Settle", d, "", _settled(s, d, bounds))
    if at in STATUS:
        to = "doubtful" if at == "doubt" else "done"
        yield Step("Result", d, "", s.write(d, "result", STATUS[at], to))
    if at == "doubtful" and s.said[d] != "nothing":
        believed = s.believes(d, s.said[d])
        after = s.write(d, "reconcile", s.said[d], "done") if believed else s.with_(d, said="nothing")
        yield Step("Reconcile", d, "", after)
    yield from _verdict(s, d, bounds)
    if s.pauses < bounds.pauses:
        yield Step("Pause", d, "", s.with_(d, process="asleep")._replace(pauses=s.pauses + 1))


def _dispatch(s: State, d: int) -> Iterator[Step]:
    if s.refuses(d):
        yield Step("Dispatch", d, "refused", s.with_(d, at=s.heard("failed")))
        return
    acted = s._replace(effects=s.acted(), fence=s.shown(d))
    yield Step("Dispatch", d, "acts, returned", acted.with_(d, at="returned"))
    yield Step("Dispatch", d, "acts, unsure", acted.with_(d, at="unsure"))
    yield Step("Dispatch", d, "failed", s.with_(d, at=s.heard("failed")))
    yield Step("Dispatch", d, "unsure", s.with_(d, at="unsure"))


def _settled(s: State, d: int, bounds: Bounds) -> State:
    how = s.settlement(d, bounds)
    excuse = s.excuse or (how == "in_doubt" and s.excused(d, bounds))
    after = s.with_(d, at="returned") if how == "executed" else s.write(d, "resolution", how, AFTER[how])
    return after._replace(excuse=excuse)


def _verdict(s: State, d: int, bounds: Bounds) -> Iterator[Step]:
    at = s.at[d]
    if (
        at not in ("found", "doubtful")
        or s.said[d] != "nothing"
        or s.closing != "none"
        or s.waiting != "none"
        or len(s.of("verdict")) >= bounds.verdicts
    ):
        return
    final = all(s.process[c] in ("dead", "ended") or s.at[c] != "ready" for c in s.callers - {d})
    if s.effects:
        yield Step("Verdict", d, "executed", s.write(d, "verdict", "executed", at))
    elif final:
        yield Step("Verdict", d, "not_executed", s.write(d, "verdict", "not_executed", at))


# --- the worlds of formal/MCLease.tla --------------------------------------------------------

NONE = frozenset[str]()
KEY, ASKS, READS, FENCED = (
    frozenset({word}) for word in ("idempotent", "reconcilable", "read_only", "fenced")
)
EVERY = (
    NONE, KEY, ASKS, READS, KEY | ASKS, FENCED, ASKS | FENCED, FENCED | KEY, KEY | ASKS | FENCED
)  # fmt: skip


def plainly(hosts: tuple[Promises, ...], home: tuple[int, ...], lease: str = "time") -> list[World]:
    """Each receiver knows just what is promised."""
    known = (("key", "idempotent"), ("token", "fenced"))
    return [
        World(lease, home, host, frozenset(word for word, promise in known if promise in host))
        for host in hosts
    ]


TOGETHER, APART = (1, 1), (1, 2)
EACH_PROMISE = [
    *plainly(EVERY, APART),
    *plainly((ASKS,), TOGETHER),
    *plainly((NONE, ASKS, KEY | ASKS), TOGETHER, "os"),
]
PAUSING = [*plainly((NONE, ASKS, ASKS | FENCED), APART), *plainly((ASKS,), TOGETHER, "os")]


class Size(NamedTuple):
    """The sizes that TLC tells."""

    distinct: int
    generated: int


def explored(worlds: list[World], bounds: Bounds) -> Size:
    """Every reachable state, as TLC counts them."""
    seen = {initial(world, bounds) for world in worlds}
    waiting, generated = list(seen), len(seen)
    while waiting:
        state = waiting.pop()
        for step in steps(state, bounds):
            generated += _ways(state, step, bounds)
            if step.state not in seen:
                seen.add(step.state)
                waiting.append(step.state)
    return Size(len(seen), generated)


def _ways(s: State, step: Step, bounds: Bounds) -> int:
    """TLC counts a step once for each side of an "or" that allows it."""
    if step.action == "Expire":
        return 1 + (bounds.jumps and not s.awake(s.taken[-1]))
    if step.action == "Acquire":
        return 1 + (bool(s.taken) and s.late and s.over(s.taken[-1], step.driver))
    if step.choice == "not_executed":
        others = s.callers - {step.driver}
        return 2 ** sum(s.process[c] in ("dead", "ended") and s.at[c] != "ready" for c in others)
    return 1


def every_world() -> list[World]:
    """Worlds for the stores of today: no host can promise a fence, a receiver may know more than promised."""
    hosts, knowing = EVERY[:5], [frozenset(k) for k in ((), ("key",), ("token",), ("key", "token"))]
    found = []
    for lease, home in (("time", TOGETHER), ("time", APART), ("os", TOGETHER)):
        for host, knows in product(hosts, knowing):
            if "idempotent" not in host or "key" in knows:
                found.append(World(lease, home, host, knows))
    return found
