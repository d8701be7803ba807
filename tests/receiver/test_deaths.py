"""A service that is killed or stopped at the worst moment (RCV-1 to RCV-3, RCV-11)."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

from agentl.receiver import Once
from tests.support.receiving import Service, Worker, at, remove


@pytest.mark.parametrize("point", ["claimed", "changed"])
def test_killed_before_the_commit_nothing_is_left(service: Service, point: str) -> None:
    """`RCV-2`: neither key nor change; the retry does it."""
    worker = Worker(service, "k", point)
    assert worker.end(signal.SIGKILL) == b""
    assert service.booked() == []
    assert service.pay(service.inbox(), "k", 5) == {"account": "alice", "amount": 5}
    assert service.booked() == [("alice", 5)]


def test_killed_between_commit_and_answer_the_retry_is_told(service: Service) -> None:
    """`RCV-3`: the stored answer, and no second change."""
    worker = Worker(service, "k", "committed")
    assert worker.end(signal.SIGKILL) == b""

    def never(_tx: Once) -> Any:
        raise AssertionError("it was done before")

    assert service.inbox().handle("k", {"amount": 5}, never) == {"account": "alice", "amount": 5}
    assert service.booked() == [("alice", 5)]


def test_a_connection_that_is_cut_inside_takes_everything_back(service: Service) -> None:
    """`RCV-2`, `RCV-11`: the server ends it, the service hears of it, the retry does the work."""
    if service.on_file:
        # Nobody else can cut the connection to a file: the nearest is that it is closed under the block.
        cut = lambda tx: tx.connection.close()  # noqa: E731 - one line beside its twin
    else:
        from tests.support.postgres import server

        cut = lambda _tx: server().cut(service.place)  # noqa: E731
    inbox = service.inbox()

    def work(tx: Once) -> Any:
        answer = service.book(tx, "alice", 5)
        cut(tx)
        return answer

    with pytest.raises(Exception, match=r"."):
        inbox.handle("k", {"amount": 5}, work)
    assert service.booked() == []
    assert service.pay(inbox, "k", 5)["amount"] == 5
    assert service.booked() == [("alice", 5)]


def test_idle_connections_that_were_cut_cost_nothing(tmp_path: Path) -> None:
    """`RCV-11`: an operator or a proxy ends them all; the next request makes a new one."""
    from tests.support.postgres import server

    service = at("postgres", tmp_path)
    inbox = service.inbox()
    service.pay(inbox, "k1", 5)
    server().cut(service.place)
    assert service.pay(inbox, "k2", 5)["amount"] == 5
    server().cut(service.place)
    assert inbox.expire(1000) == 0
    assert service.booked() == [("alice", 5), ("alice", 5)]
    remove(service)
