"""For each mutant of the model a mutant of the code, and the walk of the graph catches it (R104).

The graph is that of the unmutated model, with the constants of the mutant's own run. The same walk of the
unmutated code finds nothing, so what is found is the mutant.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import pytest

from tests.support.graphs import Export, export, runs
from tests.support.mutants import CODE
from tests.support.process import FileDisk, counting_syncs
from tests.support.walk import Report, Walker
from tools.formal_check.manifest import Run


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder for the journal, in memory where the system has such a place."""
    shared = Path("/dev/shm")
    made = Path(tempfile.mkdtemp(dir=shared if shared.is_dir() else None, prefix="agentl-twin-"))
    yield made
    shutil.rmtree(made)


def unmutated(run: Run) -> Run:
    """The model that a mutant changes, as a graph to walk."""
    return replace(
        run, name="walk", kind="graph", module="MCKernel", swaps={}, invariants=("TypeOK",), properties=(),
        specification="Spec", constraint="", expect="ok",
    )  # fmt: skip


@lru_cache(maxsize=16)
def graph_of(constants: tuple[tuple[str, str], ...], name: str) -> Export:
    return export(unmutated(runs()[name]))


CACHE: dict[tuple[tuple[str, str], ...], str] = {}


def walked(name: str, folder: Path, limit: int) -> Report:
    run = runs()[f"mutant/{name}"]
    constants = tuple(sorted(run.constants.items()))
    graph = graph_of(constants, CACHE.setdefault(constants, run.name)).graph
    disk = FileDisk(folder / "run")
    walker = Walker(
        graph,
        disk,
        actions={"<- One": 1, "<- Two": 2}[run.constants["Action"]],
        attempts=int(run.constants["MaxAttempts"]),
        verdicts=int(run.constants["MaxVerdict"]),
    )
    walker.limit = limit
    with counting_syncs(disk):
        return walker.walk()


def kernel_mutants() -> list[str]:
    return [
        run.name.removeprefix("mutant/")
        for run in runs().values()
        if run.kind == "mutant" and run.base == "kernel"
    ]


def test_every_mutant_of_the_kernel_model_has_a_twin() -> None:
    """R104: none is left out, and none is without a model."""
    assert sorted(CODE) == sorted(kernel_mutants())


@pytest.mark.parametrize("name", kernel_mutants())
def test_the_graph_walk_catches_the_twin(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """KRN-3, KRN-11, DUR-6, RES-5, RES-6, RES-9, TOL-3: the code's mutant is found, the code is not."""
    sound = walked(name, folder, 1)
    assert not sound.disagreements, sound.disagreements
    CODE[name](monkeypatch)
    report = walked(name, folder, 1)
    assert report.disagreements, f"{name} walks like the model: {report.line()}"
