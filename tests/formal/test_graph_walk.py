"""Every transition of the model is executed on the real kernel and a real journal (R104, DUR-2, RES-6).

Both directions: the code does what the model allows, the model knows what the code does.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.graphs import exported
from tests.support.process import FileDisk, MemoryDisk, counting_syncs
from tests.support.walk import Walker

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "dev")
TWO = (
    "2a2c-plain",
    "2a2c-plain-idempotent",
    "2a2c-idempotent-reconcilable",
    "2a2c-reconcilable-plain",
    "2a2c-reading-both",
    "2a2c-plain-verdict",
    "2a2c-stricter",
    "2a2c-other-host",
)
THREE = ("3a2c-plain", "3a2c-idempotent-plain", "3a2c-reading-plain")[: None if PROFILE == "nightly" else 1]
WALKS = {"dev": 500, "ci": 500, "nightly": 5000}


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder for the journal, in memory where the system has such a place."""
    shared = Path("/dev/shm")
    made = Path(tempfile.mkdtemp(dir=shared if shared.is_dir() else None, prefix="agentl-walk-"))
    yield made
    shutil.rmtree(made)


def verdicts_of(name: str) -> int:
    return 1 if name.endswith("verdict") else 0


@pytest.mark.parametrize("name", TWO)
def test_every_edge_and_random_walks_on_files(name: str, folder: Path) -> None:
    """KRN-3, KRN-11, DUR-2, DUR-6, RES-5, RES-6, TOL-3, STO-5: two actions, two crashes, a journal in a file.

    Every edge once, and random walks: those reach a state by many roads, with what earlier crashes left.
    """
    export = exported(f"walk/{name}")
    assert len(export.graph.edges) == export.generated - export.initial, "edges read are the states generated"
    disk = FileDisk(folder / "run")
    with counting_syncs(disk):
        report = Walker(export.graph, disk, actions=2, verdicts=verdicts_of(name)).walk()
        assert not report.disagreements, "\n".join([report.line(), *report.disagreements])
        assert sum(report.taken.values()) == report.edges > 1000
        assert disk.syncs > 0
        wandered = Walker(export.graph, disk, actions=2).wander(
            WALKS.get(PROFILE, 500) // len(TWO) + 1, seed=11
        )
    assert not wandered.disagreements, "\n".join([wandered.line(), *wandered.disagreements])
    assert wandered.taken["Crash"] > 10
    assert wandered.taken["Resume"] > 10


@pytest.mark.skipif(PROFILE == "dev", reason="three actions are walked under the profiles ci and nightly")
@pytest.mark.parametrize("name", THREE)
def test_every_edge_of_three_actions_in_memory(name: str) -> None:
    """KRN-11, DUR-2, RES-6: three actions, two crashes, a journal in memory."""
    export = exported(f"walk/{name}")
    assert len(export.graph.edges) == export.generated - export.initial
    report = Walker(export.graph, MemoryDisk(), actions=3).walk()
    assert not report.disagreements, "\n".join([report.line(), *report.disagreements])
    assert sum(report.taken.values()) == report.edges > 20_000
