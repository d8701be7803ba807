"""For each mutant of ``formal/MutReceiver.tla`` the same fault in the code, and a script that meets it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import pytest

from agentl.receiver import Delivered, Message, Outbox, SQLiteInbox, inbox
from agentl.receiver.inbox import Inbox, Once
from tests.support.receiver_driver import Driver, Killed

Plant = Callable[[pytest.MonkeyPatch], None]
Script = Callable[[Driver], None]
CODE: dict[str, tuple[Plant, Script]] = {}


def twin(script: Script) -> Callable[[Plant], Plant]:
    """Register the twin of the model mutant that has this name, with the script that must see it."""

    def register(plant: Plant) -> Plant:
        CODE[plant.__name__] = (plant, script)
        return plant

    return register


class _Unguarded:
    def close_block(self) -> None:
        pass


def _race(driver: Driver) -> None:
    driver.open("k", 1)
    driver.request("k", 1)
    driver.finish()


def _lost_answer(driver: Driver) -> None:
    driver.dies("k", 1, "behind")
    driver.request("k", 1)


def _lost_change(driver: Driver) -> None:
    driver.dies("k", 1, "before")
    driver.request("k", 1)


def _other_wish(driver: Driver) -> None:
    driver.request("k", 1)
    driver.request("k", 2)


def _late_retry(driver: Driver) -> None:
    driver.request("k", 1)
    driver.expire()
    driver.request("k", 1)


def _message(driver: Driver) -> None:
    driver.request("k", 1)
    driver.never_leaves()
    driver.deliver(dies=True)
    driver.deliver(dies=False)


SCRIPTS: tuple[Script, ...] = (_race, _lost_answer, _lost_change, _other_wish, _late_retry, _message)


@twin(_race)
def ChecksThenWrites(patch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def transaction(_self: SQLiteInbox, _connection: Any, _key: str) -> Iterator[Any]:
        yield _Unguarded()

    real = SQLiteInbox.complete

    def complete(
        self: SQLiteInbox, connection: Any, scope: str, key: str, answer: str, messages: Any
    ) -> None:
        connection.execute(
            "INSERT OR REPLACE INTO agentl_inbox (scope, key, state, fingerprint, worker) "
            "VALUES (?, ?, 'done', '', '')",
            (scope, key),
        )
        real(self, connection, scope, key, answer, messages)

    patch.setattr(SQLiteInbox, "transaction", transaction)
    patch.setattr(SQLiteInbox, "claim", lambda *_: True)
    patch.setattr(SQLiteInbox, "complete", complete)


@twin(_lost_answer)
def KeyAtEnd(patch: pytest.MonkeyPatch) -> None:
    real, claim = Inbox.once, SQLiteInbox.claim

    @contextmanager
    def once(self: Inbox, key: str, params: Any = None, *, scope: str = "") -> Iterator[Once]:
        with real(self, key, params, scope=scope) as tx:
            fresh = tx.fresh
            yield tx
        if fresh:
            connection = self.connect()
            claim(self, connection, scope, key, inbox.fingerprint(params))  # type: ignore[arg-type]
            connection.close()

    patch.setattr(Inbox, "once", once)
    patch.setattr(SQLiteInbox, "claim", lambda *_: True)


@twin(_lost_change)
def KeyOutside(patch: pytest.MonkeyPatch) -> None:
    real, claim = SQLiteInbox.transaction, SQLiteInbox.claim
    asked = inbox.fingerprint({"amount": 1})

    @contextmanager
    def transaction(self: SQLiteInbox, connection: Any, key: str) -> Iterator[Any]:
        claim(self, connection, "", key, asked)
        with real(self, connection, key) as guard:
            yield guard

    patch.setattr(SQLiteInbox, "transaction", transaction)
    patch.setattr(SQLiteInbox, "claim", lambda *_: True)


@twin(_other_wish)
def ParamsNotCompared(patch: pytest.MonkeyPatch) -> None:
    real = inbox.ruling
    patch.setattr(inbox, "ruling", lambda state, _same: real(state, True))


@twin(_late_retry)
def ForgetsExpired(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        inbox, "_EXPIRE", "DELETE FROM agentl_inbox WHERE ? <> state AND state = ? AND completed <= ?"
    )


@twin(_lost_change)
def AnswersEarly(patch: pytest.MonkeyPatch) -> None:
    real = Inbox.handle

    def handle(self: Inbox, key: str, params: Any, work: Callable[[Once], Any], *, scope: str = "") -> Any:
        said: list[Any] = []

        def heard(tx: Once) -> Any:
            said.append(work(tx))
            return said[0]

        try:
            return real(self, key, params, heard, scope=scope)
        except Killed:
            return said[0]

    patch.setattr(Inbox, "handle", handle)


@twin(_message)
def NotesNothing(patch: pytest.MonkeyPatch) -> None:
    real = SQLiteInbox.complete

    def complete(
        self: SQLiteInbox, connection: Any, scope: str, key: str, answer: str, _messages: Any
    ) -> None:
        real(self, connection, scope, key, answer, ())

    patch.setattr(SQLiteInbox, "complete", complete)


@twin(_message)
def MarksFirst(patch: pytest.MonkeyPatch) -> None:
    real = Outbox.deliver

    def deliver(self: Outbox, send: Callable[[Message], Any], *, limit: int = 100) -> Delivered:
        for message_id, _, _ in (waiting := self.inbox.waiting(limit)):
            self.inbox.mark(message_id, None)
        patched = self.inbox
        patch.setattr(patched, "waiting", lambda _limit: waiting)
        try:
            return real(self, send, limit=limit)
        finally:
            patch.delattr(patched, "waiting")

    patch.setattr(Outbox, "deliver", deliver)


@twin(_message)
def ConsumesAgain(patch: pytest.MonkeyPatch) -> None:
    numbers = count()
    real = Outbox.deliver

    def deliver(self: Outbox, send: Callable[[Message], Any], *, limit: int = 100) -> Delivered:
        def renamed(message: Message) -> None:
            send(Message(f"{message.id}-{next(numbers)}", message.topic, message.payload))

        return real(self, renamed, limit=limit)

    patch.setattr(Outbox, "deliver", deliver)
