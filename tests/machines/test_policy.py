"""Random histories of a policy and of what is known, beside an oracle of its own (POL-2, TRI-6, INV-3).

Rules come, facts become known, change and are forgotten, people answer or raise. After each step every
target is judged by the real kernel, and by the five steps of `POL-2` read literally.
"""

from __future__ import annotations

import ast
import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from agentl.kernel import ActionRequest
from agentl.kernel.gate import Kernel
from agentl.language.nodes import Agent, BinOp, Expr, Literal, PathExpr, PolicyRule, UnOp
from agentl.state import State
from tests.machines.policy_model import Guard, PolicyModel, Rule
from tests.machines.run_model import BrokenError, must
from tests.support.graphs import runs
from tests.support.policy_mutants import TWINS

NAMES = ("first", "second", "third")
TARGETS = ("pay", "send")
FACTS = st.sampled_from(NAMES)
ATOMS = st.one_of(
    st.tuples(st.just("is"), FACTS),
    st.sampled_from([("constant", True), ("constant", False), ("raises", "")]),
)
GUARDS = st.one_of(
    st.none(),
    st.recursive(
        ATOMS,
        lambda part: st.one_of(
            st.tuples(st.just("not"), part),
            st.tuples(st.sampled_from(["and", "or"]), part, part),
        ),
        max_leaves=4,
    ),
)
RULES = st.builds(
    Rule,
    st.sampled_from(["NEVER", "DENY", "ALLOW", "REQUIRE_APPROVAL"]),
    st.sampled_from([*TARGETS, "*"]),
    GUARDS,
)
ANSWERS: dict[str, Any] = {"yes": True, "no": False, "other": "perhaps", "raises": None}


class AskedInVainError(Exception):
    """The person at the console raises."""


def expression(guard: Any) -> Expr:
    """The guard of the model as a tree of the language."""
    word = guard[0]
    if word == "is":
        return BinOp("==", PathExpr(("facts", guard[1])), Literal(1))
    if word == "constant":
        return BinOp("==", Literal(1), Literal(1 if guard[1] else 2))
    if word == "raises":
        return BinOp(">", BinOp("+", Literal("a"), Literal(1)), Literal(0))
    if word == "not":
        return UnOp("NOT", expression(guard[1]))
    return BinOp(word.upper(), expression(guard[1]), expression(guard[2]))


