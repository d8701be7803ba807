"""``agentl run --durable``: the same line starts a run, resumes it, or finds it over (`DCL-1`, `DCL-2`)."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentl.cli import exits, failures, output, watching
from agentl.errors import AgentLError, Parked, ReplayDivergence
from agentl.messages import render

if TYPE_CHECKING:
    from agentl.durable.address import Address
    from agentl.durable.requests import Filed
    from agentl.language.nodes import Program


@dataclass(frozen=True)
class Asked:
    """What the command line says about a durable run."""

    address: Address
    run_id: str | None
    key: str | None
    ticks: int | None
    trace_all: bool
    as_json: bool
    park: bool = False
    answer_within: float | None = None

    def store(self) -> Any:
        """The store of the run; a new run of a database gets an id (`OPS-1`).

        Raises:
            DurableError: the address is refused, or no such place can be used.
        """
        from agentl.durable.address import DIRECTORY, collection_at, store_at

        address = self.address.of(self.run_id)
        if address.kind != DIRECTORY:
            collection_at(address).exists()
            if address.run_id is None:
                address = address.of(secrets.token_hex(6))
        return store_at(address)


class Announcer:
    """Says on stderr what a durable run finds and settles, as soon as it does (`DCL-1`)."""

    def __init__(self, store: Any) -> None:
        self.store = store
        self.taken: list[dict[str, Any]] = []
        self.waiting: list[Filed] = []

    def opened(self, run: Any) -> None:
        """The journal is open and its chain holds; nothing has run yet."""
        if run.already_completed:
            return
        if not run.resumed:
            output.note(render("durable.started", {"run_id": run.run_id, "file": self.store.name}))
            return
        entries = len(run.journal.entries)
        output.note(render("durable.resumed", {"run_id": run.run_id, "entries": entries}))
        for intent in run.journal.pending():
            said = {"target": intent["tool"], "action_id": intent["action_id"]}
            output.note(render("durable.pending", said))
        for change in run.promise_changes:
            output.note(str(change))

    def resolved(self, target: str, action_id: str, how: str) -> None:
        """A pending action has been settled."""
        self.taken.append({"target": target, "action_id": action_id, "how": how})
        output.note(f"  ↻ {target} ({action_id}) : {render(f'durable.how_{how}')}")

    def waits(self, filed: Filed) -> None:
        """The run is about to end without an answer (`PRK-4`)."""
        self.waiting = [filed]


def drive(
    program: Program,
    host: Any,
    llm: Any,
    source: tuple[Path, str],
    asked: Asked,
    watch: watching.Watch,
) -> int:
    """Start or resume the run, and end as it ends."""
    from agentl.cli.run import conclude
    from agentl.durable import DurableRun

    store = asked.store()
    announcer = Announcer(store)
    watch.attach_host(host)
    run = DurableRun(
        program,
        host,
        llm,
        store=store,
        run_id=asked.run_id,
        echo=watch.echo,
        echo_all=asked.trace_all,
        source=(str(source[0]), source[1]),
        key=asked.key,
        listener=announcer,
        park=asked.park,
        answer_within=asked.answer_within,
    )
    try:
        with watch.progress():
            runtime = run.run(asked.ticks)
    except Parked:
        return parked(run, announcer, asked, watch)
    except AgentLError as error:
        if not isinstance(error, ReplayDivergence) and error.code != "durable.tick_limit":
            raise
        output.note("")
        message = render("durable.resume_failed", {"message": str(error)})
        return failures.report(error, as_json=asked.as_json, text=message, ending=exits.FAILED)
    if run.already_completed and not asked.as_json:
        said = {"run_id": run.run_id, "ticks": runtime.state.tick, "reason": run.ended}
        output.note(render("durable.already_completed", said))
    if run.already_completed and not asked.as_json and not asked.trace_all:
        return exits.first([exits.IN_DOUBT] if run.journal.in_doubt() else [])
    return conclude(runtime, watch, asked.as_json, doubts=doubts_of(run), **facts(run, announcer))


def doubts_of(run: Any) -> list[dict[str, Any]]:
    """The actions that nobody has settled."""
    return [{"target": one["tool"], "action_id": one["action_id"]} for one in run.journal.in_doubt()]


def facts(run: Any, announcer: Announcer) -> dict[str, Any]:
    """What a report says of a run beside its trace."""
    return {
        "run_id": run.run_id,
        "status": run.status,
        "resumed": run.resumed,
        "resolutions": announcer.taken,
    }


def parked(run: Any, announcer: Announcer, asked: Asked, watch: watching.Watch) -> int:
    """The run waits for a person: say what for, until when, and how to answer (`PRK-4`, `CLI-16`)."""
    from agentl.cli import waiting

    address = str(asked.address.of(run.run_id))
    now = run.journal.clock()
    doubts = doubts_of(run)
    code = exits.first([exits.WAITING, exits.IN_DOUBT] if doubts else [exits.WAITING])
    if asked.as_json:
        requests = [waiting.as_data(filed, address, now) for filed in announcer.waiting]
        report = {"agent": run.agents[0].name, "ended": None, "ticks": run.runtime.state.tick}
        more = {"in_doubt": doubts, **facts(run, announcer), "waiting": requests, "exit_code": code}
        output.out_json({**report, **more})
        return code
    if run.journal.live:
        watch.show_rest()
    for filed in announcer.waiting:
        said = {"question": waiting.question(filed.request), "until": waiting.time_left(filed, now)}
        output.note("⏸ " + render(f"park.waits_{filed.request.kind}", said))
        output.note("  " + waiting.how_to_answer(address, filed.request))
    return code
