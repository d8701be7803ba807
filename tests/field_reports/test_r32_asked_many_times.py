"""R32: however often the question is sent, it is one question with one id, and one answer counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentl import Host
from agentl.durable.requests import Decision
from agentl.errors import Parked
from tests.field_reports.kit import Ledger, Place, die, drive, in_child

PROGRAM = """
AGENT NOTICES {
  TOOL transfer { INPUT { amount: Number } }
  POLICY { DEFAULT ALLOW  REQUIRE APPROVAL FOR transfer }
  PLAN pay WHEN tools.transfer.calls == 0 { transfer(amount: 10) }
}
"""


def world(ledger: Ledger, outbox: Path, answer: Any) -> Host:
    host = Host()

    @host.tool("transfer", idempotent=True)
    def transfer(amount: float) -> dict[str, str]:
        ledger.add("transfer", amount=amount)
        return {}

    def ask(request: Any) -> Any:
        with outbox.open("a", encoding="ascii") as file:
            file.write(json.dumps([request.action_id, request.hash]) + "\n")
        if answer == "killed":
            die()
        if isinstance(answer, BaseException):
            raise answer
        return answer

    host.approver = ask
    return host


@pytest.mark.real_kill
@pytest.mark.parametrize("answer", [True, "denied"])
def test_repeated_notices_carry_one_id_and_the_first_decision_stays(
    place: Place, ledger: Ledger, tmp_path: Path, answer: Any
) -> None:
    """DUR-2, APR-6, RES-4: asked again after each kill under the same id and digest; decided once."""
    outbox = tmp_path / "outbox.jsonl"
    for _ in range(5):
        assert in_child(lambda: drive(place, PROGRAM, world(ledger, outbox, "killed"))).killed
    assert in_child(lambda: drive(place, PROGRAM, world(ledger, outbox, answer)).status).ok() == "completed"
    for later in (True, "denied", "killed"):
        assert in_child(lambda later=later: drive(place, PROGRAM, world(ledger, outbox, later)).status).ok()
    notices = outbox.read_text(encoding="ascii").splitlines()
    assert len(notices) == 6
    assert len(set(notices)) == 1
    assert len(place.of_kind("approve")) == 1
    assert len(ledger.rows()) == (1 if answer is True else 0)


def test_a_notifier_that_times_out_after_delivering_is_a_refusal_and_asks_once(
    place: Place, ledger: Ledger, tmp_path: Path
) -> None:
    """APR-2: the runtime does not repeat a question by itself; a raise refuses this action."""
    outbox = tmp_path / "outbox.jsonl"
    drive(place, PROGRAM, world(ledger, outbox, TimeoutError("late")))
    assert len(outbox.read_text(encoding="ascii").splitlines()) == 1
    assert ledger.rows() == []


def test_five_notices_of_one_parked_request_and_three_answers(every_place: Place, ledger: Ledger) -> None:
    """PRK-3, PRK-4: one id in every notice; the first answer stands, the others hear "decided already"."""
    place, notices = every_place, []

    def notify(request: Any) -> None:
        notices.append(request.request_id)
        raise TimeoutError("delivered, and then no answer")

    host = Host()
    host.notifier = notify
    host.tool("transfer", idempotent=True)(lambda amount: ledger.add("transfer", amount=amount))
    for _ in range(5):
        with pytest.raises(Parked):
            drive(place, PROGRAM, host, park=True)
    assert (len(notices), len(set(notices))) == (5, 1)
    at = "2030-01-01T00:00:00+00:00"
    first = Decision("approved", "a", at)
    for said in (first, Decision("approved", "b", at), Decision("denied", "c", at)):
        assert place.store().requests.decide(notices[0], said) == first
    for _ in range(3):
        drive(place, PROGRAM, host, park=True)
    assert len(ledger.rows()) == 1
    assert len(place.store().requests.all()) == 1
