"""The page about approvals does what it says: its commands are run, in its order."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

from tests.support.bank import payments
from tests.support.command import ROOT

PAGE = ROOT / "docs" / "approvals.md"
COMMAND = re.compile(r"^agentl (.+?) +# exit code (\d+)$", re.MULTILINE)


def test_the_commands_of_the_page(tmp_path: Path) -> None:
    """PRK-10: parked, listed, shown, approved, too late, gone on; the bank has booked once."""
    commands = COMMAND.findall(PAGE.read_text(encoding="utf-8"))
    assert len(commands) == 8
    with payments(tmp_path) as place:
        request = ""
        for words, code in commands:
            if "REQUEST" in words and not request:
                rows = json.loads(place.agentl("approvals", "list", "runs", "--json").out)["requests"]
                request = rows[0]["request_id"]
                assert place.ledger()["transfers"] == []
            ended = place.agentl(*shlex.split(words.replace("REQUEST", request)), PAYMENTS_APPROVER="")
            assert ended.code == int(code), (words, ended.err)
        assert len(place.ledger()["transfers"]) == 1
        assert len(place.ledger()["messages"]) == 1


def test_the_page_is_found() -> None:
    """The guide leads to it."""
    assert "](approvals.md)" in (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
