"""Errors of declarations.

CHK-E003, CHK-E005 to CHK-E008, CHK-E010, CHK-E011, CHK-E014, CHK-E022, CHK-E024.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentl.analysis.diagnostics import Diagnostic, error
from agentl.analysis.places import delegations, statements
from agentl.language.nodes import Agent, JudgeStmt, MessageStmt, Program, Question


def check_policy(agent: Agent) -> Iterator[Diagnostic]:
    """CHK-E003 and CHK-E024: rules about nothing, and a policy without a default."""
    targets = {"*"} | {tool.name for tool in agent.tools} | {one.agent for one in delegations(agent)}
    for rule in agent.policies:
        if rule.target not in targets:
            yield error("E003", rule.line, rule=rule.effect, target=rule.target)
    if agent.has_policy and agent.policy_default is None:
        yield error("E024", agent.line, agent=agent.name)


def check_handlers(agent: Agent) -> Iterator[Diagnostic]:
    """CHK-E005: an event that nothing follows."""
    for event in agent.events:
        if not event.body:
            yield error("E005", event.line, event=event.source)


def check_evidence(agent: Agent) -> Iterator[Diagnostic]:
    """CHK-E006: a certainty, which no evidence could ever move."""
    for hypothesis in agent.hypotheses:
        for item in hypothesis.evidence:
            for word, value in (("LIKELIHOOD", item.likelihood), ("GIVEN_NOT", item.given_not)):
                if not 0 < value < 1:
                    yield error("E006", item.line, hypothesis=hypothesis.name, word=word, value=value)


def check_messages(program: Program) -> Iterator[Diagnostic]:
    """CHK-E007: a message for nobody."""
    known = {agent.name.casefold() for agent in program.agents}
    for agent in program.agents:
        for statement in statements(agent):
            if isinstance(statement, MessageStmt) and not statement.broadcast:
                if statement.to is None:
                    yield error("E007", statement.line, message=statement.name, to="—")
                elif statement.to.casefold() not in known:
                    yield error("E007", statement.line, message=statement.name, to=statement.to)


def check_memory(agent: Agent) -> Iterator[Diagnostic]:
    """CHK-E008: a write to the shared memory under a key that is not declared."""
    for write in agent.memory.writes:
        if write.into == "SHARED" and write.key not in agent.memory.shared:
            yield error("E008", write.line, key=write.key)


def check_risks(agent: Agent) -> Iterator[Diagnostic]:
    """CHK-E011: a tool whose risk nobody has judged."""
    for tool in agent.tools:
        if tool.risk == "UNSET":
            yield error("E011", tool.line, tool=tool.name)


def check_scenarios(agent: Agent) -> Iterator[Diagnostic]:
    """CHK-E010 and CHK-E014: scenarios that no run could satisfy."""
    tools = {tool.name for tool in agent.tools}
    events = {event.source for event in agent.events}
    for scenario in agent.scenarios:
        if scenario.within < 1:
            yield error("E010", scenario.line, scenario=scenario.name, within=scenario.within)
        for assertion in scenario.assertions:
            known = events if assertion.kind == "EVENT" else tools
            if assertion.kind != "NO ERROR" and assertion.target not in known:
                yield error("E014", assertion.line, assertion=assertion.kind, target=assertion.target)


def check_questions(agent: Agent) -> Iterator[Diagnostic]:
    """CHK-E022: questions that no answer could decide."""
    for statement in statements(agent):
        if isinstance(statement, JudgeStmt):
            for question in statement.questions:
                for trouble in _undecidable(question):
                    yield error("E022", question.line, field=question.name, trouble=trouble)


def _undecidable(question: Question) -> Iterator[str]:
    if not question.instructions.strip():
        yield "blank"
    if question.kind == "CHOICE":
        if len({option for option, _ in question.criteria}) < 2:
            yield "options"
        if any(not description.strip() for _, description in question.criteria):
            yield "description"
    if question.kind == "SCORE":
        if len(question.levels) < 2:
            yield "levels"
        if any(not level.strip() for level in question.levels):
            yield "level"
    if question.abstain_below is not None and not 0 < question.abstain_below <= 1:
        yield "abstain"
