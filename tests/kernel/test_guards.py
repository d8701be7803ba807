"""Refusals in places that little leads to: each was found by taking it away (``tools/survivors.py``)."""

from __future__ import annotations

from typing import Any

import pytest

from agentl.errors import ActionInDoubt, InvalidArguments, KernelAbort, NotExecuted, PermitError, StoreFailure
from agentl.kernel import ActionRequest, authorization
from agentl.values import DataModelError
from tests.support.kernels import Bank, NoteBook, authorized, kernel, rule

ASKING = rule("REQUIRE_APPROVAL", "transfer")


class Mute(Exception):
    """An error whose text is an interruption."""

    def __str__(self) -> str:
        raise KernelAbort("while it was put in words")


def executed(bank: Bank, book: NoteBook | None = None, kind: str = "invoke") -> Any:
    """Authorise and execute the transfer."""
    gate = kernel()
    gate.journal = book
    permit = authorized(gate, kind=kind).permit
    assert permit is not None
    return gate.execute(permit, bank.host) if kind == "invoke" else gate.delegate(permit, bank.host)


@pytest.mark.parametrize("args", [[1], "amount", None, ("amount", 1)])
def test_arguments_that_are_no_mapping_are_outside_the_data_model(args: Any) -> None:
    """KRN-3: and named as such, whatever would have become of them later."""
    result = authorized(kernel(), ActionRequest("transfer", args))
    assert (result.stage, result.granted) == ("data_model", False)


def test_what_cannot_be_shown_is_not_approved(monkeypatch: pytest.MonkeyPatch) -> None:
    """KRN-3, APR-3: without a copy of its own for the person, the question is not put."""
    asked: list[Any] = []
    isolated = authorization.isolated
    copies: list[Any] = []

    def once(args: Any) -> Any:
        copies.append(args)
        if len(copies) > 1:
            raise DataModelError("amount", "object")
        return isolated(args)

    monkeypatch.setattr(authorization, "isolated", once)
    result = authorized(kernel(ASKING), approve=asked.append)
    assert (result.stage, result.granted, asked) == ("approval_isolation", False, [])


def test_the_refusal_names_what_the_approver_raised() -> None:
    """APR-2: the person's error, not one of ours."""

    def approver(_request: Any) -> Any:
        raise LookupError("no such person")

    result = authorized(kernel(ASKING), approve=approver)
    assert (result.stage, result.code) == ("approval", "apr.failed")
    assert (result.values["type"], result.values["message"]) == ("LookupError", "no such person")


def test_an_answer_without_a_time_refuses() -> None:
    """APR-5, KRN-3: the clock is the host's code; when it raises there is no record, and no permit."""

    def broken() -> Any:
        raise OSError("no clock")

    gate = kernel(ASKING)
    gate.clock = broken
    result = authorized(gate, approve=lambda _request: True)
    assert (result.stage, result.code, result.values["type"]) == ("approval", "apr.failed", "OSError")
    assert gate.stats["permits"] == 0


def test_an_interruption_while_a_refusal_is_put_in_words_passes_on() -> None:
    """KRN-3, KRN-15."""

    def approver(_request: Any) -> Any:
        raise Mute

    with pytest.raises(KernelAbort):
        authorized(kernel(ASKING), approve=approver)


@pytest.mark.parametrize("kind", ["invoke", "delegate"])
def test_arguments_forced_into_a_permit_do_not_reach_the_host(kind: str) -> None:
    """KRN-12, INV-6: also those that have no canonical form at all; no call, no doubt."""
    bank, gate = Bank(), kernel()
    bank.host.subagents["transfer"] = lambda payload: bank.effects.append(payload)
    permit = authorized(gate, kind=kind).permit
    assert permit is not None
    object.__setattr__(permit, "args", {"amount": object(), "to": "acct-1"})
    with pytest.raises(PermitError) as refused:
        gate.execute(permit, bank.host) if kind == "invoke" else gate.delegate(permit, bank.host)
    assert refused.value.code == "permit.arguments"
    assert (bank.effects, bank.keys, gate.doubts("transfer")) == ([], [], [])


def test_an_interruption_inside_the_hosts_own_code_passes_on() -> None:
    """KRN-15, HST-4: in a classifier, in a wait, in a reconciler, in the text of an error."""

    def stops(*_args: Any) -> Any:
        raise KernelAbort("stop")

    classifying = Bank(ConnectionError("lost"), classify=stops)
    waiting = Bank(ConnectionError("lost"), idempotent=True)
    waiting.host.retry_policy = lambda *_args: Pausing()  # type: ignore[method-assign,assignment]
    waiting.host.sleep = stops
    asking = Bank(ConnectionError("lost"))
    asking.reconciler(KernelAbort("stop"))
    for bank in (classifying, waiting, asking, Bank(Mute())):
        with pytest.raises(KernelAbort):
            executed(bank)


class Pausing:
    """A retry policy with a wait before the second call."""

    attempts = 2

    def pause(self, _attempt: int, _key: str) -> float:
        return 1.0


def test_a_store_that_fails_while_a_sub_agent_is_looked_up_ends_the_run() -> None:
    """DRF-3, KRN-12: as the failure that it is, and the permit is gone."""

    class Full(NoteBook):
        def lookup(self, target: str, call: Any) -> bool:
            raise StoreFailure("disk full")

    bank, gate = Bank(), kernel()
    gate.journal = Full()
    permit = authorized(gate, kind="delegate").permit
    assert permit is not None
    with pytest.raises(StoreFailure):
        gate.delegate(permit, bank.host)
    assert permit.status.value == "spent"


def test_a_sub_agent_that_disappears_before_its_call_is_a_sure_failure() -> None:
    """HST-3, TOL-3: nothing was called, so nothing is in doubt."""
    bank = Bank()
    bank.host.subagents["transfer"] = lambda payload: bank.effects.append(payload)

    def promise(target: str, kind: str = "invoke") -> tuple[str, ...]:
        del bank.host.subagents[target]
        return ()

    bank.host.promise = promise  # type: ignore[method-assign]
    with pytest.raises(NotExecuted) as failed:
        executed(bank, kind="delegate")
    assert not isinstance(failed.value, ActionInDoubt | InvalidArguments)
    assert bank.effects == []
