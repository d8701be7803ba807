"""I6: the action that runs is exactly the one that was approved (INV-6, APR-3, APR-6)."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentl.errors import PermitError
from agentl.host import Host
from agentl.kernel import ActionRequest, action_digest
from agentl.kernel.gate import Kernel
from agentl.state import State
from agentl.values import Symbol
from tests.support.kernels import agent, rule

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=4)
    | st.text(min_size=1, max_size=4).map(Symbol),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
ARGUMENTS = st.dictionaries(st.sampled_from(["a", "b", "c"]), VALUES, min_size=1)


def governed(tool: Any) -> tuple[Kernel, Host]:
    host = Host()
    host.tool("act")(tool)
    return Kernel(agent(rule("REQUIRE_APPROVAL", "act"), tools=())), host


def ruin(value: Any) -> None:
    """Change whatever can be changed inside a value."""
    if isinstance(value, dict):
        for inner in list(value.values()):
            ruin(inner)
        value["ruined"] = True
    elif isinstance(value, list):
        for inner in value:
            ruin(inner)
        value.append("ruined")


@given(ARGUMENTS)
def test_proposer_approver_and_tool_cannot_reach_what_runs(args: dict[str, Any]) -> None:
    """INV-6: value for value, whatever the others do to their copies."""
    received: list[dict[str, Any]] = []
    shown: list[Any] = []

    def act(**given_args: Any) -> None:
        received.append(copy.deepcopy(given_args))
        ruin(given_args)

    def approver(request: ActionRequest) -> bool:
        shown.append((copy.deepcopy(request.args), request.hash))
        ruin(request.args)
        return True

    gate, host = governed(act)
    proposed = copy.deepcopy(args)
    result = gate.authorize(ActionRequest("act", proposed), State(), approve=approver)
    ruin(proposed)
    assert result.permit is not None
    gate.execute(result.permit, host)
    wanted = action_digest("invoke", "act", args)
    assert shown == [(args, wanted)]
    assert action_digest("invoke", "act", received[0]) == wanted
    assert result.permit.action_hash == wanted


@given(ARGUMENTS, st.sampled_from(["a", "b", "c", "z"]), VALUES)
def test_arguments_changed_after_the_approval_make_the_host_refuse(
    args: dict[str, Any], name: str, value: Any
) -> None:
    """INV-6: unless the change changed nothing."""
    called: list[Any] = []
    gate, host = governed(lambda **given_args: called.append(given_args))
    result = gate.authorize(ActionRequest("act", args), State(), approve=lambda _request: True)
    permit = result.permit
    assert permit is not None
    permit.args[name] = value  # type: ignore[index]
    if action_digest("invoke", "act", permit.args) == permit.action_hash:
        gate.execute(permit, host)
        assert len(called) == 1
    else:
        with pytest.raises(PermitError):
            gate.execute(permit, host)
        assert called == []


def test_a_symbol_turned_into_its_text_is_another_action() -> None:
    """INV-6, KRN-2: what looks alike is not the same."""
    gate, host = governed(lambda **_args: None)
    for approved, changed in ((Symbol("x"), "x"), (1, True), (1, 1.0), ([1], (1,))):
        permit = gate.authorize(
            ActionRequest("act", {"a": approved}), State(), approve=lambda _request: True
        ).permit
        assert permit is not None
        permit.args["a"] = changed  # type: ignore[index]
        with pytest.raises(PermitError):
            gate.execute(permit, host)


def test_one_approval_is_for_one_execution() -> None:
    """APR-6: the record is spent with the permit."""
    calls: list[int] = []
    gate, host = governed(lambda **_args: calls.append(1))
    answers = iter([True, False])
    first = gate.authorize(ActionRequest("act"), State(), approve=lambda _request: next(answers))
    assert first.permit is not None
    gate.execute(first.permit, host)
    with pytest.raises(PermitError):
        gate.execute(first.permit, host)
    again = gate.authorize(ActionRequest("act"), State(), approve=lambda _request: next(answers))
    assert not again.granted
    assert calls == [1]
