"""Random kills and pauses of drivers that share a run, a second one competing (INV-9, DUR-2, STO-6, RES-6).

A schedule is made from a number: which driver dies or sleeps at which point of its work, who comes meanwhile,
when the lease runs out, who wakes. Drivers are processes, and what they did is judged outside: no action
twice, keyed and reconcilable ones exactly once, plain ones once or declared in doubt, a chain that verifies,
epochs that grow, and a trace that is that of a clean run. A schedule that fails prints its number and the
command that plays it again.

``HYPOTHESIS_PROFILE`` is ``dev`` or ``ci`` (a sample, always the same) or ``nightly`` (200 kills and 100
pauses for each store and promise, from a number that nobody has chosen). ``AGENTL_SCHEDULE_SEED`` says where
to begin; ``tools/schedules.py`` plays one, or all of them.
"""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

from tests.machines.drivers.play import many
from tests.machines.drivers.schedule import PROMISES, STORES, generate
from tests.support.postgres import needed

pytestmark = pytest.mark.real_kill

DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
WANTED = {"kill": 200, "pause": 100} if DEEP else {"kill": 4, "pause": 3}
FIRST = int(os.environ.get("AGENTL_SCHEDULE_SEED") or (int.from_bytes(os.urandom(4), "big") if DEEP else 0))


@pytest.mark.parametrize("kind", ["kill", "pause"])
@pytest.mark.parametrize("promise", PROMISES)
@pytest.mark.parametrize("store", STORES)
def test_no_schedule_doubles_or_loses_an_action(store: str, promise: str, kind: str) -> None:
    """INV-9, DUR-2, DUR-8, STO-6, STO-7, RES-6: for each store and each promise of the host."""
    if store == "postgres":
        needed()
    found = many(store, promise, kind, WANTED[kind], first=FIRST)
    assert not found.broken, found.broken[0]
    assert found.actions


def test_a_number_makes_the_same_schedule_again() -> None:
    """INV-9: what is printed replays."""
    for seed in range(50):
        assert generate(seed, "sqlite", "both", "pause") == generate(seed, "sqlite", "both", "pause")
    assert generate(1, "sqlite", "both", "kill").commands != generate(2, "sqlite", "both", "kill").commands


@pytest.mark.parametrize("name", ["schedule", "outside", "judge"])
def test_the_judge_shares_nothing_with_what_it_judges(name: str) -> None:
    """R104: otherwise the two could be wrong together."""
    path = Path(__file__).parent / "drivers" / f"{name}.py"
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [str(node.module)]
        assert not any(found.split(".")[0] == "agentl" for found in names)
