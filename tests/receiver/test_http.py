"""The Idempotency-Key header in front of an ASGI application (RCV-10)."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import pytest

from agentl.receiver import IdempotencyMiddleware
from tests.support.receiving import Service


@dataclass
class Answer:
    """What a client hears."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def problem(self) -> dict[str, Any]:
        assert self.headers["content-type"].startswith("application/problem+json")
        data: dict[str, Any] = json.loads(self.body)
        assert data["status"] == self.status
        return data


class Bank:
    """The application: books what it is told, in the transaction that it finds in the request's state."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.handled = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.handled += 1
        body, more = b"", True
        while more:
            part = await receive()
            body, more = body + part["body"], part["more_body"]
        order = json.loads(body) if scope["path"] != "/raw" else {"amount": len(body)}
        once = scope["state"].get("once")
        if once is not None:
            self.service.book(once, "alice", order["amount"])
        if order.get("raises"):
            raise ZeroDivisionError
        await send(
            {
                "type": "http.response.start",
                "status": order.get("status", 201),
                "headers": [(b"content-type", b"text/plain"), (b"x-number", str(self.handled).encode())],
            }
        )
        await send({"type": "http.response.body", "body": b"book", "more_body": True})
        await send({"type": "http.response.body", "body": b"ed" * order.get("long", 1)})


async def call(
    app: Any,
    body: Any,
    key: Any = b'"k"',
    *,
    method: str = "POST",
    path: str = "/transfers",
    headers: Any = (),
    state: Any = None,
) -> Answer:
    """One request; a body that is not bytes is sent as JSON in two parts."""
    given = [(b"idempotency-key", key)] if key is not None else []
    if not isinstance(body, bytes):
        given.append((b"content-type", b"application/json; charset=utf-8"))
        body = json.dumps(body).encode()
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": b"",
        "headers": [*given, *headers],
    }
    if state is not None:
        scope["state"] = state
    parts = [{"type": "http.request", "body": body[:3], "more_body": True}]
    parts.append({"type": "http.request", "body": body[3:], "more_body": False})
    sent: list[Any] = []

    async def receive() -> Any:
        return parts.pop(0) if parts else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, receive, send)
    start, *rest = sent
    names = {name.decode(): value.decode() for name, value in start["headers"]}
    return Answer(start["status"], names, b"".join(part.get("body", b"") for part in rest))


def test_the_same_request_again_is_answered_from_the_record(service: Service) -> None:
    """`RCV-10`, `RCV-3`: status, headers and body; one change; the mark that it is a replay."""

    async def twice() -> None:
        bank = Bank(service)
        app = IdempotencyMiddleware(bank, service.inbox())
        first = await call(app, {"amount": 5, "to": "bob"})
        again = await call(app, {"to": "bob", "amount": 5}, b"k")
        assert (first.status, first.body, first.headers["x-number"]) == (201, b"booked", "1")
        assert again == Answer(201, {**first.headers, "idempotent-replayed": "true"}, b"booked")
        assert bank.handled == 1

    asyncio.run(twice())
    assert service.booked() == [("alice", 5)]


def test_r47_the_key_on_another_body_route_or_method_is_refused(service: Service) -> None:
    """`R47`, `RCV-10`: 422, with what differs; another tenant is independent."""

    async def others() -> None:
        app = IdempotencyMiddleware(
            Bank(service),
            service.inbox(),
            tenant=lambda scope: dict(scope["headers"]).get(b"tenant", b"").decode(),
        )
        await call(app, {"amount": 5})
        body = await call(app, {"amount": 6})
        route = await call(app, {"amount": 5}, path="/refunds")
        method = await call(app, {"amount": 5}, method="PATCH")
        tenant = await call(app, {"amount": 5}, headers=[(b"tenant", b"other")])
        assert [body.status, route.status, method.status, tenant.status] == [422, 422, 422, 201]
        assert body.problem["fields"] == ["body.amount"]
        assert route.problem["fields"] == ["path"]
        assert method.problem["fields"] == ["method"]

    asyncio.run(others())
    assert service.booked() == [("alice", 5), ("alice", 5)]


def test_a_body_that_is_no_json_counts_by_its_bytes(service: Service) -> None:
    """`RCV-10`: whatever it says it is."""

    async def raw() -> None:
        app = IdempotencyMiddleware(Bank(service), service.inbox())
        says_json = [(b"content-type", b"application/json")]
        assert (await call(app, b"abcd", path="/raw", headers=says_json)).status == 201
        assert (await call(app, b"abcd", path="/raw", headers=says_json)).headers[
            "idempotent-replayed"
        ] == "true"
        other = await call(app, b"abce", path="/raw", headers=says_json)
        assert other.problem["fields"] == ["body"]

    asyncio.run(raw())


@pytest.mark.parametrize(
    "key", [b"", b'""', b'"a', b"a b", b'"a" ', b"\xe9", b'"a"b"', b"a,b", b"x" * 256, b'"a\\"', b'a"']
)
def test_what_is_no_key_is_refused(service: Service, key: bytes) -> None:
    """`RCV-7`, `RCV-10`: 400, before anything is opened; the one with a space behind it is fine."""

    async def refused() -> None:
        answer = await call(IdempotencyMiddleware(Bank(service), service.inbox()), {"amount": 5}, key)
        assert answer.status == (201 if key == b'"a" ' else 400)

    asyncio.run(refused())


def test_two_keys_in_one_request_are_refused(service: Service) -> None:
    """`RCV-7`."""

    async def refused() -> None:
        app = IdempotencyMiddleware(Bank(service), service.inbox())
        answer = await call(app, {"amount": 5}, headers=[(b"Idempotency-Key", b"other")])
        assert answer.status == 400

    asyncio.run(refused())


def test_without_a_key(service: Service) -> None:
    """`RCV-10`: refused, or let through without protection; methods that change nothing need none."""

    async def without() -> None:
        bank = Bank(service)
        strict = IdempotencyMiddleware(bank, service.inbox())
        lax = IdempotencyMiddleware(bank, service.inbox(), required=False)
        refused = await call(strict, {"amount": 5}, None)
        assert (refused.status, refused.problem["code"]) == (400, "receiver.no_key")
        assert (await call(lax, {"amount": 5}, None, state={})).status == 201
        assert (await call(strict, {"amount": 5}, None, method="GET", state={})).status == 201
        assert service.booked() == []

    asyncio.run(without())


def test_a_failure_of_the_application_is_told_and_kept_by_nobody(service: Service) -> None:
    """`RCV-2`, `RCV-10`: 500 takes everything back; 404 is an answer like any other."""

    async def fails() -> None:
        bank = Bank(service)
        app = IdempotencyMiddleware(bank, service.inbox())
        assert (await call(app, {"amount": 5, "status": 500})).status == 500
        with pytest.raises(ZeroDivisionError):
            await call(app, {"amount": 5, "raises": True})
        assert service.booked() == []
        assert (await call(app, {"amount": 5, "status": 404})).status == 404
        assert (await call(app, {"amount": 5, "status": 404})).headers["idempotent-replayed"] == "true"
        assert bank.handled == 3

    asyncio.run(fails())


def test_a_request_that_is_being_worked_on(service: Service) -> None:
    """`RCV-5`, `RCV-10`: 409 with Retry-After, while the event loop serves others."""

    async def busy() -> None:
        app = IdempotencyMiddleware(Bank(service), service.inbox(wait=0.02))
        with service.inbox().once("k") as tx:
            answer = await call(app, {"amount": 5})
            tx.answer = 1
        assert (answer.status, answer.headers["retry-after"]) == (409, "1")
        assert answer.problem["code"] == "receiver.busy"

    asyncio.run(busy())
    assert service.booked() == []


def test_sixty_four_at_once(service: Service) -> None:
    """`RCV-1`, `RCV-10`: one effect, equal answers or conflicts, no error."""

    async def together() -> list[Answer]:
        app = IdempotencyMiddleware(Bank(service), service.inbox(wait=20.0))
        return await asyncio.gather(*(call(app, {"amount": 5}) for _ in range(64)))

    answers = asyncio.run(together())
    assert service.booked() == [("alice", 5)]
    assert {answer.status for answer in answers} <= {201, 409}
    assert {answer.body for answer in answers if answer.status == 201} == {b"booked"}


def test_who_ends_does_not_queue_behind_those_who_wait(service: Service) -> None:
    """`RCV-5`, `RCV-10`: with one thread for those who wait, the first still gets to its end."""

    async def together() -> list[Answer]:
        app = IdempotencyMiddleware(Bank(service), service.inbox(wait=60.0), waiting=1)
        return await asyncio.gather(*(call(app, {"amount": 5}) for _ in range(8)))

    assert {answer.status for answer in asyncio.run(together())} == {201}


def test_retention_is_over(service: Service) -> None:
    """`RCV-6`, `RCV-10`: 410."""

    async def late() -> None:
        inbox = service.inbox()
        app = IdempotencyMiddleware(Bank(service), inbox)
        await call(app, {"amount": 5})
        inbox.expire(0)
        assert (await call(app, {"amount": 5})).status == 410

    asyncio.run(late())
    assert service.booked() == [("alice", 5)]


def test_what_is_too_large_is_not_done(service: Service) -> None:
    """`RCV-10`: 413 for a request, 500 for an answer that could not be kept."""

    async def large() -> None:
        app = IdempotencyMiddleware(Bank(service), service.inbox(), limit=60)
        assert (await call(app, {"amount": 5, "note": "x" * 80})).status == 413
        answer = await call(app, {"amount": 5, "long": 90})
        assert (answer.status, answer.problem["code"]) == (500, "receiver.answer_too_large")

    asyncio.run(large())
    assert service.booked() == []


def test_a_client_that_goes_away_takes_everything_back(service: Service) -> None:
    """`RCV-2`, `RCV-10`: cancelled inside the handler; the same request may come again."""

    async def gone() -> None:
        inside = asyncio.Event()

        async def slow(scope: Any, receive: Any, send: Any) -> None:
            service.book(scope["state"]["once"], "alice", 5)
            inside.set()
            await asyncio.Event().wait()

        inbox = service.inbox()
        task = asyncio.create_task(call(IdempotencyMiddleware(slow, inbox), {"amount": 5}))
        await inside.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert service.booked() == []
        assert (await call(IdempotencyMiddleware(Bank(service), inbox), {"amount": 5})).status == 201

    asyncio.run(gone())
    assert service.booked() == [("alice", 5)]


def test_what_is_no_request_passes(service: Service) -> None:
    """`RCV-10`: lifespan and websockets are the application's own."""
    seen: list[str] = []

    async def app(scope: Any, _receive: Any, _send: Any) -> None:
        seen.append(scope["type"])

    async def others() -> None:
        middleware = IdempotencyMiddleware(app, service.inbox())
        for kind in ("lifespan", "websocket"):
            await middleware({"type": kind}, None, None)  # type: ignore[arg-type]

    asyncio.run(others())
    assert seen == ["lifespan", "websocket"]
