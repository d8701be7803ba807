"""What a run is a run of: program identity, run id, promises of the host (`DUR-10`, `RES-9`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from agentl.kernel.names import walk
from agentl.language.digest import tree_digest
from agentl.language.nodes import Agent, DelegateStmt, Program
from agentl.messages import render

Promises = dict[str, dict[str, list[str]]]


def agents_of(agents: Program | Agent | Sequence[Agent]) -> tuple[Agent, ...]:
    """The agents of a run, however they are given."""
    if isinstance(agents, Program):
        return agents.agents
    return (agents,) if isinstance(agents, Agent) else tuple(agents)


def program_digest(agents: Program | Agent | Sequence[Agent]) -> str:
    """The identity of a program: comments, layout and positions change nothing (`AST-7`)."""
    return tree_digest(Program(agents_of(agents)))


def promises_of(agents: Sequence[Agent], hosts: Sequence[Any]) -> Promises:
    """What each host promises for each target that its agent can call (`HST-4`)."""
    return {agent.name: _promises(agent, host) for agent, host in zip(agents, hosts, strict=True)}


def _promises(agent: Agent, host: Any) -> dict[str, list[str]]:
    promise = getattr(host, "promise", None)
    if promise is None:
        return {}
    found: dict[str, list[str]] = {}
    for tool in agent.tools:
        names = sorted(promise(tool.name, "invoke"))
        if names:
            found[tool.name] = names
    for node in walk(agent):
        if isinstance(node, DelegateStmt):
            names = sorted(promise(node.agent, "delegate"))
            if names:
                found[node.agent] = sorted(dict.fromkeys([*found.get(node.agent, []), *names]))
    return found


class PromiseChange(NamedTuple):
    """A target for which the host promises more or less than when the run began (`RES-9`)."""

    target: str
    recorded: tuple[str, ...]
    now: tuple[str, ...]

    @property
    def code(self) -> str:
        """The code of its message."""
        return "durable.promise_changed"

    @property
    def values(self) -> dict[str, Any]:
        """The named values of its message."""
        return {
            "target": self.target,
            "recorded": ", ".join(self.recorded) or "—",
            "now": ", ".join(self.now) or "—",
        }

    def __str__(self) -> str:
        return render(self.code, self.values)


def promise_changes(recorded: Any, now: Promises) -> list[PromiseChange]:
    """Every change between the promises on record and those made now, in the order of names."""
    before: Mapping[str, Any] = recorded if isinstance(recorded, dict) else {}
    changes = []
    for agent in sorted(dict.fromkeys([*before, *now])):
        then, today = before.get(agent) or {}, now.get(agent) or {}
        for target in sorted(dict.fromkeys([*then, *today])):
            old, new = tuple(then.get(target) or ()), tuple(today.get(target) or ())
            if old != new:
                changes.append(PromiseChange(target, old, new))
    return changes


def pending_changes(pending: Sequence[Mapping[str, Any]], host: Any) -> list[PromiseChange]:
    """The interrupted actions whose intent records another promise than the host makes now (`RES-9`)."""
    promise = getattr(host, "promise", None)
    changes: dict[str, PromiseChange] = {}
    for found in pending:
        target, kind = str(found["tool"]), str(found["kind"])
        old = tuple(str(name) for name in found["promise"] or ())
        new = () if promise is None else tuple(sorted(promise(target, kind)))
        if old != new:
            changes.setdefault(target, PromiseChange(target, old, new))
    return list(changes.values())
