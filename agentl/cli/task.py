"""``agentl task``: the state of a task, derived from the journal of its run (`TSK-1` to `TSK-8`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentl.cli import exits, options, output, programs
from agentl.errors import AgentLError
from agentl.messages import render

if TYPE_CHECKING:
    from agentl.durable.stores.base import Store
    from agentl.language.nodes import Program
    from agentl.tasks import Evidence, Objective, TaskState

Source = Annotated[
    Path | None, typer.Option("--program", metavar="FILE", help=render("cli.help.task_program"))
]
_SIGNS = {"proven": "✓", "claimed": "?", "open": "·"}


def show(
    place: options.Place,
    program: Source = None,
    key: options.Key = None,
    as_json: options.AsJson = False,
    _lang: options.Lang = None,
) -> int:
    """What is asked, proven, open, in doubt and spent; nothing is resumed and nobody called (`TSK-8`)."""
    from agentl.durable.address import existing_run
    from agentl.tasks import task_data, task_state

    store = existing_run(place)
    task = task_state(store, _program(store, program, key), key=key)
    if as_json:
        output.out_json(task_data(task))
        return exits.DONE
    for line in _lines(task):
        output.out(line)
    return exits.DONE


def schema(_lang: options.Lang = None) -> int:
    """The JSON Schema of what ``show --json`` prints (`TSK-8`)."""
    from agentl.tasks import SCHEMA

    output.out_json(SCHEMA)
    return exits.DONE


def _program(store: Store, given: Path | None, key: str | None) -> Program:
    if given is not None:
        return programs.read_program(given)
    from agentl.durable.recovery import DurableJournal

    opened = DurableJournal.open(store, key=key, write=False).index.open_args or {}
    source = opened.get("source")
    if not isinstance(source, str) or not Path(source).is_file():
        raise AgentLError(code="task.no_program", source=source or "—")
    return programs.read_program(Path(source))


def _lines(task: TaskState) -> Iterator[str]:
    end = render(f"task.end_{task.end}")
    yield render("task.head", {"run_id": task.run_id, "agent": task.agent, "end": end})
    limit = "—" if task.tick_limit is None else task.tick_limit
    spent = {"ticks": task.tick, "limit": limit, "actions": task.actions, "models": task.model_calls}
    yield render("task.spent", spent)
    if not task.whole:
        yield render("task.inside")
    if task.objectives:
        yield ""
        yield render("task.objectives")
    for objective in task.objectives:
        yield from _objective(objective)
    for verified in task.verified:
        yield f"  {'✓' if verified.passed else '✗'} " + render(
            "task.verified", {"words": verified.words, "tick": verified.tick}
        )
    if task.confirmed:
        yield ""
        yield render("task.confirmed")
    for one in task.confirmed:
        shown = "—" if one.evidence is None else _shown(one.evidence)
        yield f"  ✓ {one.target} ({one.action_id}) : {shown}"
    yield from _unsettled(task)
    if task.causes:
        yield ""
        yield render("task.failures")
        for cause, number in task.causes.items():
            yield f"  {render(f'task.cause_{cause}')} : {number}"
    if task.refusal is not None:
        yield "✗ " + task.refusal
    if task.stop:
        yield ""
        yield render("task.stop", {"condition": " ; ".join(task.stop)})


def _unsettled(task: TaskState) -> Iterator[str]:
    if task.pending or task.in_doubt or task.waiting:
        yield ""
        yield render("task.unsettled")
    for intent in task.pending:
        yield "  ⚠ " + render("task.pending", {"target": intent["tool"], "action_id": intent["action_id"]})
    for doubt in task.in_doubt:
        yield "  ⚠ " + render("task.in_doubt", {"target": doubt["tool"], "action_id": doubt["action_id"]})
    for filed in task.waiting:
        asked = {"target": filed.request.target, "request": filed.request.request_id}
        yield "  ⚠ " + render("task.waiting", {**asked, "deadline": filed.deadline or "—"})


def _objective(objective: Objective) -> Iterator[str]:
    state = render(f"task.{objective.state}")
    words = " ; ".join(objective.condition)
    yield f"  {_SIGNS[objective.state]} {objective.name} : {state}   [{words}]"
    if objective.state == "claimed":
        yield "      " + render("task.rests_on", {"sources": ", ".join(objective.sources)})
    for path, proof in objective.evidence.items():
        yield f"      {path} : {_shown(proof)}"


def _shown(proof: Evidence) -> str:
    kind = render(f"task.kind_{proof.kind}")
    return f"{proof.excerpt}   [{render('task.entry', {'kind': kind, 'entry': proof.entry})}]"
