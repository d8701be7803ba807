"""R45: every attempt of one action carries the same key and body, and the key is on disk before the first."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from agentl import Host, Retry
from agentl.kernel import current_action
from tests.field_reports.kit import Kill, Place, die, drive, in_child

PROGRAM = """
AGENT PAYER {
  TOOL charge { INPUT { amount: Number, to: String } OUTPUT { receipt: String } }
  POLICY { DEFAULT ALLOW }
  PLAN pay WHEN tools.charge.calls == 0 { charge(amount: 10, to: "a") }
}
"""


class Receiver:
    """A service that keeps the key under a unique constraint and books in the same transaction."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self.connect() as database:
            database.execute("CREATE TABLE IF NOT EXISTS effects (key TEXT PRIMARY KEY, amount, recipient)")
            database.execute("CREATE TABLE IF NOT EXISTS requests (key, amount, recipient, process, known)")

    def connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, isolation_level=None)

    def charge(self, key: str, amount: float, to: str, *, known: bool) -> str:
        with self.connect() as database:
            body = (key, amount, to)
            database.execute("INSERT INTO requests VALUES (?, ?, ?, ?, ?)", (*body, os.getpid(), known))
            database.execute("INSERT INTO effects VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING", body)
        return f"receipt-{key[:8]}"

    def rows(self, table: str) -> list[tuple[Any, ...]]:
        with self.connect() as database:
            return database.execute(f"SELECT * FROM {table}").fetchall()


def world(place: Place, receiver: Receiver, trouble: str = "") -> Host:
    host = Host()

    @host.tool("charge", idempotent=True, retry=Retry(attempts=4))
    def charge(amount: float, to: str) -> dict[str, str]:
        action = current_action()
        assert action is not None
        if trouble == "P2":
            die()
        intents = place.of_kind("intent")
        known = any(entry["args"]["key"] == action.idempotency_key for entry in intents)
        receipt = receiver.charge(action.idempotency_key, amount, to, known=known)
        if trouble == "P3":
            die()
        if trouble == "time-out" and action.attempt < 3:
            raise TimeoutError("committed, and the answer was lost")
        return {"receipt": receipt}

    return host


@pytest.mark.real_kill
@pytest.mark.parametrize("trouble", ["P2", "P3", "P4", "time-out", "time-out and P4"])
def test_one_key_one_body_one_effect(place: Place, tmp_path: Path, trouble: str) -> None:
    """KRN-10, DUR-6, RES-6, INV-9: key independent of process and attempt, and durable before the effect."""
    receiver = Receiver(tmp_path / "receiver.db")
    kill = Kill("before", "invoke") if "P4" in trouble else None
    first = in_child(
        lambda: drive(place, PROGRAM, world(place, receiver, trouble.split(" and ")[0]), kill=kill)
    )
    assert first.killed is (trouble != "time-out")
    assert in_child(lambda: drive(place, PROGRAM, world(place, receiver)).status).ok() == "completed"
    requests = receiver.rows("requests")
    assert len(receiver.rows("effects")) == 1
    assert len(requests) >= (1 if trouble == "P2" else 2)
    assert {row[:3] for row in requests} == {requests[0][:3]}, "byte-identical key and body"
    assert all(row[4] for row in requests), "the key was in the journal before each attempt"
    assert [entry["args"]["key"] for entry in place.of_kind("intent")] == [requests[0][0]]


def test_two_actions_of_one_run_never_share_a_key(place: Place, tmp_path: Path) -> None:
    """KRN-10: the same call twice, wanted twice, is two actions."""
    receiver = Receiver(tmp_path / "receiver.db")
    twice = PROGRAM.replace(
        'charge(amount: 10, to: "a") }', 'charge(amount: 10, to: "a") charge(amount: 10, to: "a") }'
    )
    drive(place, twice, world(place, receiver))
    assert len(receiver.rows("effects")) == 2


def test_two_runs_never_share_a_key(place: Place, tmp_path: Path) -> None:
    """KRN-10: and the same run id and program give the same key on another day and machine."""
    receiver = Receiver(tmp_path / "receiver.db")
    drive(place, PROGRAM, world(place, receiver))
    host = world(place, receiver)
    drive(place, PROGRAM, host, run_id="other")
    assert len(receiver.rows("effects")) == 2
    keys = {entry["args"]["key"] for run in ("run", "other") for entry in place.of_kind("intent", run_id=run)}
    assert len(keys) == 2
