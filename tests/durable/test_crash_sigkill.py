"""The same with real processes and a real SIGKILL, effects counted outside (`DUR-2`, `STO-5`, `STO-6`)."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from agentl.durable import DurableRun, survey
from tests.durable.dying import store_at
from tests.durable.test_crash_in_process import WRITES
from tests.durable.world import ACTIONS, PROGRAM, PROMISES, RUN_ID, TICKS, Ledger, host_for, model

pytestmark = pytest.mark.real_kill


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def killed_child(kind: str, folder: Path, promise: str, death: tuple[str, int]) -> None:
    """Run in a child of its own, which kills itself; fails when it lives."""
    store_at(kind, folder)
    child = os.fork()
    if child == 0:
        try:
            store: Any = store_at(kind, folder)
            store.die = kill
            inside = [death[1] if death[0] == "inside" else -1]
            if death[0] != "inside":
                store.when, store.at = death

            def after_effect(_target: str) -> None:
                inside[0] -= 1
                if inside[0] == -1:
                    kill()

            host = host_for(Ledger(folder / "ledger"), promise, after_effect)
            DurableRun(PROGRAM, host, model(), store=store, run_id=RUN_ID).run(TICKS)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), death
    assert os.WTERMSIG(status) == signal.SIGKILL


def resumed(kind: str, folder: Path, promise: str) -> DurableRun:
    host = host_for(Ledger(folder / "ledger"), promise)
    found = DurableRun(PROGRAM, host, model(), store=store_at(kind, folder), run_id=RUN_ID)
    found.run(TICKS)
    return found


@pytest.mark.parametrize("promise", PROMISES)
@pytest.mark.parametrize("kind", ["file", "sqlite", "postgres"])
def test_a_killed_process_doubles_and_loses_nothing(kind: str, promise: str, quick_path: Path) -> None:
    """DUR-2, INV-9: each write is a moment of death with one promise, each effect with all of them."""
    turn = PROMISES.index(promise)
    deaths = [("before" if (n // 3) % 2 else "after", n) for n in range(WRITES) if n % 3 == turn]
    deaths += [("inside", n) for n in range(ACTIONS)]
    clean = quick_path / "clean"
    clean.mkdir()
    trace = resumed(kind, clean, promise).trace_text()
    for number, death in enumerate(deaths):
        folder = quick_path / str(number)
        folder.mkdir()
        killed_child(kind, folder, promise, death)
        left = [found["action_id"] for found in survey(store_at(kind, folder)).pending()]
        run = resumed(kind, folder, promise)
        keys = [row["key"] for row in Ledger(folder / "ledger").rows()]
        assert len(keys) == len(dict.fromkeys(keys)), (death, "an effect was doubled")
        doubtful = [found["action_id"] for found in run.journal.in_doubt()]
        if promise == "plain":
            assert doubtful == left
        else:
            assert (len(keys), doubtful) == (ACTIONS, []), death
            assert run.trace_text() == trace, death
