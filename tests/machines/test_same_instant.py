"""Two drivers started in the same instant: one drives, the other is refused by name (STO-6, INV-9).

Two processes stand before one gate. When it opens both ask for the lease of the same new run; whoever gets it
stays inside its tool until the other has heard who drives.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agentl import Host, parse_source
from agentl.durable import DurableRun, FileStore, SQLiteStore
from agentl.errors import AgentLError, LeaseHeld
from tests.machines.drivers.play import own_folder, server
from tests.support import nursery
from tests.support.command import environment
from tests.support.postgres import needed

pytestmark = pytest.mark.real_kill

ROUNDS = 100
STORES = ["file", "sqlite", "postgres"]
PROGRAM = """
AGENT hasty {
  TOOL act { INPUT { n: Number } }
  POLICY { DEFAULT ALLOW }
  PLAN go WHEN tools.act.calls == 0 { act(n: 1) }
}
"""
AGENT = parse_source(PROGRAM).agents[0]
PATIENCE = 60.0


def store_of(kind: str, folder: Path, run_id: str) -> Any:
    if kind == "file":
        return FileStore(folder / run_id)
    if kind == "sqlite":
        return SQLiteStore(folder / "runs.db", run_id)
    return server().store(run_id)


class Twin:
    """One of the two processes: for each line it is told it starts that run, and says what came of it."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind, self.folder = kind, folder
        told, heard = os.pipe(), os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(told[1])
            os.close(heard[0])
            self.told, self.heard = told[0], heard[1]
            try:
                self._live()
            finally:
                os._exit(0)
        os.close(told[0])
        os.close(heard[1])
        self.told, self.heard = told[1], heard[0]

    # --- in the process ------------------------------------------------------------------

    def _live(self) -> None:
        gc.disable()
        while True:
            word = os.read(self.told, 100).decode()
            if not word:
                return
            try:
                self._drive(word)
                self._say("drove")
            except LeaseHeld as held:
                self._say("held", str(held))
            except AgentLError as problem:
                self._say("failed", f"{type(problem).__name__}: {problem}")

    def _say(self, what: str, text: str = "") -> None:
        os.write(self.heard, json.dumps([what, text]).encode() + b"\n")

    def _drive(self, run_id: str) -> None:
        host = Host()

        @host.tool("act")
        def act(n: float) -> dict[str, str]:
            descriptor = os.open(self.folder / f"{run_id}.effects", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.write(descriptor, b"x")
            os.close(descriptor)
            self._say("acts")
            assert os.read(self.told, 1) == b"!"  # the other one has heard who drives
            return {}

        DurableRun(AGENT, host, store=store_of(self.kind, self.folder, run_id), run_id=run_id).run(1)

    # --- outside -------------------------------------------------------------------------

    def tell(self, text: bytes) -> None:
        os.write(self.told, text)

    def hear(self) -> list[str]:
        assert select.select([self.heard], [], [], PATIENCE)[0], "a driver says nothing"
        found: list[str] = json.loads(os.read(self.heard, 4096))
        return found

    def end(self) -> None:
        os.close(self.told)
        os.close(self.heard)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


@contextmanager
def twins(kind: str) -> Iterator[tuple[Path, list[Twin]]]:
    with own_folder(kind) as folder:
        pair = [Twin(kind, folder), Twin(kind, folder)]
        try:
            yield folder, pair
        finally:
            for twin in pair:
                twin.end()


@pytest.mark.parametrize("kind", STORES)
def test_one_drives_and_the_other_is_refused_by_name(kind: str) -> None:
    """STO-6: a hundred times, and nothing is done twice."""
    if kind == "postgres":
        needed()
    winners = set()
    with twins(kind) as (folder, pair):
        for turn in range(ROUNDS):
            run_id = f"run-{turn}"
            for twin in pair if turn % 2 else reversed(pair):
                twin.tell(run_id.encode())
            said = [twin.hear() for twin in pair]
            assert sorted(what for what, _ in said) == ["acts", "held"], said
            (winner,) = (twin for twin, (what, _) in zip(pair, said, strict=True) if what == "acts")
            refusal = next(text for what, text in said if what == "held")
            assert f"pid {winner.pid} " in refusal, refusal
            winner.tell(b"!")
            assert winner.hear() == ["drove", ""]
            assert (folder / f"{run_id}.effects").read_bytes() == b"x"
            winners.add(winner.pid)
    assert len(winners) == 2, "the instants were not the same: one process always won"


HOST = """
from agentl import Host
host = Host()

@host.tool("act")
def act(n):
    with open("effects", "a") as effects:
        effects.write("x")
    with open("gate") as gate:
        gate.read()
    return {}
"""


@pytest.mark.parametrize("kind", STORES)
def test_two_commands_at_once(kind: str, tmp_path: Path) -> None:
    """STO-6, CLI-16: one ends well, the other with exit code 10 and the name of the first."""
    if kind == "postgres":
        needed()
    with own_folder(kind):
        address = {"file": "run", "sqlite": "sqlite:runs.db#hasty"}.get(kind) or f"{server().dsn()}#hasty"
        (tmp_path / "hasty.agent").write_text(PROGRAM)
        (tmp_path / "hasty.py").write_text(HOST)
        os.mkfifo(tmp_path / "gate")
        words = ["run", "hasty.agent", "--durable", address, "--ticks", "1"]
        outputs = [tmp_path / "first", tmp_path / "second"]
        children = []
        for output in outputs:
            with output.open("wb") as stream, Path(os.devnull).open("rb") as nothing:
                streams = (nothing.fileno(), stream.fileno(), stream.fileno())
                whole = environment(AGENTL_LANG="en")
                children.append(nursery.start(words, cwd=str(tmp_path), env=whole, streams=streams))
        try:
            # The gate opens when one is inside its tool; by then, or soon, the other has been refused.
            refused = next(i for i in _endings(children))
            assert children[refused].returncode == 10, outputs[refused].read_text()
            winner = children[1 - refused]
            assert f"pid {winner.pid} " in outputs[refused].read_text()
            (tmp_path / "gate").write_text("go")
            assert winner.wait(PATIENCE) == 0, outputs[1 - refused].read_text()
        finally:
            for child in children:
                child.kill()
    assert (tmp_path / "effects").read_text() == "x"


def _endings(children: list[nursery.Child]) -> Iterator[int]:
    """The number of each child as it ends."""
    lines = [child._line for child in children]
    ready, _, _ = select.select(lines, [], [], PATIENCE)
    assert ready, "neither command ended"
    for line in ready:
        number = lines.index(line)
        children[number].wait(PATIENCE)
        yield number
