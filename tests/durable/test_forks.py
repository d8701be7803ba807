"""A driver that forks: the child neither keeps its lease alive nor drives on (`STO-6`)."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentl import MockLLM
from agentl.durable import DurableRun, FileStore, PostgresStore, SQLiteStore
from agentl.errors import LeaseLost
from tests.support.postgres import kept_database
from tests.support.programs import Ledger, host_of, payments

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")

STORES: dict[str, Callable[[Path], Any]] = {
    "file": lambda place: FileStore(place / "run"),
    "sqlite": lambda place: SQLiteStore(place / "run.db", "r1"),
    "postgres": lambda place: PostgresStore(kept_database(), "r1"),
}


def forked(work: Callable[[], int]) -> int:
    """The exit code of ``work`` in a forked child."""
    child = os.fork()
    if child == 0:
        code = 99
        try:
            code = work()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("make", STORES.values(), ids=STORES.keys())
def test_a_child_cannot_write_to_what_its_parent_drives(make: Callable[[Path], Any], tmp_path: Path) -> None:
    """`STO-6`: a tool that returns twice leaves one driver; the other stops before it writes."""
    run = DurableRun(payments(), host_of(Ledger()), MockLLM(), store=make(tmp_path), run_id="r1")

    def child() -> int:
        try:
            run.run()
        except LeaseLost:
            return 7
        return 0

    assert forked(child) == 7
    run.run()
    assert run.status == "completed"


def test_a_child_left_behind_holds_no_lease(tmp_path: Path) -> None:
    """`STO-6`: the lease ends with its process, whoever that has started."""
    left, right = os.pipe()

    def driver() -> int:
        store = FileStore(tmp_path / "run")
        DurableRun(payments(), host_of(Ledger()), MockLLM(), store=store, run_id="r1")
        if os.fork() == 0:
            os.close(right)
            os.read(left, 1)  # waits until the test lets it go
            os._exit(0)
        os.kill(os.getpid(), signal.SIGKILL)
        return 0

    assert forked(driver) == -signal.SIGKILL
    try:
        run = DurableRun(payments(), host_of(Ledger()), MockLLM(), store=FileStore(tmp_path / "run"))
        run.run()
        assert run.status == "completed"
    finally:
        os.close(right)
        os.close(left)


def test_the_journal_takes_no_number_of_a_standard_stream(tmp_path: Path) -> None:
    """`STO-5`: a process without stdout must not print into its journal."""

    def child() -> int:
        os.close(1)
        store = FileStore(tmp_path / "run")
        run = DurableRun(payments(), host_of(Ledger()), MockLLM(), store=store, run_id="r1")
        try:
            os.write(1, b"noise")
        except OSError:
            run.run()
            return 0
        return 1

    assert forked(child) == 0
