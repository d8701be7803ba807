"""One change per key, on each database (RCV-1 to RCV-7, RCV-11)."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from agentl.receiver import (
    Inbox,
    InboxFailure,
    KeyBusy,
    KeyGone,
    KeyMismatch,
    PostgresInbox,
    ReceiverError,
    SQLiteInbox,
    TransactionMisused,
)
from tests.support.receiving import Service


def test_the_same_request_again_gets_the_first_answer(service: Service) -> None:
    """`RCV-1`, `RCV-3`: one change, two equal answers, from another process's connection too."""
    first = service.pay(service.inbox(), "k1", 5)
    assert service.pay(service.inbox(), "k1", 5) == first == {"account": "alice", "amount": 5}
    assert service.booked() == [("alice", 5)]


def test_two_keys_are_two_requests(service: Service) -> None:
    """`RCV-1`: a key is all that makes a request the same."""
    inbox = service.inbox()
    service.pay(inbox, "k1", 5)
    service.pay(inbox, "k2", 5)
    assert service.booked() == [("alice", 5), ("alice", 5)]


def test_r47_the_same_key_for_another_wish_is_refused(service: Service) -> None:
    """`R47`, `RCV-4`: no change, no old answer; what differs is named. Reordered fields are the same wish."""
    inbox = service.inbox()
    inbox.handle("k", {"amount": 5, "to": "a"}, lambda tx: service.book(tx, "a", 5))
    with pytest.raises(KeyMismatch) as refused:
        inbox.handle("k", {"amount": 6, "to": "a"}, lambda tx: service.book(tx, "a", 6))
    assert refused.value.fields == ("amount",)
    assert refused.value.status == 422
    again = inbox.handle("k", {"to": "a", "amount": 5}, lambda tx: service.book(tx, "a", 5))
    assert again == {"account": "a", "amount": 5}
    assert service.booked() == [("a", 5)]


def test_r47_another_tenant_is_independent(service: Service) -> None:
    """`R47`, `RCV-7`: the same key of another scope is another key."""
    inbox = service.inbox()
    service.pay(inbox, "k", 5, scope="one")
    service.pay(inbox, "k", 6, scope="two")
    assert service.booked() == [("alice", 5), ("alice", 6)]


def test_a_block_that_raises_leaves_nothing(service: Service) -> None:
    """`RCV-2`: neither change nor key; the same request may be sent again."""
    inbox = service.inbox()

    def fails(tx: Any) -> Any:
        service.book(tx, "alice", 5)
        tx.publish("paid", 5)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        inbox.handle("k", {"amount": 5}, fails)
    assert service.booked() == []
    assert inbox.waiting(9) == []
    assert service.pay(inbox, "k", 5)["amount"] == 5
    assert service.booked() == [("alice", 5)]


def test_an_error_of_the_database_in_the_block_is_the_services_own(service: Service) -> None:
    """`RCV-2`: it passes as it is, and everything is taken back."""
    inbox = service.inbox()

    def fails(tx: Any) -> Any:
        service.book(tx, "alice", 5)
        tx.execute("INSERT INTO nowhere VALUES (1)")

    with pytest.raises(Exception, match="nowhere") as raised:
        inbox.handle("k", None, fails)
    assert not isinstance(raised.value, ReceiverError)
    assert service.booked() == []
    service.pay(inbox, "k2", 1)


@pytest.mark.parametrize("how", ["commit", "rollback"])
def test_the_block_cannot_end_the_transaction(service: Service, how: str) -> None:
    """`RCV-2`: neither through the driver nor as a statement; nothing is kept."""
    inbox = service.inbox()

    def through_the_driver(tx: Any) -> None:
        service.book(tx, "alice", 5)
        getattr(tx.connection, how)()

    def swallowed(tx: Any) -> None:
        service.book(tx, "alice", 5)
        try:
            getattr(tx.connection, how)()
        except Exception:
            return

    with pytest.raises(TransactionMisused) as refused:
        inbox.handle("k", None, through_the_driver)
    assert refused.value.code == "receiver.ended_inside"
    assert service.booked() == []
    if service.on_file:
        with pytest.raises(TransactionMisused):
            inbox.handle("k", None, swallowed)
        assert service.booked() == []


@pytest.mark.parametrize("statement", ["COMMIT", "ROLLBACK", "END"])
def test_a_statement_that_ends_the_transaction_is_noticed(service: Service, statement: str) -> None:
    """`RCV-2`: the service hears of it, whatever the database let through."""
    inbox = service.inbox()
    with pytest.raises(TransactionMisused):
        inbox.handle("k", None, lambda tx: tx.execute(statement) and None)


def test_savepoints_are_the_services_own(service: Service) -> None:
    """`RCV-2`: a part of the change may be taken back."""

    def partly(tx: Any) -> Any:
        service.book(tx, "alice", 1)
        tx.execute("SAVEPOINT here")
        service.book(tx, "alice", 2)
        tx.execute("ROLLBACK TO SAVEPOINT here")
        return "kept"

    assert service.inbox().handle("k", None, partly) == "kept"
    assert service.booked() == [("alice", 1)]


