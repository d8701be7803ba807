"""Random histories of permits on real kernels, beside a model that shares no code (KRN-9 to KRN-14)."""

from __future__ import annotations

import ast
import copy
import pickle
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule

from agentl.errors import PermitError
from agentl.host import Host
from agentl.kernel import ActionRequest, ExecutionPermit, current_action
from agentl.kernel.gate import Kernel
from agentl.language.nodes import Agent, BinOp, Literal, PathExpr, PolicyRule
from agentl.state import State
from tests.machines.model import Model, ModelKernel, ModelPermit

LIMIT = 100
KINDS = st.sampled_from(["invoke", "delegate"])
TARGETS = st.sampled_from(["pay", "send"])
AMOUNT = PathExpr(("action", "args", "amount"))
AGENT = Agent(
    "machine",
    policies=(
        PolicyRule("NEVER", "*", BinOp(">", AMOUNT, Literal(LIMIT))),
        PolicyRule("REQUIRE_APPROVAL", "*", BinOp(">", AMOUNT, Literal(LIMIT // 2))),
    ),
    policy_default="ALLOW",
    has_policy=True,
)


class Permits(RuleBasedStateMachine):
    """Authorise, execute, execute again, change, copy, forge, revoke, mix up kernels, call on from inside."""

    permits = Bundle("permits")

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.kernels: dict[int, Kernel] = {}
        self.effects: list[tuple[str, str, str]] = []
        self.nested: list[str] = []
        self.host = Host()
        for target in ("pay", "send"):
            self.host.tool(target)(self._tool(target))
            self.host.subagents[target] = self._helper(target)

    def _tool(self, target: str) -> Any:
        def act(**args: Any) -> None:
            self._effect("invoke", target, args)

        return act

    def _helper(self, target: str) -> Any:
        def act(payload: dict[str, Any]) -> None:
            self._effect("delegate", target, payload)

        return act

    def _effect(self, kind: str, target: str, args: dict[str, Any]) -> None:
        context = current_action()
        assert context is not None
        assert (context.kind, context.tool) == (kind, target)
        self.effects.append((kind, target, repr(sorted(args.items()))))
        try:
            self.host.invoke(target, args)
        except PermitError as error:
            self.nested.append(error.code)

    @initialize()
    def kernels_exist(self) -> None:
        for number in (1, 2):
            self.kernels[number] = Kernel(AGENT, run_id=f"run{number}")
            self.model.kernels[number] = ModelKernel(LIMIT)

    @rule(
        target=permits,
        kernel=st.sampled_from([1, 2]),
        kind=KINDS,
        name=TARGETS,
        amount=st.one_of(st.integers(0, LIMIT // 2), st.integers(0, 2 * LIMIT)),
        answer=st.sampled_from([True, True, False, "no", None, 1]),
    )
    def propose(self, kernel: int, kind: str, name: str, amount: int, answer: Any) -> Any:
        args = {"amount": amount}
        found = self.kernels[kernel].authorize(
            ActionRequest(name, args), State(), approve=lambda _request: answer, kind=kind
        )
        expected = self.model.propose(kernel, kind, name, repr(sorted(args.items())), amount, answer)
        assert (found.permit is None) == (expected is None)
        args["amount"] = 7  # the proposer's own copy: changes nothing
        if found.permit is None:
            return multiple()
        assert found.permit.action_id.endswith(f":a{self.model.kernels[kernel].allotted}")
        return (found.permit, expected)

    @rule(
        pair=permits,
        kernel=st.sampled_from([1, 1, 1, 2]),
        right=st.booleans(),
        dressed=st.sampled_from(["itself", "itself", "copy", "deep copy", "double", "pickled"]),
        kind=st.sampled_from(["own", "own", "own", "invoke", "delegate"]),
    )
    def execute(
        self, pair: tuple[ExecutionPermit, ModelPermit], kernel: int, right: bool, dressed: str, kind: str
    ) -> None:
        permit, known = pair
        where = known.kernel if right else kernel
        used_kind = known.kind if kind == "own" else kind
        shown: Any = permit
        if dressed == "copy":
            shown = copy.copy(permit)
        elif dressed == "deep copy":
            shown = copy.deepcopy([permit])[0]
        elif dressed in ("double", "pickled"):
            self._counterfeit(permit, where, dressed)
            return
        expected = self.model.execute(where, known, used_kind)
        try:
            gate = self.kernels[where]
            (gate.execute if used_kind == "invoke" else gate.delegate)(shown, self.host)
            seen = "ran"
        except PermitError as error:
            seen = "changed" if error.code == "permit.arguments" else "refused"
        assert seen == expected

    def _counterfeit(self, permit: ExecutionPermit, where: int, how: str) -> None:
        try:
            if how == "pickled":
                pickle.dumps(permit)
                raise AssertionError("a permit was serialised")
            double = object.__new__(ExecutionPermit)
            for name in ExecutionPermit.__slots__:
                object.__setattr__(double, name, getattr(permit, name))
            self.kernels[where].execute(double, self.host)
            raise AssertionError("a counterfeit ran")
        except PermitError as error:
            refusal = error.code
        assert refusal == ("permit.serialised" if how == "pickled" else "permit.unknown")

    @rule(pair=permits, amount=st.integers(0, 3))
    def change(self, pair: tuple[ExecutionPermit, ModelPermit], amount: int) -> None:
        permit, known = pair
        permit.args["amount"] = amount  # type: ignore[index]
        known.present = repr(sorted(permit.args.items()))

    @rule(pair=permits, kernel=st.sampled_from([1, 2]))
    def void(self, pair: tuple[ExecutionPermit, ModelPermit], kernel: int) -> None:
        permit, known = pair
        expected = self.model.void(kernel, known)
        try:
            self.kernels[kernel].void(permit)
            assert expected
        except PermitError:
            assert not expected

    @rule(kind=KINDS, name=TARGETS)
    def call_the_host(self, kind: str, name: str) -> None:
        try:
            if kind == "invoke":
                self.host.invoke(name, {"amount": 1})
            else:
                self.host.subagents[name]({"amount": 1})
            raise AssertionError("a host was called without a permit")
        except PermitError as error:
            refusal = error.code
        assert refusal == "permit.missing"

    @rule(pair=permits)
    def stage(self, pair: tuple[ExecutionPermit, ModelPermit]) -> None:
        permit, known = pair
        assert permit.status.value == known.stage

    @invariant()
    def the_world_is_what_the_model_says(self) -> None:
        assert self.effects == self.model.effects
        assert all(code in ("permit.presented", "permit.other") for code in self.nested)
        assert len(self.nested) == len(self.effects)

    @invariant()
    def nothing_is_left_running(self) -> None:
        assert current_action() is None


TestPermits = Permits.TestCase


def test_the_model_shares_nothing_with_the_kernel() -> None:
    """KRN-11: otherwise the two could be wrong together."""
    source = Path(__file__).with_name("model.py").read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [str(node.module)]
        assert not any(name.startswith("agentl") for name in names)
