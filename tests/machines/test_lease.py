"""The leases of every store beside their model: random walks, compared after each step (STO-6, STO-7, RES-6).

The steps are those of ``formal/Lease.tla``, as ``lease_model.py`` has them: it imports nothing of the package
and has exactly the states that TLC found. Each is carried out by real drivers on a real store: acquire,
renew, release, intent, dispatch, ask, settle, result, a verdict, crash, pause, wake, and the end of a lease
by time.
"""

from __future__ import annotations

import ast
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.machines import lease_model as model
from tests.machines.lease_cast import Actor, Died, Interrupted, Kept, LeaseHeld, LeaseLost, Stage
from tests.machines.lease_model import Bounds, State, Step, World
from tests.machines.run_model import BrokenError, must
from tests.support.graphs import runs
from tests.support.lease_mutants import CODE
from tests.support.postgres import needed

BOUNDS = Bounds(drivers=3, jumps=True, pauses=2, repeats=3, verdicts=1)
STEPS = 22
# What leads on is more often chosen than what ends everything.
WEIGHT = {"Crash": 1, "Release": 1, "Pause": 2, "Wake": 2, "Renew": 1, "Expire": 2, "Verdict": 2}
PLACES = {
    "fresh": ("append:resume", "append:intent"),
    "ready": ("tool",),
    "returned": ("append:resume", "append:invoke"),
    "failed": ("append:resume", "append:invoke"),
    "doubt": ("append:resume", "append:invoke"),
    "doubtful": ("append:checkpoint",),
    "done": ("append:checkpoint",),
}
WORLDS = {
    "file": [world for world in model.every_world() if world.lease == "os"],
    "database": [world for world in model.every_world() if world.lease == "time"],
}


