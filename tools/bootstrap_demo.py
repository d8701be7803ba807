"""The demonstration: an agent that pays is killed after the bank has booked and before it knows.

Three acts, one per promise that a tool can make. Each starts the bank of ``docs/examples/payments``
in its own process with fresh books, runs the agent durably, kills it with SIGKILL at the worst
moment, looks at what is left, and gives the same command again. The bank's ledger has the last word.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

RUN_ID = "6c463a7a4312"
RUN = ("run", "payments.agent", "--durable", "runs/payments")
PATIENCE = 60.0
"""Seconds to wait for a process of the demonstration to do what it must."""


class DemonstrationError(Exception):
    """Something did not happen as it must."""


@dataclass
class Stage:
    """One act's folder, its bank and its agent."""

    folder: Path
    python: Path
    bank: str = ""
    faults: list[str] = field(default_factory=list)

    def environment(self) -> dict[str, str]:
        """What the agent's process sees."""
        return {
            **os.environ,
            "PAYMENTS_BANK": self.bank,
            "PAYMENTS_APPROVER": "alice",
            "PYTHONUNBUFFERED": "1",
            "PYTHONIOENCODING": "utf-8",
        }

    def command(self, *words: str) -> list[str]:
        """The command as the machine runs it."""
        return [str(self.python), "-m", "agentl", *words]

    def agentl(self, *words: str, expect: int = 0) -> None:
        """Run a command to its end, show it, and hold its exit code to account."""
        show(words)
        done = subprocess.run(
            self.command(*words),
            cwd=self.folder,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=PATIENCE,
            check=False,
        )
        quote(done.stdout)
        say(f"  exit code {done.returncode}")
        if done.returncode != expect:
            self.faults.append(f"`agentl {' '.join(words)}` ended with {done.returncode}, not {expect}")

    def status(self) -> dict[str, Any]:
        """What ``durable status`` reports, as data."""
        done = subprocess.run(
            self.command("durable", "status", "runs/payments", "--json"),
            cwd=self.folder,
            env=self.environment(),
            stdout=subprocess.PIPE,
            timeout=PATIENCE,
            check=True,
        )
        report: dict[str, Any] = json.loads(done.stdout)
        return report

    def ledger(self) -> dict[str, Any]:
        """The bank's books."""
        with urllib.request.urlopen(f"{self.bank}/ledger", timeout=PATIENCE) as answer:  # noqa: S310
            books: dict[str, Any] = json.load(answer)
        return books

    def run_and_kill(self) -> None:
        """Start the agent, wait until the bank has booked, kill the agent before it knows."""
        words = (*RUN, "--run-id", RUN_ID)
        show(words)
        with (self.folder / "first-run.txt").open("w+b") as output:
            child = subprocess.Popen(
                self.command(*words),
                cwd=self.folder,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            try:
                wait_for(self.folder / "booked", child)
            finally:
                child.kill()
                code = child.wait()
            output.seek(0)
            quote(output.read())
        # The answer may go now; nobody is left to read it.
        (self.folder / "release").touch()
        say(f"  killed with SIGKILL (exit {code}): booked at the bank, unknown to the agent")
        if code != -signal.SIGKILL:
            self.faults.append(f"the agent ended with {code} before it could be killed")

    def expect_ledger(self) -> None:
        """Show the books; each effect must be in them exactly once."""
        books = self.ledger()
        say("\nthe bank's ledger")
        for entry in books["transfers"]:
            say(f"  transfer  {entry['amount']:>6} to {entry['to']}   key {entry['key']}")
        for entry in books["messages"]:
            say(f"  message   “{entry['text']}”   id {entry['key']}")
        for amount in books["fees"]:
            say(f"  fee       {amount:>6}")
        say(f"  balance   {books['balance']:>6}")
        counts = {name: len(books[name]) for name in ("transfers", "messages", "fees")}
        if counts != {"transfers": 1, "messages": 1, "fees": 1} or books["balance"] != 8795:
            self.faults.append(f"the ledger is wrong: {counts}, balance {books['balance']}")

    def expect_resolution(self, target: str, how: str) -> None:
        """The resume must have settled the pending action in that way."""
        found = [(one["target"], one["how"]) for one in self.status()["resolutions"]]
        if (target, how) not in found:
            self.faults.append(f"{target} was not settled as {how}: {found}")


def say(text: str) -> None:
    """A line, at once."""
    print(text, flush=True)


def show(words: tuple[str, ...]) -> None:
    """A command as a person would type it."""
    say("\n$ agentl " + " ".join(f"'{word}'" if set(word) & set('{" ') else word for word in words))


def quote(output: bytes) -> None:
    """What a process said, set in."""
    for line in output.decode(errors="replace").rstrip().splitlines():
        say(f"  {line}".rstrip())


def wait_for(file: Path, process: subprocess.Popen[bytes]) -> None:
    """Wait until ``file`` exists; give up when the process ends or takes too long."""
    deadline = time.monotonic() + PATIENCE
    while not file.exists():
        if process.poll() is not None:
            raise DemonstrationError(f"a process ended with {process.returncode} before {file.name} appeared")
        if time.monotonic() > deadline:
            raise DemonstrationError(f"{file.name} did not appear within {PATIENCE:g} seconds")
        time.sleep(0.02)


@contextlib.contextmanager
def open_stage(root: Path, python: Path, folder: Path, hold: str) -> Iterator[Stage]:
    """A fresh folder with the program in it and its bank open; the bank is closed at the end."""
    example = root / "docs" / "examples" / "payments"
    folder.mkdir(parents=True)
    for name in ("payments.agent", "payments.py"):
        shutil.copy(example / name, folder / name)
    words = [sys.executable, str(example / "bank.py"), "--port", "0", "--port-file", "port"]
    words += ["--ledger", "ledger.db", "--hold", hold, "--booked", "booked", "--release", "release"]
    bank = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL)
    try:
        wait_for(folder / "port", bank)
        port = (folder / "port").read_text(encoding="utf-8").strip()
        yield Stage(folder, python, f"http://127.0.0.1:{port}")
    finally:
        bank.terminate()
        bank.wait()


