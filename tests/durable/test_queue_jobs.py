"""When a job is due, and what becomes of it: the decisions without a queue (`WRK-1`, `WRK-2`, `WRK-4`)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agentl.durable.queue.jobs import (
    CLAIM_SECONDS,
    CLAIMED,
    ENDED,
    HELD_SECONDS,
    LONGEST_PAUSE,
    MOST_ATTEMPTS,
    READY,
    REFUSED,
    STOPPED,
    WAITING,
    Job,
    Outcome,
    abandoned,
    claimed,
    is_due,
    job_of,
    pause,
    settled,
    submitted,
)
from agentl.errors import DurableError, StoreFailure

JOB = Job("r", "/p/a.agent", "0" * 64, ticks=3, due=10.0)


@pytest.mark.parametrize(
    ("state", "due", "asks", "dead", "wanted"),
    [
        (READY, 10.0, False, False, True),
        (READY, 11.0, False, False, False),
        (READY, None, False, True, False),
        (CLAIMED, 10.0, False, False, True),
        (CLAIMED, 11.0, False, False, False),
        (CLAIMED, 11.0, False, True, True),
        (WAITING, None, True, False, False),
        (WAITING, None, False, False, True),
        (WAITING, 10.0, True, False, True),
        (WAITING, 11.0, True, True, False),
        (ENDED, 1.0, False, True, False),
        (REFUSED, 1.0, False, True, False),
        (STOPPED, 1.0, False, True, False),
    ],
)
def test_when_a_run_is_due(state: str, due: float | None, asks: bool, dead: bool, wanted: bool) -> None:
    """`WRK-2`: new or interrupted and late, claimed by nobody who lives, answered or past its deadline."""
    job = replace(JOB, state=state, due=due)
    assert is_due(job, 10.0, open_requests=asks, holder_dead=dead) is wanted


def test_the_same_again_changes_nothing() -> None:
    """`WRK-1`: by run id; another program or limit is refused; what was given up is due again."""
    assert submitted(None, JOB) is JOB
    for state in (READY, CLAIMED, WAITING, ENDED):
        standing = replace(JOB, state=state, attempts=2, submitted="then")
        assert submitted(standing, JOB) is standing
    for state in (REFUSED, STOPPED):
        again = submitted(replace(JOB, state=state, attempts=5, submitted="then", by="ada"), JOB)
        assert (again.state, again.attempts, again.submitted, again.by) == (READY, 0, "then", "ada")
    with pytest.raises(DurableError) as other:
        submitted(JOB, replace(JOB, program_sha256="1" * 64))
    assert other.value.code == "worker.other_program"
    with pytest.raises(DurableError) as ticks:
        submitted(JOB, replace(JOB, ticks=4))
    assert ticks.value.code == "worker.other_ticks"
    longer = submitted(replace(JOB, state=ENDED), replace(JOB, ticks=4))
    assert (longer.state, longer.ticks) == (READY, 4)
    with pytest.raises(DurableError):
        submitted(replace(JOB, state=ENDED), replace(JOB, ticks=2))


def test_a_claim_counts_and_ends() -> None:
    """`WRK-2`, `WRK-4`: it names who took it, and a run that never comes to an end is stopped."""
    taken = claimed(JOB, 10.0, "me", "c1")
    assert (taken.state, taken.holder, taken.claim) == (CLAIMED, "me", "c1")
    assert (taken.due, taken.attempts) == (10.0 + CLAIM_SECONDS, 1)
    job = JOB
    for _ in range(MOST_ATTEMPTS):
        job = replace(claimed(job, 10.0, "me", "c"), state=READY)
    stopped = claimed(job, 10.0, "me", "c")
    assert (stopped.state, stopped.due, stopped.claim) == (STOPPED, None, None)
    assert stopped.failure is not None
    assert stopped.failure["code"] == "worker.never_ends"


def test_how_a_turn_ends() -> None:
    """`WRK-3`, `WRK-4`: an orderly end forgets the attempts; a failure waits longer each time, then stops."""
    taken = claimed(JOB, 10.0, "me", "c1")
    why = {"code": "x", "message": "m"}
    table: list[tuple[Outcome, str, float | None, int]] = [
        (Outcome("ended"), ENDED, None, 0),
        (Outcome("waiting", until=99.0), WAITING, 99.0, 0),
        (Outcome("waiting"), WAITING, None, 0),
        (Outcome("handed_back"), READY, 20.0, 0),
        (Outcome("held"), READY, 20.0 + HELD_SECONDS, 0),
        (Outcome("refused", failure=why), REFUSED, None, 0),
        (Outcome("failed", failure=why), READY, 22.0, 1),
    ]
    for outcome, state, due, attempts in table:
        job = settled(taken, outcome, 20.0)
        assert (job.state, job.due, job.attempts) == (state, due, attempts), outcome
        assert (job.holder, job.claim, job.failure) == (None, None, outcome.failure)
    job, pauses = JOB, []
    while job.state != STOPPED:
        job = settled(claimed(job, 0.0, "me", "c"), Outcome("failed", failure=why), 0.0)
        pauses.append(job.due)
    assert pauses == [2.0, 4.0, 8.0, 16.0, None]
    assert job.failure == why
    assert pause(100) == LONGEST_PAUSE
    died = [abandoned(replace(JOB, attempts=attempts), 0.0).due for attempts in (1, 2, 3)]
    assert died == [0.0, 2.0, 6.0], "the first death costs nothing, a run that kills its workers waits"


def test_a_job_is_read_as_it_was_written() -> None:
    """`WRK-1`: and what none of this package wrote is a failure of the store."""
    assert job_of(JOB.data()) == JOB
    assert job_of({**JOB.data(), "of a later version": 1}) == JOB
    bad: list[Any] = [
        None, [], "x", {}, {**JOB.data(), "state": "x"}, {**JOB.data(), "due": "x"},
        {**JOB.data(), "ticks": "3"}, {**JOB.data(), "run_id": 3}, {**JOB.data(), "attempts": None},
    ]  # fmt: skip
    for data in bad:
        with pytest.raises(StoreFailure):
            job_of(data)
