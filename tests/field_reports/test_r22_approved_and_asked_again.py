"""R22: an approval that was given is honoured after a restart, whatever else is different there."""

from __future__ import annotations

import os
from typing import Any

import pytest

from agentl import Host, messages
from agentl.durable.requests import Decision
from tests.field_reports.kit import Kill, Ledger, Place, answer_of, drive, in_child

PROGRAM = """
AGENT APPROVED {
  TOOL transfer { INPUT { amount: Number } }
  POLICY { DEFAULT ALLOW  REQUIRE APPROVAL FOR transfer }
  PLAN pay WHEN tools.transfer.calls == 0 { transfer(amount: 10) }
}
"""


def world(ledger: Ledger, asked: Ledger, answer: Any = True, **attributes: Any) -> Host:
    host = Host()
    for name, value in attributes.items():
        setattr(host, name, value)

    @host.tool("transfer", idempotent=True)
    def transfer(amount: float) -> dict[str, str]:
        ledger.add("transfer", amount=amount)
        return {}

    def ask(request: Any) -> Any:
        asked.add("asked", amount=request.args["amount"])
        return answer

    host.approver = ask
    return host


@pytest.mark.real_kill
@pytest.mark.parametrize(
    "kill", [Kill("after", "approve"), Kill("before", "intent"), Kill("after", "intent")]
)
@pytest.mark.parametrize(
    "context", ["same", "language", "folder", "options", "attributes", "refusing approver"]
)
def test_the_answer_is_kept_and_the_tool_runs_once(
    place: Place, ledger: Ledger, tmp_path: Any, kill: Kill, context: str
) -> None:
    """APR-6, RES-4: asked once, recorded, run once; nothing outside the action changes the binding."""
    asked = Ledger(tmp_path / "asked.jsonl")
    assert in_child(lambda: drive(place, PROGRAM, world(ledger, asked), kill=kill)).killed
    assert len(asked.rows()) == 1
    assert ledger.rows() == []

    def resume() -> str:
        attributes: dict[str, Any] = {}
        options: dict[str, Any] = {}
        if context == "language":
            messages.set_language("en")
        elif context == "folder":
            os.chdir(tmp_path)
        elif context == "options":
            options = {"tool_breaker": 7, "tool_cooldown": 9}
        elif context == "attributes":
            attributes = {"trace_sink": lambda _event: None, "worker": "w-2"}
        answer = context != "refusing approver"
        return drive(place, PROGRAM, world(ledger, asked, answer, **attributes), **options).status

    assert in_child(resume).ok() == "completed"
    assert len(asked.rows()) == 1, "not asked again"
    assert len(ledger.rows()) == 1
    records = place.of_kind("approve")
    assert len(records) == 1
    assert answer_of(records[0]) == "approved"


@pytest.mark.real_kill
@pytest.mark.parametrize("kill", [None, Kill("after", "approve"), Kill("after", "intent")])
def test_a_parked_run_that_was_answered_goes_on_in_another_process(
    every_place: Place, ledger: Ledger, tmp_path: Any, kill: Kill | None
) -> None:
    """PRK-6: parked, answered, taken up with another context, killed on the way: one question, one effect."""
    place, asked = every_place, Ledger(tmp_path / "asked.jsonl")
    parked = in_child(lambda: drive(place, PROGRAM, world(ledger, asked), park=True))
    assert parked.error == "Parked"
    book = place.store().requests
    (filed,) = book.all()
    book.decide(filed.request.request_id, Decision("approved", "owner", "2030-01-01T00:00:00+00:00"))
    host = world(ledger, asked, False, worker="w-2")
    if kill is not None:
        assert in_child(lambda: drive(place, PROGRAM, host, kill=kill, park=True, tool_breaker=7)).killed
    assert in_child(lambda: drive(place, PROGRAM, host, park=True).status).ok() == "completed"
    assert (asked.rows(), len(ledger.rows())) == ([], 1)
    assert len(place.store().requests.all()) == 1
    assert [answer_of(entry) for entry in place.of_kind("approve")] == ["approved"]
