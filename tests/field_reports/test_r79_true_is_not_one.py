"""R79: values that the host language calls equal are different actions when their types differ."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from itertools import permutations
from typing import Any

import pytest

from agentl import Host, Runtime, State, Symbol
from agentl.kernel import ActionRequest, Kernel, PermitError, action_digest
from agentl.kernel.approval import ApprovalRecord
from agentl.replay import Journal, RecordingHost, ReplayDivergence, ReplayHost, encode
from tests.field_reports.kit import Ledger, agent_of

PROGRAM = """
AGENT TYPES {
  TOOL act { INPUT { flag: Any } }
  POLICY { DEFAULT ALLOW  REQUIRE APPROVAL FOR act }
}
"""
EQUAL: list[list[Any]] = [
    [True, 1, 1.0, Decimal(1), "1", Symbol("1")],
    [False, 0, 0.0, -0.0, Decimal(0), "", None],
    ["yes", Symbol("yes"), True, "Yes"],
    [[1], (1,), {1}, "[1]"],
    [{"a": 1}, {"a": True}, {"a": 1.0}, [["a", 1]]],
    [b"a", "a", Symbol("a")],
]
PAIRS = [pair for family in EQUAL for pair in permutations(family, 2)]
WRAPS = {
    "bare": lambda v: v,
    "list": lambda v: [v],
    "mapping": lambda v: {"k": {"n": v}},
    "tuple": lambda v: (0, (v,)),
}


@pytest.mark.parametrize("wrap", WRAPS)
def test_every_type_has_a_digest_of_its_own(wrap: str) -> None:
    """KRN-2: at any depth."""
    for family in EQUAL:
        digests = [action_digest("invoke", "act", {"flag": WRAPS[wrap](value)}) for value in family]
        assert len(set(digests)) == len(family), family


@pytest.mark.parametrize("wrap", WRAPS)
def test_an_approval_of_one_is_none_of_the_other(wrap: str) -> None:
    """APR-6: the record's digest must be that of the action."""
    for approved, executed in PAIRS:
        shown: list[Any] = []
        request = ActionRequest("act", {"flag": WRAPS[wrap](approved)})
        Kernel(agent_of(PROGRAM)).authorize(
            request,
            State(),
            approve=lambda seen, shown=shown: shown.append((seen.action_id, seen.hash)) or True,
        )
        record = ApprovalRecord(*shown[0], "approved", "owner", "2026-01-01T00:00:00+00:00")
        other = replace(request, args={"flag": WRAPS[wrap](executed)})
        refused = Kernel(agent_of(PROGRAM)).authorize(
            other, State(), approve=lambda _request, record=record: record
        )
        assert not refused.granted, (approved, executed)


@pytest.mark.parametrize("wrap", WRAPS)
def test_a_permit_of_one_does_not_run_the_other(ledger: Ledger, wrap: str) -> None:
    """KRN-13, INV-6: what reaches the host is compared by canonical bytes."""
    for approved, executed in PAIRS:

        class Swapping(Host):
            def invoke(self, name: str, args: Any, executed: Any = executed) -> Any:
                return super().invoke(name, {"flag": WRAPS[wrap](executed)})

        host = Swapping()
        host.tool("act")(lambda flag: ledger.add("act", flag=flag))
        host.approver = lambda _request: True
        runtime = Runtime(agent_of(PROGRAM), host)
        with pytest.raises(PermitError):
            runtime.call_tool("act", {"flag": WRAPS[wrap](approved)})
    assert ledger.rows() == []


@pytest.mark.parametrize("wrap", ["bare", "mapping"])
def test_a_replay_does_not_take_one_for_the_other(wrap: str) -> None:
    """RPL-6: other arguments are a divergence, although the language calls them equal."""
    for recorded, replayed in PAIRS:
        journal = Journal([], {})
        host = Host()
        host.tool("act")(lambda flag: {})
        program = agent_of(PROGRAM.replace("REQUIRE APPROVAL FOR act", ""))
        Runtime(program, RecordingHost(host, journal)).call_tool("act", {"flag": WRAPS[wrap](recorded)})
        journal.seal("")
        again = Journal.loads(json.dumps(json.loads(journal.dumps())))
        with pytest.raises(ReplayDivergence):
            Runtime(program, ReplayHost(again)).call_tool("act", {"flag": WRAPS[wrap](replayed)})


def test_the_journal_form_differs_too() -> None:
    """ENC-1, ENC-3: what is stored for one is not what is stored for the other."""
    for family in EQUAL:
        texts = [json.dumps(encode(value)) for value in family]
        assert len(set(texts)) == len(family), texts
