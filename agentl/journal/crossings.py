"""How questions and approvals are keyed and kept, in every journal alike (`DUR-4`, `APR-6`)."""

from __future__ import annotations

from typing import Any

from agentl.journal.entry import dump
from agentl.journal.failures import describe, rebuild
from agentl.kernel.action import ActionRequest
from agentl.kernel.approval import ApprovalRecord
from agentl.kernel.permit import stops_the_run
from agentl.values import encode


def question_key(question: Any) -> str:
    """What identifies a question: its text, or code and values where the runtime asks (`DUR-4`)."""
    code = getattr(question, "code", "")
    if not code:
        return str(question)
    return f"{code} {dump(encode(dict(question.values)))}"


def put_to_a_person(host: Any, request: ActionRequest) -> Any:
    """The raw answer of the host's approver; whatever it raises can be put on record (`KRN-3`, `DUR-7`).

    A raise refuses, of any class, and the run goes on; so it has to be in the journal like any
    other answer, or a resume would ask again where the first run was refused.
    """
    try:
        return host.approve(request)
    except Exception:
        raise
    except BaseException as problem:
        if stops_the_run(problem):
            raise
        raise rebuild(describe(problem)) from problem


def model_silence(llm: Any) -> list[str] | None:
    """The fields that a model's adapter says it could not give; ``None`` when it does not say (`LLM-1`)."""
    said = getattr(llm, "last_reason_missing", None)
    return [name for name in said if type(name) is str] if isinstance(said, list | tuple) else None


def approve_args(request: ActionRequest) -> dict[str, Any]:
    """The arguments of an ``approve`` (`DUR-4`)."""
    return {"hash": request.hash, "request": request.render()}


def approval_data(record: ApprovalRecord) -> dict[str, Any]:
    """The value of an ``approve`` (`APR-6`, `APR-7`)."""
    data = {"answer": record.answer, "by": record.by, "at": record.at}
    if record.signature:
        data |= {"key_id": record.key_id, "signature": record.signature}
    return data


def approval_from(request: ActionRequest, value: Any) -> ApprovalRecord:
    """The record that an ``approve`` entry holds, for the action it was made for."""
    data = value if isinstance(value, dict) else {}
    return ApprovalRecord(
        request.action_id,
        request.hash,
        str(data.get("answer", "denied")),
        str(data.get("by", "unknown")),
        str(data.get("at", "")),
        str(data.get("key_id", "")),
        str(data.get("signature", "")),
    )
