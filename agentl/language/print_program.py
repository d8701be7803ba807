"""From tree to text: declarations, agents and programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agentl.language.nodes import (
    Agent,
    BeliefDecl,
    Decide,
    Effect,
    EventHandler,
    EvidenceItem,
    Goal,
    Hypothesis,
    LoopSpec,
    MemorySpec,
    MessageHandler,
    Observer,
    Plan,
    PlannerSpec,
    PolicyRule,
    Program,
    Scenario,
    ToolDecl,
)
from agentl.language.print_statements import body_lines, reason_lines, statement_lines
from agentl.language.printer import (
    braced,
    expression_text,
    indented,
    name_text,
    names_text,
    number_text,
    path_text,
    quoted,
)


def program_text(program: Program) -> str:
    """The whole program, with a line end after each line."""
    return "".join(f"{line}\n" for agent in program.agents for line in agent_lines(agent))


def agent_lines(agent: Agent) -> Iterator[str]:
    """One AGENT."""
    yield from braced(f"AGENT {name_text(agent.name)}", _members(agent))


def _members(agent: Agent) -> Iterator[str]:
    yield f"VERSION {quoted(agent.version)}"
    yield f"DESCRIPTION {quoted(agent.description)}"
    for goal in agent.goals:
        yield from braced(f"GOAL {goal.name}", _goal(goal))
    if agent.beliefs:
        yield from braced("BELIEF", map(_belief, agent.beliefs))
    if agent.observers:
        yield from braced("OBSERVE", map(_observer, agent.observers))
    yield from braced("MEMORY", _memory(agent.memory))
    for tool in agent.tools:
        yield from braced(f"TOOL {name_text(tool.name)}", _tool(tool))
    if agent.has_policy or agent.policies or agent.redactions or agent.policy_default:
        yield from braced("POLICY", policy_lines(agent))
    yield from _reasoning(agent)
    yield from _behaviour(agent)


def _reasoning(agent: Agent) -> Iterator[str]:
    for hypothesis in agent.hypotheses:
        yield from braced(f"HYPOTHESIS {name_text(hypothesis.name)}", _hypothesis(hypothesis))
    if agent.planner is not None:
        yield from braced("PLANNER", _planner(agent.planner))
    if agent.utility:
        terms = (f"{expression_text(one.condition)} VALUE {number_text(one.value)}," for one in agent.utility)
        yield from braced("UTILITY", terms)


def _behaviour(agent: Agent) -> Iterator[str]:
    for plan in agent.plans:
        yield from _plan(plan)
    for event in agent.events:
        yield from braced(f"EVENT {path_text(event.source)}", _handler(event))
    for message in agent.messages:
        yield from braced(f"ON MESSAGE {name_text(message.name)}", _handler(message))
    if agent.decide is not None:
        yield from braced("DECIDE", _decide(agent.decide))
    if agent.on_verify_fail:
        yield from braced("ON VERIFY.FAIL", body_lines(agent.on_verify_fail))
    for scenario in agent.scenarios:
        yield from braced(f"SCENARIO {name_text(scenario.name)}", _scenario(scenario))
    if agent.loop is not None:
        yield from braced(_loop_head(agent.loop), body_lines(agent.loop.body))


def _goal(goal: Goal) -> Iterator[str]:
    if goal.condition is not None:
        yield f"{goal.mode} {expression_text(goal.condition)}"
    if goal.targets:
        yield from braced("TARGET", (f"{expression_text(one)}," for one in goal.targets))
    yield f"WEIGHT {number_text(goal.weight)}"


def _belief(belief: BeliefDecl) -> str:
    text = f"{path_text(belief.path)} = {expression_text(belief.value)}"
    text += f" CONFIDENCE {number_text(belief.confidence)} SOURCE {name_text(belief.source)}"
    if belief.updated is not None:
        updated = belief.updated
        text += f" UPDATED {quoted(updated) if isinstance(updated, str) else number_text(updated)}"
    return text


def _observer(observer: Observer) -> str:
    text = path_text(observer.path)
    if observer.when is not None:
        text += f" WHEN {expression_text(observer.when)}"
    if observer.on_unknown is not None:
        text += f" ON UNKNOWN {observer.on_unknown}"
        if observer.fallback is not None:
            text += f" {expression_text(observer.fallback)}"
    return f"{text},"


def _memory(memory: MemorySpec) -> Iterator[str]:
    compartments = {
        "SHORT_TERM": memory.short_term,
        "LONG_TERM": memory.long_term,
        "KNOWLEDGE": memory.knowledge,
        "SHARED": memory.shared,
    }
    for name, keys in compartments.items():
        if keys:
            yield f"{name} {names_text(keys)}"
    for write in memory.writes:
        fields = [] if write.when is None else [f"WHEN {expression_text(write.when)}"]
        target = ".".join([name_text(write.into), *map(name_text, write.key.split("."))])
        yield from braced("WRITE", [*fields, f"STORE {names_text(write.store)}", f"INTO {target}"])


def _typed(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, type_name in pairs:
        yield f"{name_text(name)}: {name_text(type_name)}"


def _tool(tool: ToolDecl) -> Iterator[str]:
    yield f"DESCRIPTION {quoted(tool.description)}"
    bindings = dict(tool.bindings)
    attestations = dict(tool.attestations)
    inputs = []
    for (name, _), text in zip(tool.inputs, _typed(tool.inputs), strict=True):
        bind = f" BIND {path_text(bindings[name])}" if name in bindings else ""
        attests = f" ATTESTS {name_text(attestations[name])}" if name in attestations else ""
        inputs.append(f"{text}{bind}{attests},")
    yield from braced("INPUT", inputs)
    yield from braced("OUTPUT", (f"{text}," for text in _typed(tool.outputs)))
    yield f"SIDE_EFFECT {names_text(tool.side_effects)}"
    yield f"RISK {name_text(tool.risk)}"
    if tool.requires is not None:
        yield f"REQUIRES {{ {expression_text(tool.requires)} }}"
    if tool.effects:
        yield from braced("EFFECT", _effects(tool.effects))
    for outcome in tool.outcomes:
        head = f"OUTCOME {name_text(outcome.name)} WITH {number_text(outcome.probability)}"
        yield from braced(head, _effects(outcome.effects))
    if tool.cost is not None:
        yield f"COST {number_text(tool.cost)}"
    if tool.duration is not None:
        yield f"DURATION {number_text(tool.duration)}s"


def _effects(effects: Iterable[Effect]) -> Iterator[str]:
    for effect in effects:
        internal = " INTERNAL" if effect.internal else ""
        yield f"{path_text(effect.path)} = {expression_text(effect.value)}{internal},"


def policy_lines(agent: Agent) -> Iterator[str]:
    """The POLICY block of an agent, line by line; nothing when it has none."""
    if agent.policy_default is not None:
        yield f"DEFAULT {name_text(agent.policy_default)}"
    for redaction in agent.redactions:
        yield f"NEVER SEND {path_text(redaction.path)}"
    yield from map(rule_text, agent.policies)


def rule_text(rule: PolicyRule) -> str:
    """A policy rule on one line."""
    effect = "REQUIRE APPROVAL FOR" if rule.effect == "REQUIRE_APPROVAL" else rule.effect
    text = f"{effect} {rule.target if rule.target == '*' else path_text(rule.target)}"
    if rule.by is not None:
        text += f" BY {name_text(rule.by)}"
    return text if rule.guard is None else f"{text} WHEN {expression_text(rule.guard)}"


def _plan(plan: Plan) -> Iterator[str]:
    when = "" if plan.when is None else f" WHEN {expression_text(plan.when)}"
    yield f"PLAN {name_text(plan.name)} PRIORITY {number_text(plan.priority)}{when} {{"
    for step in plan.steps:
        yield from indented(braced(f"STEP {name_text(step.name)}", body_lines(step.body)))
    yield "}"


def _handler(handler: EventHandler | MessageHandler) -> Iterator[str]:
    if handler.when is not None:
        yield f"WHEN {expression_text(handler.when)},"
    yield from body_lines(handler.body)


def _decide(decide: Decide) -> Iterator[str]:
    if decide.rules:
        yield from braced("RULES", (line for rule in decide.rules for line in statement_lines(rule)))
    if decide.reason is not None:
        yield from reason_lines(decide.reason)


def _hypothesis(hypothesis: Hypothesis) -> Iterator[str]:
    yield f"DESCRIPTION {quoted(hypothesis.description)}"
    yield f"PRIOR {number_text(hypothesis.prior)}"
    if hypothesis.prior_bucket is not None:
        key = [name_text(part) for part in (hypothesis.prior_key or "records").split(".")]
        where = (
            "" if hypothesis.prior_filter is None else f" WHERE {expression_text(hypothesis.prior_filter)}"
        )
        yield f"PRIOR FROM {'.'.join([name_text(hypothesis.prior_bucket), *key])}{where}"
    yield f"THRESHOLD {number_text(hypothesis.threshold)}"
    if hypothesis.max_evidence is not None:
        yield f"MAX_EVIDENCE {number_text(hypothesis.max_evidence)}"
    if hypothesis.predict is not None:
        yield f"PREDICT {expression_text(hypothesis.predict)}"
    if hypothesis.evidence:
        yield from braced("EVIDENCE", map(_evidence, hypothesis.evidence))
    if hypothesis.explains_path is not None:
        value = hypothesis.explains_value
        cause = "" if value is None else f" = {expression_text(value)}"
        yield f"EXPLAINS {path_text(hypothesis.explains_path)}{cause}"


def _evidence(item: EvidenceItem) -> str:
    numbers = f"LIKELIHOOD {number_text(item.likelihood)} GIVEN_NOT {number_text(item.given_not)}"
    text = f"{expression_text(item.test)} {numbers}"
    return f"{text}," if item.group is None else f"GROUP {name_text(item.group)} {{ {text} }}"


def _planner(planner: PlannerSpec) -> Iterator[str]:
    yield "ENABLE"
    for one in planner.achieve:
        yield f"ACHIEVE {expression_text(one)}"
    yield f"MAX_DEPTH {planner.max_depth}"
    yield f"MAX_NODES {planner.max_nodes}"
    yield f"APPROVAL_COST {number_text(planner.approval_cost)}"
    yield f"TARGET_CONFIDENCE {number_text(planner.target_confidence)}"
    if planner.deadline is not None:
        yield f"DEADLINE {number_text(planner.deadline)}s"
    yield f"TIME_WEIGHT {number_text(planner.time_weight)}"


def _scenario(scenario: Scenario) -> Iterator[str]:
    if scenario.given:
        yield from braced("GIVEN", _effects(scenario.given))
    for stimulus in scenario.stimuli:
        sender = f" FROM {name_text(stimulus.sender)}" if stimulus.kind == "MESSAGE" else ""
        head = f"GIVEN {stimulus.kind} {path_text(stimulus.name)}{sender}"
        yield from braced(head, _effects(stimulus.payload))
    if scenario.expect:
        yield from braced("EXPECT", (f"{expression_text(one)}," for one in scenario.expect))
    for assertion in scenario.assertions:
        target = path_text(assertion.target) if assertion.target else ""
        yield f"EXPECT {assertion.kind} {target}".rstrip()
    yield f"WITHIN {scenario.within}"


def _loop_head(loop: LoopSpec) -> str:
    until = "" if loop.until is None else f" UNTIL {expression_text(loop.until)}"
    return f"LOOP{until}" + ("" if loop.max_iter is None else f" MAX {loop.max_iter}")
