"""From grammar to tree: reasoning, scenarios, agent, program (`GRM-2`, `GRM-3`, `GRM-14` to `GRM-18`)."""

from __future__ import annotations

from typing import Any

from agentl.language.build_declarations import DeclarationBuilder
from agentl.language.build_expressions import Children
from agentl.language.build_statements import Part, last
from agentl.language.depth import deepest
from agentl.language.nodes import (
    Agent,
    Decide,
    EventHandler,
    EvidenceItem,
    Expr,
    Goal,
    Hypothesis,
    LoopSpec,
    MemorySpec,
    MessageHandler,
    Plan,
    PlannerSpec,
    PolicyRule,
    Program,
    Redaction,
    Scenario,
    ScenarioAssertion,
    ScenarioStimulus,
    ToolDecl,
    UtilityTerm,
)
from agentl.language.printer import expression_text
from agentl.language.token_pass import MAX_NESTING, too_deep

_ASSERTIONS = {
    ("CALL",): "CALL",
    ("NEVER", "CALL"): "NEVER CALL",
    ("BLOCKED",): "BLOCKED",
    ("EVENT",): "EVENT",
}


class ProgramBuilder(DeclarationBuilder):
    """Builds everything: one method per rule of the grammar."""

    # --- hypothesis ---

    def hypothesis_description(self, children: Children) -> Part:
        return Part("description", children[0].value)

    def prior(self, children: Children) -> Part:
        return Part("prior", float(children[0].value))

    def where(self, children: Children) -> Part:
        return Part("where", children[0])

    def prior_from(self, children: Children) -> Part:
        return Part("prior_from", (children[0], last(children[1:], "where")))

    def threshold(self, children: Children) -> Part:
        return Part("threshold", float(children[0].value))

    def max_evidence(self, children: Children) -> Part:
        return Part("max_evidence", float(children[0].value))

    def predict(self, children: Children) -> Part:
        return Part("predict", children[0])

    def explains(self, children: Children) -> Part:
        return Part("explains", (children[0].dotted, children[1] if len(children) > 1 else None))

    def likelihood(self, children: Children) -> Part:
        return Part("likelihood", float(children[0].value))

    def given_not(self, children: Children) -> Part:
        return Part("given_not", float(children[0].value))

    def item(self, children: Children) -> EvidenceItem:
        test: Expr = children[0]
        options = children[1:]
        depth, line = deepest(test)
        if depth > MAX_NESTING:  # before the label is printed: printing recurses
            raise too_deep(depth, line, 1, self.text, self.filename)
        return EvidenceItem(
            test,
            last(options, "likelihood", 0.90),
            last(options, "given_not", 0.10),
            expression_text(test),
            line=test.line,
        )

    weighed_item = lead_item = item

    def evidence_group(self, children: Children) -> list[EvidenceItem]:
        name, *items = children
        return [
            EvidenceItem(one.test, one.likelihood, one.given_not, one.label, name.text, line=one.line)
            for one in items
        ]

    def evidence(self, children: Children) -> Part:
        items: list[EvidenceItem] = []
        for child in children:
            items.extend(child if isinstance(child, list) else [child])
        return Part("evidence", tuple(items))

    def hypothesis(self, children: Children) -> Hypothesis:
        keyword, name, *parts = children
        bucket, record_filter = last(parts, "prior_from", (None, None))
        explains_path, explains_value = last(parts, "explains", (None, None))
        return Hypothesis(
            name.text,
            last(parts, "description", ""),
            last(parts, "prior", 0.10),
            last(parts, "threshold", 0.90),
            tuple(one for part in parts if part.key == "evidence" for one in part.value),
            bucket[0] if bucket else None,
            (".".join(bucket[1:]) or "records") if bucket else None,
            record_filter,
            explains_path,
            explains_value,
            last(parts, "max_evidence"),
            last(parts, "predict"),
            line=keyword.line,
        )

    # --- planner, utility ---

    def planner_enable(self, _children: Children) -> Part:
        return Part("enable", True)

    def planner_achieve(self, children: Children) -> Part:
        return Part("achieve", children[0])

    def planner_count(self, children: Children) -> Part:
        return Part(children[0].text, self.whole(children[1], "count"))

    def planner_number(self, children: Children) -> Part:
        return Part(children[0].text, float(children[1].value))

    def planner_deadline(self, children: Children) -> Part:
        return Part("deadline", children[0].value)

    def planner(self, children: Children) -> PlannerSpec:
        keyword, *parts = children
        return PlannerSpec(
            True,
            last(parts, "MAX_DEPTH", 4),
            last(parts, "MAX_NODES", 2000),
            last(parts, "APPROVAL_COST", 10.0),
            tuple(part.value for part in parts if part.key == "achieve"),
            last(parts, "TARGET_CONFIDENCE", 1.0),
            last(parts, "deadline"),
            last(parts, "TIME_WEIGHT", 0.0),
            line=keyword.line,
        )

    def term(self, children: Children) -> UtilityTerm:
        condition, value = children
        return UtilityTerm(condition, value, line=condition.line)

    lead_term = term

    def utility(self, children: Children) -> Part:
        return Part("utility", tuple(children))

    # --- scenarios ---

    def given(self, children: Children) -> Part:
        return Part("given", children[0])

    def sender(self, children: Children) -> Part:
        return Part("sender", children[0].text)

    def given_event(self, children: Children) -> ScenarioStimulus:
        keyword, path, payload = children
        return ScenarioStimulus("EVENT", path.dotted, payload, line=keyword.line)

    def given_message(self, children: Children) -> ScenarioStimulus:
        keyword, path, *rest = children
        sender = last(rest, "sender", "scenario")
        return ScenarioStimulus("MESSAGE", path.dotted, rest[-1], sender, line=keyword.line)

    def expect(self, children: Children) -> Part:
        return Part("expect", tuple(children))

    def assertion(self, children: Children) -> ScenarioAssertion:
        keyword, first, *paths = children
        written = [first.text.upper(), *[path.dotted for path in paths]]
        # The last word is the target, the others say what is asserted; NO ERROR has no target.
        if [word.upper() for word in written] == ["NO", "ERROR"]:
            return ScenarioAssertion("NO ERROR", line=keyword.line)
        kind = _ASSERTIONS.get(tuple(word.upper() for word in written[:-1]))
        if kind is None:
            raise self.refuse(
                "parse.assertion",
                first,
                word=" ".join([first.text, *written[1:-1]]),
                expected=("CALL", "NEVER CALL", "BLOCKED", "EVENT", "NO ERROR"),
            )
        return ScenarioAssertion(kind, written[-1], line=keyword.line)  # type: ignore[arg-type]

    def within(self, children: Children) -> Part:
        return Part("within", self.whole(children[0], "ticks"))

    def scenario(self, children: Children) -> Scenario:
        keyword, name, *parts = children
        expect = tuple(one for part in parts if _is(part, "expect") for one in part.value)
        assertions = tuple(one for one in parts if isinstance(one, ScenarioAssertion))
        if not expect and not assertions:
            raise self.refuse("parse.no_expectation", name, scenario=name.text, expected=("EXPECT",))
        return Scenario(
            name.text,
            tuple(one for part in parts if _is(part, "given") for one in part.value),
            expect,
            last(parts, "within", 1),
            tuple(one for one in parts if isinstance(one, ScenarioStimulus)),
            assertions,
            line=keyword.line,
        )

    # --- agent and program ---

    def version(self, children: Children) -> Part:
        return Part("version", children[0].text)

    def agent_description(self, children: Children) -> Part:
        return Part("description", children[0].value)

    def agent_loop(self, children: Children) -> LoopSpec:
        keyword, *parts, body = children
        return LoopSpec(body, last(parts, "until"), last(parts, "max"), line=keyword.line)

    def agent(self, children: Children) -> Agent:
        keyword, name, *members = children
        policies = [one for member in members if _is(member, "policy") for one in member.value]
        rules: list[Any] = [one for item in policies for one in (item if isinstance(item, list) else [item])]
        tools = [one for member in members for one in _tools_in(member)]
        return Agent(
            name.text,
            last(members, "version", "0.1"),
            last(members, "description", ""),
            _all(members, Goal),
            _joined(members, "beliefs"),
            _joined(members, "observers"),
            last(members, "memory") or MemorySpec(),
            tuple(tools),
            _all(rules, PolicyRule),
            last(rules, "default"),
            _all(members, Plan),
            _all(members, EventHandler),
            _latest(members, Decide),
            _all(members, Hypothesis),
            _latest(members, PlannerSpec),
            _all(members, MessageHandler),
            last(members, "utility", ()),
            _latest(members, LoopSpec),
            last(members, "on_verify_fail", ()),
            _all(members, Scenario),
            _all(rules, Redaction),
            any(_is(member, "policy") for member in members),
            line=keyword.line,
        )

    def program(self, children: Children) -> Program:
        return Program(tuple(children), line=children[0].line)


def _is(part: Any, key: str) -> bool:
    return isinstance(part, Part) and part.key == key


def _all(members: list[Any], kind: type) -> tuple[Any, ...]:
    return tuple(one for one in members if isinstance(one, kind))


def _latest(members: list[Any], kind: type) -> Any:
    return next((one for one in reversed(members) if isinstance(one, kind)), None)


def _joined(members: list[Any], key: str) -> tuple[Any, ...]:
    return tuple(one for member in members if _is(member, key) for one in member.value)


def _tools_in(member: Any) -> tuple[ToolDecl, ...]:
    if isinstance(member, ToolDecl):
        return (member,)
    return member.value if _is(member, "tools") else ()
