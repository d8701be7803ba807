"""Programs that this version cannot run: they parse, and running them says so before the first tick."""

from __future__ import annotations

from typing import Any, Final

from agentl.errors import RuntimeAgentError
from agentl.language.nodes import Agent, ControlStmt, ForEachStmt, IfStmt, LoopStmt, Program, Stmt, VerifyStmt
from agentl.state import BUCKETS

_LATER_PHASES: Final = frozenset(("SYNTHESIZE",))


def unsupported(program_or_agent: Program | Agent, host: Any = None) -> RuntimeAgentError | None:
    """Why a program, or an agent, cannot be run; ``None`` when it can.

    Args:
        program_or_agent: what is to be run.
        host: when given, the key rings that the program needs are looked for in it (`GRM-10`).

    Returns:
        The error to raise, with a code and the names and line concerned.
    """
    if isinstance(program_or_agent, Program):
        agents = program_or_agent.agents
        if len(agents) > 1:
            names = ", ".join([agent.name for agent in agents])
            return RuntimeAgentError(code="runtime.society", agents=names)
        return _agent(agents[0], host) if agents else None
    return _agent(program_or_agent, host)


def _agent(agent: Agent, host: Any) -> RuntimeAgentError | None:
    for hypothesis in agent.hypotheses:
        return RuntimeAgentError(
            code="runtime.hypothesis", agent=agent.name, name=hypothesis.name, line=hypothesis.line
        )
    if agent.planner is not None and agent.planner.enabled:
        return RuntimeAgentError(code="runtime.planner", agent=agent.name, line=agent.planner.line)
    if agent.loop is not None:
        for stmt in _walk(agent.loop.body):
            if isinstance(stmt, ControlStmt) and stmt.kind == "PHASE" and stmt.arg in _LATER_PHASES:
                return RuntimeAgentError(
                    code="runtime.phase", agent=agent.name, phase=str(stmt.arg), line=stmt.line
                )
    for write in agent.memory.writes:
        if write.into not in BUCKETS:
            return RuntimeAgentError(code="runtime.bucket", bucket=write.into)
    if host is not None:
        rings = getattr(host, "key_rings", None) or {}
        for rule in agent.policies:
            if rule.by is not None and rule.by not in rings:
                return RuntimeAgentError(code="apr.no_ring", name=rule.by)
    return None


def _walk(body: tuple[Stmt, ...]) -> list[Stmt]:
    found: list[Stmt] = []
    pending = list(reversed(body))
    while pending:
        stmt = pending.pop()
        found.append(stmt)
        if isinstance(stmt, IfStmt):
            pending.extend(reversed(stmt.then + stmt.otherwise))
        elif isinstance(stmt, (LoopStmt, ForEachStmt)):
            pending.extend(reversed(stmt.body))
        elif isinstance(stmt, VerifyStmt):
            pending.extend(reversed(stmt.on_fail))
    return found


__all__ = ["unsupported"]
