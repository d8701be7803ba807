"""R26: silence, an unreachable approver and an unknown word are not a yes, and are not recorded as one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agentl import Host
from agentl.errors import Parked
from agentl.kernel import Approval
from tests.field_reports.kit import Ledger, Place, answer_of, drive

PROGRAM = """
AGENT SILENT {
  TOOL transfer { INPUT { amount: Number } }
  POLICY { DEFAULT ALLOW  REQUIRE APPROVAL FOR transfer }
  PLAN pay WHEN tools.transfer.calls == 0 { transfer(amount: 10) }
}
"""


def raising(error: BaseException) -> Any:
    def approver(_request: Any) -> Any:
        raise error

    return approver


class Odd:
    """Equal to everything, true, and printing as a yes."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1

    def __str__(self) -> str:
        return "yes"


APPROVERS: dict[str, Any] = {
    "none declared": None,
    "no answer": lambda _request: None,
    "time-out": raising(TimeoutError("no answer in time")),
    "unreachable": raising(ConnectionError("no route")),
    "broken": raising(ValueError("yes")),
    "expired": lambda _request: "expired",
    "expired record": lambda _request: Approval("expired", by="clock"),
    "unknown word": lambda _request: "sure, go ahead",
    "the number one": lambda _request: 1,
    "a mapping": lambda _request: {"approved": True},
    "a list": lambda _request: [True],
    "an odd object": lambda _request: Odd(),
    "nothing in a record": lambda _request: Approval(None),
    "empty text": lambda _request: "",
    "bytes": lambda _request: b"yes",
}


@pytest.mark.parametrize("who", APPROVERS)
def test_no_answer_is_no_approval(place: Place, ledger: Ledger, who: str) -> None:
    """APR-1, APR-2, APR-6: the tool does not run; expiry is an outcome of its own."""
    host = Host()

    @host.tool("transfer")
    def transfer(amount: float) -> dict[str, str]:
        ledger.add("transfer", amount=amount)
        return {}

    host.approver = APPROVERS[who]
    run = drive(place, PROGRAM, host, ticks=2)
    assert ledger.rows() == []
    assert run.runtime.metrics["tool_calls"] == 0
    assert run.runtime.metrics["blocked"] >= 1
    assert place.of_kind("intent") == []
    answers = {answer_of(entry) for entry in place.of_kind("approve") if "value" in entry}
    assert answers <= {"denied", "expired"}
    if who.startswith("expired"):
        assert answers == {"expired"}
    elif answers:
        assert answers == {"denied"}


@pytest.mark.parametrize("within", [None, 60.0])
def test_a_parked_question_that_nobody_answers_is_never_a_yes(
    every_place: Place, ledger: Ledger, within: float | None
) -> None:
    """PRK-3, PRK-4: by default it waits; with a time it expires, under its own name."""
    place, now = every_place, [datetime(2030, 1, 1, tzinfo=UTC)]
    host = Host()
    host.now = lambda: now[0]
    host.tool("transfer")(lambda amount: ledger.add("transfer", amount=amount))
    for days in (0, 0, 400):
        now[0] += timedelta(days=days)
        if days and within is not None:
            drive(place, PROGRAM, host, park=True, answer_within=within)
            break
        with pytest.raises(Parked):
            drive(place, PROGRAM, host, park=True, answer_within=within)
    assert ledger.rows() == []
    (filed,) = place.store().requests.all()
    assert filed.state == ("open" if within is None else "expired")
    assert [answer_of(entry) for entry in place.of_kind("approve")] == ([] if within is None else ["expired"])
