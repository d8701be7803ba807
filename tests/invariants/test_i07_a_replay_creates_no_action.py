"""I7: a replay creates no action that the original journal does not hold (INV-7, RPL-5, DUR-1)."""

from __future__ import annotations

from typing import Any

import pytest

from agentl import MockLLM, Runtime
from agentl.durable import DurableRun, MemoryStore
from agentl.errors import KernelAbort, ReplayError
from agentl.replay import ReplayHost, ReplayLLM
from tests.support.programs import Ledger, durable, host_of, payments


def recorded(amount: str = "100") -> tuple[Any, Ledger, MemoryStore]:
    store, ledger = MemoryStore(), Ledger()
    run = durable(payments(amount=amount), host_of(ledger), store)
    return run.export(), ledger, store


def test_a_replay_calls_nothing_and_gives_the_same_trace() -> None:
    """INV-7."""
    journal, ledger, store = recorded()
    assert len(ledger.booked) == 1
    runtime = Runtime(payments(), ReplayHost(journal), ReplayLLM(journal), run_id="r1")
    runtime.run(2)
    assert len(ledger.booked) == 1
    first = DurableRun(payments(), host_of(ledger), MockLLM(), store=store, run_id="r1")
    first.run(max_ticks=2)
    assert runtime.trace.render() == first.trace_text()


def test_a_replay_host_has_no_tools_to_call() -> None:
    """RPL-5."""
    journal, _, _ = recorded()
    host = ReplayHost(journal)
    for name in ("tools", "sensors"):
        assert not getattr(host, name, None)


@pytest.mark.parametrize(
    "changed",
    [
        payments(amount="101"),
        payments("DEFAULT DENY"),
        payments("DEFAULT ALLOW DENY transfer WHEN action.args.amount == 100"),
    ],
)
def test_a_program_that_wants_another_action_diverges(changed: Any) -> None:
    """INV-7: other arguments, or no action where one was."""
    journal, ledger, _ = recorded()
    runtime = Runtime(changed, ReplayHost(journal), ReplayLLM(journal), run_id="r1")
    with pytest.raises((ReplayError, KernelAbort)):
        runtime.run(2)
    assert len(ledger.booked) == 1


def test_a_replay_that_goes_on_beyond_the_journal_does_not_go_live() -> None:
    """INV-7."""
    journal, ledger, _ = recorded()
    runtime = Runtime(payments(), ReplayHost(journal), ReplayLLM(journal), run_id="r1")
    with pytest.raises((ReplayError, KernelAbort)):
        runtime.run(5)
    assert len(ledger.booked) == 1


def test_a_completed_run_re_derives_without_a_call() -> None:
    """RES-3, DUR-2."""
    _, ledger, store = recorded()
    again = durable(payments(), host_of(ledger), store)
    assert again.resumed
    assert again.status == "completed"
    assert len(ledger.booked) == 1
