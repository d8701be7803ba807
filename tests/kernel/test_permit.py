"""Permits: single use, bound to one exact action, worth nothing elsewhere."""

from __future__ import annotations

import asyncio
import contextvars
import copy
import json
import pickle
import threading
from contextlib import suppress
from typing import Any

import pytest

from agentl.errors import ActionInDoubt, KernelAbort, PermitError
from agentl.host import Host
from agentl.kernel import (
    ActionContext,
    ExecutionPermit,
    activated,
    active_dispatch,
    current_action,
    protocol,
    require_permit,
)
from agentl.kernel.permit import Dispatch, Status
from agentl.messages import set_language
from tests.support.kernels import Bank, authorized, kernel, transfer


def refused(code: str, call: Any, *args: Any) -> PermitError:
    with pytest.raises(PermitError) as caught:
        call(*args)
    assert caught.value.code == code
    assert "\n" not in str(caught.value)
    return caught.value


def granted(gate: Any, **options: Any) -> ExecutionPermit:
    permit = authorized(gate, **options).permit
    assert permit is not None
    return permit


def test_a_permit_shows_its_action_and_its_status() -> None:
    """KRN-9, KRN-10."""
    gate = kernel()
    gate.set_tick(3)
    permit = granted(gate)
    assert (permit.kind, permit.target, permit.args) == (
        "invoke",
        "transfer",
        {"amount": 100, "to": "acct-1"},
    )
    assert permit.action_id == "run:payments:t3:a1"
    assert len(permit.action_hash) == 64
    assert len(permit.idempotency_key) == 32
    assert permit.policy_digest == gate.policy_digest
    assert permit.approved is False
    assert (permit.nonce, permit.issuer) == (1, "run:payments")
    assert permit.status is Status.ISSUED
    assert gate.execute(permit, Bank().host) == {"ok": True}
    assert permit.status is Status.SPENT


def test_ids_and_keys_are_the_same_in_another_process_and_different_for_every_action() -> None:
    """KRN-10: derived, never drawn."""
    first, second = kernel(), kernel()
    keys = [[granted(gate).idempotency_key for _ in range(3)] for gate in (first, second)]
    assert keys[0] == keys[1]
    assert len(set(keys[0])) == 3


def test_nobody_else_makes_a_permit() -> None:
    """KRN-9, INV-1."""
    error = refused("permit.forged", ExecutionPermit)
    assert "Kernel.authorize" in str(error)
    refused("permit.forged", lambda: type("Mine", (ExecutionPermit,), {}))
    refused("permit.forged", Dispatch, object(), None, None)
    gate = kernel()
    real = granted(gate)
    double = object.__new__(ExecutionPermit)
    for name in ExecutionPermit.__slots__:
        object.__setattr__(double, name, getattr(real, name))
    bank = Bank()
    refused("permit.unknown", gate.execute, double, bank.host)
    for thing in (None, "permit", object(), object.__new__(ExecutionPermit)):
        refused("permit.unknown", gate.execute, thing, bank.host)
    assert bank.effects == []
    assert gate.execute(real, bank.host) == {"ok": True}


def test_a_permit_cannot_be_changed() -> None:
    """KRN-9: not by assignment, and what is forced is noticed."""
    gate = kernel()
    permit = granted(gate)
    refused("permit.immutable", setattr, permit, "target", "wipe")
    refused("permit.immutable", delattr, permit, "target")
    with pytest.raises(AttributeError):
        object.__setattr__(permit, "target", "wipe")
    bank = Bank()
    object.__setattr__(permit, "nonce", 99)
    refused("permit.unknown", gate.execute, permit, bank.host)
    other = granted(gate)
    object.__setattr__(other, "args", {"amount": 999, "to": "thief"})
    refused("permit.arguments", gate.execute, other, bank.host)
    third = granted(gate)
    object.__setattr__(third, "_held", None)
    refused("permit.unknown", gate.execute, third, bank.host)
    assert bank.effects == []


def test_a_copy_of_a_permit_is_itself_and_it_cannot_be_serialised() -> None:
    """KRN-9."""
    permit = granted(kernel())
    assert copy.copy(permit) is permit
    assert copy.deepcopy({"p": permit})["p"] is permit
    for version in range(pickle.HIGHEST_PROTOCOL + 1):
        refused("permit.serialised", pickle.dumps, permit, version)
    with pytest.raises(TypeError):
        json.dumps(permit)


def test_a_permit_runs_once() -> None:
    """KRN-11: spent whether the call succeeds or raises."""
    for outcome in ({"ok": True}, ValueError("no")):
        bank = Bank(outcome)
        gate = kernel()
        permit = granted(gate)
        with suppress(ActionInDoubt):
            gate.execute(permit, bank.host)
        refused("permit.unknown", gate.execute, permit, bank.host)
        assert len(bank.attempts) == 1


