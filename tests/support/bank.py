"""The bank of the payments example, open for one test."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.command import PAYMENTS, Ended, child, start
from tests.support.nursery import Child

RUN_ID = "6c463a7a4312"
PATIENCE = 60.0


@dataclass
class Payments:
    """A folder with the program in it, its bank, and the commands a person would give there."""

    folder: Path
    address: str

    @property
    def environment(self) -> dict[str, str]:
        return {"PAYMENTS_BANK": self.address, "PAYMENTS_APPROVER": "alice"}

    def agentl(self, *words: str, **more: str) -> Ended:
        return child(*words, cwd=self.folder, env={**self.environment, **more})

    def run(self, *words: str, **more: str) -> Ended:
        return self.agentl("run", "payments.agent", "--durable", "runs/payments", *words, **more)

    def run_and_kill(self) -> str:
        """The first run, killed with SIGKILL after the bank has booked; returns what it said."""
        words = ("run", "payments.agent", "--durable", "runs/payments", "--run-id", RUN_ID)
        output = self.folder / "first-run.txt"
        process = start(*words, cwd=self.folder, env=self.environment, output=output)
        try:
            wait_for(self.folder / "booked", process)
        finally:
            process.kill()
            process.wait()
        (self.folder / "release").touch()
        assert process.returncode == -9
        return output.read_text(encoding="utf-8")

    def ledger(self) -> Any:
        return self.ask("/ledger")[1]

    def ask(self, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """One request to the bank: status and answer."""
        data = None if body is None else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(self.address + path, data=data, headers=named)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refusal:
            with refusal:
                return refusal.code, json.load(refusal)


def wait_for(file: Path, process: subprocess.Popen[bytes] | Child) -> None:
    deadline = time.monotonic() + PATIENCE
    while not file.exists():
        assert process.poll() is None, f"ended with {process.returncode} before {file.name} was there"
        assert time.monotonic() < deadline, f"{file.name} did not appear"
        time.sleep(0.01)


@contextlib.contextmanager
def payments(folder: Path, hold: str | None = None) -> Iterator[Payments]:
    """The example in ``folder``, with its bank open; ``hold`` keeps one service's first answer back."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("payments.agent", "payments.py"):
        shutil.copy(PAYMENTS / name, folder / name)
    words = [sys.executable, str(PAYMENTS / "bank.py"), "--port", "0", "--port-file", "port"]
    if hold:
        words += ["--hold", hold, "--booked", "booked", "--release", "release"]
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(folder / "port", process)
        port = (folder / "port").read_text(encoding="utf-8").strip()
        yield Payments(folder, f"http://127.0.0.1:{port}")
    finally:
        process.kill()
        process.wait()
