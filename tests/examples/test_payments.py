"""The payments example with its real bank: what the ledger says after every kind of end."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agentl.cli.app import main
from tests.support.bank import Payments, payments
from tests.support.command import PAYMENTS, ROOT
from tools.bootstrap_demo import run_demo

ONCE = {"transfers": 1, "messages": 1, "fees": 1}


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Payments]:
    with payments(tmp_path_factory.mktemp("bank")) as opened:
        yield opened


def counts(ledger: dict[str, list[object]]) -> dict[str, int]:
    return {name: len(ledger[name]) for name in ONCE}


def test_the_program_is_clean(capsys: pytest.CaptureFixture[str]) -> None:
    """`CHK-1`: the example that everybody reads first has no error."""
    assert main(["check", str(PAYMENTS / "payments.agent")]) == 0
    assert "✗" not in capsys.readouterr().out


def test_a_key_books_once_however_many_ask_at_once(bank: Payments) -> None:
    """The unique key decides in the same transaction that books: ten at once, one booking."""
    body = {"to": "acct-9", "amount": 7}

    def ask(_turn: int) -> tuple[int, object]:
        return bank.ask("/transfers", body, Idempotency_Key="at-once")

    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(ask, range(10)))
    assert {status for status, _ in answers} == {201}
    assert [entry for entry in bank.ledger()["transfers"] if entry["key"] == "at-once"] == [
        {"key": "at-once", **body}
    ]


@pytest.mark.parametrize(
    ("body", "key", "status"),
    [
        ({"to": "acct-1", "amount": True}, "k1", 400),
        ({"to": "acct-1", "amount": 1.5}, "k1", 400),
        ({"to": "acct-1", "amount": -1}, "k1", 400),
        ({"to": "", "amount": 1}, "k1", 400),
        ([], "k1", 400),
        ({"to": "acct-1", "amount": 1}, "", 400),
        ({"to": "acct-1", "amount": 999_999}, "k1", 409),
    ],
)
def test_a_refusal_books_nothing(bank: Payments, body: object, key: str, status: int) -> None:
    """A refused transfer leaves neither a booking nor its key behind."""
    before = bank.ledger()
    assert bank.ask("/transfers", body, Idempotency_Key=key)[0] == status
    assert bank.ledger() == before


def test_a_key_with_other_parameters_is_refused(bank: Payments) -> None:
    """The same key for another transfer is an error of the caller: 422, and the first booking stands."""
    assert bank.ask("/transfers", {"to": "acct-2", "amount": 3}, Idempotency_Key="other")[0] == 201
    assert bank.ask("/transfers", {"to": "acct-2", "amount": 4}, Idempotency_Key="other")[0] == 422
    assert bank.ask("/transfers", {"to": "acct-3", "amount": 3}, Idempotency_Key="other")[0] == 422
    booked = [entry for entry in bank.ledger()["transfers"] if entry["key"] == "other"]
    assert booked == [{"key": "other", "to": "acct-2", "amount": 3}]


def test_a_run_that_nothing_disturbs(tmp_path: Path) -> None:
    """Each effect once; the same line again finds the run completed and calls nothing (`DCL-1`, `RES-3`)."""
    with payments(tmp_path) as place:
        first = place.run()
        assert first.code == 0, first.err
        assert counts(place.ledger()) == ONCE
        again = place.run()
        assert again.code == 0, again.err
        assert counts(place.ledger()) == ONCE


def test_nobody_approves_nothing_moves(tmp_path: Path) -> None:
    """`APR-2`: without an approver the transfer is refused, and the plan stops before the rest."""
    with payments(tmp_path) as place:
        ended = place.run(PAYMENTS_APPROVER="")
        assert ended.code == 0, ended.err
        assert counts(place.ledger()) == {"transfers": 0, "messages": 0, "fees": 0}


@pytest.mark.real_kill
def test_killed_three_times_resumed_three_times(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """`DUR-2`, `RES-6`: a real SIGKILL after each kind of booking; the ledger holds each effect once."""
    assert run_demo(ROOT, Path(sys.executable), tmp_path / "demo") == 0, capfd.readouterr().out
