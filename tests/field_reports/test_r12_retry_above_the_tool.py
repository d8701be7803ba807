"""R12: a retried block does not repeat effects unless its author asked for that."""

from __future__ import annotations

import pytest

from agentl import Host
from tests.field_reports.kit import Kill, Ledger, Place, codes, drive, in_child

PROGRAM = """
AGENT BLOCK {{
  TOOL pay {{ INPUT {{ amount: Number }} }}
  TOOL mail {{ INPUT {{ to: String }} }}
  POLICY {{ DEFAULT ALLOW {rules} }}
  PLAN block WHEN tools.pay.calls == 0 {{
    STEP act {{ pay(amount: 10) mail(to: "a") }}
    STEP verify {{ VERIFY "quality" {{ report.good == yes ON FAIL {{ RETRY 2{start} }} }} }}
  }}
}}
"""
ONCE = "NEVER pay WHEN tools.pay.calls >= 1  NEVER mail WHEN tools.mail.calls >= 1"


def world(ledger: Ledger) -> Host:
    host = Host()

    @host.tool("pay")
    def pay(amount: float) -> dict[str, str]:
        ledger.add("pay", amount=amount)
        return {}

    @host.tool("mail")
    def mail(to: str) -> dict[str, str]:
        ledger.add("mail", to=to)
        return {}

    return host


def test_a_plain_retry_does_not_repeat_earlier_steps(place: Place, ledger: Ledger) -> None:
    """TCK-13: a retry goes back to the step that failed, not to the effects before it."""
    drive(place, PROGRAM.format(rules="", start=""), world(ledger))
    assert ledger.tools() == ["pay", "mail"]


def test_at_most_once_per_run_can_be_written_down(place: Place, ledger: Ledger) -> None:
    """TOL-9: with the rule, the second pass is refused even when it starts from the beginning."""
    run = drive(place, PROGRAM.format(rules=ONCE, start=" FROM START"), world(ledger))
    assert ledger.tools() == ["pay", "mail"]
    refusals = [event.text + event.detail for event in run.runtime.trace.events if event.kind == "BLOCKED"]
    assert len(refusals) == 4
    assert all("NEVER" in refusal for refusal in refusals)


def test_a_wanted_repeat_is_asked_for_and_visible(place: Place, ledger: Ledger) -> None:
    """TCK-13, KRN-10: FROM START repeats, under other ids and keys, and the history shows the retries."""
    run = drive(place, PROGRAM.format(rules="", start=" FROM START"), world(ledger))
    assert ledger.tools() == ["pay", "mail"] * 3
    assert len({row["key"] for row in ledger.rows()}) == 6
    assert codes(run.runtime).count("plan.retry") == 2


@pytest.mark.real_kill
@pytest.mark.parametrize("nth", [1, 2])
@pytest.mark.parametrize("when", ["before", "after"])
def test_the_rule_holds_across_a_kill(place: Place, ledger: Ledger, when: str, nth: int) -> None:
    """TOL-9: the count is re-derived on resume, a doubt counts as a call."""
    program = PROGRAM.format(rules=ONCE, start=" FROM START")
    assert in_child(lambda: drive(place, program, world(ledger), kill=Kill(when, "invoke", nth))).killed
    assert in_child(lambda: drive(place, program, world(ledger)).status).ok() == "completed"
    assert ledger.tools() == ["pay", "mail"]
