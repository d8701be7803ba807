"""The runtime of one agent: its parts, its start-up and its ticks (`API-3`, `TCK-2` to `TCK-4`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

from agentl.errors import RuntimeAgentError
from agentl.kernel.gate import Kernel
from agentl.keyring import open_rings
from agentl.labels import DECLARED_LABEL
from agentl.language.nodes import Agent, Plan, Program, Stmt
from agentl.runtime.asking import Asking
from agentl.runtime.calls import Calls
from agentl.runtime.core import Core
from agentl.runtime.delegates import Delegates
from agentl.runtime.drift import EFFECT_CONFIDENCE, Drift
from agentl.runtime.goals import Goals
from agentl.runtime.handlers import Envelope, Handlers
from agentl.runtime.memory import Memory
from agentl.runtime.model_statements import ModelStatements
from agentl.runtime.outcomes import Outcomes
from agentl.runtime.phases import CYCLE, SYNONYMS, Phases
from agentl.runtime.plans import Plans, Queued
from agentl.runtime.redaction import REDACTED
from agentl.runtime.sensors import Sensors
from agentl.runtime.statements import Statements
from agentl.runtime.targets import Targets
from agentl.runtime.trace import Trace
from agentl.runtime.unsupported import unsupported
from agentl.state import State

DEFAULT_TICKS: Final = 10


class Runtime:
    """Interprets one agent: it proposes, its kernel authorises (`API-3`).

    Args:
        agent: the program of the agent.
        host: the world: sensors, tools, sub-agents, people; an empty one by default.
        llm: the model; by default one that answers nothing.
        echo: print the trace as it grows (a callable receives each line).
        tool_breaker: failures in a row that open the circuit of a tool; 0 never opens it (`TOL-6`).
        tool_cooldown: ticks after the last failure until one call may try again.
        run_id: names the run in action ids and idempotency keys.
        program: the program around the agent, for the names that guards may bind (`TRI-7`).

    Attributes:
        ended: ``until`` or ``limit`` once a run has ended, else ``None``.

    Raises:
        RuntimeAgentError: the agent needs what this version or its host does not offer.
    """

    TOOL_BREAKER_THRESHOLD: ClassVar[int] = 3
    TOOL_BREAKER_COOLDOWN: ClassVar[int] = 5
    EFFECT_CONFIDENCE: ClassVar[float] = EFFECT_CONFIDENCE
    UNDECLARED_DELEGATE_RISK: ClassVar[str] = Kernel.UNDECLARED_DELEGATE_RISK
    REDACTED: ClassVar[str] = REDACTED

    def __init__(
        self,
        agent: Agent,
        host: Any = None,
        llm: Any = None,
        echo: bool | Callable[[str], Any] = False,
        tool_breaker: int | None = None,
        tool_cooldown: int | None = None,
        run_id: str = "run",
        program: Program | None = None,
    ) -> None:
        core = Core(
            agent,
            host,
            llm,
            run_id=run_id,
            program=program,
            tool_breaker=self.TOOL_BREAKER_THRESHOLD if tool_breaker is None else tool_breaker,
            tool_cooldown=self.TOOL_BREAKER_COOLDOWN if tool_cooldown is None else tool_cooldown,
        )
        problem = unsupported(agent, core.host)
        if problem is not None:
            raise problem
        wanted = [rule.by for rule in agent.policies if rule.by is not None]
        if wanted:
            core.kernel.rings = open_rings(wanted, getattr(core.host, "key_rings", None))
        core.trace.echo = echo
        self._core = core
        self.ended: str | None = None
        self.society: Any = None
        self.inferences: dict[str, Any] = {}
        self.planner: Any = None
        self.drift = Drift(core)
        asking = Asking(core)
        goals = Goals(core)
        self._sensors = Sensors(core, self.drift, asking)
        self._plans = Plans(core)
        self._handlers = Handlers(core, self._plans)
        self._memory = Memory(core, self.drift)
        self._models = ModelStatements(core, goals.scores)
        self._targets = Targets(core)
        outcomes = Outcomes(core, self._targets, self.drift)
        self._calls = Calls(core, self._targets, self._sensors, outcomes)
        self._statements = Statements(
            core,
            asking=asking,
            calls=self._calls,
            delegates=Delegates(core, self._targets, self._calls, outcomes),
            models=self._models,
            plans=self._plans,
            sensors=self._sensors,
        )
        self._phases = Phases(
            core,
            goals=goals,
            handlers=self._handlers,
            memory=self._memory,
            models=self._models,
            plans=self._plans,
            sensors=self._sensors,
            statements=self._statements,
        )
        self._start_up()

    # --- what a run shows ---

    @property
    def agent(self) -> Agent:
        """The agent that runs."""
        return self._core.agent

    @property
    def host(self) -> Any:
        """The world of the agent."""
        return self._core.host

    @property
    def llm(self) -> Any:
        """The model of the agent."""
        return self._core.llm

    @property
    def state(self) -> State:
        """What the agent knows."""
        return self._core.state

    @property
    def kernel(self) -> Kernel:
        """What authorises the agent's actions."""
        return self._core.kernel

    @property
    def policy(self) -> Any:
        """The policy engine of the kernel."""
        return self._core.kernel.policy

    @property
    def trace(self) -> Trace:
        """What happened so far."""
        return self._core.trace

    @property
    def metrics(self) -> dict[str, int]:
        """Counters by name (`API-4`)."""
        return self._core.metrics

    @property
    def plan_queue(self) -> list[Queued]:
        """The plans that wait."""
        return self._plans.queue

    @property
    def inbox(self) -> list[Envelope]:
        """The messages that wait for the next RECEIVE."""
        return self._handlers.inbox

    # --- start-up (TCK-4) ---

    def _start_up(self) -> None:
        core = self._core
        for belief in core.agent.beliefs:
            if core.refuse_reserved(belief.path):
                continue
            done, value, label = core.value(belief.value, "context.belief", belief.path)
            if done:
                core.state.set_belief(
                    belief.path,
                    value,
                    belief.confidence,
                    belief.source,
                    belief.updated,
                    DECLARED_LABEL | label,
                )
        self._memory.declare()
        self._targets.publish()
        self.drift.load()

    # --- ticks ---

    def tick(self) -> None:
        """One tick: the next number, the verdicts that wait, the cycle (`TCK-2`)."""
        core = self._core
        core.state.tick += 1
        core.kernel.set_tick(core.state.tick)
        core.metrics["ticks"] += 1
        self._plans.begin_tick()
        core.say("TICK", "tick.start", {"tick": core.state.tick})
        self._calls.verdicts()
        self._sensors.begin_tick()
        self._phases.cycle()
        self._handlers.end_tick()

    def iter_ticks(self, max_ticks: int | None = None, *, horizon: int | None = None) -> Iterator[int]:
        """Run, and yield the number of each tick after it, before UNTIL is tested (`TCK-3`).

        Args:
            max_ticks: ticks at most; by default the MAX of the agent's loop, else 10.
            horizon: caps the limit as well.
        """
        limit = self._limit(max_ticks)
        if horizon is not None:
            limit = min(limit, max(horizon, 0))
        self.ended = None
        for _ in range(limit):
            self.tick()
            yield self.state.tick
            if self._until():
                self.ended = "until"
                return
        self.ended = "limit"

    def run(self, max_ticks: int | None = None) -> Trace:
        """Run to the end and return the trace (`TCK-3`)."""
        for _ in self.iter_ticks(max_ticks):
            pass
        return self.trace

    def _limit(self, max_ticks: int | None) -> int:
        if max_ticks is not None:
            return max(max_ticks, 0)
        loop = self.agent.loop
        declared = loop.max_iter if loop is not None else None
        return declared if declared is not None and declared > 0 else DEFAULT_TICKS

    def _until(self) -> bool:
        loop = self.agent.loop
        if loop is None or loop.until is None:
            return False
        if not self._core.condition(loop.until, "context.agent_loop"):
            return False
        self._core.say("INFO", "loop.until", {})
        return True

    # --- parts, for tools and tests (API-3) ---

    def __getattr__(self, name: str) -> Any:
        """``phase_<name>()`` runs a phase by its word in lower case."""
        if name.startswith("phase_"):
            word = name[len("phase_") :].upper()
            word = SYNONYMS.get(word, word)
            if word in CYCLE:
                return self._phases.by_name[word]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def run_plan(self, plan: Plan | str) -> bool:
        """Run a plan at once, by node or name; whether it came to its end.

        Raises:
            RuntimeAgentError: no plan has that name.
        """
        if isinstance(plan, str):
            found = self.agent.plan(plan)
            if found is None:
                raise RuntimeAgentError(code="runtime.unknown_plan", plan=plan, agent=self.agent.name)
            plan = found
        return self._plans.run(plan)

    def exec_stmt(self, stmt: Stmt) -> None:
        """Execute one statement; a failed VERIFY ends it and nothing else."""
        self._plans.guarded((stmt,))

    def exec_stmts(self, stmts: Sequence[Stmt]) -> None:
        """Execute statements in order; a failed VERIFY ends them and nothing else."""
        self._plans.guarded(tuple(stmts))

    def call_tool(
        self,
        name: str,
        args: Mapping[str, Any],
        origin: str = "plan",
        provenance: Mapping[str, Any] | None = None,
    ) -> dict[str, Any] | None:
        """Propose a tool call: the filtered result, or ``None`` when there is none (`TOL-2`, `KRN-18`)."""
        return self._calls.call_tool(name, args, origin, provenance)

    def shown(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Named values as a trace may show them: without what NEVER SEND withholds (`LLM-5`)."""
        redactor = self._core.redactor
        return dict(values) if redactor is None else redactor.mask_event(values, self.state)

    def llm_context(self, using: Sequence[str] = ()) -> dict[str, Any]:
        """What a model statement would send now (`LLM-5`)."""
        return self._models.context(using)

    def seed_memory(self, bucket: str, key: str, records: Iterable[Any]) -> None:
        """Restore memory from outside, with label MEMORY (`MEM-3`)."""
        self._memory.seed(bucket, key, records)


__all__ = ["Runtime"]
