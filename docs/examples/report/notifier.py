"""A notification service that can be asked twice: HTTP in front of an idempotent inbox.

    python3 notifier.py --inbox notifications.db --port 8766
    python3 notifier.py --inbox postgresql://user@host/database

``POST /notifications``  needs an ``Idempotency-Key``. Key and notification are one transaction; the same
                         request again gets the first receipt, another one under the same key is refused.
``GET /notifications``   everything that was sent, in order.
``GET /health``          answers when the service is open.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from agentl.receiver import BadKey, Inbox, Once, PostgresInbox, ReceiverError, SQLiteInbox

TABLE = "CREATE TABLE IF NOT EXISTS notifications (receipt TEXT NOT NULL, recipient TEXT, version TEXT)"
ALL = "SELECT receipt, recipient, version FROM notifications ORDER BY receipt"


class Notifications:
    """The service without HTTP."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.on_file = "://" not in place
        self.inbox: Inbox = SQLiteInbox(place) if self.on_file else PostgresInbox(place)
        self._sql(TABLE)

    def send(self, key: str, body: Any) -> Any:
        """Notify once per key; gives the receipt."""
        if not isinstance(body, dict) or not all(
            isinstance(body.get(name), str) for name in ("to", "version")
        ):
            raise BadKey("a notification has a text `to` and a text `version`")

        def work(tx: Once) -> dict[str, str]:
            # The number is drawn inside the transaction: a receipt that was given is a row that is there.
            (count,) = tx.execute("SELECT count(*) FROM notifications").fetchone()
            receipt = f"N{count + 1:06}"
            sign = "?" if self.on_file else "%s"
            values = (receipt, body["to"], body["version"])
            tx.execute(f"INSERT INTO notifications VALUES ({sign}, {sign}, {sign})", values)
            return {"receipt": receipt}

        return self.inbox.handle(key, {"to": body["to"], "version": body["version"]}, work)

    def sent(self) -> list[dict[str, str]]:
        """Everything that was sent."""
        return [{"receipt": one, "to": to, "version": version} for one, to, version in self._sql(ALL)]

    def _sql(self, statement: str) -> list[tuple[Any, ...]]:
        if self.on_file:
            with closing(sqlite3.connect(self.place, timeout=10, isolation_level=None)) as connection:
                return connection.execute(statement).fetchall()
        import psycopg

        with psycopg.connect(self.place, autocommit=True) as connection:
            done = connection.execute(statement.encode())
            return done.fetchall() if done.description is not None else []


class Handler(BaseHTTPRequestHandler):
    """One request."""

    notifications: Notifications
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        known = {"/health": lambda: {"open": True}, "/notifications": self.notifications.sent}
        answer = known.get(self.path)
        self._say(200, answer()) if answer is not None else self._say(404, {"detail": "not found"})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path != "/notifications":
            self._say(404, {"detail": "not found"})
            return
        try:
            key = (self.headers.get("Idempotency-Key") or "").strip('"')
            self._say(201, self.notifications.send(key, json.loads(body)))
        except ReceiverError as refused:
            self._say(refused.status, {"detail": str(refused)})
        except ValueError:
            self._say(400, {"detail": "the body is no JSON"})

    def _say(self, status: int, answer: Any) -> None:
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_words: Any) -> None:
        """Say nothing: the books tell."""


def serve(place: str, port: int) -> ThreadingHTTPServer:
    """The service on a port of the loopback, 0 for a free one; not yet serving."""
    handler = type("Service", (Handler,), {"notifications": Notifications(place)})
    return ThreadingHTTPServer(("127.0.0.1", port), handler)


def main() -> None:
    """Serve until somebody stops it."""
    parser = argparse.ArgumentParser(description="A notification service with an idempotent inbox.")
    parser.add_argument(
        "--inbox", required=True, metavar="PLACE", help="a SQLite file or a PostgreSQL address"
    )
    parser.add_argument("--port", type=int, default=8766)
    options = parser.parse_args()
    server = serve(options.inbox, options.port)
    print(f"notifications at http://127.0.0.1:{server.server_address[1]}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()


if __name__ == "__main__":
    main()
