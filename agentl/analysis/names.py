"""Errors of names: CHK-E004, CHK-E012, CHK-E017 to CHK-E020, CHK-E023."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from agentl.analysis.diagnostics import Diagnostic, error
from agentl.analysis.places import conditions, delegations, loops_over, statements, truth_operands
from agentl.kernel.names import parameter_tables, program_names
from agentl.kernel.names_skeleton import is_plain_name, skeleton
from agentl.language.nodes import Agent, PathExpr, Program, ReasonStmt, SetStmt
from agentl.paths import RESERVED_ROOTS

_FACTS = ("prior", "posterior", "supported", "bits", "capped")


def check_duplicates(agent: Agent) -> Iterator[Diagnostic]:
    """CHK-E004: two declarations of one kind with the same name."""
    named: dict[str, tuple[Any, ...]] = {
        "TOOL": agent.tools,
        "PLAN": agent.plans,
        "GOAL": agent.goals,
        "SCENARIO": agent.scenarios,
    }
    for kind, declarations in named.items():
        seen: dict[str, bool] = {}
        for one in declarations:
            if seen.get(one.name) is False:
                yield error("E004", one.line if kind == "SCENARIO" else 0, kind=kind, name=one.name)
            seen[one.name] = one.name in seen


def check_agent_names(program: Program) -> Iterator[Diagnostic]:
    """CHK-E012: two agents with names equal ignoring case."""
    seen: dict[str, str] = {}
    for agent in program.agents:
        key = agent.name.casefold()
        if key in seen:
            yield error("E012", agent.line, agent=agent.name, other=seen[key])
        seen.setdefault(key, agent.name)


def _written(agent: Agent) -> Iterator[tuple[str, str, int]]:
    """What an agent writes: the construct, the path or name, the line (CHK-E017)."""
    for belief in agent.beliefs:
        yield "BELIEF", belief.path, belief.line
    for observer in agent.observers:
        yield "OBSERVE", observer.path, observer.line
    for tool in agent.tools:
        yield "TOOL", tool.name, tool.line
        for name, _ in tool.outputs:
            yield "OUTPUT", name, tool.line
        for effect in (*tool.effects, *(one for outcome in tool.outcomes for one in outcome.effects)):
            yield "EFFECT", effect.path, effect.line or tool.line
    for statement in statements(agent):
        if isinstance(statement, SetStmt):
            yield "SET", statement.target, statement.line
        elif isinstance(statement, ReasonStmt):
            for name, _ in statement.produce:
                yield "PRODUCE" if statement.keyword == "REASON" else "JUDGE", name, statement.line
    for loop in loops_over(agent):
        yield "FOREACH", loop.var, loop.line


def check_reserved(agent: Agent) -> Iterator[Diagnostic]:
    """CHK-E017: a write under a reserved root, or on a fact that hypotheses publish (`STA-10`)."""
    facts = {"hypotheses.best", "hypotheses.best.posterior"}
    for hypothesis in agent.hypotheses:
        for fact in _FACTS:
            facts |= {f"{hypothesis.name}.{fact}", f"hypothesis.{hypothesis.name}.{fact}"}
    for construct, path, line in _written(agent):
        if path.partition(".")[0] in RESERVED_ROOTS or path in facts:
            yield error("E017", line, construct=construct, path=path)


def check_shadowing(agent: Agent) -> Iterator[Diagnostic]:
    """CHK-E018: a variable, tool or sub-agent named like the first segment of a known path."""
    known = {path.partition(".")[0]: path for path in _known_paths(agent)}
    named = [("TOOL", tool.name, tool.line) for tool in agent.tools]
    named += [("FOREACH", loop.var, loop.line) for loop in loops_over(agent)]
    named += [("DELEGATE", one.agent, one.line) for one in delegations(agent)]
    for construct, name, line in named:
        if name in known:
            yield error("E018", line, construct=construct, name=name, path=known[name])


def _known_paths(agent: Agent) -> list[str]:
    return [one.path for one in agent.observers] + [one.path for one in agent.beliefs]


def check_observed_writes(agent: Agent) -> Iterator[Diagnostic]:
    """CHK-E019: a SET on what a sensor writes."""
    observed = [one.path for one in agent.observers]
    for statement in statements(agent):
        if isinstance(statement, SetStmt):
            for path in observed:
                if _overlap(statement.target, path):
                    yield error("E019", statement.line, path=statement.target, observed=path)
                    break


def _overlap(one: str, other: str) -> bool:
    return one == other or one.startswith(f"{other}.") or other.startswith(f"{one}.")


def _targets(agent: Agent) -> list[tuple[str, str, int]]:
    """The names that CHK-E020 looks at, each once, with what it names and its line."""
    named = [("AGENT", agent.name, agent.line)]
    named += [("TOOL", one.name, one.line) for one in agent.tools]
    named += [("PLAN", one.name, one.line) for one in agent.plans]
    named += [("DELEGATE", one.agent, one.line) for one in delegations(agent)]
    first: dict[tuple[str, str], tuple[str, str, int]] = {}
    for kind, name, line in named:
        first.setdefault((kind, name), (kind, name, line))
    return list(first.values())


def check_identifiers(agent: Agent) -> Iterator[Diagnostic]:
    """CHK-E020, `GRM-29`, within one agent: names that are no plain identifiers, or look like one another."""
    named = _targets(agent)
    for kind, name, line in named:
        if not is_plain_name(name):
            yield error("E020", line, kind=kind, name=name, trouble="form", other=name)
    yield from _confusable([], named)


def check_identifiers_across(program: Program) -> Iterator[Diagnostic]:
    """CHK-E020 between the agents of a program."""
    earlier: list[tuple[str, str, int]] = []
    for agent in program.agents:
        named = _targets(agent)
        own = {name for _, name, _ in named}
        yield from _confusable([one for one in earlier if one[1] not in own], named, within=False)
        earlier += named


def _confusable(
    earlier: Iterable[tuple[str, str, int]], named: list[tuple[str, str, int]], *, within: bool = True
) -> Iterator[Diagnostic]:
    known: dict[str, str] = {}
    for _, name, _ in earlier:
        known.setdefault(skeleton(name), name)
    told: dict[str, bool] = {}
    for kind, name, line in named:
        other = known.setdefault(skeleton(name), name) if within else known.get(skeleton(name), name)
        if other != name and name not in told:
            told[name] = True
            yield error("E020", line, kind=kind, name=name, trouble="confusable", other=other)


def check_constants(agent: Agent, program: Program | None) -> Iterator[Diagnostic]:
    """CHK-E023: a condition that is the mere name of something the program cannot bind (`TRI-7`)."""
    everywhere = program_names(agent, program)
    found = list(conditions(agent))
    parameters = parameter_tables(agent, [one.target for one in found if one.target is not None])
    for condition in found:
        own = frozenset[str]() if condition.target is None else parameters[condition.target]
        for operand in truth_operands(condition.test):
            if isinstance(operand, PathExpr) and len(operand.parts) == 1:
                name = operand.parts[0]
                if name not in everywhere and name not in own:
                    yield error("E023", operand.line, name=name)
