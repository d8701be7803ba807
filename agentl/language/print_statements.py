"""From tree to text: statements, one or more lines each."""

from __future__ import annotations

from collections.abc import Iterator

from agentl.language.nodes import (
    AskStmt,
    Body,
    CallStmt,
    ControlStmt,
    DelegateStmt,
    ForEachStmt,
    IfStmt,
    JudgeStmt,
    LoopStmt,
    MessageStmt,
    Question,
    ReasonStmt,
    SetStmt,
    Stmt,
    ThenPlan,
    VerifyStmt,
)
from agentl.language.printer import (
    braced,
    call_text,
    domain_text,
    expression_text,
    indented,
    name_text,
    names_text,
    number_text,
    path_text,
    quoted,
)


def body_lines(body: Body) -> Iterator[str]:
    """The statements of a body."""
    for statement in body:
        yield from statement_lines(statement)


def statement_lines(node: Stmt) -> Iterator[str]:
    """One statement."""
    if isinstance(node, CallStmt):
        yield call_text(node.call)
    elif isinstance(node, SetStmt):
        yield f"SET {path_text(node.target)} = {expression_text(node.value)}"
    elif isinstance(node, ThenPlan):
        # In braces a plan named CALL is not read as the noise word (GRM-22).
        yield "THEN { CALL }" if node.plan == "CALL" else path_text(node.plan)
    elif isinstance(node, ControlStmt):
        yield _control(node)
    elif isinstance(node, IfStmt):
        yield from _if(node)
    elif isinstance(node, VerifyStmt):
        yield from _verify(node)
    elif isinstance(node, ReasonStmt):
        yield from reason_lines(node)
    elif isinstance(node, LoopStmt):
        until = f" UNTIL {expression_text(node.until)}" if node.until is not None else ""
        yield from braced(f"LOOP{until} MAX {node.max_iter}", body_lines(node.body))
    elif isinstance(node, ForEachStmt):
        head = f"FOREACH {name_text(node.var)} IN {expression_text(node.source)} MAX {node.max_iter}"
        yield from braced(head, body_lines(node.body))
    else:
        yield from _outward(node)


def _control(node: ControlStmt) -> str:
    if node.kind == "RETRY":
        return f"RETRY {node.arg}" + (" FROM START" if node.from_start else "")
    if node.kind == "PHASE":
        # The comma keeps a phase VERIFY from taking in what follows (GRM-21).
        return f"{node.arg},"
    return node.kind


def _if(node: IfStmt) -> Iterator[str]:
    yield f"IF {expression_text(node.cond)} THEN {{"
    yield from indented(body_lines(node.then))
    if node.otherwise:
        yield "} ELSE {"
        yield from indented(body_lines(node.otherwise))
    yield "}"


def _verify(node: VerifyStmt) -> Iterator[str]:
    label = "" if node.label is None else f" {quoted(node.label)}"
    if not node.on_fail:
        yield f"VERIFY{label} {{ {expression_text(node.cond)} }}"
        return
    yield f"VERIFY{label} {{"
    yield f"  {expression_text(node.cond)}"
    yield from indented(braced("ON FAIL", body_lines(node.on_fail)))
    yield "}"


def reason_lines(node: ReasonStmt) -> Iterator[str]:
    """A REASON or a JUDGE."""
    yield from braced(node.keyword, _reason_fields(node))


def _reason_fields(node: ReasonStmt) -> Iterator[str]:
    if node.task:
        yield f"TASK {quoted(node.task)}"
    if node.using:
        yield f"USING {names_text(node.using)}"
    domains = dict(node.domains)
    defaults = {name: f" DEFAULT {expression_text(value)}" for name, value in node.defaults}
    if isinstance(node, JudgeStmt):
        for question in node.questions:
            yield _question(question) + defaults.get(question.name, "") + ","
    elif node.produce:
        fields = []
        for name, type_name in node.produce:
            domain = f" IN {domain_text(domains[name])}" if name in domains else ""
            fields.append(f"{name_text(name)}: {name_text(type_name)}{domain}{defaults.get(name, '')},")
        yield from braced("PRODUCE", fields)


def _question(question: Question) -> str:
    text = f"{name_text(question.name)}: {question.kind} {quoted(question.instructions)}"
    if question.kind == "CHOICE":
        options = ", ".join(
            f"{name_text(option)}: {quoted(meaning)}" for option, meaning in question.criteria
        )
        text += f" {{ {options} }}"
    elif question.kind == "SCORE":
        text += " [" + ", ".join(map(quoted, question.levels)) + "]"
    if question.abstain_below is not None:
        text += f" ABSTAIN BELOW {number_text(question.abstain_below)}"
    return text


def _outward(node: Stmt) -> Iterator[str]:
    if isinstance(node, AskStmt):
        fields = [f"QUESTION {quoted(node.question)}", f"REASON {quoted(node.reason)}"]
        if node.timeout is not None:
            fields.append(f"TIMEOUT {number_text(node.timeout)}")
        if node.default is not None:
            fields.append(f"DEFAULT {expression_text(node.default)}")
        yield from braced(f"ASK {name_text(node.addressee)}", fields)
    elif isinstance(node, DelegateStmt):
        fields = [f"TASK {quoted(node.task)}", f"INPUT {names_text(node.inputs)}"]
        yield from braced(f"DELEGATE {name_text(node.agent)}", [*fields, f"EXPECT {names_text(node.expect)}"])
    elif isinstance(node, MessageStmt):
        fields = [] if node.to is None else [f"TO {name_text(node.to)}"]
        fields += ["BROADCAST"] if node.broadcast else []
        if node.payload:
            pairs = ", ".join(f"{name_text(name)}: {expression_text(value)}" for name, value in node.payload)
            fields.append(f"PAYLOAD {{ {pairs} }}")
        yield from braced(f"MESSAGE {name_text(node.name)}", fields)
    else:
        raise TypeError(type(node).__name__)
