"""What must be told to others leaves behind the commit, at least once (RCV-8, RCV-9)."""

from __future__ import annotations

from typing import Any

import pytest

from agentl.receiver import Delivered, Inbox, Message, Outbox, ReceiverError
from tests.support.receiving import Service


def order(service: Service, inbox: Inbox, key: str = "k") -> Any:
    """A request that books, and tells two others."""

    def work(tx: Any) -> Any:
        service.book(tx, "alice", 5)
        return [tx.publish("ship", {"key": key}), tx.publish("bill", {"amount": 5})]

    return inbox.handle(key, None, work)


def test_a_message_leaves_behind_the_commit_and_once_when_all_goes_well(service: Service) -> None:
    """`RCV-8`, `RCV-9`: in the order in which they were written down, under the ids the block was given."""
    inbox = service.inbox()
    ids = order(service, inbox)
    sent: list[Message] = []
    assert Outbox(inbox).deliver(sent.append) == Delivered(sent=2, failed=0)
    assert sent == [Message(ids[0], "ship", {"key": "k"}), Message(ids[1], "bill", {"amount": 5})]
    assert Outbox(inbox).deliver(sent.append) == Delivered(sent=0, failed=0)


def test_ids_are_those_of_the_request_not_of_the_attempt(service: Service) -> None:
    """`RCV-8`: tried again after a failure, the same; of another key, or another scope, others."""
    inbox = service.inbox()
    ids: list[str] = []

    def fails(tx: Any) -> Any:
        ids.append(tx.publish("t", 1))
        raise ZeroDivisionError

    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            inbox.handle("k", None, fails)
    assert ids[0] == ids[1]
    assert inbox.handle("k", None, lambda tx: tx.publish("t", 1)) == ids[0]
    assert inbox.handle("k2", None, lambda tx: tx.publish("t", 1)) != ids[0]
    assert inbox.handle("k", None, lambda tx: tx.publish("t", 1), scope="s") != ids[0]


def test_a_transport_that_fails_leaves_the_message_waiting(service: Service) -> None:
    """`RCV-9`: the others go on, the cause is kept, and the next call tries again."""
    inbox = service.inbox()
    order(service, inbox)

    def send(message: Message) -> None:
        if message.topic == "ship":
            raise ConnectionError("no\nroute\0")

    assert Outbox(inbox).deliver(send) == Delivered(sent=1, failed=1)
    assert [topic for _, topic, _ in inbox.waiting(9)] == ["ship"]
    [(attempts, error)] = service.sql("SELECT attempts, error FROM agentl_outbox WHERE sent IS NULL")
    assert attempts == 1
    assert error.startswith("ConnectionError: no")
    assert Outbox(inbox).deliver(lambda _message: None) == Delivered(sent=1, failed=0)
    assert service.sql("SELECT count(*) FROM agentl_outbox WHERE error IS NOT NULL") == [(0,)]


def test_who_dies_between_delivery_and_mark_delivers_again_and_the_consumer_acts_once(
    service: Service,
) -> None:
    """`RCV-9`: at least once, and the consumer's inbox makes it once."""
    inbox = service.inbox()
    order(service, inbox)
    arrived: list[str] = []

    def consume(message: Message) -> None:
        arrived.append(message.id)
        inbox.handle(
            message.id, message.payload, lambda tx: service.book(tx, message.topic, 1), scope="consumer"
        )

    class Killed(BaseException):
        pass

    def dies(message: Message) -> None:
        consume(message)
        raise Killed

    with pytest.raises(Killed):
        Outbox(inbox).deliver(dies)
    assert Outbox(inbox).deliver(consume) == Delivered(sent=2, failed=0)
    assert len(arrived) == 3
    assert sorted(service.booked()) == [("alice", 5), ("bill", 1), ("ship", 1)]


def test_no_more_than_asked_for(service: Service) -> None:
    """`RCV-9`: the oldest first."""
    inbox = service.inbox()
    for number in range(5):
        order(service, inbox, f"k{number}")
    sent: list[Message] = []
    assert Outbox(inbox).deliver(sent.append, limit=3) == Delivered(sent=3, failed=0)
    assert [message.topic for message in sent] == ["ship", "bill", "ship"]


def test_a_payload_that_is_no_json_keeps_nothing(service: Service) -> None:
    """`RCV-8`."""
    inbox = service.inbox()

    def work(tx: Any) -> Any:
        service.book(tx, "alice", 5)
        tx.publish("t", {1: 2})

    with pytest.raises(ReceiverError):
        inbox.handle("k", None, work)
    assert service.booked() == []
