"""R49: a claim belongs to its owner, and a late owner cannot complete another's (RCV-5)."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentl.receiver import KeyBusy
from tests.support.receiving import DATABASES, Service, Worker, at, remove


@pytest.fixture(params=DATABASES)
def service(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Service]:
    made = at(request.param, tmp_path)
    yield made
    remove(made)


def test_r49_a_slow_request_keeps_its_claim(service: Service) -> None:
    """`R49`, `RCV-5`: retries during it are told to wait, however long it takes; it completes its own."""
    slow, retrying = service.inbox(worker="slow"), service.inbox(wait=0.02, worker="retry")
    with slow.once("k", {"amount": 5}) as tx:
        for _ in range(3):
            with pytest.raises(KeyBusy) as busy:
                service.pay(retrying, "k", 5)
            assert busy.value.status == 409
        tx.answer = service.book(tx, "alice", 5)
    assert service.pay(retrying, "k", 5) == {"account": "alice", "amount": 5}
    assert service.booked() == [("alice", 5)]
    assert service.sql("SELECT worker FROM agentl_inbox") == [("slow",)]


def test_r49_a_worker_that_sleeps_loses_nothing_and_takes_nothing(service: Service) -> None:
    """`R49`, `RCV-5`: stopped inside, retried meanwhile, woken: one change, completed by its owner."""
    worker = Worker(service, "k", "changed")
    os.kill(worker.process, signal.SIGSTOP)
    with pytest.raises(KeyBusy):
        service.pay(service.inbox(wait=0.05, worker="the retry"), "k", 5)
    os.kill(worker.process, signal.SIGCONT)
    assert worker.end(None) == b"!"
    assert service.pay(service.inbox(worker="the retry"), "k", 5) == {"account": "alice", "amount": 5}
    assert service.booked() == [("alice", 5)]
    assert service.sql("SELECT worker FROM agentl_inbox") == [("the slow one",)]
