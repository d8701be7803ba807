"""``durable show`` and ``verify``: a run from beginning to end, and whether it holds (`OPS-5`, `OPS-10`)."""

from __future__ import annotations

from typing import Any, Final

from agentl.cli import durable_list, exits, options, output
from agentl.messages import render

_MARKS: Final = {"good": "✓", "worth_knowing": "!", "bad": "✗"}
_OUTCOMES: Final = {"done": "✓", "failed": "✗", "in_doubt": "⚠", "open": "…"}


def show(
    place: options.Place,
    key: options.Key = None,
    as_json: options.AsJson = False,
    _lang: options.Lang = None,
) -> int:
    """The timeline of a run (`OPS-5`)."""
    from agentl.durable.address import existing_run
    from agentl.durable.recovery import DurableJournal
    from agentl.durable.timeline import timeline

    journal = DurableJournal.open(existing_run(place), key=key, write=False)
    steps = timeline(journal)
    if as_json:
        said = {"run_id": journal.index.run_id, "entries": journal.index.entries, "head": journal.head}
        output.out_json({**said, "steps": [step.data() for step in steps]})
        return exits.DONE
    for step in steps:
        output.out(f"{step.seq:>6}  {_line(step)}")
    return exits.DONE


def _line(step: Any) -> str:
    from agentl.durable.lease import shown

    facts = {name: "—" if value is None else value for name, value in step.facts.items()}
    if "holder" in facts:
        facts["holder"] = shown(str(facts["holder"]))
    if step.what == "tick":
        counts = ", ".join(f"{kind}={number}" for kind, number in step.facts["counts"].items()) or "—"
        return render("ops.step_tick", {"tick": step.tick, "counts": counts})
    if step.what == "action":
        return _action(step, facts)
    if step.what == "verdict":
        verdict = "durable.verdict_executed" if step.facts.get("executed") else "durable.verdict_not_executed"
        facts["verdict"] = render(verdict)
    if step.what == "reconciled":
        executed = step.facts.get("executed")
        facts["answer"] = render(f"ops.reconciled_{'unknown' if executed is None else str(executed).lower()}")
    code = f"ops.step_{step.what}"
    said = render(code, facts)
    return step.what if said.startswith(code) else said


def _action(step: Any, facts: dict[str, Any]) -> str:
    how = [render(f"durable.how_{one['how']}") for one in step.facts["resolutions"]]
    outcome = render(f"ops.outcome_{step.outcome}", {"error": step.facts.get("error", "—")})
    text = render("ops.step_action", {**facts, "outcome": outcome})
    if step.facts["attempts"] > 1:
        text += render("ops.attempts", {"count": step.facts["attempts"]})
    return f"{_OUTCOMES.get(str(step.outcome), ' ')} {text}" + "".join(f" ; {one}" for one in how)


def verify(
    place: options.Place,
    key: options.Key = None,
    as_json: options.AsJson = False,
    _lang: options.Lang = None,
) -> int:
    """Whether one run, or every run of a place, is what it should be (`OPS-10`)."""
    from agentl.durable.address import collection_at, existing_run, parse_address, store_at
    from agentl.durable.verifying import good
    from agentl.durable.verifying import verify as look

    address = parse_address(place)
    one = address.run_id is not None or (address.kind == "directory" and store_at(address).exists())
    if one:
        found = {str(address): look(existing_run(address), key=key)}
    else:
        collection = collection_at(address)
        if not collection.exists():
            raise durable_list.no_place(place)
        found = {note.address: look(collection.store_of(note), key=key) for note in collection.notes()}
    ending = exits.DONE if all(good(verdicts) for verdicts in found.values()) else exits.FAILED
    if as_json:
        runs = [
            {"address": name, "good": good(verdicts), "verdicts": [verdict.data() for verdict in verdicts]}
            for name, verdicts in found.items()
        ]
        output.out_json({"runs": runs, "exit_code": ending})
        return ending
    for name, verdicts in found.items():
        if one:
            for verdict in verdicts:
                output.out(f"{_MARKS[verdict.grade]} {verdict}")
            continue
        bad = [str(verdict) for verdict in verdicts if verdict.grade == "bad"]
        output.out(f"✗ {name} : {' ; '.join(bad)}" if bad else f"✓ {name}")
    if not found:
        output.out(render("durable.no_runs", {"directory": str(address)}))
    return ending
