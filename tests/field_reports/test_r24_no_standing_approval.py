"""R24: an approval covers one call with its arguments, and no later one, however alike."""

from __future__ import annotations

from typing import Any

import pytest

from agentl import Host
from agentl.durable.requests import Decision
from agentl.errors import Parked
from tests.field_reports.kit import Ledger, Place, drive

PROGRAM = """
AGENT SENDS {
  TOOL send { INPUT { to: String, text: String } }
  POLICY { DEFAULT ALLOW  REQUIRE APPROVAL FOR send }
  PLAN go WHEN done != yes {
    SET done = yes
    send(to: "a", text: "x")  send(to: "b", text: "x")  send(to: "a", text: "y")  send(to: "a", text: "x")
  }
}
"""


def test_each_call_is_asked_about_anew(place: Place, ledger: Ledger) -> None:
    """APR-6, PRK-2: the same call again is another action; there are no standing approvals."""
    host = Host()

    @host.tool("send", idempotent=True)
    def send(to: str, text: str) -> dict[str, Any]:
        ledger.add("send", to=to, text=text)
        return {}

    digests = []
    for number in range(4):
        with pytest.raises(Parked):
            drive(place, PROGRAM, host, park=True)
        assert len(ledger.rows()) == number, "nothing runs without a decision of its own"
        book = place.store().requests
        (filed,) = book.all(open_only=True)
        digests.append(filed.request.digest)
        book.decide(filed.request.request_id, Decision("approved", "owner", "2030-01-01T00:00:00+00:00"))
    drive(place, PROGRAM, host, park=True)
    assert len(ledger.rows()) == 4
    assert digests[0] == digests[3] != digests[1]
    assert len(place.of_kind("approve")) == 4
