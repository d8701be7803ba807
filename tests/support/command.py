"""Calling the command line in a test: here in this process, or as a child process of its own."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from agentl.cli.app import main
from agentl.messages import set_language

ROOT = Path(__file__).resolve().parent.parent.parent
PAYMENTS = ROOT / "docs" / "examples" / "payments"


class Ended(NamedTuple):
    """How a command ended: its exit code and its two streams."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """The report of a command that was asked for JSON."""
        return json.loads(self.out)


def here(*words: str | Path) -> Ended:
    """Run the command in this process; quick, and what it left behind is cleaned up."""
    out, err = io.StringIO(), io.StringIO()
    path = list(sys.path)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main([str(word) for word in words])
    finally:
        sys.path[:] = path
        for name in [name for name in sys.modules if name.startswith("agentl_host_")]:
            del sys.modules[name]
        set_language(None)
    return Ended(code, out.getvalue(), err.getvalue())


def environment(**more: str) -> dict[str, str]:
    """The environment of a child: this one, without what would change its output."""
    ours = ("AGENTL_", "PAYMENTS_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", "PYTHONUNBUFFERED": "1", **more}


def child(
    *words: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None, stdin: str = ""
) -> Ended:
    """Run the command in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "agentl", *(str(word) for word in words)],
        cwd=cwd,
        env={**environment(), **(env or {})},
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=120,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def start(*words: str | Path, cwd: Path, env: Mapping[str, str], output: Path) -> subprocess.Popen[bytes]:
    """Start the command and leave it running; both streams go to ``output``."""
    with output.open("wb") as stream:
        return subprocess.Popen(
            [sys.executable, "-m", "agentl", *(str(word) for word in words)],
            cwd=cwd,
            env={**environment(), **env},
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
        )
