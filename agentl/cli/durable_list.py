"""``agentl durable list``: every run of a place, on one line each (`DCL-6`, `OPS-4`)."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from agentl.cli import exits, options, output, programs
from agentl.errors import AgentLError, DurableError
from agentl.messages import language, render

if TYPE_CHECKING:
    from agentl.durable.listing import Listed, Listing

Check = Annotated[bool | None, typer.Option("--check/--no-check", help=render("cli.help.list_check"))]
State = Annotated[list[str] | None, typer.Option("--state", metavar="S", help=render("cli.help.list_state"))]
_COLUMNS: Final = ("address", "run", "state", "tick", "age", "idle", "doubts", "waits")
_AGES: Final = ((86_400, "days"), (3_600, "hours"), (60, "minutes"), (1, "seconds"))


def list_runs(
    place: options.Place,
    check: Check = None,
    state: State = None,
    key: options.Key = None,
    as_json: options.AsJson = False,
    _lang: options.Lang = None,
) -> int:
    """Every run of a place (`DCL-6`, `OPS-4`)."""
    from agentl.durable.address import collection_at, parse_address
    from agentl.durable.listing import listing
    from agentl.durable.queue.places import queue_at

    address = parse_address(place)
    collection = collection_at(address)
    if not collection.exists():
        raise no_place(place)
    states = [one for given in state or () for one in given.split(",")]
    jobs = queue_at(address).jobs()
    found = listing(collection, check=check, key=key, states=states, jobs=jobs)
    now = datetime.now(UTC)
    if as_json:
        runs = [run.data(now) for run in found.runs]
        said = {"address": collection.name, "basis": found.basis, "counts": found.counts}
        output.out_json({**said, "directory": collection.name, "runs": runs})
        return exits.DONE
    if not found.runs:
        output.out(render("durable.no_runs", {"directory": collection.name}))
        return exits.DONE
    if output.colourful(sys.stdout):
        _show_table(found, now)
    else:
        _show_lines(found, now)
    counts = ", ".join(f"{name}={number}" for name, number in found.counts.items())
    basis = render(f"durable.list_basis_{found.basis}")
    output.note(render("durable.list_total", {"counts": counts, "basis": basis}))
    return exits.DONE


def no_place(place: str) -> AgentLError:
    """The error of a place that is not there (`OPS-1`)."""
    from agentl.durable.address import DIRECTORY, parse_address

    address = parse_address(place)
    if address.kind == DIRECTORY:
        try:
            list(Path(address.place).iterdir())
        except OSError as error:
            return programs.unreadable(Path(address.place), error)
    return DurableError(code="durable.no_place", place=str(address))


def _show_lines(found: Listing, now: datetime) -> None:
    """One line per run, columns divided by tabs; all written at once."""
    lang = language()
    lines = [
        _refused(run) if run.problem is not None else render("durable.run", _words(run, now, lang), lang)
        for run in found.runs
    ]
    output.out("\n".join(line.replace("\n", "\\n") for line in lines))


def _show_table(found: Listing, now: datetime) -> None:
    from rich.cells import cell_len

    rows = [[render(f"durable.list_{name}") for name in _COLUMNS]]
    lang = language()
    rows += [_cells(run, now, lang) for run in found.runs if run.problem is None]
    rows = [[output.visible(cell).replace("\n", "\\n") for cell in row] for row in rows]
    widths = [max(cell_len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    good = iter(rows)
    lines = [next(good)]
    lines.extend([_refused(run)] if run.problem is not None else next(good) for run in found.runs)
    for line in lines:
        if len(line) == 1:
            output.out(line[0])
            continue
        padded = [cell + " " * (width - cell_len(cell)) for cell, width in zip(line, widths, strict=True)]
        output.out("  ".join(padded).rstrip())


def _refused(run: Listed) -> str:
    return f"✗ {run.note.address} : {run.problem}"


def _cells(run: Listed, now: datetime, lang: str) -> list[str]:
    words = _words(run, now, lang)
    return [
        words["directory"],
        words["run_id"],
        words["status"],
        words["last_tick"],
        words["age"],
        words["idle"],
        words["doubts"],
        words["waits"],
    ]


def _words(run: Listed, now: datetime, lang: str) -> dict[str, str]:
    from agentl.durable.listing import seconds_since, written

    behind = run.basis == "notes" and run.note.behind > 0
    return {
        "directory": run.note.address,
        "run_id": run.note.run_id,
        "status": run.status,
        "last_tick": f"{run.last_tick}{'+' if behind else ''}",
        "age": age(seconds_since(run.note.created, now), lang),
        "idle": age(seconds_since(written(run.note), now), lang),
        "doubts": f"⚠ {len(run.doubts)}" if run.doubts else "0",
        "waits": ", ".join(_waits(run, now)) or "—",
    }


def _waits(run: Listed, now: datetime) -> list[str]:
    failure = None if run.job is None else run.job.failure
    if failure is not None and run.job is not None and run.job.state != "ended":
        return [f"✗ {failure.get('message') or failure.get('code')}"]
    if not run.note.waiting and not run.pending:
        return []
    from agentl.durable.listing import waiting_data

    words: list[str] = []
    for filed in run.note.waiting[:2]:
        request, data = filed.request, waiting_data(filed, now)
        left = data["seconds_left"]
        mark = "⚠ " if data["near"] else ""
        text = f"{mark}{render(f'durable.list_kind_{request.kind}')} {request.target}".rstrip()
        words.append(text if left is None else f"{text} ({age(max(left, 0))})")
    if len(run.note.waiting) > 2:
        words.append(f"+{len(run.note.waiting) - 2}")
    if run.pending and run.status != "running":
        words.append(render("durable.list_pending", {"count": len(run.pending)}))
    return words


def age(seconds: Any, lang: str | None = None) -> str:
    """A time span for people: its largest unit, rounded down; in ``lang``, or the language in force."""
    if not isinstance(seconds, int):
        return "—"
    size, unit = next((one for one in _AGES if seconds >= one[0]), _AGES[-1])
    return _span(unit, seconds // size, lang or language())


@lru_cache(maxsize=256)
def _span(unit: str, count: int, lang: str) -> str:
    return render(f"durable.age_{unit}", {"count": count}, lang)
