"""R29: an approval is bound to the action, not to how it was presented."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agentl import Host, State
from agentl.durable.requests import Decision
from agentl.errors import Parked
from agentl.kernel import ActionRequest, Kernel, action_digest
from agentl.messages import set_language
from agentl.replay import ReplayDivergence
from tests.field_reports.kit import Kill, Ledger, Place, agent_of, drive, in_child

PROGRAM = """
AGENT BOUND {
  TOOL wipe { INPUT { host: String, depth: Number } }
  POLICY { DEFAULT ALLOW  REQUIRE APPROVAL FOR wipe }
  PLAN clean WHEN tools.wipe.calls == 0 { wipe(host: "db", depth: 2) }
}
"""


def record_for(request: ActionRequest) -> Any:
    """The record that a person's yes to ``request`` makes."""
    kernel = Kernel(agent_of(PROGRAM))
    kept: list[Any] = []

    def approve(shown: Any) -> Any:
        kept.append((shown.action_id, shown.hash))
        return True

    assert kernel.authorize(request, State(), approve=approve).granted
    from agentl.kernel.approval import ApprovalRecord

    action_id, digest = kept[0]
    return ApprovalRecord(action_id, digest, "approved", "owner", "2026-01-01T00:00:00+00:00")


REQUEST = ActionRequest("wipe", {"host": "db", "depth": 2}, "LOW", [], "plan", 1.0, {})


@pytest.mark.parametrize(
    "again",
    [
        replace(REQUEST, args={"depth": 2, "host": "db"}),
        replace(REQUEST, origin="llm"),
        replace(REQUEST, confidence=0.25),
        replace(REQUEST, risk="HIGH"),
        replace(REQUEST, side_effects=["disk"]),
    ],
    ids=["key order", "origin", "confidence", "risk text", "side effects"],
)
def test_presentation_is_no_part_of_the_binding(again: ActionRequest) -> None:
    """APR-6, KRN-2: the same action under another presentation is accepted without a new question."""
    assert action_digest("invoke", "wipe", again.args) == action_digest("invoke", "wipe", REQUEST.args)
    record = record_for(REQUEST)
    granted = Kernel(agent_of(PROGRAM)).authorize(again, State(), approve=lambda _request: record)
    assert granted.granted, granted.detail


@pytest.mark.parametrize(
    "args",
    [
        {"host": "db2", "depth": 2},
        {"host": "db", "depth": 3},
        {"host": "db", "depth": 2.0},
        {"host": "db ", "depth": 2},
        {"host": "db", "depth": True},
        {"host": "db", "depth": 2, "force": True},
        {"host": "db"},
    ],
)
def test_a_changed_action_needs_a_new_decision(args: dict[str, Any]) -> None:
    """APR-6: the opposite fault."""
    record = record_for(REQUEST)
    granted = Kernel(agent_of(PROGRAM)).authorize(
        replace(REQUEST, args=args), State(), approve=lambda _request: record
    )
    assert not granted.granted
    assert granted.permit is None


def test_a_record_is_spent_by_one_action() -> None:
    """APR-6, KRN-10: the next action has another id, so the old yes does not cover it."""
    record = record_for(REQUEST)
    kernel = Kernel(agent_of(PROGRAM))
    assert kernel.authorize(REQUEST, State(), approve=lambda _request: record).granted
    assert not kernel.authorize(REQUEST, State(), approve=lambda _request: record).granted


def world(ledger: Ledger, asked: list[Any]) -> Host:
    host = Host()

    @host.tool("wipe", idempotent=True)
    def wipe(host: str, depth: float) -> dict[str, str]:
        ledger.add("wipe", host=host, depth=depth)
        return {}

    host.approver = lambda request: asked.append(request) or True
    return host


@pytest.mark.real_kill
@pytest.mark.parametrize(
    "layout",
    [
        ("PLAN clean", "# a new comment\n  PLAN clean"),
        ('wipe(host: "db", depth: 2)', 'CALL wipe(host = "db",, depth = 2)'),
        ("{ INPUT { host: String, depth: Number } }", "{\n INPUT {\n host: String depth: Number\n }\n}"),
    ],
    ids=["comment", "noise words", "layout"],
)
def test_another_layout_of_the_same_program_spends_the_approval(
    place: Place, ledger: Ledger, layout: tuple[str, str]
) -> None:
    """AST-7, APR-6: comments, commas and line breaks between asking and running change nothing."""
    assert in_child(lambda: drive(place, PROGRAM, world(ledger, []), kill=Kill("after", "approve"))).killed
    changed = PROGRAM.replace(*layout)
    assert changed != PROGRAM
    asked: list[Any] = []
    drive(place, changed, world(ledger, asked))
    assert asked == []
    assert len(ledger.rows()) == 1


def test_a_record_for_other_arguments_in_the_journal_is_a_divergence() -> None:
    """DRF-2: said where a journal is read; the digest in the record is compared, not trusted."""
    assert issubclass(ReplayDivergence, Exception)
    one = action_digest("invoke", "wipe", {"host": "db", "depth": 2})
    two = action_digest("invoke", "wipe", {"host": "db", "depth": 3})
    assert one != two


def test_the_wording_is_no_part_of_a_request(place: Place, ledger: Ledger) -> None:
    """PRK-2: in another language, at another time, with another deadline it is the same request."""
    with pytest.raises(Parked):
        drive(place, PROGRAM, world(ledger, []), park=True)
    set_language("en")
    for within in (None, 60.0):
        with pytest.raises(Parked):
            drive(place, PROGRAM, world(ledger, []), park=True, answer_within=within)
    set_language(None)
    book = place.store().requests
    (filed,) = book.all()
    book.decide(filed.request.request_id, Decision("approved", "owner", "2030-01-01T00:00:00+00:00"))
    drive(place, PROGRAM, world(ledger, []), park=True)
    assert len(ledger.rows()) == 1
