"""What most likely went wrong in a text that is no program, as a code and values for its message.

A hint is a guess beside the error, never instead of it: it changes neither what is refused nor where.
"""

from __future__ import annotations

import difflib
from typing import Any, Final, NamedTuple

from agentl.language.lexer import RESERVED, Lexeme

Hint = tuple[str, dict[str, Any]]

_CLOSERS: Final = {"{": "}", "(": ")", "[": "]", "CALL_PAREN": ")"}
_COMPARISONS: Final = frozenset({"==", "!=", ">", ">=", "<", "<="})
# Words that begin a part of an agent and nothing else: met inside a construct, they tell that the
# construct was never closed.
_SECTIONS: Final = frozenset(
    {"AGENT", "TOOL", "POLICY", "PLAN", "EVENT", "DECIDE", "HYPOTHESIS", "SCENARIO", "UTILITY", "BELIEF"}
    | {"GOAL", "MEMORY", "PLANNER"}
)
# Words that take one path, or several in braces.
_LISTS: Final = frozenset({"STORE", "USING", "SIDE_EFFECT", "INPUT", "EXPECT", "SHORT_TERM", "LONG_TERM"})
_UNITS: Final = frozenset({"ms", "s", "sec", "m", "min", "h", "d"})


class _Open(NamedTuple):
    lexeme: Lexeme
    construct: str


def of_token(lexemes: list[Lexeme], place: int, acceptable: frozenset[str]) -> Hint | None:
    """The hint for a token that cannot stand at ``place``.

    Args:
        lexemes: the whole source.
        place: the index of the token.
        acceptable: the terminals that could stand there.
    """
    found = lexemes[place]
    opened = _opened(lexemes, place)
    if found.type == "EOF":
        return _still_open(opened)
    if found.type in {"}", ")", "]"}:
        return _closing(found, opened)
    guess = _word(lexemes, place, acceptable) or _operator(lexemes, place, acceptable)
    return guess or _section(found, opened)


def of_no_agent(lexemes: list[Lexeme]) -> Hint | None:
    """The hint for a source without AGENT: perhaps the word is there in small letters."""
    word = next((one for one in lexemes if one.type == "IDENT" and one.text.upper() == "AGENT"), None)
    return _capitals(word) if word is not None else None


def _closing(found: Lexeme, opened: list[_Open]) -> Hint | None:
    if not opened:
        return "parse.hint.surplus", {}
    if _CLOSERS[opened[-1].lexeme.type] != found.type:
        return "parse.hint.crossed", _named(opened[-1])
    return None


def _word(lexemes: list[Lexeme], place: int, acceptable: frozenset[str]) -> Hint | None:
    found = lexemes[place]
    before = lexemes[place - 1] if place else found
    if found.type == "IDENT":
        if found.text in _UNITS and before.type == "NUM":
            return "parse.hint.unit", {}
        if found.text.upper() in acceptable:
            return _capitals(found)
        wanted = sorted(acceptable & RESERVED)
        near = difflib.get_close_matches(found.text.upper(), wanted, n=1, cutoff=0.75)
        if near and len(wanted) < 100:
            return "parse.hint.close", {"keyword": near[0]}
    if found.type == "NUM" and lexemes[place + 1].text in _UNITS and "DUR" in acceptable:
        return "parse.hint.unit", {}
    taker = _list_without_braces(lexemes, place)
    if taker:
        return "parse.hint.braces", {"keyword": taker}
    if found.type == "ON" and "SET" in acceptable:
        return "parse.hint.on_fail", {}
    if found.type == "UNTIL" and before.type == "NUM":
        return "parse.hint.loop", {}
    lower = _lower_keyword(lexemes, place)
    if lower is not None:
        return _capitals(lower)
    reserved = found.type in RESERVED - _SECTIONS
    if reserved and ("IDENT" in acceptable or lexemes[place + 1].type in {":", "="}):
        return "parse.hint.reserved", {"word": found.text, "lower": found.text.lower()}
    return None


def _list_without_braces(lexemes: list[Lexeme], place: int) -> str:
    """The keyword before a list of paths that lacks its braces (``STORE a.b, c.d``), if it is one."""
    if lexemes[place].type != "IDENT" or place == 0 or lexemes[place - 1].type != ",":
        return ""
    before = place - 2
    while before > 0 and lexemes[before].type in {"IDENT", ".", ",", "=", ":"}:
        before -= 1
    return lexemes[before].type if lexemes[before].type in _LISTS else ""


def _capitals(word: Lexeme) -> Hint:
    return "parse.hint.capitals", {"word": word.text, "keyword": word.text.upper()}


def _lower_keyword(lexemes: list[Lexeme], place: int) -> Lexeme | None:
    """A word on the same line, just before, that was probably meant as a keyword (``if x == 1``)."""
    line = lexemes[place].line
    for before in range(place - 1, max(place - 8, -1), -1):
        one = lexemes[before]
        if one.line != line or one.type in {"{", "}"}:
            return None
        after_dot = before > 0 and lexemes[before - 1].type == "."
        part_of_name = after_dot or lexemes[before + 1].type in {".", "(", "CALL_PAREN", ":", "=", ","}
        if one.type == "IDENT" and one.text.upper() in RESERVED and not part_of_name:
            return one
    return None


def _operator(lexemes: list[Lexeme], place: int, acceptable: frozenset[str]) -> Hint | None:
    found = lexemes[place]
    if found.type == "=" and "==" in acceptable:
        return "parse.hint.equals", {}
    if found.type == ">" and lexemes[place - 1].type == "<":
        return "lex.hint.not", {}
    if found.type in _COMPARISONS and "AND" in acceptable:
        return "parse.hint.chained", {}
    if found.type == "{" and "THEN" in acceptable:
        return "parse.hint.then", {}
    return None


def _section(found: Lexeme, opened: list[_Open]) -> Hint | None:
    """The beginning of a section, or what no list of values holds, inside something that is open."""
    if found.type in _SECTIONS and (len(opened) > 1 or found.type == "AGENT"):
        return _still_open(opened)
    if opened and found.type in {"{", "STEP"} and opened[-1].lexeme.type != "{":
        return "parse.hint.crossed", _named(opened[-1])
    return None


def _still_open(opened: list[_Open]) -> Hint | None:
    return ("parse.hint.open", _named(opened[-1])) if opened else None


def _named(opened: _Open) -> dict[str, Any]:
    brace = opened.lexeme
    return {
        "opener": brace.text,
        "closer": _CLOSERS[brace.type],
        "open_line": brace.line,
        "open_column": brace.col,
        "construct": opened.construct,
    }


def _opened(lexemes: list[Lexeme], place: int) -> list[_Open]:
    """The brackets that are open at ``place``, outermost first."""
    opened: list[_Open] = []
    head: list[str] = []
    for one in lexemes[:place]:
        if one.type in _CLOSERS:
            opened.append(_Open(one, " ".join(head[-2:]) or one.text))
            head = []
        elif one.type in {"}", ")", "]"}:
            if opened and _CLOSERS[opened[-1].lexeme.type] == one.type:
                opened.pop()
            head = []
        elif one.type in RESERVED:
            head = [one.text]
        elif head:
            head.append(one.text)
    return opened
