"""DELEGATE: a sub-agent is asked under the same permit discipline as a tool (`STM-10`)."""

from __future__ import annotations

from typing import Any

from agentl.errors import ActionInDoubt, NotExecuted
from agentl.kernel.action import ActionRequest
from agentl.kernel.permit import ExecutionPermit
from agentl.labels import DELEGATE_LABEL, NONE, Prov
from agentl.language.nodes import DelegateStmt
from agentl.runtime.calls import Calls, Observer
from agentl.runtime.core import Core
from agentl.runtime.outcomes import Outcomes, Produced, Violation, contract, free
from agentl.runtime.targets import Target, Targets
from agentl.values import UNDEFINED, type_name


class Delegates:
    """The DELEGATE statements of one agent."""

    def __init__(self, core: Core, targets: Targets, calls: Calls, outcomes: Outcomes) -> None:
        self.core = core
        self.targets = targets
        self.calls = calls
        self.outcomes = outcomes
        self.observer = Observer(core, "DELEGATE ")

    def delegate(self, stmt: DelegateStmt) -> None:
        """Propose, let the kernel judge and run, then bind what is expected (`STM-10`)."""
        core = self.core
        name = stmt.agent
        subject = f"DELEGATE {name}"
        core.say("DELEGATE", "delegate.called", {"agent": name, "task": stmt.task})
        target = self.targets.of(name)
        args, labels = self._inputs(stmt)
        request, error = core.kernel.propose_delegate(name, args, core.confidence, labels)
        if request is None:
            self.calls.refused_input(subject, error)
            return
        if target.open_doubt:
            self.calls.reconcile(target, "delegate")
        granted = core.kernel.authorize(
            request, core.state, approve=core.host.approve, kind="delegate", observer=self.observer
        )
        permit = granted.permit
        if permit is None:
            self.calls.refused(granted, subject)
            return
        self.calls.granted(granted, subject)

        def bind(produced: Produced, _request: ActionRequest, extra: Prov) -> None:
            self._bind(stmt, target, produced, extra)

        try:
            registered, value = core.kernel.delegate(permit, core.host)
        except (NotExecuted, ActionInDoubt) as problem:
            self.outcomes.raised(target, permit, problem, "delegate.failed", bind)
            return
        if not registered:
            core.say("ERROR", "delegate.unregistered", {"agent": name})
            return
        self._returned(stmt, target, permit, value)

    def _inputs(self, stmt: DelegateStmt) -> tuple[dict[str, Any], dict[str, Prov]]:
        core = self.core
        args: dict[str, Any] = {}
        labels: dict[str, Prov] = {}
        for path in stmt.inputs:
            value, label = core.state.get_labeled(path)
            if value is UNDEFINED:
                continue
            args[path] = core.withheld(path, value)
            labels[path] = label | core.control.label
        return args, labels

    def _returned(self, stmt: DelegateStmt, target: Target, permit: ExecutionPermit, value: Any) -> None:
        core = self.core

        def bind(produced: Produced, _request: ActionRequest, extra: Prov) -> None:
            self._bind(stmt, target, produced, extra)

        found = contract(target, value) if target.outputs else free(value)
        if isinstance(found, Violation):
            if not target.outputs and found.code == "output.not_dictionary":
                self.targets.dirty(target)
                self.targets.counted(target)
                core.say("ERROR", "delegate.malformed", {"agent": target.name, "type": type_name(value)})
            else:
                self.outcomes.broken(target, permit, target.name, found, bind)
            return
        self.targets.dirty(target)
        self.targets.counted(target)
        self._bind(stmt, target, found, NONE)

    def _bind(self, stmt: DelegateStmt, target: Target, produced: Produced, extra: Prov) -> None:
        core = self.core
        label = DELEGATE_LABEL | extra | core.control.label
        self.targets.closed(target)
        missing = [key for key in stmt.expect if key not in produced.fields]
        if missing:
            core.say("ERROR", "delegate.expect", {"agent": target.name, "keys": missing})
        kept: dict[str, Any] = {}
        for key in stmt.expect:
            value = produced.fields.get(key, UNDEFINED)
            own = label | produced.labels.get(key, NONE)
            core.state.set_local(f"delegate.{target.name}.{key}", value, own)
            core.state.set_untrusted(key, value, own)
            if value is not UNDEFINED:
                kept[key] = value
        core.say("DELEGATE", "delegate.done", {"agent": target.name, "produced": kept})


__all__ = ["Delegates"]
