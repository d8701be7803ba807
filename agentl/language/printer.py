"""From tree to text: a program that parses to the same tree again.

``program_text`` prints whole programs; ``expression_text`` one expression, which is also the label of
an EVIDENCE and the way messages quote a condition. Comments and layout are not in the tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any, Final

from agentl.language.lexer import RESERVED
from agentl.language.nodes import BinOp, CallExpr, Domain, Expr, ListExpr, Literal, PathExpr, UnOp
from agentl.values import Symbol

_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z_0-9]*\Z")
_DIGITS: Final = re.compile(r"[0-9]+\Z")
_COMPARISONS: Final = frozenset({"==", "!=", ">", ">=", "<", "<=", "IN"})
_PRIMARY: Final = 8


def quoted(text: str) -> str:
    """A string literal of that value (`LEX-6`)."""
    for raw, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        text = text.replace(raw, escaped)
    return f'"{text}"'


def name_text(text: str) -> str:
    """A name (`GRM-1`): as it is when it is an ordinary word, else quoted."""
    return text if _WORD.match(text) and text not in RESERVED else quoted(text)


def number_text(value: float) -> str:
    """A number without exponent that reads back as the same value (`LEX-8`); signed if negative."""
    if isinstance(value, int):
        return str(value)
    digits = format(Decimal(repr(value)), "f")
    return digits if "." in digits else f"{digits}.0"


def _segment(text: str) -> str:
    return text if _DIGITS.match(text) else name_text(text)


def path_text(dotted: str | Iterable[str]) -> str:
    """A path, from its dotted form or its segments."""
    first, *others = dotted.split(".") if isinstance(dotted, str) else dotted
    return ".".join([first, *map(_segment, others)])


def names_text(paths: Iterable[str]) -> str:
    """Several paths in braces."""
    return "{ " + ", ".join(map(path_text, paths)) + " }"


def domain_text(domain: Domain) -> str:
    """A domain as it is written (`GRM-23`)."""
    items: Iterable[Any] = (domain.low, domain.high) if domain.kind == "RANGE" else domain.values
    return "[" + ", ".join(map(_domain_item, items)) + "]"


def _domain_item(item: Any) -> str:
    if isinstance(item, Symbol):
        return str(item)
    return quoted(item) if isinstance(item, str) else number_text(item)


def expression_text(expression: Expr) -> str:
    """An expression on one line."""
    return _expression(expression, 1)


def _expression(node: Expr, least: int) -> str:
    """The text of ``node`` where only what binds at least as tight as ``least`` may stand bare."""
    text, strength = _with_strength(node)
    return text if strength >= least else f"({text})"


def _with_strength(node: Expr) -> tuple[str, int]:
    if isinstance(node, Literal):
        return _literal(node.value)
    if isinstance(node, PathExpr):
        # A lone CALL before what follows could be read as the noise word (GRM-22).
        return ("(CALL)" if node.parts == ("CALL",) else path_text(node.parts)), _PRIMARY
    if isinstance(node, BinOp):
        strength = _strength(node.op)
        left = strength + (node.op in _COMPARISONS)
        return f"{_expression(node.left, left)} {node.op} {_expression(node.right, strength + 1)}", strength
    if isinstance(node, UnOp):
        if node.op == "NOT":
            return f"NOT {_expression(node.operand, 3)}", 3
        return f"-{_expression(node.operand, 7)}", 7
    if isinstance(node, ListExpr):
        return "[" + ", ".join(_expression(item, 1) for item in node.items) + "]", _PRIMARY
    if isinstance(node, CallExpr):
        return call_text(node), _PRIMARY
    raise TypeError(type(node).__name__)


def _strength(operator: str) -> int:
    if operator in _COMPARISONS:
        return 4
    return {"OR": 1, "AND": 2, "+": 5, "-": 5, "*": 6, "/": 6}[operator]


def _literal(value: Any) -> tuple[str, int]:
    if isinstance(value, str):
        return quoted(value), _PRIMARY
    return number_text(value), _PRIMARY if value >= 0 else 7


def call_text(call: CallExpr) -> str:
    """A call with its arguments, the positional ones first."""
    callee = call.name if call.name == "CONFIDENCE" else path_text(call.name)
    arguments = [_expression(one, 1) for one in call.args]
    arguments += [f"{name}: {_expression(value, 1)}" for name, value in call.kwargs]
    return f"{callee}({', '.join(arguments)})"


def indented(lines: Iterable[str]) -> Iterator[str]:
    """The lines of a block, one level deeper."""
    for line in lines:
        yield f"  {line}"


def braced(head: str, lines: Iterable[str]) -> Iterator[str]:
    """``head { … }`` over several lines."""
    yield f"{head} {{"
    yield from indented(lines)
    yield "}"
