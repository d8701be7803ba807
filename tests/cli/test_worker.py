"""Workers as processes of their own, on each kind of store (`WRK-1` to `WRK-6`)."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentl.durable.address import collection_at
from agentl.durable.queue.places import queue_at
from tests.support.command import here, start

PROGRAM = """
AGENT WORKING {
  TOOL act { INPUT { n: Number } }
  TOOL pay { INPUT { n: Number } }
  POLICY { DEFAULT ALLOW  REQUIRE APPROVAL FOR pay }
  PLAN go WHEN tools.act.calls == 0 { act(n: 1) BODY }
}
"""
HOST = """
import json, os, pathlib, time
from agentl import Host
from agentl.kernel import current_action

HERE = pathlib.Path(__file__).parent


def note(tool):
    action = current_action()
    row = {"tool": tool, "id": action.action_id, "pid": os.getpid(), "attempt": action.attempt}
    with (HERE / "ledger").open("a") as ledger:
        ledger.write(json.dumps(row) + "\\n")


def build():
    host = Host()

    @host.tool("act", idempotent=True)
    def act(n):
        note("act")
        stop = HERE / "stop"
        if stop.exists():
            (HERE / "inside").write_text(str(os.getpid()))
            while stop.exists():
                time.sleep(0.005)
        if (HERE / "kill").exists():
            os.kill(os.getpid(), 9)
        return {}

    @host.tool("pay")
    def pay(n):
        note("pay")
        return {}

    return host, None
