"""The matrix for people and for machines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.trace_matrix.matrix import Matrix, Row
from tools.trace_matrix.problems import KINDS


def summary(matrix: Matrix) -> Iterator[str]:
    """The counts of each chapter and, below, what is wrong."""
    columns = ("clauses", "model", "contract", "code", "test")
    yield f"{'chapter':10}" + "".join(f"{name:>10}" for name in columns)
    for chapter in matrix.chapters:
        counts = matrix.counts(chapter.name)
        yield f"{chapter.name:10}" + "".join(f"{counts[name]:>10}" for name in columns)
    counts = matrix.counts()
    yield f"{'all':10}" + "".join(f"{counts[name]:>10}" for name in columns)
    protocol = [action for action in matrix.actions if not action.operator.environment]
    yield (
        f"{len(protocol)} actions of the protocol, {len(matrix.actions) - len(protocol)} of the environment; "
        f"{counts['excused']} clauses say themselves why they have no code or no test"
    )
    for kind, title in KINDS.items():
        found = [problem for problem in matrix.problems if problem.kind == kind]
        if found:
            yield ""
            yield f"✗ {len(found)} {title}"
            yield from (f"  {problem.place}  {problem.text}" for problem in found)
    yield ""
    yield f"✗ {len(matrix.problems)} problems" if matrix.problems else "✓ no holes"


def table(matrix: Matrix, only: str = "") -> Iterator[str]:
    """Each clause with what cites it; ``only`` keeps the ids that begin with it."""
    for row in matrix.rows.values():
        if not row.clause.id.startswith(only):
            continue
        yield f"{row.clause.id} · {row.clause.name}   {row.clause.file}:{row.clause.line}"
        for title, cells in _cells(row):
            for number, cell in enumerate(cells):
                yield f"  {title if number == 0 else '':9} {cell}"


def _cells(row: Row) -> Iterator[tuple[str, list[str]]]:
    clause = row.clause.id
    yield "model", [f"{one.module}!{one.name}  {one.file}:{one.cites[clause]}" for one in row.operators]
    yield (
        "contract",
        [f"{unit.name}: {one.kind} {one.action}  {unit.file}:{one.line}" for unit, one in row.contracts],
    )
    yield "code", [f"{unit.name}  {unit.file}:{unit.cites[clause]}" for unit in row.code]
    yield "tests", [f"{unit.name}  {unit.file}:{unit.cites[clause]}" for unit in row.tests]
    yield "excuse", [row.clause.excuse] if row.clause.excuse else []


def as_data(matrix: Matrix) -> dict[str, Any]:
    """The matrix as plain data, for ``--json``."""
    return {
        "counts": matrix.counts(),
        "chapters": {chapter.name: matrix.counts(chapter.name) for chapter in matrix.chapters},
        "clauses": [
            {
                "id": row.clause.id,
                "name": row.clause.name,
                "place": f"{row.clause.file}:{row.clause.line}",
                **{title: cells for title, cells in _cells(row) if cells},
            }
            for row in matrix.rows.values()
        ],
        "actions": [
            {
                "name": action.operator.name,
                "place": action.operator.place,
                "environment": action.operator.environment,
                "functions": [unit.place for unit in action.functions],
                "event": action.event,
            }
            for action in matrix.actions
        ],
        "problems": [problem._asdict() for problem in matrix.problems],
    }
