"""All runs of a place as ``durable list`` shows them (`OPS-4`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

from agentl.durable.collections.base import Collection, RunNote
from agentl.durable.queue.jobs import Job
from agentl.durable.requests import Filed, near
from agentl.durable.states import INTERRUPTED, NEW, WAITING
from agentl.errors import AgentLError

CHAIN: Final = "chain"
NOTES: Final = "notes"
QUEUED: Final = "queued"
OVER: Final = ("completed", "cancelled", "purged", "moved", "copy")
# Chains with this many entries together are read in a moment; above, the notes must do unless asked.
READ_ANYWAY: Final = 5_000


@dataclass(frozen=True, slots=True)
class Listed:
    """One run of a list.

    Attributes:
        basis: ``chain`` when the journal was read for it, else ``notes``.
        problem: why its journal is refused, or ``None``.
    """

    note: RunNote
    status: str
    last_tick: int
    basis: str
    problem: AgentLError | None = None
    doubts: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    job: Job | None = None

    def data(self, now: datetime) -> dict[str, Any]:
        """The run as data, times in seconds."""
        note = self.note
        lease = note.lease
        found: dict[str, Any] = {
            "address": note.address,
            "directory": note.address,
            "run_id": note.run_id,
            "status": self.status,
            "basis": self.basis,
            "last_tick": self.last_tick,
            "entries": note.entries if note.entries is not None else (note.meta or {}).get("entries"),
            "behind": None if note.entries is None else note.behind,
            "created": note.created,
            "written": written(note),
            "age_seconds": seconds_since(note.created, now),
            "idle_seconds": seconds_since(written(note), now),
            "holder": None if lease is None else {"holder": lease.holder, "since": lease.since},
            "waiting": [waiting_data(request, now) for request in note.waiting],
            "pending": list(self.pending),
            "in_doubt": list(self.doubts),
        }
        if self.problem is not None:
            found["error"] = {"code": self.problem.code, "message": str(self.problem)}
        if self.job is not None:
            job = self.job
            found["job"] = {"state": job.state, "attempts": job.attempts, "due": job.due, "file": job.file}
            found["job"]["failure"] = None if job.failure is None else dict(job.failure)
        if note.mark is not None:
            found["mark"] = dict(note.mark)
        return found


@dataclass(frozen=True, slots=True)
class Listing:
    """The runs of a place, in the order of the place; ``basis`` is ``chain`` when every chain was read."""

    runs: Sequence[Listed]
    basis: str
    counts: Mapping[str, int] = field(default_factory=dict)


def listing(
    collection: Collection,
    *,
    check: bool | None = None,
    key: bytes | str | None = None,
    states: Sequence[str] = (),
    jobs: Sequence[Job] = (),
) -> Listing:
    """Look at every run of a place; nothing is changed and no lease is taken (`OPS-4`).

    Args:
        check: read every chain, or none; ``None``: read them when they are short together. A keyed chain
            is only read when ``key`` is given.
        states: leave out the runs in other states.
        jobs: those of the queue of the place: what has not begun is listed too (`WRK-4`).

    Raises:
        DurableError: there is no such place.
        StoreFailure: the place cannot be read.
    """
    notes = list(collection.notes())
    if check is None:
        check = sum(_entries(note) for note in notes) <= READ_ANYWAY
    runs = [_checked(collection, note, key) if check else _noted(note) for note in notes]
    runs = _with_jobs(collection, runs, jobs)
    counts: dict[str, int] = {}
    for run in runs:
        counts[run.status] = counts.get(run.status, 0) + 1
    shown = [run for run in runs if run.status in states] if states else runs
    basis = CHAIN if all(run.basis == CHAIN for run in runs) else NOTES
    return Listing(shown, basis, {state: counts[state] for state in sorted(counts)})


def _with_jobs(collection: Collection, runs: list[Listed], jobs: Sequence[Job]) -> list[Listed]:
    """What the queue says of each run; the state is the run's own, except where nobody takes it up again."""
    if not jobs:
        return runs
    known = {job.run_id: job for job in jobs}
    found = []
    for run in runs:
        job = known.pop(run.note.run_id, None)
        given_up = job is not None and job.state in ("refused", "stopped") and run.status not in OVER
        found.append(replace(run, job=job, status=job.state) if job and given_up else replace(run, job=job))
    for job in known.values():
        if job.state == "ended":
            continue  # the run has been thrown away, or has left
        note = RunNote(job.run_id, collection.address(job.run_id), None, None, 0)
        status = job.state if job.state in ("refused", "stopped") else QUEUED
        found.append(Listed(note, status, 0, NOTES, job=job))
    return sorted(found, key=lambda run: run.note.run_id) if known else found


def _entries(note: RunNote) -> int:
    known = note.entries if note.entries is not None else (note.meta or {}).get("entries")
    # A journal of unknown length that is driven may be long.
    return known if type(known) is int else READ_ANYWAY + 1


def _noted(note: RunNote, problem: AgentLError | None = None) -> Listed:
    waiting = (note.meta or {}).get("waiting_for")
    pending = tuple(str(one) for one in waiting) if isinstance(waiting, list) else ()
    return Listed(note, note.status, note.last_tick, NOTES, problem, note.in_doubt, pending)


def _checked(collection: Collection, note: RunNote, key: bytes | str | None) -> Listed:
    from agentl.durable.status import survey

    opened = (note.meta or {}).get("open")
    keyed = isinstance(opened, Mapping) and opened.get("key_id") is not None
    if note.mark is not None or (keyed and key is None):
        return _noted(note)
    try:
        found = survey(collection.store_of(note), key=key)
    except AgentLError as error:
        return _noted(note, error)
    status = found.status
    if note.status == WAITING and status in (INTERRUPTED, NEW):
        status = WAITING
    doubts = tuple(str(one["action_id"]) for one in found.in_doubt())
    pending = tuple(str(one["action_id"]) for one in found.pending())
    return Listed(note, status, found.last_tick, CHAIN, None, doubts, pending)


def written(note: RunNote) -> str | None:
    """When the notes were written last, which is when the run last ended a tick, began or ended."""
    at = (note.meta or {}).get("written")
    return at if isinstance(at, str) else None


def seconds_since(at: Any, now: datetime) -> int | None:
    """Whole seconds since a time in ISO form, never negative; ``None`` when it is none."""
    then = moment(at)
    return None if then is None else max(int((now - then).total_seconds()), 0)


@lru_cache(maxsize=1024)
def moment(at: Any) -> datetime | None:
    """The time that an ISO text names; without an offset it is UTC."""
    try:
        then = datetime.fromisoformat(at) if isinstance(at, str) else None
    except ValueError:
        return None
    if then is None:
        return None
    return then if then.tzinfo is not None else then.replace(tzinfo=UTC)


def waiting_data(filed: Filed, now: datetime) -> dict[str, Any]:
    """An open request as data, with whether its deadline is near (`PRK-9`)."""
    deadline, request = moment(filed.deadline), filed.request
    return {
        "request_id": request.request_id,
        "kind": request.kind,
        "target": request.target,
        "asked_at": request.asked_at,
        "deadline": filed.deadline,
        "seconds_left": None if deadline is None else int((deadline - now).total_seconds()),
        "near": near(filed, now.isoformat()),
    }


__all__ = ["Listed", "Listing", "listing", "moment", "seconds_since", "waiting_data", "written"]