class Walk:
    """One life: the model's state, and the stage that must agree with it after every step."""

    def __init__(self, kind: str, world: World, choose: Callable[[int], int]) -> None:
        shared = Path("/dev/shm")
        self.folder = Path(tempfile.mkdtemp(dir=shared if shared.is_dir() else None, prefix="agentl-lease-"))
        home = (*world.home, world.home[-1])
        self.world = world._replace(home=home)
        self.stage = Stage(kind, self.folder, world.host, world.knows, home)
        self.stage.attempts = BOUNDS.repeats + 1
        self.state = model.initial(self.world, BOUNDS)
        self.choose = choose
        self.silent: set[int] = set()
        self.taken: Counter[str] = Counter()

    def go(self) -> None:
        with pytest.MonkeyPatch.context() as patch:
            self.stage.planted(patch)
            try:
                for _ in range(STEPS):
                    possible = [step for step in model.steps(self.state, BOUNDS) if self._comparable(step)]
                    options = [s for step in possible for s in [step] * WEIGHT.get(step.action, 4)]
                    if not options or len(self.state.repeats) >= BOUNDS.repeats:
                        break
                    self.take(options[self.choose(len(options))])
            finally:
                self.stage.ended()
                shutil.rmtree(self.folder, ignore_errors=True)

    # --- what the code has no step of its own for ----------------------------------------

    def _comparable(self, step: Step) -> bool:
        actor = self.stage.actors.get(step.driver)
        at = self.state.at[step.driver] if step.driver >= 0 else ""
        if step.action == "Acquire":
            # Behind a doubt the run is over: only an operator comes.
            return self.state.start != "doubtful" or self._operator_may(step.state)
        if actor is not None and actor.operator:
            return step.action in ("Verdict", "Crash", "Pause", "Wake", "Renew")
        if step.action == "Verdict":
            return False
        return not (step.action in ("Ask", "Reconcile") and at == "doubtful")

    def _operator_may(self, state: State) -> bool:
        return bool(not state.of("verdict") and state.outcome in ("none", "doubt") and state.of("intent"))

    # --- steps ---------------------------------------------------------------------------

    def take(self, step: Step) -> None:
        """Carry a step out, and compare."""
        before, self.state = self.state, step.state
        self.taken[step.action] += 1
        d = step.driver
        actor = self.stage.actors.get(d)
        if step.action == "Acquire":
            self._acquire(before, d)
        elif step.action == "Expire":
            self.stage.pass_time()
        elif actor is not None:
            self._of(actor, before, step)
        self._compare(step)
        self._rivals(step)

    def _acquire(self, before: State, d: int) -> None:
        operator = before.start == "doubtful" or (
            before.start == "found"
            and self._operator_may(before)
            and self._final(before)
            and not self.choose(4)
        )
        actor = Actor(self.stage, d, operator=operator)
        actor.advance()
        must(actor.lease is not None, "STO-6", f"{d} may take the lease and does not: {actor.failure!r}")

    def _final(self, state: State) -> bool:
        return all(state.process[c] in ("dead", "ended") or state.at[c] != "ready" for c in state.callers)

    def _of(self, actor: Actor, before: State, step: Step) -> None:
        action = step.action
        if action == "Renew":
            actor.store.renew()
        elif action == "Crash":
            self.stage.dead.add(step.driver)
            actor.stop(Died)
        elif action == "Release":
            at = before.at[step.driver]
            actor.advance() if at in ("done", "doubtful") else actor.stop(Interrupted)
        elif action == "Ask" and actor.place != "asked":
            pass  # superseded: it does not see what the model's log says now
        elif action in ("Dispatch", "Ask"):
            actor.advance("acts" if step.choice == "refused" else step.choice)
        elif action == "Settle" and self._silently(before, step):
            self._told_by_the_result(actor, before, step)
        elif action in ("Intent", "Settle", "Result"):
            actor.write()
        elif action == "Verdict":
            actor.write()
            if actor.place != "end":
                actor.advance()
            self.state = (
                self.state if self.state.process[actor.driver] == "ended" else self.state.ends(actor.driver)
            )
        written = len(self.state.log) > len(before.log)
        if written and self.state.late and self.stage.kind == "sqlite":
            # A durable entry of a driver at work renews its lease in the same transaction.
            self.state = self.state._replace(late=False)

    def _told_by_the_result(self, actor: Actor, before: State, step: Step) -> None:
        """The model puts a doubt or a failure on record, then the result; the code does both in one entry."""
        if step.state.process[step.driver] == "ended":
            actor.write()
        elif len(step.state.log) > len(before.log):
            steps = model.steps(self.state, BOUNDS)
            self.state = next(s.state for s in steps if (s.action, s.driver) == ("Result", step.driver))
            actor.write()

    def _silently(self, before: State, step: Step) -> bool:
        """A settlement for which the code needs no entry: the result alone says it."""
        d = step.driver
        how = before.settlement(d, BOUNDS)
        if how == "executed":
            return True
        resolutions = [
            entry for place, entry in enumerate(before.log)
            if place not in self.silent and entry.kind == "resolution"
        ]  # fmt: skip
        declared = bool(resolutions) and resolutions[-1].note == "in_doubt" and before.waiting == "none"
        live = before.at[d] in ("unsure", "called_off") and before.said[d] == "nothing"
        silent = (live and how in ("failed", "in_doubt")) or (declared and how == "in_doubt")
        if silent and len(step.state.log) > len(before.log):
            self.silent.add(len(before.log))
        return silent

    # --- comparing -----------------------------------------------------------------------

    def _compare(self, step: Step) -> None:
        state, stage = self.state, self.stage
        visible = [Kept(*entry) for place, entry in enumerate(state.log) if place not in self.silent]
        must(stage.log() == visible, "STO-6", f"{step.action}: the store has {stage.log()}, not {visible}")
        must(
            len(stage.effects) == len(state.effects),
            "INV-9",
            f"{step.action}: {len(stage.effects)} effects, not {len(state.effects)}",
        )
        for d, actor in stage.actors.items():
            self._driver(step, d, actor)

    def _driver(self, step: Step, d: int, actor: Actor) -> None:
        state = self.state
        gone = state.process[d] in ("dead", "ended")
        must(
            (actor.place == "end") == gone,
            "STO-6",
            f"{step.action}: {d} is at {actor.place}, {actor.failure!r}",
        )
        if gone:
            fine = actor.failure is None or isinstance(actor.failure, Died | Interrupted | LeaseLost)
            must(fine, "STO-6", f"{step.action}: driver {d} ended by {actor.failure!r}")
            return
        assert actor.lease is not None
        epochs = {other.lease.epoch: c for c, other in self.stage.actors.items() if other.lease is not None}
        if self.stage.kind != "file":
            must(
                actor.lease.epoch == state.epoch[d],
                "STO-6",
                f"epoch {actor.lease.epoch}, not {state.epoch[d]}",
            )
            unsure = {epochs[epoch] for epoch in actor.lease.unsure}
            must(unsure == set(state.unsure[d]), "STO-6", f"{d} is unsure of {unsure}, not {state.unsure[d]}")
        else:
            must(actor.lease.unsure == (), "STO-6", "somebody is unsure under a lock")
        # The model tells the place of a superseded driver by a log that it does not see any more.
        if not actor.operator and (state.admit(d) or state.at[d] == "ready"):
            where = self._places(d)
            must(actor.place in where, "RES-6", f"{step.action}: {d} is at {actor.place}, not {where}")

    def _places(self, d: int) -> tuple[str, ...]:
        at = self.state.at[d]
        if at in PLACES:
            return PLACES[at]
        if self.state.may_ask(d, BOUNDS):
            return ("asked",)
        return ("append:resume", "append:resolution", "append:invoke")

    def _rivals(self, step: Step) -> None:
        """Whoever may not take the lease is refused, and hears who has it."""
        state = self.state
        new = [d for d, process in enumerate(state.process) if process == "new"]
        if not new or state.may_take(new[0]) or not state.taken:
            return
        if self.stage.kind == "postgres" and self.choose(4):
            return  # each rival is a connection of its own
        store = self.stage.store(new[0])
        store.actor = type("Nobody", (), {})()
        self.stage.asking = new[0]
        try:
            lease = store.acquire("")
        except LeaseHeld as held:
            holder = f"pid {state.taken[-1]}"
            must(holder in str(held), "STO-6", f"{step.action}: refused, but not by {holder}: {held}")
        else:
            store.release(lease.epoch)
            must(False, "STO-6", f"{step.action}: a lease that is held was taken over by {new[0]}")


