"""Python files: which function, class or module cites which clause, and which contract mirrors it."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tools.trace_matrix.citations import cited

_EXAMPLE = re.compile(r"clause\([^)]*\)")
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Contract:
    """One ``require`` or ``ensure``: the clause that it mirrors and the action of the model."""

    kind: str
    clause: str
    action: str
    line: int


@dataclass
class Unit:
    """A module, class or function: where it stands and what it cites.

    ``cites`` maps an id to the line of its first citation. ``first`` and ``last`` are the lines of its
    source, decorators and a comment right above included.
    """

    file: str
    name: str
    kind: str
    first: int
    last: int
    source: str
    test: bool = False
    cites: dict[str, int] = field(default_factory=dict)
    contracts: list[Contract] = field(default_factory=list)

    @property
    def place(self) -> str:
        """The file and the line, as editors read it."""
        return f"{self.file}:{self.first}"


def read_python(path: Path, root: Path) -> list[Unit]:
    """The units of one file that cite a clause or carry a contract, in order of their lines."""
    text = path.read_text(encoding="utf-8")
    file = path.relative_to(root).as_posix()
    reader = _Reader(file, text, ast.parse(text, filename=file))
    return [unit for unit in reader.read() if unit.cites or unit.contracts]


class _Reader:
    def __init__(self, file: str, text: str, tree: ast.Module) -> None:
        self.file = file
        self.lines = text.splitlines()
        self.tree = tree
        self.comments = dict(_comments(text))
        self.module = Unit(file, _module_name(file), "module", 1, 1, "", _is_test_file(file))
        self.units: list[tuple[ast.Module | Definition, Unit]] = [(tree, self.module)]

    def read(self) -> list[Unit]:
        self._collect(self.tree, "", 0)
        for node, unit in self.units:
            self._docstring(node, unit)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for decorator in node.decorator_list:
                    self._contract(decorator, unit)
        for line, comment in self.comments.items():
            unit = self._innermost(line)
            for one in cited(comment):
                unit.cites.setdefault(one, line)
        self._attribute_strings()
        self._module_source()
        return [unit for _, unit in sorted(self.units, key=lambda pair: pair[1].first)]

    def _collect(self, parent: ast.AST, prefix: str, depth: int) -> None:
        # Only what an auditor would look up by name: methods and nested classes, but no local function.
        for node in ast.iter_child_nodes(parent):
            if isinstance(node, ast.If | ast.Try):
                self._collect(node, prefix, depth)
            if not isinstance(node, Definition):
                continue
            name = f"{prefix}{node.name}"
            kind = "class" if isinstance(node, ast.ClassDef) else "function"
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            while first - 1 in self.comments and self.lines[first - 2].lstrip().startswith("#"):
                first -= 1
            last = node.end_lineno or node.lineno
            source = "\n".join(self.lines[first - 1 : last])
            test = _is_test_file(self.file) and _is_test(node)
            self.units.append((node, Unit(self.file, name, kind, first, last, source, test)))
            if kind == "class":
                self._collect(node, f"{name}.", depth + 1)

    def _docstring(self, node: ast.Module | Definition, unit: Unit) -> None:
        if ast.get_docstring(node, clean=False) is None:
            return
        first = node.body[0]
        # An example of a contract in a text is not one.
        lines = [_EXAMPLE.sub("", line) for line in self.lines[first.lineno - 1 : first.end_lineno]]
        for offset, line in enumerate(lines, first.lineno):
            for one in cited(line):
                unit.cites.setdefault(one, offset)
        # A range may be broken over two lines.
        text = "\n".join(lines)
        for one in cited(" ".join(text.split())):
            unit.cites.setdefault(one, first.lineno)

    def _attribute_strings(self) -> None:
        """The text below a name, which documents it as a docstring documents a function."""
        for parent, unit in self.units:
            for before, node in zip(parent.body, parent.body[1:], strict=False):
                if isinstance(before, ast.Assign | ast.AnnAssign) and _is_text(node):
                    for one in cited(" ".join(self.lines[node.lineno - 1 : node.end_lineno])):
                        unit.cites.setdefault(one, node.lineno)

    def _contract(self, decorator: ast.expr, unit: Unit) -> None:
        if not isinstance(decorator, ast.Call) or not isinstance(decorator.func, ast.Name):
            return
        kind = decorator.func.id
        for keyword in decorator.keywords if kind in ("require", "ensure") else ():
            call = keyword.value
            if keyword.arg == "error" and isinstance(call, ast.Call):
                words = [one.value for one in call.args if isinstance(one, ast.Constant)]
                if len(words) == 2:
                    unit.contracts.append(Contract(kind, str(words[0]), str(words[1]), call.lineno))
                    unit.cites.setdefault(str(words[0]), call.lineno)

    def _innermost(self, line: int) -> Unit:
        around = [unit for _, unit in self.units[1:] if unit.first <= line <= unit.last]
        return min(around, key=lambda unit: unit.last - unit.first, default=self.module)

    def _module_source(self) -> None:
        if ast.get_docstring(self.tree) is not None:
            self.module.last = self.tree.body[0].end_lineno or 1
        shown = list(range(1, self.module.last + 1 if ast.get_docstring(self.tree) is not None else 1))
        # Comments and texts outside of any function, each with the statement that follows it.
        for line in sorted(set(self.module.cites.values())):
            if line not in shown:
                shown += [0, *(near for near in range(line, min(line + 4, len(self.lines) + 1)))]
        self.module.source = "\n".join("…" if line == 0 else self.lines[line - 1] for line in shown)


def _comments(text: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def _is_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _is_test_file(file: str) -> bool:
    return file.startswith("tests/") and file.rsplit("/", 1)[-1].startswith("test_")


def _is_test(node: Definition) -> bool:
    if isinstance(node, ast.ClassDef):
        # A state machine of hypothesis, or a class of tests.
        bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
        return node.name.startswith("Test") or "RuleBasedStateMachine" in bases
    named = {_last_name(decorator) for decorator in node.decorator_list}
    return node.name.startswith("test_") or bool(named & {"rule", "invariant", "initialize", "precondition"})


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        return _last_name(node.func)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _module_name(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
