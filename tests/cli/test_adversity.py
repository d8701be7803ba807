"""A second driver, a full disk, an interruption: the command says so, ends, and the run goes on later."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.support.bank import Payments, payments, wait_for
from tests.support.command import child, start
from tests.support.nursery import Child
from tests.support.samples import PROGRAM, place

pytestmark = pytest.mark.real_kill

RUN = ("run", "payments.agent", "--durable", "runs/payments")

# The door is a file, so that it stays shut when the process that shut it is gone.
LASTING_HOST = """\
from pathlib import Path
from agentl import Host, Symbol
from agentl.kernel import current_action

def build():
    host, door = Host(), Path("door.txt")

    @host.sensor("door.state")
    def state():
        return Symbol("closed" if door.exists() else "open")

    @host.tool("shut", idempotent=True)
    def shut(force):
        door.write_text(current_action().action_id)
        with Path("effects.txt").open("a") as effects:
            effects.write(current_action().action_id + "\\n")
        return {"effort": 0.5}

    return host
"""


def held(bank: Payments) -> Child:
    """A run that waits for the bank's answer, its transfer booked."""
    process = start(*RUN, cwd=bank.folder, env=bank.environment, output=bank.folder / "output.txt")
    wait_for(bank.folder / "booked", process)
    return process


def test_a_second_driver_is_told_who_drives(tmp_path: Path) -> None:
    """`STO-6`, `CLI-16`: refused with exit code 10, naming the process; the first one is not disturbed."""
    with payments(tmp_path, hold="transfers") as bank:
        first = held(bank)
        try:
            second = bank.run()
            assert second.code == 10
            assert second.err.startswith("✗ ")
            assert str(first.pid) in second.err
            status = bank.agentl("durable", "status", "runs/payments", "--json").data
            assert status["status"] == "running"
            assert str(first.pid) in status["holder"]["holder"]
            verdict = bank.agentl("durable", "settle", "runs/payments", "x", "--not-executed")
            assert verdict.code == 10
            (tmp_path / "release").touch()
            assert first.wait(60) == 0
        finally:
            first.kill()
            first.wait()
        assert len(bank.ledger()["transfers"]) == 1


def test_an_interruption_leaves_a_run_that_resumes(tmp_path: Path) -> None:
    """`CLI-16`, `DUR-7`: Ctrl-C is exit code 130 and one line; the resume settles what was in flight."""
    with payments(tmp_path, hold="transfers") as bank:
        process = held(bank)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        said = (tmp_path / "output.txt").read_text(encoding="utf-8")
        assert "✗ interrompu" in said
        assert "Traceback" not in said
        (tmp_path / "release").touch()
        resumed = bank.run()
        assert resumed.code == 0, resumed.err
        assert len(bank.ledger()["transfers"]) == 1


@pytest.fixture(scope="module")
def clean_size(tmp_path_factory: pytest.TempPathFactory) -> int:
    """How long the journal of an undisturbed run is, in bytes."""
    folder = tmp_path_factory.mktemp("clean")
    assert child("run", place(folder, PROGRAM, LASTING_HOST), "--durable", "full", cwd=folder).code == 0
    return (folder / "full" / "wal.jsonl").stat().st_size


@pytest.mark.parametrize("share", [0.0, 0.4, 0.6, 0.8, 0.95])
def test_a_full_disk_ends_the_run_and_room_resumes_it(share: float, tmp_path: Path, clean_size: int) -> None:
    """`DRF-3`, `CLI-16`: exit code 4, nothing called after the failure; with room again the run completes.

    The limit is on the size of files, as on a full disk: no write can go beyond a share of what
    the journal of a clean run needs.
    """
    room = int(clean_size * share)
    file = place(tmp_path, PROGRAM, LASTING_HOST)

    done = child("run", file.name, "--durable", "full", cwd=tmp_path, file_size=room)
    said = done.err
    assert "Traceback" not in said
    assert done.code == 4, said
    assert said.splitlines()[-1].startswith("✗ ")
    resumed = child("run", file.name, "--durable", "full", cwd=tmp_path)
    assert resumed.code == 0, resumed.err
    effects = (tmp_path / "effects.txt").read_text(encoding="utf-8").splitlines()
    assert len(set(effects)) == 1
