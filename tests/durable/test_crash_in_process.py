"""Die before and after every write, and inside every tool; then resume (`DUR-2`, `RES-5`, `RES-6`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentl.durable import DurableRun, survey
from tests.durable.dying import bury, store_at
from tests.durable.world import ACTIONS, PROGRAM, PROMISES, RUN_ID, TICKS, Died, Ledger, host_for, model

WRITES = 34


def dies() -> None:
    raise Died


def run(kind: str, folder: Path, promise: str, death: tuple[str, int] | None) -> DurableRun:
    """One process: a new run, or the resume of what lies in ``folder``."""
    store: Any = store_at(kind, folder)
    store.die = dies
    inside = [-1]
    if death is not None and death[0] in ("before", "after"):
        store.when, store.at = death
    if death is not None and death[0] == "inside":
        inside = [death[1]]

    def after_effect(_target: str) -> None:
        inside[0] -= 1
        if inside[0] == -1:
            store.dead = True
            dies()

    host = host_for(Ledger(folder / "ledger"), promise, after_effect)
    found = DurableRun(PROGRAM, host, model(), store=store, run_id=RUN_ID)
    found.run(TICKS)
    return found


def deaths() -> Iterator[tuple[str, int]]:
    for number in range(WRITES):
        yield "before", number
        yield "after", number
    for number in range(ACTIONS):
        yield "inside", number


@pytest.fixture
def clean(quick_path: Path) -> str:
    """The trace of a run that nobody disturbs."""
    folder = quick_path / "clean"
    folder.mkdir()
    found = run("file", folder, "idempotent", None)
    assert len(found.journal.lines) == WRITES, "every write is in the matrix"
    assert len(Ledger(folder / "ledger").rows()) == ACTIONS
    return found.trace_text()


@pytest.mark.parametrize("promise", PROMISES)
@pytest.mark.parametrize("kind", ["file", "sqlite", "postgres"])
def test_no_crash_doubles_or_loses_an_effect(kind: str, promise: str, quick_path: Path, clean: str) -> None:
    """DUR-2, RES-6, INV-9: one effect per action, and the same trace, whatever moment the process died at."""
    for number, death in enumerate(deaths()):
        mine = death[1] % 3 == PROMISES.index(promise)
        if kind != "file" and death[0] == "before" and not mine:
            continue  # but for what waits in memory, before a write is after the one before it
        if kind == "postgres" and death[0] == "after" and not mine:
            continue  # a server has more to do; each moment is tried with one of the promises
        folder = quick_path / str(number)
        folder.mkdir()
        with pytest.raises(Died):
            run(kind, folder, promise, death)
        bury(kind, folder)
        ledger = Ledger(folder / "ledger")
        left = [found["action_id"] for found in survey(store_at(kind, folder)).pending()]
        resumed = run(kind, folder, promise, None)
        keys = [row["key"] for row in ledger.rows()]
        assert len(keys) == len(dict.fromkeys(keys)), (death, "an effect was doubled")
        assert resumed.status == "completed"
        doubtful = [found["action_id"] for found in resumed.journal.in_doubt()]
        if promise == "plain":
            assert doubtful == left, (death, "what is unknown is declared, and nothing else")
        else:
            assert doubtful == []
            assert len(keys) == ACTIONS, (death, "an effect was lost")
            assert resumed.trace_text() == clean, death
        assert (folder / "ledger.acknowledged").exists(), (death, "the event was acknowledged")
        assert resumed.trace_text().count("alarm ") == clean.count("alarm "), (death, "delivered once")
        if number % 7:
            continue
        again = run(kind, folder, promise, None)
        assert again.already_completed
        assert again.trace_text() == resumed.trace_text()
        assert [row["key"] for row in ledger.rows()] == keys, "a completed run calls nothing"


@pytest.mark.parametrize("kind", ["file", "sqlite", "postgres"])
def test_dying_again_and_again(kind: str, quick_path: Path, clean: str) -> None:
    """RES-6, R05: every resume may die in its turn; attempts count on under one key."""
    folder = quick_path / "again"
    folder.mkdir()
    died = 0
    while True:
        try:
            found = run(kind, folder, "idempotent", ("inside", 0) if died % 2 else ("after", 2))
            break
        except Died:
            died += 1
            bury(kind, folder)
            assert died < 60
    assert found.trace_text() == clean
    assert len(Ledger(folder / "ledger").rows()) == ACTIONS
