"""``agentl durable purge`` and ``import``: runs thrown away by age, and moved (`OPS-7` to `OPS-9`)."""

from __future__ import annotations

import getpass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentl.cli import durable_list, exits, options, output
from agentl.errors import AgentLError

if TYPE_CHECKING:
    from agentl.durable.address import Address
from agentl.messages import render

OlderThan = Annotated[str, typer.Option("--older-than", metavar="SPAN", help=render("cli.help.older_than"))]
WithDoubts = Annotated[bool, typer.Option("--with-doubts", help=render("cli.help.with_doubts"))]
DryRun = Annotated[bool, typer.Option("--dry-run", help=render("cli.help.dry_run"))]
From = Annotated[str, typer.Argument(metavar="FROM", help=render("cli.help.import_from"))]
To = Annotated[str, typer.Argument(metavar="TO", help=render("cli.help.import_to"))]
Copy = Annotated[bool, typer.Option("--copy", help=render("cli.help.import_copy"))]


def purge(
    place: options.Place,
    older_than: OlderThan,
    with_doubts: WithDoubts = False,
    dry_run: DryRun = False,
    key: options.Key = None,
    as_json: options.AsJson = False,
    _lang: options.Lang = None,
) -> int:
    """Throw ended runs away, and keep their digests (`OPS-7`)."""
    from agentl.durable.address import collection_at, parse_address
    from agentl.durable.purging import Rule, span
    from agentl.durable.purging import purge as throw_away

    address = parse_address(place)
    now = datetime.now(UTC)
    rule = Rule(span(older_than), now, with_doubts, key, _user(), dry_run)
    collection = collection_at(address)
    if not collection.exists():
        raise durable_list.no_place(place)
    rows: list[dict[str, Any]] = []
    kept: dict[str, int] = {}
    for found in throw_away(collection, rule, address.run_id):
        row = {"address": found.note.address, "run_id": found.note.run_id, "ended_at": found.ended_at}
        rows.append(
            {**row, "kept": found.kept, "error": None if found.problem is None else str(found.problem)}
        )
        if found.kept is not None:
            kept[found.kept] = kept.get(found.kept, 0) + 1
        elif not as_json:
            output.out(render("ops.would_purge" if dry_run else "ops.purged_run", row))
    if not dry_run and any(row["kept"] is None for row in rows):
        _forget(address, [row["run_id"] for row in rows if row["kept"] is None])
        collection.reclaim()
    gone = sum(row["kept"] is None for row in rows)
    if as_json:
        output.out_json({"dry_run": dry_run, "purged": gone, "kept": kept, "runs": rows})
        return exits.DONE
    reasons = ", ".join(f"{render(f'ops.kept_{reason}')} {kept[reason]}" for reason in sorted(kept)) or "—"
    output.note(render("ops.purge_total", {"count": gone, "kept": sum(kept.values()), "reasons": reasons}))
    return exits.DONE


def _forget(address: Address, run_ids: list[str]) -> None:
    """The queue keeps no job of a run that is gone."""
    from agentl.durable.queue.places import queue_at

    queue = queue_at(address)
    try:
        if queue.jobs():
            queue.forget(run_ids)
    finally:
        queue.close()


def _user() -> str | None:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return None


def import_run(
    source: From,
    target: To,
    copy: Copy = False,
    key: options.Key = None,
    as_json: options.AsJson = False,
    _lang: options.Lang = None,
) -> int:
    """Move a run to another place, or copy it for reading (`OPS-8`, `OPS-9`)."""
    from agentl.durable import moving

    if not copy and moving.is_portable(source):
        raise AgentLError(code="ops.portable_is_a_copy", file=source)
    done = (moving.copy if copy else moving.move)(source, target, key=key)
    if as_json:
        output.out_json(
            {
                "run_id": done.run_id,
                "from": done.source,
                "to": done.target,
                "entries": done.entries,
                "head": done.head,
                "copy": done.copy,
            }
        )
        return exits.DONE
    code = "ops.copied" if done.copy else "ops.moved_run"
    said = {"run_id": done.run_id, "source": done.source, "target": done.target, "entries": done.entries}
    output.out("→ " + render(code, said))
    return exits.DONE
