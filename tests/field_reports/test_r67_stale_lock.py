"""R67: what a dead driver left behind blocks nobody, whoever has its process id now."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agentl import Host
from tests.field_reports.kit import Kill, Ledger, Place, drive, in_child

PROGRAM = """
AGENT STALE {
  TOOL act { INPUT { n: Number } }
  POLICY { DEFAULT ALLOW }
  PLAN go WHEN tools.act.calls == 0 { act(n: 1) }
}
"""


def world(ledger: Ledger) -> Host:
    host = Host()

    @host.tool("act", idempotent=True)
    def act(n: float) -> dict[str, str]:
        ledger.add("act", n=n)
        return {}

    return host


@pytest.mark.real_kill
@pytest.mark.parametrize(
    "note", ["as left", "live process", "half written", "empty", "garbage", "far future"]
)
def test_a_file_note_decides_nothing(tmp_path, ledger: Ledger, note: str) -> None:
    """STO-3, STO-6: the lease is an OS lock; lease.json is for people and may say anything."""
    place = Place("file", tmp_path)
    assert in_child(lambda: drive(place, PROGRAM, world(ledger), kill=Kill("after", "intent"))).killed
    path = place.path / "run" / "lease.json"
    text = path.read_text(encoding="utf-8")
    written = {
        "live process": text.replace(str(json.loads(text).get("epoch")), "1"),
        "half written": text[: len(text) // 2],
        "empty": "",
        "garbage": "\0\0{{{",
        "far future": json.dumps(
            {"epoch": 10**9, "holder": f"here:{os.getppid()}", "since": "2999-01-01T00:00:00+00:00"}
        ),
    }.get(note, text)
    path.write_text(written, encoding="utf-8")
    assert in_child(lambda: drive(place, PROGRAM, world(ledger)).status).ok() == "completed"
    assert len(ledger.rows()) == 1


@pytest.mark.real_kill
def test_a_row_of_a_dead_process_is_taken_over_at_once(database_place: Place, ledger: Ledger) -> None:
    """STO-6: on the same machine a process known to be dead holds nothing."""
    place = database_place
    assert in_child(lambda: drive(place, PROGRAM, world(ledger), kill=Kill("after", "intent"))).killed
    assert in_child(lambda: drive(place, PROGRAM, world(ledger)).status).ok() == "completed"
    assert len(ledger.rows()) == 1


@pytest.mark.real_kill
def test_a_row_whose_process_id_is_another_process_now(database_place: Place, ledger: Ledger) -> None:
    """STO-6: identity is more than a number: a reused process id is not the old holder."""
    place = database_place
    dead = in_child(lambda: drive(place, PROGRAM, world(ledger), kill=Kill("after", "intent")))
    assert dead.killed
    ((holder,),) = place.change("SELECT holder FROM leases")
    numbers = [part for part in "".join(c if c.isdigit() else " " for c in holder).split() if int(part) > 1]
    pid = next(part for part in numbers if not Path(f"/proc/{part}").exists())
    changed = holder.replace(pid, str(os.getpid()))
    place.change(f"UPDATE leases SET holder = '{changed}' RETURNING 1")
    assert in_child(lambda: drive(place, PROGRAM, world(ledger)).status).ok() == "completed"
    assert len(ledger.rows()) == 1
