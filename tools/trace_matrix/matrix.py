"""The matrix: each clause with its operators of the model, its contracts, its code and its tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tools.trace_matrix.clauses import Chapter, Clause, read_spec
from tools.trace_matrix.names import Action, actions, check_names
from tools.trace_matrix.problems import Problem
from tools.trace_matrix.python_source import Contract, Unit, read_python
from tools.trace_matrix.text_source import prose, read_grammar
from tools.trace_matrix.tla import Module, Operator, read_models


@dataclass
class Row:
    """One clause and all that cites it."""

    clause: Clause
    operators: list[Operator] = field(default_factory=list)
    contracts: list[tuple[Unit, Contract]] = field(default_factory=list)
    code: list[Unit] = field(default_factory=list)
    tests: list[Unit] = field(default_factory=list)


@dataclass
class Matrix:
    """The whole of it, in the order of the specification."""

    root: Path
    chapters: tuple[Chapter, ...]
    rows: dict[str, Row]
    models: dict[str, Module]
    code: list[Unit]
    tests: list[Unit]
    actions: list[Action]
    problems: list[Problem]

    def counts(self, chapter: str | None = None) -> dict[str, int]:
        """How many clauses there are, and how many have what; of one chapter, or of all."""
        rows = [row for row in self.rows.values() if chapter in (None, row.clause.chapter)]
        return {
            "clauses": len(rows),
            "model": sum(bool(row.operators) for row in rows),
            "contract": sum(bool(row.contracts) for row in rows),
            "code": sum(bool(row.code) for row in rows),
            "test": sum(bool(row.tests) for row in rows),
            "excused": sum(bool(row.clause.excuse) for row in rows),
        }


def build(root: Path) -> Matrix:
    """Read everything below ``root`` (spec/, formal/, agentl/, tests/, docs/) and find what is wrong."""
    chapters = read_spec(root)
    models = read_models(root)
    code = [unit for path in _sources(root, "agentl") for unit in read_python(path, root)]
    code += [unit for path in sorted((root / "agentl").rglob("*.lark")) for unit in read_grammar(path, root)]
    read = [unit for path in _sources(root, "tests") for unit in read_python(path, root)]
    tests = [unit for unit in read if unit.test]
    clauses = [clause for chapter in chapters for clause in chapter.clauses]
    rows: dict[str, Row] = {}
    problems: list[Problem] = []
    for clause in clauses:
        if clause.id in rows:
            other = rows[clause.id].clause
            text = f"{clause.id} is defined twice: also {other.file}:{other.line}"
            problems.append(Problem("twice", f"{clause.file}:{clause.line}", text))
        rows.setdefault(clause.id, Row(clause))
    _fill(rows, models, code, tests)
    problems += _undefined(rows, [*code, *read], root)
    problems += _holes(rows.values())
    steps = actions(models, code, root)
    problems += check_names(models, code, root)
    return Matrix(root, chapters, rows, models, code, tests, steps, problems)


def _sources(root: Path, folder: str) -> list[Path]:
    return sorted((root / folder).rglob("*.py"))


def _fill(rows: dict[str, Row], models: dict[str, Module], code: list[Unit], tests: list[Unit]) -> None:
    for module in models.values():
        for operator in module.operators:
            for one in operator.cites:
                if one in rows:
                    rows[one].operators.append(operator)
    for unit in code:
        for one in unit.cites:
            if one in rows:
                rows[one].code.append(unit)
        for contract in unit.contracts:
            if contract.clause in rows:
                rows[contract.clause].contracts.append((unit, contract))
    for unit in tests:
        for one in unit.cites:
            if one in rows:
                rows[one].tests.append(unit)


def _undefined(rows: dict[str, Row], units: Iterable[Unit], root: Path) -> Iterator[Problem]:
    places = [(unit.file, line, one) for unit in units for one, line in unit.cites.items()]
    for file, line, one in sorted({*places, *prose(root)}):
        if one not in rows:
            yield Problem("undefined", f"{file}:{line}", f"{one} is cited, and no chapter defines it")


def _holes(rows: Iterable[Row]) -> Iterator[Problem]:
    for row in rows:
        clause = row.clause
        place = f"{clause.file}:{clause.line}"
        missing = [word for word, found in (("code", row.code), ("test", row.tests)) if not found]
        if clause.excuse:
            if not missing:
                text = f"{clause.id} says why it has no code or test ({clause.excuse}), but it has both"
                yield Problem("excuse", place, text)
            continue
        for word in missing:
            yield Problem(f"no {word}", place, f"{clause.id} · {clause.name} has no {word}")
