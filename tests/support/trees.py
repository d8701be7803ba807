"""Random programs as trees, for property tests: every construct of the language, every field of it."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from agentl.language.lexer import PHASES, RESERVED
from agentl.language.nodes import (
    Agent,
    AskStmt,
    BeliefDecl,
    BinOp,
    Body,
    CallExpr,
    CallStmt,
    ControlStmt,
    Decide,
    DelegateStmt,
    Domain,
    Effect,
    EventHandler,
    EvidenceItem,
    Expr,
    ForEachStmt,
    Goal,
    Hypothesis,
    IfStmt,
    JudgeStmt,
    ListExpr,
    Literal,
    LoopSpec,
    LoopStmt,
    MemorySpec,
    MemoryWrite,
    MessageHandler,
    MessageStmt,
    Observer,
    Outcome,
    PathExpr,
    Plan,
    PlannerSpec,
    PolicyRule,
    Program,
    Question,
    ReasonStmt,
    Redaction,
    Scenario,
    ScenarioAssertion,
    ScenarioStimulus,
    SetStmt,
    Step,
    ThenPlan,
    ToolDecl,
    UnOp,
    UtilityTerm,
    VerifyStmt,
)
from agentl.language.printer import expression_text
from agentl.values import Symbol

WORDS = ("a", "b", "zone", "CALL", "BY", "START", "HIGH", "tank_2", "_", "P")
identifiers = st.one_of(
    st.sampled_from(WORDS), st.from_regex(r"[A-Za-z_][A-Za-z_0-9]{0,6}", fullmatch=True)
).filter(lambda word: word not in RESERVED)
texts = st.text(st.characters(codec="utf-8"), max_size=8)
names = st.one_of(identifiers, st.sampled_from(sorted(RESERVED)), texts)
segments = st.one_of(identifiers, st.sampled_from(("WHEN", "IN", "1", "007", "a b", "é")))
paths = st.builds(lambda first, rest: ".".join([first, *rest]), identifiers, st.lists(segments, max_size=2))
integers = st.integers(0, 10**20)
decimals = st.just(0.0) | st.floats(1e-30, 1e12)
numbers = st.one_of(integers, decimals)
floats = st.one_of(decimals, integers.map(float))


def tuples(items: SearchStrategy[Any], most: int = 3, least: int = 0) -> SearchStrategy[Any]:
    return st.lists(items, min_size=least, max_size=most).map(tuple)


def pairs(keys: SearchStrategy[str], values: SearchStrategy[Any], most: int = 3, least: int = 0) -> Any:
    return st.lists(
        st.tuples(keys, values), min_size=least, max_size=most, unique_by=lambda pair: pair[0]
    ).map(tuple)


def optional(items: SearchStrategy[Any]) -> SearchStrategy[Any]:
    return st.none() | items


path_expressions = st.builds(
    PathExpr, st.builds(lambda first, rest: (first, *rest), identifiers, st.lists(segments, max_size=2))
)
shared_paths = st.builds(lambda rest: PathExpr(("SHARED", *rest)), st.lists(segments, min_size=1, max_size=2))
leaves: SearchStrategy[Expr] = st.one_of(st.builds(Literal, numbers | texts), path_expressions, shared_paths)


def _deeper(inner: SearchStrategy[Expr]) -> SearchStrategy[Expr]:
    operators = st.sampled_from(["OR", "AND", "==", "!=", ">", ">=", "<", "<=", "IN", "+", "-", "*", "/"])
    calls = st.builds(CallExpr, paths | st.just("CONFIDENCE"), tuples(inner, 2), pairs(identifiers, inner, 2))
    return st.one_of(
        st.builds(BinOp, operators, inner, inner),
        st.builds(UnOp, st.sampled_from(("NOT", "-")), inner),
        st.builds(ListExpr, tuples(inner)),
        calls,
    )


expressions: SearchStrategy[Expr] = st.recursive(leaves, _deeper, max_leaves=6)
calls = st.builds(CallExpr, paths, tuples(expressions, 2), pairs(identifiers, expressions, 2))
ranges = st.builds(lambda low, high: Domain("RANGE", low, high), numbers, numbers.map(lambda one: -one))
set_items = st.one_of(identifiers.map(Symbol), st.sampled_from(("IN", "MAX")).map(Symbol), texts, integers)
sets = st.builds(lambda values: Domain("SET", values=values), tuples(set_items))


@st.composite
def fields(draw: Any, keyword: type[ReasonStmt] = ReasonStmt) -> ReasonStmt:
    produce, domains = [], []
    for name in draw(st.lists(names, unique=True, max_size=3)):
        kind = draw(st.sampled_from(("any", "set", "range")))
        produce.append((name, "Number" if kind == "range" else draw(names.filter(_not_numeric))))
        if kind != "any":
            domains.append((name, draw(ranges if kind == "range" else sets)))
    some = [name for name, _ in produce if draw(st.booleans())]
    defaults = tuple((name, draw(expressions)) for name in some)
    return keyword(draw(texts), draw(tuples(paths)), tuple(produce), tuple(domains), defaults)


def _not_numeric(name: str) -> bool:
    return name.lower() not in {"number", "float", "int"}


@st.composite
def judgements(draw: Any) -> JudgeStmt:
    questions, produce, domains, defaults = [], [], [], []
    for name in draw(st.lists(names, unique=True, max_size=3)):
        kind = draw(st.sampled_from(("NOUL", "CHOICE", "SCORE")))
        criteria = draw(pairs(names, texts)) if kind == "CHOICE" else ()
        levels = draw(tuples(texts)) if kind == "SCORE" else ()
        abstain = draw(optional(floats))
        questions.append(Question(name, kind, draw(texts), criteria, levels, abstain))
        produce.append((name, {"NOUL": "Bool", "CHOICE": "Symbol", "SCORE": "Number"}[kind]))
        if kind == "CHOICE":
            domains.append((name, Domain("SET", values=tuple(Symbol(option) for option, _ in criteria))))
        elif kind == "SCORE":
            domains.append((name, Domain("RANGE", 0, len(levels) - 1)))
        if draw(st.booleans()):
            defaults.append((name, draw(expressions)))
    return JudgeStmt(
        draw(texts), draw(tuples(paths)), tuple(produce), tuple(domains), tuple(defaults), tuple(questions)
    )


def _one_statement(bodies: SearchStrategy[Body]) -> SearchStrategy[Any]:
    counts = st.integers(0, 1000)
    return st.one_of(
        st.builds(CallStmt, calls),
        st.builds(SetStmt, paths, expressions),
        st.builds(ThenPlan, paths),
        st.builds(IfStmt, expressions, bodies, bodies),
        st.builds(VerifyStmt, expressions, bodies, optional(texts)),
        fields(),
        judgements(),
        st.builds(AskStmt, names, texts, texts, optional(floats), optional(expressions)),
        st.builds(DelegateStmt, names, texts, tuples(paths), tuples(paths)),
        st.builds(MessageStmt, names, optional(names), st.booleans(), pairs(names, expressions)),
        st.builds(LoopStmt, bodies, optional(expressions), counts),
        st.builds(ForEachStmt, names, expressions, bodies, counts),
        st.builds(ControlStmt, st.just("RETRY"), counts, st.booleans()),
        st.builds(ControlStmt, st.sampled_from(("ROLLBACK", "ESCALATE"))),
        st.builds(ControlStmt, st.just("PHASE"), st.sampled_from(PHASES)),
    )


bodies: SearchStrategy[Any] = st.recursive(
    st.just(()), lambda inner: st.lists(_one_statement(inner), max_size=3).map(tuple), max_leaves=4
)
statements = _one_statement(bodies)
effects = tuples(st.builds(Effect, paths, expressions, st.booleans()))
modes = st.sampled_from(("MAINTAIN", "ACHIEVE"))
goals = st.one_of(
    st.builds(Goal, identifiers, modes, expressions, tuples(expressions), numbers),
    st.builds(Goal, identifiers, targets=tuples(expressions), weight=numbers),
)
beliefs = st.builds(BeliefDecl, paths, expressions, floats, names, optional(texts | numbers))
observers = st.one_of(
    st.builds(Observer, paths, optional(expressions), st.sampled_from((None, "ESCALATE"))),
    st.builds(Observer, paths, optional(expressions), st.just("DEGRADE"), expressions),
)
buckets = names.map(str.upper).filter(lambda name: name.upper() == name and "." not in name)
keys = st.lists(names.filter(lambda name: name and "." not in name), min_size=1, max_size=2).map(".".join)
writes = st.builds(MemoryWrite, optional(expressions), tuples(paths), buckets, keys)
memories = st.builds(
    MemorySpec, tuples(paths), tuples(paths), tuples(paths), tuples(paths), tuples(writes, 2)
)


@st.composite
def tools(draw: Any) -> ToolDecl:
    inputs = draw(pairs(names, names))
    bound = [name for name, _ in inputs if draw(st.booleans())]
    attested = [name for name, _ in inputs if draw(st.booleans())]
    return ToolDecl(
        draw(names),
        draw(texts),
        inputs,
        draw(pairs(names, names)),
        draw(tuples(paths)),
        draw(buckets),
        tuple((name, draw(paths)) for name in bound),
        draw(optional(expressions)),
        draw(effects),
        draw(tuples(st.builds(Outcome, names, floats, effects), 2)),
        draw(optional(numbers)),
        draw(optional(floats)),
        tuple((name, draw(names)) for name in attested),
    )


targets = st.just("*") | paths
rules = st.one_of(
    st.builds(PolicyRule, st.sampled_from(("NEVER", "DENY", "ALLOW")), targets, optional(expressions)),
    st.builds(PolicyRule, st.just("REQUIRE_APPROVAL"), targets, optional(expressions), optional(names)),
)
plans = st.builds(
    Plan,
    names,
    tuples(st.builds(Step, names, bodies), least=1),
    optional(expressions),
    numbers | integers.map(lambda one: -one),
)
decisions = st.builds(Decide, tuples(st.builds(IfStmt, expressions, bodies, bodies)), optional(fields()))


@st.composite
def evidence(draw: Any) -> EvidenceItem:
    test = draw(expressions)
    return EvidenceItem(test, draw(floats), draw(floats), expression_text(test), draw(optional(names)))


@st.composite
def hypotheses(draw: Any) -> Hypothesis:
    learned, explaining = draw(st.booleans()), draw(st.booleans())
    return Hypothesis(
        draw(names),
        draw(texts),
        draw(floats),
        draw(floats),
        draw(tuples(evidence())),
        draw(names.filter(lambda name: "." not in name)) if learned else None,
        draw(keys) if learned else None,
        draw(optional(expressions)) if learned else None,
        draw(paths) if explaining else None,
        draw(optional(expressions)) if explaining else None,
        draw(optional(floats)),
        draw(optional(expressions)),
    )


counts = st.integers(0, 10**6)
planners = st.builds(
    PlannerSpec, st.just(True), counts, counts, floats, tuples(expressions), floats, optional(floats), floats
)
stimuli = st.one_of(
    st.builds(ScenarioStimulus, st.just("EVENT"), paths, effects),
    st.builds(ScenarioStimulus, st.just("MESSAGE"), paths, effects, names),
)
assertions = st.one_of(
    st.builds(ScenarioAssertion, st.sampled_from(("CALL", "NEVER CALL", "BLOCKED", "EVENT")), paths),
    st.just(ScenarioAssertion("NO ERROR")),
)
scenarios = st.builds(
    Scenario, names, effects, tuples(expressions, least=1), counts, tuples(stimuli, 2), tuples(assertions)
)
utilities = st.builds(UtilityTerm, expressions, numbers | integers.map(lambda one: -one))


@st.composite
def agents(draw: Any) -> Agent:
    has_policy = draw(st.booleans())
    return Agent(
        draw(names),
        draw(texts),
        draw(texts),
        draw(tuples(goals, 1)),
        draw(tuples(beliefs, 2)),
        draw(tuples(observers, 2)),
        draw(memories),
        draw(tuples(tools(), 2)),
        draw(tuples(rules)) if has_policy else (),
        draw(optional(buckets)) if has_policy else None,
        draw(tuples(plans, 2)),
        draw(tuples(st.builds(EventHandler, paths, optional(expressions), bodies), 1)),
        draw(optional(decisions)),
        draw(tuples(hypotheses(), 1)),
        draw(optional(planners)),
        draw(tuples(st.builds(MessageHandler, names, optional(expressions), bodies), 1)),
        draw(tuples(utilities, 2)),
        draw(optional(st.builds(LoopSpec, bodies, optional(expressions), optional(counts)))),
        draw(bodies),
        draw(tuples(scenarios, 1)),
        draw(tuples(st.builds(Redaction, paths), 2)) if has_policy else (),
        has_policy,
    )


programs = st.builds(Program, tuples(agents(), 2, least=1))
