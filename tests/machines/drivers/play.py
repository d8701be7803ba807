"""Plays a schedule: forks the drivers, stops, wakes and kills them, and asks the judge at the end."""

from __future__ import annotations

import importlib
import os
import select
import shutil
import signal
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agentl.durable.lease import LEASE_SECONDS
from tests.machines.drivers.judge import BrokenScheduleError, Verdicts, chained, judge
from tests.machines.drivers.outside import Chronicle
from tests.machines.drivers.schedule import DIES, STORES, Command, Fate, Schedule, generate
from tests.machines.drivers.stage import PATIENCE, PROGRAMS, RUN, Shared, Stage, live


@dataclass
class Life:
    """A driver as its parent sees it."""

    pid: int
    line: int
    asleep: bool = False
    over: bool = False


@dataclass
class Report:
    """What came of a schedule."""

    kills: int = 0
    pauses: int = 0
    refused: int = 0
    taken_over: int = 0
    verdicts: Verdicts = field(default_factory=Verdicts)
    chronicle: str = ""


class Play:
    """One schedule in a folder of its own."""

    def __init__(self, schedule: Schedule, folder: Path, clean: str | None) -> None:
        self.schedule, self.folder, self.clean = schedule, folder, clean
        self.shared = Shared()
        self.chronicle = Chronicle(folder / "chronicle")
        self.lives: dict[int, Life] = {}
        self.report = Report()
        if schedule.company:
            (folder / "beside").mkdir()

    # --- drivers -------------------------------------------------------------------------

    def _fork(
        self,
        driver: int,
        fates: tuple[Fate, ...],
        work: Callable[[Stage], None],
        *,
        waits: bool = False,
        last: bool = False,
    ) -> Life:
        # Beside a driver that sleeps in a transaction nobody should wait for long.
        patience = 0.1 if self.schedule.sleeps and not last else 10.0
        stage = Stage(driver, self.schedule, self.folder, self.shared, fates, waits, patience)
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            stage.line = writing
            live(stage, work)
        os.close(writing)
        self.chronicle.tell(0, "forked", of=driver, pid=pid)
        life = self.lives[driver] = Life(pid, reading)
        return life

    def _wait(self, driver: int, seconds: float = PATIENCE) -> bool:
        """Until the driver ends or falls asleep; ``False`` when it does neither in that time."""
        life = self.lives[driver]
        if life.over or life.asleep:
            return True
        if not select.select([life.line], [], [], seconds)[0]:
            return False
        if os.read(life.line, 1):
            _, status = os.waitpid(life.pid, os.WUNTRACED)
            if os.WIFSTOPPED(status):
                self._sleeps(driver)
            else:
                self._over(driver, killed=os.WIFSIGNALED(status))
            return True
        _, status = os.waitpid(life.pid, 0)
        self._over(driver, killed=os.WIFSIGNALED(status))
        return True

    def _sleeps(self, driver: int) -> None:
        self.lives[driver].asleep = True
        self.report.pauses += 1

    def _over(self, driver: int, *, killed: bool) -> None:
        life = self.lives[driver]
        life.over, life.asleep = True, False
        os.close(life.line)
        self.chronicle.tell(0, "killed" if killed else "gone", of=driver)
        self.report.kills += killed

    def _must_wait(self, driver: int) -> None:
        if not self._wait(driver):
            raise BrokenScheduleError("STO-6", f"driver {driver} neither ends nor sleeps")

    # --- commands ------------------------------------------------------------------------

    def play(self) -> Report:
        """Carry the schedule out; raises ``BrokenScheduleError`` where a clause is broken."""
        try:
            for command in self.schedule.commands:
                self._do(command)
            self._finish()
        finally:
            for life in self.lives.values():
                if not life.over:
                    os.kill(life.pid, signal.SIGKILL)
                    os.waitpid(life.pid, 0)
                    os.close(life.line)
            self.shared.close()
        return self.report

    def _do(self, command: Command) -> None:
        driver = command.driver
        if command.do == "start":
            self._fork(driver, command.fates, Stage.drive)
            self._must_wait(driver)
        elif command.do == "settle":
            if self.final():
                self._fork(driver, command.fates, Stage.settle)
                self._must_wait(driver)
        elif command.do == "begin":
            self._fork(driver, command.fates, Stage.drive, waits=True)
        elif command.do == "join":
            self._join(driver)
        elif command.do == "after":
            self._after(driver, command)
        elif command.do in ("wake", "kill"):
            self._wake_or_kill(driver, command.do)
        elif command.do == "late":
            self._late()
        elif command.do == "cut":
            self._cut(command.share)

    def final(self) -> bool:
        """A verdict is: the operator knows that nobody is inside a call any more (A2 of formal/README.md)."""
        return not any(life.asleep for life in self.lives.values())

    def _join(self, driver: int) -> None:
        """Wait for a driver that waits for the lease; of those that died elsewhere only time tells."""
        for turn in range(round(PATIENCE / 0.05)):
            if self._wait(driver, 0.05):
                return
            others = [life for number, life in self.lives.items() if number != driver]
            if self.schedule.store == "file":
                if any(life.asleep for life in others):
                    return  # it waits for a lock that a sleeper has
            elif turn % 5 == 4 or all(life.over or life.asleep for life in others):
                self._late()
        raise BrokenScheduleError("STO-6", f"driver {driver} waits for ever")

    def _after(self, driver: int, command: Command) -> None:
        life = self.lives[driver]
        if self._wait(driver, command.micros / 1e6) and (life.over or life.asleep):
            return
        if command.how == DIES:
            os.kill(life.pid, signal.SIGKILL)
            os.waitpid(life.pid, 0)
            self._over(driver, killed=True)
            return
        os.kill(life.pid, signal.SIGSTOP)
        _, status = os.waitpid(life.pid, os.WUNTRACED)
        if os.WIFSTOPPED(status):
            self._sleeps(driver)
        else:
            self._over(driver, killed=False)

    def _wake_or_kill(self, driver: int, do: str) -> None:
        life = self.lives[driver]
        if not life.asleep:
            return
        if do == "kill":
            os.kill(life.pid, signal.SIGKILL)
            os.waitpid(life.pid, 0)
            self._over(driver, killed=True)
            return
        self.chronicle.tell(0, "woken", of=driver)
        life.asleep = False
        os.kill(life.pid, signal.SIGCONT)
        self._join(driver)

    def _late(self) -> None:
        """Nobody renews for longer than a lease lasts."""
        self.chronicle.tell(0, "late")
        self.shared.pass_time(LEASE_SECONDS + 1)
        if self.schedule.store == "postgres":
            server().let_leases_end()

    def _cut(self, share: float) -> None:
        """The power fails with the process: of what was not synchronised only a part is left."""
        wal = self.folder / "run" / "wal.jsonl"
        if not wal.exists() or any(not life.over for life in self.lives.values()):
            return
        content = wal.read_bytes()
        end, safe = len(content.rstrip(b"\0")), self.shared.synced
        at = safe + round(share * max(0, end - safe))
        wal.write_bytes(content[:at] + bytes(len(content) - at))
        self.chronicle.tell(0, "cut", at=at, end=end)

    # --- the end -------------------------------------------------------------------------

    def _finish(self) -> None:
        while any(not life.over for life in self.lives.values()):
            for driver, life in self.lives.items():
                self._wake_or_kill(driver, "wake")
                if not life.over:
                    self._join(driver)
        last = max(self.lives, default=0) + 1
        if any(driver in self.schedule.away for driver in (*self.lives, last)):
            self._late()
        self._fork(last, (), Stage.drive, last=True)
        self._must_wait(last)
        lines = self.lines()
        self._fork(last + 1, (), Stage.settle, last=True)
        self._must_wait(last + 1)
        notes = self.chronicle.notes()
        self.report.refused = sum(note["event"] == "refused" for note in notes)
        self.report.taken_over = sum(note["event"] == "late" for note in notes)
        effects = Stage(0, self.schedule, self.folder, self.shared).receiver.effects()
        for beside in self._beside():
            chained(beside)
        self.report.verdicts = judge(
            self.schedule, notes, lines, self.lines(), effects, last=last, clean=self.clean
        )

    def lines(self) -> list[bytes]:
        """The journal as it lies in the store, read without the package."""
        if self.schedule.store == "file":
            wal = self.folder / "run" / "wal.jsonl"
            return wal.read_bytes().rstrip(b"\0").splitlines() if wal.exists() else []
        if self.schedule.store == "postgres":
            return list(server().lines())
        return self._kept(RUN)

    def _kept(self, run_id: str) -> list[bytes]:
        with sqlite3.connect(self.folder / "runs.db") as connection:
            rows = connection.execute("SELECT body FROM entries WHERE run_id = ? ORDER BY seq", (run_id,))
            return [bytes(body) if isinstance(body, bytes) else body.encode() for (body,) in rows]

    def _beside(self) -> list[list[bytes]]:
        """The journals of the other runs that the drivers had at work."""
        if not self.schedule.company or self.schedule.store != "sqlite":
            return []
        with sqlite3.connect(self.folder / "runs.db") as connection:
            found = connection.execute("SELECT DISTINCT run_id FROM entries WHERE run_id <> ?", (RUN,))
            names = [name for (name,) in found]
        return [self._kept(name) for name in names]


