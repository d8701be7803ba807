"""The greenhouse example of the guide: most of the language once, and it does what its comments say."""

from __future__ import annotations

from pathlib import Path

from tests.support.command import ROOT, here

FILE = ROOT / "docs" / "examples" / "greenhouse" / "greenhouse.agent"
SHOWN = {
    *("sensor.read", "goal.score", "event.handled", "plan.queued", "delegate.done", "llm.answer"),
    *("ask.question", "ask.answer", "stm.set", "tool.done", "foreach.start", "verify.ok", "memory.write"),
    *("approval.pending", "approval.given", "loop.until"),
}


def test_the_greenhouse_is_watered(tmp_path: Path) -> None:
    """`CLI-3`, `CLI-5`: no error, each of its statements seen at work, and its loop ends by UNTIL."""
    assert here("check", FILE, "--json").data["errors"] == 0
    for more in ([], ["--durable", tmp_path / "run"]):
        ended = here("run", FILE, "--json", *more)
        assert (ended.code, ended.err.count("⚠")) == (0, 0)
        assert ended.data["ended"] == "until"
        assert {event["code"] for event in ended.data["trace"]} >= SHOWN
        assert {event["kind"] for event in ended.data["trace"]} & {"ERROR", "BLOCKED", "VERIFY_FAIL"} == set()
