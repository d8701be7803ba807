"""The state of a task: what is asked, proven, open and spent, and why it ended (`TSK-1`).

It is derived from the journal and nothing else, each time it is asked for. There is no second truth beside
the journal that could disagree with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from agentl.durable.requests import APPROVAL, Filed
from agentl.durable.states import CANCELLED, INTERRUPTED, NEW, REFUSED, RUNNING, WAITING
from agentl.durable.status import Survey, surveyed
from agentl.durable.stores.base import Store
from agentl.evaluator import Evaluator
from agentl.journal.entry import dump
from agentl.kernel.names import walk
from agentl.labels import DECLARED, OBSERVED, RUNTIME, TOOL, Prov
from agentl.language.nodes import Expr, Goal, PathExpr, Program
from agentl.language.print_program import policy_lines
from agentl.language.printer import expression_text
from agentl.runtime.runtime import Runtime
from agentl.tasks.account import Account, Confirmed, Failed, account
from agentl.tasks.evidence import Evidence
from agentl.tasks.rederive import Derived, Record, rederive
from agentl.values import UNDEFINED, encode

FORMAT: Final = "agentl.task.v1"
PROVEN: Final = "proven"
CLAIMED: Final = "claimed"
OPEN: Final = "open"
# What a sensor saw, what a tool returned, and what the runtime itself counted: nobody's mere word. That the
# program's own text led there takes nothing away from it, and is no proof alone.
_PROOF: Final = frozenset({OBSERVED, TOOL, RUNTIME})
_HARMLESS: Final = _PROOF | {DECLARED}

GOAL_REACHED: Final = "goal_reached"
STOPPED: Final = "stopped_by_condition"
EXHAUSTED: Final = "budget_exhausted"
IN_DOUBT: Final = "in_doubt"
FAILED: Final = "failed"
WAITING_APPROVAL: Final = "waiting_approval"
WAITING_INPUT: Final = "waiting_input"
ENDS: Final = (
    *(CANCELLED, EXHAUSTED, FAILED, GOAL_REACHED, IN_DOUBT, INTERRUPTED, NEW, RUNNING, STOPPED),
    *(WAITING_APPROVAL, WAITING_INPUT),
)


@dataclass(frozen=True, slots=True)
class Objective:
    """One goal of the program, judged by itself (`TSK-2`).

    ``state`` is ``proven``, ``claimed`` (it holds, and rests on a word that proves nothing) or ``open``.
    ``sources`` are those of the values that it rests on; ``evidence`` maps their paths to proofs.
    """

    name: str
    mode: str
    condition: tuple[str, ...]
    state: str
    sources: tuple[str, ...]
    evidence: Mapping[str, Evidence]


@dataclass(frozen=True, slots=True)
class Verified:
    """A VERIFY of the program: ``passed`` or not, in which tick, in its own words."""

    tick: int
    words: str
    passed: bool


@dataclass(frozen=True, slots=True)
class TaskState:
    """The state of a task at the end of its record (`TSK-1`).

    ``whole`` is false when the record ends inside a tick. ``constraints`` are the rules of the policy,
    ``stop`` the conditions under which the program ends by itself.
    """

    run_id: str
    agent: str
    end: str
    tick: int
    tick_limit: int | None
    whole: bool
    objectives: tuple[Objective, ...]
    constraints: tuple[str, ...]
    stop: tuple[str, ...]
    verified: tuple[Verified, ...]
    confirmed: tuple[Confirmed, ...]
    pending: tuple[Mapping[str, Any], ...]
    in_doubt: tuple[Mapping[str, Any], ...]
    failures: tuple[Failed, ...]
    actions: int
    model_calls: int
    refused: int
    refusal: str | None
    waiting: tuple[Filed, ...]

    @property
    def ticks_left(self) -> int | None:
        """How many ticks may still come."""
        return None if self.tick_limit is None else max(self.tick_limit - self.tick, 0)

    @property
    def causes(self) -> dict[str, int]:
        """How many failures by cause; what the policy refused is ``refused_by_policy``."""
        counts = Counter(failure.cause for failure in self.failures)
        if self.refused:
            counts["refused_by_policy"] = self.refused
        return {cause: counts[cause] for cause in sorted(counts)}


def task_state(store: Store, program: Program, *, key: bytes | str | None = None) -> TaskState:
    """The state of the task whose run is in ``store`` (`TSK-1`).

    Args:
        program: the program of the run.
        key: the chain key, as for ``DurableRun``.

    Raises:
        DurableError: the journal is refused, or it is of another program.
        ReplayDivergence: the program does not derive what is on record.
        StoreFailure: the store cannot be read.
    """
    holder = store.held()
    record = Record.open(store, key=key, write=False)
    seen = surveyed(record, holder)
    derived = rederive(record, program, key=key)
    spent = account(derived.journal.entries)
    objectives = tuple(_objective(goal, derived.runtime, spent) for goal in derived.agent.goals)
    loop = derived.agent.loop
    index = derived.journal.index
    return TaskState(
        run_id=index.run_id,
        agent=derived.agent.name,
        end=_end(seen, derived, objectives),
        tick=derived.runtime.state.tick,
        tick_limit=index.limit,
        whole=derived.whole,
        objectives=objectives,
        constraints=tuple(policy_lines(derived.agent)),
        stop=() if loop is None or loop.until is None else (expression_text(loop.until),),
        verified=tuple(_verified(derived.runtime)),
        confirmed=tuple(spent.confirmed),
        pending=tuple(seen.pending()),
        in_doubt=tuple(seen.in_doubt()),
        failures=tuple(spent.failures),
        actions=spent.actions,
        model_calls=spent.model_calls,
        refused=derived.runtime.metrics["blocked"],
        waiting=tuple(seen.waiting),
        refusal=None if seen.refusal is None else str(seen.refusal["message"]),
    )


def _objective(goal: Goal, runtime: Runtime, spent: Account) -> Objective:
    parts = (*(() if goal.condition is None else (goal.condition,)), *goal.targets)
    sources: dict[str, None] = {}
    evidence: dict[str, Evidence] = {}
    grounded = True
    for path in _paths(parts):
        value, label = runtime.state.get_labeled(path)
        if value is UNDEFINED:
            continue
        sources.update(dict.fromkeys(label.names))
        proof = spent.of(path)
        if proof is not None:
            evidence[path] = proof
        grounded = grounded and (_is_proof(label) or spent.reading(path) == dump(encode(value)))
    held = bool(parts) and all(_holds(part, runtime) for part in parts)
    state = OPEN if not held else PROVEN if grounded and sources else CLAIMED
    words = tuple(expression_text(part) for part in parts)
    return Objective(goal.name, goal.mode.lower(), words, state, tuple(sorted(sources)), evidence)


def _is_proof(label: Prov) -> bool:
    names = set(label.names)
    return bool(names & _PROOF) and names <= _HARMLESS


def _holds(part: Expr, runtime: Runtime) -> bool:
    # As VERIFY judges: what is not known does not hold.
    try:
        return Evaluator(runtime.state, strict_undefined=True).test(part)
    except Exception:  # noqa: BLE001 - a condition that cannot be evaluated holds for nobody
        return False


def _paths(parts: tuple[Expr, ...]) -> list[str]:
    return list(dict.fromkeys(node.dotted for node in walk(parts) if isinstance(node, PathExpr)))


def _verified(runtime: Runtime) -> Iterator[Verified]:
    for event in runtime.trace.of_kind("VERIFY_OK", "VERIFY_FAIL"):
        yield Verified(event.tick, str(event.values.get("label", "")), event.kind == "VERIFY_OK")


def _end(seen: Survey, derived: Derived, objectives: tuple[Objective, ...]) -> str:
    """Why nothing more happens, or that something may (`TSK-7`). The gravest thing that is true counts."""
    if seen.in_doubt() and seen.status != RUNNING:
        return IN_DOUBT
    if seen.status == CANCELLED:
        return CANCELLED
    if seen.status == REFUSED:
        return FAILED
    if seen.status == WAITING:
        approval = any(filed.request.kind == APPROVAL for filed in seen.waiting)
        return WAITING_APPROVAL if approval else WAITING_INPUT
    if seen.ended is not None:
        if derived.runtime.ended == "until":
            reached = bool(objectives) and all(one.state == PROVEN for one in objectives)
            return GOAL_REACHED if reached else STOPPED
        return EXHAUSTED
    return seen.status if seen.status in ENDS else INTERRUPTED


__all__ = ["CLAIMED", "ENDS", "FORMAT", "OPEN", "PROVEN", "Objective", "TaskState", "Verified", "task_state"]
