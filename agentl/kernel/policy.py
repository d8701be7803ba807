"""The policy: NEVER, DENY, ALLOW, DEFAULT, REQUIRE APPROVAL (`POL-1` to `POL-8`).

Rules are indexed by target and their guards compiled when the engine is made. A judgement reads
the proposal and the state, changes neither, and never sees the model. What the matching rules
amount to is decided by ``ruling``, a pure function with the contracts of ``formal/Policy.tla``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from agentl.contracts import SLOW, clause, ensure
from agentl.guards import Guard, compile_guard
from agentl.kernel.names import parameter_tables, program_names
from agentl.language.digest import tree_digest
from agentl.language.nodes import Agent, PolicyRule, Program
from agentl.messages import fmt, render
from agentl.paths import MISS
from agentl.scope import Scope
from agentl.values import UNDEFINED

if TYPE_CHECKING:
    from agentl.kernel.action import ActionRequest
    from agentl.state import State

Verdict: TypeAlias = Literal["ALLOWED", "DENIED", "APPROVAL_REQUIRED"]
ALLOWED: Final = "ALLOWED"
DENIED: Final = "DENIED"
APPROVAL_REQUIRED: Final = "APPROVAL_REQUIRED"


class PolicyDecision(NamedTuple):
    """What the policy says about one action (`POL-3`).

    Attributes:
        verdict: ``ALLOWED``, ``DENIED`` or ``APPROVAL_REQUIRED``.
        rule: the rule that decided, or ``None``.
        code: the message code of the reason; ``values`` its named values.
        shadowed_args: values of the state that an argument of another value hid, by name (`POL-4`).
        rings: the key rings that must have signed an approval: of every rule that matches (`APR-7`).
    """

    verdict: Verdict
    rule: PolicyRule | None
    code: str
    values: dict[str, Any]
    shadowed_args: dict[str, Any]
    rings: tuple[str, ...] = ()

    @property
    def allowed(self) -> bool:
        """True for ``ALLOWED`` only: an action that waits for approval is not allowed yet."""
        return self.verdict == ALLOWED

    @property
    def reason(self) -> str:
        """The reason in the language in force."""
        return render(self.code, self.values)


_Compiled: TypeAlias = tuple[PolicyRule, Guard | None]


class _Rules(NamedTuple):
    """The rules that can match one target, in source order."""

    never: tuple[_Compiled, ...]
    deny: tuple[_Compiled, ...]
    allow: tuple[_Compiled, ...]
    approval: tuple[_Compiled, ...]
    ringed: tuple[_Compiled, ...]


@ensure(lambda never, result: not never or result == DENIED, error=clause("INV-2", "NeverDominates"))
@ensure(lambda denied, result: not denied or result == DENIED, error=clause("POL-2", "DenyDominates"))
@ensure(
    lambda allow_targets, allow_true, default_allows, approval, result: (
        result == DENIED
        or ((allow_true if allow_targets else default_allows) and (result == APPROVAL_REQUIRED) == approval)
    ),
    error=clause("POL-2", "Permitted"),
)
def ruling(
    never: bool, denied: bool, allow_targets: bool, allow_true: bool, default_allows: bool, approval: bool
) -> Verdict:
    """The verdict that follows from which rules match (`POL-2`, steps 1 to 5; `INV-2`).

    Args:
        never: a NEVER matches. denied: a DENY matches.
        allow_targets: some ALLOW rule is about this target.
        allow_true: the guard of one of those is strictly true.
        default_allows: the default is ALLOW. approval: a REQUIRE APPROVAL matches.
    """
    if never or denied:
        return DENIED
    if not (allow_true if allow_targets else default_allows):
        return DENIED
    return APPROVAL_REQUIRED if approval else ALLOWED


def _first_unless_false(rules: Sequence[_Compiled], scope: Scope) -> PolicyRule | None:
    """The first rule whose guard is true or unknown: NEVER, DENY, REQUIRE APPROVAL (`TRI-6`)."""
    for rule, guard in rules:
        if guard is None or guard(scope) is not False:
            return rule
    return None


def _first_if_true(rules: Sequence[_Compiled], scope: Scope) -> PolicyRule | None:
    """The first rule whose guard is strictly true: ALLOW (`TRI-6`)."""
    for rule, guard in rules:
        if guard is None or guard(scope) is True:
            return rule
    return None


class PolicyEngine:
    """The policy of one agent (`POL-3`).

    Args:
        agent: the agent whose rules hold.
        program: its program, for the names that other agents' messages can bind (`TRI-7`).
    """

    def __init__(self, agent: Agent, program: Program | None = None) -> None:
        self.agent = agent
        # A POLICY block without DEFAULT is refused by `check`; run all the same, it denies.
        unwritten = agent.policy_default is None and not agent.has_policy and not agent.policies
        self.default_allows = unwritten or agent.policy_default == "ALLOW"
        names = program_names(agent, program)
        parameters = parameter_tables(agent, [rule.target for rule in agent.policies])
        targets = {target: names | own for target, own in parameters.items()}
        compiled: list[_Compiled] = [
            (rule, None if rule.guard is None else compile_guard(rule.guard, targets[rule.target]))
            for rule in agent.policies
        ]
        self._anywhere = _select(compiled, "*")
        self._by_target = {target: _select(compiled, target) for target in targets if target != "*"}

    @ensure(
        lambda request, result: result.rule is None or result.rule.target in ("*", request.tool),
        error=clause("POL-2", "Aimed"),
        enabled=SLOW,
    )
    def check(self, request: ActionRequest, state: State) -> PolicyDecision:
        """Judge one proposed action on a state (`POL-2`); neither is changed.

        The order of the rules in the source only chooses which of several matching rules of one
        effect is named. What the evaluation raises is the caller's to turn into a refusal (`KRN-3`).
        """
        target = request.tool
        rules = self._by_target.get(target, self._anywhere)
        arguments = request.args
        scope = Scope(
            state, target, arguments, request.provenance, request.risk, request.origin, request.confidence
        )
        shadowed = _shadowed(arguments, state) if arguments else {}
        never = _first_unless_false(rules.never, scope) if rules.never else None
        deny = _first_unless_false(rules.deny, scope) if rules.deny and never is None else None
        allow = _first_if_true(rules.allow, scope) if rules.allow else None
        asks = rules.approval and never is None and deny is None
        approval = _first_unless_false(rules.approval, scope) if asks else None
        verdict = ruling(
            never is not None,
            deny is not None,
            bool(rules.allow),
            allow is not None,
            self.default_allows,
            approval is not None,
        )
        if verdict == ALLOWED:
            return PolicyDecision(ALLOWED, allow, "pol.allowed", {}, shadowed)
        if verdict == APPROVAL_REQUIRED and approval is not None:
            values = {"target": approval.target, "line": approval.line}
            rings = [rule.by for rule, guard in rules.ringed if guard is None or guard(scope) is not False]
            named = tuple(dict.fromkeys(name for name in rings if name is not None))
            return PolicyDecision(APPROVAL_REQUIRED, approval, "pol.approval", values, shadowed, named)
        rule = never or deny
        if rule is None:
            code = "pol.no_allow" if rules.allow else "pol.default_deny"
            return PolicyDecision(DENIED, None, code, {"name": target}, shadowed)
        code = "pol.never" if never is not None else "pol.deny"
        return PolicyDecision(DENIED, rule, code, {"target": rule.target, "line": rule.line}, shadowed)


def _select(compiled: list[_Compiled], target: str) -> _Rules:
    about = [pair for pair in compiled if pair[0].target in ("*", target)]
    groups = {
        effect: tuple(pair for pair in about if pair[0].effect == effect)
        for effect in ("NEVER", "DENY", "ALLOW", "REQUIRE_APPROVAL")
    }
    asking = groups["REQUIRE_APPROVAL"]
    ringed = tuple(pair for pair in asking if pair[0].by is not None)
    return _Rules(groups["NEVER"], groups["DENY"], groups["ALLOW"], asking, ringed)


def _shadowed(arguments: dict[str, Any], state: State) -> dict[str, Any]:
    """What the state holds under an argument's name and prints otherwise (`POL-4`)."""
    shadowed: dict[str, Any] = {}
    for name, value in arguments.items():
        hidden = state.locals.get(name, MISS)
        if hidden is MISS:
            belief = state.beliefs.get(name)
            hidden = state.world.get(name, MISS) if belief is None else belief.value
        if hidden is not MISS and hidden is not UNDEFINED and fmt(hidden) != fmt(value):
            shadowed[name] = hidden
    return shadowed


def policy_digest(agent: Agent) -> str:
    """The identity of a policy: its default and its rules, without positions (`AST-7`, `KRN-4`)."""
    return tree_digest((agent.policy_default, agent.has_policy, agent.policies))


__all__ = [
    "ALLOWED",
    "APPROVAL_REQUIRED",
    "DENIED",
    "PolicyDecision",
    "PolicyEngine",
    "policy_digest",
    "ruling",
]
