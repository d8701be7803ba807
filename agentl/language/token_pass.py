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

from typing import Final

from agentl.errors import ParseError
from agentl.language.lexer import Lexeme, excerpt

MAX_NESTING: Final = 200
"""How deep brackets, expressions and statements may be nested (`PER-7`)."""

_OPERANDS: Final = frozenset({"IDENT", "NUM", "PCT", "DUR", "STR", "DATETIME", ")", "]"})
_AFTER_VERIFY: Final = frozenset(
    {"STR", "IDENT", "NUM", "PCT", "DUR", "DATETIME", "{", "(", "[", "-", "NOT", "CONFIDENCE", "SHARED"}
)


def prepare(lexemes: list[Lexeme], text: str, filename: str) -> list[Lexeme]:
    """The lexemes with the terminals of the grammar; the list is changed in place and given back.

    Raises:
        ParseError: brackets nested deeper than ``MAX_NESTING`` (`PER-7`).
    """
    depth = 0
    sending = False
    before = ""  # terminal of the previous token, as the lexer gave it
    dotted = False  # the previous token is a name after a dot
    last = len(lexemes) - 1
    for place, token in enumerate(lexemes):
        terminal = token.type
        after_dot = before == "." and terminal not in _PUNCTUATION
        if after_dot:
            pass  # a name, whatever word it is
        elif terminal == "(":
            if before == "IDENT" or dotted:
                token.type = "CALL_PAREN"
        elif terminal == "-":
            if not (dotted or before in _OPERANDS):
                token.type = "SIGN"
        elif terminal == "*":
            if lexemes[place + 1].type in {"}", ")"}:
                token.type = "STAR_END"
        elif terminal == "VERIFY":
            if lexemes[place + 1].type not in _AFTER_VERIFY:
                token.type = "VERIFY_PHASE"
        elif terminal == "STR":
            if before == "VERIFY":
                token.type = "LABEL"
        elif terminal == "ON":
            following = place + (2 if lexemes[place + 1].type in {":", "="} else 1)
            if following <= last and lexemes[following].type == "UNKNOWN":
                token.type = "ON_UNKNOWN"
        elif terminal == "IDENT":
            if token.value == "CALL" and before != "EXPECT" and _call_follows(lexemes, place + 1):
                token.type = "NOISE_CALL"
        elif terminal == ",":
            if sending and lexemes[place + 1].type == "IDENT":
                token.type = "SEND_COMMA"
        if terminal in _OPENING:
            depth += 1
            if depth > MAX_NESTING:
                raise too_deep(depth, token.line, token.col, text, filename)
        elif terminal in _CLOSING:
            depth -= 1
        if terminal == "SEND" and before == "NEVER":
            sending = True
        elif sending and not (after_dot or terminal in _SENDABLE):
            sending = False
        dotted = after_dot
        before = "NAME" if after_dot else token.type if token.type in _OWN else terminal
    return _without_extra_commas(lexemes)


_PUNCTUATION: Final = frozenset("{ } ( ) [ ] , : . = == != >= <= -> => > < + - * / EOF".split())
_OPENING: Final = frozenset({"{", "(", "["})
_CLOSING: Final = frozenset({"}", ")", "]"})
_SENDABLE: Final = frozenset({"IDENT", ",", ".", ":", "="})
# After these the next token must see what the pass made of the one before.
_OWN: Final = frozenset({"LABEL", "VERIFY_PHASE", "NOISE_CALL"})


def _call_follows(lexemes: list[Lexeme], place: int) -> bool:
    if lexemes[place].type != "IDENT":
        return False
    place += 1
    while lexemes[place].type == "." and lexemes[place + 1].type not in _PUNCTUATION:
        place += 2
    return lexemes[place].type == "("


def _without_extra_commas(lexemes: list[Lexeme]) -> list[Lexeme]:
    """In a NEVER SEND list only the last comma of a run carries the list on."""
    if all(one.type != "SEND_COMMA" for one in lexemes):
        return lexemes
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
        excerpt=excerpt(text, line),
    )
