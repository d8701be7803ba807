"""``agentl run``: a program executed once, recorded, or driven durably (`CLI-5`, `DCL-1`)."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentl.cli import durable_run, exits, hosts, options, output, programs, waiting, watching
from agentl.errors import AgentLError
from agentl.messages import render

if TYPE_CHECKING:
    from agentl.durable.address import Address
    from agentl.language.nodes import Agent, Program

Record = Annotated[Path | None, typer.Option("--record", metavar="F", help=render("cli.help.record"))]
SignKey = Annotated[str | None, typer.Option("--sign-key", metavar="K", help=render("cli.help.sign_key"))]
Durable = Annotated[
    str | None, typer.Option("--durable", metavar="ADDRESS", help=render("cli.help.durable_dir"))
]
RunId = Annotated[str | None, typer.Option("--run-id", metavar="ID", help=render("cli.help.run_id"))]
TraceAll = Annotated[bool, typer.Option("--trace-all", help=render("cli.help.trace_all"))]
Park = Annotated[bool, typer.Option("--park", help=render("cli.help.park"))]
Within = Annotated[
    str | None, typer.Option("--answer-within", metavar="DURATION", help=render("cli.help.answer_within"))
]


def run(
    file: options.ProgramFile,
    ticks: options.Ticks = None,
    quiet: options.Quiet = False,
    events: options.Events = None,
    record: Record = None,
    sign_key: SignKey = None,
    durable: Durable = None,
    run_id: RunId = None,
    key: options.Key = None,
    trace_all: TraceAll = False,
    park: Park = False,
    answer_within: Within = None,
    as_json: options.AsJson = False,
    _lang: options.Lang = None,
) -> int:
    """Run a program (`CLI-5`), durably with ``--durable`` (`DCL-1`)."""
    if durable is not None and record is not None:
        raise AgentLError(code="cli.durable_record")
    durably = {"--run-id": run_id, "--key": key, "--trace-all": trace_all, "--park": park}
    _only_with("--durable DIR", durable, durably)
    if answer_within is not None and not park:
        raise AgentLError(code="cli.needs_park", option="--answer-within")
    within = None if answer_within is None else waiting.seconds_of(answer_within)
    _only_with("--record F", record, {"--sign-key": sign_key})
    address = None if durable is None else _address(durable, run_id)

    text = programs.read_text(file)
    program = programs.program_of(text, file)
    if programs.refuse_errors(program, as_json=as_json):
        return exits.FAILED
    agent = programs.only_agent(program, file)
    here = _folder()
    provided = hosts.load_host(file, program)
    if _folder() != here:
        # The host went elsewhere; what the command line names stands where the command was given.
        record, events = (here and path and here / path for path in (record, events))
        address = address.below(here) if here and address else address
    for code, said in hosts.missing_from(provided, agent):
        output.note("⚠ " + render(code, said))
    host = hosts.host_for(provided.host, agent)
    llm = hosts.host_for(provided.llm, agent)
    with ExitStack() as opened:
        watch = watching.Watch(agent.name, quiet=quiet or as_json)
        watch.open_events(events, opened)
        if address is not None:
            asked = durable_run.Asked(address, run_id, key, ticks, trace_all, as_json, park, within)
            return durable_run.drive(program, host, llm, (file, text), asked, watch)
        if record is not None:
            from agentl.cli import recording

            wanted = (record, sign_key, ticks)
            return recording.record(program, agent, host, llm, (file, text), wanted, watch, as_json)
        runtime = make_runtime(program, agent, host, llm)
        watch.attach(runtime)
        with watch.progress():
            runtime.run(ticks)
        return conclude(runtime, watch, as_json)


def _address(text: str, run_id: str | None) -> Address:
    """The address of ``--durable``, refused before anything is read (`OPS-1`)."""
    from agentl.durable.address import parse_address

    address = parse_address(text)
    address.of(run_id)
    return address


def make_runtime(program: Program, agent: Agent, host: Any, llm: Any) -> Any:
    """The interpreter of one agent."""
    from agentl.runtime.runtime import Runtime

    return Runtime(agent, host, llm, program=program)


def conclude(
    runtime: Any,
    watch: watching.Watch,
    as_json: bool,
    doubts: list[dict[str, Any]] | None = None,
    **more: Any,
) -> int:
    """The end of a run: trace (if it was not shown yet), metrics, exit code (`CLI-5`, `CLI-16`).

    ``doubts`` are the actions that a journal knows to be in doubt; without a journal the runtime's
    own facts say which targets are.
    """
    if doubts is None:
        doubts = [{"target": target} for target in targets_in_doubt(runtime)]
    code = exits.first([exits.IN_DOUBT] if doubts else [])
    if as_json:
        report = {
            "agent": runtime.agent.name,
            "ended": runtime.ended,
            "ticks": runtime.state.tick,
            "metrics": dict(runtime.metrics),
            "in_doubt": doubts,
            "trace": watching.trace_data(runtime.agent.name, runtime.trace),
        }
        output.out_json({**report, **more, "exit_code": code})
        return code
    watch.show_rest()
    output.out()
    output.out(metrics_line(runtime.metrics))
    return code


def metrics_line(metrics: Any) -> str:
    """All metrics as ``name=value``, two spaces between them (`CLI-5`)."""
    return "  ".join(f"{name}={value}" for name, value in metrics.items())


def targets_in_doubt(runtime: Any) -> list[str]:
    """The targets with an action in doubt (`TOL-8`), in the order of their declaration."""
    facts = [key.split(".") for key, value in runtime.state.world.items() if value is True]
    return [parts[1] for parts in facts if len(parts) == 3 and (parts[0], parts[2]) == ("tools", "in_doubt")]


def _folder() -> Path | None:
    try:
        return Path.cwd()
    except OSError:
        return None  # the folder has been removed


def _only_with(wanted: str, given: Any, dependent: dict[str, Any]) -> None:
    for option, value in dependent.items():
        if value and given is None:
            code = "cli.needs_durable" if wanted.startswith("--durable") else "cli.needs_record"
            raise AgentLError(code=code, option=option)
