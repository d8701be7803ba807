"""Drives a real inbox and outbox beside a few lines that say what must come out.

The lines are ``Expected``, which imports nothing of the package. Both the state machine and the planted
faults use the driver: what the one explores at random, a script of the other does step by step.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from agentl.receiver import (
    KeyBusy,
    KeyGone,
    KeyMismatch,
    Message,
    Once,
    Outbox,
    ReceiverError,
    SQLiteInbox,
)
from tests.support.receiving import Service


class Killed(BaseException):
    """The process is gone: nobody hears of it."""


@dataclass
class Expected:
    """What an inbox with one writer must do."""

    rows: dict[str, tuple[str, int]] = field(default_factory=dict)
    changes: list[tuple[str, int]] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    consumed: list[str] = field(default_factory=list)
    held: tuple[str, int] | None = None

    def asked(self, key: str, amount: int) -> str:
        """``claim``, or what a request is told."""
        if key in self.rows:
            state, kept = self.rows[key]
            return "mismatch" if kept != amount else "gone" if state == "tombstone" else "done"
        return "busy" if self.held is not None else "claim"

    def commit(self, key: str, amount: int) -> None:
        self.rows[key] = ("done", amount)
        self.changes.append((key, amount))
        self.waiting.append(key)

    def expire(self) -> None:
        self.rows = {key: ("tombstone", amount) for key, (_, amount) in self.rows.items()}


class DyingInbox(SQLiteInbox):
    """Dies at a named point: ``before`` the commit, or ``behind`` it."""

    point = ""

    @contextmanager
    def transaction(self, connection: Any, key: str) -> Iterator[Any]:
        with super().transaction(connection, key) as guard:
            yield guard
            if self.point == "before":
                raise Killed
        if self.point == "behind":
            raise Killed


class Driver:
    """One service, its clients, and the consumer of its messages."""

    def __init__(self, service: Service, consumer: Service) -> None:
        self.service = service
        self.expected = Expected()
        self.inbox = SQLiteInbox(service.place, wait=0.0, worker="driver")
        self.consumer = SQLiteInbox(consumer.place, wait=0.0, worker="consumer")
        self.consumers = consumer
        self._open: tuple[AbstractContextManager[Once], Once] | None = None

    def close(self) -> None:
        if self._open is not None:
            self._drop(self._open[0])
        self.inbox.close()
        self.consumer.close()

    def _work(self, tx: Once, key: str, amount: int) -> int:
        self.service.book(tx, key, amount)
        tx.publish("paid", key)
        return amount

    def _told(self, inbox: SQLiteInbox, key: str, amount: int) -> str:
        """One request, and what its client hears: a word; ``silence`` when the service died."""
        try:
            answer = inbox.handle(key, {"amount": amount}, lambda tx: self._work(tx, key, amount))
        except Killed:
            return "silence"
        except KeyMismatch:
            return "mismatch"
        except KeyGone:
            return "gone"
        except KeyBusy:
            return "busy"
        assert answer == amount, f"{key} asked for {amount} and was told {answer}"
        return "done"

    def request(self, key: str, amount: int) -> None:
        """`Claim`, `Commit`, `Answer`; or `Replay`, `Mismatch`, `Gone`, `Busy`."""
        must = self.expected.asked(key, amount)
        assert self._told(self.inbox, key, amount) == ("done" if must == "claim" else must)
        if must == "claim":
            self.expected.commit(key, amount)
        self.compare()

    def dies(self, key: str, amount: int, point: str) -> None:
        """`Crash`, on either side of the commit."""
        dying = DyingInbox(self.service.place, wait=0.0, worker="dying")
        dying.point = point
        must = self.expected.asked(key, amount)
        told = self._told(dying, key, amount)
        dying.close()
        assert told == ("silence" if must == "claim" else must)
        if must == "claim" and point == "behind":
            self.expected.commit(key, amount)
        self.compare()

    def fails(self, key: str, amount: int) -> None:
        """`Rollback`: the service raises."""
        if self.expected.asked(key, amount) != "claim":
            return

        def work(tx: Once) -> None:
            self._work(tx, key, amount)
            raise ZeroDivisionError

        try:
            self.inbox.handle(key, {"amount": amount}, work)
        except ZeroDivisionError:
            pass
        else:
            raise AssertionError("the failure was swallowed")
        self.compare()

    def open(self, key: str, amount: int) -> None:
        """`Claim`, and stay inside."""
        if self.expected.asked(key, amount) != "claim":
            return
        block = self.inbox.once(key, {"amount": amount})
        tx = block.__enter__()
        tx.answer = self._work(tx, key, amount)
        self._open = (block, tx)
        self.expected.held = (key, amount)

    def finish(self) -> None:
        """`Commit` of the one that stayed inside."""
        if self._open is None or self.expected.held is None:
            return
        block, _ = self._open
        self._open = None
        block.__exit__(None, None, None)
        self.expected.commit(*self.expected.held)
        self.expected.held = None
        self.compare()

    def abandon(self) -> None:
        """`Crash` of the one that stayed inside."""
        if self._open is None:
            return
        self._drop(self._open[0])
        self._open = None
        self.expected.held = None
        self.compare()

    @staticmethod
    def _drop(block: AbstractContextManager[Once]) -> None:
        with suppress(Killed):
            block.__exit__(Killed, Killed(), None)

    def expire(self) -> None:
        """`Expire` of every key that was answered."""
        if self.expected.held is None:
            self.inbox.expire(-1.0)
            self.expected.expire()
            self.compare()

    def deliver(self, *, dies: bool) -> None:
        """`Deliver` and `Mark`; or death between the two."""
        if self.expected.held is not None:
            return

        def send(message: Message) -> None:
            self._consume(message)
            if dies:
                raise Killed

        with suppress(Killed):
            Outbox(self.inbox).deliver(send)
        arrived = self.expected.waiting[:1] if dies else list(self.expected.waiting)
        self.expected.consumed += [key for key in arrived if key not in self.expected.consumed]
        if not dies:
            self.expected.waiting = []
        self.compare()

    def never_leaves(self) -> None:
        """Death before the message left: `Mark` must not have come first."""
        if self.expected.held is not None:
            return

        def send(_message: Message) -> None:
            raise Killed

        with suppress(Killed):
            Outbox(self.inbox).deliver(send)
        self.compare()

    def _consume(self, message: Message) -> None:
        def work(tx: Once) -> None:
            self.consumers.book(tx, message.payload, 1)

        self.consumer.handle(message.id, message.payload, work)

    def compare(self) -> None:
        """What is in the database, seen from outside, is what was expected."""
        if self.expected.held is not None:
            return
        expected = self.expected
        assert self.service.booked() == expected.changes
        rows = self.service.sql("SELECT key, state FROM agentl_inbox")
        assert sorted(rows) == sorted((key, state) for key, (state, _) in expected.rows.items())
        waiting = self.service.sql("SELECT payload FROM agentl_outbox WHERE sent IS NULL ORDER BY number")
        assert [payload.strip('"') for (payload,) in waiting] == expected.waiting
        consumed = self.consumers.booked()
        assert sorted(name for name, _ in consumed) == sorted(expected.consumed)


def driver_in(folder: Any) -> Driver:
    """A driver on a new database in ``folder``."""
    service, consumer = Service(str(folder / "service.db")), Service(str(folder / "consumer.db"))
    service.open_books()
    consumer.open_books()
    driver = Driver(service, consumer)
    driver.inbox.waiting(1)  # creates the tables
    return driver


__all__ = ["Driver", "Expected", "Killed", "ReceiverError", "driver_in"]
