"""A small bank, alone in its process: HTTP in front of a SQLite ledger.

    python3 bank.py --ledger ledger.db --port 8765

It is the outside world of the payments example, and it keeps the books that decide whether an
effect was doubled. Three services, three different promises:

=====================  =====================================================================
``POST /transfers``    takes an ``Idempotency-Key``. The key and the booking are one
                       transaction; the same request again is answered from the first booking,
                       the same key with other parameters is refused (422).
``POST /messages``     sends a letter under a message id. It sends as often as it is asked,
                       but ``GET /messages?key=ID`` says whether that letter went out.
``POST /fees``         books a fee. No key, no way to ask: it promises nothing.
``GET /ledger``        everything that happened, in order.
``GET /health``        answers when the bank is open.
=====================  =====================================================================

``--hold SERVICE`` is for demonstrations and tests: the first request to that service is booked,
then the bank writes ``--booked FILE`` and keeps its answer back until ``--release FILE`` exists
(or the patience ends). Whoever is killed meanwhile dies at the worst moment: the money has moved
and nobody knows.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sqlite3
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

OPENING_BALANCE = 10_000
SERVICES = ("transfers", "messages", "fees")

SCHEMA = """
CREATE TABLE IF NOT EXISTS transfers (
    seq INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    payee TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount > 0)
);
CREATE TABLE IF NOT EXISTS messages (
    seq INTEGER PRIMARY KEY,
    message_id TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS fees (
    seq INTEGER PRIMARY KEY,
    amount INTEGER NOT NULL CHECK (amount > 0)
);
"""


class RefusalError(Exception):
    """The bank says no, and nothing was booked."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Ledger:
    """The books, in one SQLite file; every booking is one transaction."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._connection() as connection:
            connection.executescript("PRAGMA journal_mode = WAL;" + SCHEMA)

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        connection = sqlite3.connect(self.path, timeout=10, isolation_level=None)
        try:
            yield connection
        finally:
            connection.close()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._connection() as connection:
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def transfer(self, key: str, payee: str, amount: int) -> dict[str, Any]:
        """Book a transfer under its key, once; the key again gives the first booking again."""
        with self._transaction() as books:
            try:
                # The key first: the unique index decides who books, and a booking that fails
                # afterwards takes the key back with it.
                books.execute(
                    "INSERT INTO transfers (key, payee, amount) VALUES (?, ?, ?)", (key, payee, amount)
                )
            except sqlite3.IntegrityError:
                seq, *first = books.execute(
                    "SELECT seq, payee, amount FROM transfers WHERE key = ?", (key,)
                ).fetchone()
                if first != [payee, amount]:
                    raise RefusalError(422, f"the key {key} was used for another transfer") from None
                return {"reference": f"T{seq}", "repeated": True}
            if self._balance(books) < 0:
                raise RefusalError(409, "insufficient funds")
            (seq,) = books.execute("SELECT seq FROM transfers WHERE key = ?", (key,)).fetchone()
            return {"reference": f"T{seq}", "repeated": False}

    def send(self, message_id: str, text: str) -> dict[str, Any]:
        """Send a letter; asked twice, it sends twice."""
        with self._transaction() as books:
            books.execute("INSERT INTO messages (message_id, text) VALUES (?, ?)", (message_id, text))
        return {"sent": True}

    def was_sent(self, message_id: str) -> dict[str, Any]:
        """Whether a letter of that id went out."""
        with self._connection() as books:
            (count,) = books.execute(
                "SELECT count(*) FROM messages WHERE message_id = ?", (message_id,)
            ).fetchone()
        return {"sent": count > 0}

    def charge(self, amount: int) -> dict[str, Any]:
        """Book a fee; asked twice, it books twice."""
        with self._transaction() as books:
            books.execute("INSERT INTO fees (amount) VALUES (?)", (amount,))
            if self._balance(books) < 0:
                raise RefusalError(409, "insufficient funds")
        return {"charged": True}

    def contents(self) -> dict[str, Any]:
        """Everything in the books."""
        with self._connection() as books:
            books.execute("BEGIN")
            return {
                "balance": self._balance(books),
                "transfers": [
                    {"key": key, "to": payee, "amount": amount}
                    for key, payee, amount in books.execute(
                        "SELECT key, payee, amount FROM transfers ORDER BY seq"
                    )
                ],
                "messages": [
                    {"key": message_id, "text": text}
                    for message_id, text in books.execute(
                        "SELECT message_id, text FROM messages ORDER BY seq"
                    )
                ],
                "fees": [amount for (amount,) in books.execute("SELECT amount FROM fees ORDER BY seq")],
            }

    @staticmethod
    def _balance(books: sqlite3.Connection) -> int:
        (transferred,) = books.execute("SELECT coalesce(sum(amount), 0) FROM transfers").fetchone()
        (charged,) = books.execute("SELECT coalesce(sum(amount), 0) FROM fees").fetchone()
        return OPENING_BALANCE - int(transferred) - int(charged)


class Hold:
    """Keeps the first answer of one service back, between the booking and the reply."""

    def __init__(
        self, service: str | None, booked: Path | None, release: Path | None, patience: float
    ) -> None:
        self.service = service
        self.booked = booked
        self.release = release
        self.patience = patience

    def __call__(self, service: str) -> None:
        if service != self.service or self.booked is None or self.booked.exists():
            return
        self.booked.write_text("booked\n", encoding="utf-8")
        deadline = time.monotonic() + self.patience
        while time.monotonic() < deadline and not (self.release is not None and self.release.exists()):
            time.sleep(0.02)


def text_field(body: dict[str, Any], name: str) -> str:
    """A text of the request, or a refusal that names it."""
    value = body.get(name)
    if not isinstance(value, str) or not value:
        raise RefusalError(400, f"`{name}` must be a text that is not empty")
    return value


def amount_field(body: dict[str, Any]) -> int:
    """The amount of the request: a whole number above zero (true is no amount)."""
    value = body.get("amount")
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise RefusalError(400, "`amount` must be a whole number above zero")
    return value


class Bank(ThreadingHTTPServer):
    """The server, with its ledger and what it holds back."""

    daemon_threads = True

    def __init__(self, port: int, ledger: Ledger, hold: Hold) -> None:
        super().__init__(("127.0.0.1", port), Counter)
        self.ledger = ledger
        self.hold = hold


class Counter(BaseHTTPRequestHandler):
    """The HTTP face of the ledger."""

    server_version = "bank"
    protocol_version = "HTTP/1.1"
    server: Bank

    def do_GET(self) -> None:
        """Answer a question."""
        url = urlsplit(self.path)
        if url.path == "/health":
            self._answer(200, {"open": True})
        elif url.path == "/ledger":
            self._answer(200, self.server.ledger.contents())
        elif url.path == "/messages":
            key = parse_qs(url.query).get("key", [""])[0]
            self._answer(200, self.server.ledger.was_sent(key))
        else:
            self._answer(404, {"error": f"nothing at {url.path}"})

    def do_POST(self) -> None:
        """Book, hold if asked to, answer."""
        services = {"/transfers": self._transfer, "/messages": self._message, "/fees": self._fee}
        try:
            body = self._body()
            service = services.get(self.path)
            if service is None:
                raise RefusalError(404, f"nothing at {self.path}")
            answer = service(body)
        except RefusalError as refusal:
            self._answer(refusal.status, {"error": str(refusal)})
            return
        self.server.hold(self.path.strip("/"))
        self._answer(201, answer)

    def _transfer(self, body: dict[str, Any]) -> dict[str, Any]:
        key = self.headers.get("Idempotency-Key", "")
        if not key:
            raise RefusalError(400, "a transfer needs an Idempotency-Key")
        return self.server.ledger.transfer(key, text_field(body, "to"), amount_field(body))

    def _message(self, body: dict[str, Any]) -> dict[str, Any]:
        return self.server.ledger.send(text_field(body, "message_id"), text_field(body, "text"))

    def _fee(self, body: dict[str, Any]) -> dict[str, Any]:
        return self.server.ledger.charge(amount_field(body))

    def _body(self) -> dict[str, Any]:
        try:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", "0"))))
        except ValueError:
            raise RefusalError(400, "the body must be JSON") from None
        if not isinstance(body, dict):
            raise RefusalError(400, "the body must be a JSON object")
        return body

    def _answer(self, status: int, content: dict[str, Any]) -> None:
        data = json.dumps(content).encode()
        # The caller may be dead by now; the books do not care.
        with contextlib.suppress(ConnectionError):
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    def log_message(self, *_arguments: Any) -> None:
        """Silent: the ledger is the record."""


def main() -> int:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description="The bank of the payments example.")
    parser.add_argument(
        "--ledger", type=Path, default=Path("ledger.db"), help="the SQLite file with the books"
    )
    parser.add_argument("--port", type=int, default=8765, help="0 takes a free one")
    parser.add_argument("--port-file", type=Path, help="where to write the port once the bank is open")
    parser.add_argument(
        "--hold", choices=["transfers", "messages", "fees"], help="keep back the first answer of this service"
    )
    parser.add_argument("--booked", type=Path, help="the file written when the held request has been booked")
    parser.add_argument("--release", type=Path, help="the file that lets the held answer go")
    parser.add_argument(
        "--patience", type=float, default=60.0, help="seconds after which a held answer goes anyway"
    )
    options = parser.parse_args()
    if options.hold and not options.booked:
        parser.error("--hold needs --booked FILE")

    hold = Hold(options.hold, options.booked, options.release, options.patience)
    server = Bank(options.port, Ledger(options.ledger), hold)
    port = server.server_address[1]
    if options.port_file:
        partial = options.port_file.with_suffix(".partial")
        partial.write_text(f"{port}\n", encoding="utf-8")
        partial.replace(options.port_file)
    print(f"bank open on http://127.0.0.1:{port}, books in {options.ledger}", flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main())
