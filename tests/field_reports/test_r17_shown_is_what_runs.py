"""R17: the arguments a person approves are the arguments that run, value for value."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from agentl import Host
from agentl.durable.requests import Decision
from agentl.errors import Parked
from agentl.kernel import PermitError, action_digest
from tests.field_reports.kit import Ledger, Place, drive

PROGRAM = """
AGENT SHOWN {
  OBSERVE { desk.amount }
  TOOL transfer { INPUT { amount: Number, to: String, urgent: Bool } }
  POLICY { DEFAULT ALLOW  REQUIRE APPROVAL FOR transfer }
  PLAN pay WHEN tools.transfer.calls == 0 { transfer(amount: desk.amount, to: acct, urgent: yes) }
}
"""


def world(ledger: Ledger, shown: list[Any], approve: Any = None, host: Host | None = None) -> Host:
    host = host or Host()
    host.sensor("desk.amount")(lambda: 100)

    @host.tool("transfer")
    def transfer(amount: float, to: str, urgent: bool) -> dict[str, str]:
        ledger.add("transfer", amount=amount, to=to, urgent=urgent)
        return {}

    def ask(request: Any) -> Any:
        shown.append(copy.deepcopy((request.args, request.action_id, request.hash)))
        return approve(request) if approve else True

    host.approver = ask
    return host


def test_what_is_shown_is_already_coerced_and_is_what_runs(place: Place, ledger: Ledger) -> None:
    """KRN-5, KRN-6, APR-6, INV-6: symbols became text and booleans before the person saw them."""
    shown: list[Any] = []
    drive(place, PROGRAM, world(ledger, shown))
    args, action_id, digest = shown[0]
    assert args == {"amount": 100, "to": "acct", "urgent": True}
    assert type(args["to"]) is str
    assert type(args["urgent"]) is bool
    assert digest == action_digest("invoke", "transfer", args)
    ran = ledger.rows()[0]
    assert ran["id"] == action_id
    assert ran["args"]["amount"][1] == "100"
    assert ran["args"]["to"] == ["str", "'acct'"]
    assert ran["args"]["urgent"] == ["bool", "True"]
    record = place.of_kind("approve")[0]
    assert record["args"]["hash"] == digest
    assert place.of_kind("intent")[0]["args"]["hash"] == digest


@pytest.mark.parametrize("change", ["clamp", "fill", "replace", "drop"])
def test_an_approver_cannot_change_what_runs(place: Place, ledger: Ledger, change: str) -> None:
    """APR-3, KRN-3: the approver works on a copy of its own."""

    def meddle(request: Any) -> bool:
        if change == "clamp":
            request.args["amount"] = 50
        elif change == "fill":
            request.args["memo"] = "added"
        elif change == "drop":
            del request.args["to"]
        else:
            object.__setattr__(request, "args", {"amount": 1, "to": "thief", "urgent": True})
        return True

    drive(place, PROGRAM, world(ledger, [], meddle))
    assert [row["args"]["amount"][1] for row in ledger.rows()] == ["100"]
    assert ledger.rows()[0]["args"]["to"][1] == "'acct'"
    assert place.of_kind("intent")[0]["args"]["hash"] == action_digest(
        "invoke", "transfer", {"amount": 100, "to": "acct", "urgent": True}
    )


@pytest.mark.parametrize(
    "later",
    [
        lambda args: {**args, "amount": 50},
        lambda args: {**args, "amount": 100.0},
        lambda args: {**args, "to": "default"},
        lambda args: {**args, "memo": "x"},
        lambda args: {"amount": args["amount"], "to": args["to"]},
    ],
    ids=["clamped", "other type", "recipient", "added", "dropped"],
)
def test_a_hook_after_the_approval_makes_the_host_refuse(place: Place, ledger: Ledger, later: Any) -> None:
    """KRN-13, INV-6: the permit is bound to the digest; another call is refused before the tool starts."""

    class Hooked(Host):
        def invoke(self, name: str, args: Any) -> Any:
            return super().invoke(name, later(dict(args)))

    with pytest.raises(PermitError) as refused:
        drive(place, PROGRAM, world(ledger, [], host=Hooked()))
    assert refused.value.code == "permit.arguments"
    assert ledger.rows() == []


def test_the_request_that_is_kept_holds_the_final_arguments(place: Place, ledger: Ledger) -> None:
    """PRK-1, PRK-2: coerced before they were kept; the digest is that of the call that runs."""
    with pytest.raises(Parked):
        drive(place, PROGRAM, world(ledger, []), park=True)
    book = place.store().requests
    (filed,) = book.all()
    assert filed.request.args == {"amount": 100, "to": "acct", "urgent": True}
    assert filed.request.digest == action_digest("invoke", "transfer", dict(filed.request.args))
    book.decide(filed.request.request_id, Decision("approved", "owner", "2030-01-01T00:00:00+00:00"))
    drive(place, PROGRAM, world(ledger, []), park=True)
    assert [row["args"]["amount"][1] for row in ledger.rows()] == ["100"]
    assert place.of_kind("intent")[0]["args"]["hash"] == filed.request.digest
