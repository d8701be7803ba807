"""The requests of a run in PostgreSQL: one row each, decided in one transaction (`PRK-1`, `PRK-3`).

Each call has a connection of its own, so that people need no driver and a driver's connection stays its own.
Who waits for answers may listen on the channel ``CHANNEL``: its payload is the id of the run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from agentl.durable.requests import Decision, Extension, Filed, Request, filed_of, in_order, unreadable
from agentl.durable.stores.postgres_link import connect, failing, rows
from agentl.durable.stores.postgres_schema import prepare
from agentl.durable.stores.request_book import answered, extended

if TYPE_CHECKING:
    from typing import LiteralString

    from agentl.durable.stores.postgres_link import Link

CHANNEL: Final = "agentl_requests"
_ALL: Final = "SELECT request, decision, extensions FROM agentl.requests WHERE run_id = %(run)s"
_ONE: Final = f"{_ALL} AND request_id = %(request)s"
_OPEN: Final = "SELECT run_id, request, decision, extensions FROM agentl.requests WHERE decision IS NULL"
_POST: Final = (
    "INSERT INTO agentl.requests (run_id, request_id, request) VALUES (%(run)s, %(request)s, %(text)s) "
    "ON CONFLICT DO NOTHING"
)
_DECIDE: Final = (
    "UPDATE agentl.requests SET decision = %(text)s WHERE run_id = %(run)s AND request_id = %(request)s"
)
_EXTEND: Final = (
    "UPDATE agentl.requests SET extensions = %(text)s WHERE run_id = %(run)s AND request_id = %(request)s"
)
_TELL: Final = "SELECT pg_notify(%(channel)s, %(run)s)"


def open_requests(link: Link) -> dict[str, list[Filed]]:
    """The open requests of every run of a database, by run (`PRK-1`)."""
    found: dict[str, list[Filed]] = {}
    for run_id, *row in rows(link, _OPEN):
        found.setdefault(str(run_id), []).append(filed_of(*row))
    return found


class PostgresBook:
    """The requests of the run ``run_id`` in the database that ``dsn`` names."""

    def __init__(self, dsn: str, run_id: str) -> None:
        self.dsn = dsn
        self.run_id = run_id

    def post(self, request: Request) -> Filed:
        """Keep a request, durable on return.

        Raises:
            StoreFailure: it cannot be written.
        """
        with self._writing() as link:
            self._run(link, _POST, request.request_id, request.data())
            filed = self._one(link, request.request_id)
        if filed is None:
            raise unreadable(request.request_id)
        return filed

    def get(self, request_id: str) -> Filed | None:
        """The request of that id."""
        with failing("read"), connect(self.dsn, driving=False) as link:
            found = rows(link, _ONE, {"run": self.run_id, "request": request_id})
        return filed_of(*found[0]) if found else None

    def all(self, *, open_only: bool = False) -> list[Filed]:
        """Every request, oldest first."""
        with failing("read"), connect(self.dsn, driving=False) as link:
            found = rows(link, _ALL, {"run": self.run_id})
        return in_order([filed_of(*row) for row in found], open_only=open_only)

    def decide(self, request_id: str, decision: Decision) -> Decision:
        """The decision that stands: the first that was committed.

        Raises:
            StoreFailure: it cannot be written, or there is no such request.
        """
        with self._writing() as link:
            filed = self._one(link, request_id, lock=True)
            stands = answered(filed, request_id, decision)
            if filed is not None and filed.open:
                self._run(link, _DECIDE, request_id, stands.data())
                link.execute(_TELL, {"channel": CHANNEL, "run": self.run_id})
        return stands

    def extend(self, request_id: str, extension: Extension) -> Filed:
        """Put the deadline off."""
        with self._writing() as link:
            known = self._one(link, request_id, lock=True)
            filed = extended(known, request_id, extension)
            if filed is not known:
                self._run(link, _EXTEND, request_id, [asdict(one) for one in filed.extensions])
        return filed

    def _one(self, link: Link, request_id: str, *, lock: bool = False) -> Filed | None:
        statement: LiteralString = f"{_ONE} FOR UPDATE" if lock else _ONE
        row = link.execute(statement, {"run": self.run_id, "request": request_id}).fetchone()
        return None if row is None else filed_of(*row)

    def _run(self, link: Link, statement: LiteralString, request_id: str, data: Any) -> None:
        text = json.dumps(data, ensure_ascii=True, sort_keys=True)
        link.execute(statement, {"run": self.run_id, "request": request_id, "text": text})

    @contextmanager
    def _writing(self) -> Iterator[Link]:
        with failing("write"), connect(self.dsn, driving=True) as link:
            prepare(link)
            with link.transaction():
                yield link
