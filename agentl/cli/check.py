"""``agentl check`` and ``agentl ast``: a program judged, and a program shown as its tree."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from agentl.cli import exits, options, output, programs
from agentl.messages import render


def check(file: options.ProgramFile, as_json: options.AsJson = False, _lang: options.Lang = None) -> int:
    """Report what is wrong with a program (`CLI-3`)."""
    program = programs.read_program(file)
    alone, whole = programs.diagnostics_of(program)
    found = [one for _, own in alone for one in own] + whole
    errors = sum(1 for one in found if programs.is_error(one))
    if as_json:
        agents = [_agent_data(agent, own) for agent, own in alone]
        report = {"file": file, "agents": agents, "program": [programs.as_data(one) for one in whole]}
        output.out_json({**report, "errors": errors, "warnings": len(found) - errors})
        return exits.FAILED if errors else exits.DONE
    for agent, own in alone:
        output.out(f"AGENT {agent.name} v{agent.version} — {render('cli.counts', _counts(agent))}")
        _show(own, "cli.no_diagnostic")
    if len(alone) > 1:
        output.out(render("cli.program", {"n": len(alone)}))
        _show(whole, "cli.contracts")
    else:
        for diagnostic in whole:
            output.out(programs.mark(diagnostic))
    return exits.FAILED if errors else exits.DONE


def _show(diagnostics: list[Any], nothing: str) -> None:
    if not diagnostics:
        output.out(f"  ✓ {render(nothing)}")
    for diagnostic in diagnostics:
        output.out(programs.mark(diagnostic))


def _counts(agent: Any) -> dict[str, int]:
    return {"tools": len(agent.tools), "plans": len(agent.plans), "rules": len(agent.policies)}


def _agent_data(agent: Any, diagnostics: list[Any]) -> dict[str, Any]:
    found = [programs.as_data(one) for one in diagnostics]
    return {"name": agent.name, "version": agent.version, **_counts(agent), "diagnostics": found}


def ast(file: options.ProgramFile, as_json: options.AsJson = False, _lang: options.Lang = None) -> int:
    """Print the syntax tree of a program (`CLI-4`)."""
    program = programs.read_program(file)
    if as_json:
        output.out_json(tree_data(program))
        return exits.DONE
    for line in tree_lines(program):
        output.out(line)
    return exits.DONE


def tree_data(node: Any) -> Any:
    """A tree as data: every node with the name of its construct."""
    if dataclasses.is_dataclass(node) and not isinstance(node, type):
        shown = {name: tree_data(value) for name, value in _fields(node)}
        return {"node": type(node).__name__, "line": getattr(node, "line", 0), **shown}
    if isinstance(node, tuple | list):
        return [tree_data(item) for item in node]
    return node


def tree_lines(node: Any, label: str = "", depth: int = 0) -> Iterator[str]:
    """A tree as indented lines; what is empty or absent is left out."""
    start = "  " * depth + (f"{label}: " if label else "")
    if dataclasses.is_dataclass(node) and not isinstance(node, type):
        line = getattr(node, "line", 0)
        yield f"{start}{type(node).__name__}" + (f"  @{line}" if line else "")
        for name, value in _fields(node):
            if value is not None and value not in ((), ""):
                yield from tree_lines(value, name, depth + 1)
    elif isinstance(node, tuple | list) and any(_holds_nodes(item) for item in node):
        yield f"{start.rstrip()}"
        for item in node:
            yield from tree_lines(item, "", depth + 1)
    else:
        yield f"{start}{_plain(node)}"


def _fields(node: Any) -> Iterator[tuple[str, Any]]:
    for one in dataclasses.fields(node):
        if one.compare and one.name != "line":
            yield one.name, getattr(node, one.name)


def _holds_nodes(item: Any) -> bool:
    if isinstance(item, tuple | list):
        return any(_holds_nodes(inner) for inner in item)
    return dataclasses.is_dataclass(item)


def _plain(value: Any) -> str:
    if isinstance(value, tuple | list):
        return "(" + ", ".join(_plain(item) for item in value) + ")"
    return repr(value)
