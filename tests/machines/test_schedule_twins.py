"""The schedules catch each fault of the lease's model, planted in the code (R104, STO-6, RES-6, INV-9).

Each twin is caught by a schedule that is named here: a number, or commands that were written by hand where
three drivers must meet in one certain way. The sound code plays the same schedules without a fault.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.machines.drivers.judge import BrokenScheduleError
from tests.machines.drivers.play import clean_trace, played
from tests.machines.drivers.schedule import DIES, SLEEPS, Command, Fate, Schedule, generate
from tests.support.graphs import runs
from tests.support.lease_mutants import CODE, NO_TWIN, OWN
from tests.support.postgres import needed

pytestmark = pytest.mark.real_kill


def by_hand(*commands: Command, away: tuple[int, ...] = (), renews: bool = False) -> Schedule:
    """A schedule of one program of two actions, on SQLite, with a reconciler."""
    return Schedule(
        0, "sqlite", "reconcilable", "pause", commands=commands, away=frozenset(away), renews=renews
    )


def numbered(seed: int, store: str, promise: str, kind: str) -> Schedule:
    """The schedule of a number, exact: without the runs beside it, whose threads may come first."""
    found = replace(generate(seed, store, promise, kind), company=False)
    assert found.exact
    return found


# The first dies in its call, and is known dead; the second is told no, says so, and sleeps before its call.
THIRD_MEETS_THE_SECOND = by_hand(
    Command("start", 1, (Fate(DIES, "tool.before"),)),
    Command("start", 2, (Fate(SLEEPS, "tool.before"),)),
    Command("late"),
    Command("start", 3),
    Command("wake", 2),
)
# The thread that renews wakes first, finds the lease late and gives it back; the call goes on.
GIVEN_BACK_IN_THE_CALL = by_hand(
    Command("start", 1, (Fate(SLEEPS, "append.after", 2), Fate(SLEEPS, "tool.before"))),
    Command("late"),
    Command("wake", 1),
    Command("start", 2),
    Command("wake", 1),
    renews=True,
)
# The epoch was compared while it was the latest; the entry comes when it is not, and before the new driver's.
COMPARED_TOO_SOON = by_hand(
    Command("start", 1, (Fate(SLEEPS, "append.checked", 2),)),
    Command("late"),
    Command("start", 2, (Fate(SLEEPS, "append.before"),)),
    Command("wake", 1),
    Command("wake", 2),
)

CAUGHT = {
    "AdmitsAll": numbered(16, "sqlite", "reconcilable", "pause"),
    "AnyDriver": numbered(7, "sqlite", "reconcilable", "pause"),
    "BelievesNo": numbered(9, "sqlite", "reconcilable", "pause"),
    "BelievesNoLater": numbered(9, "sqlite", "reconcilable", "pause"),
    "ChecksBefore": COMPARED_TOO_SOON,
    "ElsewhereMeansDead": numbered(51, "sqlite", "reconcilable", "pause"),
    "HastyVerdict": numbered(11, "sqlite", "none", "pause"),
    "IntentNotSynced": numbered(9, "sqlite", "none", "pause"),
    "KeyPerDriver": numbered(1, "sqlite", "idempotent", "kill"),
    "LateMeansDead": numbered(9, "sqlite", "reconcilable", "pause"),
    "NeverAsks": numbered(10, "sqlite", "reconcilable", "pause"),
    "OnlyTheFirst": THIRD_MEETS_THE_SECOND,
    "OnlyTheLast": numbered(106, "sqlite", "reconcilable", "pause"),
    "ReleasesInCall": GIVEN_BACK_IN_THE_CALL,
    "RetriesWithoutKey": numbered(7, "sqlite", "none", "pause"),
    "SameEpoch": numbered(1, "file", "reconcilable", "kill"),
    "StealsLock": numbered(5, "file", "reconcilable", "pause"),
}
# On PostgreSQL, whose statements compare the epoch themselves; and a lease of a database that is taken.
MORE = {
    ("AdmitsAll", "postgres"): numbered(16, "postgres", "reconcilable", "pause"),
    ("StealsLock", "postgres"): numbered(7, "postgres", "reconcilable", "pause"),
    ("StealsLock", "sqlite"): numbered(7, "sqlite", "reconcilable", "pause"),
}


def caught(name: str, schedule: Schedule, patch: pytest.MonkeyPatch) -> str:
    """The clause by which a planted fault is caught, or nothing."""
    clean_trace(schedule)
    (CODE.get(name) or OWN[name])(patch)
    try:
        played(schedule)
    except BrokenScheduleError as broken:
        return broken.clause
    return ""


def test_every_mutant_of_the_lease_model_has_a_twin_or_a_reason() -> None:
    """R104: none is left out."""
    prefix = "lease-mutant/"
    mutants = {name.removeprefix(prefix) for name in runs() if name.startswith(prefix)}
    assert set(CODE) | set(NO_TWIN) == mutants
    assert not set(CODE) & set(NO_TWIN)
    assert set(CAUGHT) == set(CODE) | set(OWN)


@pytest.mark.parametrize("name", sorted(CAUGHT))
def test_the_sound_code_plays_the_schedule(name: str) -> None:
    """INV-9, STO-6: what is caught below is the fault, not the schedule."""
    played(CAUGHT[name])


@pytest.mark.parametrize("name", sorted(CAUGHT))
def test_the_twin_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """R104, INV-9, STO-6, RES-6, TOL-8, KRN-10, DUR-6: a clause is broken, and it is said which."""
    assert caught(name, CAUGHT[name], monkeypatch)


@pytest.mark.parametrize(("name", "store"), sorted(MORE))
def test_the_twin_is_caught_on_another_store(name: str, store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """R104, STO-6, STO-7: each store compares epochs, and looks at leases, by itself."""
    if store == "postgres":
        needed()
    played(MORE[name, store])
    assert caught(name, MORE[name, store], monkeypatch)
