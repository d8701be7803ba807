"""Every contract of the package, found where icontract keeps it, and in the text."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import agentl


class Contract(NamedTuple):
    """One condition of one function: ``agentl.kernel.protocol.mint ensure 0``, its clause and action."""

    key: str
    function: Any
    contract: Any
    clause: str
    action: str

    def holds(self, values: dict[str, Any]) -> bool:
        """Whether the condition holds for these arguments (and ``result``)."""
        return bool(self.contract.condition(*[values[name] for name in self.contract.condition_args]))


def modules() -> list[str]:
    """Every module of the package except those that run when they are imported."""
    found = pkgutil.walk_packages(agentl.__path__, "agentl.")
    return ["agentl", *sorted(module.name for module in found if not module.name.endswith("__main__"))]


def _functions(module: Any) -> Iterator[tuple[str, Any]]:
    for name, member in vars(module).items():
        if getattr(member, "__module__", None) != module.__name__:
            continue
        if inspect.isclass(member):
            for own, method in vars(member).items():
                if isinstance(method, property):
                    method = method.fget
                yield f"{module.__name__}.{name}.{own}", getattr(method, "__func__", method)
        else:
            yield f"{module.__name__}.{name}", member


def contracts() -> list[Contract]:
    """What icontract has noted down on the functions and methods of the package."""
    found = []
    for name in modules():
        for place, function in _functions(importlib.import_module(name)):
            before = [one for group in getattr(function, "__preconditions__", []) for one in group]
            after = getattr(function, "__postconditions__", [])
            for kind, group in (("require", before), ("ensure", after)):
                for number, contract in enumerate(group):
                    broken = contract.error()
                    key = f"{place} {kind} {number}"
                    found.append(Contract(key, function, contract, broken.clause, broken.action))
    return found


def written() -> list[str]:
    """Each ``require`` and ``ensure`` in the text of the package, by file and line."""
    package = Path(agentl.__file__).parent
    return [
        f"{file.relative_to(package)}:{decorator.lineno}"
        for file in sorted(package.rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        for decorator in getattr(node, "decorator_list", [])
        if isinstance(decorator, ast.Call)
        and isinstance(decorator.func, ast.Name)
        and decorator.func.id in ("require", "ensure")
    ]


def with_body(function: Any, body: Callable[..., Any]) -> Any:
    """The contracts of ``function`` around another body, checked by icontract."""
    from icontract._checkers import decorate_with_checker

    bare = inspect.unwrap(function)

    def other(*args: Any, **named: Any) -> Any:
        return body(*args, **named)

    other.__signature__ = inspect.signature(bare)  # type: ignore[attr-defined]
    other.__name__ = bare.__name__
    checker: Any = decorate_with_checker(other)
    checker.__preconditions__ = function.__preconditions__
    checker.__postconditions__ = function.__postconditions__
    return checker
