"""From text to tree (`API-2`, `PER-1` to `PER-7`).

Lark makes the parse tables (``tables.py``); the loop below runs them. No step of it recurses, so
neither a long nor a deep source can exhaust the stack: what is nested too deep is refused by number.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

from agentl.errors import LexError, ParseError
from agentl.language import tables
from agentl.language.build_program import ProgramBuilder
from agentl.language.depth import deepest
from agentl.language.hints import of_no_agent
from agentl.language.lexer import Lexeme, excerpt, scan
from agentl.language.nodes import Program
from agentl.language.syntax_errors import Stopped, refusal
from agentl.language.token_pass import MAX_NESTING, prepare, too_deep

MAX_SOURCE_BYTES: Final = 5_000_000
"""The largest source in bytes of UTF-8 (`PER-7`)."""

__all__ = ["MAX_NESTING", "MAX_SOURCE_BYTES", "parse_file", "parse_source"]


def parse_file(path: str | Path) -> Program:
    """The program of a file in UTF-8, with or without a byte order mark.

    Raises:
        ParseError: the file cannot be read, or its text is no program.
        LexError: it is not UTF-8, or holds what is no token.
    """
    filename = str(path)
    try:
        with Path(path).open("rb") as stream:
            data = stream.read(MAX_SOURCE_BYTES + 1)
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or str(error)
        raise ParseError(code="parse.unreadable", filename=filename, cause=cause) from error
    if len(data) > MAX_SOURCE_BYTES:
        raise _too_large(len(data), filename)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        sound = data[: error.start].decode("utf-8")
        raise LexError(
            code="lex.encoding",
            filename=filename,
            line=sound.count("\n") + 1,
            column=len(sound) - sound.rfind("\n"),
            byte=f"0x{data[error.start]:02X}",
            found=f"0x{data[error.start]:02X}",
            expected=(),
            excerpt=excerpt(sound, sound.count("\n") + 1, len(sound) - sound.rfind("\n")),
        ) from error
    return parse_source(text, filename)


def parse_source(text: str, filename: str = "<source>") -> Program:
    """The program of a text.

    Raises:
        ParseError: the text is no program, is larger than ``MAX_SOURCE_BYTES`` or nested deeper
            than ``MAX_NESTING``.
        LexError: it holds what is no token.
    """
    text = text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        column = error.start - text.rfind("\n", 0, error.start)
        character = repr(text[error.start])
        raise LexError(
            code="lex.character",
            filename=filename,
            line=line,
            column=column,
            character=character,
            found=character,
            expected=(),
            excerpt=excerpt(text, line, column),
        ) from error
    if size > MAX_SOURCE_BYTES:
        raise _too_large(size, filename)
    lexemes = scan(text, filename)
    if not any(one.type == "AGENT" for one in lexemes):
        code, values = of_no_agent(lexemes) or ("", {})
        raise ParseError(code="parse.no_agent", filename=filename, expected=("AGENT",), hint=code, **values)
    lexemes = prepare(lexemes, text, filename)
    try:
        program = _run(lexemes, ProgramBuilder(text, filename), len(lexemes))
    except _NoAction as stop:
        # Once more, up to the token that stopped it: what could stand there is known before the
        # reductions that this token set off.
        try:
            _run(lexemes, ProgramBuilder(text, filename), stop.place)
        except Stopped as stopped:
            raise refusal(stopped, lexemes, stop.place, text, filename) from None
        raise  # cannot happen: the second run stops where it is told to
    depth, line = deepest(program)
    if depth > MAX_NESTING:
        raise too_deep(depth, line, 1, text, filename)
    return program


def _too_large(size: int, filename: str) -> ParseError:
    return ParseError(
        code="parse.too_large", filename=filename, line=1, column=1, size=size, limit=MAX_SOURCE_BYTES
    )


@cache
def _tables() -> tables.Tables:
    return tables.load()


class _NoAction(Exception):
    """The parser has no action for the token at ``place``."""

    def __init__(self, place: int) -> None:
        super().__init__()
        self.place = place


def _run(lexemes: list[Lexeme], builder: ProgramBuilder, stop: int) -> Program:
    table = _tables()
    actions = table.actions
    gotos = table.gotos
    rules = table.rules
    methods: list[Callable[[list[Any]], Any] | None] = [
        getattr(builder, rule.method) if rule.method and rule.kind == tables.CALL else None for rule in rules
    ]
    states = [table.start]
    values: list[Any] = []
    for place, lexeme in enumerate(lexemes):
        if place == stop:
            raise Stopped(lexeme, states, values, table)
        terminal = lexeme.type
        while True:
            action = actions[states[-1]].get(terminal)
            if action is None:
                raise _NoAction(place)
            if action >= 0:
                states.append(action)
                values.append(lexeme)
                break
            rule = rules[~action]
            size = rule.size
            if size:
                children = values[-size:]
                del states[-size:], values[-size:]
            else:
                children = []
            value: Any = children[rule.kept[0]] if rule.kind == tables.SINGLE else _taken(rule, children)
            method = methods[~action]
            if method is not None:
                value = method(value)
            state = gotos[states[-1]][rule.origin]
            states.append(state)
            values.append(value)
            if state == table.end and terminal == "EOF":
                program: Program = value
                return program
    raise AssertionError  # the last lexeme is EOF: it is accepted or refused above


def _taken(rule: tables.Rule, children: list[Any]) -> list[Any]:
    """The values that a rule keeps; the list of its own left recursion goes on growing."""
    kept = rule.kept
    if kept and kept[0] == ~0:
        taken: list[Any] = children[0]
        kept = kept[1:]
    else:
        taken = []
    for place in kept:
        if place < 0:
            taken.extend(children[~place])
        else:
            taken.append(children[place])
    return taken
