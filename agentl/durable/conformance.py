"""Steps of a run as lines of the model: the form in which they are checked.

Both checks read these lines: TLC with ``formal/TraceKernel.tla`` (every trace of the test suite), and the
table of allowed transitions (``agentl durable validate``, where no model checker is at hand).

An action of the model is a proposal, by its place in the program: the first one that a process judges is
action 1. The model fixes for each process what the policy says about each action and what the host promises;
a line ``Resume`` carries both for the process that it starts, found from that process's own steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from agentl.kernel import steps as told
from agentl.kernel.steps import Step

Rule = str
Promises = frozenset[str]
_RULES: Final = {"refused": "deny", "approved": "allow", "judged": "ask"}
UNBOUNDED: Final = 1_000_000


@dataclass(frozen=True)
class Line:
    """One step in the model's words.

    ``action`` counts from 1, 0 where the step is about the run. ``to`` is where the action stands
    afterwards, or what was found. ``bound`` is the number of attempts that the host allows. ``source`` is
    the place of the step in the log (from 1), 0 for a line that was added.
    """

    step: str
    action: int = 0
    to: str = ""
    bound: int = UNBOUNDED
    rule: tuple[Rule, ...] = ()
    host: tuple[Promises, ...] = ()
    records: int = UNBOUNDED
    source: int = 0


def lines_of(steps: Iterable[Step]) -> list[Line]:
    """The lines of a whole run; the first is ``Start``, with policy and promises of the first process."""
    processes = _processes(list(steps))
    settings = _settings(processes)
    lines: list[Line] = []
    known: dict[str, int] = {}
    begun: dict[str, int] = {}  # an operator means the action whose intention is on record under this id
    for number, process in enumerate(processes):
        rule, host = settings[number]
        if number == 0:
            lines.append(Line("Start", rule=rule, host=host))
        judged = 0
        for source, step in process:
            if isinstance(step, told.Resume):
                lines.append(Line("Resume", rule=rule, host=host, records=step.records, source=source))
                continue
            if isinstance(step, told.Decide):
                judged += 1
                known[step.action_id] = judged
                lines.append(Line("Decide", judged, step.permit, source=source))
                continue
            if isinstance(step, told.Close):
                # What the program did not propose this time counts as refused: it takes no number.
                lines += [Line("Decide", late, "refused") for late in range(judged + 1, len(rule) + 1)]
            if isinstance(step, told.Intent):
                begun.setdefault(step.action_id, known.get(step.action_id, 0))
            names = begun if isinstance(step, told.Verdict) else known
            lines.append(replace(_line(step, names, lines), source=source))
    return _in_order(lines)


def _line(step: Step, known: dict[str, int], lines: Sequence[Line]) -> Line:
    match step:
        case told.Approve():
            return Line("Approve", known.get(step.action_id, 0), step.permit)
        case told.Mint():
            return Line("Mint", known.get(step.action_id, 0))
        case told.Intent():
            return Line("Intent", known.get(step.action_id, 0), step.found)
        case told.Dispatch():
            # A host that calls an attempt off is one that allows no further one.
            bound = step.attempt if step.heard == "called_off" else step.bound
            return Line("Dispatch", known.get(step.action_id, 0), step.heard, bound)
        case told.Settle():
            action = known.get(step.action_id, 0)
            calls = [line.bound for line in lines if line.step == "Dispatch" and line.action == action]
            return Line("Settle", action, step.how, calls[-1] if calls else UNBOUNDED)
        case told.Result():
            return Line("Result", known.get(step.action_id, 0), step.status.replace("in_doubt", "doubt"))
        case told.Verdict():
            said = "executed" if step.executed else "not_executed"
            return Line("Verdict", known.get(step.action_id, 0), said)
        case _:
            return Line(type(step).__name__)


def _processes(steps: list[Step]) -> list[list[tuple[int, Step]]]:
    processes: list[list[tuple[int, Step]]] = [[]]
    for source, step in enumerate(steps, 1):
        if isinstance(step, told.Resume):
            processes.append([])
        processes[-1].append((source, step))
    return processes


def _settings(processes: list[list[tuple[int, Step]]]) -> list[tuple[tuple[Rule, ...], tuple[Promises, ...]]]:
    """What the policy says and the host promises in each process; what it did not reach stays as it was."""
    sizes = [sum(isinstance(step, told.Decide) for _, step in process) for process in processes]
    size = max([1, *sizes])
    found = []
    rule: list[Rule] = ["deny"] * size
    host: list[Promises] = [frozenset()] * size
    for process in processes:
        judged, known = 0, dict[str, int]()
        for _, step in process:
            if isinstance(step, told.Decide):
                known[step.action_id] = judged
                rule[judged] = _RULES.get(step.permit, "deny")
                judged += 1
            elif isinstance(step, told.Intent) and step.action_id in known:
                host[known[step.action_id]] = frozenset(step.promise)
        if any(isinstance(step, told.Close) for _, step in process):
            rule[judged:] = ["deny"] * (size - judged)
        found.append((tuple(rule), tuple(host)))
    return found


def _in_order(lines: list[Line]) -> list[Line]:
    """A process that ended is told of by the next one; put its end where it belongs, before a verdict.

    A run that closed and was extended had not ended: its close is no step of the model.
    """
    last = max((place for place, line in enumerate(lines) if line.step != "Verdict"), default=0)
    ordered: list[Line] = []
    up = True
    for place, line in enumerate(lines):
        if line.step == "Crash" and not up:
            continue
        if line.step == "Close" and place != last:
            line = replace(line, step="Crash")
        if line.step in ("Verdict", "Resume") and up:
            ordered.append(Line("Crash", source=line.source))
            up = False
        if line.step in ("Crash", "Close"):
            up = False
        elif line.step == "Resume":
            up = True
        ordered.append(line)
    return ordered
