"""The registry of sub-agents: every read gives the guarded form."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from agentl.host import Host
from agentl.kernel import PermitError
from agentl.kernel.registry import SubagentRegistry
from agentl.kernel.testing import dispatch


def filled() -> tuple[SubagentRegistry, list[Any]]:
    calls: list[Any] = []
    registry = SubagentRegistry()
    registry["helper"] = calls.append
    return registry, calls


READS = {
    "index": lambda registry: registry["helper"],
    "absent": lambda registry: registry["nobody"],
    "get": lambda registry: registry.get("helper"),
    "values": lambda registry: next(iter(registry.values())),
    "items": lambda registry: next(iter(registry.items()))[1],
    "pop": lambda registry: registry.pop("helper"),
    "popitem": lambda registry: registry.popitem()[1],
    "setdefault": lambda registry: registry.setdefault("helper"),
    "new default": lambda registry: registry.setdefault("other", print),
    "copy": lambda registry: registry.copy()["helper"],
    "union": lambda registry: (registry | {})["helper"],
    "plain": lambda registry: dict(registry)["helper"],
    "raw": lambda registry: dict.__getitem__(registry, "helper"),
}


@pytest.mark.parametrize("read", READS)
def test_no_read_gives_a_function_that_runs_without_a_permit(read: str) -> None:
    """HST-3, INV-1."""
    registry, calls = filled()
    with pytest.raises(PermitError):
        READS[read](registry)({"x": 1})
    assert calls == []


WRITES = {
    "update": lambda registry, function: registry.update({"late": function}),
    "update by name": lambda registry, function: registry.update(late=function),
    "in place union": lambda registry, function: registry.__ior__({"late": function}),
    "setdefault": lambda registry, function: registry.setdefault("late", function),
    "assignment": lambda registry, function: registry.__setitem__("late", function),
}


@pytest.mark.parametrize("write", WRITES)
def test_every_write_guards(write: str) -> None:
    """HST-3."""
    registry, calls = filled()
    WRITES[write](registry, calls.append)
    with pytest.raises(PermitError):
        registry["late"]({})
    assert calls == []


def test_get_tells_whether_it_is_registered() -> None:
    """HST-3."""
    registry, _ = filled()
    assert registry.get("nobody") is None
    assert "nobody" not in registry
    assert isinstance(registry, dict)


def test_an_entry_moved_to_another_name_is_called_under_that_name() -> None:
    """HST-3."""
    host = Host()
    host.subagents["one"] = lambda payload: payload
    host.subagents["two"] = host.subagents["one"]
    assert dispatch(host, "two", {"x": 1}, kind="delegate") == {"x": 1}


def test_an_entry_that_was_removed_is_not_called() -> None:
    """HST-3: registration is checked after the permit."""
    host = Host()
    host.subagents["one"] = lambda payload: payload
    del host.subagents["one"]
    with pytest.raises(KeyError):
        dispatch(host, "one", {}, kind="delegate")


def test_a_registry_does_not_travel() -> None:
    """HST-3."""
    registry, _ = filled()
    for travel in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            travel(registry)
