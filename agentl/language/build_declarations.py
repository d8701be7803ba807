"""From grammar to tree: the declarations of an agent (`GRM-4` to `GRM-13`, `AST-4`)."""

from __future__ import annotations

from typing import Any

from agentl.language.build_expressions import Children
from agentl.language.build_statements import Part, StatementBuilder, body_of, last
from agentl.language.lexer import Lexeme
from agentl.language.nodes import (
    BeliefDecl,
    Decide,
    Effect,
    EventHandler,
    Expr,
    Goal,
    IfStmt,
    MemorySpec,
    MemoryWrite,
    MessageHandler,
    Observer,
    Outcome,
    Plan,
    PolicyRule,
    ReasonStmt,
    Redaction,
    Step,
    ToolDecl,
)


class InputPart:
    """A parameter of a tool: name, type, bound path, attested parameter."""

    __slots__ = ("attests", "bind", "name", "type")

    def __init__(self, name: str, type_name: str) -> None:
        self.name = name
        self.type = type_name
        self.bind: str | None = None
        self.attests: str | None = None


class DeclarationBuilder(StatementBuilder):
    """Builds goals, beliefs, sensors, memory, tools, policy, plans and handlers."""

    def when(self, children: Children) -> Part:
        return Part("when", children[0])

    # --- goal, belief, observe, memory ---

    def goal_mode(self, children: Children) -> Part:
        return Part("mode", (children[0].text, children[1]))

    def goal_targets(self, children: Children) -> Part:
        return Part("targets", tuple(children))

    def goal_weight(self, children: Children) -> Part:
        return Part("weight", children[0].value)

    def goal_condition(self, children: Children) -> Part:
        return Part("condition", children[0])

    def goal_weight_condition(self, children: Children) -> list[Part]:
        return [Part("weight", children[0].value), Part("condition", children[1])]

    def goal(self, children: Children) -> Goal:
        keyword, *rest = children
        name = rest.pop(0).text if rest and isinstance(rest[0], Lexeme) else "main"
        mode = "MAINTAIN"
        condition: Expr | None = None
        targets: tuple[Expr, ...] = ()
        weight: float | int = 1.0
        for part in [one for item in rest for one in (item if isinstance(item, list) else [item])]:
            if part.key == "mode":
                mode, condition = part.value
            elif part.key == "condition":
                condition = part.value
            elif part.key == "targets":
                targets += part.value
            else:
                weight = part.value
        return Goal(
            name,
            "ACHIEVE" if mode == "ACHIEVE" else "MAINTAIN",
            condition,
            targets,
            weight,
            line=keyword.line,
        )

    def belief_confidence(self, children: Children) -> Part:
        return Part("confidence", float(children[0].value))

    def belief_source(self, children: Children) -> Part:
        return Part("source", children[0].text)

    def belief_updated(self, children: Children) -> Part:
        lexeme: Lexeme = children[0]
        return Part("updated", lexeme.value if lexeme.type in {"NUM", "PCT", "DUR"} else lexeme.text)

    def belief_entry(self, children: Children) -> BeliefDecl:
        path, value, *rest = children
        return BeliefDecl(
            path.dotted,
            value,
            last(rest, "confidence", 1.0),
            last(rest, "source", "declared"),
            last(rest, "updated"),
            line=path.line,
        )

    def belief(self, children: Children) -> Part:
        return Part("beliefs", tuple(children))

    def observe_escalate(self, _children: Children) -> Part:
        return Part("unknown", ("ESCALATE", None))

    def observe_degrade(self, children: Children) -> Part:
        return Part("unknown", ("DEGRADE", children[1]))

    def observed(self, children: Children) -> Observer:
        path, *rest = children
        on_unknown, fallback = last(rest, "unknown", (None, None))
        return Observer(path.dotted, last(rest, "when"), on_unknown, fallback, line=path.line)

    def observe(self, children: Children) -> Part:
        return Part("observers", tuple(children))

    def memory_keys(self, children: Children) -> Part:
        return Part(children[0].text, children[1])

    def memory_key(self, children: Children) -> Part:
        return Part("LONG_TERM", (children[0].dotted,))

    def write_store(self, children: Children) -> Part:
        return Part("store", children[0])

    def write_into(self, children: Children) -> Part:
        return Part("into", children[0])

    def memory_write(self, children: Children) -> MemoryWrite:
        keyword, *rest = children
        bucket: tuple[str, ...] = last(rest, "into", ("LONG_TERM",))
        key = ".".join(bucket[1:]) or "records"
        return MemoryWrite(
            last(rest, "when"), last(rest, "store", ()), bucket[0].upper(), key, line=keyword.line
        )

    def memory(self, children: Children) -> Part:
        keyword, *rest = children
        keys: dict[str, tuple[str, ...]] = {"SHORT_TERM": (), "LONG_TERM": (), "KNOWLEDGE": (), "SHARED": ()}
        for part in rest:
            if isinstance(part, Part):
                keys[part.key] += part.value
        writes = tuple(one for one in rest if isinstance(one, MemoryWrite))
        spec = MemorySpec(
            keys["SHORT_TERM"],
            keys["LONG_TERM"],
            keys["KNOWLEDGE"],
            keys["SHARED"],
            writes,
            line=keyword.line,
        )
        return Part("memory", spec)

    # --- tools ---

    def parameter(self, children: Children) -> tuple[str, str]:
        return children[0].text, children[1].text if len(children) > 1 else "Any"

    def short_tool(self, children: Children) -> ToolDecl:
        name, *parameters = [
            one for one in children if not isinstance(one, Lexeme) or one.type != "CALL_PAREN"
        ]
        return ToolDecl(name.text, inputs=tuple(dict(parameters).items()), line=name.line)

    def tools(self, children: Children) -> Part:
        return Part("tools", tuple(children))

    def bind(self, children: Children) -> Part:
        return Part("bind", children[0].dotted)

    def attests(self, children: Children) -> Part:
        return Part("attests", children[0].text)

    def input(self, children: Children) -> InputPart:
        name, *rest = children
        type_name = rest.pop(0).text if rest and isinstance(rest[0], Lexeme) else "Any"
        made = InputPart(name.text, type_name)
        made.bind = last(rest, "bind")
        made.attests = last(rest, "attests")
        return made

    input_after = input  # noqa: A003

    def tool_input(self, children: Children) -> Part:
        return Part("inputs", list(children))

    def tool_output(self, children: Children) -> Part:
        return Part("outputs", tuple(dict(children).items()))

    def tool_description(self, children: Children) -> Part:
        return Part("description", children[0].value)

    def tool_side_effect(self, children: Children) -> Part:
        return Part("side_effects", children[0])

    def risk_pair(self, children: Children) -> Lexeme:
        value: Lexeme = children[1]
        return value

    def tool_risk(self, children: Children) -> Part:
        return Part("risk", children[-1].text.upper() if children else "LOW")

    def tool_requires(self, children: Children) -> Part:
        return Part("requires", children[0])

    def effect(self, children: Children) -> Effect:
        path, value, *internal = children
        return Effect(path.dotted, value, bool(internal), line=path.line)

    def effects(self, children: Children) -> tuple[Effect, ...]:
        return tuple(children)

    def tool_effect(self, children: Children) -> Part:
        return Part("effects", children[0])

    def probability(self, children: Children) -> Part:
        return Part("probability", float(children[0].value))

    def outcome(self, children: Children) -> Outcome:
        keyword, name, *rest = children
        return Outcome(name.text, last(rest, "probability", 1.0), rest[-1], line=keyword.line)

    def tool_cost(self, children: Children) -> Part:
        return Part("cost", children[0].value)

    def tool_duration(self, children: Children) -> Part:
        return Part("duration", children[0].value)

    def tool(self, children: Children) -> ToolDecl:
        keyword, name, *rest = children
        inputs: list[InputPart] = last(rest, "inputs", [])
        return ToolDecl(
            name.text,
            last(rest, "description", ""),
            tuple({one.name: one.type for one in inputs}.items()),
            last(rest, "outputs", ()),
            last(rest, "side_effects", ()),
            last(rest, "risk", "LOW"),
            tuple((one.name, one.bind) for one in inputs if one.bind is not None),
            last(rest, "requires"),
            last(rest, "effects", ()),
            tuple(one for one in rest if isinstance(one, Outcome)),
            last(rest, "cost"),
            last(rest, "duration"),
            tuple((one.name, one.attests) for one in inputs if one.attests is not None),
            line=keyword.line,
        )

    # --- policy ---

    def policy_default(self, children: Children) -> Part:
        return Part("default", children[0].text.upper())

    def redactions(self, children: Children) -> list[Redaction]:
        return [Redaction(path.dotted, line=path.line) for path in children if not isinstance(path, Lexeme)]

    def guard(self, children: Children) -> Part:
        return Part("guard", children[0])

    def ring(self, children: Children) -> Part:
        word, name = children
        if word.text != "BY":
            raise self.refuse("parse.policy_effect", word, expected=("BY", "IF", "WHEN", "}"))
        return Part("by", name.text)

    def rule(self, children: Children) -> PolicyRule:
        keyword, target, *rest = children
        return PolicyRule(keyword.text, _target(target), last(rest, "guard"), line=keyword.line)

    def approval(self, children: Children) -> PolicyRule:
        keyword, target, *rest = children
        return PolicyRule(
            "REQUIRE_APPROVAL", _target(target), last(rest, "guard"), last(rest, "by"), line=keyword.line
        )

    def policy(self, children: Children) -> Part:
        return Part("policy", children[1:])

    # --- plans, handlers, decide ---

    def plan_priority(self, children: Children) -> Part:
        return Part("priority", children[0])

    def step(self, children: Children) -> Step:
        keyword, name, *statements = children
        return Step(name.text, body_of(statements), line=keyword.line)

    def plan(self, children: Children) -> Plan:
        keyword, name, *rest = children
        options = [one for one in rest if isinstance(one, Part)]
        for key, word in (("priority", "PRIORITY"), ("when", "WHEN")):
            if sum(one.key == key for one in options) > 1:
                raise self.refuse("parse.duplicate_option", name, option=word)
        steps = tuple(one for one in rest if isinstance(one, Step))
        if not steps:
            body = next((one for one in rest if isinstance(one, tuple)), ())
            steps = (Step("main", body, line=keyword.line),)
        return Plan(name.text, steps, last(options, "when"), last(options, "priority", 0), line=keyword.line)

    def event(self, children: Children) -> EventHandler:
        keyword, path, *rest = children
        statements = [one for one in rest if not isinstance(one, Part)]
        return EventHandler(path.dotted, last(rest, "when"), body_of(statements), line=keyword.line)

    def on_message(self, children: Children) -> MessageHandler:
        keyword, name, *rest = children
        statements = [one for one in rest if not isinstance(one, Part)]
        return MessageHandler(name.text, last(rest, "when"), body_of(statements), line=keyword.line)

    def on_verify_fail(self, children: Children) -> Part:
        return Part("on_verify_fail", children[-1])

    def decide_rules(self, children: Children) -> Part:
        return Part("rules", tuple(children))

    def decide(self, children: Children) -> Decide:
        keyword, *rest = children
        rules: list[IfStmt] = []
        reason: ReasonStmt | None = None
        for one in rest:
            if isinstance(one, Part):
                rules.extend(one.value)
            elif isinstance(one, IfStmt):
                rules.append(one)
            else:
                reason = one
        return Decide(tuple(rules), reason, line=keyword.line)


def _target(target: Any) -> str:
    return target.text if isinstance(target, Lexeme) else target.dotted
