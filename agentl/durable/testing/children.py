"""A driver in a process of its own, that can be asked, stopped, woken and killed (`STO-10`)."""

from __future__ import annotations

import json
import os
import select
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final

_LIMIT: Final = 60.0


class Line:
    """Messages between two processes, one JSON text per line."""

    def __init__(self, reading: int, writing: int) -> None:
        self._reading = reading
        self._writing = writing
        self._left = b""

    def say(self, message: Any) -> None:
        """Send one message; nothing happens when nobody is there any more."""
        with suppress(BrokenPipeError):
            os.write(self._writing, json.dumps(message).encode("ascii") + b"\n")

    def hear(self) -> Any:
        """The next message, ``None`` when the other side has ended.

        Raises:
            AssertionError: it said nothing for a minute.
        """
        while b"\n" not in self._left:
            if not select.select([self._reading], [], [], _LIMIT)[0]:
                raise AssertionError("the other process says nothing")
            part = os.read(self._reading, 65536)
            if not part:
                return None
            self._left += part
        message, _, self._left = self._left.partition(b"\n")
        return json.loads(message)

    def everything(self) -> Iterator[Any]:
        """All messages up to the end of the other side."""
        while (message := self.hear()) is not None:
            yield message

    def close(self) -> None:
        """End it."""
        os.close(self._reading)
        os.close(self._writing)


class Child:
    """A forked process that does ``work`` with a line to its parent, and is never left behind."""

    def __init__(self, work: Callable[[Line], None]) -> None:
        to_child, from_child = os.pipe(), os.pipe()
        self._ended = False
        with warnings.catch_warnings():
            # Later Pythons warn of threads that a fork leaves behind; that of a lease is one of them.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.process = os.fork()
        if self.process == 0:
            code = 1
            try:
                os.close(to_child[1])
                os.close(from_child[0])
                line = Line(to_child[0], from_child[1])
                try:
                    work(line)
                    code = 0
                except BaseException as error:  # noqa: BLE001 - the parent is told, and judges
                    line.say(["raised", type(error).__name__, str(error)])
            finally:
                os._exit(code)
        os.close(to_child[0])
        os.close(from_child[1])
        self.line = Line(from_child[0], to_child[1])

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.kill()
        self.line.close()

    def pause(self) -> None:
        """Stop it where it is; returns when it has stopped."""
        os.kill(self.process, signal.SIGSTOP)
        os.waitpid(self.process, os.WUNTRACED)

    def wake(self) -> None:
        """Let it go on."""
        os.kill(self.process, signal.SIGCONT)

    def kill(self) -> None:
        """SIGKILL, whatever it is doing."""
        if not self._ended:
            self._ended = True
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
