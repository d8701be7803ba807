"""From a parser that stopped to a message: what it met and what it could have taken (`PER-2` to `PER-6`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from agentl.errors import ParseError
from agentl.language import hints
from agentl.language.build_expressions import described
from agentl.language.lexer import PHASES, RESERVED, Lexeme, excerpt
from agentl.language.tables import Tables

_SPELLED: Final = {
    "CALL_PAREN": "(",
    "SIGN": "-",
    "STAR_END": "*",
    "SEND_COMMA": ",",
    "LABEL": "STR",
    "VERIFY_PHASE": "VERIFY",
    "ON_UNKNOWN": "ON",
    "NOISE_CALL": "CALL",
}
_EXPRESSION: Final = frozenset(
    {
        *("NUM", "PCT", "DUR", "STR", "DATETIME", "(", "[", "IDENT", "SHARED", "CONFIDENCE"),
        *("NOT", "SIGN", "NOISE_CALL"),
    }
)
_OPERATOR: Final = frozenset({"OR", "AND", "IN", "==", "!=", ">", ">=", "<", "<=", "+", "-", "*", "/"})
_STATEMENT: Final = frozenset(
    {
        *("IDENT", "NOISE_CALL", "SET", "IF", "THEN", "VERIFY", "VERIFY_PHASE", "REASON", "JUDGE", "ASK"),
        *("DELEGATE", "MESSAGE", "LOOP", "FOREACH", "RETRY", "ROLLBACK", "ESCALATE", *PHASES),
    }
)
_NUMBERS: Final = frozenset({"NUM", "PCT", "DUR", "SIGN", "-", ":", "=", "FROM"})
_QUANTITIES: Final = {
    "CONFIDENCE": "confidence",
    "TARGET_CONFIDENCE": "confidence",
    "DURATION": "duration",
    "DEADLINE": "duration",
    "TIMEOUT": "duration",
    "WITH": "probability",
    "COST": "cost",
    "APPROVAL_COST": "cost",
    "THRESHOLD": "threshold",
    "LIKELIHOOD": "likelihood",
    "GIVEN_NOT": "likelihood",
    "MAX_EVIDENCE": "bits",
    "WITHIN": "ticks",
    "WEIGHT": "weight",
    "TIME_WEIGHT": "weight",
    "PRIOR": "prior",
    "BELOW": "abstention",
    "PRIORITY": "priority",
    "MAX": "count",
    "MAX_DEPTH": "count",
    "MAX_NODES": "count",
    "VALUE": "value",
}
# Construct → a terminal that only the beginning of one of its parts accepts, and the message.
_PARTS: Final = {
    "AGENT": ("BELIEF", ""),
    "POLICY": ("NEVER", "parse.policy_effect"),
    "DECIDE": ("RULES", "parse.decide"),
    "RULES": ("IF", "parse.decide"),
    "SCENARIO": ("GIVEN", "parse.scenario_clause"),
    "REASON": ("TASK", "parse.field"),
    "JUDGE": ("TASK", "parse.field"),
    "ASK": ("QUESTION", "parse.field"),
    "DELEGATE": ("TASK", "parse.field"),
    "MESSAGE": ("PAYLOAD", "parse.field"),
    "TOOL": ("SIDE_EFFECT", "parse.field"),
    "HYPOTHESIS": ("EVIDENCE", "parse.field"),
    "PLANNER": ("ENABLE", "parse.field"),
    "MEMORY": ("KNOWLEDGE", "parse.field"),
    "WRITE": ("STORE", "parse.field"),
}


class Stopped(Exception):
    """The parser has no action for a token."""

    def __init__(self, lexeme: Lexeme, states: list[int], values: list[Any], table: Tables) -> None:
        super().__init__()
        self.lexeme = lexeme
        self.values = values
        self.acceptable = frozenset(_acceptable(states, table))


def _acceptable(states: list[int], table: Tables) -> Iterable[str]:
    """The terminals that the parser would shift here: a look-ahead set may promise more."""
    for terminal in table.actions[states[-1]]:
        stack = list(states)
        while True:
            action = table.actions[stack[-1]].get(terminal)
            if action is None:
                break
            if action >= 0:
                yield terminal
                break
            rule = table.rules[~action]
            if rule.size:
                del stack[-rule.size :]
            stack.append(table.gotos[stack[-1]][rule.origin])
            if stack[-1] == table.end and terminal == "EOF":
                yield terminal
                break


def refusal(stopped: Stopped, lexemes: list[Lexeme], place: int, text: str, filename: str) -> ParseError:
    """The error that says what the parser met and what it could have taken."""
    found = stopped.lexeme
    code, values = _diagnosis(found, stopped.values, stopped.acceptable)
    expected = summary(stopped.acceptable)
    if code == "parse.expected":
        values["wanted"] = "}" if found.type == "EOF" and "}" in expected else _wanted(expected)
    values.setdefault("found", described(found))
    hint = None if code == "parse.every" else hints.of_token(lexemes, place, stopped.acceptable)
    if hint is not None:
        values = {**hint[1], **values, "hint": hint[0]}
    return ParseError(
        code=code,
        filename=filename,
        line=found.line,
        column=found.col,
        **values,
        expected=expected,
        excerpt=excerpt(text, found.line, found.col),
    )


def summary(acceptable: frozenset[str]) -> tuple[str, ...]:
    """What could stand there, in the words of the reference grammar: a whole class as ``‹class›``."""
    rest = set(acceptable)
    classes = []
    if len(rest & RESERVED) > 100:
        classes.append("‹name›")
        rest -= RESERVED | {"IDENT", "NUM", "STR", "VERIFY_PHASE", "ON_UNKNOWN"}
    if rest >= _EXPRESSION - {"NOISE_CALL"}:
        classes.append("‹expr›")
        rest -= _EXPRESSION
    if rest >= _STATEMENT - {"NOISE_CALL"}:
        classes.append("‹stmt›")
        rest -= _STATEMENT
    if rest >= _OPERATOR - {"IN"}:
        classes.append("‹operator›")
        rest -= _OPERATOR
    spelled = {_SPELLED.get(terminal, terminal) for terminal in rest}
    return (*sorted(spelled), *classes)


def _wanted(expected: tuple[str, ...]) -> str:
    # After an expression much can go on; what the construct itself waits for is the better hint.
    weak = {"‹operator›", "(", ",", ".", ":", "="} if "‹operator›" in expected else {",", ":", "="}
    firm = [one for one in expected if one not in weak] or list(expected)
    return " / ".join(f"KW {one}" if one in RESERVED else one for one in firm[:8])


def _diagnosis(found: Lexeme, values: list[Any], acceptable: frozenset[str]) -> tuple[str, dict[str, Any]]:
    before = _before(values)
    if found.type == "EVERY":  # reserved only to be refused (LEX-4)
        return "parse.every", {}
    quantity = _QUANTITIES.get(before.type) if before is not None else None
    if quantity is not None and acceptable <= _NUMBERS:
        return "parse.quantity", {"quantity": quantity}
    if before is not None and before.type == "VERSION" and "DATETIME" in acceptable:
        return "parse.version", {}
    judged = _judge(values, acceptable)
    if judged is not None:
        return judged
    construct = _construct(values)
    marker, code = _PARTS.get(construct, ("", ""))
    if marker in acceptable and len(acceptable & RESERVED) <= 100 and found.type != "EOF":
        return _part(construct, code, found)
    if before is not None and before.type == "EXPECT" and "NEVER" in acceptable:
        return "parse.assertion", {"word": found.text}
    return _class(acceptable), {}


def _part(construct: str, code: str, found: Lexeme) -> tuple[str, dict[str, Any]]:
    if construct == "AGENT":
        word = found.type == "IDENT" or found.type in RESERVED
        return "parse.section_unknown" if word else "parse.section_wanted", {}
    return code, {"construct": "MEMORY WRITE" if construct == "WRITE" else construct}


def _class(acceptable: frozenset[str]) -> str:
    if len(acceptable & RESERVED) > 100:
        return "parse.name"
    if acceptable >= {"NUM", "STR", "(", "NOT"} and "}" not in acceptable and ")" not in acceptable:
        return "parse.expression"
    if acceptable >= {"SET", "IF", "ESCALATE"}:
        return "parse.statement"
    return "parse.expected"


def _judge(values: list[Any], acceptable: frozenset[str]) -> tuple[str, dict[str, Any]] | None:
    """The messages of `PER-5`: the place in a question decides."""
    if "NOUL" in acceptable and "TASK" not in acceptable and len(acceptable & RESERVED) < 10:
        name = _before(values)
        return "parse.judge_kind", {"field": name.text if name is not None else ""}
    if acceptable - {":", "="} != {"STR"} and not acceptable <= {"STR", ",", "]", "{", "["}:
        return None
    for place in range(len(values) - 1, -1, -1):
        value = values[place]
        if not isinstance(value, Lexeme):
            continue
        if value.type in {"NOUL", "CHOICE", "SCORE"}:
            name = _before(values[:place])
            field = name.text if name is not None else ""
            opened = [one.type for one in values[place:] if isinstance(one, Lexeme)]
            if "{" in opened:
                option = _before(values)
                return "parse.judge_option", {"option": option.text if option else "", "field": field}
            if "[" in opened or (value.type == "SCORE" and len(opened) > 1):
                return "parse.judge_levels", {"field": field}
            if len(opened) == 1:
                return "parse.judge_question", {"field": field, "kind": value.type}
            return None
        if value.type in RESERVED:
            return None
    return None


def _before(values: list[Any]) -> Lexeme | None:
    """The last token that is no separator."""
    for value in reversed(values):
        if isinstance(value, Lexeme) and value.type not in {":", "="}:
            return value
        if not isinstance(value, list | Lexeme):
            return None
    return None


def _nearest_keyword(values: list[Any]) -> str:
    return next(
        (one.type for one in reversed(values) if isinstance(one, Lexeme) and one.type in RESERVED), ""
    )


def _construct(values: list[Any]) -> str:
    """The keyword that opened the innermost brace."""
    for place in range(len(values) - 1, -1, -1):
        value = values[place]
        if isinstance(value, Lexeme) and value.type == "{":
            opener = values[place - 1] if place else None
            name_before = place > 1 and isinstance(opener, Lexeme) and isinstance(values[place - 2], Lexeme)
            if name_before and values[place - 2].type in _PARTS:
                return str(values[place - 2].type)
            return _nearest_keyword(values[:place])
    return ""
