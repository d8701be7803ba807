"""The governed call of a test."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

import agentl
from agentl.errors import ActionInDoubt, NotExecuted, PolicyViolation
from agentl.host import Host
from agentl.kernel import current_action
from agentl.kernel.testing import dispatch


def test_dispatch_runs_one_action_under_a_real_permit() -> None:
    """KRN-16."""
    host = Host()

    @host.tool("look")
    def look(x: int) -> Any:
        context = current_action()
        assert context is not None
        return {"id": context.action_id, "x": x}

    assert dispatch(host, "look", {"x": 1}) == {"id": "test:test:t0:a1", "x": 1}


def test_dispatch_of_a_sub_agent() -> None:
    """KRN-16."""
    host = Host()
    host.subagents["helper"] = lambda payload: payload["x"]
    assert dispatch(host, "helper", {"x": 1}, kind="delegate") == 1
    with pytest.raises(KeyError):
        dispatch(host, "nobody", kind="delegate")


def test_dispatch_gives_the_outcomes_of_the_kernel() -> None:
    """KRN-16, TOL-3."""
    host = Host()
    with pytest.raises(NotExecuted):
        dispatch(host, "nothing")
    with pytest.raises(KeyError):
        dispatch(host, "nothing")

    @host.tool("bad")
    def bad() -> None:
        raise ValueError

    with pytest.raises(ActionInDoubt):
        dispatch(host, "bad")
    with pytest.raises(PolicyViolation):
        dispatch(host, "bad", {"x": object()})


def test_no_module_of_the_package_imports_it() -> None:
    """KRN-16."""
    package = Path(agentl.__file__).parent
    for file in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names] + [str(node.module)]
            assert not any(name.startswith("agentl.kernel.testing") for name in names), file