def test_minting_voids_an_older_unused_permit() -> None:
    """KRN-11: at most one permit is outstanding."""
    gate = kernel()
    older, newer = granted(gate), granted(gate)
    assert older.status is Status.VOID
    refused("permit.unknown", gate.execute, older, Bank().host)
    assert gate.execute(newer, Bank().host) == {"ok": True}


def test_a_permit_can_be_revoked() -> None:
    """KRN-11."""
    gate = kernel()
    permit = granted(gate)
    gate.void(permit)
    assert permit.status is Status.VOID
    refused("permit.unknown", gate.execute, permit, Bank().host)
    refused("permit.unknown", gate.void, permit)


def test_a_permit_of_another_kernel_is_unknown_even_with_the_same_nonce() -> None:
    """INV-1: the registry compares identity, not numbers."""
    one, other = kernel(), kernel()
    permit, own = granted(one), granted(other)
    assert permit.nonce == own.nonce
    bank = Bank()
    refused("permit.unknown", other.execute, permit, bank.host)
    assert bank.effects == []
    assert other.execute(own, bank.host) == {"ok": True}


def test_arguments_changed_after_the_judgement_are_refused_by_the_host() -> None:
    """INV-6, KRN-13: also when only something inside them changed, or became no value at all."""
    for change in ({"amount": 999}, {"extra": 1}, {"to": object()}):
        gate = kernel()
        permit = granted(gate)
        bank = Bank()
        permit.args.update(change)  # type: ignore[attr-defined]
        refused("permit.arguments", gate.execute, permit, bank.host)
        assert bank.effects == []
        assert permit.status is Status.SPENT


def test_a_permit_is_for_one_kind() -> None:
    """KRN-12."""
    gate = kernel()
    bank = Bank()
    bank.host.subagents["transfer"] = lambda payload: payload
    refused("permit.other", gate.delegate, granted(gate), bank.host)
    refused("permit.other", gate.execute, granted(gate, kind="delegate"), bank.host)


class Relay(Host):
    """A host between the kernel and the real one that calls it in another way."""

    def __init__(self, inner: Host, call: Any) -> None:
        super().__init__()
        self.inner = inner
        self.call = call

    def invoke(self, name: str, args: dict[str, Any]) -> Any:
        return self.call(self.inner, name, args)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda host, name, args: (host.invoke(name, args), host.invoke(name, args)), "permit.presented"),
        (lambda host, name, args: host.invoke("wipe", args), "permit.other"),
        (lambda host, name, args: host.invoke(name, {**args, "amount": 1}), "permit.arguments"),
        (lambda host, name, args: host.invoke(name, {**args, "amount": object()}), "permit.arguments"),
        (lambda host, name, args: host.subagents[name](args), "permit.other"),
    ],
)
def test_the_host_accepts_exactly_the_call_that_was_authorised_once(call: Any, code: str) -> None:
    """KRN-13, KRN-14."""
    bank = Bank()
    gate = kernel()
    refused(code, gate.execute, granted(gate), Relay(bank.host, call))
    assert len(bank.effects) == (1 if code == "permit.presented" else 0)


def test_a_running_tool_cannot_call_its_host() -> None:
    """INV-1: its own permit is presented already."""
    host = Host()
    gate = kernel()

    @host.tool("transfer")
    def nested(amount: int, to: str) -> Any:
        return host.invoke("transfer", {"amount": amount, "to": to})

    refused("permit.presented", gate.execute, granted(gate), host)


def test_a_call_without_a_permit_is_refused_in_both_languages() -> None:
    """KRN-14; the French text is that of the seed."""
    host = Host()
    error = refused("permit.missing", host.invoke, "wipe", {"host": "prod-db"})
    assert (
        str(error)
        == "invoke `wipe` sans permis d'exécution : seul le noyau AGENT-L appelle l'hôte (Kernel.execute)"
    )
    error = refused("permit.missing", host.subagents["helper"], {})
    assert (
        str(error)
        == "delegate `helper` sans permis d'exécution : seul le noyau AGENT-L appelle l'hôte (Kernel.execute)"
    )
    set_language("en")
    assert "Kernel.execute" in str(error)
    assert isinstance(error, KernelAbort)


def test_the_context_of_the_running_action() -> None:
    """KRN-13."""
    seen: list[ActionContext | None] = []
    host = Host()
    gate = kernel()

    @host.tool("transfer")
    def look(amount: int, to: str) -> None:
        seen.append(current_action())

    assert current_action() is None
    permit = granted(gate)
    gate.execute(permit, host)
    assert seen == [
        ActionContext(
            "invoke", "transfer", permit.action_id, permit.idempotency_key, attempt=1, fencing_token=None
        )
    ]
    assert current_action() is None
    assert active_dispatch() is None


