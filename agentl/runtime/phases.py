"""Phases: the cycle of a tick, and what each phase word does (`TCK-1`, `TCK-10`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from agentl.labels import LLM
from agentl.language.nodes import Body, Stmt
from agentl.runtime.core import Core, VerifyFailed
from agentl.runtime.goals import Goals
from agentl.runtime.handlers import Handlers
from agentl.runtime.memory import Memory
from agentl.runtime.model_statements import ModelStatements
from agentl.runtime.plans import Plans
from agentl.runtime.sensors import Sensors
from agentl.runtime.statements import Statements
from agentl.values import Symbol

CYCLE: Final = (
    "RECEIVE",
    "OBSERVE",
    "UPDATE_BELIEFS",
    "UPDATE_HYPOTHESES",
    "EVALUATE_GOALS",
    "SELECT_PLAN",
    "EXECUTE",
    "VERIFY",
    "UPDATE_MEMORY",
)
SYNONYMS: Final = {"DECIDE": "SELECT_PLAN", "ACT": "EXECUTE"}


class Phases:
    """Runs the phases of one agent, by name."""

    def __init__(
        self,
        core: Core,
        *,
        goals: Goals,
        handlers: Handlers,
        memory: Memory,
        models: ModelStatements,
        plans: Plans,
        sensors: Sensors,
        statements: Statements,
    ) -> None:
        self.core = core
        self.handlers = handlers
        self.models = models
        self.plans = plans
        self.statements = statements
        self.by_name: dict[str, Callable[[], None]] = {
            "RECEIVE": handlers.receive,
            "OBSERVE": sensors.observe,
            "UPDATE_BELIEFS": sensors.update_beliefs,
            "UPDATE_HYPOTHESES": _nothing_to_infer,
            "EVALUATE_GOALS": goals.evaluate,
            "SELECT_PLAN": self.select_plan,
            "EXECUTE": plans.execute,
            "VERIFY": goals.evaluate,
            "UPDATE_MEMORY": memory.update,
        }

    def run(self, name: str) -> bool:
        """Run a phase by its word or a synonym; whether there is one."""
        phase = self.by_name.get(SYNONYMS.get(name, name))
        if phase is None:
            return False
        phase()
        return True

    def cycle(self) -> None:
        """One turn: the default cycle, or the body of the agent loop (`TCK-1`)."""
        loop = self.core.agent.loop
        if loop is not None and loop.body:
            self._loop(loop.body)
            return
        for name in CYCLE:
            self.by_name[name]()

    def _loop(self, body: Body) -> None:
        """Phase words run phases here, and only here: what a phase runs is no loop body (`STM-12`)."""
        core = self.core

        def phase(name: str) -> bool:
            core.phase = None
            try:
                return self.run(name)
            finally:
                core.phase = phase

        core.phase = phase
        try:
            self.plans.guarded(body)
        finally:
            core.phase = None

    # --- SELECT_PLAN (TCK-10) ---

    def select_plan(self) -> None:
        """Events, then plans by their WHEN, then DECIDE rules, then the model as the last resort."""
        self.handlers.events()
        self._by_guard()
        decide = self.core.agent.decide
        if decide is None:
            return
        self._by_rule(decide.rules)
        if not self.plans.queue and decide.reason is not None:
            self.models.reason(decide.reason)
            self._by_model(decide.reason.using)

    def _by_guard(self) -> None:
        core = self.core
        for plan in core.agent.plans:
            if plan.when is not None and core.condition(plan.when, "context.plan", plan.name):
                decision = core.control.decide(condition=plan.when, state=core.state)
                self.plans.enqueue(plan.name, "why.when", "plan", decision)

    def _by_rule(self, rules: tuple[Stmt, ...]) -> None:
        core = self.core
        before, core.origin = core.origin, "decide"
        try:
            for rule in rules:
                try:
                    self.statements.rule(rule)
                except VerifyFailed as signal:
                    self.plans.failed(signal)
        finally:
            core.origin = before

    def _by_model(self, using: tuple[str, ...]) -> None:
        """Let the model choose a plan (`TCK-10`); a name that no PLAN declares queues nothing (`INV-5`)."""
        core = self.core
        chosen = self.models.select_plan(using)
        if chosen is None:
            return
        name = str(chosen) if isinstance(chosen, (str, Symbol)) else ""
        if name in self.plans.by_name:
            core.say("LLM", "llm.plan", {"plan": name})
            self.plans.enqueue(name, "why.llm", "llm", core.control.decide(LLM))
        else:
            core.say("BLOCKED", "llm.unknown_plan", {"plan": name or type(chosen).__name__})


def _nothing_to_infer() -> None:
    """UPDATE_HYPOTHESES of an agent without hypotheses; any other is refused at start-up (`TCK-8`)."""


__all__ = ["CYCLE", "SYNONYMS", "Phases"]