def server() -> Any:
    """The side of PostgreSQL; nobody else needs its library."""
    return importlib.import_module("tests.machines.drivers.server")


@contextmanager
def own_folder(store: str) -> Iterator[Path]:
    """A folder in memory where there is one: what is tested here is the protocol, not the disk."""
    shared = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(dir=shared if shared.is_dir() else None, prefix="agentl-drivers-"))
    try:
        if store == "postgres":
            with server().emptied():
                yield folder
        else:
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


_clean: Counter[str] = Counter()
_traces: dict[tuple[str, str], str] = {}


def clean_trace(schedule: Schedule) -> str:
    """The trace of the same program when nothing happens to it."""
    key = (schedule.program, schedule.promise)
    if key not in _traces:
        quiet = replace(
            schedule, store="file", commands=(), away=frozenset(), replies=(), knows_token=False,
        )  # fmt: skip
        with own_folder("file") as folder:
            play = Play(quiet, folder, None)
            found = play.play().verdicts
            notes = play.chronicle.notes()
        # A program that does nothing would be doubled by nobody.
        wanted = 0 if schedule.promise == "read_only" else PROGRAMS[schedule.program][2]
        assert (found.once, found.actions) == (wanted, PROGRAMS[schedule.program][2])
        _traces[key] = next(note["trace"] for note in notes if note["event"] == "completed")
    return _traces[key]


