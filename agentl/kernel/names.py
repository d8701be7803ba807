"""Which one-word names a guard may treat as variables (`TRI-7`).

A name that the program can bind is a variable, and unknown until it is bound. Any other is a
constant: it is what it says, whatever some data from outside happens to be called.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from agentl.language.nodes import (
    Agent,
    BeliefDecl,
    CallExpr,
    DelegateStmt,
    ForEachStmt,
    Hypothesis,
    JudgeStmt,
    MemorySpec,
    MemoryWrite,
    MessageStmt,
    Node,
    Observer,
    Outcome,
    Program,
    ReasonStmt,
    ScenarioStimulus,
    SetStmt,
    ToolDecl,
    parts_of,
)
from agentl.paths import RESERVED_ROOTS

_ALWAYS: Final = frozenset({"answer", "confidence"}) | RESERVED_ROOTS


def walk(tree: Any) -> Iterator[Node]:
    """Every node of a tree, the root included, in source order."""
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Node):
            yield part
            waiting.extend(reversed([getattr(part, name) for name in parts_of(type(part))]))
        elif isinstance(part, tuple):
            waiting.extend(reversed(part))


def program_names(agent: Agent, program: Program | None = None) -> frozenset[str]:
    """The paths and names that the program can bind, whatever the target of a rule (`TRI-7`).

    Args:
        program: the program of the agent; the payloads of its other agents' messages count too.
    """
    names = set(_ALWAYS)
    for node in walk(agent):
        names.update(_bound_by(node))
    for other in () if program is None else program.agents:
        if other is agent:
            continue
        for node in walk(other):
            if isinstance(node, (MessageStmt, ScenarioStimulus)):
                names.update(_bound_by(node))
    return frozenset(names)


def _bound_by(node: Node) -> list[str]:
    match node:
        case Observer() | BeliefDecl():
            return [node.path]
        case SetStmt():
            return [node.target]
        case ToolDecl():
            return [name for name, _type in node.outputs] + [effect.path for effect in node.effects]
        case Outcome() | ScenarioStimulus():
            return [effect.path for effect in (node.effects if isinstance(node, Outcome) else node.payload)]
        case Hypothesis():
            return [node.explains_path] if node.explains_path else []
        case JudgeStmt():
            return [name for name, _type in node.produce] + [question.name for question in node.questions]
        case ReasonStmt():
            return [name for name, _type in node.produce]
        case DelegateStmt():
            return list(node.expect)
        case MessageStmt():
            return [name for name, _value in node.payload]
        case ForEachStmt():
            return [node.var]
        case MemorySpec():
            return [*node.short_term, *node.long_term, *node.knowledge, *node.shared]
        case MemoryWrite():
            return [node.key]
    return []


def parameter_names(agent: Agent, target: str) -> frozenset[str]:
    """The argument names that an action on ``target`` can have; of any action for ``*`` (`TRI-7`).

    Besides the INPUT of the tool: what a DELEGATE to that sub-agent sends, and what calls of a
    tool without INPUT write, because such a tool accepts anything (`KRN-7`).
    """
    return parameter_tables(agent, [target])[target]


def parameter_tables(agent: Agent, targets: Iterable[str]) -> dict[str, frozenset[str]]:
    """``parameter_names`` for several targets, in one walk over the agent."""
    names: dict[str, set[str]] = {target: set() for target in targets}
    open_tools = {tool.name for tool in agent.tools if not tool.inputs}

    def note(target: str, found: Iterable[str]) -> None:
        for one in (target, "*"):
            if one in names:
                names[one].update(found)

    for tool in agent.tools:
        note(tool.name, [name for name, _type in tool.inputs])
    for node in walk(agent) if names else ():
        if isinstance(node, DelegateStmt):
            note(node.agent, node.inputs)
        elif isinstance(node, CallExpr) and node.name in open_tools:
            note(node.name, [name for name, _value in node.kwargs])
            note(node.name, [f"arg{position}" for position in range(len(node.args))])
    return {target: frozenset(found) for target, found in names.items()}


def bindable_names(agent: Agent, target: str | None = None, program: Program | None = None) -> frozenset[str]:
    """The names that are variables in a guard of a rule for ``target`` (`TRI-7`).

    Without a target (VERIFY, scenario expectations) no argument name counts.
    """
    names = program_names(agent, program)
    return names if target is None else names | parameter_names(agent, target)
