"""From grammar to tree: names, paths, expressions (`GRM-1`, `GRM-23` to `GRM-28`, `AST-2`).

A builder has one method per rule of ``agentl.lark``. It gets the values of the children in source
order: a lexeme where the grammar keeps a terminal, what the rule's own method gave otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from agentl.errors import ParseError
from agentl.language.lexer import Lexeme, excerpt, kind_of
from agentl.language.nodes import BinOp, CallExpr, Domain, Expr, ListExpr, Literal, PathExpr, UnOp
from agentl.values import Symbol

Children: TypeAlias = list[Any]


@dataclass(frozen=True, slots=True)
class Argument:
    """A named argument on its way into a call."""

    name: Lexeme
    value: Expr


def described(lexeme: Lexeme) -> str:
    """Kind and value of a token as messages show them (`PER-3`)."""
    kind = kind_of(lexeme)
    if kind == "EOF":
        return kind
    text = lexeme.text if len(lexeme.text) <= 40 else f"{lexeme.text[:39]}…"
    shown = "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in text)
    return f'{kind} "{shown}"' if kind == "STR" else f"{kind} {shown}"


class ExpressionBuilder:
    """Builds expressions, and holds what every builder needs: the text and its name for messages."""

    def __init__(self, text: str, filename: str) -> None:
        self.text = text
        self.filename = filename

    def refuse(self, code: str, at: Lexeme, *, expected: tuple[str, ...] = (), **values: Any) -> ParseError:
        """The error of a text that the grammar takes and the language does not."""
        return ParseError(
            code=code,
            filename=self.filename,
            line=at.line,
            column=at.col,
            found=described(at),
            expected=expected,
            excerpt=excerpt(self.text, at.line, at.col),
            **values,
        )

    # --- names and paths ---

    def name(self, children: Children) -> Lexeme:
        lexeme: Lexeme = children[0]
        return lexeme

    name_after_field = name_after_input = name_after_pair = name_of_question = name_after_question = name
    any_token = number = type = target = name

    def path(self, children: Children) -> PathExpr:
        first: Lexeme = children[0]
        if len(children) == 1:
            return PathExpr((first.text,), line=first.line)
        parts = [first.text]
        for lexeme in children[1:]:
            # A number with a point is two segments: a.1.5 reads like a.1 then .5.
            parts.extend(lexeme.text.split(".") if lexeme.type == "NUM" else [lexeme.text])
        return PathExpr(tuple(parts), line=first.line)

    shared_path = path

    def bucket(self, children: Children) -> tuple[str, ...]:
        return self.path(children).parts

    def names(self, children: Children) -> tuple[str, ...]:
        return tuple(path.dotted for path in children)

    def signed(self, children: Children) -> int | float:
        value: int | float = children[-1].value
        return -value if len(children) == 2 else value

    # --- expressions ---

    def literal(self, children: Children) -> Literal:
        lexeme: Lexeme = children[0]
        return Literal(lexeme.value, line=lexeme.line)

    def list(self, children: Children) -> ListExpr:
        return ListExpr(tuple(children[1:]), line=children[0].line)

    def binary(self, children: Children) -> BinOp:
        left, operator, right = children
        return BinOp(operator.text, left, right, line=left.line)

    compare = sum = product_op = lead_compare = lead_sum = lead_product_op = binary

    def or_op(self, children: Children) -> BinOp:
        left, right = children
        return BinOp("OR", left, right, line=left.line)

    def and_op(self, children: Children) -> BinOp:
        left, right = children
        return BinOp("AND", left, right, line=left.line)

    lead_or_op = or_op
    lead_and_op = and_op

    def unary(self, children: Children) -> UnOp:
        operator, operand = children
        return UnOp(operator.text, operand, line=operator.line)

    not_op = negation = lead_negation = unary

    def lead_group(self, children: Children) -> Expr:
        expression: Expr = children[-1]
        return expression

    def named_argument(self, children: Children) -> Argument:
        return Argument(children[0], children[1])

    def call(self, children: Children) -> CallExpr:
        callee, *arguments = [
            one
            for one in children
            if not (isinstance(one, Lexeme) and one.type in {"NOISE_CALL", "CALL_PAREN"})
        ]
        name, line = (
            (callee.text, callee.line) if isinstance(callee, Lexeme) else (callee.dotted, callee.line)
        )
        positional: list[Expr] = []
        named: dict[str, Expr] = {}
        for argument in arguments:
            if not isinstance(argument, Argument):
                positional.append(argument)
            elif argument.name.text in named:
                raise self.refuse("parse.duplicate_argument", argument.name, name=argument.name.text)
            else:
                named[argument.name.text] = argument.value
        return CallExpr(name, tuple(positional), tuple(named.items()), line=line)

    # --- domains ---

    def domain_number(self, children: Children) -> int | float:
        number = children[-1]
        value: int | float = number.value
        return -value if len(children) == 2 else value

    def domain_name(self, children: Children) -> Any:
        lexeme: Lexeme = children[0]
        if lexeme.type == "NUM" or lexeme.type == "STR":
            return lexeme.value
        return Symbol(lexeme.text)

    def domain(self, children: Children) -> tuple[Any, ...]:
        return tuple(children)


def domain_of(items: tuple[Any, ...], type_name: str, line: int) -> Domain:
    """The domain of a field: two numbers bound a numeric field, anything else is a set (`GRM-23`)."""
    numeric = all(type(item) in {int, float} for item in items)
    if type_name.lower() in {"number", "float", "int"} and len(items) == 2 and numeric:
        return Domain("RANGE", items[0], items[1], line=line)
    return Domain("SET", values=items, line=line)
