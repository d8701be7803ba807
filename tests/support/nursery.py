"""Child processes of the command line that need not import it first: forked from one that has.

A test of a crash needs a process of its own, with its own memory, locks and signals; it does not need
half a second of imports. The nursery is started once, imports the command, and forks a child for each
request. Around each child stands a small process that waits for it and tells how it ended.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

LOADED = (
    *("agentl.cli.app", "agentl.runtime.runtime", "agentl.durable", "agentl.replay", "agentl.seal"),
    *("agentl.analysis", "agentl.language.parser", "agentl.cli.recording", "http.client", "urllib.request"),
)


class Child:
    """A running command; what a test needs of ``subprocess.Popen``, under the same names."""

    def __init__(self, line: socket.socket, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._line = line

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, negative for a signal. Raises ``subprocess.TimeoutExpired``."""
        if self.returncode is None:
            self._line.settimeout(timeout)
            try:
                self.returncode = int(json.loads(self._line.recv(100))["ended"])
            except TimeoutError as error:
                raise subprocess.TimeoutExpired("agentl", timeout or 0) from error
            self._line.close()
        return self.returncode

    def poll(self) -> int | None:
        """The exit code if the process has ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.wait(0.000_001)
        return None

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def start(
    words: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    streams: tuple[int, int, int],
    file_size: int | None = None,
) -> Child:
    """Start ``agentl WORDS``.

    Args:
        words: the command line without the name of the command.
        cwd: the working directory.
        env: the whole environment.
        streams: the descriptors of stdin, stdout and stderr.
        file_size: no file may grow beyond this many bytes (``RLIMIT_FSIZE``), if given.
    """
    line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    line.connect(_nursery())
    asked = {"words": list(words), "cwd": cwd, "env": dict(env), "file_size": file_size}
    socket.send_fds(line, [json.dumps(asked).encode()], list(streams))
    return Child(line, int(json.loads(line.recv(100))["pid"]))


@cache
def _nursery() -> str:
    """The address of the nursery of this test process; it ends when this process does."""
    address = str(Path(tempfile.mkdtemp(prefix="nursery-")) / "line")
    script = f"from tests.support.nursery import serve; serve({address!r})"
    root = str(Path(__file__).resolve().parent.parent.parent)
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"open\n"
    _KEPT.append(process)
    return address


_KEPT: list[Any] = []  # the pipe to the nursery closes when this process ends, however it ends


def serve(address: str) -> None:
    """The nursery: forks until nobody holds the other end of its stdin."""
    for name in LOADED:
        importlib.import_module(name)
    importlib.import_module("agentl").parse_source("AGENT a { }")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(address)
    listener.listen(64)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    sys.stdout.write("open\n")
    sys.stdout.flush()
    if os.fork() == 0:
        # Waits for the end of the test process, and takes the nursery with it.
        listener.close()
        sys.stdin.buffer.read()
        os.kill(os.getppid(), signal.SIGTERM)
        with contextlib.suppress(OSError):
            Path(address).unlink()
            Path(address).parent.rmdir()
        os._exit(0)
    os.close(0)
    while True:
        line, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            _attend(line)
        line.close()


def _attend(line: socket.socket) -> NoReturn:
    """Fork the command, say its number, wait for it, say how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    message, streams, _, _ = socket.recv_fds(line, 1 << 20, 3)
    asked = json.loads(message)
    pid = os.fork()
    if pid == 0:
        line.close()
        _become(asked, streams)
    for stream in streams:
        os.close(stream)
    with contextlib.suppress(OSError):
        line.send(json.dumps({"pid": pid}).encode())
    _, status = os.waitpid(pid, 0)
    with contextlib.suppress(OSError):
        line.send(json.dumps({"ended": os.waitstatus_to_exitcode(status)}).encode())
    os._exit(0)


def _become(asked: dict[str, Any], streams: list[int]) -> NoReturn:
    """Be a process that has just been started with these words."""
    code = 70
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.closerange(3, 64)
        os.environ.clear()
        os.environ.update(asked["env"])
        os.chdir(asked["cwd"])
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if asked["file_size"] is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (asked["file_size"],) * 2)
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        sys.stdin, sys.stdout, sys.stderr = (
            io.TextIOWrapper(io.FileIO(number, mode), encoding="utf-8", write_through=number > 0)
            for number, mode in enumerate("rww")
        )
        sys.argv = ["agentl", *asked["words"]]
        from agentl.__main__ import main

        code = main()
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
        code = 1
    finally:
        os._exit(code)
