"""Approvals: which answers approve, and the record that ties an answer to one action."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from json import dumps
from typing import Any, Final

from agentl.kernel.action import ActionRequest
from agentl.kernel.protocol import Answer
from agentl.values import Symbol

APPROVAL_WORDS: Final = (
    "yes",
    "y",
    "true",
    "ok",
    "approve",
    "approved",
    "oui",
    "accord",
    "accepte",
    "accepté",
)
_EXPIRED: Final = "expired"
_STATEMENT: Final = b"agentl.approval.v1\n"


@dataclass(frozen=True, slots=True)
class Approval:
    """An approver's answer together with who gave it (`APR-6`), and when, if it is signed (`APR-7`)."""

    answer: Any
    by: str | None = None
    at: str | None = None
    key_id: str = ""
    signature: str = ""


@dataclass(frozen=True, slots=True)
class ApprovalRecord:
    """One answer, for the action of this id and digest only (`APR-6`).

    ``answer`` is ``approved``, ``denied`` or ``expired``; ``at`` is UTC in ISO form. ``signature`` is over
    ``approval_statement`` (`APR-7`), with the key of that id.
    """

    action_id: str
    hash: str
    answer: str
    by: str = "unknown"
    at: str = ""
    key_id: str = ""
    signature: str = ""


def approval_granted(answer: Any) -> bool:
    """True for the boolean True and the words of ``APPROVAL_WORDS``; nothing else approves (`APR-1`)."""
    if answer is True:
        return True
    word = _word(answer)
    return word is not None and word in APPROVAL_WORDS


def _word(answer: Any) -> str | None:
    # Exact types: a subclass could lie about its own text.
    if type(answer) is str or type(answer) is Symbol:
        return str(answer).strip().lower()
    return None


def approval_record(raw: Any, request: ActionRequest, at: datetime | str | None) -> ApprovalRecord:
    """What an approver's raw answer means for the action of ``request`` (`APR-1`, `APR-6`).

    Args:
        raw: what the approver returned: an answer, an ``Approval``, or the record itself, which counts as a
            refusal when it is for another action.
        request: the request with the id and digest that the kernel gave it; an approver's own copy
            may have been changed, so do not pass that one.
        at: when it was answered (``host.now()``), or its ISO text.
    """
    if type(raw) is ApprovalRecord:
        if raw.action_id == request.action_id and raw.hash == request.hash:
            return raw
        raw = Approval(False, raw.by)
    said = raw if type(raw) is Approval else Approval(raw)
    answer, by = said.answer, said.by
    if approval_granted(answer):
        meaning = Answer.APPROVED
    elif _word(answer) == _EXPIRED:
        meaning = Answer.EXPIRED
    else:
        meaning = Answer.DENIED
    return ApprovalRecord(
        action_id=request.action_id,
        hash=request.hash,
        answer=meaning.value,
        by=by if isinstance(by, str) and by else "unknown",
        at=iso_time(at if said.at is None else said.at),
        key_id=said.key_id,
        signature=said.signature,
    )


def approval_statement(run_id: str, record: ApprovalRecord) -> bytes:
    """What a signed approval signs: the run, the action, its digest, the answer, who and when (`APR-7`)."""
    fields = {
        "run_id": run_id,
        "action_id": record.action_id,
        "hash": record.hash,
        "answer": record.answer,
        "by": record.by,
        "at": record.at,
    }
    return _STATEMENT + dumps(fields, sort_keys=True, separators=(",", ":")).encode("ascii")


def signed_by(ring: Any, run_id: str, record: ApprovalRecord) -> bool:
    """Whether the ring says that a key of it signed the record; anything but ``True`` is no (`APR-7`)."""
    parts = (run_id, record.action_id, record.hash, record.answer, record.by, record.at)
    if not all(type(part) is str for part in (*parts, record.key_id, record.signature)):
        return False
    statement = approval_statement(run_id, record)
    return ring.verify(statement, record.by, record.key_id, record.signature) is True


def iso_time(at: datetime | str | None) -> str:
    """A time in UTC and ISO form, to the second; empty when there is none."""
    if at is None:
        return ""
    if isinstance(at, str):
        return at
    moment = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    return moment.isoformat(timespec="seconds")


def record_answer(record: ApprovalRecord) -> Answer:
    """The answer of a record; anything malformed counts as a refusal (`APR-1`)."""
    try:
        return Answer(record.answer)
    except ValueError:
        return Answer.DENIED


__all__ = ["APPROVAL_WORDS", "Approval", "ApprovalRecord", "approval_granted", "approval_record"]