"""


class Site:
    """A store, a program, and the workers that run there."""

    def __init__(self, store: str, folder: Path) -> None:
        self.store = store
        self.folder = folder
        self.children: list[Any] = []

    def write(self, body: str = "", host: str = HOST) -> Path:
        file = self.folder / "job.agent"
        file.write_text(PROGRAM.replace("BODY", body), encoding="utf-8")
        file.with_suffix(".py").write_text(host, encoding="utf-8")
        return file

    def submit(self, *run_ids: str) -> None:
        self.submit_from(self.folder / "job.agent", *run_ids, more=["--ticks", "1"])

    def submit_from(self, file: Path, *run_ids: str, more: Sequence[str] = ()) -> None:
        for run_id in run_ids:
            ended = here("submit", file, "--store", self.store, "--run-id", run_id, *more)
            assert ended.code == 0, ended.err

    def address(self, run_id: str) -> str:
        return f"{self.store}#{run_id}" if ":" in self.store else f"{self.store}/{run_id}"

    def worker(self, *words: str) -> Any:
        output = self.folder / f"worker{len(self.children)}.out"
        given = ["worker", "--store", self.store, "--poll", "0.2", *words]
        child = start(*given, cwd=self.folder, env={}, output=output)
        self.children.append(child)
        return child

    def said(self, number: int) -> str:
        return (self.folder / f"worker{number}.out").read_text(encoding="utf-8")

    def drain(self, *words: str) -> str:
        ended = here("worker", "--store", self.store, "--drain", *words)
        assert ended.code == 0, ended.err
        return ended.out

    def ledger(self) -> list[dict[str, Any]]:
        file = self.folder / "ledger"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def states(self) -> dict[str, str]:
        queue = queue_at(self.store)
        try:
            return {job.run_id: job.state for job in queue.jobs()}
        finally:
            queue.close()

    def until(self, true: Any, seconds: float = 60.0) -> None:
        """Wait for the processes; a test that waits for ever says so."""
        ends = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < ends, [self.said(n) for n in range(len(self.children))]
            time.sleep(0.01)

    def close(self) -> None:
        (self.folder / "stop").unlink(missing_ok=True)
        for child in self.children:
            child.kill()
            child.wait(60)


@pytest.fixture(params=["directory", "sqlite", "postgres"])
def site(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    store = {"directory": str(tmp_path / "runs"), "sqlite": f"sqlite:{tmp_path / 'runs.db'}"}.get(
        request.param
    )
    monkeypatch.chdir(tmp_path)
    found = Site(store or str(request.getfixturevalue("database")), tmp_path)
    yield found
    found.close()


def test_what_is_submitted_is_driven_once(site: Site) -> None:
    """`WRK-1`, `WRK-2`, `WRK-3`: in one process, several at a time; the same again is no other run."""
    site.write()
    site.submit("a", "b", "c", "a")
    assert site.drain("--concurrency", "2").count("✓") == 3
    assert site.states() == {"a": "ended", "b": "ended", "c": "ended"}
    assert len(site.ledger()) == 3
    site.submit("a")
    assert site.drain() == ""
    listed = here("durable", "list", site.store, "--json").data["runs"]
    assert [(run["run_id"], run["status"]) for run in listed] == [(name, "completed") for name in "abc"]


def test_a_purged_run_leaves_the_queue(site: Site) -> None:
    """`OPS-7`, R56: with its job; and its id is not begun again by a submission."""
    site.write()
    site.submit("a", "b")
    site.drain()
    purged = here(
        "durable", "purge", site.address("a") if ":" in site.store else site.store, "--older-than", "0s"
    )
    assert purged.code == 0, purged.err
    assert site.states() == ({"b": "ended"} if ":" in site.store else {})
    listed = here("durable", "list", site.store, "--json").data["runs"]
    assert [run["run_id"] for run in listed] == (["b"] if ":" in site.store else [])
    site.submit("a")
    assert "✗" in site.drain()
    assert site.states()["a"] == "refused"
    assert len(site.ledger()) == 2


def test_a_run_that_waits_goes_on_when_it_is_answered(site: Site) -> None:
    """`WRK-2`, `PRK-6`: no worker holds it meanwhile, and it acts once."""
    site.write("pay(n: 2)")
    site.submit("r")
    assert "⏸" in site.drain()
    assert site.states() == {"r": "waiting"}
    assert site.drain() == ""
    run = (
        f"{site.folder / 'runs' / 'r'}"
        if "://" not in site.store and ":" not in site.store
        else f"{site.store}#r"
    )
    waiting = here("approvals", "list", run, "--json")
    assert waiting.code in (0, 6), waiting.err
    (request,) = collection_at(site.store).store("r").requests.all(open_only=True)  # type: ignore[attr-defined]
    approved = here("approvals", "approve", run, request.request.request_id, "--by", "ada")
    assert approved.code == 0, approved.err
    assert "✓" in site.drain()
    assert [row["tool"] for row in site.ledger()] == ["act", "pay"]


def test_a_changed_program_is_refused_for_that_run_only(site: Site) -> None:
    """`WRK-4`: visibly; the others go on, and the original brings it back."""
    file = site.write("pay(n: 2)")
    site.submit("old")
    site.write()
    site.submit("new")
    said = site.drain()
    assert said.count("✓") == 1
    assert said.count("✗") == 1
    assert site.states() == {"new": "ended", "old": "refused"}
    listed = {run["run_id"]: run for run in here("durable", "list", site.store, "--json").data["runs"]}
    assert listed["old"]["status"] == "refused"
    assert listed["old"]["job"]["failure"]["code"] == "worker.program_changed"
    assert "old" in here("durable", "list", site.store).out
    file.unlink()
    site.write("pay(n: 2)")
    site.submit("old")
    assert "⏸" in site.drain()


def test_a_host_that_breaks_is_tried_again_and_then_stopped(site: Site) -> None:
    """`WRK-4`: later each time, never in a hot loop, and the list says why."""
    site.write(host="raise OSError('no')\n")
    site.submit("r")
    said = site.drain()
    assert said.count("✗") == 1, "due again, but not now"
    queue = queue_at(site.store)
    (job,) = queue.jobs()
    assert (job.state, job.attempts) == ("ready", 1)
    assert job.failure is not None
    assert "OSError" in job.failure["message"]
    left = queue.next_due()
    queue.close()
    assert left is not None
    assert left > 0
    listed = here("durable", "list", site.store, "--json").data["runs"]
    assert [(run["run_id"], run["status"]) for run in listed] == [("r", "queued")]


@pytest.mark.real_kill
def test_a_worker_that_is_killed_inside_a_tool(site: Site) -> None:
    """`WRK-2`, `STO-6`: its lease is known to be dead, another takes over, and the action is settled once."""
    site.write()
    site.submit("r")
    (site.folder / "kill").write_text("x")
    first = site.worker()
    site.until(lambda: len(site.ledger()) == 1)
    assert first.wait(60) in (-9, 137)
    (site.folder / "kill").unlink()
    second = site.worker()
    site.until(lambda: site.states()["r"] == "ended")
    os.kill(second.pid, signal.SIGTERM)
    assert second.wait(60) == 0
    rows = site.ledger()
    assert [row["attempt"] for row in rows] == [1, 2]
    assert len({row["id"] for row in rows}) == 1
    assert len({row["pid"] for row in rows}) == 2


@pytest.mark.real_kill
def test_sigterm_hands_back_after_the_action_in_flight(site: Site) -> None:
    """`WRK-3`: exit 0, the result is on record, and the next worker goes on behind it."""
    site.write("act(n: 2)")
    site.submit("r")
    (site.folder / "stop").write_text("x")
    first = site.worker()
    site.until((site.folder / "inside").exists)
    os.kill(first.pid, signal.SIGTERM)
    (site.folder / "stop").unlink()
    assert first.wait(60) == 0
    assert "→ r" in site.said(0)
    assert site.states() == {"r": "ready"}
    assert len(site.ledger()) == 1
    assert "✓" in site.drain()
    assert [row["attempt"] for row in site.ledger()] == [1, 1]
    assert len({row["id"] for row in site.ledger()}) == 2


@pytest.mark.real_kill
def test_a_run_in_flight_is_taken_by_nobody_else(site: Site) -> None:
    """`WRK-2`, R64, R69: not by a second worker, a second submission or an event; one body, one effect."""
    site.write()
    site.submit("r")
    (site.folder / "stop").write_text("x")
    site.worker("--concurrency", "4")
    site.until((site.folder / "inside").exists)
    site.worker("--concurrency", "4")
    for number in range(5):
        site.submit("r", f"other{number}")
    held = here("run", site.folder / "job.agent", "--durable", site.address("r"), "--run-id", "r")
    assert held.code == 10, held.err
    (site.folder / "stop").unlink()
    site.until(lambda: set(site.states().values()) == {"ended"})
    rows = site.ledger()
    assert len([row for row in rows if row["id"].startswith("r:")]) == 1
    assert len({row["id"] for row in rows}) == len(rows)


def test_a_row_in_a_store_chooses_no_code(site: Site) -> None:
    """`WRK-3`: a job that names a path runs the file of that name in the folder of the worker, or nothing."""
    elsewhere = site.folder / "elsewhere"
    elsewhere.mkdir()
    file = site.write()
    for suffix in (".agent", ".py"):
        file.with_suffix(suffix).rename(elsewhere / f"job{suffix}")
    program = elsewhere / "job.agent"
    assert here("submit", program, "--store", site.store, "--run-id", "a").code == 0
    queue = queue_at(site.store)
    (job,) = queue.jobs()
    assert job.file == "job.agent"
    for run_id, path in (("b", str(program)), ("c", "elsewhere/job.agent"), ("d", ".."), ("e", "")):
        queue.submit(replace(job, run_id=run_id, file=path))
    queue.close()
    site.drain()
    assert set(site.states().values()) == {"refused"}
    assert not (elsewhere / "ledger").exists()
    site.submit_from(program, "a")
    assert "✓" in site.drain("--program", str(elsewhere))
    assert (elsewhere / "ledger").exists()


def test_bad_words(site: Site) -> None:
    """`WRK-1`, `CLI-1`: one sentence each."""
    file = site.write()
    for words in (
        ["submit", file, "--store", ""],
        ["submit", file, "--store", "mysql://x"],
        ["submit", site.folder / "absent.agent", "--store", site.store],
        ["submit", file, "--store", site.store, "--run-id", "a\nb"],
        ["worker", "--store", site.store, "--concurrency", "0"],
        ["worker", "--store", site.store, "--poll", "-1"],
        ["worker", "--store", site.store, "--poll", "nan"],
        ["worker", "--store", site.store, "--program", site.folder / "absent"],
        ["worker"],
    ):
        ended = here(*words)
        assert ended.code == 2, (words, ended)
        assert ended.err.count("\n") == 1
    site.submit("r")
    site.write("act(n: 3)")
    other = here("submit", file, "--store", site.store, "--run-id", "r", "--ticks", "1")
    assert other.code == 2
    assert "r" in other.err