def act_transfer(stage: Stage) -> None:
    """An idempotent tool: called again with the same key, booked once."""
    stage.run_and_kill()
    stage.agentl("durable", "status", "runs/payments")
    stage.agentl(*RUN)
    stage.expect_resolution("transfer", "retry")
    stage.expect_ledger()


def act_notify(stage: Stage) -> None:
    """A reconcilable tool: the world is asked, nothing is sent twice."""
    stage.run_and_kill()
    stage.agentl("durable", "status", "runs/payments")
    stage.agentl(*RUN)
    stage.expect_resolution("notify", "reconciled")
    stage.expect_ledger()


def act_fee(stage: Stage) -> None:
    """A tool without any promise: in doubt, then a person's verdict, then on."""
    stage.run_and_kill()
    stage.agentl("durable", "status", "runs/payments")
    stage.agentl(*RUN, expect=5)
    stage.expect_resolution("fee", "in_doubt")
    doubtful = stage.status()["in_doubt"]
    if len(doubtful) != 1:
        raise DemonstrationError(f"one action should be in doubt, not {len(doubtful)}")
    stage.agentl("durable", "status", "runs/payments")
    say("\nalice looks into the ledger, finds the fee, and says so")
    verdict = ("--executed", '{"charged": 5}', "--by", "alice")
    stage.agentl("durable", "settle", "runs/payments", doubtful[0]["action_id"], *verdict)
    stage.agentl(*RUN)
    say("\nthe run had used up its ticks; one more lets the agent see the verdict")
    stage.agentl(*RUN, "--ticks", "4")
    stage.expect_ledger()


ACTS = (
    ("1-transfer", "transfers", "transfer is idempotent: retried under the same key", act_transfer),
    ("2-notify", "messages", "notify has a reconciler: the mailer is asked first", act_notify),
    ("3-fee", "fees", "fee promises nothing: in doubt until somebody knows", act_fee),
)


def run_demo(root: Path, python: Path, folder: Path | None) -> int:
    """Play the three acts in ``folder`` (by default a temporary one); 0 when every ledger is right."""
    if not hasattr(signal, "SIGKILL"):
        say("✗ this system has no SIGKILL to survive")
        return 2
    with contextlib.ExitStack() as cleanup:
        if folder is None:
            folder = Path(cleanup.enter_context(tempfile.TemporaryDirectory(prefix="agentl-demo-")))
        faults: list[str] = []
        for name, hold, title, act in ACTS:
            say(f"\n══ {title} " + "═" * max(0, 84 - len(title)))
            try:
                with open_stage(root, python, folder.resolve() / name, hold) as stage:
                    act(stage)
                faults += [f"{name}: {fault}" for fault in stage.faults]
            except (
                DemonstrationError,
                OSError,
                subprocess.SubprocessError,
                ValueError,
                LookupError,
            ) as error:
                faults.append(f"{name}: {error}")
    say("\n" + "═" * 88)
    for fault in faults:
        say(f"✗ {fault}")
    if not faults:
        say("✓ killed three times, resumed three times: every effect is in the ledger exactly once")
    return 1 if faults else 0
