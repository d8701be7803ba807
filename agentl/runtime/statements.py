"""Statements: one method each, found by the class of the node (`STM-2` to `STM-12`)."""

from __future__ import annotations

from collections.abc import Callable, KeysView
from typing import Any, Final

from agentl.errors import KernelAbort
from agentl.labels import Prov
from agentl.language.nodes import (
    AskStmt,
    Body,
    CallStmt,
    ControlStmt,
    DelegateStmt,
    ForEachStmt,
    IfStmt,
    JudgeStmt,
    LoopStmt,
    MessageStmt,
    PathExpr,
    ReasonStmt,
    SetStmt,
    Stmt,
    ThenPlan,
    VerifyStmt,
)
from agentl.language.printer import expression_text
from agentl.paths import is_reserved
from agentl.runtime.asking import Asking
from agentl.runtime.calls import Calls
from agentl.runtime.core import Core, VerifyFailed
from agentl.runtime.delegates import Delegates
from agentl.runtime.foreach import Projection, items_of
from agentl.runtime.model_statements import ModelStatements
from agentl.runtime.paths import touches
from agentl.runtime.plans import Plans
from agentl.runtime.sensors import Sensors
from agentl.runtime.trace import failure, frozen

_LOOP_LIMIT: Final = 100


class Statements:
    """Executes the statements of one agent."""

    def __init__(
        self,
        core: Core,
        *,
        asking: Asking,
        calls: Calls,
        delegates: Delegates,
        models: ModelStatements,
        plans: Plans,
        sensors: Sensors,
    ) -> None:
        self.core = core
        self.asking = asking
        self.calls = calls
        self.delegates = delegates
        self.models = models
        self.plans = plans
        self.sensors = sensors
        self._execute: dict[type[Stmt], Callable[[Any], None]] = {
            CallStmt: self._call,
            SetStmt: self._set,
            IfStmt: self._if,
            VerifyStmt: self._verify,
            ReasonStmt: self.models.reason,
            JudgeStmt: self.models.reason,
            AskStmt: self.asking.ask,
            DelegateStmt: self.delegates.delegate,
            MessageStmt: self._message,
            LoopStmt: self._loop,
            ForEachStmt: self._foreach,
            ControlStmt: self._control,
            ThenPlan: self._then,
        }
        core.run_block = self.block

    def block(self, body: Body) -> None:
        """Execute the statements of a body in order."""
        execute = self._execute
        for stmt in body:
            method = execute.get(type(stmt))
            if method is None:
                self.core.say("ERROR", "stm.unsupported", {"type": type(stmt).__name__})
            else:
                method(stmt)

    # --- calls and assignment ---

    def _call(self, stmt: CallStmt) -> None:
        self.calls.statement(stmt.call)

    def _set(self, stmt: SetStmt) -> None:
        core = self.core
        path = stmt.target
        if is_reserved(path):
            core.say("ERROR", "stm.set_refused", {"path": path}, "stm.set_reserved")
            return
        if core.observed and any(touches(path, observed) for observed in core.observed):
            core.say("ERROR", "stm.set_refused", {"path": path}, "stm.set_observed")
            return
        try:
            value, label = core.evaluator.labeled(stmt.value)
        except KernelAbort:
            raise
        except Exception as error:  # noqa: BLE001 - the plan continues without the write (`STM-2`)
            core.say("ERROR", "stm.set_failed", {"path": path, **failure(error)}, "stm.set_failed.detail")
            return
        finally:
            core.evaluator.notes.clear()
        value = frozen(value)
        core.state.assign(path, value, label | core.control.label)
        core.say("INFO", "stm.set", {"path": path, "value": value})

    # --- control flow ---

    def _if(self, stmt: IfStmt) -> None:
        self.branch(stmt, "context.if")

    def branch(self, stmt: IfStmt, context: str) -> None:
        """Take the branch of a condition, under its label (`STM-3`)."""
        core = self.core
        body = stmt.then if core.condition(stmt.cond, context) else stmt.otherwise
        if body:
            with core.control.enter(core.control.decide(condition=stmt.cond, state=core.state)):
                self.block(body)

    def rule(self, stmt: Stmt) -> None:
        """One rule of DECIDE: its condition is named as such when it cannot be evaluated."""
        if isinstance(stmt, IfStmt):
            self.branch(stmt, "context.decide")
        else:
            self.block((stmt,))

    def _loop(self, stmt: LoopStmt) -> None:
        """Turns up to a bound, until a condition holds after one (`STM-5`)."""
        core = self.core
        limit = stmt.max_iter if stmt.max_iter > 0 else _LOOP_LIMIT
        if stmt.until is None:
            for _ in range(limit):
                self.block(stmt.body)
            return
        for _ in range(limit):
            with core.control.enter(core.control.decide(condition=stmt.until, state=core.state)):
                self.block(stmt.body)
            if core.condition(stmt.until, "context.loop"):
                return

    def _foreach(self, stmt: ForEachStmt) -> None:
        core = self.core
        done, source, label = core.value(stmt.source, "context.foreach", stmt.var)
        items = items_of(source) if done else None
        if items is None:
            if done:
                self._not_collection(stmt)
            return
        core.say("INFO", "foreach.start", {"variable": stmt.var, "count": len(items)})
        limit = stmt.max_iter
        if len(items) > limit:
            core.say("INFO", "foreach.truncated", {"count": len(items), "limit": limit})
            items = items[: max(limit, 0)]
        if core.refuse_reserved(stmt.var):
            return
        decision = core.control.decide(condition=stmt.source, state=core.state)
        before, core.phase = core.phase, None
        try:
            with core.control.enter(decision):
                self._turns(stmt, items, label | core.control.label)
        finally:
            core.phase = before

    def _turns(self, stmt: ForEachStmt, items: list[Any], label: Prov) -> None:
        state = self.core.state
        projection = Projection(stmt.var)
        set_local, body, block = state.set_local, stmt.body, self.block
        names: KeysView[str] | None = None
        saved = state.save("locals", ())
        try:
            for index, item in enumerate(items):
                bound = projection.of(item, index)
                # Where this item binds what the last one did, nothing of the restored locals could be seen.
                if names != bound.keys():
                    state.restore(saved)
                    saved = state.save("locals", bound)
                    names = bound.keys()
                for key, value in bound.items():
                    set_local(key, value, label)
                block(body)
        finally:
            state.restore(saved)

    def _not_collection(self, stmt: ForEachStmt) -> None:
        core = self.core
        source = stmt.source.dotted if isinstance(stmt.source, PathExpr) else expression_text(stmt.source)
        state = core.state
        stores = (state.locals, state.world, *(state.memory[name] for name in state.memory))
        bound: dict[str, None] = {}
        for store in stores:
            bound.update((key, None) for key, value in store.items() if isinstance(value, (list, tuple)))
        detail = "foreach.bound" if bound else "foreach.none_bound"
        core.say("ERROR", "foreach.not_collection", {"source": source, "collections": list(bound)}, detail)

    # --- verification ---

    def _verify(self, stmt: VerifyStmt) -> None:
        core = self.core
        self.sensors.reperceive(stmt.cond)
        label = stmt.label if stmt.label is not None else expression_text(stmt.cond)
        strict = core.strict
        strict.notes.clear()
        try:
            holds = strict.test(stmt.cond)
        except KernelAbort:
            raise
        except Exception as error:  # noqa: BLE001 - what cannot be evaluated is not verified (`EVA-12`)
            core.say("ERROR", "eval.condition", {"context": "context.verify", "name": "", **failure(error)})
            holds = False
        if holds:
            core.count("verify_pass")
            core.say("VERIFY_OK", "verify.ok", {"label": label})
            return
        core.count("verify_fail")
        notes = [[code, {key: frozen(value) for key, value in said.items()}] for code, said in strict.notes]
        strict.notes.clear()
        if notes:
            core.say("VERIFY_FAIL", "verify.fail", {"label": label, "notes": notes}, "verify.fail.detail")
        else:
            core.say("VERIFY_FAIL", "verify.fail", {"label": label}, "text.none")
        raise VerifyFailed(stmt.on_fail, (stmt.line, label))

    # --- messages, control words, plans ---

    def _message(self, stmt: MessageStmt) -> None:
        """Evaluate the payload; without a society nothing can be delivered (`STM-11`)."""
        core = self.core
        for name, expr in stmt.payload:
            done, _, _ = core.value(expr, "context.payload", name, message=stmt.name)
            if not done:
                return
        target = stmt.to if stmt.to is not None and not stmt.broadcast else "*"
        core.say("MESSAGE", "message.undelivered", {"message": stmt.name, "target": target})

    def _control(self, stmt: ControlStmt) -> None:
        core = self.core
        if stmt.kind == "ESCALATE":
            self.asking.escalate()
        elif stmt.kind == "ROLLBACK":
            core.say("INFO", "stm.rollback", {})
        elif stmt.kind == "PHASE" and (core.phase is None or not core.phase(str(stmt.arg))):
            core.say("ERROR", "stm.phase_refused", {"phase": str(stmt.arg)})

    def _then(self, stmt: ThenPlan) -> None:
        """Queue the plan, with the origin of what runs now (`STM-8`)."""
        self.plans.enqueue(stmt.plan, "why.direct", self.core.origin)


__all__ = ["Statements"]
