"""DELEGATE: proposals to sub-agents, and what their answers bind."""

from __future__ import annotations

from typing import Any

import pytest

from agentl.errors import NotExecuted
from agentl.host import Host
from agentl.values import UNDEFINED
from tests.support.running import World, codes, events, label, run, start, texts

ASK = 'DELEGATE helper { TASK "sum up" INPUT { a.b, nothing } EXPECT { total, note } }'


def delegated(answer: Any, rest: str = "", **promises: Any) -> Any:
    """One delegation in the agent loop, with one reading as input."""
    world = World().sensor("a.b", 3)
    received: list[Any] = []

    def helper(payload: Any) -> Any:
        received.append(payload)
        if isinstance(answer, Exception):
            raise answer
        return answer

    world.host.subagent("helper", **promises)(helper)
    runtime = run(f"OBSERVE a.b {rest} LOOP MAX 1 {{ OBSERVE {ASK} }}", world.host)
    return runtime, received


def test_a_sub_agent_gets_the_inputs_and_its_answer_is_bound() -> None:
    """`STM-10`: EXPECT keys alone; local, untrusted, label DELEGATE."""
    runtime, received = delegated({"total": 3, "note": "ok", "more": 1})
    assert received == [{"a.b": 3}]
    assert texts(runtime, "DELEGATE") == ["helper ← « sum up »", "helper → total=3, note=ok"]
    assert runtime.state.get("delegate.helper.total") == runtime.state.get("total") == 3
    assert runtime.state.get("more") is UNDEFINED
    assert label(runtime, "delegate.helper.total") == ("DELEGATE",)
    assert runtime.state.get("tools.helper.calls") == 1


def test_the_kernel_judges_a_delegation_like_a_call() -> None:
    """`STM-10`, `KRN-8`, `POL-8`: undeclared is CRITICAL, origin delegate, subject DELEGATE a."""
    runtime, received = delegated({}, "POLICY { DEFAULT ALLOW NEVER helper WHEN action.risk >= HIGH }")
    assert received == []
    assert events(runtime, "tool.refused")[0].text.startswith("DELEGATE helper(a.b=3)")
    assert runtime.metrics["blocked"] == 1


def test_an_approval_of_a_delegation_names_it() -> None:
    """`STM-10`."""
    runtime, received = delegated({}, "POLICY { DEFAULT ALLOW REQUIRE APPROVAL FOR helper }")
    assert received == []
    assert [event.values["tool"] for event in runtime.trace.of_kind("APPROVAL", "BLOCKED")] == [
        "DELEGATE helper"
    ] * 2


def test_the_input_contract_of_a_tool_of_that_name_applies() -> None:
    """`KRN-8`."""
    runtime, received = delegated({}, "TOOL helper { INPUT { other: Number } }")
    assert received == []
    assert [event.values["tool"] for event in events(runtime, "tool.input")] == ["DELEGATE helper"]


def test_an_unregistered_sub_agent_is_an_error() -> None:
    """`STM-10`: no call is counted."""
    runtime = run(f"LOOP MAX 1 {{ {ASK} }}", Host())
    assert codes(runtime, "ERROR") == ["delegate.unregistered"]
    assert runtime.state.get("tools.helper.calls") == 0


@pytest.mark.parametrize(
    ("error", "doubt", "calls", "errors"),
    [
        (NotExecuted("no"), False, 0, ["delegate.failed"]),
        (OSError("cut"), True, 1, ["delegate.failed", "tool.in_doubt"]),
    ],
)
def test_a_raise_has_the_outcome_of_a_call(
    error: Exception, doubt: bool, calls: int, errors: list[str]
) -> None:
    """`STM-10`, `TOL-3`."""
    runtime, _ = delegated(error)
    assert codes(runtime, "ERROR") == errors
    state = runtime.state
    assert (state.get("tools.helper.in_doubt"), state.get("tools.helper.calls")) == (doubt, calls)
    assert state.get("tools.helper.failures") == 1


def test_a_read_only_sub_agent_is_never_in_doubt() -> None:
    """`STM-10`: the host's promise counts as for a tool."""
    runtime, _ = delegated(OSError("cut"), read_only=True)
    assert runtime.state.get("tools.helper.in_doubt") is False


def test_missing_keys_bind_undefined() -> None:
    """`STM-10`; None counts as an empty dictionary."""
    runtime, _ = delegated({"total": 1})
    assert events(runtime, "delegate.expect")[0].values["keys"] == ["note"]
    assert runtime.state.locals["delegate.helper.note"] is UNDEFINED
    empty, _ = delegated(None)
    assert events(empty, "delegate.expect")[0].values["keys"] == ["total", "note"]


def test_an_answer_that_is_no_dictionary_binds_nothing() -> None:
    """`STM-10`."""
    runtime, _ = delegated([1])
    assert codes(runtime, "ERROR") == ["delegate.malformed"]
    assert "delegate.helper.total" not in runtime.state.locals


def test_the_output_contract_of_a_tool_of_that_name_applies() -> None:
    """`STM-10`, `TOL-4`: a broken one is in doubt."""
    runtime, _ = delegated({"total": True, "note": "x"}, "TOOL helper { OUTPUT { total: Number } }")
    assert codes(runtime, "ERROR") == ["tool.output", "tool.in_doubt"]


def test_an_opaque_answer_is_in_doubt() -> None:
    """`ENC-6`."""
    runtime, _ = delegated({"total": object()})
    assert codes(runtime, "ERROR") == ["tool.output", "tool.in_doubt"]
    assert runtime.state.get("tools.helper.in_doubt") is True


def test_a_settled_delegation_binds_what_the_statement_wanted() -> None:
    """`TOL-8`: a reconciler of kind delegate."""
    host = Host()
    answers: list[Any] = [OSError("no idea"), {"total": 4, "note": "n"}]

    def helper(payload: Any) -> Any:
        raise OSError("cut")

    def reconciler(args: Any, context: Any) -> Any:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    host.subagent("helper")(helper)
    host.reconciler("helper", kind="delegate")(reconciler)
    runtime = start(
        f"POLICY {{ DEFAULT ALLOW NEVER helper WHEN tools.helper.calls >= 1 }} LOOP MAX 9 {{ {ASK} }}", host
    )
    runtime.run(1)
    assert runtime.state.get("tools.helper.in_doubt") is True
    runtime.run(1)
    assert runtime.state.get("tools.helper.in_doubt") is False
    assert runtime.state.get("delegate.helper.total") == 4
    assert events(runtime, "tool.settled")[0].detail_code == "tool.settled_executed"
