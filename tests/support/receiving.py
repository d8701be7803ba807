"""A service with an inbox, on each database: the books it keeps decide whether a change was doubled."""

from __future__ import annotations

import os
import select
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from agentl.receiver import Inbox, Once, PostgresInbox, SQLiteInbox

DATABASES = ("sqlite", "postgres")


class Service:
    """Books amounts under keys. ``place`` is a SQLite file or the address of a PostgreSQL database."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.on_file = "://" not in place
        self._inboxes: list[Inbox] = []

    def inbox(self, **options: Any) -> Inbox:
        """A new inbox on the database."""
        made = SQLiteInbox(self.place, **options) if self.on_file else PostgresInbox(self.place, **options)
        self._inboxes.append(made)
        return made

    def close(self) -> None:
        """Close every connection."""
        for inbox in self._inboxes:
            inbox.close()

    @contextmanager
    def _connection(self) -> Iterator[Any]:
        if self.on_file:
            with closing(sqlite3.connect(self.place, isolation_level=None)) as connection:
                yield connection
        else:
            import psycopg

            with psycopg.connect(self.place, autocommit=True) as connection:
                yield connection

    def sql(self, statement: str) -> list[tuple[Any, ...]]:
        """One statement, from outside."""
        with self._connection() as connection:
            done = connection.execute(statement)
            return list(done.fetchall()) if done.description is not None else []

    def open_books(self) -> None:
        """Create the table of the service."""
        self.sql("CREATE TABLE IF NOT EXISTS booked (account TEXT NOT NULL, amount INTEGER NOT NULL)")

    def book(self, tx: Once, account: str, amount: int) -> dict[str, Any]:
        """The change; gives its answer."""
        sign = "?" if self.on_file else "%s"
        tx.execute(f"INSERT INTO booked VALUES ({sign}, {sign})", (account, amount))
        return {"account": account, "amount": amount}

    def booked(self) -> list[tuple[str, int]]:
        """Everything in the books."""
        return [(str(account), int(amount)) for account, amount in self.sql("SELECT * FROM booked")]

    def pay(self, inbox: Inbox, key: str, amount: int, *, scope: str = "") -> Any:
        """One request, as a handler makes it."""
        return inbox.handle(key, {"amount": amount}, lambda tx: self.book(tx, "alice", amount), scope=scope)


def at(kind: str, folder: Path) -> Service:
    """A new service on a database of that kind; the test is skipped where there is no server."""
    if kind == "sqlite":
        service = Service(str(folder / "service.db"))
    else:
        from tests.support.postgres import server

        service = Service(server().database())
    service.open_books()
    return service


def remove(service: Service) -> None:
    """Remove what ``at`` made."""
    service.close()
    if not service.on_file:
        from tests.support.postgres import server

        server().empty(service.place)


class Worker:
    """A request in a forked process that stops at a named point until it is told to go on, or killed."""

    def __init__(self, service: Service, key: str, stops_at: str) -> None:
        here, there = os.pipe(), os.pipe()
        self.process = os.fork()
        if self.process:
            os.close(here[1])
            os.close(there[0])
            self._tells, self._told = here[0], there[1]
            assert self._read() == b"."  # it has come to its point
            return
        try:  # the child
            os.close(here[0])
            os.close(there[1])

            def point(name: str) -> None:
                if name == stops_at:
                    os.write(here[1], b".")
                    os.read(there[0], 1)

            _request(service, key, point)
            os.write(here[1], b"!")
        finally:
            os._exit(0)

    def _read(self) -> bytes:
        ready, _, _ = select.select([self._tells], [], [], 30)
        assert ready, "the worker does not answer"
        return os.read(self._tells, 1)

    def end(self, how: signal.Signals | None) -> bytes:
        """Kill it, or let it go on to its end; gives what it says."""
        if how is None:
            os.write(self._told, b".")
        else:
            os.kill(self.process, how)
        said = self._read()
        os.waitpid(self.process, 0)
        os.close(self._tells)
        os.close(self._told)
        return said


def _request(service: Service, key: str, point: Callable[[str], None]) -> None:
    inbox = Service(service.place).inbox(worker="the slow one")
    with inbox.once(key, {"amount": 5}) as tx:
        point("claimed")
        if tx.fresh:
            tx.answer = service.book(tx, "alice", 5)
        point("changed")
    point("committed")
