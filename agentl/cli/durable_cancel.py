"""``agentl durable cancel``: stop a run for good, and say what it has done (`TSK-9`)."""

from __future__ import annotations

from typing import Annotated

import typer

from agentl.cli import exits, options, output
from agentl.messages import render

By = Annotated[str | None, typer.Option("--by", metavar="WHO", help=render("cli.help.by"))]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help=render("cli.help.cancel_reason"))]


def cancel(
    place: options.Place,
    by: By = None,
    reason: Reason = "",
    key: options.Key = None,
    as_json: options.AsJson = False,
    _lang: options.Lang = None,
) -> int:
    """Put on record that the run does not go on; what was done stays done (`TSK-9`)."""
    from agentl.durable import cancel as cancel_run
    from agentl.durable.address import existing_run

    found = cancel_run(existing_run(place), by=by, reason=reason, key=key)
    code = exits.IN_DOUBT if found.unknown else exits.DONE
    if as_json:
        said = {name: getattr(found, name) for name in ("run_id", "by", "at", "reason", "already")}
        effects = {"done": [dict(one) for one in found.done], "unknown": [dict(one) for one in found.unknown]}
        output.out_json({**said, **effects, "exit_code": code})
        return code
    counts = {"run_id": found.run_id, "by": found.by, "at": found.at}
    counts |= {"done": str(len(found.done)), "unknown": str(len(found.unknown))}
    output.out("✓ " + render("durable.cancel_before" if found.already else "durable.cancel_done", counts))
    for one in found.done:
        output.out("  · " + render("durable.cancel_stays", dict(one)))
    for one in found.unknown:
        output.out("  ⚠ " + render("durable.cancel_unknown", dict(one)))
    return code
