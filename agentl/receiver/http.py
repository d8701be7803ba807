"""The ``Idempotency-Key`` header in front of an ASGI application (`RCV-10`)."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import math
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http import HTTPStatus
from typing import Any, Final

from agentl.errors import AgentLError
from agentl.messages import render
from agentl.receiver.errors import BadKey, KeyBusy, KeyMismatch, ReceiverError
from agentl.receiver.inbox import Inbox, Once

Scope = MutableMapping[str, Any]
Received = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Received]]
Send = Callable[[Received], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

HEADER: Final = b"idempotency-key"
LIMIT: Final = 1024 * 1024
_METHODS: Final = frozenset({"POST", "PATCH"})


def nobody(_scope: Scope) -> str:
    """One scope for everybody: right only where all callers are one party (`RCV-7`)."""
    return ""


class IdempotencyMiddleware:
    """Executes a request with a known key once, and answers it as often as it is asked (`RCV-10`).

    The handler finds its transaction in the request's state (``request.state.once`` in Starlette), and is
    covered for what it changes there.

    Args:
        app: the ASGI application.
        inbox: where keys are kept; the tables that the handlers change are in the same database.
        tenant: gives the scope of a key from the ASGI scope: who asks, as the service authenticated it.
        methods: the methods that are covered.
        required: refuse a request of such a method without a key; else it passes uncovered.
        limit: the longest body of a request, and of an answer that is kept, in bytes.
        waiting: how many requests look up or wait for their key at once; each does so in a thread.
    """

    def __init__(
        self,
        app: Application,
        inbox: Inbox,
        *,
        tenant: Callable[[Scope], str] = nobody,
        methods: Collection[str] = _METHODS,
        required: bool = True,
        limit: int = LIMIT,
        waiting: int = 32,
    ) -> None:
        self.app = app
        self.inbox = inbox
        self.tenant = tenant
        self.methods = frozenset(methods)
        self.required = required
        self.limit = limit
        # Who ends a transaction must never queue behind those who wait for its end.
        self._entering = ThreadPoolExecutor(waiting, "agentl-inbox")
        self._leaving = ThreadPoolExecutor(4, "agentl-inbox-end")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection of ASGI."""
        if scope["type"] != "http" or scope["method"] not in self.methods:
            await self.app(scope, receive, send)
            return
        try:
            key = _key(scope)
            if key is None and not self.required:
                await self.app(scope, receive, send)
                return
            if key is None:
                raise BadKey(code="receiver.no_key")
            body = await self._body(receive)
            if body is None:
                await _tell(send, 413, AgentLError(code="receiver.too_large", limit=self.limit))
                return
            answer, replayed = await self._once(key, scope, body)
        except ReceiverError as error:
            await _tell(send, error.status, error)
            return
        except _NotKept as refused:
            await refused.answer.send(send)
            return
        await answer.send(send, replayed=replayed)

    async def _once(self, key: str, scope: Scope, body: bytes) -> tuple[_Answer, bool]:
        block = self.inbox.once(key, _params(scope, body), scope=self.tenant(scope))
        # The database is waited for in a thread: a request that waits for another must not hold up the rest.
        entering = _started(self._entering, block.__enter__)
        try:
            tx: Once = await _finished(entering)
            if tx.fresh:
                answer = await self._handled(scope, body, tx)
                if len(answer.body) > self.limit:
                    raise ReceiverError(code="receiver.answer_too_large", limit=self.limit)
                if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                    raise _NotKept(answer)
                tx.answer = answer.kept()
        except BaseException as error:
            if entering.done() and entering.exception() is None:
                leave = partial(block.__exit__, type(error), error, error.__traceback__)
                await _finished(_started(self._leaving, leave))
            raise
        fresh = tx.fresh
        await _finished(_started(self._leaving, partial(block.__exit__, None, None, None)))
        return (answer, False) if fresh else (_Answer.of(tx.answer), True)

    async def _handled(self, scope: Scope, body: bytes, tx: Once) -> _Answer:
        answer = _Answer()
        given = False

        async def receive() -> Received:
            nonlocal given
            if given:
                return {"type": "http.disconnect"}
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self.app({**scope, "state": {**scope.get("state", {}), "once": tx}}, receive, answer.take)
        return answer

    async def _body(self, receive: Receive) -> bytes | None:
        """The body of the request, or ``None`` when it is too long."""
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ReceiverError(code="receiver.failed")
            part = message.get("body", b"")
            size += len(part)
            if size > self.limit:
                return None
            parts.append(part)
            if not message.get("more_body", False):
                return b"".join(parts)


