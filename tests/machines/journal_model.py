"""What a journal file must hold and what its reader must make of it. Imports nothing from ``agentl``.

``JournalModel`` hears which lines were written and which of them a synchronisation covered, and is shown the
bytes after each step. It computes every digest anew, from the words of `DUR-8` alone.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any

from tests.machines.run_model import must

DOMAIN = b"agentl.journal.chain.v1\n"


def digest(key: bytes | None, head: str, entry: dict[str, Any]) -> str:
    """`DUR-8`: over the digest before it and the entry without its own, keys sorted."""
    body = {name: value for name, value in entry.items() if name != "h"}
    text = json.dumps(body, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    message = DOMAIN + head.encode() + text.encode()
    return (
        hashlib.sha256(message).hexdigest()
        if key is None
        else hmac.new(key, message, hashlib.sha256).hexdigest()
    )


class JournalModel:
    """The variables ``known``, ``acked``, ``flight`` and ``damaged`` of ``formal/Journal.tla``.

    ``acked`` counts the lines of ``flight`` whose append came back durable.
    """

    def __init__(self, key: bytes | None) -> None:
        self.key = key
        self.known: list[bytes] = []
        self.flight: list[bytes] = []
        self.acked = 0
        self.damaged = False

    # --- writing -----------------------------------------------------------------------

    def appended(self, lines: list[bytes], value: Any, synced: bool) -> None:
        """What the process holds after an append: one line more, or two with the note of a new driver."""
        before = len(self.known)
        must(lines[:before] == self.known, "DUR-3", "an append changed what stood before it")
        must(before < len(lines) <= before + 2, "DUR-3", "an append is one line, after a resume two")
        for line in lines[before:]:
            entry = json.loads(line)
            head = json.loads(self.known[-1])["h"] if self.known else ""
            must(entry["seq"] == len(self.known), "DUR-3", "the numbers count from zero without a gap")
            must(entry["h"] == digest(self.key, head, entry), "DUR-8", "the digest is not that of the chain")
            self.known.append(line)
        must(json.loads(self.known[-1])["value"] == value, "DUR-3", "the line says something else")
        self.flight = list(self.known)
        if synced:
            self.acked = len(self.known)

    def seen(self, content: bytes, durable: bytes) -> None:
        """The file of a running process, and the part of it that would outlast a loss of power."""
        must(
            written(self.known) == content.rstrip(b"\0"),
            "DUR-11",
            "the file does not say what is held for true",
        )
        must(durable.startswith(written(self.known[: self.acked])), "DUR-6", "acknowledged, and not durable")

    # --- the environment ---------------------------------------------------------------

    def crashed(self) -> None:
        """Nothing is known any more; what was acknowledged stays owed."""
        self.known = []

    # --- opening -----------------------------------------------------------------------

    def accepted(self, image: bytes, lines: list[bytes]) -> None:
        """The reader accepted ``image`` and holds ``lines`` for true."""
        must(not self.damaged, "DUR-8", "damage to a durable line was accepted")
        must(lines[: self.acked] == self.flight[: self.acked], "DUR-6", "an acknowledged line is lost")
        must(lines == self.flight[: len(lines)], "STO-5", "what was accepted was never written")
        must(len(lines) == self.survivors(image), "STO-5", "a whole line is dropped, or a torn one kept")
        self.known, self.flight, self.acked = list(lines), list(lines), len(lines)

    def refused(self, image: bytes, position: int | None) -> None:
        """The reader refused ``image`` and named an entry (none, where it found another kind of journal)."""
        must(self.damaged, "STO-5", "a crash alone made the journal unreadable")
        first = self.first_changed(image)
        must(
            position == first or (position is None and first == 0), "DUR-8", "the refusal names another entry"
        )

    def survivors(self, image: bytes) -> int:
        """How many lines of ``flight`` a cut left whole, the last perhaps without its newline."""
        size, end, count = len(image.rstrip(b"\0")), 0, 0
        for line in self.flight:
            if end + len(line) > size:
                break
            end += len(line) + 1
            count += 1
        return count

    def first_changed(self, image: bytes) -> int:
        """The number of the first line that is not the one that was written."""
        lines = image.split(b"\n")
        kept = (n for n, line in enumerate(self.flight) if n >= len(lines) or lines[n] != line)
        return next(kept, len(self.flight))


def written(lines: list[bytes]) -> bytes:
    """The file that holds exactly these lines."""
    return b"".join(line + b"\n" for line in lines)
