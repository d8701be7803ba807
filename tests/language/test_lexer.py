"""Lexis: LEX-1 to LEX-13."""

from __future__ import annotations

from typing import Any

import pytest

from agentl.errors import LexError
from agentl.language.lexer import MAX_NUMBER_DIGITS, PHASES, RESERVED, Token, tokenize


def shown(text: str) -> list[tuple[str, Any]]:
    return [(token.kind, token.value) for token in tokenize(text)[:-1]]


def test_a_token_has_kind_value_line_and_column() -> None:
    """`LEX-13`: lines and columns start at 1; EOF carries the last line, column 1."""
    assert tokenize("AGENT x\n  {") == [
        Token("KW", "AGENT", 1, 1),
        Token("IDENT", "x", 1, 7),
        Token("OP", "{", 2, 3),
        Token("EOF", "", 2, 1),
    ]
    assert tuple(tokenize("a")[0]) == ("IDENT", "a", 1, 1)
    assert tokenize("") == [Token("EOF", "", 1, 1)]


def test_white_space_and_comments_only_separate() -> None:
    """`LEX-1`, `LEX-2`."""
    assert shown("a\tb\rc\r\nd") == shown("a b c d")
    assert shown("a # x\n b // y\n c /* z\n /* */ d") == shown("a b c d")
    assert [token.line for token in tokenize("/* 1\n2 */ a\n# x\nb")] == [2, 4, 4]


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        ("a\n  /* b", "lex.comment", 2, 3),
        ('a\n "b', "lex.string", 2, 2),
        ('"a\\\nb"', "lex.string", 1, 1),
        ('"a\\\r\nb"', "lex.string", 1, 1),
        ("a é", "lex.character", 1, 3),
        ("a\n\x00", "lex.character", 2, 1),
        ("a ; b", "lex.character", 1, 3),
        ("'a'", "lex.character", 1, 1),
        ("5é", "lex.character", 1, 2),
        ("9" * (MAX_NUMBER_DIGITS + 1), "lex.number", 1, 1),
    ],
)
def test_what_is_no_token(text: str, code: str, line: int, column: int) -> None:
    """`LEX-2`, `LEX-6`, `LEX-12`: refused with its place."""
    with pytest.raises(LexError) as caught:
        tokenize(text)
    error = caught.value
    assert (error.code, error.line, error.column) == (code, line, column)
    assert str(line) in str(error)
    assert str(column) in str(error)


def test_a_refused_character_is_shown_as_python_shows_it() -> None:
    """`LEX-12`."""
    with pytest.raises(LexError, match=r"'\\x00'"):
        tokenize("\x00")


def test_keywords_are_reserved_words_in_capitals() -> None:
    """`LEX-3`, `LEX-4`: any other word is an identifier, capital letters included."""
    for word in RESERVED:
        assert shown(word) == [("KW", word)]
        assert shown(word.lower()) == [("IDENT", word.lower())]
    for word in ("HIGH", "CALL", "CRITICAL", "P", "BY", "START", "len", "_x1", "Agent", "NO", "ERROR"):
        assert shown(word) == [("IDENT", word)]


def test_phase_words_are_reserved() -> None:
    """`LEX-5`."""
    assert set(PHASES) <= RESERVED
    assert len(PHASES) == 12


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'"a\n\t\r\"\\b"', 'a\n\t\r"\\b'),
        (r'"a\qb"', r"a\qb"),
        ('"a\nb"', "a\nb"),
        ('""', ""),
        ('"# no comment"', "# no comment"),
    ],
)
def test_strings(text: str, value: str) -> None:
    """`LEX-6`: escapes, raw line ends, and an unknown escape keeps its backslash."""
    assert shown(text) == [("STR", value)]


def test_lines_and_columns_go_on_after_a_string_over_lines() -> None:
    """`LEX-6`: the token two characters after a closing `b"` has column 4 on the second line."""
    assert tokenize('"a\nb" c')[1] == Token("IDENT", "c", 2, 4)


@pytest.mark.parametrize("text", ["2024-05-01", "2024-05-01T10:20", "2024-05-01T10:20:30"])
def test_date_times(text: str) -> None:
    """`LEX-7`: tried before numbers."""
    assert shown(text) == [("DATETIME", text)]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("12", [("NUM", 12)]),
        ("1.50", [("NUM", 1.5)]),
        ("-3", [("OP", "-"), ("NUM", 3)]),
        ("1e5", [("NUM", 1), ("IDENT", "e5")]),
        ("3.", [("NUM", 3), ("OP", ".")]),
        ("80%", [("PCT", 0.8)]),
        ("12.5%", [("PCT", 0.125)]),
        ("250ms", [("DUR", 0.25)]),
        ("5s", [("DUR", 5.0)]),
        ("5sec", [("DUR", 5.0)]),
        ("2m", [("DUR", 120.0)]),
        ("2min", [("DUR", 120.0)]),
        ("1.5h", [("DUR", 5400.0)]),
        ("1d", [("DUR", 86400.0)]),
        ("5minutes", [("NUM", 5), ("IDENT", "minutes")]),
        ("5s_", [("NUM", 5), ("IDENT", "s_")]),
    ],
)
def test_numbers(text: str, tokens: list[tuple[str, Any]]) -> None:
    """`LEX-8`, `LEX-9`, `LEX-10`."""
    found = shown(text)
    assert found == tokens
    assert [type(value) for _, value in found] == [type(value) for _, value in tokens]


def test_operators_take_the_longest_match() -> None:
    """`LEX-11`."""
    text = "== != >= <= -> => { } ( ) [ ] , : . = > < + - * /"
    assert shown(text) == [("OP", one) for one in text.split()]
    assert shown("a>=b->c=>d") == shown("a >= b -> c => d")
    assert shown("a===b") == shown("a == = b")
