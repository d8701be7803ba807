"""Tool calls: from a proposal to what the kernel says and what the world did (`TOL-1` to `TOL-9`).

Nothing here decides whether a call may run, and nothing here calls a tool: a request is put
together, the kernel judges it and runs it under a permit, and the outcome is written down.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentl.errors import ActionInDoubt, AgentLError, KernelAbort, NotExecuted
from agentl.kernel.action import ActionRequest
from agentl.kernel.gate import Authorization
from agentl.kernel.policy import PolicyDecision
from agentl.labels import RUNTIME_LABEL
from agentl.language.nodes import CallExpr
from agentl.runtime.core import Core
from agentl.runtime.outcomes import Outcomes
from agentl.runtime.sensors import Sensors
from agentl.runtime.targets import Target, Targets
from agentl.runtime.trace import failure


class Observer:
    """Traces what the kernel asks and finds while it judges; it can grant nothing (`KRN-3`)."""

    def __init__(self, core: Core, prefix: str = "") -> None:
        self.core = core
        self.prefix = prefix

    def decided(self, request: ActionRequest, decision: PolicyDecision) -> None:
        """Show which guard judged an argument instead of a value of the same name (`POL-4`)."""
        if not decision.shadowed_args:
            return
        for argument, hidden in _shadowed(decision.shadowed_args):
            values = {"argument": argument, "value": request.args.get(argument), "hidden": hidden}
            self.core.say("POLICY", "pol.shadowed", {**self._action(request), **values})

    def pending(self, request: ActionRequest, decision: PolicyDecision) -> None:
        """A person is about to be asked."""
        self.core.say(
            "APPROVAL", "approval.pending", {**self._action(request), **decision.values}, decision.code
        )

    def approver_failed(self, _request: ActionRequest, error: BaseException) -> None:
        """The approver raised: that is a refusal (`APR-2`)."""
        self.core.say("ERROR", "approval.failed", failure(error, crossed=True))

    def _action(self, request: ActionRequest) -> dict[str, Any]:
        return {"tool": self.prefix + request.tool, "args": request.args}


def _shadowed(found: Any) -> list[tuple[str, Any]]:
    if isinstance(found, Mapping):
        return list(found.items())
    return [tuple(item) if isinstance(item, (tuple, list)) else (item, None) for item in found]


class Calls:
    """Proposes the calls of one agent and writes down how they ended."""

    def __init__(self, core: Core, targets: Targets, sensors: Sensors, outcomes: Outcomes) -> None:
        self.core = core
        self.targets = targets
        self.sensors = sensors
        self.outcomes = outcomes
        self.observer = Observer(core)

    def statement(self, call: CallExpr) -> dict[str, Any] | None:
        """A call written in the program; its value is the filtered dictionary, or ``None``."""
        core = self.core
        target = self.targets.by_name.get(call.name)
        if target is None or target.decl is None:
            self._undeclared(call.name)
            return None
        try:
            args, labels = core.kernel.arguments(target.decl, call, core.state)
        except KernelAbort:
            raise
        except Exception as error:  # noqa: BLE001 - what cannot be evaluated is not called (`TOL-1`)
            self._blocked("tool.arguments", {"tool": call.name, **failure(error)})
            return None
        return self._propose(target, args, labels, core.origin)

    def call_tool(
        self,
        name: str,
        args: Mapping[str, Any],
        origin: str = "plan",
        provenance: Mapping[str, Any] | None = None,
    ) -> dict[str, Any] | None:
        """A call from Python (`API-3`): labels given by the caller can only add sources (`KRN-18`)."""
        target = self.targets.by_name.get(name)
        if target is None or target.decl is None:
            self._undeclared(name)
            return None
        return self._propose(target, dict(args), self.core.kernel.labels(args, provenance), origin)

    def _undeclared(self, name: str) -> None:
        self._blocked("tool.undeclared", {"tool": name})

    def _propose(
        self, target: Target, args: dict[str, Any], labels: Mapping[str, Any], origin: str
    ) -> dict[str, Any] | None:
        core = self.core
        name = target.name
        assert target.decl is not None
        requires = target.decl.requires
        if requires is not None:
            self.sensors.reperceive(requires)
            if not core.condition(requires, "context.requires", name):
                core.say("INFO", "tool.skipped", {"tool": name})
                return None
        request, error = core.kernel.propose_tool(name, args, origin, core.confidence, labels)
        if request is None:
            self.refused_input(name, error)
            return None
        if target.failures and self._circuit_open(target, args):
            return None
        if target.open_doubt:
            self.reconcile(target, "invoke")
        granted = core.kernel.authorize(
            request, core.state, approve=core.host.approve, observer=self.observer
        )
        permit = granted.permit
        if permit is None:
            self.refused(granted, name)
            return None
        self.granted(granted, name)
        try:
            value = core.kernel.execute(permit, core.host)
        except (NotExecuted, ActionInDoubt) as problem:
            self.outcomes.raised(target, permit, problem)
            return None
        return self.outcomes.returned(target, permit, granted.request, value)

    def _circuit_open(self, target: Target, args: dict[str, Any]) -> bool:
        core = self.core
        ticks = self.targets.waiting(target)
        if not ticks:
            return False
        core.count("circuit_open")
        core.state.set_local("last_action.blocked", True, RUNTIME_LABEL)
        values = {"tool": target.name, "args": dict(args), "failures": target.failures, "ticks": ticks}
        core.say("BLOCKED", "tool.circuit_open", values)
        return True

    # --- what the kernel said, for tools and sub-agents ---

    def reconcile(self, target: Target, kind: str) -> None:
        """Ask once more what became of doubtful actions, before the next one is judged (`TOL-8`)."""
        for settled in self.core.kernel.reconcile(target.name, kind, self.core.host):
            self.outcomes.settle(settled)

    def verdicts(self) -> None:
        """Apply the operator's verdicts that wait at the start of this tick (`RES-10`)."""
        for settled in self.core.kernel.verdicts():
            self.outcomes.settle(settled)

    def granted(self, authorization: Authorization, subject: str) -> None:
        """The action may run (`TOL-7`)."""
        state = self.core.state
        if state.locals.get("last_action.blocked") is not False:
            state.set_local("last_action.blocked", False, RUNTIME_LABEL)
        if state.locals.get("last_action.in_doubt"):
            state.set_local("last_action.in_doubt", False, RUNTIME_LABEL)
        if authorization.approved:
            request, record = authorization.request, authorization.record
            self.core.count("approvals")
            by = record.by if record is not None else "unknown"
            self.core.say("APPROVAL", "approval.given", {"tool": subject, "args": request.args, "by": by})

    def refused_input(self, subject: str, error: AgentLError | None) -> None:
        """The INPUT contract does not hold, or the kernel knows no such target (`TOL-2`)."""
        if error is None or error.code == "kernel.undeclared":
            self._blocked("tool.undeclared", {"tool": subject})
        else:
            self._blocked("tool.input", {"tool": subject, **error.values}, error.code)

    def refused(self, authorization: Authorization, subject: str) -> None:
        """The policy, a person or an error on the way refused (`TOL-7`)."""
        request, decision = authorization.request, authorization.decision
        action = {"tool": subject, "args": _shown(request.args)}
        if authorization.stage == "approval" and decision is not None:
            code = "approval.expired" if authorization.code == "apr.expired" else "approval.denied"
            self._blocked(code, {**action, "why": authorization.code, **decision.values}, decision.code)
            return
        values = {name: value for name, value in authorization.values.items() if name not in action}
        self._blocked("tool.refused", {**action, **values}, authorization.code)

    def _blocked(self, code: str, values: dict[str, Any], detail_code: str = "") -> None:
        self.core.count("blocked")
        self.core.state.set_local("last_action.blocked", True, RUNTIME_LABEL)
        self.core.say("BLOCKED", code, values, detail_code)


def _shown(args: Any) -> dict[str, Any]:
    """Arguments that may lie outside the data model, as an event can keep them."""
    if not isinstance(args, Mapping):
        return {}
    return {str(name): value for name, value in args.items()}


__all__ = ["Calls", "Observer"]
