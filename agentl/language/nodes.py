"""The syntax tree: plain frozen records, one class per construct (`AST-1` to `AST-6`).

Expressions and statements have modules of their own; everything is read from here.

Importing this module loads no parser: the trusted base reads trees, it never makes them.
Sequences are tuples, so a node is immutable and hashable. Every node carries ``line``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any
from typing import Literal as OneOf

from agentl.language.expressions import BinOp, CallExpr, Expr, ListExpr, Literal, Node, PathExpr, UnOp
from agentl.language.statements import (
    AskStmt,
    Body,
    CallStmt,
    ControlStmt,
    DelegateStmt,
    Domain,
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

# --- declarations (AST-4) ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Goal(Node):
    name: str = "main"
    mode: OneOf["MAINTAIN", "ACHIEVE"] = "MAINTAIN"
    condition: Expr | None = None
    targets: tuple[Expr, ...] = ()
    weight: float | int = 1.0


@dataclass(frozen=True, slots=True)
class BeliefDecl(Node):
    path: str
    value: Expr
    confidence: float = 1.0
    source: str = "declared"
    updated: Any = None


@dataclass(frozen=True, slots=True)
class Observer(Node):
    path: str
    when: Expr | None = None
    on_unknown: OneOf["ESCALATE", "DEGRADE"] | None = None
    fallback: Expr | None = None


@dataclass(frozen=True, slots=True)
class MemoryWrite(Node):
    when: Expr | None = None
    store: tuple[str, ...] = ()
    into: str = "LONG_TERM"
    key: str = "records"

    @property
    def target(self) -> str:
        return f"{self.into}.{self.key}"


@dataclass(frozen=True, slots=True)
class MemorySpec(Node):
    short_term: tuple[str, ...] = ()
    long_term: tuple[str, ...] = ()
    knowledge: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    writes: tuple[MemoryWrite, ...] = ()


@dataclass(frozen=True, slots=True)
class Effect(Node):
    path: str
    value: Expr
    internal: bool = False


@dataclass(frozen=True, slots=True)
class Outcome(Node):
    name: str
    probability: float = 1.0
    effects: tuple[Effect, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolDecl(Node):
    """``inputs`` and ``outputs`` are (name, type); ``bindings`` (parameter, path);
    ``attestations`` (parameter, attested parameter); ``duration`` in seconds."""

    name: str
    description: str = ""
    inputs: tuple[tuple[str, str], ...] = ()
    outputs: tuple[tuple[str, str], ...] = ()
    side_effects: tuple[str, ...] = ()
    risk: str = "LOW"
    bindings: tuple[tuple[str, str], ...] = ()
    requires: Expr | None = None
    effects: tuple[Effect, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    cost: float | int | None = None
    duration: float | None = None
    attestations: tuple[tuple[str, str], ...] = ()

    @property
    def is_operator(self) -> bool:
        return bool(self.effects or self.outcomes)

    @property
    def branches(self) -> tuple[Outcome, ...]:
        """The outcomes with probabilities renormalised to 1; one sure branch for an EFFECT."""
        if not self.outcomes:
            return (Outcome("effect", 1.0, self.effects),) if self.effects else ()
        total = sum(outcome.probability for outcome in self.outcomes)
        if total <= 0:
            return self.outcomes
        return tuple(Outcome(o.name, o.probability / total, o.effects, line=o.line) for o in self.outcomes)

    @property
    def is_uncertain(self) -> bool:
        return len(self.outcomes) > 1


@dataclass(frozen=True, slots=True)
class UtilityTerm(Node):
    condition: Expr
    value: float | int


@dataclass(frozen=True, slots=True)
class Redaction(Node):
    path: str


@dataclass(frozen=True, slots=True)
class PolicyRule(Node):
    """``by`` is the key ring of ``REQUIRE APPROVAL FOR … BY``."""

    effect: OneOf["NEVER", "DENY", "ALLOW", "REQUIRE_APPROVAL"]
    target: str
    guard: Expr | None = None
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Step(Node):
    name: str
    body: Body = ()


@dataclass(frozen=True, slots=True)
class Plan(Node):
    name: str
    steps: tuple[Step, ...] = ()
    when: Expr | None = None
    priority: float | int = 0


@dataclass(frozen=True, slots=True)
class EventHandler(Node):
    source: str
    when: Expr | None = None
    body: Body = ()


@dataclass(frozen=True, slots=True)
class MessageHandler(Node):
    name: str
    when: Expr | None = None
    body: Body = ()


@dataclass(frozen=True, slots=True)
class Decide(Node):
    rules: tuple[IfStmt, ...] = ()
    reason: ReasonStmt | None = None


@dataclass(frozen=True, slots=True)
class EvidenceItem(Node):
    """``label`` is the source form of the test, for people."""

    test: Expr
    likelihood: float = 0.90
    given_not: float = 0.10
    label: str = ""
    group: str | None = None


@dataclass(frozen=True, slots=True)
class Hypothesis(Node):
    name: str
    description: str = ""
    prior: float = 0.10
    threshold: float = 0.90
    evidence: tuple[EvidenceItem, ...] = ()
    prior_bucket: str | None = None
    prior_key: str | None = None
    prior_filter: Expr | None = None
    explains_path: str | None = None
    explains_value: Expr | None = None
    max_evidence: float | None = None
    predict: Expr | None = None


@dataclass(frozen=True, slots=True)
class PlannerSpec(Node):
    """``deadline`` in seconds."""

    enabled: bool = True
    max_depth: int = 4
    max_nodes: int = 2000
    approval_cost: float = 10.0
    achieve: tuple[Expr, ...] = ()
    target_confidence: float = 1.0
    deadline: float | None = None
    time_weight: float = 0.0


@dataclass(frozen=True, slots=True)
class LoopSpec(Node):
    body: Body = ()
    until: Expr | None = None
    max_iter: int | None = None


@dataclass(frozen=True, slots=True)
class ScenarioStimulus(Node):
    kind: OneOf["EVENT", "MESSAGE"]
    name: str
    payload: tuple[Effect, ...] = ()
    sender: str = "scenario"


@dataclass(frozen=True, slots=True)
class ScenarioAssertion(Node):
    kind: OneOf["CALL", "NEVER CALL", "BLOCKED", "EVENT", "NO ERROR"]
    target: str = ""


@dataclass(frozen=True, slots=True)
class Scenario(Node):
    """``within`` in ticks."""

    name: str
    given: tuple[Effect, ...] = ()
    expect: tuple[Expr, ...] = ()
    within: int = 1
    stimuli: tuple[ScenarioStimulus, ...] = ()
    assertions: tuple[ScenarioAssertion, ...] = ()


# --- program (AST-5) -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Agent(Node):
    """``policy_default`` is ``None`` when no POLICY block gives one (`GRM-10`)."""

    name: str
    version: str = "0.1"
    description: str = ""
    goals: tuple[Goal, ...] = ()
    beliefs: tuple[BeliefDecl, ...] = ()
    observers: tuple[Observer, ...] = ()
    memory: MemorySpec = field(default_factory=MemorySpec)
    tools: tuple[ToolDecl, ...] = ()
    policies: tuple[PolicyRule, ...] = ()
    policy_default: str | None = None
    plans: tuple[Plan, ...] = ()
    events: tuple[EventHandler, ...] = ()
    decide: Decide | None = None
    hypotheses: tuple[Hypothesis, ...] = ()
    planner: PlannerSpec | None = None
    messages: tuple[MessageHandler, ...] = ()
    utility: tuple[UtilityTerm, ...] = ()
    loop: LoopSpec | None = None
    on_verify_fail: Body = ()
    scenarios: tuple[Scenario, ...] = ()
    redactions: tuple[Redaction, ...] = ()
    has_policy: bool = False

    def tool(self, name: str) -> ToolDecl | None:
        """The tool of that name, or ``None``."""
        return next((tool for tool in self.tools if tool.name == name), None)

    def plan(self, name: str) -> Plan | None:
        """The plan of that name, or ``None``."""
        return next((plan for plan in self.plans if plan.name == name), None)


@dataclass(frozen=True, slots=True)
class Program(Node):
    agents: tuple[Agent, ...] = ()


_PARTS: dict[type[Any], tuple[str, ...]] = {}


def parts_of(kind: type[Any]) -> tuple[str, ...]:
    """The fields of a node class that belong to the tree: without position and memo (`AST-7`)."""
    known = _PARTS.get(kind)
    if known is None:
        known = _PARTS[kind] = tuple(one.name for one in fields(kind) if one.compare and one.name != "line")
    return known


# fmt: off
__all__ = [
    "Agent", "AskStmt", "BeliefDecl", "BinOp", "Body", "CallExpr", "CallStmt", "ControlStmt", "Decide",
    "DelegateStmt", "Domain", "Effect", "EventHandler", "EvidenceItem", "Expr", "ForEachStmt", "Goal",
    "Hypothesis", "IfStmt", "JudgeStmt", "ListExpr", "Literal", "LoopSpec", "LoopStmt", "MemorySpec",
    "MemoryWrite", "MessageHandler", "MessageStmt", "Node", "Observer", "Outcome", "PathExpr", "Plan",
    "PlannerSpec", "PolicyRule", "Program", "Question", "ReasonStmt", "Redaction", "Scenario",
    "ScenarioAssertion", "ScenarioStimulus", "SetStmt", "Step", "Stmt", "ThenPlan", "ToolDecl", "UnOp",
    "UtilityTerm", "VerifyStmt",
]
# fmt: on