def walk(kind: str, choose: Callable[[int], int]) -> Walk:
    worlds = WORLDS["file" if kind == "file" else "database"]
    if kind == "postgres":
        from tests.machines.drivers.server import emptied

        with emptied():
            found = Walk(kind, worlds[choose(len(worlds))], choose)
            found.go()
            return found
    found = Walk(kind, worlds[choose(len(worlds))], choose)
    found.go()
    return found


def pinned(kind: str, seed: int) -> Counter[str]:
    """One random walk, always the same; raises where a store and the model disagree."""
    chance = random.Random(seed)
    return walk(kind, chance.randrange).taken


def _size(name: str) -> tuple[int | None, int | None]:
    run = runs()[name]
    return run.distinct, run.generated


def test_the_model_has_the_states_that_tlc_found() -> None:
    """STO-6: what the stores are compared with is the model that was checked, state for state."""
    each = model.explored(model.EACH_PROMISE, Bounds(jumps=True, pauses=0))
    assert tuple(each) == _size("lease/each-promise")
    pauses = model.explored(model.PAUSING, Bounds(verdicts=1))
    assert tuple(pauses) == _size("lease/pauses")


def test_the_model_shares_nothing_with_the_stores() -> None:
    """R104: otherwise the two could be wrong together."""
    tree = ast.parse(Path(__file__).with_name("lease_model.py").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [str(node.module)]
        assert not any(name.startswith(("agentl", "tests")) for name in names)


@pytest.mark.parametrize("kind", ["file", "sqlite"])
@given(data=st.data())
def test_every_step_of_a_store_is_one_of_the_model(kind: str, data: Any) -> None:
    """STO-6, RES-6, TOL-8: drivers that crash, sleep and wake, on each store."""
    walk(kind, lambda options: data.draw(st.integers(0, options - 1)))


@settings(max_examples=settings().max_examples // 10)
@given(data=st.data())
def test_every_step_of_postgresql_is_one_of_the_model(data: Any) -> None:
    """STO-6, STO-7, RES-6, TOL-8: the same on a server."""
    needed()
    walk("postgres", lambda options: data.draw(st.integers(0, options - 1)))


@pytest.mark.parametrize("kind", ["file", "sqlite"])
def test_no_step_is_left_out(kind: str) -> None:
    """R104: a walk that never gets anywhere agrees with everything."""
    taken = sum((pinned(kind, seed) for seed in range(60)), Counter())
    wanted = {
        "Acquire",
        "Release",
        "Intent",
        "Dispatch",
        "Ask",
        "Settle",
        "Result",
        "Verdict",
        "Crash",
        "Pause",
        "Wake",
    }
    if kind != "file":
        wanted |= {"Renew", "Expire"}
    assert wanted <= set(taken), wanted - set(taken)


# Twins that need no schedule of processes to be seen: the store, and the number of a walk that meets them.
TWINS = {
    "AdmitsAll": ("sqlite", 0),
    "AnyDriver": ("sqlite", 720),
    "BelievesNo": ("sqlite", 202),
    "KeyPerDriver": ("sqlite", 194),
    "LateMeansDead": ("sqlite", 0),
    "NeverAsks": ("sqlite", 168),
    "OnlyTheLast": ("sqlite", 202),
    "ReleasesInCall": ("sqlite", 4),
    "RetriesWithoutKey": ("sqlite", 1),
    "StealsLock": ("sqlite", 0),
}


@pytest.mark.parametrize("name", sorted(TWINS))
def test_the_machine_catches_the_twin(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """STO-6, RES-6, KRN-10: a fault of the model, planted in the code, is a step that the model lacks."""
    kind, seed = TWINS[name]
    pinned(kind, seed)
    CODE[name](monkeypatch)
    with pytest.raises(BrokenError):
        pinned(kind, seed)
