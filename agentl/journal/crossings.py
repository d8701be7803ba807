"""How questions and approvals are keyed and kept, in every journal alike (`DUR-4`, `APR-6`)."""

from __future__ import annotations

from typing import Any

from agentl.journal.entry import dump
from agentl.kernel.action import ActionRequest
from agentl.kernel.approval import ApprovalRecord
from agentl.values import encode


def question_key(question: Any) -> str:
    """What identifies a question: its text, or code and values where the runtime asks (`DUR-4`)."""
    code = getattr(question, "code", "")
    if not code:
        return str(question)
    return f"{code} {dump(encode(dict(question.values)))}"


def approve_args(request: ActionRequest) -> dict[str, Any]:
    """The arguments of an ``approve`` (`DUR-4`)."""
    return {"hash": request.hash, "request": request.render()}


def approval_data(record: ApprovalRecord) -> dict[str, Any]:
    """The value of an ``approve`` (`APR-6`)."""
    return {"answer": record.answer, "by": record.by, "at": record.at}


def approval_from(request: ActionRequest, value: Any) -> ApprovalRecord:
    """The record that an ``approve`` entry holds, for the action it was made for."""
    data = value if isinstance(value, dict) else {}
    return ApprovalRecord(
        request.action_id,
        request.hash,
        str(data.get("answer", "denied")),
        str(data.get("by", "unknown")),
        str(data.get("at", "")),
    )