def test_a_dispatch_can_be_carried_into_a_thread_and_presented_there_once() -> None:
    """KRN-13: contexts do not follow into threads by themselves."""
    bank = Bank()
    results: list[Any] = []

    def threaded(host: Host, name: str, args: dict[str, Any]) -> Any:
        dispatch = active_dispatch()

        def bare() -> None:
            try:
                host.invoke(name, args)
            except PermitError as error:
                results.append(error.code)

        def carried() -> None:
            with activated(dispatch):
                results.append(host.invoke(name, args))

        for target in (bare, carried):
            thread = threading.Thread(target=target)
            thread.start()
            thread.join()
        return results[-1]

    gate = kernel()
    assert gate.execute(granted(gate), Relay(bank.host, threaded)) == {"ok": True}
    assert results == ["permit.missing", {"ok": True}]
    assert gate.stats == {"permits": 1, "unpresented": 0}


def test_two_threads_cannot_both_present_one_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    """KRN-11: both come to the last check before either goes on; taking the one ticket is atomic."""
    bank = Bank()
    codes: list[str] = []
    barrier = threading.Barrier(2)
    present = protocol.present

    def together(*args: Any) -> Any:
        barrier.wait()
        return present(*args)

    def raced(host: Host, name: str, args: dict[str, Any]) -> Any:
        dispatch = active_dispatch()

        def run() -> None:
            with activated(dispatch):
                try:
                    host.invoke(name, args)
                    codes.append("ran")
                except PermitError as error:
                    codes.append(error.code)

        threads = [threading.Thread(target=run) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return {"ok": True}

    gate = kernel()
    permit = granted(gate)
    monkeypatch.setattr(protocol, "present", together)
    gate.execute(permit, Relay(bank.host, raced))
    assert sorted(codes) == ["permit.presented", "ran"]
    assert len(bank.effects) == 1


def test_an_attempt_that_is_over_is_not_presented_under_the_next_one() -> None:
    """KRN-11, KRN-13: each attempt is its own dispatch, closed when it ends."""
    bank = Bank(idempotent=True)
    kept: list[contextvars.Context] = []
    codes: list[str] = []

    def late(host: Host, name: str, args: dict[str, Any]) -> Any:
        if not kept:
            kept.append(contextvars.copy_context())
            raise ConnectionError("lost on the way")
        try:
            kept[0].run(host.invoke, name, args)
        except PermitError as error:
            codes.append(error.code)
        return host.invoke(name, args)

    relay = Relay(bank.host, late)
    relay.idempotent_tools.add("transfer")
    gate = kernel()
    assert gate.execute(granted(gate), relay) == {"ok": True}
    assert codes == ["permit.missing"]
    assert bank.attempts == [2]


def test_a_dispatch_in_an_asyncio_task() -> None:
    """KRN-13: a task inherits the context of its maker."""
    bank = Bank()

    def in_loop(host: Host, name: str, args: dict[str, Any]) -> Any:
        async def call() -> Any:
            return host.invoke(name, args)

        return asyncio.run(call())

    gate = kernel()
    assert gate.execute(granted(gate), Relay(bank.host, in_loop)) == {"ok": True}


def test_an_execution_that_is_over_cannot_be_activated_or_presented_again() -> None:
    """KRN-13, KRN-14: also not through a context that was copied while it ran."""
    kept: list[Any] = []

    def keep(host: Host, name: str, args: dict[str, Any]) -> Any:
        kept.append((active_dispatch(), contextvars.copy_context(), args))
        return {"ok": True}

    gate = kernel()
    bank = Bank()
    gate.execute(granted(gate), Relay(bank.host, keep))
    assert gate.stats["unpresented"] == 1
    dispatch, context, args = kept[0]
    with pytest.raises(PermitError) as caught, activated(dispatch):
        pass
    assert caught.value.code == "permit.activated"
    refused("permit.missing", context.run, bank.host.invoke, "transfer", args)
    for thing in (None, object(), object.__new__(Dispatch)):
        with pytest.raises(PermitError), activated(thing):
            pass


def test_require_permit_outside_a_dispatch() -> None:
    """KRN-13."""
    refused("permit.missing", require_permit, "invoke", "transfer", {})


def test_sequence_numbers_count_what_the_policy_does_not_deny() -> None:
    """KRN-10: refused approvals included, never reused."""
    from tests.support.kernels import compare, rule

    gate = kernel(
        rule("DENY", "transfer", compare("action.args.amount", ">", 1000)),
        rule("REQUIRE_APPROVAL", "transfer", compare("action.args.amount", ">", 500)),
    )
    assert authorized(gate, transfer(2000)).request.action_id == ""
    first = authorized(gate, transfer(600), approve=lambda _request: False)
    assert not first.granted
    assert first.request.action_id.endswith(":a1")
    second = authorized(gate, transfer(10))
    assert second.permit is not None
    assert second.permit.action_id.endswith(":a2")
    assert gate.stats["permits"] == 1
