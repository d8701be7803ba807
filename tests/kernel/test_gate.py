"""Authorisation: isolate, judge, ask, mint; whatever is raised on the way refuses."""

from __future__ import annotations

import asyncio
import pickle
from typing import Any

import pytest

from agentl.errors import Cancelled, KernelAbort
from agentl.kernel import ActionRequest, Kernel
from agentl.kernel.policy import policy_digest
from agentl.labels import UNKNOWN_LABEL, of
from agentl.state import State
from agentl.values import UNDEFINED, Symbol
from tests.support.kernels import Bank, agent, authorized, compare, kernel, rule, transfer


def test_a_granted_proposal() -> None:
    """KRN-3, KRN-4."""
    gate = kernel()
    result = authorized(gate)
    assert result.granted
    assert (result.stage, result.detail, result.approved) == ("granted", "", False)
    assert result.decision is not None
    assert result.decision.allowed
    assert gate.stats == {"permits": 1, "unpresented": 0}
    assert gate.policy_digest == policy_digest(agent())
    assert gate.journal is None


def test_a_denied_proposal_names_the_rule() -> None:
    """KRN-3, POL-2."""
    result = authorized(kernel(rule("NEVER", "*")))
    assert (result.stage, result.code, result.granted) == ("policy", "pol.never", False)
    assert result.decision is not None
    assert result.detail == result.decision.reason


@pytest.mark.parametrize("value", [object(), UNDEFINED, {1: 2}, type("D", (dict,), {})(), [lambda: None]])
def test_a_value_outside_the_data_model_stops_first(value: Any) -> None:
    """KRN-3, KRN-2."""
    gate = kernel()
    result = authorized(gate, transfer(value))
    assert (result.stage, result.code) == ("data_model", "kernel.data_model")
    assert "amount" in result.detail


def test_a_cycle_is_no_value() -> None:
    """KRN-2, KRN-3."""
    loop: list[Any] = []
    loop.append(loop)
    assert authorized(kernel(), transfer(loop)).stage == "data_model"


def test_a_request_that_cannot_be_read_is_refused() -> None:
    """KRN-3."""

    class Trap:
        args = None

        @property
        def tool(self) -> str:
            raise RuntimeError("no")

    assert authorized(kernel(), Trap()).stage == "isolation"  # type: ignore[arg-type]
    odd = ActionRequest(type("S", (str,), {})("transfer"), {})
    assert authorized(kernel(), odd).stage == "isolation"
    assert authorized(kernel(), kind="execute").stage == "isolation"


def test_the_judged_copy_is_not_the_callers() -> None:
    """KRN-3, INV-6: the caller's changes after the proposal reach nothing."""
    gate = kernel()
    request = ActionRequest("transfer", {"amount": [1, 2], "to": "x"})
    result = authorized(gate, request)
    request.args["amount"].append(3)
    request.args["to"] = "thief"
    bank = Bank()
    assert result.permit is not None
    gate.execute(result.permit, bank.host)
    assert bank.effects == [{"amount": [1, 2], "to": "x"}]


def test_a_callers_word_about_the_risk_does_not_count() -> None:
    """POL-7."""
    gate = kernel(rule("DENY", "*", compare("action.risk", "==", Symbol("HIGH"))))
    modest = transfer()
    modest.risk = "LOW"
    assert authorized(gate, modest).stage == "policy"
    unknown = authorized(kernel(), ActionRequest("stranger", {}, risk="LOW"))
    assert unknown.request.risk == "UNKNOWN"
    assert authorized(kernel(), ActionRequest("stranger"), kind="delegate").request.risk == "CRITICAL"


def test_labels_that_are_no_labels_count_as_unknown() -> None:
    """POL-5, KRN-18."""
    request = transfer()
    request.provenance = {"amount": of("DECLARED"), "to": "DECLARED"}
    frozen = authorized(kernel(), request).request
    assert frozen.provenance == {"amount": of("DECLARED"), "to": UNKNOWN_LABEL}


class Odd(BaseException):
    pass


class Policy:
    def __init__(self, outcome: Any) -> None:
        self.outcome = outcome

    def check(self, _request: Any, _state: Any) -> Any:
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome


@pytest.mark.parametrize("outcome", [ValueError("x"), Odd(), RecursionError(), None, "ALLOWED", object()])
def test_an_error_of_the_policy_refuses(outcome: Any) -> None:
    """POL-6, KRN-3: also an answer that is none."""
    gate = kernel()
    gate.policy = Policy(outcome)  # type: ignore[assignment]
    result = authorized(gate, approve=lambda _request: True)
    assert (result.stage, result.code) == ("policy_error", "kernel.policy_error")


