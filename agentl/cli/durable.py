"""``agentl durable``: durable runs seen, exported and settled (`DCL-3` to `DCL-5`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from agentl.cli import exits, failures, options, output, waiting, watching
from agentl.errors import AgentLError, DurableError
from agentl.messages import render

Output = Annotated[Path | None, typer.Option("-o", "--output", metavar="F", help=render("cli.help.output"))]
Portable = Annotated[bool, typer.Option("--portable", help=render("cli.help.portable"))]
ActionId = Annotated[str, typer.Argument(metavar="ACTION_ID", help=render("cli.help.action_id"))]
Executed = Annotated[bool, typer.Option("--executed", help=render("cli.help.executed"))]
NotExecuted = Annotated[bool, typer.Option("--not-executed", help=render("cli.help.not_executed"))]
Value = Annotated[str | None, typer.Argument(metavar="JSON", help=render("cli.help.executed"))]
By = Annotated[str | None, typer.Option("--by", metavar="WHO", help=render("cli.help.by"))]


def status(
    place: options.Place,
    key: options.Key = None,
    as_json: options.AsJson = False,
    _lang: options.Lang = None,
) -> int:
    """The state of a run, without resuming it (`DCL-3`)."""
    from agentl.durable import survey
    from agentl.durable.address import existing_run, hidden
    from agentl.durable.stores.base import utc_now

    found, now = survey(existing_run(place), key=key), utc_now()
    if as_json:
        output.out_json(_status_data(found, hidden(place), now))
        return exits.DONE
    agents = ", ".join(found.agents)
    output.out(render("durable.status", {"run_id": found.run_id, "status": found.status, "agents": agents}))
    if found.refusal:
        output.out(render("durable.last_refusal", dict(found.refusal)))
    kinds = ", ".join(f"{kind}={found.kinds[kind]}" for kind in sorted(found.kinds))
    output.out(render("durable.counts", {"entries": found.entries, "kinds": kinds}))
    empty = not found.entries
    output.out(render("durable.empty") if empty else render("durable.head", {"head": found.head[:12]}))
    if found.holder is not None:
        output.out(render("durable.holder", {"holder": found.holder.holder, "since": found.holder.since}))
    for intent in found.pending():
        output.out("  ⚠ " + render("durable.will_settle", _named(intent)))
    for resolution in found.resolutions:
        output.out(f"  ↻ {resolution['target']} : {_label(resolution)}")
    for doubtful in found.in_doubt():
        output.out("  ⚠ " + render("durable.unsettled", _named(doubtful)))
    for filed in found.waiting:
        said = {"question": waiting.question(filed.request), "until": waiting.time_left(filed, now)}
        output.out("  ⏸ " + render(f"park.waits_{filed.request.kind}", said))
    return exits.DONE


def export(
    place: options.Place,
    target: Output = None,
    portable: Portable = False,
    key: options.Key = None,
    as_json: options.AsJson = False,
    _lang: options.Lang = None,
) -> int:
    """A completed run as a replay journal (`DCL-4`), or any run as a portable file (`OPS-9`)."""
    from agentl.durable import export_journal
    from agentl.durable.address import existing_run, parse_address
    from agentl.durable.collections.names import directory_name

    address = parse_address(place)
    if portable:
        return _portable(
            place, target or Path(f"{directory_name(address.run_id or 'run')}.portable"), key, as_json
        )
    journal = export_journal(existing_run(address), key=key)
    if journal is None:
        unfinished = DurableError(code="durable.not_completed", directory=str(address))
        return failures.report(unfinished, as_json=as_json, ending=exits.FAILED)
    if target is None and address.run_id is not None:
        target = Path(f"{directory_name(address.run_id)}.json")
    file = target or Path(address.place) / "journal.json"
    try:
        journal.save(file)
    except OSError as error:
        raise watching.unwritable(file, error) from error
    annotations = len(journal.entries) - journal.remaining
    said = {"file": str(file), "entries": len(journal.entries), "annotations": annotations}
    if as_json:
        output.out_json(said)
    else:
        output.out("→ " + render("durable.exported", said))
    return exits.DONE


def _portable(place: str, file: Path, key: str | None, as_json: bool) -> int:
    from agentl.durable.moving import write_portable

    try:
        done = write_portable(place, file, key=key)
    except OSError as error:
        raise watching.unwritable(file, error) from error
    said = {"file": str(file), "entries": done.entries, "annotations": 0}
    if as_json:
        output.out_json({**said, "run_id": done.run_id, "head": done.head})
    else:
        output.out("→ " + render("ops.portable", said))
    return exits.DONE


def validate(
    place: options.Place,
    key: options.Key = None,
    as_json: options.AsJson = False,
    _lang: options.Lang = None,
) -> int:
    """Whether a run followed the protocol of the kernel, as far as its journal tells (`R100`)."""
    from agentl.durable.address import existing_run
    from agentl.durable.validate import validate as follow

    found = follow(existing_run(place), key=key)
    if as_json:
        output.out_json(found)
    else:
        kinds = ", ".join(f"{kind}={number}" for kind, number in found["kinds"].items())
        output.out("✓ " + render("durable.steps_follow", {**found, "kinds": kinds}))
    return exits.DONE


def settle(
    place: options.Place,
    action_id: ActionId,
    value: Value = None,
    executed: Executed = False,
    not_executed: NotExecuted = False,
    by: By = None,
    key: options.Key = None,
    as_json: options.AsJson = False,
    _lang: options.Lang = None,
) -> int:
    """An operator's verdict on a pending or doubtful action (`DCL-5`)."""
    from agentl.durable import settle as settle_action
    from agentl.durable.address import existing_run

    if executed == not_executed or (not_executed and value is not None):
        raise AgentLError(code="cli.verdict_choice")
    said = ({} if value is None else json_value(value)) if executed else None
    store = existing_run(place)
    settled = settle_action(store, action_id, executed=executed, value=said, by=by, key=key)
    verdict = render("durable.verdict_executed" if executed else "durable.verdict_not_executed")
    if as_json:
        output.out_json({"action_id": action_id, "target": settled["target"], "executed": executed, "by": by})
    else:
        said_text = {"target": settled["target"], "action_id": action_id, "verdict": verdict}
        output.out("✓ " + render("durable.settled", said_text))
    return exits.DONE


