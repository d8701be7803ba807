"""How a call ended, and what follows from it: result, failure or doubt (`TOL-3` to `TOL-5`, `TOL-8`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from agentl.errors import ActionInDoubt, NotExecuted
from agentl.kernel.action import ActionRequest, type_violation
from agentl.kernel.control import CONTROL_KEY
from agentl.kernel.doubts import SettledDoubt
from agentl.kernel.permit import ExecutionPermit
from agentl.labels import (
    EFFECT_LABEL,
    HUMAN_LABEL,
    NONE,
    RUNTIME_LABEL,
    TOOL_LABEL,
    UNKNOWN_LABEL,
    Labeled,
    Prov,
    unwrap,
)
from agentl.runtime.core import Core, all_plain, unwrapped
from agentl.runtime.drift import EFFECT_SOURCE, Drift
from agentl.runtime.targets import Target, Targets
from agentl.runtime.trace import failure
from agentl.values import Opaque, is_opaque_inside, type_name


class Produced(NamedTuple):
    """What an OUTPUT contract lets through: fields, the labels that the host gave them, keys left out."""

    fields: dict[str, Any]
    labels: dict[str, Prov]
    dropped: list[str]


class Violation(NamedTuple):
    """The first breach of an OUTPUT contract, as a message."""

    code: str
    values: dict[str, Any]


def _foreign(value: Any) -> str:
    """The type of the first part of a value that is outside the data model (`ENC-2`)."""
    parts: list[Any] = [value]
    while parts:
        part = parts.pop()
        if type(part) is Opaque:
            return part.type_name
        if type(part) is Labeled:
            parts.append(part.value)
        elif type(part) is dict:
            parts += [*reversed(part.values()), *reversed(part)]
        elif type(part) in (list, tuple, set):
            parts += list(part)[::-1]
    return type_name(value)


Bind = Callable[[Produced, ActionRequest, Prov], None]
"""Writes the result of a sub-agent where the statement that called it wants it."""


def contract(target: Target, value: Any) -> Produced | Violation:
    """Apply the OUTPUT contract of ``target`` to what it returned (`TOL-4`, `ENC-6`)."""
    whole = NONE
    plain = all_plain(value)
    if not plain:
        value, whole = unwrap(value)
        if is_opaque_inside(value):
            return Violation("output.opaque", {"type": _foreign(value)})
    if target.decl is None or not target.outputs:
        keys = [str(key) for key in value] if type(value) is dict else []
        return Produced({}, {}, keys)
    if type(value) is not dict:
        return Violation("output.not_dictionary", {"type": type_name(value)})
    fields: dict[str, Any] = {}
    labels: dict[str, Prov] = {}
    for key, kind, _ in target.outputs:
        if key not in value:
            return Violation("output.missing", {"key": key})
        found = value[key]
        label = NONE
        if not plain:
            found, label = unwrapped(found)
        breach = type_violation(found, kind)
        if breach == "type":
            return Violation("output.type", {"key": key, "wanted": kind, "type": type_name(found)})
        if breach is not None:
            return Violation("output.not_finite", {"key": key, "value": found})
        fields[key] = found
        if not plain:
            labels[key] = whole | label
    dropped = [str(key) for key in value if key not in fields] if len(value) > len(fields) else []
    return Produced(fields, labels, dropped)


class Outcomes:
    """Turns the end of a call into facts, beliefs and events."""

    def __init__(self, core: Core, targets: Targets, drift: Drift) -> None:
        self.core = core
        self.targets = targets
        self.drift = drift
        self._binders: dict[str, Bind] = {}

    # --- result ---

    def returned(
        self, target: Target, permit: ExecutionPermit, request: ActionRequest, value: Any
    ) -> dict[str, Any] | None:
        """A tool returned: its dictionary after the contract, or ``None`` when it breaks it."""
        targets = self.targets
        found = contract(target, value)
        if isinstance(found, Violation):
            self.broken(target, permit, request.tool, found)
            return None
        targets.dirty(target)
        targets.counted(target)
        self.bind(target, request, found)
        return found.fields

    def broken(
        self,
        target: Target,
        permit: ExecutionPermit,
        subject: str,
        found: Violation,
        bind: Bind | None = None,
    ) -> None:
        """The OUTPUT contract does not hold: nothing is bound, and the call is in doubt (`TOL-4`).

        Unless the target is read-only, or it is a verdict that does not fit (`HST-4`, `TOL-8`).
        """
        core = self.core
        sure = read_only(core.host, target.name, permit.kind)
        settled = not sure and core.kernel.declare_doubt(permit) is None
        consequence = "output.failed" if sure else "output.settled" if settled else "output.in_doubt"
        core.count("tool_contract_failures")
        if not settled:
            self.targets.failed(target)
        core.say(
            "ERROR", "tool.output", {"tool": subject, "consequence": consequence, **found.values}, found.code
        )
        if settled:
            self.targets.counted(target)
        if sure or settled:
            self.targets.dirty(target)
            return
        self._doubtful(target, permit.action_id, subject, bind)

    def bind(self, target: Target, request: ActionRequest, produced: Produced, extra: Prov = NONE) -> None:
        """A tool succeeded: bind its outputs, believe its effects, attest what it validated (`TOL-5`)."""
        core = self.core
        state = core.state
        pc = core.control.label
        if produced.dropped:
            self._leftover(target, produced)
        if target.failures:
            self.targets.closed(target)
        core.metrics["tool_calls"] += 1
        label = TOOL_LABEL | pc if extra is NONE else TOOL_LABEL | extra | pc
        fields = produced.fields
        whole = label
        for key, _, fact in target.outputs:
            own = label
            if produced.labels:
                own = label | produced.labels[key]
                whole = whole | own
            state.set_untrusted(key, fields[key], own)
            state.set_world(fact, fields[key], own)
        state.set_local(target.result_local, fields, whole)
        state.set_local("result", fields, whole)
        decl = target.decl
        if decl is not None:
            if decl.attestations:
                for attested in dict.fromkeys(parameter for _, parameter in decl.attestations):
                    if attested in request.args:
                        state.attest(target.name, attested, request.args[attested])
            if decl.effects:
                self._effects(target, request)
        core.say(
            "TOOL",
            "tool.done",
            {"tool": request.tool, "args": request.args, "risk": request.risk, "result": fields},
        )

    def _leftover(self, target: Target, produced: Produced) -> None:
        if produced.dropped:
            code = "tool.output_dropped" if target.outputs else "tool.output_ignored"
            self.core.count("tool_output_dropped", len(produced.dropped))
            self.core.say("INFO", code, {"tool": target.name, "keys": produced.dropped})

    def _effects(self, target: Target, request: ActionRequest) -> None:
        """Believe what the declaration promises, with the arguments of the call in scope."""
        core = self.core
        state = core.state
        assert target.decl is not None
        saved = state.save("locals", request.args)
        provenance: Mapping[str, Any] = request.provenance
        for name, value in request.args.items():
            state.set_local(name, value, provenance.get(name, UNKNOWN_LABEL))
        believed: list[tuple[str, Any, Prov]] = []
        for effect in target.decl.effects:
            done, value, label = core.value(effect.value, "context.effect", effect.path, tool=target.name)
            if done and not core.refuse_reserved(effect.path):
                believed.append((effect.path, value, label))
        state.restore(saved)
        control = provenance.get(CONTROL_KEY, UNKNOWN_LABEL)
        for path, value, label in believed:
            confidence = self.drift.confidence(target.name, path)
            source = EFFECT_SOURCE + target.name
            state.set_belief(path, value, confidence, source, state.tick, EFFECT_LABEL | label | control)

    # --- failure and doubt ---

    def raised(
        self,
        target: Target,
        permit: ExecutionPermit,
        error: NotExecuted | ActionInDoubt,
        code: str = "tool.failed",
        bind: Bind | None = None,
    ) -> None:
        """A call raised: nothing was done, or nobody knows (`TOL-3`)."""
        subject = target.name
        failures = self.targets.failed(target)
        said = failure(error, crossed=True)
        if isinstance(error, ActionInDoubt):
            # The kernel's wrapper: its text already names the class of what the call raised.
            said["error_type"] = ""
        values = {"tool": subject, "agent": subject, "failures": failures, **said}
        self.core.say("ERROR", code, values)
        if isinstance(error, ActionInDoubt):
            self._doubtful(target, permit.action_id, subject, bind)

    def _doubtful(self, target: Target, action_id: str, subject: str, bind: Bind | None) -> None:
        core = self.core
        self.targets.counted(target)
        self.targets.dirty(target, action_id)
        target.open_doubt = True
        core.fact(target.doubt_fact, True)
        core.state.set_local("last_action.in_doubt", True, RUNTIME_LABEL)
        if bind is not None:
            self._binders[action_id] = bind
        core.say("ERROR", "tool.in_doubt", {"tool": subject, "action_id": action_id})

    # --- settling ---

    def settle(self, settled: SettledDoubt) -> None:
        """A doubt is closed, by the world or by an operator (`TOL-8`)."""
        core = self.core
        target = self.targets.of(settled.target)
        detail = "tool.settled_executed" if settled.executed else "tool.settled_not_executed"
        values = {"tool": settled.target, "action_id": settled.action_id, "by": settled.by or "reconciler"}
        core.say("INFO", "tool.settled", values, detail)
        bind = self._binders.pop(settled.action_id, None)
        if settled.executed:
            self._executed(target, settled, bind)
        else:
            self.targets.clean(target, settled.action_id)
        self.targets.settled(target)

    def _executed(self, target: Target, settled: SettledDoubt, bind: Bind | None) -> None:
        extra = HUMAN_LABEL if settled.by is not None else NONE
        request = settled.doubt.request
        found: Produced | Violation
        if settled.kind == "delegate" and not target.outputs:
            found = free(settled.value)
        else:
            found = contract(target, settled.value)
        if isinstance(found, Violation):
            self.core.count("tool_contract_failures")
            values = {"tool": target.name, "consequence": "output.settled", **found.values}
            self.core.say("ERROR", "tool.output", values, found.code)
        elif settled.kind != "delegate":
            self.bind(target, request, found, extra)
        elif bind is not None:
            bind(found, request, extra)


def free(value: Any) -> Produced | Violation:
    """The answer of a sub-agent without an OUTPUT contract: a dictionary; ``None`` is an empty one."""
    value, whole = unwrapped(value)
    if is_opaque_inside(value):
        return Violation("output.opaque", {"type": _foreign(value)})
    if value is None:
        value = {}
    if type(value) is not dict:
        return Violation("output.not_dictionary", {"type": type_name(value)})
    fields: dict[str, Any] = {}
    labels: dict[str, Prov] = {}
    for key, item in value.items():
        fields[key], label = unwrapped(item)
        labels[key] = whole | label
    return Produced(fields, labels, [])


def read_only(host: Any, target: str, kind: str) -> bool:
    """Whether the host promises that a call of ``target`` changes nothing (`HST-4`)."""
    promise = getattr(host, "promise", None)
    return promise is not None and "read_only" in promise(target, kind)


__all__ = ["Bind", "Outcomes", "Produced", "Violation", "contract", "free", "read_only"]
