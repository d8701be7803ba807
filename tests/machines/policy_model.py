"""The policy, read literally: five steps (`POL-2`) and the tables (`TRI-6`). Imports nothing from ``agentl``.

A guard is a tuple: ``("is", fact)``, ``("constant", truth)``, ``("raises", "")``, ``("not", g)``,
``("and", g, h)``, ``("or", g, h)``; it is worth ``T``, ``F`` or ``U``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.machines.run_model import must

Guard = tuple[Any, ...]
PERMISSIVE = ("DENIED", "APPROVAL_REQUIRED", "ALLOWED")
# By what they are worth, in this order: the least of both for AND, the greatest for OR.
ORDER = "FUT"


@dataclass(frozen=True)
class Rule:
    """One rule: its effect, the target it aims at, its guard (`POL-2`)."""

    effect: str
    target: str
    guard: Guard | None


@dataclass
class PolicyModel:
    """The rules, the default, and which facts are known (true or false) by now."""

    default: str
    rules: list[Rule] = field(default_factory=list)
    facts: dict[str, bool] = field(default_factory=dict)

    def worth(self, guard: Guard | None) -> str:
        """`TRI-1`, `TRI-5`: what is not known, and what raises, is unknown."""
        if guard is None:
            return "T"
        word = guard[0]
        if word == "is":
            return "TF"[not self.facts[guard[1]]] if guard[1] in self.facts else "U"
        if word == "constant":
            return "T" if guard[1] else "F"
        if word == "raises":
            return "U"
        parts = [self.worth(part) for part in guard[1:]]
        if word == "not":
            return {"T": "F", "F": "T", "U": "U"}[parts[0]]
        choose = min if word == "and" else max
        return choose(parts, key=ORDER.index)

    def verdict(self, target: str) -> str:
        """The five steps, one after the other."""
        worths: dict[str, list[str]] = {"NEVER": [], "DENY": [], "ALLOW": [], "REQUIRE_APPROVAL": []}
        for rule in self.rules:
            if rule.target in (target, "*"):
                worths[rule.effect].append(self.worth(rule.guard))
        if {"T", "U"} & {*worths["NEVER"], *worths["DENY"]}:
            return "DENIED"
        if worths["ALLOW"] and "T" not in worths["ALLOW"]:
            return "DENIED"
        if not worths["ALLOW"] and self.default == "DENY":
            return "DENIED"
        return "APPROVAL_REQUIRED" if {"T", "U"} & {*worths["REQUIRE_APPROVAL"]} else "ALLOWED"

    def no_more_than(self, before: Mapping[str, str], after: Mapping[str, str], clause: str) -> None:
        """No target may be judged more permissively than before."""
        for target, verdict in after.items():
            kept = PERMISSIVE.index(verdict) <= PERMISSIVE.index(before[target])
            must(kept, clause, f"{target} was {before[target]} and is {verdict}")

    def authorised(self, target: str, said: str, broken: bool, asked: bool, granted: bool) -> None:
        """What came of a proposal (`KRN-3`, `APR-1`): a permit only where judged so and answered yes."""
        verdict = "DENIED" if broken else self.verdict(target)
        wanted = verdict == "ALLOWED" or (verdict == "APPROVAL_REQUIRED" and said == "yes")
        must(
            asked == (verdict == "APPROVAL_REQUIRED"), "APR-1", f"{verdict}, and a person was asked: {asked}"
        )
        must(granted == wanted, "KRN-3", f"{verdict}, answer {said}, broken {broken}, granted {granted}")
