"""A governed call in a test (`KRN-16`). No module of the package itself imports this."""

from __future__ import annotations

from typing import Any

from agentl.errors import NotExecuted, NotRegistered, PolicyViolation
from agentl.kernel.action import ActionRequest
from agentl.kernel.gate import Kernel
from agentl.language.nodes import Agent
from agentl.messages import render
from agentl.state import State


def dispatch(host: Any, name: str, args: dict[str, Any] | None = None, *, kind: str = "invoke") -> Any:
    """Run one action of ``host`` under a permit that a real kernel minted.

    The kernel belongs to an agent named ``test`` without any rule, and to the run ``test``.

    Args:
        host: the host under test.
        name: the tool, or with ``kind="delegate"`` the sub-agent.
        args: its arguments, or its payload.

    Raises:
        KeyError: the tool or sub-agent is not registered.
        PolicyViolation: the arguments have no place in the data model.
        NotExecuted, ActionInDoubt: as ``Kernel.execute``.
    """
    kernel = Kernel(Agent("test"), run_id="test")
    authorization = kernel.authorize(ActionRequest(name, dict(args or {})), State(), kind=kind)
    if authorization.permit is None:
        raise PolicyViolation(code=authorization.code, **authorization.values)
    if kind == "invoke":
        try:
            return kernel.execute(authorization.permit, host)
        except NotExecuted as failure:
            if isinstance(failure.__cause__, NotRegistered):
                raise failure.__cause__ from None
            raise
    registered, result = kernel.delegate(authorization.permit, host)
    if not registered:
        raise KeyError(render("host.subagent_missing", {"name": name}))
    return result


__all__ = ["dispatch"]
