"""Where statements, conditions and calls stand in an agent: one walk for all the checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from agentl.kernel.names import walk
from agentl.language.nodes import (
    Agent,
    BinOp,
    CallExpr,
    CallStmt,
    DelegateStmt,
    EventHandler,
    Expr,
    ForEachStmt,
    IfStmt,
    LoopStmt,
    MessageHandler,
    Node,
    Stmt,
    UnOp,
    VerifyStmt,
    parts_of,
)


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition, and the tool whose parameters it may name (`TRI-7`); ``None`` for none."""

    test: Expr
    target: str | None = None


def _handlers(agent: Agent) -> list[EventHandler | MessageHandler]:
    return [*agent.events, *agent.messages]


def bodies(agent: Agent) -> Iterator[Any]:
    """Every body of statements outside the agent LOOP."""
    for plan in agent.plans:
        for step in plan.steps:
            yield step.body
    for handler in _handlers(agent):
        yield handler.body
    if agent.decide is not None:
        yield agent.decide.rules
        if agent.decide.reason is not None:
            yield (agent.decide.reason,)
    yield agent.on_verify_fail


def statements(agent: Agent) -> Iterator[Stmt]:
    """Every statement of an agent, however deep, those of its LOOP last."""
    yield from statements_in(bodies(agent))
    if agent.loop is not None:
        yield from statements_in([agent.loop.body])


def statements_in(trees: Iterable[Any]) -> Iterator[Stmt]:
    """Every statement of some bodies, however deep."""
    for tree in trees:
        for node in walk(tree):
            if isinstance(node, Stmt):
                yield node


def delegations(agent: Agent) -> Iterator[DelegateStmt]:
    """Every DELEGATE of an agent."""
    for statement in statements(agent):
        if isinstance(statement, DelegateStmt):
            yield statement


def expression_calls(tree: Any) -> Iterator[CallExpr]:
    """Every call inside an expression; the call that a statement makes is none, its arguments count."""
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, tuple):
            waiting.extend(reversed(part))
        elif isinstance(part, CallStmt):
            waiting.extend([value for _, value in reversed(part.call.kwargs)])
            waiting.extend(reversed(part.call.args))
        elif isinstance(part, Node):
            if isinstance(part, CallExpr):
                yield part
            waiting.extend(reversed([getattr(part, name) for name in parts_of(type(part))]))


def inspected(agent: Agent) -> Iterator[tuple[Any, bool]]:
    """The trees in which calls are checked; whether each is a policy guard (CHK-E009, CHK-E015, CHK-E016)."""
    for rule in agent.policies:
        yield rule.guard, True
    for plan in agent.plans:
        yield plan.when, False
    for handler in _handlers(agent):
        yield handler.when, False
    for observer in agent.observers:
        yield observer.when, False
    for goal in agent.goals:
        yield (goal.condition, goal.targets), False
    for write in agent.memory.writes:
        yield write.when, False
    for hypothesis in agent.hypotheses:
        yield tuple(item.test for item in hypothesis.evidence), False
    if agent.loop is not None:
        yield agent.loop.until, False
    for body in bodies(agent):
        yield body, False
    if agent.loop is not None:
        yield agent.loop.body, False


def conditions(agent: Agent) -> Iterator[Condition]:
    """Every condition of an agent.

    PRIOR WHERE is left out: it reads the fields of memory records, which no declaration lists.
    """
    for rule in agent.policies:
        yield from _some(rule.guard, rule.target)
    for tool in agent.tools:
        yield from _some(tool.requires, tool.name)
    guarded: list[Any] = [*agent.plans, *_handlers(agent), *agent.observers, *agent.memory.writes]
    for one in guarded:
        yield from _some(one.when)
    for goal in agent.goals:
        yield from _some(goal.condition)
        yield from map(Condition, goal.targets)
    for hypothesis in agent.hypotheses:
        yield from (Condition(item.test) for item in hypothesis.evidence)
        yield from _some(hypothesis.predict)
    yield from (Condition(term.condition) for term in agent.utility)
    if agent.planner is not None:
        yield from map(Condition, agent.planner.achieve)
    for scenario in agent.scenarios:
        yield from map(Condition, scenario.expect)
    if agent.loop is not None:
        yield from _some(agent.loop.until)
    for statement in statements(agent):
        if isinstance(statement, IfStmt | VerifyStmt):
            yield Condition(statement.cond)
        elif isinstance(statement, LoopStmt):
            yield from _some(statement.until)


def _some(test: Expr | None, target: str | None = None) -> Iterator[Condition]:
    if test is not None:
        yield Condition(test, target)


def truth_operands(test: Expr) -> Iterator[Expr]:
    """What counts by its truth in a condition: the condition, or what stands under AND, OR and NOT."""
    waiting = [test]
    while waiting:
        part = waiting.pop()
        if isinstance(part, BinOp) and part.op in {"AND", "OR"}:
            waiting.extend([part.right, part.left])
        elif isinstance(part, UnOp) and part.op == "NOT":
            waiting.append(part.operand)
        else:
            yield part


def loops_over(agent: Agent) -> Iterator[ForEachStmt]:
    """Every FOREACH of an agent."""
    for statement in statements(agent):
        if isinstance(statement, ForEachStmt):
            yield statement
