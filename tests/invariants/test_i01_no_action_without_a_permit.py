"""I1: no action reaches the host without a permit that the kernel issued (INV-1, KRN-17)."""

from __future__ import annotations

import ast
import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import agentl
from agentl.errors import KernelAbort, PermitError
from agentl.kernel import TCB_FILES, ExecutionPermit, activated, active_dispatch
from agentl.kernel.testing import dispatch
from tests.support.kernels import Bank, authorized, kernel

PACKAGE = Path(agentl.__file__).parent


def test_a_host_called_by_anybody_else_refuses() -> None:
    """INV-1."""
    bank = Bank()
    helped: list[Any] = []
    bank.host.subagents["helper"] = helped.append
    with pytest.raises(PermitError):
        bank.host.invoke("transfer", {"amount": 1, "to": "x"})
    with pytest.raises(PermitError):
        bank.host.subagents["helper"]({})
    assert (bank.effects, helped) == ([], [])


def used_twice(gate: Any, permit: Any, host: Any) -> None:
    gate.execute(permit, host)
    gate.execute(permit, host)


WAYS: dict[str, tuple[Callable[..., Any], int]] = {
    "twice": (used_twice, 1),
    "copied after use": (lambda gate, permit, host: [gate.execute(copy.copy(permit), host) for _ in "ab"], 1),
    "pickled": (lambda gate, permit, host: gate.execute(pickle.loads(pickle.dumps(permit)), host), 0),
    "of another kernel": (lambda gate, permit, host: kernel().execute(permit, host), 0),
    "made by hand": (lambda gate, permit, host: gate.execute(ExecutionPermit(), host), 0),
    "revoked": (lambda gate, permit, host: (gate.void(permit), gate.execute(permit, host)), 0),
    "replaced by a newer one": (lambda gate, permit, host: (authorized(gate), gate.execute(permit, host)), 0),
    "changed": (
        lambda gate, permit, host: (permit.args.update(amount=1), gate.execute(permit, host)),
        0,
    ),
    "as a sub-agent": (lambda gate, permit, host: gate.delegate(permit, host), 0),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_permit_is_worth_nothing_in_any_other_way(way: str) -> None:
    """INV-1."""
    use, effects = WAYS[way]
    gate, bank = kernel(), Bank()
    permit = authorized(gate).permit
    with pytest.raises(KernelAbort):
        use(gate, permit, bank.host)
    assert len(bank.effects) == effects


def test_a_running_tool_cannot_use_its_own_permit_to_call_on() -> None:
    """INV-1: neither directly, nor by taking its dispatch along."""
    bank = Bank()
    caught: list[str] = []

    @bank.host.tool("outer")
    def outer() -> None:
        for carried in (False, True):
            try:
                if carried:
                    with activated(active_dispatch()):
                        bank.host.invoke("transfer", {"amount": 1, "to": "x"})
                else:
                    bank.host.invoke("transfer", {"amount": 1, "to": "x"})
            except PermitError as error:
                caught.append(error.code)

    dispatch(bank.host, "outer")
    assert caught == ["permit.presented", "permit.presented"]
    assert bank.effects == []


# --- proved on the source ------------------------------------------------------------------

DISPATCH_POINTS = {
    # Wrappers that are themselves the host's ``invoke``: they pass on the call that the kernel made,
    # and the host inside checks its permit.
    ("replay/recording.py", "invoke"),
}
REGISTRIES = {"subagents"}


def calls_of_a_host(tree: ast.AST) -> list[tuple[str, int, str]]:
    """(function, line, what) for each use of ``.invoke`` or of a registry of sub-agents in a tree.

    A mention counts, not only a call: a bound method could be called later under another name. So do the
    same names as text, where ``getattr`` and its like could reach them.
    """
    found: list[tuple[str, int, str]] = []

    def visit(node: ast.AST, function: str) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            function = node.name
        if isinstance(node, ast.Attribute) and node.attr in {"invoke", *REGISTRIES}:
            found.append((function, node.lineno, node.attr))
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in {"getattr", "attrgetter", "methodcaller"}
            and any(isinstance(a, ast.Constant) and a.value in {"invoke", *REGISTRIES} for a in node.args)
        ):
            found.append((function, node.lineno, f"{node.func.id}"))
        for child in ast.iter_child_nodes(node):
            visit(child, function)

    visit(tree, "")
    return found


READS_ONLY = {("cli/hosts.py", "getattr")}
"""Asks whether a module gave something that looks like a host; does not call it."""


def test_on_the_source_only_the_kernel_calls_a_host() -> None:
    """INV-1, KRN-17: outside the trusted base nothing takes an ``invoke`` or a sub-agent."""
    offences = []
    for file in sorted(PACKAGE.rglob("*.py")):
        name = file.relative_to(PACKAGE).as_posix()
        if name in TCB_FILES:
            continue
        for function, line, what in calls_of_a_host(ast.parse(file.read_text(encoding="utf-8"))):
            if (name, function) in DISPATCH_POINTS or (name, what) in READS_ONLY:
                continue
            offences.append(f"{name}:{line} {what} in {function}()")
    assert offences == []


def test_in_the_trusted_base_the_two_calls_stand_in_one_function() -> None:
    """KRN-12: the only two places that call the host."""
    calls = []
    for name in TCB_FILES:
        for node in ast.walk(ast.parse((PACKAGE / name).read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef):
                continue
            for inner in ast.walk(node):
                if not isinstance(inner, ast.Call):
                    continue
                called = inner.func
                if isinstance(called, ast.Attribute) and called.attr == "invoke":
                    calls.append((name, node.name, "invoke"))
                if (
                    isinstance(called, ast.Subscript)
                    and isinstance(called.value, ast.Attribute)
                    and called.value.attr == "subagents"
                ):
                    calls.append((name, node.name, "delegate"))
    assert sorted(calls) == [
        ("kernel/execution.py", "call_host", "delegate"),
        ("kernel/execution.py", "call_host", "invoke"),
    ]


@pytest.mark.parametrize(
    "source",
    [
        "def sneak(host): return host.invoke('t', {})",
        "def sneak(host): f = host.invoke; return f('t', {})",
        "def sneak(host): return host.subagents['a']({})",
        "def sneak(host): return host.subagents.get('a')({})",
        "def sneak(host): return getattr(host, 'invoke')('t', {})",
        "async def sneak(host): return await host.invoke('t', {})",
    ],
)
def test_the_scan_sees_every_way_of_writing_it(source: str) -> None:
    """INV-1: a scan that sees nothing would prove nothing."""
    assert calls_of_a_host(ast.parse(source))
