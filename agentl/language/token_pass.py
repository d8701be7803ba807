"""The small pass between lexer and grammar (`GRM-30`): one look at the neighbours of a token.

The language puts elements side by side without a separator, so a few tokens mean different things
by what stands next to them. The pass gives each of them a terminal of its own; after it the grammar
is LALR(1). It also refuses brackets that are nested too deep, before anything else sees them.

| terminal | is | when |
|---|---|---|
| ``SEND_COMMA`` | ``,`` | in a NEVER SEND list, before an identifier: the list goes on (`GRM-10`) |
| ``NOISE_CALL`` | ``CALL`` | directly before a path and ``(`` (`GRM-22`) |
| ``STAR_END`` | ``*`` | directly before ``}`` or ``)`` (`GRM-28`) |
| ``CALL_PAREN`` | ``(`` | directly after an identifier or a name after a dot: it opens a call (`GRM-26`) |
| ``SIGN`` | ``-`` | where no operand ends: it is a sign, not a subtraction (`GRM-24`) |
| ``VERIFY_PHASE`` | ``VERIFY`` | not before an expression or ``{``: it is the phase (`GRM-21`) |
| ``LABEL`` | a string | directly after a VERIFY that is a statement (`GRM-20`) |
| ``ON_UNKNOWN`` | ``ON`` | before UNKNOWN: it belongs to the observed path (`GRM-6`) |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from agentl.errors import ParseError
from agentl.language.lexer import OPERATORS, Lexeme, excerpt

MAX_NESTING: Final = 200
"""How deep brackets, expressions and statements may be nested (`PER-7`)."""

_NAME: Final = "NAME"  # how the pass remembers a word after a dot: a name, whatever else it could be
_OPERANDS: Final = frozenset({"IDENT", "NUM", "PCT", "DUR", "STR", "DATETIME", ")", "]", _NAME})
_AFTER_VERIFY: Final = frozenset(
    {"STR", "IDENT", "NUM", "PCT", "DUR", "DATETIME", "{", "(", "[", "-", "NOT", "CONFIDENCE", "SHARED"}
)
_PUNCTUATION: Final = frozenset(OPERATORS) | {"EOF"}
_OPENING: Final = frozenset({"{", "(", "["})
_CLOSING: Final = frozenset({"}", ")", "]"})
_SENDABLE: Final = frozenset({"IDENT", ",", ".", ":", "="})
# After these the next token must see what the pass made of the one before.
_REMEMBERED: Final = frozenset({"LABEL", "VERIFY_PHASE", "NOISE_CALL"})


def prepare(lexemes: list[Lexeme], text: str, filename: str) -> list[Lexeme]:
    """The lexemes with the terminals of the grammar; they are changed in place and given back.

    Raises:
        ParseError: brackets nested deeper than ``MAX_NESTING`` (`PER-7`).
    """
    depth = 0
    sending = False  # inside the list of a NEVER SEND
    carried = False  # a SEND_COMMA was made
    before = ""
    for place, token in enumerate(lexemes):
        terminal = token.type
        if before == "." and terminal not in _PUNCTUATION:
            before = _NAME
            continue
        rule = _RULES.get(terminal)
        if rule is not None:
            made = rule(lexemes, place, before)
            if made is not None:
                token.type = made
        if terminal in _OPENING:
            depth += 1
            if depth > MAX_NESTING:
                raise too_deep(depth, token.line, token.col, text, filename)
        elif terminal in _CLOSING:
            depth -= 1
        if sending:
            sending = terminal in _SENDABLE
            if terminal == "," and lexemes[place + 1].type == "IDENT":
                token.type = "SEND_COMMA"
                carried = True
        elif terminal == "SEND":
            sending = before == "NEVER"
        before = token.type if token.type in _REMEMBERED else terminal
    return _without_extra_commas(lexemes) if carried else lexemes


def _parenthesis(_lexemes: list[Lexeme], _place: int, before: str) -> str | None:
    return "CALL_PAREN" if before in {"IDENT", _NAME} else None


def _minus(_lexemes: list[Lexeme], _place: int, before: str) -> str | None:
    return None if before in _OPERANDS else "SIGN"


def _star(lexemes: list[Lexeme], place: int, _before: str) -> str | None:
    return "STAR_END" if lexemes[place + 1].type in {"}", ")"} else None


def _verify(lexemes: list[Lexeme], place: int, _before: str) -> str | None:
    return None if lexemes[place + 1].type in _AFTER_VERIFY else "VERIFY_PHASE"


def _string(_lexemes: list[Lexeme], _place: int, before: str) -> str | None:
    return "LABEL" if before == "VERIFY" else None


def _on(lexemes: list[Lexeme], place: int, _before: str) -> str | None:
    following = lexemes[place + 1]
    if following.type in {":", "="}:
        following = lexemes[place + 2]
    return "ON_UNKNOWN" if following.type == "UNKNOWN" else None


def _word(lexemes: list[Lexeme], place: int, _before: str) -> str | None:
    noise = lexemes[place].value == "CALL" and _call_follows(lexemes, place + 1)
    return "NOISE_CALL" if noise else None


_RULES: Final[dict[str, Callable[[list[Lexeme], int, str], str | None]]] = {
    "(": _parenthesis,
    "-": _minus,
    "*": _star,
    "VERIFY": _verify,
    "STR": _string,
    "ON": _on,
    "IDENT": _word,
}


def _call_follows(lexemes: list[Lexeme], place: int) -> bool:
    if lexemes[place].type != "IDENT":
        return False
    place += 1
    while lexemes[place].type == "." and lexemes[place + 1].type not in _PUNCTUATION:
        place += 2
    return lexemes[place].type == "("


def _without_extra_commas(lexemes: list[Lexeme]) -> list[Lexeme]:
    """In a NEVER SEND list only the last comma of a run carries the list on."""
    kept: list[Lexeme] = []
    for one in lexemes:
        if one.type == "SEND_COMMA":
            while kept and kept[-1].type == ",":
                kept.pop()
        kept.append(one)
    return kept


def too_deep(depth: int, line: int, column: int, text: str, filename: str) -> ParseError:
    """The refusal of `PER-7` for nesting."""
    return ParseError(
        code="parse.too_deep",
        filename=filename,
        line=line,
        column=column,
        depth=depth,
        limit=MAX_NESTING,
        found="",
        expected=(),
        excerpt=excerpt(text, line, column),
    )
