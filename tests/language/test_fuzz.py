"""Whatever the text, only errors of the package leave the parser (PER-1)."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentl.errors import AgentLError
from agentl.language.lexer import OPERATORS, RESERVED
from agentl.language.nodes import Program
from agentl.language.parser import parse_file, parse_source

SOURCES = [path.read_text() for path in sorted(Path(__file__).parent.joinpath("programs").glob("*.agent"))]
PIECES = st.sampled_from(
    [*sorted(RESERVED), *OPERATORS, "a", "b.c", "1", "2.5", "80%", "5s", '"s"', "CALL", "BY"]
)


def survives(text: str) -> None:
    refusal = None
    try:
        assert isinstance(parse_source(text), Program)
    except AgentLError as error:
        refusal = error
    if refusal is not None:
        assert refusal.code
        assert str(refusal)


@given(st.text(st.characters()))
@example("\ufeff\ufeff")
@example("AGENT \x00")
@example('AGENT "' + "\\" * 99)
def test_any_text(text: str) -> None:
    """`PER-1`."""
    survives(text)
    survives("AGENT a { " + text)


@given(st.binary())
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    """`PER-1`."""
    path = tmp_path_factory.getbasetemp() / "fuzz.agent"
    path.write_bytes(b"AGENT a { " + data)
    with suppress(AgentLError):
        parse_file(path)


@given(st.lists(PIECES, max_size=30))
def test_any_tokens(pieces: list[str]) -> None:
    """`PER-1`: well-formed tokens in any order."""
    survives("AGENT a { " + " ".join(pieces))
    survives("AGENT a { PLAN p { " + " ".join(pieces))
    survives("AGENT a { POLICY { " + " ".join(pieces))


@given(st.sampled_from(SOURCES), st.data())
def test_mutated_programs(source: str, data: st.DataObject) -> None:
    """`PER-1`: something cut out, something put in, of a program that parses."""
    start = data.draw(st.integers(0, len(source)))
    end = data.draw(st.integers(start, min(len(source), start + 40)))
    put = data.draw(st.one_of(st.just(""), PIECES, st.text(max_size=3)))
    survives(source[:start] + put + source[end:])


@pytest.mark.parametrize("source", SOURCES, ids=range(len(SOURCES)))
def test_programs_cut_anywhere(source: str) -> None:
    """`PER-1`: the beginning of a program is refused with its place."""
    for end in range(0, len(source), 97):
        survives(source[:end])
