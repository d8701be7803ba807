"""One turn at a run of a queue: its program, its host, and how the turn ended (`WRK-3`, `WRK-4`)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentl.cli import failures, hosts, programs
from agentl.durable import DurableRun
from agentl.durable.collections import Collection
from agentl.durable.program import program_digest
from agentl.durable.queue.jobs import Job, Outcome
from agentl.durable.requests import Filed, moment
from agentl.durable.run import LIMIT
from agentl.durable.status import open_requests
from agentl.errors import (
    AgentLError,
    DurableError,
    HandedBack,
    LeaseHeld,
    LeaseLost,
    Parked,
    ReplayDivergence,
    SourceError,
    StoreFailure,
)
from agentl.messages import speaking


class Driver:
    """Drives the runs of a collection with the programs of a folder.

    Args:
        folder: where the programs and their hosts are. Whoever may write the store names a file in it, and
            no other: what runs on this machine is not the choice of a row in a database.
        key: the chain key.
    """

    def __init__(self, collection: Collection, folder: Path, key: str | None) -> None:
        self._collection = collection
        self._folder = folder
        self._key = key
        # A host module is imported under a name of the process: one at a time.
        self._importing = threading.Lock()

    def drive(self, job: Job, halt: Callable[[], bool]) -> Outcome:
        """One turn at a run; raises nothing."""
        try:
            with speaking(job.lang):
                return self._drive(job, halt)
        except HandedBack:
            return Outcome("handed_back")
        except (LeaseHeld, LeaseLost) as error:
            return Outcome("held", failure=_failure(error))
        except StoreFailure as error:
            return Outcome("failed", failure=_failure(error))
        except (DurableError, ReplayDivergence, SourceError) as error:
            return Outcome("refused", failure=_failure(error))
        except BaseException as error:  # noqa: BLE001 - a worker outlives whatever a program or a tool does
            return Outcome("failed", failure=_failure(error))

    def _drive(self, job: Job, halt: Callable[[], bool]) -> Outcome:
        file = self._folder / Path(job.file).name
        try:
            text = programs.read_text(file)
        except AgentLError as error:
            raise DurableError(code="worker.no_program", file=str(file), run_id=job.run_id) from error
        program = programs.program_of(text, file)
        if program_digest(program) != job.program_sha256:
            raise DurableError(code="worker.program_changed", file=str(file), run_id=job.run_id)
        agent = programs.only_agent(program, file)
        with self._importing:
            provided = hosts.load_host(file, program)
        store = self._collection.store(job.run_id)
        run = DurableRun(
            program,
            hosts.host_for(provided.host, agent),
            hosts.host_for(provided.llm, agent),
            store=store,
            run_id=job.run_id,
            source=(str(file), text),
            key=self._key,
            park=True,
        )
        run.journal.halt = halt
        try:
            # What has begun knows its limit; a larger one prolongs a run that had reached it.
            fresh = not run.resumed or (run.ended == LIMIT and job.ticks is not None)
            runtime = run.run(job.ticks if fresh else None)
        except Parked:
            return Outcome("waiting", until=_deadline(open_requests(store)))
        facts: dict[str, Any] = {"reason": run.ended, "ticks": runtime.state.tick}
        return Outcome("ended", facts={**facts, "in_doubt": len(run.journal.in_doubt())})


def _deadline(requests: list[Filed]) -> float | None:
    """The earliest deadline of what a run waits for, in seconds since the epoch."""
    times = [moment(filed.deadline) for filed in requests if filed.deadline]
    known = [time.timestamp() for time in times if time is not None]
    return min(known) if known else None


def _failure(error: BaseException) -> dict[str, Any]:
    """A failure as a job keeps it."""
    code = getattr(error, "code", "") or "cli.unexpected"
    said = (
        str(error)
        if isinstance(error, AgentLError)
        else f"{type(error).__name__}: {failures.one_line(error)}"
    )
    values = getattr(error, "values", {})
    return {
        "code": code,
        "message": said,
        "values": {str(name): str(value) for name, value in dict(values).items()},
    }
