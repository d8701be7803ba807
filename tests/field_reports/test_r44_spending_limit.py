"""R44: a spending limit counts each call once, however often the run is killed and resumed."""

from __future__ import annotations

from typing import Any

import pytest

from agentl import Host, Retry
from tests.field_reports.kit import Kill, Ledger, Place, drive, in_child

PROGRAM = """
AGENT SPENDER {
  TOOL pay { INPUT { cost: Number } }
  POLICY {
    DEFAULT ALLOW
    NEVER pay WHEN tools.pay.calls * 10 + cost > 35
  }
  PLAN go WHEN 1 == 1 { pay(cost: 10) }
}
"""
TICKS = 5


def world(ledger: Ledger, promise: str) -> Host:
    host = Host()

    @host.tool("pay", idempotent=promise == "idempotent", retry=Retry(attempts=9))
    def pay(cost: float) -> dict[str, str]:
        ledger.add("pay", cost=cost)
        return {}

    if promise == "reconcilable":

        @host.reconciler("pay")
        def paid(args: Any, context: Any) -> Any:
            from agentl.durable import NOT_EXECUTED

            return {} if any(row["key"] == context.idempotency_key for row in ledger.rows()) else NOT_EXECUTED

    return host


def effects(ledger: Ledger) -> int:
    """Effects as a receiver counts them: one per key."""
    return len({row["key"] for row in ledger.rows()})


@pytest.mark.real_kill
@pytest.mark.parametrize("promise", ["idempotent", "reconcilable", "plain"])
@pytest.mark.parametrize(
    ("when", "kind"), [("before", "intent"), ("after", "intent"), ("before", "invoke"), ("after", "invoke")]
)
def test_killed_at_every_call_the_limit_stays(
    place: Place, ledger: Ledger, promise: str, when: str, kind: str
) -> None:
    """TOL-9, DUR-2: three calls of ten and not a fourth, whatever the number of resumes; a doubt is spent."""
    for nth in (1, 2, 3):
        ended = in_child(
            lambda nth=nth: drive(
                place, PROGRAM, world(ledger, promise), ticks=TICKS, kill=Kill(when, kind, 1)
            )
        )
        assert ended.killed, ended
    last = in_child(
        lambda: drive(place, PROGRAM, world(ledger, promise), ticks=TICKS).runtime.state.world
    ).ok()
    assert last["tools.pay.calls"] == 3
    doubts = [entry for entry in place.of_kind("resolution") if "in_doubt" in str(entry["args"])]
    assert effects(ledger) <= 3
    if promise == "plain":
        assert effects(ledger) + (len(doubts) if kind == "intent" else 0) == 3
    else:
        assert effects(ledger) == 3
        assert not doubts


def test_without_a_break_the_fourth_is_denied(place: Place, ledger: Ledger) -> None:
    """POL-2: the plain case, for comparison."""
    run = drive(place, PROGRAM, world(ledger, "plain"), ticks=TICKS)
    assert len(ledger.rows()) == 3
    assert run.runtime.metrics["blocked"] == TICKS - 3
