"""The coder example in a folder of its own, and what git and the files say about it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import ROOT, Ended, child, start
from tests.support.nursery import Child

CODER = ROOT / "docs" / "examples" / "coder"
PROGRAM = CODER / "coder.agent"
PATIENCE = 60.0

needs_git = pytest.mark.skipif(
    shutil.which("git") is None and not os.environ.get("CI"), reason="git is not installed"
)


@dataclass
class Coder:
    """A folder with a project and its runs."""

    folder: Path
    program: Path = PROGRAM

    @property
    def project(self) -> Path:
        return self.folder / "project"

    def words(self, run: str) -> tuple[str, ...]:
        return ("run", str(self.program), "--durable", f"runs/{run}", "--json")

    def run(self, run: str, **more: str) -> Ended:
        """Start a run, or resume it, and wait for its end."""
        return child(*self.words(run), cwd=self.folder, env=more)

    def begin(self, run: str, **more: str) -> Child:
        """Start or resume a run and leave it running; what it says goes to ``<run>.txt``."""
        return start(*self.words(run), cwd=self.folder, env=more, output=self.folder / f"{run}.txt")

    def kill_at(self, run: str, point: str) -> None:
        """Start a run and kill it with SIGKILL once it has reached a point."""
        reached = self.folder / "reached"
        process = self.begin(run, CODER_STOP=point, CODER_STOPPED=str(reached))
        try:
            wait_for(reached, process)
        finally:
            process.kill()
            process.wait()
        assert process.returncode == -9

    def copy(self, folder: Path) -> Coder:
        """The same state in another folder."""
        shutil.copytree(self.folder, folder, symlinks=True)
        return Coder(folder, self.program)

    # --- what is there -----------------------------------------------------------------------

    def git(self, *words: str) -> str:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        identity = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.invalid")
        done = subprocess.run(
            ["git", f"--git-dir={self.project}/.git", f"--work-tree={self.project}", *identity, *words],
            cwd=self.project,
            env={**kept, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def subjects(self) -> list[str]:
        """The subjects of the commits, the oldest first."""
        return self.git("log", "--reverse", "--format=%s").splitlines()

    def actions(self) -> list[str]:
        """The action that made each commit, in every branch."""
        return self.git("log", "--all", "--format=%(trailers:key=Action,valueonly,separator=%x2C)").split()

    def left_over(self) -> str:
        """What lies in the folder and is not committed."""
        return self.git("status", "--porcelain", "--ignored", "--untracked-files=all")

    def features(self) -> dict[str, bool]:
        listed: list[dict[str, Any]] = json.loads((self.project / "features.json").read_bytes())
        return {one["id"]: one["passes"] for one in listed}

    def progress(self) -> list[str]:
        lines = (self.project / "progress.md").read_text(encoding="utf-8").splitlines()
        return [line.removeprefix("- ") for line in lines if line.startswith("- ")]

    def frozen(self) -> dict[str, bytes]:
        """The tests and ``init.sh``, byte for byte."""
        files = [self.project / "init.sh", *sorted((self.project / "tests").iterdir())]
        return {str(file.relative_to(self.project)): file.read_bytes() for file in files}

    def convert(self, *words: str) -> str:
        """Use the application as a user would."""
        command = [sys.executable, "-B", str(self.project / "convert.py"), *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
        return done.stdout or f"{done.returncode}: {done.stderr}"


def wait_for(file: Path, process: Child) -> None:
    """Wait until a file is there and has a content."""
    deadline = time.monotonic() + PATIENCE
    while not (file.is_file() and file.read_bytes()):
        assert process.poll() is None, f"ended with {process.returncode} before {file.name} was there"
        assert time.monotonic() < deadline, f"{file.name} did not appear"
        time.sleep(0.01)


def refused(ended: Ended) -> list[str]:
    """The calls that a run was refused by its policy."""
    return [event["text"].split("(")[0] for event in ended.data["trace"] if event["kind"] == "BLOCKED"]
