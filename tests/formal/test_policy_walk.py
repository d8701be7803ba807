"""Every rule set of the policy's model on the real kernel, and its mutants planted in the code (POL-2)."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import pytest

from tests.support.graphs import export, runs
from tests.support.policy_mutants import TWINS
from tests.support.policy_walk import disagreements
from tests.support.tla import Graph


@lru_cache(maxsize=1)
def graph() -> Graph:
    run = runs()["policy/all-rule-sets"]
    small = replace(run, kind="graph", constants={**run.constants, "MaxRules": "2"}, invariants=("TypeOK",))
    return export(small).graph


def test_every_rule_set_of_the_model() -> None:
    """POL-2, TRI-6, APR-1, APR-2, KRN-3, INV-2, INV-3: all rule sets of two rules, answers and raises."""
    found, ways = disagreements(graph())
    assert not found, found[:3]
    assert ways > 1500


def test_every_mutant_of_the_policy_model_has_a_twin() -> None:
    """R104: none is left out."""
    names = {
        run.name.removeprefix("mutant/")
        for run in runs().values()
        if run.kind == "mutant" and run.base == "policy"
    }
    assert set(TWINS) == names


@pytest.mark.parametrize("name", sorted(TWINS))
def test_the_walk_catches_the_twin(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """POL-2, TRI-6, APR-1, KRN-3: the code's mutant is found."""
    TWINS[name](monkeypatch)
    assert disagreements(graph())[0], f"{name} judges like the model"
