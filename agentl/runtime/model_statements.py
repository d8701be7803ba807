"""REASON and JUDGE: what is sent to a model, and how its answer becomes values (`LLM-1` to `LLM-7`).

An answer is never an authority: types, domains and defaults are enforced here, the results
are labelled LLM and bound where they never answer before a fact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentl.errors import KernelAbort, RuntimeAgentError
from agentl.labels import LLM_LABEL, RUNTIME_LABEL, Prov
from agentl.language.nodes import JudgeStmt, Question, ReasonStmt
from agentl.messages import fmt
from agentl.reasoning.model import ask_judge
from agentl.runtime.coercion import Field, coerce, fields_of, inside, is_finite, probability, schema_of
from agentl.runtime.core import Core, opened
from agentl.runtime.trace import failure, frozen
from agentl.values import UNDEFINED, type_name

_RUNTIME_LLM = RUNTIME_LABEL | LLM_LABEL


class ModelStatements:
    """Puts the model statements of one agent to its model."""

    def __init__(self, core: Core, scores: Mapping[str, float]) -> None:
        self.core = core
        self._scores = scores
        self._tools = {
            tool.name: {"risk": tool.risk, "inputs": dict(tool.inputs)} for tool in core.agent.tools
        }
        self._plans = [plan.name for plan in core.agent.plans]

    # --- context ---

    def context(self, using: Sequence[str] = ()) -> dict[str, Any]:
        """What the model sees (`LLM-5`): with USING those paths alone, else an overview."""
        core = self.core
        state = core.state
        if using:
            focus = {path: fmt(core.withheld(path, state.get(path))) for path in using}
            return {"tick": state.tick, "focus": focus}
        return {
            "tick": state.tick,
            "goals": {
                goal.name: {"mode": goal.mode, "score": self._scores.get(goal.name)}
                for goal in core.agent.goals
            },
            "beliefs": {
                path: {
                    "value": frozen(core.withheld(path, belief.value)),
                    "confidence": belief.confidence,
                    "source": belief.source,
                }
                for path, belief in state.beliefs.items()
            },
            "tools": {name: dict(tool) for name, tool in self._tools.items()},
            "plans": list(self._plans),
        }

    # --- REASON ---

    def reason(self, stmt: ReasonStmt) -> None:
        """REASON, or JUDGE when the statement is one."""
        if isinstance(stmt, JudgeStmt):
            self._judge(stmt)
            return
        core = self.core
        core.metrics["llm_calls"] += 1
        fields = fields_of(stmt)
        schema = dict(schema_of(stmt))
        said: Any = None
        try:
            answer = core.llm.reason(stmt.task, self.context(stmt.using), schema)
            said = getattr(core.llm, "last_reason_missing", None)
            if not isinstance(answer, dict):
                raise RuntimeAgentError(code="llm.malformed", type=type_name(answer))
        except KernelAbort:
            raise
        except Exception as error:  # noqa: BLE001 - a model that fails has answered nothing (`LLM-1`)
            self._failed(stmt, error)
            answer, said = {}, None
        missing = {field.name: None for field in fields if field.name not in answer}
        if isinstance(said, (list, tuple)):
            missing.update((name, None) for name in said if type(name) is str and name in schema)
        label = LLM_LABEL | core.control.label
        values: dict[str, Any] = {}
        state = core.state
        for field in fields:
            name = field.name
            given = UNDEFINED if name in missing else answer[name]
            value, own = self._settled(field, given, label, judged=False)
            if name == "confidence":
                value = core.confidence = _confidence(value)
            values[name] = value
            state.set_local(field.reason_local, value, own)
            state.set_untrusted(name, value, own)
        self._report(stmt, values, [name for name in schema if name in missing] if missing else [])

    def _failed(self, stmt: ReasonStmt, error: Exception) -> None:
        values = {"keyword": stmt.keyword, "task": stmt.task, **failure(error, crossed=True)}
        if isinstance(error, RuntimeAgentError) and error.code == "llm.malformed":
            values = {"keyword": stmt.keyword, "task": stmt.task, **failure(error)}
        self.core.say("ERROR", "llm.failed", values)

    def _settled(self, field: Field, given: Any, label: Prov, *, judged: bool) -> tuple[Any, Prov]:
        """The value of a field after type, default and domain (`LLM-2` to `LLM-4`)."""
        # The same value live and resumed (`ENC-5`); wrappers say nothing more than LLM here.
        value = given if given is UNDEFINED else opened(given)[0]
        value = coerce(field, value)
        if value is not UNDEFINED:
            if inside(field, value):
                return value, label
            return self._outside(field, value, label)
        if field.default is None:
            return UNDEFINED, label
        default, own = self._default(field)
        label = label | own
        if default is UNDEFINED or judged or inside(field, default):
            return default, label
        return self._outside(field, default, label)

    def _default(self, field: Field) -> tuple[Any, Prov]:
        if field.default is None:
            return UNDEFINED, LLM_LABEL
        done, value, label = self.core.value(field.default, "context.default", field.name)
        return (coerce(field, value) if done else UNDEFINED), label

    def _outside(self, field: Field, value: Any, label: Prov) -> tuple[Any, Prov]:
        """A value that the domain refuses becomes a default that fits, else UNDEFINED (`LLM-4`)."""
        became, own = self._default(field)
        if became is not UNDEFINED and not inside(field, became):
            became = UNDEFINED
        self.core.count("domain_clamps")
        code = "llm.out_of_domain" if is_finite(value) else "llm.not_finite"
        domain = field.domain_text or field.kind
        values = {"field": field.name, "value": value, "domain": domain, "became": became}
        self.core.say("BLOCKED", code, values)
        return became, label | own

    def _report(self, stmt: ReasonStmt, values: dict[str, Any], missing: list[str]) -> None:
        core = self.core
        said = {"keyword": stmt.keyword, "task": stmt.task}
        mute = bool(values) and len(missing) == len(values)
        if mute:
            core.count("reason_degraded")
            core.say("LLM", "llm.mute", {**said, "fields": missing})
        else:
            core.say("LLM", "llm.answer", {**said, "produced": values})
            if missing:
                core.say("LLM", "llm.partial", {**said, "fields": missing})
        label = _RUNTIME_LLM | core.control.label
        core.state.set_local("reason.degraded", mute, label)
        core.state.set_local("reason.missing", len(missing), label)

    # --- JUDGE ---

    def _judge(self, stmt: JudgeStmt) -> None:
        core = self.core
        core.count("llm_calls")
        fields = fields_of(stmt)
        questions = {
            question.name: _question(question, field)
            for question, field in zip(stmt.questions, fields, strict=True)
        }
        try:
            answer = ask_judge(core.llm, stmt.task, self.context(stmt.using), questions)
            if not isinstance(answer, dict):
                raise RuntimeAgentError(code="llm.malformed", type=type_name(answer))
        except KernelAbort:
            raise
        except Exception as error:  # noqa: BLE001 - a model that fails has answered nothing (`LLM-1`)
            self._failed(stmt, error)
            answer = {}
        label = LLM_LABEL | core.control.label
        values: dict[str, Any] = {}
        missing: list[str] = []
        abstained: list[str] = []
        for question, field in zip(stmt.questions, fields, strict=True):
            given, p, confidence = _answered(answer, field.name)
            if given is not UNDEFINED and _abstains(question, p):
                core.count("judge_abstained")
                abstained.append(field.name)
                given = UNDEFINED
            if given is UNDEFINED:
                missing.append(field.name)
            value, own = self._settled(field, given, label, judged=True)
            values[field.name] = value
            self._bind(field.name, value, p, confidence, own)
        if abstained:
            said = {"keyword": stmt.keyword, "task": stmt.task, "fields": abstained}
            core.say("LLM", "llm.abstained", said)
        self._report(stmt, values, missing)

    def _bind(self, name: str, value: Any, p: Any, confidence: Any, label: Prov) -> None:
        state = self.core.state
        state.set_untrusted(name, value, label)
        state.set_local(f"reason.{name}", value, label)
        state.set_local(f"judge.{name}", value, label)
        state.set_local(f"judge.{name}.value", value, label)
        state.set_local(f"judge.{name}.p", p, label)
        state.set_local(f"judge.{name}.confidence", confidence, label)

    # --- the choice of a plan ---

    def select_plan(self, using: Sequence[str]) -> Any:
        """The plan that the model names, unchecked; ``None`` when it names none or fails (`TCK-10`)."""
        try:
            return self.core.llm.select_plan(self.context(using), list(self._plans))
        except KernelAbort:
            raise
        except Exception as error:  # noqa: BLE001 - a model that fails has chosen nothing
            self.core.say("ERROR", "llm.select_failed", failure(error, crossed=True))
            return None


def _confidence(value: Any) -> Any:
    """A field ``confidence`` is a float (`LLM-6`)."""
    if isinstance(value, bool) or value is UNDEFINED:
        return UNDEFINED
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return UNDEFINED
    return number if is_finite(number) else UNDEFINED


def _question(question: Question, field: Field) -> dict[str, Any]:
    asked: dict[str, Any] = {"kind": question.kind, "instructions": question.instructions}
    if question.kind == "CHOICE":
        asked["criteria"] = dict(question.criteria)
    elif question.kind == "SCORE":
        asked["levels"] = list(question.levels)
    asked["schema"] = field.schema
    asked["abstain_below"] = question.abstain_below
    return asked


def _answered(answer: Mapping[str, Any], name: str) -> tuple[Any, Any, Any]:
    """Value, probability and confidence of one answer; a bare value has no probability (`LLM-7`)."""
    given = answer.get(name, UNDEFINED)
    if not isinstance(given, dict):
        return given, UNDEFINED, UNDEFINED
    p = probability(given, "p")
    confidence = probability(given, "confidence")
    return given.get("value", UNDEFINED), p, p if confidence is UNDEFINED else confidence


def _abstains(question: Question, p: Any) -> bool:
    threshold = question.abstain_below
    return threshold is not None and (p is UNDEFINED or p < threshold)


__all__ = ["ModelStatements"]
