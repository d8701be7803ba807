"""Approvals: what counts as yes, and the record that ties it to one action."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from agentl.kernel import APPROVAL_WORDS, ActionRequest, Approval, approval_granted
from agentl.kernel.approval import ApprovalRecord, approval_record
from agentl.values import Symbol
from tests.support.kernels import Bank, authorized, kernel, rule, transfer

NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


class Lying(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "yes"


@pytest.mark.parametrize("answer", [True, *APPROVAL_WORDS, " YES ", Symbol("Oui"), "ACCEPTÉ\n"])
def test_words_that_approve(answer: Any) -> None:
    """APR-1, APR-5."""
    assert approval_granted(answer) is True


@pytest.mark.parametrize(
    "answer",
    [
        False,
        None,
        1,
        1.0,
        "",
        "no",
        "yes!",
        "yes please",
        "sure",
        {"answer": "yes"},
        ["yes"],
        object(),
        b"yes",
        Lying("no"),
        Symbol("no"),
        "expired",
    ],
)
def test_everything_else_refuses(answer: Any) -> None:
    """APR-1."""
    assert approval_granted(answer) is False


def test_the_words_are_those_of_the_clause() -> None:
    """APR-1."""
    wanted = {"yes", "y", "true", "ok", "approve", "approved", "oui", "accord", "accepte", "accepté"}
    assert set(APPROVAL_WORDS) == wanted


def test_a_record_names_the_action_the_answer_who_and_when() -> None:
    """APR-6."""
    request = ActionRequest("pay", action_id="r:a:t1:a1", hash="h")
    record = approval_record(Approval("yes", by="ada"), request, NOON)
    assert record == ApprovalRecord("r:a:t1:a1", "h", "approved", "ada", "2026-05-04T12:00:00+00:00")
    assert approval_record("no", request, None) == ApprovalRecord("r:a:t1:a1", "h", "denied", "unknown", "")
    assert approval_record(Symbol("Expired"), request, None).answer == "expired"
    assert approval_record(Approval("yes", by=3), request, None).by == "unknown"  # type: ignore[arg-type]
    paris = NOON.astimezone(timezone(timedelta(hours=2)))
    assert approval_record(True, request, paris).at == "2026-05-04T12:00:00+00:00"


ASKING = (rule("REQUIRE_APPROVAL", "transfer"),)


def test_a_yes_grants_and_the_approver_sees_id_and_digest() -> None:
    """APR-6, KRN-1, KRN-3."""
    gate = kernel(*ASKING)
    gate.clock = lambda: NOON
    shown: list[ActionRequest] = []

    def approver(request: ActionRequest) -> Any:
        shown.append(request)
        return Approval(True, by="ada")

    result = authorized(gate, approve=approver)
    assert result.granted
    assert result.approved
    assert result.permit is not None
    assert result.permit.approved
    assert (shown[0].action_id, shown[0].hash) == (result.permit.action_id, result.permit.action_hash)
    assert result.record == ApprovalRecord(
        result.permit.action_id, result.permit.action_hash, "approved", "ada", "2026-05-04T12:00:00+00:00"
    )


@pytest.mark.parametrize(
    ("answer", "code"),
    [(False, "apr.denied"), ("expired", "apr.expired"), (None, "apr.denied"), (1, "apr.denied")],
)
def test_another_answer_stops_at_the_approval(answer: Any, code: str) -> None:
    """APR-1, KRN-3."""
    result = authorized(kernel(*ASKING), approve=lambda _request: answer)
    assert (result.stage, result.code, result.granted, result.approved) == ("approval", code, False, False)
    assert result.detail


def test_no_approver_refuses() -> None:
    """APR-2."""
    result = authorized(kernel(*ASKING))
    assert (result.stage, result.code) == ("approval", "apr.no_approver")
    assert not authorized(kernel(*ASKING), approve=Bank().host.approve).granted


class Oddity(BaseException):
    pass


@pytest.mark.parametrize("error", [ValueError("x"), Oddity(), GeneratorExit(), StopIteration()])
def test_an_approver_that_raises_refuses(error: BaseException) -> None:
    """APR-2, KRN-3: BaseException included; never a yes."""
    seen: list[Any] = []

    class Watch:
        def approver_failed(self, request: ActionRequest, problem: BaseException) -> None:
            seen.append((request.tool, problem))

    def approver(_request: ActionRequest) -> Any:
        raise error

    result = authorized(kernel(*ASKING), approve=approver, observer=Watch())
    assert (result.stage, result.code) == ("approval", "apr.failed")
    assert seen == [("transfer", error)]


def test_what_an_approver_does_to_its_copy_changes_nothing() -> None:
    """APR-3, INV-6."""
    gate = kernel(*ASKING)

    def greedy(request: ActionRequest) -> Any:
        request.args["amount"] = 999
        request.tool = "wipe"
        request.action_id = "other"
        request.hash = "other"
        return True

    bank = Bank()
    result = authorized(gate, approve=greedy)
    assert result.permit is not None
    gate.execute(result.permit, bank.host)
    assert bank.effects == [{"amount": 100, "to": "acct-1"}]


@pytest.mark.parametrize("effect", ["NEVER", "DENY"])
def test_a_prohibition_is_never_put_to_a_person(effect: str) -> None:
    """APR-4, INV-2."""
    asked: list[Any] = []
    result = authorized(kernel(rule(effect, "transfer"), *ASKING), approve=asked.append)
    assert (result.stage, asked) == ("policy", [])


def test_a_record_approves_only_the_action_of_its_id_and_digest() -> None:
    """APR-6."""
    gate = kernel(*ASKING)
    good: list[ApprovalRecord] = []

    def honest(request: ActionRequest) -> Any:
        good.append(ApprovalRecord(request.action_id, request.hash, "approved", "ada"))
        return good[-1]

    assert authorized(gate, approve=honest).granted
    # The same record for another amount, and for the same action proposed again.
    for request in (transfer(101), transfer(100)):
        again = authorized(gate, request, approve=lambda _request: good[0])
        assert (again.stage, again.code) == ("approval", "apr.mismatch")
    malformed = authorized(
        gate, approve=lambda request: ApprovalRecord(request.action_id, request.hash, "yes", "ada")
    )
    assert not malformed.granted


def test_a_ring_that_nothing_verifies_refuses() -> None:
    """GRM-10, KRN-3: fail closed until signed approvals can be checked."""
    gate = kernel(rule("REQUIRE_APPROVAL", "transfer", by="board"))
    result = authorized(gate, approve=lambda _request: True)
    assert (result.stage, result.code, result.values["name"]) == ("approval", "apr.no_ring", "board")
