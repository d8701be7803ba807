"""From grammar to tree: statements (`GRM-19` to `GRM-22`, `AST-3`, `AST-6`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agentl.language.build_expressions import Children, ExpressionBuilder, domain_of
from agentl.language.lexer import Lexeme
from agentl.language.nodes import (
    AskStmt,
    Body,
    CallStmt,
    ControlStmt,
    DelegateStmt,
    Domain,
    Expr,
    ForEachStmt,
    IfStmt,
    JudgeStmt,
    LoopStmt,
    MessageStmt,
    PathExpr,
    Question,
    ReasonStmt,
    SetStmt,
    Stmt,
    ThenPlan,
    VerifyStmt,
)
from agentl.values import Symbol


class Part:
    """A piece of a construct, by the name of what it sets."""

    __slots__ = ("at", "key", "value")

    def __init__(self, key: str, value: Any, at: Lexeme | None = None) -> None:
        self.key = key
        self.value = value
        self.at = at


class FieldPart:
    """A field of a REASON or JUDGE: name, type, domain items, default, and the question it comes from."""

    __slots__ = ("default", "domain", "name", "question", "type")

    def __init__(self, name: Lexeme, type_name: str) -> None:
        self.name = name
        self.type = type_name
        self.domain: Domain | None = None
        self.default: Expr | None = None
        self.question: Question | None = None


def last(parts: Iterable[Any], key: str, default: Any = None) -> Any:
    """The value of the last part of that name: a repeated field replaces."""
    found = default
    for part in parts:
        if isinstance(part, Part) and part.key == key:
            found = part.value
    return found


def body_of(children: Iterable[Any]) -> Body:
    """Statements in a row; a block, and what stood after THEN, gives its own statements."""
    statements: list[Stmt] = []
    for child in children:
        if isinstance(child, tuple):
            statements.extend(child)
        else:
            statements.append(child)
    return tuple(statements)


class StatementBuilder(ExpressionBuilder):
    """Builds statements and bodies."""

    def block(self, children: Children) -> Body:
        return body_of(children)

    branch = closed_branch = open_branch = closed_then = open_then = main_step = block

    def whole(self, lexeme: Lexeme, quantity: str) -> int:
        """The integer of a NUM.

        Raises:
            ParseError: it has a fraction.
        """
        if isinstance(lexeme.value, float) and not lexeme.value.is_integer():
            raise self.refuse("parse.quantity", lexeme, quantity=quantity, expected=("NUM",))
        return int(lexeme.value)

    # --- acting ---

    def call_stmt(self, children: Children) -> CallStmt:
        call = self.call(children)
        return CallStmt(call, line=call.line)

    def set_stmt(self, children: Children) -> SetStmt:
        keyword, path, value = children
        return SetStmt(path.dotted, value, line=keyword.line)

    def assign_stmt(self, children: Children) -> SetStmt:
        path, value = children
        return SetStmt(path.dotted, value, line=path.line)

    def plan_ref(self, children: Children) -> ThenPlan:
        path: PathExpr = children[0]
        return ThenPlan(path.dotted, line=path.line)

    def closed_if(self, children: Children) -> IfStmt:
        keyword, condition, *branches = children
        return IfStmt(condition, branches[0], branches[1] if len(branches) > 1 else (), line=keyword.line)

    open_if = closed_if

    def on_fail(self, children: Children) -> Part:
        return Part("on_fail", body_of(children))

    def verify(self, children: Children) -> VerifyStmt:
        keyword, *rest = children
        label = rest.pop(0).value if isinstance(rest[0], Lexeme) else None
        return VerifyStmt(rest[0], last(rest[1:], "on_fail", ()), label, line=keyword.line)

    def until(self, children: Children) -> Part:
        return Part("until", children[0])

    def max(self, children: Children) -> Part:
        return Part("max", self.whole(children[0], "count"))

    def loop(self, children: Children) -> LoopStmt:
        keyword, *parts, body = children
        return LoopStmt(body, last(parts, "until"), last(parts, "max", 100), line=keyword.line)

    def foreach(self, children: Children) -> ForEachStmt:
        keyword, variable, source, *parts, body = children
        return ForEachStmt(variable.text, source, body, last(parts, "max", 200), line=keyword.line)

    def from_start(self, children: Children) -> Part:
        if children[0].text != "START":
            raise self.refuse("parse.expected", children[0], wanted="START", expected=("START",))
        return Part("from_start", True)

    def retry(self, children: Children) -> ControlStmt:
        keyword, *rest = children
        times = self.whole(rest.pop(0), "count") if rest and isinstance(rest[0], Lexeme) else 1
        return ControlStmt("RETRY", times, bool(rest), line=keyword.line)

    def rollback(self, children: Children) -> ControlStmt:
        return ControlStmt("ROLLBACK", line=children[0].line)

    def escalate(self, children: Children) -> ControlStmt:
        return ControlStmt("ESCALATE", line=children[0].line)

    def phase(self, children: Children) -> ControlStmt:
        return ControlStmt("PHASE", children[0].text, line=children[0].line)

    # --- the model ---

    def task(self, children: Children) -> Part:
        return Part("task", children[0].value)

    def using(self, children: Children) -> Part:
        return Part("using", children[0])

    def field_domain(self, children: Children) -> Part:
        return Part("domain", children[0])

    def field_default(self, children: Children) -> Part:
        return Part("default", children[0])

    def field(self, children: Children) -> FieldPart:
        name, *rest = children
        type_name = rest.pop(0).text if rest and isinstance(rest[0], Lexeme) else "Any"
        made = FieldPart(name, type_name)
        items = last(rest, "domain")
        made.domain = None if items is None else domain_of(items, type_name, name.line)
        made.default = last(rest, "default")
        return made

    field_after = field

    def produce(self, children: Children) -> Part:
        return Part("produce", list(children))

    def reason(self, children: Children) -> ReasonStmt:
        keyword, *rest = children
        label = rest.pop(0).value if rest and isinstance(rest[0], Lexeme) else ""
        fields: dict[str, FieldPart] = {one.name.text: one for one in last(rest, "produce", [])}
        return ReasonStmt(
            last(rest, "task", label), last(rest, "using", ()), *_schema(fields.values()), line=keyword.line
        )

    def noul(self, children: Children) -> Question:
        return Question("", "NOUL", children[1].value)

    def criterion(self, children: Children) -> tuple[str, str]:
        return children[0].text, children[1].value

    def choice(self, children: Children) -> Question:
        return Question("", "CHOICE", children[1].value, criteria=tuple(children[2:]))

    def score(self, children: Children) -> Question:
        levels = tuple(one.value for one in children[2:] if one.type != "[")
        return Question("", "SCORE", children[1].value, levels=levels)

    def abstain(self, children: Children) -> Part:
        return Part("abstain", float(children[0].value))

    def question(self, children: Children) -> FieldPart:
        name, asked, *options = children
        line = name.line
        types = {"NOUL": "Bool", "CHOICE": "Symbol", "SCORE": "Number"}
        made = FieldPart(name, types[asked.kind])
        if asked.kind == "CHOICE":
            made.domain = Domain(
                "SET", values=tuple(Symbol(option) for option, _ in asked.criteria), line=line
            )
        elif asked.kind == "SCORE":
            made.domain = Domain("RANGE", 0, len(asked.levels) - 1, line=line)
        made.default = last(options, "default")
        made.question = Question(
            name.text,
            asked.kind,
            asked.instructions,
            asked.criteria,
            asked.levels,
            last(options, "abstain"),
            line=line,
        )
        return made

    question_after = question

    def judge(self, children: Children) -> JudgeStmt:
        keyword, *rest = children
        label = rest.pop(0).value if rest and isinstance(rest[0], Lexeme) else ""
        fields: dict[str, FieldPart] = {}
        for one in rest:
            if isinstance(one, FieldPart):
                if one.name.text in fields:
                    raise self.refuse("parse.judge_duplicate", one.name, field=one.name.text)
                fields[one.name.text] = one
        questions = tuple(one.question for one in fields.values() if one.question is not None)
        return JudgeStmt(
            last(rest, "task", label),
            last(rest, "using", ()),
            *_schema(fields.values()),
            questions,
            line=keyword.line,
        )

    # --- people, sub-agents, messages ---

    def ask_question(self, children: Children) -> Part:
        return Part("question", children[0].value)

    def ask_reason(self, children: Children) -> Part:
        return Part("reason", children[0].text)

    def ask_timeout(self, children: Children) -> Part:
        return Part("timeout", float(children[0].value))

    def ask_default(self, children: Children) -> Part:
        return Part("default", children[0])

    def ask(self, children: Children) -> AskStmt:
        keyword, name, *rest = children
        return AskStmt(
            name.text,
            last(rest, "question", ""),
            last(rest, "reason", ""),
            last(rest, "timeout"),
            last(rest, "default"),
            line=keyword.line,
        )

    def delegate_input(self, children: Children) -> Part:
        return Part("input", children[0])

    def delegate_expect(self, children: Children) -> Part:
        return Part("expect", children[0])

    def delegate(self, children: Children) -> DelegateStmt:
        keyword, name, *rest = children
        return DelegateStmt(
            name.text,
            last(rest, "task", ""),
            last(rest, "input", ()),
            last(rest, "expect", ()),
            line=keyword.line,
        )

    def message_to(self, children: Children) -> Part:
        return Part("to", children[0].text)

    def message_broadcast(self, _children: Children) -> Part:
        return Part("broadcast", True)

    def pair(self, children: Children) -> tuple[str, Expr]:
        return children[0].text, children[1]

    pair_after = pair

    def payload(self, children: Children) -> Part:
        return Part("payload", tuple(dict(children).items()))

    def message(self, children: Children) -> MessageStmt:
        keyword, name, *rest = children
        return MessageStmt(
            name.text,
            last(rest, "to"),
            last(rest, "broadcast", False),
            last(rest, "payload", ()),
            line=keyword.line,
        )


def _schema(fields: Iterable[FieldPart]) -> tuple[Any, Any, Any]:
    known = list(fields)
    produce = tuple((one.name.text, one.type) for one in known)
    domains = tuple((one.name.text, one.domain) for one in known if one.domain is not None)
    defaults = tuple((one.name.text, one.default) for one in known if one.default is not None)
    return produce, domains, defaults
