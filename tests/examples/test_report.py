"""The report example with its real service, killed wherever it can be (DUR-2, RES-6, RCV-1 to RCV-3).

A schedule is a number: it fixes where the agent dies, once to three times, before it is let through. What
counts is what the service has in its books and what the file holds, never what the runtime says of itself.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import random
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agentl import parse_file
from agentl.cli.app import main
from agentl.durable import DurableRun, FileStore, survey
from tests.support.command import ROOT
from tests.support.receiving import DATABASES

REPORT = ROOT / "docs" / "examples" / "report"
SCHEDULES = 100 if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else 10
POINTS = ("save:before", "save:after", "notify:before", "notify:after")


def host_module() -> Any:
    spec = importlib.util.spec_from_file_location("report_host", REPORT / "report.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


HOST = host_module()


@contextmanager
def opened(inbox: str, folder: Path) -> Iterator[str]:
    """The service in a process of its own; gives its address."""
    words = [sys.executable, str(REPORT / "notifier.py"), "--inbox", inbox, "--port", "0"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(words, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        try:
            yield said.split(" at ")[1].strip()
        finally:
            process.terminate()


@pytest.fixture(scope="module", params=DATABASES)
def service(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("service")
    if request.param == "sqlite":
        with opened(str(folder / "notifications.db"), folder) as address:
            yield address
        return
    from tests.support.postgres import server

    dsn = server().database()
    with opened(dsn, folder) as address:
        yield address
    server().empty(dsn)


class Dying(FileStore):
    """Dies before or after one append."""

    at: tuple[str, int] | None = None
    written = 0

    def append(self, raw: bytes, epoch: int, *, sync: bool) -> None:
        if self.at == ("before", self.written):
            os.kill(os.getpid(), signal.SIGKILL)
        super().append(raw, epoch, sync=sync)
        if self.at == ("after", self.written):
            os.kill(os.getpid(), signal.SIGKILL)
        self.written += 1


class Case:
    """One reader, one folder, one run; driven by processes that die."""

    def __init__(self, service: str, folder: Path, reader: str) -> None:
        self.service, self.folder, self.reader = service, folder, reader

    def drive(self, death: str | tuple[str, int] | None) -> int:
        """Start or resume the run in a process of its own; gives its exit status, negative for a signal."""
        pid = os.fork()
        if pid == 0:
            status = 70
            try:
                self._run(death)
                status = 0
            finally:
                os._exit(status)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def _run(self, death: str | tuple[str, int] | None) -> None:
        os.environ.update(
            REPORT_SERVICE=self.service, REPORT_FOLDER=str(self.folder), REPORT_READER=self.reader
        )

        def point(name: str) -> None:
            if name == death:
                os.kill(os.getpid(), signal.SIGKILL)

        host, model = HOST.build(point)
        store = Dying(self.folder / "run")
        store.at = death if isinstance(death, tuple) else None
        DurableRun(parse_file(REPORT / "report.agent"), host, model, store=store).run()

    def sent(self) -> list[dict[str, str]]:
        """What the service has for this reader."""
        with urllib.request.urlopen(f"{self.service}/notifications", timeout=60) as answer:
            return [one for one in json.load(answer) if one["to"] == self.reader]

    def check(self) -> None:
        """The artefact is right, nothing is doubled, nothing is unknown."""
        text = (self.folder / "report.md").read_text(encoding="utf-8")
        assert text == HOST.DRAFT
        assert [one["version"] for one in self.sent()] == [hashlib.sha256(text.encode()).hexdigest()[:12]]
        found = survey(FileStore(self.folder / "run"))
        assert found.status == "completed"
        assert found.pending() == found.in_doubt() == []


def test_the_program_is_clean(capsys: pytest.CaptureFixture[str]) -> None:
    """`CHK-1`."""
    assert main(["check", str(REPORT / "report.agent")]) == 0
    assert "✗" not in capsys.readouterr().out


def test_a_run_that_nothing_disturbs(service: str, tmp_path: Path) -> None:
    """One file, one notification; again, and nothing is called (`RES-3`)."""
    case = Case(service, tmp_path, "calm@example.org")
    assert case.drive(None) == 0
    case.check()
    assert case.drive(None) == 0
    case.check()


@pytest.mark.real_kill
@pytest.mark.parametrize("point", [*POINTS, "record"])
def test_interrupted_before_the_write_after_it_and_after_its_record(
    service: str, tmp_path: Path, point: str
) -> None:
    """`DUR-2`, `RES-6`: the seed's own test; what is unknown is settled under the same key."""
    case = Case(service, tmp_path, f"{point.replace(':', '-')}@example.org")
    # The entries of the run end with the result of notify, the checkpoint of the tick and the close.
    death: str | tuple[str, int] = point
    if point == "record":
        clean = Case(service, tmp_path / "clean", "clean@example.org")
        clean.folder.mkdir()
        assert clean.drive(None) == 0
        lines = (clean.folder / "run" / "wal.jsonl").read_text().splitlines()
        result = max(
            number for number, line in enumerate(lines) if '"kind":"invoke"' in line.replace(" ", "")
        )
        death = ("after", result)
    assert case.drive(death) == -signal.SIGKILL
    assert len(case.sent()) == (point in ("notify:after", "record"))
    assert case.drive(None) == 0
    case.check()


@pytest.mark.real_kill
@pytest.mark.parametrize("seed", range(SCHEDULES))
def test_a_schedule_of_deaths(service: str, tmp_path: Path, seed: int) -> None:
    """`DUR-2`, `RES-6`, `RCV-1` to `RCV-3`: one to three deaths anywhere, then once through."""
    draw = random.Random(seed)
    case = Case(service, tmp_path, f"s{seed}@example.org")
    for _ in range(draw.randint(1, 3)):
        where = draw.choice([*POINTS, "append", "append", "append", "append"])
        death = (draw.choice(["before", "after"]), draw.randrange(24)) if where == "append" else where
        assert case.drive(death) in (0, -signal.SIGKILL)
    assert case.drive(None) == 0
    case.check()
