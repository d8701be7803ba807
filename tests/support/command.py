"""Calling the command line in a test: here in this process, or as a child process of its own."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

from agentl.cli.app import main
from agentl.messages import set_language
from tests.support import nursery

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
    *words: str | Path,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: str = "",
    fresh: bool = False,
    file_size: int | None = None,
) -> Ended:
    """Run the command in a process of its own.

    Args:
        fresh: start an interpreter for it, where its start is what matters; else it is forked from
            one that has the command loaded already.
        file_size: no file may grow beyond this many bytes.
    """
    wanted = [str(word) for word in words]
    whole = {**environment(), **(env or {})}
    if fresh:
        done = subprocess.run(
            [sys.executable, "-m", "agentl", *wanted],
            cwd=cwd,
            env=whole,
            input=stdin.encode(),
            capture_output=True,
            timeout=120,
            check=False,
        )
        return Ended(done.returncode, _text(done.stdout), _text(done.stderr))
    with (
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        Drains() as drains,
    ):
        given.write(stdin.encode())
        given.seek(0)
        streams = (given.fileno(), drains.to(out), drains.to(err))
        at = str(cwd or Path.cwd())
        process = nursery.start(wanted, cwd=at, env=whole, streams=streams, file_size=file_size)
        try:
            code = process.wait(120)
        finally:
            process.kill()
        drains.close()
        return Ended(code, _read(out), _read(err))


class Drains(contextlib.ExitStack):
    """Pipes that are emptied into files: a limit on the size of files does not reach what is printed."""

    def to(self, file: IO[bytes]) -> int:
        """The descriptor to write to; it is closed here when this is closed."""
        source, sink = os.pipe()
        drain = threading.Thread(target=_drain, args=(source, file))
        drain.start()
        self.callback(drain.join)
        self.callback(os.close, sink)
        return sink


def _drain(source: int, file: IO[bytes]) -> None:
    with os.fdopen(source, "rb") as stream:
        shutil.copyfileobj(stream, file)


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return _text(file.read())


def _text(output: bytes) -> str:
    return output.decode("utf-8", "replace")


def start(*words: str | Path, cwd: Path, env: Mapping[str, str], output: Path) -> nursery.Child:
    """Start the command and leave it running; both streams go to ``output``."""
    with output.open("wb") as stream, Path(os.devnull).open("rb") as nothing:
        streams = (nothing.fileno(), stream.fileno(), stream.fileno())
        whole = {**environment(), **env}
        return nursery.start([str(word) for word in words], cwd=str(cwd), env=whole, streams=streams)