def played(schedule: Schedule) -> Report:
    """Play a schedule; what is broken is told with the schedule, what happened, and how to replay it."""
    clean = clean_trace(schedule)
    with own_folder(schedule.store) as folder:
        play = Play(schedule, folder, clean)
        try:
            report = play.play()
        except BrokenScheduleError as broken:
            told = play.chronicle.path.read_text("ascii") if play.chronicle.path.exists() else ""
            raise BrokenScheduleError(
                broken.clause, f"{broken.what}\n{schedule}\n{told}\nreplay: {schedule.replay()}"
            ) from broken
        except Exception as surprise:
            raise BrokenScheduleError(
                "R104", f"{surprise!r} surprises the judge\n{schedule}\nreplay: {schedule.replay()}"
            ) from surprise
        report.chronicle = play.chronicle.path.read_text("ascii")
        return report


@dataclass
class Many:
    """What came of many schedules of one store, promise and kind."""

    kind: str
    first: int
    seeds: int = 0
    kills: int = 0
    pauses: int = 0
    actions: int = 0
    once: int = 0
    doubts: int = 0
    failed: int = 0
    traces: int = 0
    broken: list[str] = field(default_factory=list)

    def line(self) -> str:
        """One line for people."""
        return (
            f"{self.kind}s: seeds {self.first} to {self.first + self.seeds - 1}, {self.kills} killed, "
            f"{self.pauses} paused, {self.actions} actions, {self.once} effects, {self.doubts} in doubt, "
            f"{self.failed} failed, {self.traces} clean traces, {len(self.broken)} broken"
        )


def many(store: str, promise: str, kind: str, wanted: int, *, first: int = 0, stop: bool = True) -> Many:
    """Play schedules until so many drivers were killed, or paused; ``stop`` at the first that fails."""
    found = Many(kind, first)
    while (found.kills if kind == "kill" else found.pauses) < wanted:
        try:
            report = played(generate(first + found.seeds, store, promise, kind))
        except BrokenScheduleError as broken:
            found.broken.append(str(broken))
            if stop:
                break
            continue
        finally:
            found.seeds += 1
        found.kills += report.kills
        found.pauses += report.pauses
        found.actions += report.verdicts.actions
        found.once += report.verdicts.once
        found.doubts += report.verdicts.doubts
        found.failed += report.verdicts.failed
        found.traces += report.verdicts.traces
    return found


def stores_here() -> list[str]:
    """The stores that can be played with on this machine."""
    return [store for store in STORES if store != "postgres" or _postgres_is_here()]


def _postgres_is_here() -> bool:
    return importlib.import_module("tests.support.postgres").why_not() is None
