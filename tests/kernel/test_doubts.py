"""Doubtful actions, and how they are settled later."""

from __future__ import annotations

from typing import Any

import pytest

from agentl.errors import ActionInDoubt, KernelAbort, PermitError
from agentl.kernel import Kernel
from agentl.kernel.port import NOT_EXECUTED, Verdict
from tests.support.kernels import Bank, NoteBook, authorized, kernel

LOST = ConnectionError("lost")


def doubtful(count: int = 1) -> Kernel:
    """A kernel with so many doubtful transfers."""
    gate = kernel()
    for _ in range(count):
        permit = authorized(gate).permit
        assert permit is not None
        with pytest.raises(ActionInDoubt):
            gate.execute(permit, Bank(LOST).host)
    return gate


def test_a_doubt_is_kept_until_it_is_settled_and_a_success_does_not_clear_it() -> None:
    """TOL-8."""
    gate = doubtful()
    [doubt] = gate.doubts("transfer")
    assert (doubt.action_id, doubt.kind, doubt.request.args["amount"]) == (
        "run:payments:t0:a1",
        "invoke",
        100,
    )
    permit = authorized(gate).permit
    assert permit is not None
    gate.execute(permit, Bank().host)
    assert gate.doubts("transfer") == [doubt]
    assert gate.doubts("other") == []
    assert gate.doubts("transfer", "delegate") == []


def test_reconciling_settles_each_doubt_by_its_own_action() -> None:
    """TOL-8, HST-4."""
    gate = doubtful(2)
    gate.set_tick(2)
    bank = Bank()
    asked: list[str] = []

    @bank.host.reconciler("transfer")
    def find(args: Any, context: Any) -> Any:
        asked.append(context.action_id)
        return {"ok": True} if context.action_id.endswith("a1") else NOT_EXECUTED

    first, second = gate.reconcile("transfer", "invoke", bank.host)
    assert (first.executed, first.value, first.by) == (True, {"ok": True}, None)
    assert (second.executed, second.value) == (False, None)
    assert (first.target, first.kind, first.action_id) == ("transfer", "invoke", "run:payments:t0:a1")
    assert asked == ["run:payments:t0:a1", "run:payments:t0:a2"]
    assert gate.doubts("transfer") == []


def test_a_reconciler_is_asked_at_most_once_per_tick_and_a_raise_changes_nothing() -> None:
    """TOL-8."""
    gate = doubtful()
    bank = Bank()
    bank.reconciler(RuntimeError(), {"ok": True})
    gate.set_tick(1)
    assert gate.reconcile("transfer", "invoke", bank.host) == []
    assert gate.reconcile("transfer", "invoke", bank.host) == []
    gate.set_tick(2)
    [settled] = gate.reconcile("transfer", "invoke", bank.host)
    assert settled.executed


def test_an_interruption_of_a_reconciler_stops_the_run() -> None:
    """KRN-15."""
    gate = doubtful()
    bank = Bank()
    bank.reconciler(KernelAbort("stop"))
    with pytest.raises(KernelAbort):
        gate.reconcile("transfer", "invoke", bank.host)


def test_without_a_promise_or_with_an_old_driver_alive_nobody_is_asked() -> None:
    """TOL-8, STO-6."""
    gate = doubtful()
    assert gate.reconcile("transfer", "invoke", Bank().host) == []
    book = NoteBook()
    book.refuse_reconcile = True
    gate.journal = book
    bank = Bank()
    bank.reconciler({"ok": True})
    gate.set_tick(1)
    assert gate.reconcile("transfer", "invoke", bank.host) == []
    book.refuse_reconcile = False
    gate.set_tick(2)
    assert len(gate.reconcile("transfer", "invoke", bank.host)) == 1


def test_verdicts_settle_known_doubts_only() -> None:
    """RES-10, TCK-2."""
    gate = doubtful(2)
    assert gate.verdicts() == []
    book = NoteBook()
    gate.journal = book
    book.waiting = [
        Verdict("run:payments:t0:a2", "transfer", True, {"ok": True}, "ada"),
        Verdict("run:payments:t9:a9", "transfer", True),
    ]
    [settled] = gate.verdicts()
    assert (settled.action_id, settled.executed, settled.value, settled.by) == (
        "run:payments:t0:a2",
        True,
        {"ok": True},
        "ada",
    )
    assert [doubt.action_id for doubt in gate.doubts("transfer")] == ["run:payments:t0:a1"]
    book.waiting = [Verdict("run:payments:t0:a1", "transfer", False, {"ignored": 1}, "ada")]
    [settled] = gate.verdicts()
    assert (settled.executed, settled.value) == (False, None)


def test_a_broken_output_is_declared_by_the_permit_that_was_spent() -> None:
    """TOL-4."""
    gate = kernel()
    permit = authorized(gate).permit
    assert permit is not None
    with pytest.raises(PermitError):
        gate.declare_doubt(permit)
    gate.execute(permit, Bank({"wrong": 1}).host)
    assert gate.declare_doubt(permit).action_id == permit.action_id
    assert len(gate.doubts("transfer")) == 1
    with pytest.raises(PermitError):
        gate.declare_doubt(object())  # type: ignore[arg-type]
