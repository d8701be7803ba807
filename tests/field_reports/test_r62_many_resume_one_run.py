"""R62: of many processes that resume one run at once, one drives it and the others change nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Barrier

from agentl import Host
from agentl.durable import LeaseHeld
from agentl.durable.testing.children import Child, Line
from tests.field_reports.kit import Ledger, Place, drive

PROGRAM = """
AGENT MANY {
  TOOL act { INPUT { n: Number } }
  POLICY { DEFAULT ALLOW }
  PLAN go WHEN 1 == 1 { act(n: 1) }
}
"""
DRIVERS = 8
ROUNDS = 25
THREAD_ROUNDS = 5


def world(ledger: Ledger) -> Host:
    host = Host()

    @host.tool("act")
    def act(n: float) -> dict[str, str]:
        ledger.add("act", n=n)
        return {}

    return host


def go_on(place: Place, ledger: Ledger, ticks: int) -> str:
    """Resume the run and let it do one tick more; how that went."""
    try:
        run = drive(place, PROGRAM, world(ledger), ticks=ticks)
    except LeaseHeld as held:
        return f"held by {held.values['holder']}"
    return "found" if run.already_completed else "drove"


def check(place: Place, ledger: Ledger, answers: list[str], ticks: int) -> None:
    assert answers.count("drove") == 1, answers
    assert all(answer in ("drove", "found") or answer.startswith("held by ") for answer in answers), answers
    assert "held by ?" not in answers
    rows = ledger.rows()
    assert len(rows) == ticks, "one effect for each tick"
    assert len({row["key"] for row in rows}) == ticks
    entries = place.entries()
    assert [entry["seq"] for entry in entries] == list(range(len(entries))), "one line of history"
    assert len([entry for entry in entries if entry["kind"] == "invoke"]) == ticks


def test_eight_processes(every_place: Place, ledger: Ledger) -> None:
    """STO-6, RES-2: round after round, in the same instant; who comes later finds the tick done."""
    place = every_place

    def compete(line: Line) -> None:
        for ticks in line.everything():
            line.say(go_on(place, ledger, ticks))

    with ExitStack() as together:
        drivers = [together.enter_context(Child(compete)) for _ in range(DRIVERS)]
        for ticks in range(1, ROUNDS + 1):
            for driver in drivers:
                driver.line.say(ticks)
            check(place, ledger, [driver.line.hear() for driver in drivers], ticks)


def test_eight_threads(every_place: Place, ledger: Ledger) -> None:
    """STO-6: the threads of one process are as many drivers."""
    with ThreadPoolExecutor(DRIVERS) as pool:
        for ticks in range(1, THREAD_ROUNDS + 1):
            instant = Barrier(DRIVERS)

            def drive_one(_number: int, ticks: int = ticks, instant: Barrier = instant) -> str:
                instant.wait()
                return go_on(every_place, ledger, ticks)

            check(every_place, ledger, list(pool.map(drive_one, range(DRIVERS))), ticks)
