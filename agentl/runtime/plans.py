"""Plans: the queue, the order, one run with its retries, failed VERIFYs (`TCK-11` to `TCK-13`)."""

from __future__ import annotations

from dataclasses import dataclass

from agentl.kernel.control import Decision
from agentl.labels import RUNTIME, RUNTIME_LABEL, Prov
from agentl.language.nodes import Body, ControlStmt, Plan, Stmt
from agentl.runtime.core import Core, VerifyFailed


@dataclass(slots=True)
class Queued:
    """A plan that waits: who queued it first, on which decision, and the tick it may run in."""

    plan: str
    origin: str
    decision: Decision
    not_before: int = 0

    @property
    def label(self) -> Prov:
        """The label of the decision."""
        return self.decision.label


class Plans:
    """The plans of one agent, and the queue of those to run."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.queue: list[Queued] = []
        self.by_name: dict[str, Plan] = {plan.name: plan for plan in core.agent.plans}
        self._rank = {
            plan.name: (-float(plan.priority), position) for position, plan in enumerate(core.agent.plans)
        }
        self._ran: dict[str, None] = {}
        self._running = 0

    def begin_tick(self) -> None:
        """No plan has run in this tick yet."""
        self._ran.clear()

    # --- the queue ---

    def enqueue(self, name: str, why: str, origin: str, decision: Decision | None = None) -> None:
        """Queue a plan (`TCK-11`); one that is queued already only takes on the further label.

        Args:
            why: message code of the reason.
            origin: what caused it (`POL-8`).
            decision: what it rests on besides the decisions in force; by default the runtime itself.
        """
        core = self.core
        control = core.control
        given = decision if decision is not None else control.decide(RUNTIME)
        if control.depth():
            given = given.joined(control.here())
        if name not in self.by_name:
            core.say("ERROR", "plan.undeclared", {"plan": name})
            return
        for entry in self.queue:
            if entry.plan == name:
                entry.decision = entry.decision.joined(given)
                return
        waits = self._running > 0 and name in self._ran
        self.queue.append(Queued(name, origin, given, core.state.tick + 1 if waits else 0))
        core.say("PLAN", "plan.queued", {"plan": name, "why": why}, why)

    def execute(self) -> None:
        """EXECUTE: run what is queued, by priority, until nothing is left for this tick (`TCK-12`)."""
        tick = self.core.state.tick
        while True:
            ready = [entry for entry in self.queue if entry.not_before <= tick]
            if not ready:
                return
            entry = min(ready, key=lambda queued: self._rank[queued.plan])
            self.queue.remove(entry)
            self._ran[entry.plan] = None
            before, self.core.origin = self.core.origin, entry.origin
            try:
                with self.core.control.enter(entry.decision):
                    self.run(self.by_name[entry.plan])
            finally:
                self.core.origin = before

    # --- one plan ---

    def run(self, plan: Plan) -> bool:
        """Run a plan with the retries of its failure handlers; whether it came to its end (`TCK-13`)."""
        core = self.core
        start = attempt = 0
        spent: dict[tuple[int, int, str], int] = {}
        self._running += 1
        try:
            while True:
                if attempt:
                    values = {"plan": plan.name, "attempt": attempt + 1}
                    core.say("PLAN", "plan.started", values, "plan.restarted")
                else:
                    core.say("PLAN", "plan.started", {"plan": plan.name})
                failed = self._steps(plan, start)
                if failed is None:
                    return True
                position, signal = failed
                handler = self._handler(signal)
                retry = _retry_of(handler)
                key = (position, *signal.key)
                limit = retry.arg if retry is not None and isinstance(retry.arg, int) else 0
                if retry is None or spent.get(key, 0) >= limit:
                    self.failure(handler)
                    return False
                spent[key] = spent.get(key, 0) + 1
                attempt += 1
                start = 0 if retry.from_start else position
                core.say(
                    "RETRY",
                    "plan.retry",
                    {
                        "plan": plan.name,
                        "attempt": spent[key],
                        "limit": limit,
                        "step": plan.steps[start].name,
                    },
                )
        finally:
            self._running -= 1

    def _steps(self, plan: Plan, start: int) -> tuple[int, VerifyFailed] | None:
        for position in range(start, len(plan.steps)):
            step = plan.steps[position]
            self.core.say("STEP", "plan.step", {"step": step.name})
            try:
                self.core.run_block(step.body)
            except VerifyFailed as signal:
                return position, signal
        return None

    # --- failure ---

    def _handler(self, signal: VerifyFailed) -> Body:
        """The VERIFY's own ON FAIL, else the agent's; the agent's does not handle its own failures."""
        if signal.on_fail or self.core.in_failure_handler:
            return signal.on_fail
        return self.core.agent.on_verify_fail

    def failure(self, handler: Body) -> None:
        """Run a failure handler without its RETRY statements, once there is nothing left to retry."""
        core = self.core
        core.state.set_local("still_failed", True, RUNTIME_LABEL | core.control.label)
        body = tuple(stmt for stmt in handler if not _is_retry(stmt))
        if not body:
            return
        before = (core.in_failure_handler, core.phase)
        core.in_failure_handler, core.phase = True, None
        try:
            self.guarded(body)
        finally:
            core.in_failure_handler, core.phase = before

    def guarded(self, body: Body) -> bool:
        """Run a block outside a plan: a failed VERIFY ends it and nothing else. Whether it was complete."""
        try:
            self.core.run_block(body)
        except VerifyFailed as signal:
            self.failed(signal)
            return False
        return True

    def failed(self, signal: VerifyFailed) -> None:
        """A VERIFY failed outside a plan: there is nothing to replay."""
        self.failure(self._handler(signal))


def _is_retry(stmt: Stmt) -> bool:
    return isinstance(stmt, ControlStmt) and stmt.kind == "RETRY"


def _retry_of(handler: Body) -> ControlStmt | None:
    """The first RETRY directly in a failure handler."""
    for stmt in handler:
        if isinstance(stmt, ControlStmt) and stmt.kind == "RETRY":
            return stmt
    return None


__all__ = ["Plans", "Queued"]
