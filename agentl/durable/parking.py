"""A run that waits for a person without a process (`PRK-4` to `PRK-7`).

At a question that nobody has answered the run puts a ``park`` entry on record, posts the request, gives its
lease back and ends. Run again it derives itself up to that place, looks for the decision, and either goes on
with it or ends again without having written anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from agentl.durable.recovery import DurableJournal
from agentl.durable.requests import (
    ANSWERED,
    APPROVAL,
    APPROVED,
    DENIED,
    EXPIRED,
    QUESTION,
    WITHDRAWN,
    Decision,
    Filed,
    Request,
    RequestBook,
    current,
    expiry,
    later,
    stale,
    unreadable,
)
from agentl.errors import DurableError, Parked
from agentl.kernel.action import ActionRequest
from agentl.kernel.permit import stops_the_run
from agentl.runtime.asking import NO_ANSWER
from agentl.values import decode, encode, value_digest

_RECORDED: Final = {APPROVED: APPROVED, DENIED: DENIED, EXPIRED: EXPIRED}


class Parking:
    """The questions of one driver.

    Args:
        run_id: the run.
        journal: its journal.
        book: its requests.
        new: questions are kept for people; else only those that were before are looked after.
        within: seconds that a question has, unless it names a time of its own.
        runtime: the interpreter, for what it withholds and what the policy said.
        posted: told of the request each time the run is about to wait for it, under the same id. What it
            raises is of no consequence (`PRK-4`).

    Raises:
        DurableError: the store keeps no requests.
    """

    def __init__(
        self,
        run_id: str,
        journal: DurableJournal,
        book: RequestBook | None,
        *,
        new: bool,
        within: float | None,
        runtime: Any,
        posted: Callable[[Filed], None],
    ) -> None:
        if new and book is None:
            raise DurableError(code="park.no_requests", store=type(journal.store).__name__)
        self.run_id = run_id
        self.new = new
        self._journal = journal
        self._book = book
        self._within = within
        self._runtime = runtime
        self._posted = posted

    # --- what the boundary asks ----------------------------------------------------------

    def approval(self, request: ActionRequest) -> dict[str, Any] | None:
        """The value of an ``approve`` entry as a person decided, or ``None`` when people are asked otherwise.

        Raises:
            Parked: nobody has decided yet.
        """
        asked = self._runtime.kernel.asked
        true = {name: encode(value) for name, value in request.args.items()}
        shown = self._runtime.shown({"args": dict(request.args)})["args"]
        args = {name: encode(value) for name, value in shown.items()}
        rings = () if asked is None else asked.rings

        def made(request_id: str, at: str, deadline: str | None) -> Request:
            return Request(
                run_id=self.run_id,
                request_id=request_id,
                kind=APPROVAL,
                target=request.tool,
                subject=request.action_id,
                digest=request.hash,
                args=args,
                reason="" if asked is None else asked.reason,
                asked_at=at,
                deadline=deadline,
                ring=", ".join(rings) or None,
                epoch=self._epoch,
                withheld=args != true,
                signers=self._signers(rings),
            )

        decision = self._decision(APPROVAL, request.action_id, request.hash, made, self._within)
        if decision is None:
            return None
        data = {"answer": _RECORDED.get(decision.answer, DENIED), "by": decision.by, "at": decision.at}
        if decision.signature:
            data |= {"key_id": decision.key_id, "signature": decision.signature}
        return data

    def _signers(self, rings: Sequence[str]) -> dict[str, list[str]]:
        """Who may sign: the keys that every ring named here has for a person, by their ids."""
        known = [self._runtime.kernel.rings[ring].signers for ring in rings]
        first = known[0] if known else {}
        return {
            who: [key for key in keys if all(key in ring.get(who, ()) for ring in known)]
            for who, keys in first.items()
        }

    def question(self, who: str, question: str, reason: str, timeout: float | None) -> tuple[Any] | None:
        """The answer to an ASK, in a tuple, or ``None`` when it is put otherwise (`PRK-7`).

        Raises:
            Parked: nobody has answered yet.
        """
        digest = value_digest({"question": question, "reason": reason, "who": who})
        shown = self._runtime.shown({"question": question, "reason": reason})
        # The place in the journal tells two questions of the same words apart, and stays: a crossing that is
        # looked for has the number of the `park` before it, or of the entry that comes now.
        parked = self._journal.parked
        place = parked.get("place") if parked is not None else None
        place = place if type(place) is int else len(self._journal.lines)

        def made(request_id: str, at: str, deadline: str | None) -> Request:
            return Request(
                run_id=self.run_id,
                request_id=request_id,
                kind=QUESTION,
                target=who,
                subject=f"{self.run_id}:q{place}",
                digest=digest,
                args={"question": shown["question"]},
                reason=shown["reason"],
                asked_at=at,
                deadline=deadline,
                epoch=self._epoch,
            )

        within = self._within if timeout is None else timeout
        decision = self._decision(QUESTION, f"{self.run_id}:q{place}", digest, made, within, place)
        if decision is None:
            return None
        return (decode(decision.value) if decision.answer == ANSWERED else NO_ANSWER,)

    def leave(self) -> None:
        """The run is over: whatever is still asked is withdrawn (`PRK-5`)."""
        if self._concerned:
            self._withdraw(self._all(), "")

    # --- the decision --------------------------------------------------------------------

    @property
    def _epoch(self) -> int:
        return self._journal.fencing_token or 0

    @property
    def _concerned(self) -> bool:
        return self._book is not None and (self.new or bool(self._journal.index.counts.get("park")))

    def _all(self) -> list[Filed]:
        return [] if self._book is None else self._book.all()

    def _decision(
        self,
        kind: str,
        subject: str,
        digest: str,
        made: Callable[[str, str, str | None], Request],
        within: float | None,
        place: int | None = None,
    ) -> Decision | None:
        book, journal = self._book, self._journal
        if book is None or not self._concerned:
            return None
        rows = book.all()
        request_id, filed = current(rows, kind, subject, digest)
        self._withdraw(rows, request_id)
        if filed is None:
            parked = journal.parked
            if parked is None or parked.get("request_id") != request_id:
                if not self.new:
                    return None
                parked = self._park(request_id, kind, digest, within, place)
            filed = book.post(made(request_id, str(parked["at"]), parked.get("deadline")))
            if filed.request.digest != digest:
                raise unreadable(request_id)
        now = journal.clock()
        decision = filed.decision
        if decision is None and filed.late(now):
            decision = book.decide(request_id, expiry(now))
        if decision is None or decision.answer == WITHDRAWN:
            self._tell(filed)
            raise Parked(code="park.waiting", kind=kind, target=filed.request.target, request_id=request_id)
        return decision

    def _park(
        self, request_id: str, kind: str, digest: str, within: float | None, place: int | None
    ) -> Mapping[str, Any]:
        journal = self._journal
        at = journal.clock()
        args: dict[str, Any] = {"at": at, "hash": digest, "kind": kind, "request_id": request_id}
        deadline = None if within is None else later(at, within)
        if deadline is not None:
            args["deadline"] = deadline
        if place is not None:
            args["place"] = place
        journal.write("park", journal.index.run_id, args, sync=True)
        return args

    def _withdraw(self, rows: list[Filed], own: str) -> None:
        if self._book is None:
            return
        for filed in stale(rows, own, self._epoch):
            gone = Decision(WITHDRAWN, self.run_id, self._journal.clock())
            self._book.decide(filed.request.request_id, gone)

    def _tell(self, filed: Filed) -> None:
        try:
            self._posted(filed)
        except BaseException as problem:
            if stops_the_run(problem) and not isinstance(problem, Exception):
                raise


__all__ = ["Parking"]
