"""What the runtime keeps about each tool and sub-agent: its facts, its failures, its dirty marks."""

from __future__ import annotations

from agentl.labels import RUNTIME_LABEL
from agentl.language.nodes import (
    Agent,
    Body,
    DelegateStmt,
    ForEachStmt,
    IfStmt,
    LoopStmt,
    Stmt,
    ToolDecl,
    VerifyStmt,
)
from agentl.runtime.core import Core


class Target:
    """One tool or sub-agent; the names of its facts are made once.

    Attributes:
        failures: how many calls failed in a row, doubtful ones included.
        last_failure: tick of the last of them.
        calls: results and doubts in this run (`TOL-9`).
        open_doubt: whether some action of it is in doubt.
    """

    __slots__ = (
        "available_fact",
        "calls",
        "calls_fact",
        "decl",
        "dirty",
        "doubt_fact",
        "failures",
        "failures_fact",
        "last_failure",
        "name",
        "open_doubt",
        "outputs",
        "result_local",
    )

    def __init__(self, name: str, decl: ToolDecl | None) -> None:
        self.name = name
        self.decl = decl
        self.calls = 0
        self.failures = 0
        self.last_failure = 0
        self.open_doubt = False
        self.calls_fact = f"tools.{name}.calls"
        self.doubt_fact = f"tools.{name}.in_doubt"
        self.failures_fact = f"tools.{name}.failures"
        self.available_fact = f"tools.{name}.available"
        self.result_local = f"result.{name}"
        outputs = decl.outputs if decl is not None else ()
        self.outputs = tuple((key, kind, f"{name}.{key}") for key, kind in outputs)
        effects = decl.side_effects if decl is not None else ()
        self.dirty = tuple(f"{path}.dirty" for path in effects)


class Targets:
    """The targets of one agent, tools first, and the marks that their side effects leave."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.by_name: dict[str, Target] = {tool.name: Target(tool.name, tool) for tool in core.agent.tools}
        for name in delegates_of(core.agent):
            self.by_name.setdefault(name, Target(name, None))
        self._sure: dict[str, None] = {}
        self._doubtful: dict[str, dict[str, None]] = {}

    def publish(self) -> None:
        """No call and no doubt yet: a guard on these facts is never unknown (`TCK-4`)."""
        for target in self.by_name.values():
            self.core.fact(target.doubt_fact, False)
            self.core.fact(target.calls_fact, 0)

    def of(self, name: str) -> Target:
        """The target of that name; one that no declaration names is made when it is first used."""
        return self.by_name.setdefault(name, Target(name, None))

    def counted(self, target: Target) -> None:
        """One more result or doubt (`TOL-9`)."""
        target.calls += 1
        self.core.state.set_world(target.calls_fact, target.calls, RUNTIME_LABEL)

    # --- the circuit breaker (TOL-6) ---

    def failed(self, target: Target) -> int:
        """One more consecutive failure; how many there are now."""
        core = self.core
        target.failures += 1
        target.last_failure = core.state.tick
        core.count("tool_failures")
        core.fact(target.failures_fact, target.failures)
        if core.breaker and target.failures >= core.breaker:
            core.fact(target.available_fact, False)
        return target.failures

    def closed(self, target: Target) -> None:
        """A success ends the series of failures."""
        if target.failures:
            target.failures = 0
            self.core.fact(target.failures_fact, 0)
            self.core.fact(target.available_fact, True)

    def waiting(self, target: Target) -> int:
        """The ticks until the next try while the circuit is open; 0 when a call may pass."""
        core = self.core
        if not core.breaker or target.failures < core.breaker:
            return 0
        return max(0, target.last_failure + core.cooldown - core.state.tick)

    # --- dirty marks (TOL-3, TOL-4, TOL-8) ---

    def dirty(self, target: Target, action_id: str | None = None) -> None:
        """Mark what a call may have changed; ``action_id`` when that is in doubt."""
        for path in target.dirty:
            if action_id is None:
                self._sure[path] = None
            else:
                self._doubtful.setdefault(path, {})[action_id] = None
            if self.core.state.world.get(path) is not True:
                self.core.fact(path, True)

    def clean(self, target: Target, action_id: str) -> None:
        """An action did not take place: its marks go, those of other actions stay."""
        for path in target.dirty:
            marks = self._doubtful.get(path, {})
            marks.pop(action_id, None)
            if not marks and path not in self._sure:
                self.core.state.invalidate(path)

    def settled(self, target: Target) -> None:
        """Publish whether some action of the target is still in doubt (`TOL-8`)."""
        target.open_doubt = bool(self.core.kernel.doubts(target.name))
        self.core.fact(target.doubt_fact, target.open_doubt)


def delegates_of(agent: Agent) -> tuple[str, ...]:
    """The sub-agents that the statements of an agent name, each once, in source order."""
    found: dict[str, None] = {}
    pending: list[Stmt] = []
    for body in reversed(bodies_of(agent)):
        pending.extend(reversed(body))
    while pending:
        stmt = pending.pop()
        if isinstance(stmt, DelegateStmt):
            found[stmt.agent] = None
        for inner in reversed(_inner(stmt)):
            pending.extend(reversed(inner))
    return tuple(found)


def bodies_of(agent: Agent) -> list[Body]:
    """Every outermost body of an agent."""
    bodies: list[Body] = [step.body for plan in agent.plans for step in plan.steps]
    bodies.extend(handler.body for handler in agent.events)
    bodies.extend(handler.body for handler in agent.messages)
    if agent.decide is not None:
        bodies.append(agent.decide.rules)
    if agent.loop is not None:
        bodies.append(agent.loop.body)
    bodies.append(agent.on_verify_fail)
    return bodies


def _inner(stmt: Stmt) -> tuple[Body, ...]:
    if isinstance(stmt, IfStmt):
        return (stmt.then, stmt.otherwise)
    if isinstance(stmt, VerifyStmt):
        return (stmt.on_fail,)
    if isinstance(stmt, (LoopStmt, ForEachStmt)):
        return (stmt.body,)
    return ()


__all__ = ["Target", "Targets", "bodies_of", "delegates_of"]
