"""Judge the runs: expected verdict, sizes, actions never taken, and whether a mutant changed anything."""

from __future__ import annotations

import fnmatch
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from tools.formal_check.graph import Graph, added, load
from tools.formal_check.manifest import COUNTED, Run
from tools.formal_check.tlc import Outcome, Tlc, execute

WITH_COVERAGE: Final = ("safety",)


@dataclass(frozen=True)
class Report:
    """One run, what it said, and why that is not what was expected (empty when it is)."""

    run: Run
    outcome: Outcome
    problems: tuple[str, ...]
    added_edges: int | None = None

    @property
    def passed(self) -> bool:
        """The run ended as the manifest says."""
        return not self.problems


def select(runs: Iterable[Run], pattern: str | None, *, long: bool) -> list[Run]:
    """The runs whose name matches ``pattern`` (all of the default tier without one)."""
    if pattern is None:
        return [run for run in runs if long or run.tier == "default"]
    return [run for run in runs if fnmatch.fnmatchcase(run.name, pattern)]


def problems_of(run: Run, outcome: Outcome, *, edges: int | None, added_edges: int | None) -> tuple[str, ...]:
    """Everything about this outcome that is not as the manifest says."""
    found: list[str] = []
    if outcome.verdict != run.expect:
        found.append(f"expected {run.expect}, found {outcome.verdict}")
        return tuple(found)
    if run.kind in COUNTED:
        for what, wanted, seen in (
            ("distinct states", run.distinct, outcome.distinct),
            ("generated states", run.generated, outcome.generated),
            ("depth", run.depth, outcome.depth),
        ):
            if wanted is None:
                found.append(f"the manifest does not say how many {what}: found {seen}")
            elif wanted != seen:
                found.append(f"{what}: expected {wanted}, found {seen}")
    elif run.expect == "ok" and not outcome.distinct:
        found.append("no state was explored")
    if run.kind in WITH_COVERAGE:
        found += _coverage_problems(run, outcome)
    if run.kind == "graph":
        wanted_edges = (outcome.generated or 0) - (outcome.initial or 0)
        if edges != wanted_edges:
            found.append(f"edges read: {edges}, states generated beyond the initial ones: {wanted_edges}")
    if run.kind == "mutant" and run.swaps and not run.pure and not added_edges:
        found.append("the mutant adds no edge to the graph, so it is the model itself")
    return tuple(found)


def _coverage_problems(run: Run, outcome: Outcome) -> list[str]:
    actions = {name: times for name, times in outcome.taken.items() if name != run.init}
    if not actions:
        return ["no coverage was reported"]
    never = sorted(name for name, times in actions.items() if times == 0 and name not in run.unused)
    revived = sorted(name for name in run.unused if actions.get(name, 0) > 0)
    found = [f"action {name} is never taken" for name in never]
    return found + [f"action {name} is taken, though marked unused" for name in revived]


class Checker:
    """Runs the selected models in parallel; graphs of unmutated models are made once and shared."""

    def __init__(self, tlc: Tlc, jobs: int) -> None:
        self._tlc = tlc
        self._pool = ThreadPoolExecutor(jobs)
        self._bases: dict[tuple[str, ...], Future[Graph]] = {}

    def close(self) -> None:
        """Wait for nothing more."""
        self._pool.shutdown(cancel_futures=True)

    def _base_key(self, run: Run) -> tuple[str, ...]:
        return (
            run.module,
            run.specification,
            run.constraint,
            *(f"{k} {v}" for k, v in run.constants.items()),
        )

    def _base_graph(self, run: Run) -> Graph:
        base = replace(run, swaps={}, expect="ok")
        if base.properties:
            base = replace(base, properties=(), invariants=("TypeOK",), specification="Spec")
        with tempfile.TemporaryDirectory() as box:
            path = Path(box) / "base.dot"
            execute(self._tlc, base, graph=path)
            return load(path) if path.exists() else Graph({}, [])

    def _one(self, run: Run, base: Future[Graph] | None) -> Report:
        wants_graph = run.kind == "graph" or base is not None
        with tempfile.TemporaryDirectory() as box:
            path = Path(box) / "graph.dot"
            outcome = execute(
                self._tlc, run, graph=path if wants_graph else None, coverage=run.kind in WITH_COVERAGE
            )
            graph = load(path) if path.exists() else None
        added_edges = added(base.result(), graph) if base is not None and graph is not None else None
        edges = len(graph.edges) if graph is not None else None
        return Report(
            run, outcome, problems_of(run, outcome, edges=edges, added_edges=added_edges), added_edges
        )

    def check(self, runs: list[Run], tell: Callable[[Report, int, int], None]) -> list[Report]:
        """Run all of ``runs``, the largest first; ``tell`` hears of each as it ends. Order is kept."""
        mutants = [run for run in runs if run.kind == "mutant" and not run.pure and run.swaps]
        for run in mutants:
            key = self._base_key(run)
            if key not in self._bases:
                self._bases[key] = self._pool.submit(self._base_graph, run)
        order = sorted(runs, key=lambda run: (run.kind == "mutant", -(run.distinct or 0)))
        waiting = {
            self._pool.submit(
                self._one, run, self._bases.get(self._base_key(run)) if run in mutants else None
            ): run
            for run in order
        }
        reports: dict[str, Report] = {}
        for done in as_completed(waiting):
            report = done.result()
            reports[report.run.name] = report
            tell(report, len(reports), len(runs))
        return [reports[run.name] for run in runs]

    def cells(
        self,
        mutants: list[Run],
        clauses: dict[str, dict[str, Run]],
        limit: int,
        tell: Callable[[int, int], None],
    ) -> dict[tuple[str, str], str]:
        """The kill matrix: each mutant against each clause of its base; the verdict of each cell.

        ``clauses`` gives per base and clause a run that checks it: liveness needs that run's fairness.
        """
        jobs: dict[Future[Outcome], tuple[str, str]] = {}
        for run in mutants:
            for clause, home in clauses[run.base].items():
                is_property = clause in home.properties
                cell = replace(
                    run,
                    invariants=() if is_property else (clause,),
                    properties=(clause,) if is_property else (),
                    expect=clause,
                    limit=limit,
                    specification=home.specification,
                    constraint="" if home.kind == "liveness" else run.constraint,
                )
                jobs[self._pool.submit(execute, self._tlc, cell)] = (run.name, clause)
        table: dict[tuple[str, str], str] = {}
        for done in as_completed(jobs):
            table[jobs[done]] = done.result().verdict
            tell(len(table), len(jobs))
        return table
