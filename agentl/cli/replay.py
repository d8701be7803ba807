"""``agentl replay`` and ``agentl seal``: a recording derived again; its chain and its seal (`CLI-13`)."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentl.cli import exits, failures, keys, options, output, programs, watching
from agentl.errors import AgentLError, ReplayDivergence, ReplayError, SealError
from agentl.messages import render, set_language

if TYPE_CHECKING:
    from agentl.replay import Journal

JournalFile = Annotated[Path, typer.Argument(metavar="JOURNAL", help=render("cli.help.journal"))]
AnyJournal = Annotated[Path | None, typer.Argument(metavar="JOURNAL", help=render("cli.help.journal"))]
Source = Annotated[Path | None, typer.Option("--source", metavar="F", help=render("cli.help.source"))]
Force = Annotated[bool, typer.Option("--force", help=render("cli.help.force"))]
RequireSeal = Annotated[bool, typer.Option("--require-seal", help=render("cli.help.require_seal"))]
Rings = Annotated[
    list[str] | None, typer.Option("--key-ring", metavar="R:P=F", help=render("cli.help.key_ring"))
]
KeyGen = Annotated[Path | None, typer.Option("--keygen", metavar="DIR", help=render("cli.help.keygen"))]
Name = Annotated[str, typer.Option("--name", metavar="N", help=render("cli.help.name"))]


def replay(
    journal: JournalFile,
    source: Source = None,
    ticks: options.Ticks = None,
    quiet: options.Quiet = False,
    events: options.Events = None,
    force: Force = False,
    key: options.Key = None,
    require_seal: RequireSeal = False,
    key_ring: Rings = None,
    as_json: options.AsJson = False,
    lang: options.Lang = None,
) -> int:
    """Derive a recorded run again and compare the traces (`CLI-13`)."""
    from agentl.replay import ReplayHost, ReplayLLM, sha256, verify_trace
    from agentl.runtime.runtime import Runtime

    rings = keys.key_rings(key_ring or [])
    recording = load_journal(journal)
    _trust(recording, key, require_seal)
    file = _source_file(recording, source, journal)
    text = programs.read_text(file)
    program = programs.program_of(text, file)
    if recording.meta.get("source_sha256") not in (None, sha256(text)) and not force:
        raise_changed = ReplayError(code="replay.program_changed", file=str(file))
        return failures.report(raise_changed, as_json=as_json, ending=exits.FAILED)
    if lang is None and recording.meta.get("lang"):
        set_language(recording.meta["lang"])
    agent = program.agents[0]
    runtime = Runtime(
        agent,
        ReplayHost(recording, key_rings=rings),
        ReplayLLM(recording),
        run_id=recording.meta.get("run_id", "run"),
        program=program,
    )
    with ExitStack() as opened:
        watch = watching.Watch(agent.name, quiet=quiet or as_json)
        watch.open_events(events, opened)
        watch.attach(runtime)
        try:
            with watch.progress():
                runtime.run(recording.meta.get("ticks") if ticks is None else ticks)
        except ReplayDivergence as error:
            return failures.report(error, as_json=as_json, ending=exits.FAILED)
    trace = runtime.trace.render()
    same = verify_trace(recording, trace)
    outcome = "different" if not same else "remaining" if recording.remaining else "ok"
    if not as_json:
        watch.show_rest()
        output.out()
    return _verdict(outcome, recording, sha256(trace), as_json)


def _verdict(outcome: str, recording: Journal, digest: str, as_json: bool) -> int:
    said = {"digest": digest[:12], "remaining": recording.remaining}
    mark = {"ok": "✔", "different": "✘", "remaining": "◐"}[outcome]
    code = exits.DONE if outcome == "ok" else exits.FAILED
    message = render(f"replay.{outcome}", said)
    if as_json:
        verdict = {"outcome": outcome, "message": message, "trace_sha256": digest}
        output.out_json({**verdict, "remaining": recording.remaining, "exit_code": code})
    else:
        output.out(f"{mark} {message}")
    return code


def load_journal(file: Path, *, strict: bool = True) -> Journal:
    """The recording in a file.

    Raises:
        AgentLError: it cannot be read.
        ReplayError: it is no recording, or (when strict) its chain is broken.
    """
    from agentl.replay import Journal

    if (file / "wal.jsonl").is_file() or file.name == "wal.jsonl":
        directory = file if file.is_dir() else file.parent
        raise ReplayError(code="replay.durable_journal", file=str(file), directory=str(directory))
    try:
        if file.is_char_device() or file.is_block_device():
            raise ReplayError(code="replay.malformed", file=str(file), cause="device")
        data = file.read_bytes()
    except (OSError, ValueError) as error:
        raise programs.unreadable(file, error) from error
    try:
        return Journal.loads(data.decode("utf-8"), strict=strict)
    except UnicodeDecodeError as error:
        raise ReplayError(code="replay.malformed", file=str(file), cause="UTF-8") from error
    except ReplayError as error:
        if error.code != "replay.malformed":
            raise
        raise ReplayError(code="replay.malformed", file=str(file), cause=error.values["cause"]) from error


def _trust(recording: Journal, key: str | None, require_seal: bool) -> None:
    """Refuse a seal that is there and does not hold, or one that is required and absent (`CLI-13`)."""
    if not recording.signed:
        if require_seal:
            raise SealError(code="seal.unsigned")
        return
    verify_key = keys.verify_key(key)
    if verify_key is None and not require_seal:
        return
    verdict = recording.verify_seal(verify_key)
    if not verdict.ok:
        raise SealError(code=verdict.code, **verdict.values)


def _source_file(recording: Journal, source: Path | None, journal: Path) -> Path:
    if source is not None:
        return source
    named = recording.meta.get("source")
    for candidate in (Path(str(named)), journal.parent / Path(str(named)).name) if named else ():
        if candidate.is_file():
            return candidate
    raise AgentLError(code="cli.no_source", source=str(named or "—"))


def seal(
    journal: AnyJournal = None,
    key: options.Key = None,
    keygen: KeyGen = None,
    name: Name = "journal",
    as_json: options.AsJson = False,
    _lang: options.Lang = None,
) -> int:
    """Verify the chain and the seal of a journal, or make a key pair (`CLI-14`)."""
    if (journal is None) == (keygen is None):
        raise AgentLError(code="cli.seal_what")
    if keygen is not None:
        return _make_keys(keygen, name, as_json)
    assert journal is not None
    recording = load_journal(journal, strict=False)
    chain = recording.chain_report
    signature = recording.verify_seal(keys.verify_key(key))
    failed = not chain.ok or (recording.signed and not signature.ok)
    code = exits.FAILED if failed else exits.DONE
    if as_json:
        verdicts = {"chain": _chain_data(chain), "signature": {"ok": signature.ok, "message": str(signature)}}
        output.out_json({**verdicts, "signed": recording.signed, "exit_code": code})
        return code
    output.out(f"{'✓' if chain.ok else '✗'} {chain}")
    output.out(f"{'✓' if signature.ok else '✗' if recording.signed else '!'} {signature}")
    return code


def _chain_data(chain: Any) -> dict[str, Any]:
    return {"ok": chain.ok, "message": str(chain), "first_bad": chain.first_bad, "head": chain.head_actual}


def _make_keys(directory: Path, name: str, as_json: bool) -> int:
    from agentl.seal import generate_ed25519

    try:
        private, public = generate_ed25519(directory, name)
    except OSError as error:
        raise watching.unwritable(directory / f"{name}.key", error) from error
    said = {"private": str(private), "public": str(public)}
    if as_json:
        output.out_json(said)
    else:
        output.out("→ " + render("cli.keys_written", said))
    return exits.DONE
