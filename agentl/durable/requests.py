"""Requests: questions to people that outlive the process, and the decision that answers each (`PRK-1`).

Values and decisions without input or output; a store keeps the rows (``RequestBook``) and asks the functions
here. A request needs no lease: people answer from any machine, while nobody drives the run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Protocol

from agentl.contracts import clause, ensure
from agentl.errors import StoreFailure

APPROVAL: Final = "approval"
QUESTION: Final = "question"

OPEN: Final = "open"
APPROVED: Final = "approved"
DENIED: Final = "denied"
ANSWERED: Final = "answered"
EXPIRED: Final = "expired"
WITHDRAWN: Final = "withdrawn"
ANSWERS: Final = (APPROVED, DENIED, ANSWERED, EXPIRED, WITHDRAWN)

CLOCK: Final = "clock"
"""Who decides when nobody did in time."""

DIGITS: Final = 16
"""How many digits of the digest a request id holds: who names the request names what was shown."""

NEAR_SHARE: Final = 10
NEAR_SECONDS: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Request:
    """A question as it is kept (`PRK-1`).

    ``kind`` is ``approval`` or ``question``; ``target`` the tool or sub-agent, or who is asked; ``subject``
    the action id, or the place of the question. ``digest`` is that of the action, or of the question.
    ``args`` maps names to values in journal form, without what the program withholds. ``reason`` is the
    policy's, or that of the ASK. Times are UTC in ISO form. ``withheld``: ``args`` are not all that the
    digest is of. ``ring`` must have signed a yes; ``signers`` are the ids of its keys by person (`PRK-8`).
    """

    run_id: str
    request_id: str
    kind: str
    target: str
    subject: str
    digest: str
    args: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""
    asked_at: str = ""
    deadline: str | None = None
    ring: str | None = None
    epoch: int = 0
    withheld: bool = False
    signers: Mapping[str, Any] = field(default_factory=dict)

    def data(self) -> dict[str, Any]:
        """The request as plain JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Decision:
    """What answers a request (`PRK-3`).

    ``answer`` is ``approved``, ``denied``, ``answered`` (with ``value`` in journal form), ``expired`` or
    ``withdrawn``. ``key_id`` and ``signature`` are those of a signed approval (`PRK-8`).
    """

    answer: str
    by: str
    at: str
    value: Any = None
    key_id: str = ""
    signature: str = ""

    def data(self) -> dict[str, Any]:
        """The decision as plain JSON; what is not there is left out."""
        data: dict[str, Any] = {"answer": self.answer, "by": self.by, "at": self.at}
        if self.answer == ANSWERED:
            data["value"] = self.value
        if self.signature:
            data |= {"key_id": self.key_id, "signature": self.signature}
        return data


@dataclass(frozen=True, slots=True)
class Extension:
    """A later deadline, and who gave it."""

    deadline: str
    by: str
    at: str


@dataclass(frozen=True, slots=True)
class Filed:
    """A request with what became of it."""

    request: Request
    decision: Decision | None = None
    extensions: tuple[Extension, ...] = ()

    @property
    def deadline(self) -> str | None:
        """The deadline in force, extensions counted."""
        return self.extensions[-1].deadline if self.extensions else self.request.deadline

    @property
    def open(self) -> bool:
        """Whether nobody has decided."""
        return self.decision is None

    @property
    def state(self) -> str:
        """``open``, or the answer."""
        return OPEN if self.decision is None else self.decision.answer

    def late(self, now: str) -> bool:
        """Whether it is open and its time is over."""
        return self.open and due(self.deadline, now)


class RequestBook(Protocol):
    """Where the requests of one run are kept (`PRK-1`); every method may be called without a lease."""

    def post(self, request: Request) -> Filed:
        """Keep a request, durable on return; one of that id that is there already stays as it is."""

    def get(self, request_id: str) -> Filed | None:
        """The request of that id."""

    def all(self, *, open_only: bool = False) -> list[Filed]:
        """The requests of the run, oldest first."""

    def decide(self, request_id: str, decision: Decision) -> Decision:
        """Answer a request; gives the decision that stands, which is the first one (`PRK-3`)."""

    def extend(self, request_id: str, extension: Extension) -> Filed:
        """Put the deadline of an open request off (`PRK-3`); a decided one stays as it is."""


