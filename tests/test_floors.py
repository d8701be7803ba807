"""Imports only ever go down: the order of the floors, read from the source of the package."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentl.kernel import TCB_FILES

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "agentl"

# From the ground up. A module may import what stands on a lower line, or its own floor.
FLOORS: tuple[tuple[str, ...], ...] = (
    ("catalogue",),
    ("messages",),
    ("labels",),
    ("datamodel",),
    ("canonical",),
    ("encoding",),
    ("values",),
    ("errors",),
    ("contracts",),
    ("paths",),
    ("language.expressions",),
    ("language.statements",),
    ("language.nodes",),
    ("language", "logic"),
    ("state",),
    ("scope",),
    ("functions",),
    ("guards",),
    ("evaluator",),
    ("kernel",),
    ("host",),
    ("journal", "reasoning"),
    ("signing",),
    ("keyring",),
    ("runtime",),
    ("durable", "replay", "seal", "receiver"),
    ("tasks",),
    ("analysis",),
    ("cli", "__main__"),
)


def modules() -> list[Path]:
    """Every source file of the package except the facade, which reaches all floors lazily."""
    return sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def dotted(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def floor(module: str) -> int:
    """The number of the floor on which a module stands; the longest matching name decides."""
    best = max(
        (name for names in FLOORS for name in names if module == name or module.startswith(name + ".")),
        key=len,
        default="",
    )
    assert best, f"agentl.{module} stands on no floor: add it to FLOORS"
    return next(number for number, names in enumerate(FLOORS) if best in names)


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """Every module that a file imports, inside of functions too, with its line."""
    package = ["agentl", *path.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join([*package[: len(package) - node.level + 1], *([base] if base else [])])
            for alias in node.names:
                full = f"{base}.{alias.name}"
                yield node.lineno, full if _is_module(full) else base


def _is_module(name: str) -> bool:
    """Whether a dotted name is a file of this package, so that `from agentl import values` is seen."""
    if not name.startswith("agentl."):
        return False
    path = ROOT / Path(*name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


@pytest.mark.parametrize("path", modules(), ids=dotted)
def test_imports_go_down(path: Path) -> None:
    """No module imports from a higher floor (DESIGN, Floors)."""
    here = floor(dotted(path))
    risen = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for line, name in imported(path)
        if name.startswith("agentl.") and floor(name.removeprefix("agentl.")) > here
    ]
    assert not risen


@pytest.mark.parametrize("path", modules(), ids=dotted)
def test_the_facade_is_for_users_only(path: Path) -> None:
    """Inside the package nobody imports through `agentl` itself (its version apart)."""
    lazily = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "agentl" and not node.level:
            names = [alias.name for alias in node.names]
            lazily += [name for name in names if name != "__version__" and not _is_module(f"agentl.{name}")]
    assert not lazily


def trusted() -> list[Path]:
    return [PACKAGE / name for name in TCB_FILES]


@pytest.mark.parametrize("path", trusted(), ids=dotted)
def test_the_trusted_base_stands_on_the_standard_library(path: Path) -> None:
    """`TCB_FILES` import the standard library, icontract and themselves, wording apart (KRN-17)."""
    allowed = {dotted(one) for one in trusted()} | {"kernel", "messages", "catalogue"}
    foreign = []
    for line, name in imported(path):
        top = name.split(".")[0]
        if top == "agentl":
            inside = name.removeprefix("agentl").lstrip(".")
            if inside and not any(inside == one or inside.startswith(one + ".") for one in allowed):
                foreign.append(f"line {line}: {name}")
        elif top != "icontract" and top not in sys.stdlib_module_names:
            foreign.append(f"line {line}: {name}")
    assert not foreign


def test_reading_a_tree_loads_no_parser() -> None:
    """`agentl.language.nodes` can be imported without lark (DESIGN, trusted base)."""
    spec = importlib.util.find_spec("agentl.language.nodes")
    assert spec is not None
    assert spec.origin is not None
    tops = {name.split(".")[0] for _, name in imported(Path(spec.origin))}
    assert "lark" not in tops
    init = PACKAGE / "language" / "__init__.py"
    if init.exists():
        assert not [name for _, name in imported(init)]
