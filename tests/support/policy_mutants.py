"""For each mutant of ``formal/MutPolicy.tla`` its fault in the code, planted by replacing one function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agentl import guards
from agentl.kernel import approval, policy
from agentl.kernel.gate import Kernel
from agentl.kernel.policy import ALLOWED, APPROVAL_REQUIRED, DENIED, PolicyDecision, PolicyEngine
from agentl.kernel.protocol import Judgement

Plant = Callable[[pytest.MonkeyPatch], None]


def ignoring(*effects: str) -> Plant:
    """An unknown guard of these effects is taken as not holding."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        def first(rules: Any, scope: Any) -> Any:
            for rule, guard in rules:
                value = True if guard is None else guard(scope)
                if value is True or (value is not False and rule.effect not in effects):
                    return rule
            return None

        patch.setattr(policy, "_first_unless_false", first)

    return plant


def unknown_allows(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(policy, "_first_if_true", policy._first_unless_false)


def judging(change: Callable[[PolicyEngine, Any, Any, PolicyDecision], str]) -> Plant:
    """Another verdict than the engine's."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        real = PolicyEngine.check

        def check(self: PolicyEngine, request: Any, state: Any) -> PolicyDecision:
            found = real(self, request, state)
            return PolicyDecision(change(self, request, state, found), None, "pol.never", {}, {})

        patch.setattr(PolicyEngine, "check", check)

    return plant


def matching(engine: PolicyEngine, request: Any, state: Any) -> list[str]:
    """The effects of the rules that match, in source order, by an engine for each rule alone."""
    found = []
    for rule in engine.agent.policies:
        if rule.target not in (request.tool, "*"):
            continue
        guard = None if rule.guard is None else guards.compile_guard(rule.guard, frozenset())
        scope = policy.Scope(state, request.tool, {}, {}, "LOW", "plan", 1.0)
        value = True if guard is None else guard(scope)
        if value is True or (value is not False and rule.effect != "ALLOW"):
            found.append(rule.effect)
    return found


VERDICTS = {"ALLOW": ALLOWED, "REQUIRE_APPROVAL": APPROVAL_REQUIRED, "DENY": DENIED, "NEVER": DENIED}


def by_first(engine: PolicyEngine, request: Any, state: Any, _found: PolicyDecision) -> str:
    effects = matching(engine, request, state)
    return VERDICTS[effects[0]] if effects else ALLOWED if engine.default_allows else DENIED


def asks_first(engine: PolicyEngine, request: Any, state: Any, found: PolicyDecision) -> str:
    return APPROVAL_REQUIRED if "REQUIRE_APPROVAL" in matching(engine, request, state) else found.verdict


def allow_before_deny(engine: PolicyEngine, request: Any, state: Any, found: PolicyDecision) -> str:
    effects = matching(engine, request, state)
    return ALLOWED if "ALLOW" in effects and "NEVER" not in effects and "DENY" in effects else found.verdict


def exception_skips(patch: pytest.MonkeyPatch) -> None:
    real = Kernel._judge

    def judge(self: Kernel, frozen: Any, state: Any) -> Any:
        try:
            return real(self, frozen, state)
        except Exception:
            return PolicyDecision(ALLOWED, None, "pol.allowed", {}, {}), Judgement.ALLOWED

    patch.setattr(Kernel, "_judge", judge)


def hasty_and(left: Any, right: Any) -> Any:
    """AND of something and UNKNOWN is that something."""
    known = [value for value in (left, right) if value is True or value is False]
    return all(known) if known else left


TWINS: dict[str, Plant] = {
    "UnknownNeverIgnored": ignoring("NEVER"),
    "UnknownDenyIgnored": ignoring("DENY"),
    "UnknownAllows": unknown_allows,
    "JudgesByFirst": judging(by_first),
    "AsksFirst": judging(asks_first),
    "AllowBeforeDeny": judging(allow_before_deny),
    "ExceptionSkips": exception_skips,
    "HastyAnd": lambda patch: patch.setattr(guards, "kleene_and", hasty_and),
    "AnyAnswer": lambda patch: patch.setattr(approval, "approval_granted", lambda _answer: True),
}
