"""``agentl submit`` and ``agentl worker``: runs that wait for somebody to drive them (`WRK-1` to `WRK-5`)."""

from __future__ import annotations

import getpass
import math
import secrets
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentl.cli import exits, options, output, programs
from agentl.errors import AgentLError
from agentl.messages import language, render

if TYPE_CHECKING:
    from agentl.durable.queue.jobs import Job, Outcome

Store = Annotated[str, typer.Option("--store", metavar="ADDRESS", help=render("cli.help.store"))]
RunId = Annotated[str | None, typer.Option("--run-id", metavar="ID", help=render("cli.help.run_id"))]
Folder = Annotated[Path | None, typer.Option("--program", metavar="DIR", help=render("cli.help.program_dir"))]
Concurrency = Annotated[int, typer.Option("--concurrency", metavar="N", help=render("cli.help.concurrency"))]
Once = Annotated[bool, typer.Option("--once", help=render("cli.help.once"))]
Drain = Annotated[bool, typer.Option("--drain", help=render("cli.help.drain"))]
Poll = Annotated[float | None, typer.Option("--poll", metavar="S", help=render("cli.help.poll"))]


def submit(
    file: options.ProgramFile,
    store: Store,
    run_id: RunId = None,
    ticks: options.Ticks = None,
    as_json: options.AsJson = False,
    _lang: options.Lang = None,
) -> int:
    """Put a run into the queue of a store (`WRK-1`)."""
    from agentl.durable.address import parse_address
    from agentl.durable.program import program_digest
    from agentl.durable.queue.jobs import Job
    from agentl.durable.queue.places import queue_at
    from agentl.durable.run_ids import check_run_id

    address = parse_address(store)
    if run_id is not None:
        address.of(check_run_id(run_id))
    text = programs.read_text(file)
    program = programs.program_of(text, file)
    if programs.refuse_errors(program, as_json=as_json):
        return exits.FAILED
    programs.only_agent(program, file)
    wanted = Job(
        run_id=address.run_id or run_id or secrets.token_hex(6),
        file=file.name,
        program_sha256=program_digest(program),
        ticks=ticks,
        lang=language(),
        submitted=datetime.now(UTC).isoformat(timespec="seconds"),
        by=_user(),
    )
    queue = queue_at(address)
    try:
        standing = queue.submit(wanted)
    finally:
        queue.close()
    said = {"run_id": standing.run_id, "state": standing.state, "store": str(address), "file": str(file)}
    if as_json:
        output.out_json({**said, "submitted": standing.submitted, "new": standing is wanted})
    else:
        output.out("→ " + render("worker.submitted", said))
    return exits.DONE


def _user() -> str | None:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return None


def worker(
    store: Store,
    program: Folder = None,
    concurrency: Concurrency = 1,
    once: Once = False,
    drain: Drain = False,
    poll: Poll = None,
    key: options.Key = None,
    quiet: options.Quiet = False,
    _lang: options.Lang = None,
) -> int:
    """Drive the runs of a store that are due, until stopped (`WRK-2`, `WRK-3`)."""
    from agentl.cli.driving import Driver
    from agentl.durable.address import collection_at, parse_address
    from agentl.durable.queue.places import queue_at
    from agentl.durable.queue.worker import Worker

    address = parse_address(store)
    if concurrency < 1:
        raise AgentLError(code="worker.concurrency", given=concurrency)
    if program is not None and not program.is_dir():
        missing = FileNotFoundError(2, "ENOENT")
        raise programs.unreadable(program, NotADirectoryError(20, "ENOTDIR") if program.exists() else missing)
    if poll is not None and not 0 < poll < math.inf:
        raise AgentLError(code="worker.poll", given=poll)
    queue = queue_at(address)
    driver = Driver(collection_at(address), program or Path.cwd(), key)
    tell = (lambda _what, _job, _outcome: None) if quiet else _tell
    working = Worker(queue, driver.drive, concurrency=concurrency, tell=tell, poll_seconds=poll)
    if not quiet:
        output.note(render("worker.begins", {"store": str(address), "concurrency": concurrency}))
    try:
        with _stopped_by_signals(working):
            working.run(once=once, drain=drain)
    finally:
        queue.close()
    return exits.DONE


@contextmanager
def _stopped_by_signals(working: Any) -> Iterator[None]:
    """SIGTERM and SIGINT hand the runs back; the same again ends the process at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

    def stop(number: int, _frame: Any) -> None:
        signal.signal(number, signal.SIG_DFL)
        working.stop()

    for number in before:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _tell(what: str, job: Job, outcome: Outcome | None) -> None:
    """One line for each turn at a run."""
    if outcome is None:
        output.out("↻ " + render("worker.taken", {"run_id": job.run_id, "attempt": job.attempts}))
        return
    del what
    mark = {"ended": "✓", "waiting": "⏸", "handed_back": "→", "held": "→"}.get(outcome.kind, "✗")
    facts = {"reason": "—", "ticks": "—", **dict(outcome.facts or {})}
    message = str((outcome.failure or {}).get("message", "—"))
    output.out(
        f"{mark} " + render(f"worker.{outcome.kind}", {"run_id": job.run_id, "message": message, **facts})
    )
