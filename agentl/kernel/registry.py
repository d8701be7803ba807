"""The sub-agents of a host, held in a form that only the kernel can call (`HST-3`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentl.errors import HostDeclarationError, NotRegistered
from agentl.kernel.names_skeleton import is_plain_name
from agentl.kernel.permit import require_permit


def plain_name(name: str) -> str:
    """The name itself. Raises ``HostDeclarationError`` when it is no identifier (`KRN-19`)."""
    if not is_plain_name(name):
        raise HostDeclarationError(code="host.name", name=name)
    return name


class SubagentRegistry(dict[str, Any]):
    """The sub-agents by name (`HST-3`). What it holds, and so every read, is the guarded form.

    ``[name]`` gives a guard also for an absent name; ``.get`` gives ``None`` then.
    """

    def __setitem__(self, name: str, function: Callable[[dict[str, Any]], Any]) -> None:
        super().__setitem__(plain_name(name), _Subagent(self, name, function))

    def __missing__(self, name: str) -> _Subagent:
        return _Subagent(self, name, None)

    def setdefault(self, name: str, default: Any = None) -> Any:
        if name not in self:
            self[name] = default
        return self[name]

    def update(self, *others: Any, **named: Any) -> None:
        for name, function in dict(*others, **named).items():
            self[name] = function

    def __ior__(self, other: Any) -> SubagentRegistry:  # type: ignore[override,misc]
        self.update(other)
        return self

    def __reduce__(self) -> Any:
        raise TypeError("a registry of sub-agents holds only in its process")


class _Subagent:
    """A sub-agent that can be called under a permit alone."""

    __slots__ = ("_function", "_name", "_registry")

    def __init__(
        self, registry: SubagentRegistry, name: str, function: Callable[[dict[str, Any]], Any] | None
    ) -> None:
        # Moving an entry to another name moves the function, not an old guard around it.
        self._function: Any = function._function if isinstance(function, _Subagent) else function  # noqa: SLF001
        self._registry = registry
        self._name = name

    def __call__(self, payload: dict[str, Any]) -> Any:
        """Call the sub-agent.

        Raises:
            PermitError: no permit of kind ``delegate`` for exactly this name and payload.
            NotRegistered: the host has no such sub-agent (a ``KeyError``).
        """
        require_permit("delegate", self._name, payload)
        if self._function is None or self._name not in self._registry:
            raise NotRegistered(code="host.subagent_missing", name=self._name)
        return self._function(payload)

    def __repr__(self) -> str:
        return f"<sub-agent {self._name}, called by the kernel alone>"


__all__ = ["SubagentRegistry", "plain_name"]
