"""R25: a question to a person survives the process that asked it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentl import Host
from tests.field_reports.kit import Ledger, Place, answer_of, command, die, drive, in_child

PROGRAM = """
AGENT PAYS {
  TOOL transfer { INPUT { amount: Number } }
  POLICY { DEFAULT ALLOW  REQUIRE APPROVAL FOR transfer }
  PLAN pay WHEN done != yes { SET done = yes  transfer(amount: 10) }
}
"""


def world(ledger: Ledger, killed: bool = False) -> Host:
    host = Host()
    if killed:
        host.notifier = lambda _request: die()

    @host.tool("transfer", idempotent=True)
    def transfer(amount: float) -> dict[str, Any]:
        ledger.add("transfer", amount=amount)
        return {}

    return host


@pytest.mark.real_kill
def test_killed_listed_answered_elsewhere_and_gone_on(
    every_place: Place, ledger: Ledger, tmp_path: Path
) -> None:
    """PRK-1, PRK-6, PRK-10: killed while it waits; listed and answered with no worker; taken up once."""
    place = every_place
    assert in_child(lambda: drive(place, PROGRAM, world(ledger, killed=True), park=True)).killed
    address = place.dsn if place.kind == "postgres" else str(place.path)
    if place.kind == "sqlite":
        address = f"sqlite:{place.path}"
    listed = command("approvals", "list", address, "--json", cwd=tmp_path)
    assert listed.returncode == 6
    (row,) = json.loads(listed.stdout)["requests"]
    assert (row["target"], row["args"]) == ("transfer", {"amount": 10})
    assert row["age_seconds"] >= 0
    assert row["reason"]
    answered = command("approvals", "approve", address, row["request_id"], "--by", "owner", cwd=tmp_path)
    assert answered.returncode == 0, answered.stderr
    for _ in range(2):
        assert in_child(lambda: drive(place, PROGRAM, world(ledger), park=True).status).ok() == "completed"
    assert len(ledger.rows()) == 1
    history = [entry["kind"] for entry in place.entries()]
    steps = ["park", "approve", "intent", "invoke"]
    assert [kind for kind in history if kind in steps] == steps
    (record,) = place.of_kind("approve")
    assert answer_of(record) == "approved"
    assert dict(record["value"]["$dict"])["by"] == "owner"
