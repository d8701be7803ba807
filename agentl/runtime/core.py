"""What the parts of the interpreter share: the agent, its world, its state, its kernel and its trace.

The parts (sensors, calls, plans …) each hold one `Core` and the parts below them; none of
them calls the host of an action. Evaluation never aborts a tick (`EVA-13`): the two helpers
``condition`` and ``value`` turn what goes wrong into an event and a safe answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from agentl.errors import KernelAbort
from agentl.evaluator import Evaluator
from agentl.host import Host
from agentl.kernel.gate import Kernel
from agentl.kernel.names import bindable_names
from agentl.labels import NONE, RUNTIME_LABEL, UNKNOWN_LABEL, Prov, unwrap
from agentl.language.nodes import Agent, Expr, Program, Stmt
from agentl.paths import is_reserved
from agentl.reasoning.model import MockLLM
from agentl.runtime.redaction import Redactor
from agentl.runtime.trace import Trace, failure
from agentl.state import State
from agentl.values import MAX_INTEGER_BITS, UNDEFINED, Symbol, decode, encode

METRICS: Final = (
    "ticks",
    "tool_calls",
    "blocked",
    "approvals",
    "verify_pass",
    "verify_fail",
    "llm_calls",
    "memory_writes",
    "inferences",
    "plans_synthesized",
    "messages_sent",
    "messages_received",
    "shared_writes",
    "shared_conflicts",
    "domain_clamps",
    "effect_drift",
    "redactions",
    "sensor_unknown",
    "sensor_degraded",
    "tool_failures",
    "tool_contract_failures",
    "tool_output_dropped",
    "circuit_open",
    "reason_degraded",
    "judge_abstained",
)
PLAIN: Final = frozenset((str, int, float, bool, type(None), Symbol))


class VerifyFailed(Exception):
    """A VERIFY that does not hold: ends the plan, or the block, that contains it (`TCK-13`)."""

    def __init__(self, on_fail: tuple[Stmt, ...], key: tuple[int, str]) -> None:
        super().__init__()
        self.on_fail = on_fail
        self.key = key


def opened(value: Any) -> tuple[Any, Prov]:
    """A value from outside without its wrappers, and the labels that the host gave it (`PRV-3`, `ENC-5`)."""
    kind = type(value)
    if kind in PLAIN and (kind is not int or value.bit_length() <= MAX_INTEGER_BITS):
        return value, NONE
    copied = _reread(value) if kind is list else None
    return unwrapped(decode(encode(value))) if copied is None else (copied, NONE)


def _reread(rows: list[Any]) -> list[Any] | None:
    """``decode(encode(rows))`` in one pass, where all of it is scalars and dictionaries of scalars.

    A reading is mostly this, and may be long; ``None`` leaves any other to the encoding.
    """
    copied: list[Any] = []
    for row in rows:
        flat = type(row) is dict
        for item in row.values() if flat else (row,):
            kind = type(item)
            if kind is not str and (
                kind not in PLAIN or (kind is int and item.bit_length() > MAX_INTEGER_BITS)
            ):
                return None
        if flat:
            for name in row:
                if type(name) is not str:
                    return None
        copied.append(row.copy() if flat else row)
    return copied


def unwrapped(value: Any) -> tuple[Any, Prov]:
    """A value without its wrappers, inner ones included, and all their labels."""
    if type(value) in PLAIN:
        return value, NONE
    value, label = unwrap(value)
    kind = type(value)
    if kind is dict:
        pairs = [(key, *unwrapped(item)) for key, item in value.items()]
        for _, _, inner in pairs:
            label = label | inner
        return {key: item for key, item, _ in pairs}, label
    if kind in (list, tuple):
        items = [unwrapped(item) for item in value]
        for _, inner in items:
            label = label | inner
        return kind(item for item, _ in items), label
    return value, label


def all_plain(value: Any) -> bool:
    """Whether a value is a scalar, or a dictionary of scalars: nothing inside to look for."""
    if type(value) is not dict:
        return type(value) in PLAIN
    for item in value.values():  # noqa: SIM110 - the loop is much faster, and runs once per call
        if type(item) not in PLAIN:
            return False
    return True


class Core:
    """The shared parts of one running agent.

    Attributes:
        confidence: the last REASON field ``confidence``, 1.0 before any (`POL-4`).
        origin: what caused the statement that runs now (`POL-8`).
        in_failure_handler: whether a failure handler runs now.
        phase: runs a phase by its word; set only where a phase word may stand (`STM-12`).
        run_block: executes a body; set by the part that knows every statement.
    """

    def __init__(
        self,
        agent: Agent,
        host: Host | None,
        llm: Any,
        *,
        run_id: str,
        program: Program | None,
        tool_breaker: int,
        tool_cooldown: int,
    ) -> None:
        self.agent = agent
        self.program = program
        self.host: Any = host if host is not None else Host()
        self.llm: Any = llm if llm is not None else MockLLM()
        self.state = State()
        self.kernel = Kernel(agent, run_id=run_id, program=program)
        # A host that records, or that serves a recording, brings the record of actions with it (`RPL-4`).
        self.kernel.journal = getattr(self.host, "action_journal", None)
        self.control = self.kernel.control
        self.kernel.clock = getattr(self.host, "now", None)
        self.evaluator = Evaluator(self.state)
        self.strict = Evaluator(
            self.state, strict_undefined=True, bindable=bindable_names(agent, program=program)
        )
        self.trace = Trace(getattr(self.host, "trace_sink", None))
        self.metrics: dict[str, int] = dict.fromkeys(METRICS, 0)
        self.breaker = tool_breaker
        self.cooldown = tool_cooldown
        self.redactor = Redactor(item.path for item in agent.redactions) if agent.redactions else None
        self.observed: dict[str, Any] = {observer.path: observer for observer in agent.observers}
        self.origin = "plan"
        self.confidence: Any = 1.0
        self.in_failure_handler = False
        self.phase: Callable[[str], bool] | None = None
        self.run_block: Callable[[tuple[Stmt, ...]], None] = _no_block

    # --- trace ---

    def say(self, kind: str, code: str, values: Mapping[str, Any], detail_code: str = "") -> None:
        """Add an event to the trace, without what NEVER SEND withholds (`LLM-5`)."""
        if self.redactor is not None:
            values = self.redactor.mask_event(values, self.state)
        self.trace.say(self.state.tick, kind, code, values, detail_code)

    def count(self, metric: str, by: int = 1) -> None:
        """Add to a metric (`API-4`)."""
        self.metrics[metric] += by

    def withheld(self, path: str, value: Any) -> Any:
        """``value`` of ``path`` as it may leave the agent; what is held back is traced (`LLM-5`)."""
        if self.redactor is None:
            return value
        kept: list[str] = []
        shown = self.redactor.mask(path, value, kept)
        for held in dict.fromkeys(kept):
            self.count("redactions")
            self.say("BLOCKED", "llm.withheld", {"path": held})
        return shown

    # --- evaluation ---

    def condition(self, expr: Expr | None, context: str, name: str = "") -> bool:
        """The two-valued truth of ``expr``; one that raises is false and is traced (`EVA-12`).

        Args:
            context: code of the place, such as ``context.plan``.
            name: what the place is called.
        """
        if expr is None:
            return True
        try:
            return self.evaluator.test(expr)
        except KernelAbort:
            raise
        except Exception as error:  # noqa: BLE001 - no evaluation aborts a tick (`EVA-13`)
            self.say("ERROR", "eval.condition", {"context": context, "name": name, **failure(error)})
            return False
        finally:
            if self.evaluator.notes:
                self.evaluator.notes.clear()

    def value(self, expr: Expr, context: str, name: str = "", **more: Any) -> tuple[bool, Any, Prov]:
        """``(True, value, label)``; ``(False, UNDEFINED, UNKNOWN)`` and an event on a raise (`EVA-13`)."""
        try:
            value, label = self.evaluator.labeled(expr)
        except KernelAbort:
            raise
        except Exception as error:  # noqa: BLE001 - no evaluation aborts a tick (`EVA-13`)
            self.say("ERROR", "eval.value", {"context": context, "name": name, **more, **failure(error)})
            return False, UNDEFINED, UNKNOWN_LABEL
        finally:
            if self.evaluator.notes:
                self.evaluator.notes.clear()
        return True, value, label

    def label(self, expr: Expr) -> Prov:
        """The label of ``expr``; UNKNOWN when it has none that can be computed (`EVA-13`)."""
        try:
            return self.evaluator.label(expr)
        except KernelAbort:
            raise
        except Exception:  # noqa: BLE001 - already traced where its value was needed
            return UNKNOWN_LABEL

    # --- writes of the runtime ---

    def fact(self, path: str, value: Any, label: Prov = RUNTIME_LABEL) -> None:
        """A fact that the runtime states about itself."""
        self.state.set_world(path, value, label)

    def refuse_reserved(self, path: str) -> bool:
        """Whether the program may not write ``path``; if so, say it (`STA-10`)."""
        if not is_reserved(path):
            return False
        self.say("ERROR", "state.reserved", {"path": path})
        return True


def _no_block(_body: tuple[Stmt, ...]) -> None:
    raise NotImplementedError


__all__ = ["METRICS", "PLAIN", "Core", "VerifyFailed", "all_plain", "opened", "unwrapped"]
