"""What the request books of all stores share, and the book in memory (`PRK-1`, `PRK-3`)."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

from agentl.durable.requests import (
    APPROVED,
    WITHDRAWN,
    Decision,
    Extension,
    Filed,
    Request,
    RequestBook,
    decide,
    due,
    fits,
    in_order,
    unreadable,
)
from agentl.errors import DurableError


def book_of(store: Any) -> RequestBook | None:
    """Where a store keeps requests, or ``None`` when it cannot."""
    book: RequestBook | None = getattr(store, "requests", None)
    return book


def withdraw_open(store: Any, run_id: str, at: str) -> None:
    """The run is not to go on: nobody is asked about it any more (`PRK-5`)."""
    book = book_of(store)
    for filed in [] if book is None else book.all(open_only=True):
        if book is not None:
            book.decide(filed.request.request_id, Decision(WITHDRAWN, run_id, at))


def answered(filed: Filed | None, request_id: str, decision: Decision) -> Decision:
    """The decision that stands when ``decision`` is proposed for what the store holds (`PRK-3`).

    Raises:
        StoreFailure: there is no such request, or an approval is answered as a question.
        DurableError: a yes must be signed, and this one is not (`PRK-8`).
    """
    if filed is None or not fits(filed.request.kind, decision.answer):
        raise unreadable(request_id)
    if filed.open and filed.request.ring and decision.answer == APPROVED and not decision.signature:
        raise DurableError(code="park.must_sign", request=request_id, ring=filed.request.ring)
    return decide(filed.decision, decision, due(filed.deadline, decision.at))


def extended(filed: Filed | None, request_id: str, extension: Extension) -> Filed:
    """The request with a later deadline; as it is when it was decided, its time is over, or it has no end.

    Raises:
        StoreFailure: there is no such request.
    """
    if filed is None:
        raise unreadable(request_id)
    if not filed.open or filed.deadline is None or due(filed.deadline, extension.at):
        return filed
    if due(extension.deadline, filed.deadline):
        return filed  # not later than the one in force
    return replace(filed, extensions=(*filed.extensions, extension))


class MemoryBook:
    """Requests as long as the object lives, for tests."""

    def __init__(self) -> None:
        self._rows: dict[str, Filed] = {}
        self._lock = threading.Lock()

    def post(self, request: Request) -> Filed:
        """Keep a request, unless there is one of that id."""
        with self._lock:
            return self._rows.setdefault(request.request_id, Filed(request))

    def get(self, request_id: str) -> Filed | None:
        """The request of that id."""
        return self._rows.get(request_id)

    def all(self, *, open_only: bool = False) -> list[Filed]:
        """Every request, oldest first."""
        return in_order(list(self._rows.values()), open_only=open_only)

    def decide(self, request_id: str, decision: Decision) -> Decision:
        """The decision that stands: the first."""
        with self._lock:
            filed = self._rows.get(request_id)
            stands = answered(filed, request_id, decision)
            if filed is not None and filed.open:
                self._rows[request_id] = replace(filed, decision=stands)
            return stands

    def extend(self, request_id: str, extension: Extension) -> Filed:
        """Put the deadline off."""
        with self._lock:
            filed = extended(self._rows.get(request_id), request_id, extension)
            self._rows[request_id] = filed
            return filed
