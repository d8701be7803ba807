"""R36: a guard, an approver or a hook that breaks in any way never lets the action start."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentl import Host, Runtime, State
from agentl.kernel import ActionRequest, Cancelled, Kernel, KernelAbort, PermitError
from tests.field_reports.kit import Ledger, agent_of

PROGRAM = """
AGENT GUARDED {
  TOOL wipe { INPUT { host: String } }
  POLICY { DEFAULT ALLOW  REQUIRE APPROVAL FOR wipe }
}
"""
OPEN = PROGRAM.replace("REQUIRE APPROVAL FOR wipe", "")


class Killed(BaseException):
    """Neither an ordinary error nor one of the interpreter's own."""


REFUSING: dict[str, BaseException] = {
    "an error": RuntimeError("crashed"),
    "a time-out": TimeoutError("hung"),
    "an assertion": AssertionError(),
    "memory": MemoryError(),
    "recursion": RecursionError(),
    "a base exception": Killed(),
    "generator exit": GeneratorExit(),
    "a group": BaseExceptionGroup("many", [Killed(), RuntimeError("x")]),
}
STOPPING: dict[str, BaseException] = {
    "interrupt": KeyboardInterrupt(),
    "exit": SystemExit(0),
    "task cancelled": asyncio.CancelledError(),
    "cancelled": Cancelled("stop"),
    "permit": PermitError("stop"),
}
WRONG: dict[str, Any] = {
    "text": "maybe",
    "number": 1,
    "nothing": None,
    "mapping": {"decision": "approve"},
    "coroutine-like": object(),
    "function": print,
    "rubbish bytes": b"\x00\xff",
}


def host_of(ledger: Ledger, approver: Any) -> Host:
    host = Host()

    @host.tool("wipe")
    def wipe(host: str) -> dict[str, str]:
        ledger.add("wipe", host=host)
        return {}

    host.approver = approver
    return host


def raiser(error: BaseException) -> Any:
    def call(*_args: Any, **_options: Any) -> Any:
        raise error

    return call


@pytest.mark.parametrize("error", REFUSING)
def test_an_approver_that_raises_refuses(ledger: Ledger, error: str) -> None:
    """APR-2, KRN-3: refused with a trace, and the run goes on."""
    runtime = Runtime(agent_of(PROGRAM), host_of(ledger, raiser(REFUSING[error])))
    runtime.call_tool("wipe", {"host": "db"})
    assert runtime.metrics["blocked"] == 1
    assert ledger.rows() == []


@pytest.mark.parametrize("error", STOPPING)
def test_an_interruption_stops_the_run_without_the_action(ledger: Ledger, error: str) -> None:
    """KRN-3, KRN-15: it propagates, and nothing was executed."""
    runtime = Runtime(agent_of(PROGRAM), host_of(ledger, raiser(STOPPING[error])))
    with pytest.raises(type(STOPPING[error])):
        runtime.call_tool("wipe", {"host": "db"})
    assert ledger.rows() == []


@pytest.mark.parametrize("answer", WRONG)
def test_an_answer_of_the_wrong_kind_refuses(ledger: Ledger, answer: str) -> None:
    """APR-1."""
    runtime = Runtime(agent_of(PROGRAM), host_of(ledger, lambda _request: WRONG[answer]))
    runtime.call_tool("wipe", {"host": "db"})
    assert runtime.metrics["blocked"] == 1
    assert ledger.rows() == []


@pytest.mark.parametrize("error", REFUSING)
@pytest.mark.parametrize("hook", ["decided", "pending"])
def test_an_observer_can_trace_and_never_grant(error: str, hook: str) -> None:
    """KRN-3: a hook that raises refuses; a hook's return value is not looked at."""

    class Observer:
        def __getattr__(self, name: str) -> Any:
            if name == hook:
                return raiser(REFUSING[error])
            return lambda *_args, **_options: True

    request = ActionRequest("wipe", {"host": "db"})
    refused = Kernel(agent_of(PROGRAM)).authorize(
        request, State(), approve=lambda _r: True, observer=Observer()
    )
    assert not refused.granted
    assert refused.stage == "hook_error"

    class Generous:
        def __getattr__(self, name: str) -> Any:
            return lambda *_args, **_options: True

    denied = Kernel(agent_of(PROGRAM)).authorize(
        request, State(), approve=lambda _r: False, observer=Generous()
    )
    assert not denied.granted


@pytest.mark.parametrize("error", [*REFUSING, *STOPPING])
def test_a_policy_that_raises_denies(monkeypatch: pytest.MonkeyPatch, error: str) -> None:
    """POL-6, KRN-3: even a fault of the policy engine itself grants nothing."""
    kernel = Kernel(agent_of(OPEN))
    raised = {**REFUSING, **STOPPING}[error]
    monkeypatch.setattr(type(kernel.policy), "check", raiser(raised))
    request = ActionRequest("wipe", {"host": "db"})
    if error in STOPPING:
        with pytest.raises((KeyboardInterrupt, SystemExit, asyncio.CancelledError, KernelAbort)):
            kernel.authorize(request, State(), approve=lambda _r: True)
    else:
        refused = kernel.authorize(request, State(), approve=lambda _r: True)
        assert not refused.granted
        assert refused.stage == "policy_error"
    assert kernel.stats["permits"] == 0
