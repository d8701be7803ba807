"""R52: an append that stops inside a record loses nothing acknowledged and glues nothing together."""

from __future__ import annotations

import resource
import signal
from pathlib import Path

import pytest

from agentl import Host
from tests.field_reports.kit import Kill, Ledger, Place, drive, in_child

PROGRAM = """
AGENT TORN {
  TOOL wipe { INPUT { folder: String } }
  POLICY { DEFAULT ALLOW }
  PLAN clean WHEN tools.wipe.calls < 3 { wipe(folder: "d\u00e9p\u00f4t \u20ac \U0001f5d1") }
}
"""
TICKS = 5


def world(ledger: Ledger) -> Host:
    host = Host()

    @host.tool("wipe", idempotent=True)
    def wipe(folder: str) -> dict[str, str]:
        ledger.add("wipe", folder=folder)
        return {}

    return host


def limited(place: Place, ledger: Ledger, size: int) -> None:
    """A run on a disk on which no file can grow beyond ``size`` bytes (a signal is turned into an error)."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    drive(place, PROGRAM, world(ledger), ticks=TICKS)


def sizes(place: Place, tmp_path: Path) -> list[int]:
    """Places to stop: spread over all records, and every byte around a multi-byte character."""
    clean = Place(place.kind, tmp_path / "clean")
    clean.base.mkdir()
    drive(clean, PROGRAM, world(Ledger(tmp_path / "clean.jsonl")), ticks=TICKS)
    if place.kind == "sqlite":
        return [4096 * pages + 700 for pages in (1, 3, 5, 6, 8, 10, 13)]
    log = (clean.path / "run" / "wal.jsonl").read_bytes().rstrip(b"\0")
    accent = max(log.find("\u20ac".encode()), log.find(b"\\u20ac"))
    around = list(range(accent - 1, accent + 4)) if accent > 0 else []
    return sorted({*range(40, len(log), max(1, len(log) // 24)), *around})


def test_a_full_disk_at_any_byte_is_reported_and_repaired(place: Place, tmp_path: Path) -> None:
    """STO-5, DRF-3, DUR-6: the failure is the store's, no effect goes unwritten, the run resumes."""
    stopped = 0
    for size in sizes(place, tmp_path):
        here = Place(place.kind, tmp_path / f"at{size}")
        here.base.mkdir()
        ledger = Ledger(tmp_path / f"ledger{size}.jsonl")
        first = in_child(lambda here=here, ledger=ledger, size=size: limited(here, ledger, size))
        done = len(ledger.rows())
        if first.error:
            stopped += 1
            assert first.error in {"StoreFailure", "OSError", "DurableError"}, (size, first.trail)
        ended = in_child(
            lambda here=here, ledger=ledger: drive(here, PROGRAM, world(ledger), ticks=TICKS).status
        )
        assert ended.ok() == "completed", size
        entries = here.entries()
        assert [entry["seq"] for entry in entries] == list(range(len(entries)))
        keys = [row["key"] for row in ledger.rows()]
        assert len(set(keys)) == 3, (size, done)
        assert {entry["args"]["key"] for entry in entries if entry["kind"] == "intent"} == set(keys)
        assert len([entry for entry in entries if entry["kind"] == "invoke"]) == 3
    assert stopped >= 5


def test_a_cut_at_every_byte_of_the_last_record_keeps_the_rest(tmp_path: Path) -> None:
    """STO-5: after the repair ten more records are written and read, none fused with the torn one."""
    place = Place("file", tmp_path)
    ledger = Ledger(tmp_path / "ledger.jsonl")
    drive(place, PROGRAM, world(ledger), ticks=TICKS)
    log = place.path / "run" / "wal.jsonl"
    whole = log.read_bytes().rstrip(b"\0")
    lines = whole.splitlines(keepends=True)
    head = len(b"".join(lines[: len(lines) // 2]))
    record = lines[len(lines) // 2]
    for cut in range(1, len(record), 3):
        base = tmp_path / f"cut{cut}"
        torn = Place("file", base)
        (torn.path / "run").mkdir(parents=True)
        (torn.path / "run" / "wal.jsonl").write_bytes(whole[: head + cut])
        drive(torn, PROGRAM, world(Ledger(base / "ledger.jsonl")), ticks=TICKS)
        entries = torn.entries()
        assert [entry["seq"] for entry in entries] == list(range(len(entries)))
        assert len(entries) >= len(lines)
        drive(torn, PROGRAM, world(Ledger(base / "ledger.jsonl")), ticks=TICKS)


@pytest.mark.real_kill
def test_nothing_of_a_long_torn_record_is_left_behind_a_short_one(tmp_path: Path) -> None:
    """STO-5: killed again right after the first record behind the repair, the journal is still readable."""
    place = Place("file", tmp_path)
    drive(place, PROGRAM, world(Ledger(tmp_path / "ledger.jsonl")), ticks=TICKS)
    lines = (place.path / "run" / "wal.jsonl").read_bytes().rstrip(b"\0").splitlines(keepends=True)
    longest = max(range(3, len(lines) - 1), key=lambda number: len(lines[number]))
    for left in (1, 2, 60, 120):
        base = tmp_path / f"left{left}"
        torn = Place("file", base)
        (torn.path / "run").mkdir(parents=True)
        tail = lines[longest][:-left]
        (torn.path / "run" / "wal.jsonl").write_bytes(b"".join(lines[:longest]) + tail)
        ledger = Ledger(base / "ledger.jsonl")
        kill = Kill("after", "resume")
        ended = in_child(
            lambda torn=torn, ledger=ledger, kill=kill: drive(
                torn, PROGRAM, world(ledger), ticks=TICKS, kill=kill
            )
        )
        assert ended.killed
        assert [entry["seq"] for entry in torn.entries()] == list(range(len(torn.entries())))
        drive(torn, PROGRAM, world(ledger), ticks=TICKS)
        assert len([entry for entry in torn.entries() if entry["kind"] == "invoke"]) == 3
