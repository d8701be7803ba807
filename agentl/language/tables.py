"""The parse tables: made from the grammar by Lark, kept beside it as data.

Lark analyses ``agentl.lark`` (LALR(1), ``strict=True``: any conflict is an error). That takes about a
second, so its result is shipped as ``tables.json`` and only read at start-up; a test proves that
the file is fresh. ``tools/build_tables.py`` writes it again after a change of the grammar.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent
GRAMMAR_FILE: Final = HERE / "agentl.lark"
TABLES_FILE: Final = HERE / "tables.json"

# How the value of a rule is made of the values of its symbols.
CALL: Final = 0  # by the builder method of that name
SPLICE: Final = 1  # a list that the rule above takes in: the rule is only a spelling
SINGLE: Final = 2  # the one child itself, or as CALL when there are several


@dataclass(frozen=True, slots=True)
class Rule:
    """One production: ``kept`` are the positions that give a value, ``~position`` a spliced list."""

    origin: str
    size: int
    kind: int
    method: str
    kept: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tables:
    """By state: ``actions`` by terminal (a state to go to, or ``~rule`` to reduce by), ``gotos`` by rule."""

    rules: tuple[Rule, ...]
    actions: list[dict[str, int]]
    gotos: list[dict[str, int]]
    start: int
    end: int


def grammar_digest(grammar: str) -> str:
    """The digest that ties the tables to a grammar."""
    return hashlib.sha256(grammar.encode()).hexdigest()


def load() -> Tables:
    """The shipped tables."""
    return decode(json.loads(TABLES_FILE.read_text(encoding="utf-8")))


def decode(data: dict[str, Any]) -> Tables:
    """The tables from their stored form."""
    terminals: list[str] = data["terminals"]
    names: list[str] = data["names"]
    sets = [[terminals[index] for index in members] for members in data["sets"]]
    actions = []
    for shifts, reductions in zip(data["shifts"], data["reductions"], strict=True):
        row: dict[str, int] = {}
        for rule, members in zip(reductions[::2], reductions[1::2], strict=True):
            row.update(dict.fromkeys(sets[members], ~rule))
        for terminal, state in zip(shifts[::2], shifts[1::2], strict=True):
            row[terminals[terminal]] = state
        actions.append(row)
    gotos = [
        {names[name]: state for name, state in zip(row[::2], row[1::2], strict=True)} for row in data["gotos"]
    ]
    rules = tuple(
        Rule(names[origin], size, kind, method, tuple(kept))
        for origin, size, kind, method, kept in data["rules"]
    )
    return Tables(rules, actions, gotos, data["start"], data["end"])


def build(grammar: str) -> dict[str, Any]:
    """The stored form of the tables of ``grammar``.

    Raises:
        lark.exceptions.GrammarError: the grammar is wrong, or not LALR(1).
    """
    from lark import Lark
    from lark.lexer import Lexer
    from lark.parsers.lalr_analysis import Shift

    class Outside(Lexer):
        """The tokens come from ``lexer.py`` and ``token_pass.py``, so Lark needs no lexer of its own."""

        def __init__(self, _conf: Any) -> None:
            pass

        def lex(self, _lexer_state: Any, _parser_state: Any) -> Iterator[Any]:
            return iter(())

    lark = Lark(grammar, parser="lalr", lexer=Outside, strict=True, start="program")
    table: Any = lark.parser.parser._parse_table  # noqa: SLF001
    # A terminal that the grammar spells is known by its spelling, a declared one by its name.
    spelled = {name: name for row in table.states.values() for name in row if name.isupper()}
    spelled |= {one.name: one.pattern.value for one in lark.terminals}
    spelled["$END"] = "EOF"
    # Lark numbers its states in the order of a set: number them by the walk from the start instead,
    # so that the same grammar always gives the same file.
    rules: dict[Any, int] = {}
    names: dict[str, int] = {}
    terminals = {name: index for index, name in enumerate(sorted(spelled.values()))}
    sets: dict[tuple[int, ...], int] = {}
    start = table.start_states["program"]
    order = {start: 0}
    waiting = [start]
    shifts, reductions, gotos = [], [], []
    for state in waiting:
        shift_row: list[int] = []
        goto_row: list[int] = []
        reduced: dict[int, list[int]] = {}
        for symbol, (action, target) in sorted(table.states[state].items()):
            if action is Shift:
                if target not in order:
                    order[target] = len(order)
                    waiting.append(target)
                if symbol in spelled:
                    shift_row += [terminals[spelled[symbol]], order[target]]
                else:
                    goto_row += [names.setdefault(str(symbol), len(names)), order[target]]
            else:
                rule = rules.setdefault(target, len(rules))
                reduced.setdefault(rule, []).append(terminals[spelled[symbol]])
        shifts.append(shift_row)
        gotos.append(goto_row)
        row: list[int] = []
        for rule, members in reduced.items():
            row += [rule, sets.setdefault(tuple(sorted(members)), len(sets))]
        reductions.append(row)
    return {
        "grammar": grammar_digest(grammar),
        "terminals": list(terminals),
        "names": list(names),
        "sets": [list(members) for members in sets],
        "rules": [_rule(rule, names) for rule in rules],
        "shifts": shifts,
        "reductions": reductions,
        "gotos": gotos,
        "start": order[start],
        "end": order[table.end_states["program"]],
    }


def _rule(rule: Any, names: dict[str, int]) -> list[Any]:
    origin = str(rule.origin.name)
    kept = [
        ~place if not symbol.is_term and symbol.name.startswith("_") else place
        for place, symbol in enumerate(rule.expansion)
        if not (symbol.is_term and symbol.filter_out)
    ]
    if origin.startswith("_"):
        kind = SPLICE
    elif rule.options.expand1 and not rule.alias:
        kind = SINGLE
        assert len(kept) == 1 and kept[0] >= 0, f"{origin} must have exactly one child"  # noqa: PT018
    else:
        kind = CALL
    method = "" if kind == SPLICE else str(rule.alias or origin)
    return [names.setdefault(origin, len(names)), len(rule.expansion), kind, method, kept]
