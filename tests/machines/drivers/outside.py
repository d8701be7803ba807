"""What stands outside every driver: a chronicle of what happened, and the receiver with its effects.

Each note and each effect is one system call, so that a driver can be stopped or killed before it or after
it, never within. Imports nothing of the package.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class Chronicle:
    """Notes of everybody, in the order in which they were made."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def tell(self, driver: int, event: str, **more: Any) -> None:
        """Add a note; ``driver`` 0 is the outside itself."""
        line = json.dumps({"driver": driver, "event": event, **more}).encode() + b"\n"
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)

    def notes(self) -> list[dict[str, Any]]:
        """All of them."""
        if not self.path.exists():
            return []
        return [json.loads(line) for line in self.path.read_text("ascii").splitlines()]


@dataclass(frozen=True)
class Effect:
    """What happened in the world."""

    action: str
    key: str
    epoch: int
    driver: int


class StaleTokenError(Exception):
    """The receiver was shown a greater epoch already."""


class Receiver:
    """A service that acts when it is called, and remembers.

    One that knows keys keeps each effect under its key, which can be there once (the name of a link); any
    other appends a line. One that knows tokens refuses an epoch below one that it was shown.
    """

    def __init__(self, folder: Path, *, knows_key: bool, knows_token: bool) -> None:
        self.keys, self.lines, self.shown = folder / "keys", folder / "effects", folder / "shown"
        self.knows_key, self.knows_token = knows_key, knows_token
        self.keys.mkdir(exist_ok=True)
        self.shown.mkdir(exist_ok=True)

    def admit(self, epoch: int | None) -> None:
        """Look at the token of a call or of a question. Raises ``StaleTokenError``."""
        if not self.knows_token or epoch is None:
            return
        if any(known > epoch for known in self._epochs()):
            raise StaleTokenError
        (self.shown / str(epoch)).touch()

    def _epochs(self) -> list[int]:
        return [int(known.name) for known in self.shown.iterdir()]

    def act(self, effect: Effect) -> None:
        """The effect takes place, unless its key is known."""
        text = json.dumps([effect.action, effect.key, effect.epoch, effect.driver])
        if self.knows_key:
            try:
                (self.keys / effect.key).symlink_to(text)
            except FileExistsError:
                return
            return
        descriptor = os.open(self.lines, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, text.encode() + b"\n")
        finally:
            os.close(descriptor)

    def effects(self) -> list[Effect]:
        """Everything that has happened."""
        found = [str(link.readlink()) for link in sorted(self.keys.iterdir())]
        if self.lines.exists():
            found += self.lines.read_text("utf-8").splitlines()
        return [Effect(*json.loads(text)) for text in found]
