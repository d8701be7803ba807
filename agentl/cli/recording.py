"""``agentl run --record``: a run whose every crossing is kept for a replay (`CLI-5`, `RPL-4`)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentl.cli import keys, output, watching
from agentl.messages import language, render

if TYPE_CHECKING:
    from agentl.language.nodes import Agent, Program


def record(
    program: Program,
    agent: Agent,
    host: Any,
    llm: Any,
    source: tuple[Path, str],
    wanted: tuple[Path, str | None, int | None],
    watch: watching.Watch,
    as_json: bool,
) -> int:
    """Run once and write the journal to the file wanted, signed when a key is given."""
    from agentl.cli.run import conclude, make_runtime
    from agentl.replay import Journal, RecordingHost, RecordingLLM, sha256

    file, key_spec, ticks = wanted
    key = keys.signing_key(key_spec)
    _writable(file)
    meta = {
        "agent": agent.name,
        "source": str(source[0]),
        "source_sha256": sha256(source[1]),
        "ticks": ticks,
        "lang": language(),
    }
    journal = Journal(meta=meta)
    recorded_llm = RecordingLLM(llm, journal) if llm is not None else None
    runtime = make_runtime(program, agent, RecordingHost(host, journal), recorded_llm)
    watch.attach(runtime)
    with watch.progress():
        runtime.run(ticks)
    journal.seal(runtime.trace.render(), key=key)
    try:
        journal.save(file)
    except OSError as error:
        raise watching.unwritable(file, error) from error
    crossings = len(journal.entries)
    code = conclude(runtime, watch, as_json, recorded=str(file), crossings=crossings)
    if not as_json:
        _tell(journal, file, crossings)
    return code


def _tell(journal: Any, file: Path, crossings: int) -> None:
    from agentl.seal import chain_verdict

    output.out("→ " + render("cli.recorded", {"file": str(file), "crossings": crossings}))
    output.out("  " + chain_verdict(journal.chain_report))
    signature = journal.meta.get("signature")
    if signature:
        said = {"algorithm": signature["alg"], "key_id": signature["key_id"]}
        output.out("  " + render("cli.sealed", said))
    else:
        output.out("  " + render("cli.not_signed"))
    if journal.lossy:
        output.note("⚠ " + render("cli.lossy", {"places": ", ".join(journal.lossy)}))


def _writable(file: Path) -> None:
    """Find out before the first tick that the journal cannot be written (`CLI-5`)."""
    existed = file.exists()
    try:
        with file.open("a", encoding="utf-8"):
            pass
        if not existed:
            file.unlink()
    except (OSError, ValueError) as error:
        raise watching.unwritable(file, error) from error
