"""Walks the state graph of ``Policy.tla`` on the real kernel: every small rule set, answer and raise."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from agentl.kernel import ActionRequest
from agentl.kernel.gate import Kernel
from agentl.language.nodes import Agent, BinOp, Expr, Literal, PathExpr, PolicyRule
from agentl.state import State
from tests.support.tla import Graph

EFFECTS = {"NEVER": "NEVER", "DENY": "DENY", "ALLOW": "ALLOW", "ASK": "REQUIRE_APPROVAL"}
ANSWERS = {"yes": True, "no": False, "other": "perhaps"}
TRUE = BinOp("==", PathExpr(("account", "known")), Literal(1))
FALSE = BinOp("==", PathExpr(("account", "known")), Literal(2))
UNKNOWN = BinOp("==", PathExpr(("account", "unheard")), Literal(1))
# A conjunction, so that the connective counts as well.
GUARDS: dict[str, Expr] = {
    "T": BinOp("AND", TRUE, TRUE),
    "F": BinOp("AND", UNKNOWN, FALSE),
    "U": BinOp("AND", TRUE, UNKNOWN),
}


class Raised(Exception):
    """What raises on the way."""


def _agent(state: Any) -> Agent:
    rules = tuple(
        PolicyRule(EFFECTS[r["effect"]], "pay" if r["aims"] else "other", GUARDS[r["guard"]])
        for r in state["rules"]
    )
    return Agent("walk", policies=rules, policy_default=state["default"], has_policy=True)


class Observer:
    """Raises in the hook of one name."""

    def __init__(self, where: str) -> None:
        self.where = where

    def decided(self, *_given: Any) -> None:
        if self.where == "decided":
            raise Raised

    def pending(self, *_given: Any) -> None:
        if self.where == "pending":
            raise Raised


def judged(state: Any, answer: Any, raises: str = "") -> tuple[str, str]:
    """What the code makes of an initial state: the verdict, and ``minted`` or ``refused``."""
    world = State()
    world.set_world("account.known", 1)

    def approve(_request: Any) -> Any:
        if raises == "approver":
            raise Raised
        return answer

    kernel = Kernel(_agent(state))
    if raises == "guard":

        def check(*_given: Any) -> Any:
            raise Raised

        kernel.policy.check = check  # type: ignore[method-assign]
    found = kernel.authorize(ActionRequest("pay", {}), world, approve=approve, observer=Observer(raises))
    verdict = "DENIED" if found.decision is None else found.decision.verdict
    return verdict, "minted" if found.granted else "refused"


def disagreements(graph: Graph) -> tuple[list[str], int]:
    """Every way from every initial state on both sides; and how many ways there were."""
    steps: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for source, action, target in graph.edges:
        steps[source].append((action, target))
    found, ways = [], 0
    for initial in graph.initial:
        state = graph.states[initial]
        for answer, raises in _ways():
            wanted = _model(graph, steps, initial, answer, raises)
            if wanted is None:
                continue
            ways += 1
            seen = judged(state, ANSWERS[answer], raises)
            if seen != wanted:
                found.append(
                    f"{state['rules']} default {state['default']}, {answer} {raises}: {seen}, {wanted}"
                )
    return found, ways


def _ways() -> list[tuple[str, str]]:
    raising = [("yes", where) for where in ("guard", "decided", "pending", "approver")]
    return [(answer, "") for answer in ANSWERS] + raising


def _model(graph: Graph, steps: Any, at: int, answer: str, raises: str) -> tuple[str, str] | None:
    """Where the model ends; ``None`` where this way does not exist (nobody is asked)."""
    asked = False
    while True:
        state: Any = graph.states[at]
        if state["at"] in ("minted", "refused"):
            if raises in ("pending", "approver") and not asked:
                return None
            return str(state["verdict"]), str(state["at"])
        here = {
            "guard": state["at"] == "never",
            "decided": state["at"] in ("person", "mint") and not asked,
            "pending": state["at"] == "person",
            "approver": state["at"] == "person",
        }.get(raises, False)
        asked = asked or state["at"] == "person"
        following = [
            target
            for action, target in steps[at]
            if (action == "Raise") is here
            and (action != "Person" or graph.states[target]["answer"] == answer)
        ]
        assert len(following) == 1, (state, steps[at])
        at = following[0]
