"""R47: a known key with another body is refused as such, and the first answer is not given for it."""

from __future__ import annotations

import http.client
import importlib.util
import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentl import Host
from agentl.kernel import InvalidArguments
from tests.field_reports.kit import ROOT, Ledger, Place, drive

BODY = {"to": "acct-1", "amount": 10}


def example(name: str) -> Any:
    """A module of the payments example, which is no package."""
    spec = importlib.util.spec_from_file_location(
        f"payments_example_{name}", ROOT / "docs" / "examples" / "payments" / f"{name}.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def bank(tmp_path: Path) -> Iterator[Any]:
    module = example("bank")
    server = module.Bank(0, module.Ledger(tmp_path / "bank.db"), module.Hold(None, None, None, 0))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def post(bank: Any, path: str, body: str, key: str = "k-1") -> tuple[int, dict[str, Any]]:
    connection = http.client.HTTPConnection("127.0.0.1", bank.server_address[1], timeout=10)
    connection.request("POST", path, body, {"Idempotency-Key": key, "Content-Type": "application/json"})
    answer = connection.getresponse()
    content = json.loads(answer.read())
    connection.close()
    return answer.status, content


@pytest.mark.parametrize(
    "other",
    [
        {"to": "acct-1", "amount": 11},
        {"to": "acct-2", "amount": 10},
        {"to": "acct-1 ", "amount": 10},
        {"to": "ACCT-1", "amount": 10},
        {"to": "acct-1", "amount": True},
        {"to": "acct-1", "amount": 10.0},
        {"to": "acct-1", "amount": "10"},
        {"to": "acct-1"},
    ],
    ids=json.dumps,
)
def test_another_body_is_a_mismatch_without_effect(bank: Any, other: dict[str, Any]) -> None:
    """DUR-2: what makes a promise of idempotence true: one booking, and a refusal that is its own."""
    status, first = post(bank, "/transfers", json.dumps(BODY))
    assert status == 201
    status, answer = post(bank, "/transfers", json.dumps(other))
    assert status in {400, 422}
    assert "error" in answer
    assert first["reference"] not in json.dumps(answer)
    assert len(bank.ledger.contents()["transfers"]) == 1


@pytest.mark.parametrize(
    "same",
    [
        '{"amount": 10, "to": "acct-1"}',
        '{\n "to" : "acct-1",\n "amount" : 10 }',
        '{"to":"\\u0061cct-1","amount":10}',
    ],
)
def test_the_same_body_in_another_writing_is_a_repetition(bank: Any, same: str) -> None:
    """The first answer is given again, for order and white space are not part of a request."""
    _, first = post(bank, "/transfers", json.dumps(BODY))
    status, again = post(bank, "/transfers", same)
    assert status == 201
    assert again == {**first, "repeated": True}
    assert len(bank.ledger.contents()["transfers"]) == 1


def test_the_key_on_another_service_is_another_matter(bank: Any) -> None:
    """A key belongs to the service that took it."""
    post(bank, "/transfers", json.dumps(BODY))
    status, _ = post(bank, "/messages", json.dumps({"message_id": "k-1", "text": "paid"}))
    assert status == 201
    assert len(bank.ledger.contents()["messages"]) == 1


def test_of_many_at_once_one_books(bank: Any) -> None:
    """The key is inserted under its unique constraint in the transaction that books."""
    statuses: list[int] = []
    bodies = [{**BODY, "amount": 10 + number % 2} for number in range(8)]
    threads = [
        threading.Thread(
            target=lambda body=body: statuses.append(post(bank, "/transfers", json.dumps(body))[0])
        )
        for body in bodies
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [201] * 4 + [422] * 4
    assert len(bank.ledger.contents()["transfers"]) == 1


def test_the_program_learns_that_nothing_was_done(bank: Any, place: Place, ledger: Ledger) -> None:
    """TOL-3: a mismatch is a sure failure, neither a success nor a doubt."""
    service = example("payments").Bank(f"http://127.0.0.1:{bank.server_address[1]}")
    post(bank, "/transfers", json.dumps(BODY), key="taken")
    program = """
    AGENT MISMATCH {
      TOOL transfer { INPUT { amount: Int, to: String } OUTPUT { reference: String } }
      TOOL failed { INPUT { n: Int } }
      POLICY { DEFAULT ALLOW }
      PLAN go WHEN tools.failed.calls == 0 {
        transfer(amount: 11, to: "acct-1")
        IF tools.transfer.in_doubt == false AND tools.transfer.calls == 0 THEN { failed(n: 1) }
      }
    }
    """
    host = Host()
    raised: list[BaseException] = []

    @host.tool("transfer", idempotent=True)
    def transfer(amount: int, to: str) -> dict[str, str]:
        try:
            return {"reference": service.transfer(amount, to, "taken")}
        except InvalidArguments as refusal:
            raised.append(refusal)
            raise

    @host.tool("failed")
    def failed(n: int) -> dict[str, str]:
        ledger.add("failed", n=n)
        return {}

    drive(place, program, host)
    assert len(raised) == 1, "a sure failure is not tried again"
    assert len(ledger.rows("failed")) == 1
    assert len(bank.ledger.contents()["transfers"]) == 1