@pytest.mark.parametrize("hook", ["decided", "pending", "approver_failed"])
@pytest.mark.parametrize("error", [ValueError("x"), Odd()])
def test_a_failing_hook_refuses(hook: str, error: BaseException) -> None:
    """KRN-3."""

    class Watch:
        def __getattr__(self, name: str) -> Any:
            def call(*_args: Any) -> None:
                if name == hook:
                    raise error

            return call

    def approver(_request: Any) -> Any:
        if hook == "approver_failed":
            raise RuntimeError
        return True

    gate = kernel(rule("REQUIRE_APPROVAL", "transfer"))
    result = authorized(gate, approve=approver, observer=Watch())
    assert (result.stage, result.code, result.values["hook"]) == ("hook_error", "kernel.hook_error", hook)


def test_an_observer_can_trace_but_never_grant() -> None:
    """KRN-3."""

    class Meddler:
        def decided(self, request: ActionRequest, decision: Any) -> bool:
            request.args["amount"] = 1
            return True

        def pending(self, request: ActionRequest, decision: Any) -> bool:
            return True

    gate = kernel(rule("REQUIRE_APPROVAL", "transfer"))
    assert not authorized(gate, approve=lambda _request: False, observer=Meddler()).granted
    result = authorized(gate, approve=lambda _request: True, observer=Meddler())
    assert result.permit is not None
    assert result.permit.args["amount"] == 100


STOPPING = [
    KeyboardInterrupt(),
    SystemExit(3),
    KernelAbort("stop"),
    Cancelled("stop"),
    asyncio.CancelledError(),
]


@pytest.mark.parametrize("error", STOPPING, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("place", ["policy", "hook", "approver"])
def test_what_stops_the_run_propagates_and_nothing_is_executed(error: BaseException, place: str) -> None:
    """KRN-3, KRN-15."""
    gate = kernel(rule("REQUIRE_APPROVAL", "transfer"))
    if place == "policy":
        gate.policy = Policy(error)  # type: ignore[assignment]

    class Watch:
        def decided(self, *_args: Any) -> None:
            if place == "hook":
                raise error

    def approver(_request: Any) -> Any:
        raise error

    with pytest.raises(type(error)):
        authorized(gate, approve=approver, observer=Watch())
    assert gate.stats["permits"] == 0


def test_an_error_whose_text_raises_still_refuses() -> None:
    """KRN-3."""

    class MuteError(Exception):
        def __str__(self) -> str:
            raise ValueError

    gate = kernel()
    gate.policy = Policy(MuteError())  # type: ignore[assignment]
    assert authorized(gate).stage == "policy_error"


@pytest.mark.parametrize("name", ["wip e", "ﬁle", "", "a.b", "1a", "\u0000"])
def test_a_target_that_is_no_identifier_is_undeclared(name: str) -> None:
    """KRN-19: in NFKC form."""
    from agentl.language.nodes import ToolDecl

    gate = Kernel(agent(tools=(ToolDecl(name),)))
    for propose in (gate.propose_tool, gate.propose_delegate):
        request, problem = propose(name, {})
        assert request is None
        assert problem is not None
        assert problem.code == "kernel.undeclared"


def test_the_control_label_of_a_proposal_is_the_kernels_own() -> None:
    """KRN-18: a caller can add to it, never take away."""
    gate = kernel()
    with gate.control.enter(gate.control.decide("LLM")):
        for given in (None, {"$control": of("DECLARED")}, {"$control": "DECLARED"}):
            request, _ = gate.propose_tool("transfer", {"amount": 1, "to": "x"}, provenance=given)
            assert request is not None
            assert "LLM" in request.provenance["$control"]


def test_a_kernel_of_a_state_decides_by_it() -> None:
    """POL-1: guards read the state that is passed."""
    gate = kernel(rule("DENY", "transfer", compare("door.state", "==", Symbol("shut"))))
    state = State()
    state.set_world("door.state", Symbol("shut"), of("OBSERVED"))
    assert gate.authorize(transfer(), state).stage == "policy"
    state.set_world("door.state", Symbol("open"), of("OBSERVED"))
    assert gate.authorize(transfer(), state).granted


def test_an_authorization_cannot_travel() -> None:
    """KRN-9: its permit does not serialise."""
    with pytest.raises(KernelAbort):
        pickle.dumps(authorized(kernel()))
