"""R11: a run resumed with other settings is refused, or the difference is reported; never ignored."""

from __future__ import annotations

import pytest

from agentl import Host
from agentl.durable import DurableError
from tests.field_reports.kit import Kill, Ledger, Place, drive, in_child

PROGRAM = """
AGENT SETTINGS {
  OBSERVE { desk.subject }
  TOOL study { INPUT { subject: String } }
  TOOL publish { INPUT { subject: String } }
  POLICY { DEFAULT ALLOW  NEVER publish WHEN subject == forbidden }
  PLAN go WHEN tools.study.calls == 0 { study(subject: desk.subject) publish(subject: desk.subject) }
}
"""


def world(ledger: Ledger, subject: str = "tin", *, idempotent: bool = True) -> Host:
    host = Host()
    host.sensor("desk.subject")(lambda: subject)
    for name in ("study", "publish"):

        def call(subject: str, name: str = name) -> dict[str, str]:
            ledger.add(name, subject=subject)
            return {}

        host.tool(name, idempotent=idempotent)(call)
    return host


def killed_after_step_one(place: Place, ledger: Ledger, point: str = "invoke") -> None:
    ended = in_child(lambda: drive(place, PROGRAM, world(ledger), ticks=3, kill=Kill("after", point, 1)))
    assert ended.killed


@pytest.mark.real_kill
@pytest.mark.parametrize(
    "change",
    [
        ("DEFAULT ALLOW", "DEFAULT DENY ALLOW study ALLOW publish"),
        ("TOOL publish { INPUT { subject: String } }", "TOOL publish { INPUT { subject: Symbol } }"),
        (
            "TOOL publish { INPUT { subject: String } }",
            "TOOL publish { INPUT { subject: String } RISK HIGH }",
        ),
        ("subject == forbidden", "subject == tin"),
        ("publish(subject: desk.subject)", 'publish(subject: "lead")'),
    ],
    ids=["policy default", "tool type", "tool risk", "policy rule", "plan"],
)
def test_another_program_tool_or_policy_is_refused(
    place: Place, ledger: Ledger, change: tuple[str, str]
) -> None:
    """DRF-1, AST-7: program, tool set and policy are one identity; the refusal names it."""
    killed_after_step_one(place, ledger)
    changed = PROGRAM.replace(*change)
    assert changed != PROGRAM
    with pytest.raises(DurableError) as refused:
        drive(place, changed, world(ledger), ticks=3)
    assert refused.value.code == "durable.program_changed"
    assert ledger.tools() == ["study"]


@pytest.mark.real_kill
def test_another_tick_limit_or_run_id_is_refused(place: Place, ledger: Ledger) -> None:
    """RES-2, DRF-1: both values are named."""
    killed_after_step_one(place, ledger)
    with pytest.raises(DurableError) as refused:
        drive(place, PROGRAM, world(ledger), ticks=4)
    assert refused.value.code == "durable.tick_limit"
    assert {"3", "4"} <= {str(value) for value in refused.value.values.values()}
    if place.kind == "file":
        store = place.store()
        with pytest.raises(DurableError) as refused:
            drive(place, PROGRAM, world(ledger), ticks=3, store=store, run_id="another")
        assert refused.value.code == "durable.other_run"
    assert ledger.tools() == ["study"]


@pytest.mark.real_kill
def test_other_inputs_do_not_mix_with_the_old_ones(place: Place, ledger: Ledger) -> None:
    """DUR-1: what was read before the kill is what the run goes on with, whatever the sensor says now."""
    killed_after_step_one(place, ledger)
    drive(place, PROGRAM, world(ledger, "lead"), ticks=3)
    assert [row["args"]["subject"][1] for row in ledger.rows()] == ["'tin'", "'tin'"]


@pytest.mark.real_kill
@pytest.mark.parametrize("point", ["intent", "invoke"])
def test_a_host_that_promises_something_else_is_reported(place: Place, ledger: Ledger, point: str) -> None:
    """RES-9: the change is named, and a promise that is no longer made is not used."""
    killed_after_step_one(place, ledger, point)
    run = drive(place, PROGRAM, world(ledger, idempotent=False), ticks=3)
    assert run.promise_changes
    assert "study" in str(run.promise_changes)
    if point == "intent":
        assert run.runtime.state.world["tools.study.in_doubt"] is True
        assert not ledger.rows("study")
