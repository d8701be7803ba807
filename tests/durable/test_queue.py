"""Every kind of queue proposes the same runs, to one worker each (`WRK-1`, `WRK-2`, `WRK-5`, `WRK-6`)."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentl.durable import DurableError
from agentl.durable.address import collection_at
from agentl.durable.queue.base import Queue
from agentl.durable.queue.jobs import Job, Outcome
from agentl.durable.queue.places import queue_at
from agentl.durable.requests import Decision, Request
from agentl.durable.stores.process import this_process

ME = str(this_process())
DEAD = ME.replace(" start ", " start 1")
ELSEWHERE = "other pid 7 start 1 space elsewhere"


@pytest.fixture(params=["directory", "sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgres":
        return str(request.getfixturevalue("database"))
    return str(tmp_path / "runs") if request.param == "directory" else f"sqlite:{tmp_path / 'runs.db'}"


@pytest.fixture
def queue(place: str) -> Any:
    found = queue_at(place)
    yield found
    found.close()


def job(run_id: str, **more: Any) -> Job:
    return Job(run_id, "/programs/a.agent", "0" * 64, **more)


def ids(jobs: list[Job]) -> list[str]:
    return sorted(one.run_id for one in jobs)


def test_a_run_is_given_to_one_worker(queue: Queue, place: str) -> None:
    """`WRK-1`, `WRK-2`: submitted once, claimed once, settled by who claimed it."""
    assert queue.jobs() == []
    for run_id in ("a/b", "a:b", "B", "b"):
        queue.submit(job(run_id))
        queue.submit(job(run_id))
    other = queue_at(place)
    mine, his = queue.claim(ME, 3), other.claim(ELSEWHERE, 9)
    assert ids(mine + his) == ["B", "a/b", "a:b", "b"]
    assert len(mine) == 3
    assert queue.claim(ME, 9) == []
    assert queue.settle(replace(mine[0], claim="somebody else"), Outcome("ended")) is None
    done = queue.settle(mine[0], Outcome("ended"))
    assert done is not None
    assert done.state == "ended"
    assert queue.settle(mine[0], Outcome("ended")) is None
    assert ids([one for one in queue.jobs() if one.state == "claimed"]) == ids([*mine[1:], *his])
    other.close()


def test_a_claim_ends_by_time_or_death(queue: Queue) -> None:
    """`WRK-2`: of a worker that is silent; or at once of one that is known to be dead, on this machine."""
    queue.submit(job("silent"))
    assert ids(queue.claim(ELSEWHERE, 1, seconds=0.0)) == ["silent"]
    (taken,) = queue.claim(ME, 1, seconds=0.0)
    queue.renew([taken])
    assert queue.claim(ME, 1) == []
    queue.submit(job("dead"))
    queue.submit(job("distant"))
    assert ids(queue.claim(DEAD, 1)) == ["dead"]
    assert ids(queue.claim(ELSEWHERE, 1)) == ["distant"]
    assert ids(queue.claim(ME, 9)) == ["dead"], "of another machine nothing is known"


def test_a_run_that_kills_its_workers_waits_longer(queue: Queue) -> None:
    """`WRK-4`: the first death is followed at once, later ones are not, and then it is stopped."""
    queue.submit(job("poison"))
    assert len(queue.claim(DEAD, 1)) == 1
    assert len(queue.claim(DEAD, 1)) == 1
    assert queue.claim(ME, 1) == []
    (waits,) = queue.jobs()
    assert (waits.state, waits.attempts) == ("ready", 2)
    left = queue.next_due()
    assert left is not None
    assert 0 < left <= 2.0


def test_an_answer_makes_a_run_due(queue: Queue, place: str) -> None:
    """`WRK-2`, `PRK-3`: not before; and a deadline does without one."""
    for run_id in ("asked", "timed"):
        queue.submit(job(run_id))
    for one in queue.claim(ME, 9):
        book = collection_at(place).store(one.run_id).requests  # type: ignore[attr-defined]
        book.post(Request(one.run_id, "q", "approval", "act", "a", "d", asked_at="2026-11-30T10:00:00+00:00"))
        queue.settle(one, Outcome("waiting", until=None if one.run_id == "asked" else time.time() - 1.0))
    assert ids(queue.claim(ME, 9)) == ["timed"]
    book = collection_at(place).store("asked").requests  # type: ignore[attr-defined]
    book.decide("q", Decision("approved", "ada", "2026-11-30T11:00:00+00:00"))
    assert ids(queue.claim(ME, 9)) == ["asked"]


def test_another_program_under_the_same_id(queue: Queue) -> None:
    """`WRK-1`: is refused, and what stands stays."""
    queue.submit(job("r"))
    with pytest.raises(DurableError) as refused:
        queue.submit(Job("r", "/programs/b.agent", "1" * 64))
    assert refused.value.code == "worker.other_program"
    assert [one.file for one in queue.jobs()] == ["/programs/a.agent"]


def test_who_waits_is_woken(queue: Queue, place: str) -> None:
    """`WRK-5`: by a submission from elsewhere, and by its own bell; long before the time is over."""
    queue.submit(job("first"))
    queue.claim(ME, 1)
    ear, bell = os.pipe()
    woken = threading.Event()

    def wait() -> None:
        queue.wait(60.0, ear)
        woken.set()

    thread = threading.Thread(target=wait)
    thread.start()
    other = queue_at(place)
    other.submit(job("second"))
    assert woken.wait(30)
    thread.join()
    woken.clear()
    thread = threading.Thread(target=wait)
    thread.start()
    os.write(bell, b"!")
    assert woken.wait(30)
    thread.join()
    other.close()
    for descriptor in (ear, bell):
        os.close(descriptor)


def test_many_workers_share_a_queue(place: str) -> None:
    """`WRK-2`: every run is taken by exactly one of them."""
    first = queue_at(place)
    for number in range(40):
        first.submit(job(f"r{number:02d}"))
    taken: list[list[str]] = [[] for _ in range(4)]

    def work(mine: list[str]) -> None:
        queue = queue_at(place)
        while found := queue.claim(ME, 3):
            mine.extend(one.run_id for one in found)
        queue.close()

    threads = [threading.Thread(target=work, args=(mine,)) for mine in taken]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    mopped = [one.run_id for one in first.claim(ME, 40)]
    assert sorted([*mopped, *(run_id for mine in taken for run_id in mine)]) == [
        f"r{n:02d}" for n in range(40)
    ]
    first.close()
