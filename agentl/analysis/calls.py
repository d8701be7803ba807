"""Errors of calls, in statements and in expressions.

CHK-E001, CHK-E002, CHK-E009, CHK-E013, CHK-E015, CHK-E016, CHK-E021.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from agentl.analysis.diagnostics import Diagnostic, error
from agentl.analysis.places import bodies, expression_calls, inspected, statements, statements_in
from agentl.language.nodes import (
    Agent,
    CallExpr,
    CallStmt,
    ControlStmt,
    Literal,
    PathExpr,
    ThenPlan,
    ToolDecl,
)

PURE: Final = frozenset({"len", "abs", "min", "max", "round"})
EPISTEMIC: Final = frozenset({"CONFIDENCE", "UNCERTAINTY", "P", "PROBABILITY", "POSTERIOR"})
PROVENANCE: Final = frozenset({"UNTRUSTED", "TRUSTED", "LLM_DERIVED", "ORIGIN", "ATTESTED"})


def check_calls(agent: Agent) -> Iterator[Diagnostic]:
    """The errors of the calls, the plan references (CHK-E002) and the phase words (CHK-E021) of an agent."""
    plans = {plan.name for plan in agent.plans}
    for statement in statements(agent):
        if isinstance(statement, CallStmt):
            yield from _statement_call(agent, statement)
        elif isinstance(statement, ThenPlan) and statement.plan not in plans:
            yield error("E002", statement.line, plan=statement.plan)
    for statement in statements_in(bodies(agent)):
        if isinstance(statement, ControlStmt) and statement.kind == "PHASE":
            yield error("E021", statement.line, phase=statement.arg)
    for tree, guard in inspected(agent):
        for call in expression_calls(tree):
            yield from _expression_call(agent, call, guard=guard)


def _statement_call(agent: Agent, statement: CallStmt) -> Iterator[Diagnostic]:
    """CHK-E001; and for a tool that is declared, CHK-E013."""
    call = statement.call
    tool = agent.tool(call.name)
    if tool is None:
        yield error("E001", statement.line, tool=call.name)
    elif tool.inputs:  # a tool without INPUT takes anything (KRN-7)
        yield from _arguments(tool, call, statement.line)


def _arguments(tool: ToolDecl, call: CallExpr, line: int) -> Iterator[Diagnostic]:
    """CHK-E013, once for a call: the first kind of trouble, with all the parameters it is about."""
    declared = [name for name, _ in tool.inputs]
    positional = declared[: len(call.args)]
    named = [name for name, _ in call.kwargs]
    excess = [f"{len(call.args)} > {len(declared)}"] if len(call.args) > len(declared) else []
    troubles = {
        "too_many": excess,
        "twice": [name for name in positional if name in named],
        "unknown": [name for name in named if name not in declared],
        "missing": [name for name in declared if name not in positional and name not in named],
    }
    for trouble, parameters in troubles.items():
        if parameters:
            yield error("E013", line, tool=tool.name, trouble=trouble, parameter=", ".join(parameters))
            return


def _expression_call(agent: Agent, call: CallExpr, *, guard: bool) -> Iterator[Diagnostic]:
    if call.name in PROVENANCE:
        reason = _misuse(agent, call, guard=guard)
        if reason:
            yield error("E016", call.line, function=call.name, trouble=reason)
    elif call.name in PURE or call.name in EPISTEMIC:
        return
    elif agent.tool(call.name) is not None:
        yield error("E009", call.line, tool=call.name)
    else:
        yield error("E015", call.line, function=call.name)


def _misuse(agent: Agent, call: CallExpr, *, guard: bool) -> str:
    """Why a provenance function cannot answer, or nothing (`PRV-7`)."""
    most = 2 if call.name == "ATTESTED" else 1
    if call.kwargs:
        return "named"
    if len(call.args) > most:
        return "too_many"
    subject = call.args[0] if call.args else None
    if not isinstance(subject, PathExpr):
        return "path"
    if subject.parts == ("action",):
        if call.name == "ATTESTED":
            return "attested_action"
        if not guard:
            return "action"
    if len(call.args) == 2 and _name(call.args[1]) not in {tool.name for tool in agent.tools}:
        return "tool"
    return ""


def _name(expression: object) -> str:
    if isinstance(expression, PathExpr):
        return expression.dotted
    if isinstance(expression, Literal) and isinstance(expression.value, str):
        return expression.value
    return ""