class _Answer:
    """What the application says, kept back until it is committed."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.body = b""

    async def take(self, message: Received) -> None:
        if message["type"] == "http.response.start":
            self.status = int(message["status"])
            self.headers = [(bytes(name), bytes(value)) for name, value in message.get("headers", [])]
        elif message["type"] == "http.response.body":
            self.body += message.get("body", b"")

    def kept(self) -> dict[str, Any]:
        """As a JSON value."""
        headers = [[name.decode("latin-1"), value.decode("latin-1")] for name, value in self.headers]
        return {
            "status": self.status,
            "headers": headers,
            "body": base64.b64encode(self.body).decode("ascii"),
        }

    @classmethod
    def of(cls, kept: Any) -> _Answer:
        """The answer that a JSON value holds."""
        answer = cls()
        answer.status = int(kept["status"])
        answer.headers = [
            (name.encode("latin-1"), value.encode("latin-1")) for name, value in kept["headers"]
        ]
        answer.body = base64.b64decode(kept["body"])
        return answer

    async def send(self, send: Send, *, replayed: bool = False) -> None:
        """Give the answer to the client."""
        marks = [(b"idempotent-replayed", b"true")] if replayed else []
        await send({"type": "http.response.start", "status": self.status, "headers": [*self.headers, *marks]})
        await send({"type": "http.response.body", "body": self.body})


class _NotKept(Exception):
    """The application failed: its answer is given, and everything else taken back."""

    def __init__(self, answer: _Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


def _started(threads: ThreadPoolExecutor, call: Callable[[], Any]) -> asyncio.Future[Any]:
    return asyncio.get_running_loop().run_in_executor(threads, call)


async def _finished(task: asyncio.Future[Any]) -> Any:
    # To its end, even when the client is gone: a transaction must not be left to nobody.
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def _key(scope: Scope) -> str | None:
    """The key of a request: the quoted string of the draft, or a bare token; ``None`` without a header."""
    values: list[bytes] = [value for name, value in scope["headers"] if name.lower() == HEADER]
    if not values:
        return None
    text = values[0].decode("latin-1").strip()
    if len(values) > 1:
        raise BadKey(code="receiver.bad_key")
    if len(text) > 1 and text[0] == text[-1] == '"':
        inner = text[1:-1]
        if '"' in inner.replace('\\"', "") or inner.replace("\\\\", "").endswith("\\"):
            raise BadKey(code="receiver.bad_key")
        return inner.replace('\\"', '"').replace("\\\\", "\\")
    if '"' in text or "," in text:
        raise BadKey(code="receiver.bad_key")
    return text


def _params(scope: Scope, body: bytes) -> dict[str, Any]:
    """What a request asks for (`RCV-4`, `RCV-10`)."""
    content = next((value for name, value in scope["headers"] if name.lower() == b"content-type"), b"")
    kind = content.split(b";")[0].strip().lower()
    params: dict[str, Any] = {
        "method": scope["method"],
        "path": scope["path"],
        "query": scope.get("query_string", b"").decode("latin-1"),
    }
    if kind == b"application/json" or kind.endswith(b"+json"):
        try:
            return {**params, "body": json.loads(body, parse_constant=_no_number)}
        except (ValueError, RecursionError):
            # Not JSON, whatever it says: the application will tell; here it counts as bytes.
            return {**params, "body": _bytes(body)}
    return {**params, "body": _bytes(body)}


def _bytes(body: bytes) -> str:
    return "sha256:" + hashlib.sha256(body).hexdigest()


def _no_number(name: str) -> Any:
    raise ValueError(name)


async def _tell(send: Send, status: int, error: AgentLError) -> None:
    """A refusal as problem details."""
    problem: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": render(error.code, dict(error.values)) if error.code else str(error),
        "code": error.code,
    }
    headers = [(b"content-type", b"application/problem+json; charset=utf-8")]
    if isinstance(error, KeyMismatch):
        problem["fields"] = list(error.fields)
    if isinstance(error, KeyBusy) or status == HTTPStatus.SERVICE_UNAVAILABLE:
        headers.append(
            (b"retry-after", str(max(math.ceil(float(error.values.get("seconds", 1))), 1)).encode())
        )
    body = json.dumps(problem, ensure_ascii=False).encode("utf-8")
    headers.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


__all__ = ["HEADER", "LIMIT", "IdempotencyMiddleware", "nobody"]
