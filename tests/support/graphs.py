"""State graphs of the models, exported by TLC when a test needs them, and kept for the rest of the session.

Where neither Java nor TLC is at hand, a test that needs them is skipped and says so. In continuous
integration (``CI`` is set) they are fetched, and their absence is a failure.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import pytest

from tests.support.tla import Graph, read_dot
from tools.formal_check.manifest import Run
from tools.formal_check.manifest import load as load_manifest
from tools.formal_check.obtain import EnvironmentFaultError, find_java, find_tlc
from tools.formal_check.tlc import Tlc, execute

ROOT = Path(__file__).resolve().parents[2]


@lru_cache(maxsize=1)
def tlc() -> Tlc:
    """TLC and the models; skips the test where it cannot be had."""
    required = "CI" in os.environ
    try:
        jar = find_tlc(ROOT / ".tools", fetch=required)
        return Tlc(find_java(ROOT / ".tools", fetch=required), jar.resolve(), ROOT / "formal")
    except EnvironmentFaultError as error:
        if required:
            raise
        pytest.skip(f"the model checker is not here: {error} (tools/check_formal.py fetches it)")


@lru_cache(maxsize=1)
def runs() -> dict[str, Run]:
    """The manifest, by name."""
    return {run.name: run for run in load_manifest(ROOT / "formal" / "manifest.toml")}


@dataclass(frozen=True)
class Export:
    """A graph, with what TLC said it had generated."""

    graph: Graph
    generated: int
    initial: int


@lru_cache(maxsize=2)
def exported(name: str) -> Export:
    """The graph of one model of the manifest."""
    return export(runs()[name])


def export(run: Run) -> Export:
    """The graph of a run."""
    with tempfile.TemporaryDirectory() as box:
        path = Path(box) / "graph.dot"
        # Three actions are explored faster with the second compiler, which the long tier uses.
        outcome = execute(tlc(), replace(run, limit=max(run.limit, 300)), graph=path)
        assert outcome.verdict == "ok", outcome.output[-2000:]
        return Export(read_dot(path), outcome.generated or 0, outcome.initial or 0)