class PolicyLife(RuleBasedStateMachine):
    """Rules are added and reordered, facts become known and unknown, actions are judged and authorised."""

    @initialize(default=st.sampled_from(["ALLOW", "DENY"]), rules=st.lists(RULES, max_size=3))
    def begin(self, default: str, rules: list[Rule]) -> None:
        self.model = PolicyModel(default)
        self.state = State()
        for found in rules:
            self.model.rules.append(found)
        self._compile()

    def _compile(self) -> None:
        rules = tuple(
            PolicyRule(r.effect, r.target, None if r.guard is None else expression(r.guard))
            for r in self.model.rules
        )
        agent = Agent("machine", policies=rules, policy_default=self.model.default, has_policy=True)
        self.kernel = Kernel(agent)

    def _verdict(self, target: str) -> str:
        return str(self.kernel.policy.check(ActionRequest(target, {}), self.state).verdict)

    @precondition(lambda self: len(self.model.rules) < 8)
    @rule(added=RULES)
    def add(self, added: Rule) -> None:
        """One rule more; a prohibition more never permits more (INV-2)."""
        before = {target: self._verdict(target) for target in TARGETS}
        self.model.rules.append(added)
        self._compile()
        if added.effect != "ALLOW":
            self.model.no_more_than(before, {t: self._verdict(t) for t in TARGETS}, "INV-2")

    @rule(order=st.randoms(use_true_random=False))
    def shuffle(self, order: Any) -> None:
        """Another order of the same rules."""
        order.shuffle(self.model.rules)
        self._compile()

    @rule(name=FACTS, value=st.sampled_from([1, 2]))
    def learn(self, name: str, value: int) -> None:
        """A fact becomes known, or changes."""
        self.state.set_world(f"facts.{name}", value)
        self.model.facts[name] = value == 1

    @rule(name=FACTS)
    def forget(self, name: str) -> None:
        """A fact becomes unknown; knowing less never permits more (INV-3)."""
        before = {target: self._verdict(target) for target in TARGETS}
        self.model.facts.pop(name, None)
        self.state = State()
        for known, holds in self.model.facts.items():
            self.state.set_world(f"facts.{known}", 1 if holds else 2)
        self.model.no_more_than(before, {t: self._verdict(t) for t in TARGETS}, "INV-3")

    @rule(aim=st.sampled_from(TARGETS), said=st.sampled_from(sorted(ANSWERS)), broken=st.booleans())
    def authorise(self, aim: str, said: str, broken: bool) -> None:
        """An action is proposed; a person answers if asked; the policy itself may break (KRN-3)."""
        asked: list[str] = []

        def approve(_request: Any) -> Any:
            asked.append(aim)
            if said == "raises":
                raise AskedInVainError
            return ANSWERS[said]

        with pytest.MonkeyPatch.context() as patch:
            if broken:
                patch.setattr(self.kernel.policy, "check", self._break)
            found = self.kernel.authorize(ActionRequest(aim, {}), self.state, approve=approve)
        self.model.authorised(aim, said, broken, bool(asked), found.granted)

    def _break(self, *_given: Any) -> Any:
        raise AskedInVainError

    @invariant()
    def judged_alike(self) -> None:
        """POL-2, TRI-6: every target, as the five steps say."""
        for target in TARGETS:
            wanted, seen = self.model.verdict(target), self._verdict(target)
            must(seen == wanted, "POL-2", f"{target} is {seen}, by the five steps {wanted}")


TestPolicyLife = PolicyLife.TestCase

FEW = settings(
    max_examples=1000,
    stateful_step_count=8,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate],
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)


def live() -> None:
    """Some random lives, always the same; raises where the machine objects."""
    run_state_machine_as_test(PolicyLife, settings=FEW)


def test_every_mutant_of_the_policy_model_has_a_twin() -> None:
    """R104: none is left out."""
    mutants = {
        run.name.removeprefix("mutant/")
        for run in runs().values()
        if run.kind == "mutant" and run.base == "policy"
    }
    assert set(TWINS) == mutants


@pytest.mark.parametrize("name", sorted(TWINS))
def test_the_machine_catches_the_twin(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """POL-2, TRI-6, APR-1, KRN-3: the machine objects to each mutant of the policy."""
    TWINS[name](monkeypatch)
    with pytest.raises(BrokenError):
        live()


def test_the_oracle_reads_a_guard_as_the_tables_say() -> None:
    """TRI-1, TRI-5: the oracle's own connectives, all nine cases of each."""
    model = PolicyModel("DENY")
    model.facts.update(first=True, second=False)
    worth: dict[str, Guard] = {"T": ("is", "first"), "F": ("is", "second"), "U": ("is", "third")}
    for pair in itertools.product("TFU", repeat=2):
        left, right = (worth[one] for one in pair)
        assert model.worth(("and", left, right)) == ("F" if "F" in pair else "U" if "U" in pair else "T")
        assert model.worth(("or", left, right)) == ("T" if "T" in pair else "U" if "U" in pair else "F")
    assert [model.worth(("not", worth[one])) for one in "TFU"] == ["F", "T", "U"]


def test_the_oracle_shares_nothing_with_the_kernel() -> None:
    """R104: a model that shares its code with what it judges agrees with every fault."""
    tree = ast.parse((Path(__file__).parent / "policy_model.py").read_text(encoding="utf-8"))
    imported = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    imported += [name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names]
    assert not [name for name in imported if name.split(".")[0] == "agentl"]
