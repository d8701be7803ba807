"""The host: declarations, promises, the governed boundary, events."""

from __future__ import annotations

import time
from datetime import UTC, timedelta
from typing import Any

import pytest

from agentl.errors import HostDeclarationError, InvalidArguments
from agentl.host import Host
from agentl.kernel import ActionContext, ActionRequest, PermitError
from agentl.kernel.testing import dispatch
from agentl.values import Symbol


def test_a_host_has_everything_the_world_is_made_of() -> None:
    """HST-1."""
    host = Host()
    for name in ("sensors", "tools", "subagents", "reconcilers", "subagent_reconcilers", "key_rings"):
        assert getattr(host, name) == {}
    for name in ("idempotent_tools", "idempotent_subagents", "read_only_tools", "read_only_subagents"):
        assert getattr(host, name) == set()
    assert (host.approver, host.asker, host.trace_sink, host.events) == (None, None, None, [])
    assert host.sleep is time.sleep
    assert host.now().utcoffset() == timedelta(0)
    assert host.now().tzinfo is UTC


def test_decorators_register_and_give_the_function_back() -> None:
    """HST-1, HST-5: a tool's logic is tested by calling its function."""
    host = Host()

    @host.sensor("door.state")
    def door() -> str:
        return "open"

    @host.tool("double")
    def double(x: int) -> int:
        return 2 * x

    assert host.read("door.state") == "open"
    assert host.read("unknown") is None
    assert host.tools["double"](x=2) == 4
    assert double(x=2) == 4


@pytest.mark.parametrize("name", ["", "a b", "ﬁle", "1a", "a.b"])
def test_a_name_that_is_no_identifier_is_refused(name: str) -> None:
    """KRN-19."""
    host = Host()
    for declare in (host.tool, host.subagent, host.reconciler):
        with pytest.raises(ValueError) as caught:
            declare(name)
        assert isinstance(caught.value, HostDeclarationError)
        assert (caught.value.code, caught.value.values["name"]) == ("host.name", name)
    with pytest.raises(ValueError):
        host.subagents[name] = lambda payload: payload


def test_promises_are_sorted_per_kind_and_can_be_withdrawn() -> None:
    """HST-4, DUR-4."""
    host = Host()
    host.tool("t", idempotent=True, read_only=True)(lambda: None)
    host.reconciler("t")(lambda args, context: None)
    assert host.promise("t") == ("idempotent", "read_only", "reconcilable")
    assert host.promise("t", "delegate") == ()
    host.subagent("t", idempotent=True)(lambda payload: None)
    assert host.promise("t", "delegate") == ("idempotent",)
    host.tool("t")(lambda: None)
    assert host.promise("t") == ("reconcilable",)
    assert host.promise("unknown") == ()


def test_only_the_kernel_calls_a_tool() -> None:
    """HST-2, INV-1."""
    host = Host()
    calls: list[Any] = []
    host.tool("t")(lambda x: calls.append(x))
    for name in ("t", "unknown"):
        with pytest.raises(PermitError) as caught:
            host.invoke(name, {"x": 1})
        assert caught.value.code == "permit.missing"
    assert calls == []
    dispatch(host, "t", {"x": 1})
    assert calls == [1]


class Callable:
    def __call__(self, x: int) -> int:
        return x


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (lambda x: x, {}),
        (lambda x: x, {"x": 1, "y": 2}),
        (lambda x, /: x, {"x": 1}),
        (lambda *, x, y: x, {"x": 1}),
        (Callable(), {"y": 1}),
        (lambda: None, {"x": 1}),
    ],
)
def test_arguments_that_do_not_fit_are_a_sure_failure(function: Any, args: dict[str, Any]) -> None:
    """HST-2, TOL-3: found before the function is entered."""
    host = Host()
    host.tool("t")(function)
    with pytest.raises(InvalidArguments):
        dispatch(host, "t", args)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (lambda x, y=2: (x, y), {"x": 1}),
        (lambda **rest: rest, {"a": 1, "b": 2}),
        (lambda x, *more, **rest: (x, rest), {"x": 1, "z": 3}),
        (Callable(), {"x": 1}),
        (dict, {"a": 1}),
    ],
)
def test_arguments_that_fit_reach_the_function(function: Any, args: dict[str, Any]) -> None:
    """HST-2."""
    host = Host()
    host.tool("t")(function)
    assert dispatch(host, "t", args) is not None


def test_a_replaced_function_is_checked_by_its_own_signature() -> None:
    """HST-2: the signature that was read is never that of another function."""
    host = Host()
    host.tool("t")(lambda x: x)
    assert dispatch(host, "t", {"x": 1}) == 1
    host.tools["t"] = lambda y: y
    assert dispatch(host, "t", {"y": 2}) == 2
    with pytest.raises(InvalidArguments):
        dispatch(host, "t", {"x": 1})


def test_reconcilers_are_looked_up_by_kind() -> None:
    """HST-1, HST-4."""
    host = Host()
    host.reconciler("t")(lambda args, context: ("tool", args, context.action_id))
    context = ActionContext("invoke", "t", "id", "key")
    assert host.reconcile("t", {"x": 1}, context) == ("tool", {"x": 1}, "id")
    with pytest.raises(LookupError):
        host.reconcile("t", {}, ActionContext("delegate", "t", "id", "key"))


def test_people() -> None:
    """HST-1, APR-2: nobody there means no."""
    host = Host()
    request = ActionRequest("t")
    assert host.ask("why") == Symbol("no_answer")
    assert host.approve(request) is False
    host.asker = lambda question, reason: (question, reason)
    host.approver = lambda asked: asked
    assert host.ask("why", "because") == ("why", "because")
    assert host.approve(request) is request


def test_events_wait_until_they_are_acknowledged() -> None:
    """HST-6."""
    host = Host()
    first = host.emit("door", source="x", opened=True)
    second = host.emit("door")
    assert first != second
    assert [event["id"] for event in host.pending()] == [first, second]
    assert host.pending()[0] == {"id": first, "source": "door", "payload": {"source": "x", "opened": True}}
    host.acknowledge([first, "unknown"])
    assert [event["id"] for event in host.pending()] == [second]
    assert [event["id"] for event in host.drain()] == [second]
    assert host.pending() == []


def test_event_ids_are_not_used_again_by_another_host() -> None:
    """HST-6, DUR-12: a resumed run must not take a new event for an old one."""
    assert Host().emit("door") != Host().emit("door")
