"""The names that programs import, spelled out: what is missing or moved breaks somebody (API-1 to API-10)."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import agentl
from agentl import Symbol, parse_file, parse_source
from agentl.values import fmt
from tests.support.running import start

SPEC = Path(__file__).resolve().parent.parent / "spec" / "cli.md"


def words_of(clause: str) -> str:
    """The words of one clause of the chapter on public names."""
    text = SPEC.read_text(encoding="utf-8")
    after = text.split(f"### {clause} ", 1)[1].split("\n", 1)[1]
    return after.split("\n### ", 1)[0]


def listed(clause: str, number: int = 0) -> list[str]:
    """The names in the longest piece of code of a clause: that is where they are listed."""
    pieces = sorted((piece.split() for piece in words_of(clause).split("`")[1::2]), key=len, reverse=True)
    return pieces[number]


@pytest.mark.parametrize(
    ("clause", "module", "least"),
    [("API-8", "agentl.kernel", 29), ("API-10", "agentl.replay", 15)],
)
def test_a_package_has_the_names_that_the_specification_lists(clause: str, module: str, least: int) -> None:
    """`API-8`, `API-10`: every one of them, and all of them declared public."""
    names = listed(clause)
    assert len(names) >= least
    package = importlib.import_module(module)
    assert [name for name in names if not hasattr(package, name)] == []
    assert set(names) <= set(package.__all__)


def test_seal_has_its_functions_and_its_error() -> None:
    """`API-10`: those of the chain, those of the signature."""
    seal = importlib.import_module("agentl.seal")
    for name in ("chain_hashes", "chain_head", "verify_chain", "sign_meta", "verify_signature", "SealError"):
        assert name in seal.__all__
        assert hasattr(seal, name)


def test_parsing_gives_a_program(tmp_path: Path) -> None:
    """`API-2`: from a text under a name of one's own, and from a file."""
    text = "AGENT GARDEN { GOAL { soil.moisture > 30 } }"
    path = tmp_path / "garden.agent"
    path.write_text(text, encoding="utf-8")
    assert [one.name for one in parse_source(text).agents] == ["GARDEN"]
    assert [one.name for one in parse_file(str(path)).agents] == ["GARDEN"]
    with pytest.raises(agentl.ParseError, match="here"):
        parse_source("AGENT {", filename="here")
    with pytest.raises(agentl.ParseError, match="<source>"):
        parse_source("AGENT {")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.5"),
        (1e20, "1e+20"),
        (1 / 3, "0.333333"),
        ([Symbol("on"), 2.0], "[on, 2]"),
        (Symbol("on"), "on"),
    ],
)
def test_values_print_as_in_the_trace(value: object, text: str) -> None:
    """`API-2`: floats in %g, lists in brackets, symbols bare."""
    assert fmt(value) == text


def test_every_metric_is_there_from_the_start() -> None:
    """`API-4`: exactly the listed names, whole numbers, before the first tick."""
    names = listed("API-4")
    assert len(names) > 20
    runtime = start("GOAL { soil.moisture > 30 }")
    assert set(runtime.metrics) == set(names)
    assert all(type(number) is int for number in runtime.metrics.values())
    assert not any(runtime.metrics.values())
