"""From text to tokens (`LEX-1` to `LEX-13`): the same for people, tests and the parser."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from agentl.errors import EXCERPT_WIDTH, LexError, excerpt_start

RESERVED: Final = frozenset(
    """
    AGENT VERSION DESCRIPTION GOAL MAINTAIN ACHIEVE TARGET WEIGHT BELIEF CONFIDENCE SOURCE UPDATED
    OBSERVE EVERY WHEN MEMORY SHORT_TERM LONG_TERM KNOWLEDGE WRITE STORE INTO TOOL INPUT OUTPUT
    SIDE_EFFECT RISK POLICY NEVER ALLOW DENY REQUIRE APPROVAL FOR DEFAULT SEND UNKNOWN DEGRADE PLAN
    STEP IF THEN ELSE SET LOOP UNTIL MAX FOREACH SCENARIO GIVEN WITHIN VERIFY CONDITION ON FAIL RETRY
    ROLLBACK ESCALATE REASON TASK USING PRODUCE ASK QUESTION TIMEOUT DELEGATE EXPECT MESSAGE TO
    BROADCAST PAYLOAD SHARED RECEIVE DURATION DEADLINE TIME_WEIGHT EVENT DECIDE RULES UPDATE_BELIEFS
    EVALUATE_GOALS SELECT_PLAN EXECUTE UPDATE_MEMORY ACT HYPOTHESIS PREDICT EVIDENCE PRIOR LIKELIHOOD
    GIVEN_NOT THRESHOLD EXPLAINS UPDATE_HYPOTHESES GROUP MAX_EVIDENCE IN FROM WHERE PLANNER ENABLE
    MAX_DEPTH MAX_NODES APPROVAL_COST EFFECT REQUIRES COST BIND ATTESTS SYNTHESIZE OUTCOME WITH UTILITY
    VALUE TARGET_CONFIDENCE INTERNAL AND OR NOT JUDGE NOUL CHOICE SCORE ABSTAIN BELOW PRIORITY
    """.split()  # noqa: SIM905 - the list reads as in the reference
)
"""The words that are keywords when written in capitals (`LEX-4`)."""

PHASES: Final = (
    "OBSERVE",
    "UPDATE_BELIEFS",
    "EVALUATE_GOALS",
    "SELECT_PLAN",
    "EXECUTE",
    "ACT",
    "VERIFY",
    "UPDATE_MEMORY",
    "DECIDE",
    "UPDATE_HYPOTHESES",
    "SYNTHESIZE",
    "RECEIVE",
)
"""The reserved words that name a phase of the tick (`LEX-5`)."""

MAX_NUMBER_DIGITS: Final = 300
"""Digits of one number: every number is then finite and exact within the data model (`KRN-2`)."""

OPERATORS: Final = ("==", "!=", ">=", "<=", "->", "=>", *"{}()[],:.=><+-*/")
"""Operators and punctuation, the longest first (`LEX-11`)."""

_SECONDS: Final = {"ms": 0.001, "s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}
_TOKEN: Final = re.compile(
    r"""
      (?P<space>[ \t\r\n]+)
    | (?P<word>[A-Za-z_][A-Za-z_0-9]*)
    | (?P<datetime>[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2})?)?)
    | (?P<number>[0-9]+(?:\.[0-9]+)?)(?:(?P<percent>%)|(?P<unit>ms|sec|s|min|m|h|d)(?![A-Za-z_0-9]))?
    | "(?P<string>[^"\\]*(?:\\[^\r\n][^"\\]*)*)"
    | (?P<comment>\#[^\n]*|//[^\n]*|/\*[\s\S]*?\*/)
    | (?P<bad_comment>/\*)
    | (?P<operator>==|!=|>=|<=|->|=>|[{}()\[\],:.=><+\-*/])
    """,
    re.VERBOSE,
)


class Token(NamedTuple):
    """One token (`LEX-13`): ``line`` and ``col`` start at 1."""

    kind: str
    value: Any
    line: int
    col: int


class Lexeme:
    """A token on its way to the grammar: its terminal, its source text and its place."""

    __slots__ = ("col", "line", "text", "type", "value")

    def __init__(self, terminal: str, value: Any, text: str, line: int, col: int) -> None:
        self.type = terminal
        self.value = value
        self.text = text
        self.line = line
        self.col = col


def tokenize(text: str) -> list[Token]:
    """The tokens of ``text``, the last one being ``EOF`` (`LEX-13`).

    Raises:
        LexError: an unterminated comment or string, or a character that begins no token.
    """
    return [Token(kind_of(one), one.value, one.line, one.col) for one in scan(text)]


def kind_of(lexeme: Lexeme) -> str:
    """The kind of `LEX-13` of a lexeme."""
    if lexeme.type in _KINDS:
        return lexeme.type
    return "KW" if lexeme.value in RESERVED else "OP"


_KINDS: Final = frozenset({"IDENT", "NUM", "PCT", "DUR", "STR", "DATETIME", "EOF"})


def scan(text: str, filename: str = "<source>") -> list[Lexeme]:
    """The lexemes of ``text``: keywords and operators carry themselves as terminal.

    Raises:
        LexError: as ``tokenize``.
    """
    found: list[Lexeme] = []
    add = found.append
    match = _TOKEN.match
    place = 0
    line = 1
    start = 0  # of the current line
    end = len(text)
    while place < end:
        met = match(text, place)
        if met is None or met.lastgroup == "bad_comment":
            raise _refusal(text, place, line, start, filename)
        group = met.lastgroup
        after = met.end()
        if group == "space" or group == "comment":
            skipped = text.count("\n", place, after)
            if skipped:
                line += skipped
                start = text.rindex("\n", place, after) + 1
        elif group == "word":
            word = met.group()
            add(Lexeme(word if word in RESERVED else "IDENT", word, word, line, place - start + 1))
        elif group == "operator":
            sign = met.group()
            add(Lexeme(sign, sign, sign, line, place - start + 1))
        elif group == "string":
            content = met.group("string")
            value = content if "\\" not in content else _unescape(content)
            add(Lexeme("STR", value, value, line, place - start + 1))
            skipped = content.count("\n")
            if skipped:
                line += skipped
                start = text.rindex("\n", place, after) + 1
        elif group == "datetime":
            stamp = met.group()
            add(Lexeme("DATETIME", stamp, stamp, line, place - start + 1))
        else:
            add(_number(met, text, line, place - start + 1, filename))
        place = after
    add(Lexeme("EOF", "", "", line, 1))
    return found


def _unescape(content: str) -> str:
    return re.sub(r"\\(.)", lambda met: _ESCAPES.get(met.group(1), met.group()), content)


def _number(met: re.Match[str], text: str, line: int, col: int, filename: str) -> Lexeme:
    digits = met.group("number")
    if len(digits) > MAX_NUMBER_DIGITS:
        raise LexError(
            code="lex.number",
            filename=filename,
            line=line,
            column=col,
            digits=len(digits),
            limit=MAX_NUMBER_DIGITS,
            found=f"NUM {digits[:20]}…",
            expected=(),
            excerpt=excerpt(text, line, col),
        )
    value: int | float = float(digits) if "." in digits else int(digits)
    if met.lastgroup == "percent":
        return Lexeme("PCT", value / 100, met.group(), line, col)
    if met.lastgroup == "unit":
        return Lexeme("DUR", float(value * _SECONDS[met.group("unit")]), met.group(), line, col)
    return Lexeme("NUM", value, digits, line, col)


def _refusal(text: str, place: int, line: int, start: int, filename: str) -> LexError:
    character = text[place]
    code = {"/": "lex.comment", '"': "lex.string"}.get(character, "lex.character")
    return LexError(
        code=code,
        filename=filename,
        line=line,
        column=place - start + 1,
        character=repr(character),
        found=repr(character),
        expected=(),
        hint=_hint(character) if code == "lex.character" else "",
        excerpt=excerpt(text, line, place - start + 1),
    )


_QUOTES: Final = "'`‘’“”„«»"
_MEANT: Final = {";": "semicolon", "&": "and", "|": "or", "!": "not", "%": "percent"}


def _hint(character: str) -> str:
    """What a character that begins no token was probably meant for; empty when nothing is likely."""
    if character in _QUOTES:
        return "lex.hint.quotes"
    if character in _MEANT:
        return f"lex.hint.{_MEANT[character]}"
    return "lex.hint.name" if character.isalpha() else ""


def excerpt(text: str, line: int, column: int = 1) -> str:
    """Line ``line`` of ``text`` around ``column`` as it can be printed: short, nothing unprintable."""
    start = 0
    for _ in range(line - 1):
        start = text.find("\n", start) + 1
    end = text.find("\n", start)
    end = end if end >= 0 else len(text)
    first = start + excerpt_start(column)
    shown = text[first : min(end, first + EXCERPT_WIDTH)].rstrip("\r")
    printable = [one if one.isprintable() or one == "\t" else "\N{REPLACEMENT CHARACTER}" for one in shown]
    if printable and first > start:
        printable[0] = "…"
    if first + EXCERPT_WIDTH < end:
        printable.append("…")
    return "".join(printable)