def json_value(text: str) -> Any:
    """A value written as JSON, or in journal form where JSON lacks it (`ENC-1`).

    Raises:
        AgentLError: the text is neither.
    """
    try:
        return _read(json.loads(text, parse_constant=_no_number))
    except AgentLError as error:
        place = str(error.values.get("place", "—"))
        raise AgentLError(code="cli.verdict_form", place=place) from error
    except (ValueError, RecursionError) as error:
        raise AgentLError(code="cli.verdict_value", error=str(error)) from error


def _read(value: Any) -> Any:
    """JSON as it is; what JSON lacks in its journal form, as ``{"$sym": "yes"}`` for a symbol (`ENC-1`)."""
    if isinstance(value, list):
        return [_read(item) for item in value]
    if not isinstance(value, dict):
        return value
    if any(name.startswith("$") for name in value):
        from agentl.values import decode

        return decode(value)
    return {name: _read(item) for name, item in value.items()}


def _no_number(name: str) -> Any:
    raise ValueError(name)


def _named(intent: Any) -> dict[str, Any]:
    return {"target": intent["tool"], "action_id": intent["action_id"]}


def _label(resolution: Any) -> str:
    if resolution["how"] != "verdict":
        return render(f"durable.how_{resolution['how']}")
    verdict = "durable.verdict_executed" if resolution["executed"] else "durable.verdict_not_executed"
    return render("durable.how_verdict", {"verdict": render(verdict), "by": resolution["by"] or "—"})


def _status_data(found: Any, address: str, now: str) -> dict[str, Any]:
    holder = found.holder
    return {
        "run_id": found.run_id,
        "status": found.status,
        "agents": list(found.agents),
        "refusal": dict(found.refusal) if found.refusal else None,
        "entries": found.entries,
        "kinds": dict(found.kinds),
        "head": found.head,
        "last_tick": found.last_tick,
        "holder": {"holder": holder.holder, "since": holder.since, "epoch": holder.epoch} if holder else None,
        "pending": [{"target": one["tool"], **one} for one in found.pending()],
        "resolutions": [dict(one) for one in found.resolutions],
        "in_doubt": [{"target": one["tool"], **one} for one in found.in_doubt()],
        "waiting": [waiting.as_data(filed, address, now) for filed in found.waiting],
    }
