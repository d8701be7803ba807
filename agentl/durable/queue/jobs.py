"""A job: which program a worker runs under which id, when it is due, what became of it (`WRK-1`, `WRK-4`).

Values and decisions without input or output. A queue keeps the rows; it only proposes: who drives a run is
decided by its lease (STO-6).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from agentl.errors import DurableError, StoreFailure

READY: Final = "ready"
CLAIMED: Final = "claimed"
WAITING: Final = "waiting"
ENDED: Final = "ended"
REFUSED: Final = "refused"
STOPPED: Final = "stopped"
STATES: Final = (READY, CLAIMED, WAITING, ENDED, REFUSED, STOPPED)

CLAIM_SECONDS: Final = 60.0
"""How long a claim stands that its worker does not renew."""

HELD_SECONDS: Final = 10.0
"""When a run that somebody else drives is looked at again."""

MOST_ATTEMPTS: Final = 5
"""How often a run is taken up in a row without coming to an orderly end, before it is stopped."""

LONGEST_PAUSE: Final = 300.0


@dataclass(frozen=True, slots=True)
class Job:
    """One run in a queue.

    Attributes:
        run_id: names the run.
        file: the name of the program file; a worker knows the folder.
        program_sha256: the identity of the program (`AST-7`).
        ticks: the tick limit, or ``None`` for that of the program.
        lang: the language of a new run.
        submitted: when, in UTC and ISO form.
        by: who submitted it.
        state: ``ready``, ``claimed``, ``waiting``, ``ended``, ``refused`` or ``stopped``.
        due: when it is due next, in seconds since the epoch; ``None``: at no time by itself.
        attempts: how often it was taken up since it last came to an orderly end.
        failure: what the last attempt failed of: ``code``, ``message`` and ``values``.
        holder: who claimed it, as a lease names him.
        claim: the claim, so that a late worker does not settle that of another.
    """

    run_id: str
    file: str
    program_sha256: str
    ticks: int | None = None
    lang: str = "fr"
    submitted: str = ""
    by: str | None = None
    state: str = READY
    due: float | None = 0.0
    attempts: int = 0
    failure: Mapping[str, Any] | None = None
    holder: str | None = None
    claim: str | None = None

    def data(self) -> dict[str, Any]:
        """The job as plain JSON."""
        return asdict(self)


def job_of(data: Any, name: str = "") -> Job:
    """The job in JSON data.

    Raises:
        StoreFailure: none of this package wrote it.
    """
    known = (
        {field: data[field] for field in Job.__dataclass_fields__ if field in data}
        if type(data) is dict
        else {}
    )
    texts = ("run_id", "file", "program_sha256", "lang", "state")
    if (
        not all(type(known.get(text, "")) is str for text in texts)
        or not {"run_id", "file", "program_sha256"} <= known.keys()
        or known.get("state", READY) not in STATES
        or type(known.get("attempts", 0)) is not int
        or not isinstance(known.get("due"), int | float | None)
        or not (known.get("ticks") is None or type(known["ticks"]) is int)
    ):
        raise StoreFailure(code="durable.store_failed", operation="read", cause=f"job {name}")
    return Job(**known)


def submitted(standing: Job | None, new: Job) -> Job:
    """The job that stands when ``new`` is submitted: the same again changes nothing (`WRK-1`).

    One that was refused or stopped is due again; so is one that had ended, if more ticks are asked for.

    Raises:
        DurableError: under that id another program, or another limit, was submitted.
    """
    if standing is None:
        return new
    if standing.program_sha256 != new.program_sha256:
        raise DurableError(code="worker.other_program", run_id=new.run_id, file=standing.file)
    more = standing.state == ENDED and (new.ticks or 0) > (standing.ticks or 0)
    if standing.ticks != new.ticks and not more:
        raise DurableError(
            code="worker.other_ticks", run_id=new.run_id, stored=standing.ticks or "—", asked=new.ticks or "—"
        )
    if standing.state in (REFUSED, STOPPED) or more:
        return replace(new, submitted=standing.submitted, by=standing.by)
    return standing


def is_due(job: Job, now: float, *, open_requests: bool, holder_dead: bool) -> bool:
    """Whether a worker may take the run up now (`WRK-2`).

    Args:
        open_requests: somebody still has to answer.
        holder_dead: whoever claimed it is known to be dead.
    """
    late = job.due is not None and job.due <= now
    if job.state == WAITING:
        return late or not open_requests
    if job.state == CLAIMED:
        return late or holder_dead
    return job.state == READY and late


def claimed(job: Job, now: float, holder: str, claim: str, seconds: float = CLAIM_SECONDS) -> Job:
    """The job as its next worker takes it; one that never comes to an end is stopped instead (`WRK-4`)."""
    if job.attempts >= MOST_ATTEMPTS:
        failure = job.failure or {"code": "worker.never_ends", "values": {"attempts": job.attempts}}
        return replace(job, state=STOPPED, due=None, failure=failure, holder=None, claim=None)
    return replace(
        job, state=CLAIMED, due=now + seconds, attempts=job.attempts + 1, holder=holder, claim=claim
    )


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a worker's turn at a run ended (`WRK-3`, `WRK-4`).

    Attributes:
        kind: ``ended``, ``waiting``, ``handed_back``, ``held``, ``refused`` or ``failed``.
        until: of a waiting run, its next deadline in seconds since the epoch, or ``None``.
        failure: of a refused or failed one: ``code``, ``message`` and ``values``.
        facts: for people: how it ended.
    """

    kind: str
    until: float | None = None
    failure: Mapping[str, Any] | None = None
    facts: Mapping[str, Any] | None = None


def settled(job: Job, outcome: Outcome, now: float) -> Job:
    """The job after a worker's turn (`WRK-3`, `WRK-4`)."""
    free = replace(job, holder=None, claim=None, failure=outcome.failure)
    if outcome.kind == "ended":
        return replace(free, state=ENDED, due=None, attempts=0)
    if outcome.kind == "waiting":
        return replace(free, state=WAITING, due=outcome.until, attempts=0)
    if outcome.kind == "handed_back":
        return replace(free, state=READY, due=now, attempts=0)
    if outcome.kind == "held":
        # Somebody drives it: that is no attempt.
        return replace(free, state=READY, due=now + HELD_SECONDS, attempts=max(job.attempts - 1, 0))
    if outcome.kind == "refused":
        return replace(free, state=REFUSED, due=None, attempts=0)
    if job.attempts >= MOST_ATTEMPTS:
        return replace(free, state=STOPPED, due=None)
    return replace(free, state=READY, due=now + pause(job.attempts))


def pause(attempts: int) -> float:
    """Seconds before a run that failed so often in a row is taken up again."""
    return min(2.0 ** min(attempts, 20), LONGEST_PAUSE)


def abandoned(job: Job, now: float) -> Job:
    """The job of a worker that died: due again after a pause that grows with each death in a row."""
    return replace(job, state=READY, due=now + pause(job.attempts) - 2.0, holder=None, claim=None)


__all__ = ["Job", "Outcome", "abandoned", "claimed", "is_due", "job_of", "pause", "settled", "submitted"]
