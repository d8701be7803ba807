"""R83: one command lists everything that waits for a person, over all runs, once each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentl import Host
from agentl.durable import DurableRun
from agentl.errors import Parked
from agentl.kernel import NotExecuted
from tests.field_reports.kit import Ledger, Place, agent_of, command, drive

ASKS = """
AGENT ASKS {
  OBSERVE { desk.iban }
  TOOL transfer { INPUT { amount: Number, to: String } }
  POLICY { DEFAULT ALLOW  REQUIRE APPROVAL FOR transfer  NEVER SEND desk.iban }
  PLAN pay WHEN done != yes { SET done = yes  transfer(amount: 10, to: desk.iban) }
}
"""
ACTS = """
AGENT ACTS {
  TOOL transfer { INPUT { amount: Number } }
  POLICY { DEFAULT ALLOW }
  PLAN pay WHEN done != yes { SET done = yes  transfer(amount: 10) }
}
"""


def world(ledger: Ledger, *, doubt: bool = False) -> Host:
    host = Host()
    host.sensor("desk.iban")(lambda: "FR7630006000011234567890189")

    @host.tool("transfer")
    def transfer(amount: float, to: str = "") -> dict[str, Any]:
        if doubt:
            raise TimeoutError("no answer")
        ledger.add("transfer", amount=amount)
        return {}

    return host


def test_forty_runs_and_one_list(every_place: Place, ledger: Ledger, tmp_path: Path) -> None:
    """PRK-10: 5 wait for an approval, 3 are in doubt, 6 are driven, the others are over."""
    place = every_place
    for number in range(5):
        with pytest.raises(Parked):
            drive(place, ASKS, world(ledger), run_id=f"wait-{number}", park=True)
    for number in range(3):
        drive(place, ACTS, world(ledger, doubt=True), run_id=f"doubt-{number}")
    for number in range(26):
        drive(place, ACTS, world(ledger), run_id=f"over-{number}")
    driven = [
        DurableRun(agent_of(ACTS), world(ledger), store=place.store(f"on-{number}"), run_id=f"on-{number}")
        for number in range(6)
    ]
    try:
        address = place.dsn if place.kind == "postgres" else str(place.path)
        address = f"sqlite:{address}" if place.kind == "sqlite" else address
        listed = command("approvals", "list", address, "--json", cwd=tmp_path)
        shown = command("approvals", "list", address, cwd=tmp_path)
    finally:
        for run in driven:
            run.close()
    assert listed.returncode == shown.returncode == 6
    report = json.loads(listed.stdout)
    assert [row["run_id"] for row in report["requests"]] == [f"wait-{number}" for number in range(5)]
    assert [row["run_id"] for row in report["doubts"]] == [f"doubt-{number}" for number in range(3)]
    for row in report["requests"]:
        assert row["args"]["amount"] == 10
        assert "FR76" not in json.dumps(row)
        assert row["reason"]
        assert shown.stdout.count(row["request_id"]) == 1
    assert "FR76" not in shown.stdout
    assert all(shown.stdout.count(row["action_id"]) == 1 for row in report["doubts"])
    assert NotExecuted.__name__ not in shown.stdout


def test_nothing_waits(every_place: Place, ledger: Ledger, tmp_path: Path) -> None:
    """PRK-10: exit 0 where nothing waits."""
    place = every_place
    drive(place, ACTS, world(ledger), run_id="over")
    address = place.dsn if place.kind == "postgres" else str(place.path)
    address = f"sqlite:{address}" if place.kind == "sqlite" else address
    assert command("approvals", "list", address, cwd=tmp_path).returncode == 0