# --- times ---------------------------------------------------------------------------------


def moment(text: str) -> datetime | None:
    """The time that a text names, aware; one without a zone is UTC. ``None`` when it names none."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def later(text: str, seconds: float) -> str | None:
    """The time ``seconds`` after another, to the second; ``None`` when there is no such time."""
    start = moment(text)
    if start is None:
        return None
    try:
        return (start + timedelta(seconds=seconds)).isoformat(timespec="seconds")
    except OverflowError:
        return None


def remaining(deadline: str | None, now: str) -> float | None:
    """Seconds until a deadline, negative behind it; ``None`` without one."""
    end, here = moment(deadline or ""), moment(now)
    return None if end is None or here is None else (end - here).total_seconds()


def due(deadline: str | None, now: str) -> bool:
    """Whether the time to answer is over (`PRK-3`). A time that cannot be read counts as over."""
    if deadline is None:
        return False
    left = remaining(deadline, now)
    return left is None or left <= 0


def near(filed: Filed, now: str) -> bool:
    """Whether an open request soon runs out: less than an hour, or a tenth of its time, is left (`PRK-9`)."""
    left = remaining(filed.deadline, now)
    whole = remaining(filed.deadline, filed.request.asked_at)
    if not filed.open or left is None or left <= 0:
        return False
    return left <= max(NEAR_SECONDS, (whole or 0.0) / NEAR_SHARE)


# --- decisions -----------------------------------------------------------------------------


@ensure(
    lambda standing, result: standing is None or result is standing,
    error=clause("PRK-3", "Decide"),
)
@ensure(
    lambda standing, late, result: (
        standing is not None or not late or result.answer not in (APPROVED, DENIED, ANSWERED)
    ),
    error=clause("PRK-3", "MayDecide"),
)
def decide(standing: Decision | None, proposed: Decision, late: bool) -> Decision:
    """The decision that stands: the first, and none but ``expired`` behind the deadline (`PRK-3`).

    Args:
        standing: what was decided already.
        proposed: what is said now.
        late: the deadline has passed.
    """
    if standing is not None:
        return standing
    if late and proposed.answer in (APPROVED, DENIED, ANSWERED):
        return Decision(EXPIRED, CLOCK, proposed.at)
    return proposed


def expiry(now: str) -> Decision:
    """The decision of whoever sees first that a request is late."""
    return Decision(EXPIRED, CLOCK, now)


@ensure(
    lambda kind, answer, result: (
        not result or answer in (DENIED, EXPIRED, WITHDRAWN) or (answer == APPROVED) == (kind == APPROVAL)
    ),
    error=clause("PRK-3", "MayDecide"),
)
def fits(kind: str, answer: str) -> bool:
    """Whether a request of that kind can be answered so: an approval is approved, a question answered."""
    if answer in (DENIED, EXPIRED, WITHDRAWN):
        return True
    return answer == (APPROVED if kind == APPROVAL else ANSWERED)


def request_id(subject: str, digest: str, turn: int = 1) -> str:
    """The id of a request: what it is about, the digest of that, and the turn where it is not the first."""
    return f"{subject}@{digest[:DIGITS]}" + ("" if turn == 1 else f"~{turn}")


@ensure(
    lambda digest, result: result[1] is None or result[1].request.digest == digest,
    error=clause("PRK-2", "Current"),
)
@ensure(
    lambda result: result[1] is None or result[1].state != WITHDRAWN,
    error=clause("PRK-2", "Current"),
)
def current(rows: Iterable[Filed], kind: str, subject: str, digest: str) -> tuple[str, Filed | None]:
    """The id that a request for this action or question has or would get, and the one in force (`PRK-2`).

    One that was withdrawn is never taken up again; the next turn gets an id of its own.

    Raises:
        StoreFailure: a row of that id is about something else.
    """
    known = {filed.request.request_id: filed for filed in rows}
    turn = 1
    while True:
        wanted = request_id(subject, digest, turn)
        filed = known.get(wanted)
        if filed is None:
            return wanted, None
        request = filed.request
        if (request.kind, request.subject, request.digest) != (kind, subject, digest):
            raise unreadable(wanted)
        if filed.state != WITHDRAWN:
            return wanted, filed
        turn += 1


@ensure(
    lambda own, epoch, result: all(
        filed.open and filed.request.request_id != own and filed.request.epoch <= epoch for filed in result
    ),
    error=clause("PRK-5", "Stale"),
)
def stale(rows: Sequence[Filed], own: str, epoch: int) -> list[Filed]:
    """The open requests at which the run no longer stands, as far as this driver can know (`PRK-5`).

    Args:
        own: the id of the request at which it stands; empty when at none.
        epoch: of this driver. What a later one has posted is not its to withdraw.
    """
    return [
        filed
        for filed in rows
        if filed.open and filed.request.request_id != own and filed.request.epoch <= epoch
    ]


# --- reading rows --------------------------------------------------------------------------


def unreadable(what: str) -> StoreFailure:
    """A row that nobody of this package wrote."""
    return StoreFailure(code="park.unreadable", request=what)


_TEXTS: Final = ("run_id", "request_id", "kind", "target", "subject", "digest", "reason", "asked_at")


def request_of(data: Any, name: str = "") -> Request:
    """The request in JSON data.

    Raises:
        StoreFailure: the data has another form.
    """
    if type(data) is not dict:
        raise unreadable(name)
    texts = [data.get(part) for part in _TEXTS]
    deadline, ring = data.get("deadline"), data.get("ring")
    args, epoch = data.get("args"), data.get("epoch")
    withheld, signers = data.get("withheld", False), data.get("signers", {})
    if (
        not all(type(text) is str for text in texts)
        or not all(text is None or type(text) is str for text in (deadline, ring))
        or type(args) is not dict
        or type(epoch) is not int
        or type(withheld) is not bool
        or type(signers) is not dict
    ):
        raise unreadable(name)
    return Request(
        **{part: data[part] for part in _TEXTS},
        args=args,
        deadline=deadline,
        ring=ring,
        epoch=epoch,
        withheld=withheld,
        signers=signers,
    )


def decision_of(data: Any, name: str = "") -> Decision:
    """The decision in JSON data.

    Raises:
        StoreFailure: the data has another form.
    """
    if type(data) is not dict or data.get("answer") not in ANSWERS:
        raise unreadable(name)
    texts = {part: data.get(part, "") for part in ("answer", "by", "at", "key_id", "signature")}
    if not all(type(text) is str for text in texts.values()):
        raise unreadable(name)
    return Decision(**texts, value=data.get("value"))


def extension_of(data: Any, name: str = "") -> Extension:
    """The extension in JSON data.

    Raises:
        StoreFailure: the data has another form.
    """
    parts = ("deadline", "by", "at")
    if type(data) is not dict or not all(type(data.get(part)) is str for part in parts):
        raise unreadable(name)
    return Extension(**{part: data[part] for part in parts})


def filed_of(request: str, decision: str | None, extensions: str) -> Filed:
    """The row of a database, three JSON texts, as a value.

    Raises:
        StoreFailure: none of this package wrote it.
    """
    try:
        texts = [json.loads(part) for part in (request, decision or "null", extensions)]
    except (TypeError, ValueError, RecursionError):
        raise unreadable("requests") from None
    later = texts[2] if type(texts[2]) is list else [None]
    return Filed(
        request_of(texts[0], "requests"),
        None if texts[1] is None else decision_of(texts[1], "requests"),
        tuple(extension_of(one, "requests") for one in later),
    )


def in_order(rows: Iterable[Filed], *, open_only: bool) -> list[Filed]:
    """Oldest first; of the same second, by id."""
    wanted = [filed for filed in rows if filed.open or not open_only]
    return sorted(wanted, key=lambda filed: (filed.request.asked_at, filed.request.request_id))


__all__ = [
    "ANSWERED",
    "APPROVAL",
    "APPROVED",
    "DENIED",
    "EXPIRED",
    "OPEN",
    "QUESTION",
    "WITHDRAWN",
    "Decision",
    "Extension",
    "Filed",
    "Request",
    "RequestBook",
]