def test_who_was_answered_cannot_change_anything(service: Service) -> None:
    """`RCV-3`: a handler that forgets to look at ``fresh`` is refused, not obeyed."""
    inbox = service.inbox()
    service.pay(inbox, "k", 5)
    with (
        pytest.raises(TransactionMisused) as refused,
        inbox.once("k", {"amount": 5}) as tx,
    ):
        service.book(tx, "alice", 5)
    assert refused.value.code == "receiver.answered"
    with pytest.raises(TransactionMisused), inbox.once("k", {"amount": 5}) as tx:
        tx.answer = 1
    with pytest.raises(TransactionMisused), inbox.once("k", {"amount": 5}) as tx:
        tx.publish("again", 1)
    assert service.booked() == [("alice", 5)]


def test_the_transaction_ends_with_its_block(service: Service) -> None:
    """`RCV-2`: what was handed out cannot be used behind the commit."""
    inbox = service.inbox()
    with inbox.once("k") as tx:
        tx.answer = 1
    with pytest.raises(TransactionMisused):
        service.book(tx, "alice", 5)


@pytest.mark.parametrize("answer", [float("nan"), {1: 2}, object(), b"x"])
def test_an_answer_that_cannot_be_kept_keeps_nothing(service: Service, answer: Any) -> None:
    """`RCV-3`: the change is not made either."""
    inbox = service.inbox()

    def work(tx: Any) -> Any:
        service.book(tx, "alice", 5)
        return answer

    with pytest.raises(ReceiverError) as refused:
        inbox.handle("k", None, work)
    assert refused.value.code == "receiver.answer_form"
    assert service.booked() == []


def test_an_answer_comes_back_as_it_was(service: Service) -> None:
    """`RCV-3`: every JSON value, absent ones too."""
    inbox = service.inbox()
    for number, answer in enumerate(
        [None, True, 0, -1.5, "é🙂\u2028", [], {"a": [None, {"b": ""}]}, "x" * 100_000]
    ):
        key = f"k{number}"
        assert inbox.handle(key, None, lambda _tx, answer=answer: answer) == answer
        assert inbox.handle(key, None, lambda _tx: "other") == answer


def test_retention_leaves_the_key_refused(service: Service) -> None:
    """`RCV-6`: the answer is forgotten, the key is not; another wish is still told apart."""
    now = [1000.0]
    inbox = service.inbox(clock=lambda: now[0])
    service.pay(inbox, "old", 5)
    now[0] += 100
    service.pay(inbox, "new", 6)
    assert inbox.expire(50) == 1
    assert inbox.expire(50) == 0
    with pytest.raises(KeyGone) as gone:
        service.pay(inbox, "old", 5)
    assert gone.value.status == 410
    with pytest.raises(KeyMismatch) as differs:
        service.pay(inbox, "old", 7)
    assert differs.value.fields == ()
    assert service.pay(inbox, "new", 6)["amount"] == 6
    assert service.booked() == [("alice", 5), ("alice", 6)]


def test_sixty_four_at_once_make_one_change(service: Service) -> None:
    """`RCV-1`, `RCV-5`: one effect, and everybody else the same answer or a conflict."""
    inboxes = [service.inbox(wait=20.0) for _ in range(8)]
    start = threading.Barrier(64)
    worked: list[int] = []

    def request(number: int) -> str:
        def work(tx: Any) -> Any:
            worked.append(number)
            return service.book(tx, "alice", 5)

        start.wait()
        try:
            return repr(inboxes[number % 8].handle("k", {"amount": 5}, work))
        except KeyBusy:
            return "busy"

    with ThreadPoolExecutor(64) as pool:
        told = Counter(pool.map(request, range(64)))
    assert service.booked() == [("alice", 5)]
    assert len(worked) == 1
    assert set(told) <= {"{'account': 'alice', 'amount': 5}", "busy"}
    assert told["{'account': 'alice', 'amount': 5}"] >= 1


def test_other_keys_go_on_beside_a_slow_one(service: Service) -> None:
    """`RCV-5`, `RCV-11`: on PostgreSQL; SQLite has one writer, and says so."""
    slow, quick = service.inbox(), service.inbox(wait=0.02)
    with slow.once("k1") as tx:
        tx.answer = 1
        if service.on_file:
            with pytest.raises(KeyBusy):
                service.pay(quick, "k2", 5)
        else:
            assert service.pay(quick, "k2", 5)["amount"] == 5


def test_what_is_answered_is_told_while_others_write(service: Service) -> None:
    """`RCV-3`: a stored answer needs no writer's place."""
    inbox, quick = service.inbox(), service.inbox(wait=0.02)
    service.pay(inbox, "k1", 5)
    with inbox.once("k2") as tx:
        tx.answer = 1
        assert service.pay(quick, "k1", 5)["amount"] == 5


def test_a_database_that_cannot_be_used_is_said_in_one_sentence(service: Service, tmp_path: Any) -> None:
    """`RCV-11`: status 503, and the key may be tried again."""
    broken: list[Inbox] = (
        [SQLiteInbox(tmp_path)]
        if service.on_file
        else [
            PostgresInbox("postgresql://nobody@127.0.0.1:1/none"),
            PostgresInbox("not a dsn"),
        ]
    )
    if service.on_file:
        (tmp_path / "text.db").write_text("this is no database, but long enough to look like one" * 40)
        broken.append(SQLiteInbox(tmp_path / "text.db"))
    for inbox in broken:
        with pytest.raises(InboxFailure) as failed:
            service.pay(inbox, "k", 5)
        assert failed.value.status == 503
        assert "\n" not in str(failed.value)
