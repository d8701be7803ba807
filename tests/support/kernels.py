"""Kernels, hosts and a journal for tests of the trusted base."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentl.errors import StoreFailure
from agentl.host import Host
from agentl.kernel.action import ActionRequest
from agentl.kernel.gate import Authorization, Kernel
from agentl.kernel.port import Outcome, Recovery, Verdict
from agentl.language.nodes import Agent, BinOp, Expr, Literal, PathExpr, PolicyRule, ToolDecl
from agentl.state import State


def path(dotted: str) -> PathExpr:
    return PathExpr(tuple(dotted.split(".")))


def compare(dotted: str, op: str, value: Any) -> BinOp:
    return BinOp(op, path(dotted), Literal(value))


def rule(effect: Any, target: str, guard: Expr | None = None, by: str | None = None) -> PolicyRule:
    return PolicyRule(effect, target, guard, by)


TRANSFER = ToolDecl(
    "transfer",
    inputs=(("amount", "Number"), ("to", "String")),
    outputs=(("ok", "Bool"),),
    side_effects=("accounts",),
    risk="HIGH",
)


def agent(*rules: PolicyRule, tools: tuple[ToolDecl, ...] = (TRANSFER,), default: str = "ALLOW") -> Agent:
    return Agent("payments", tools=tools, policies=rules, policy_default=default, has_policy=True)


def kernel(*rules: PolicyRule, default: str = "ALLOW") -> Kernel:
    return Kernel(agent(*rules, default=default))


def transfer(amount: Any = 100, to: str = "acct-1") -> ActionRequest:
    return ActionRequest("transfer", {"amount": amount, "to": to})


def authorized(gate: Kernel, request: ActionRequest | None = None, **options: Any) -> Authorization:
    return gate.authorize(request or transfer(), State(), **options)


class Bank:
    """A host whose tool ``transfer`` does what the test scripts: a value, or an exception to raise.

    ``effects`` holds the arguments of every transfer that took place; a scripted exception comes after
    the effect when it is wrapped in ``After``.
    """

    def __init__(self, *script: Any, **promises: Any) -> None:
        self.host = Host()
        self.effects: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.attempts: list[int] = []
        self.waits: list[float] = []
        self._script = list(script)
        self.host.sleep = self.waits.append

        @self.host.tool("transfer", **promises)
        def book(amount: Any, to: Any) -> Any:
            from agentl.kernel import current_action

            context = current_action()
            assert context is not None
            self.keys.append(context.idempotency_key)
            self.attempts.append(context.attempt)
            step = self._script.pop(0) if self._script else {"ok": True}
            if isinstance(step, After):
                self.effects.append({"amount": amount, "to": to})
                raise step.error
            if isinstance(step, BaseException):
                raise step
            self.effects.append({"amount": amount, "to": to})
            return step

    def reconciler(self, *answers: Any) -> None:
        left = list(answers)

        @self.host.reconciler("transfer")
        def find(args: dict[str, Any], context: Any) -> Any:
            answer = left.pop(0)
            if isinstance(answer, BaseException):
                raise answer
            return answer


class After:
    """Raise this once the effect has taken place."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


class NoteBook:
    """A journal in memory, written against the port alone. It serves what an earlier kernel wrote."""

    fencing_token: int | None = 7

    def __init__(self, entries: list[tuple[Any, ...]] | None = None) -> None:
        self.entries: list[tuple[Any, ...]] = list(entries or [])
        self.position = 0
        self.fail_on: str | None = None
        self.restricted = False
        self.waiting: list[Verdict] = []
        self.refuse_reconcile = False

    def reopened(self) -> NoteBook:
        book = NoteBook(self.entries)
        book.restricted = self.restricted
        return book

    def _write(self, *entry: Any) -> None:
        if self.fail_on == entry[0]:
            raise StoreFailure("disk full")
        self.entries.append(entry)
        self.position = len(self.entries)

    def kinds(self) -> list[str]:
        return [entry[0] for entry in self.entries]

    def intent(self, permit: Any, promise: tuple[str, ...]) -> Recovery:
        if self.position == len(self.entries):
            self._write("intent", permit.action_id, permit.action_hash, promise)
            return Recovery()
        kind, action_id, digest, recorded = self.entries[self.position]
        assert (kind, action_id, digest) == ("intent", permit.action_id, permit.action_hash)
        self.position += 1
        attempt, outcome, verdict = 1, None, None
        while self.position < len(self.entries):
            entry = self.entries[self.position]
            if entry[0] == "resolution":
                attempt = entry[3] or attempt
            elif entry[0] == "result":
                outcome = entry[2]
            elif entry[0] == "verdict":
                verdict = entry[1]
            else:
                break
            self.position += 1
        return Recovery(outcome, attempt, outcome is None, recorded, verdict, self.restricted)

    def resolution(self, permit: Any, how: str, attempt: int | None) -> None:
        self._write("resolution", permit.action_id, how, attempt)

    def result(self, permit: Any, outcome: Outcome) -> None:
        self._write("result", permit.action_id, outcome)

    def lookup(self, target: str, call: Callable[[], bool]) -> bool:
        return call()

    def reconcile(
        self, target: str, action_id: str, call: Callable[[], tuple[bool, Any]] | None
    ) -> tuple[bool, Any] | None:
        if call is None or self.refuse_reconcile:
            return None
        return call()

    def verdicts(self) -> list[Verdict]:
        waiting, self.waiting = self.waiting, []
        return waiting
