"""One name in four rooms: an action of the model, its function, its contracts and its trace event.

An action of ``formal/Kernel.tla`` that belongs to the protocol has a function of its name, in snake
case, in ``agentl/kernel/protocol.py``, or, where it is a step of the run and not of a permit, in
``agentl/durable/`` with a contract that names it; and an event class of its name in
``agentl/kernel/steps.py``. Actions of the environment need neither. The other way round, a contract
and an event may only name what the model has.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.trace_matrix.problems import Problem
from tools.trace_matrix.python_source import Unit
from tools.trace_matrix.tla import Module, Operator

PROTOCOL = "agentl/kernel/protocol.py"
EVENTS = "agentl/kernel/steps.py"
RUN = "agentl/durable/"
MODELS = {
    PROTOCOL: "Kernel",
    "agentl/kernel/policy.py": "Policy",
    "agentl/durable/lease.py": "Lease",
    "agentl/durable/requests.py": "Park",
}
"""Which model the contracts of a file speak of. A model that is not there yet is not asked."""


@dataclass(frozen=True)
class Action:
    """One action of the protocol in all rooms. ``functions`` are those whose contracts or name it has."""

    operator: Operator
    functions: tuple[Unit, ...]
    event: str | None


def actions(models: dict[str, Module], code: list[Unit], root: Path) -> list[Action]:
    """The actions of the kernel's protocol, each with its functions and its event."""
    kernel = models.get("Kernel")
    events = _classes(root / EVENTS)
    return [
        Action(
            one, _functions(one.name, code), f"{EVENTS}:{events[one.name]}" if one.name in events else None
        )
        for one in (kernel.actions if kernel else ())
    ]


def _functions(action: str, code: list[Unit]) -> tuple[Unit, ...]:
    named = [
        unit
        for unit in code
        if (unit.file == PROTOCOL or unit.file.startswith(RUN))
        and unit.kind == "function"
        and (
            (unit.name == snake(action) and unit.file == PROTOCOL)
            or (MODELS.get(unit.file, "Kernel") == "Kernel" and _mirrors(unit, action))
        )
    ]
    return tuple(sorted(named, key=lambda unit: unit.name != snake(action)))


def _mirrors(unit: Unit, action: str) -> bool:
    return any(contract.action == action for contract in unit.contracts)


def check_names(models: dict[str, Module], code: list[Unit], root: Path) -> Iterator[Problem]:
    """Every name that one room has and another has not."""
    kernel = models.get("Kernel")
    if kernel is None:
        return
    functions = _functions_of(root / PROTOCOL)
    events = _classes(root / EVENTS)
    for one in kernel.actions:
        if one.environment:
            continue
        run_steps = [unit for unit in code if unit.file.startswith(RUN) and _mirrors(unit, one.name)]
        if snake(one.name) not in functions and not run_steps:
            text = f"action {one.name} has no function {snake(one.name)} in {PROTOCOL}, nor a step in {RUN}"
            yield Problem("name", one.place, text)
        if one.name not in events:
            yield Problem("name", one.place, f"action {one.name} has no event in {EVENTS}")
    names = {one.name for one in kernel.actions}
    for event, line in events.items():
        if event not in names:
            yield Problem("name", f"{EVENTS}:{line}", f"event {event} is no action of {kernel.file}")
    yield from _contracts(models, code)


def _contracts(models: dict[str, Module], code: list[Unit]) -> Iterator[Problem]:
    for unit in code:
        model = models.get(MODELS.get(unit.file, ""))
        if model is None:
            continue
        known = {one.name for one in (model.actions if model.name == "Kernel" else model.operators)}
        for contract in unit.contracts:
            if contract.action not in known:
                text = f"the contract of {unit.name} names {contract.action}, which {model.file} has not"
                yield Problem("name", f"{unit.file}:{contract.line}", text)


def snake(name: str) -> str:
    """The name of a function for the name of an action."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _functions_of(path: Path) -> dict[str, int]:
    return {node.name: node.lineno for node in _body(path) if isinstance(node, ast.FunctionDef)}


def _classes(path: Path) -> dict[str, int]:
    """The event classes: dataclasses at the top of the file."""
    return {
        node.name: node.lineno
        for node in _body(path)
        if isinstance(node, ast.ClassDef)
        and any("dataclass" in ast.unparse(one) for one in node.decorator_list)
    }


def _body(path: Path) -> list[ast.stmt]:
    return ast.parse(path.read_text(encoding="utf-8")).body if path.exists() else []
