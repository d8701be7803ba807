"""The one ordered truth of a run: verified raw lines, a chain that grows, a cursor (`DUR-8`).

Entries stay raw bytes until they are served: a long run is resumed in little memory, and the
chain is checked in one pass that keeps nothing decoded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, overload

from agentl.errors import DurableError
from agentl.journal.chain import Chain, key_id
from agentl.journal.entry import Entry, compose, finish, read_line, same_writing

DURABLE_FORMAT: Final = "agentl.durable.v2"
_ANY_FORMAT: Final = re.compile(r"agentl\.durable\.v[0-9]+")


class Entries(Sequence[Entry]):
    """The entries of a journal, decoded one by one when they are looked at (`DUR-11`)."""

    __slots__ = ("_lines",)

    def __init__(self, lines: list[bytes]) -> None:
        self._lines = lines

    def __len__(self) -> int:
        return len(self._lines)

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> list[Entry]: ...
    def __getitem__(self, index: int | slice) -> Entry | list[Entry]:
        if isinstance(index, slice):
            return [read_line(line) for line in self._lines[index]]
        return read_line(self._lines[index])

    def __iter__(self) -> Iterator[Entry]:
        return map(read_line, self._lines)


class OrderedJournal:
    """Lines in order: a *prefix* that was read and is served, then what this process adds.

    ``head`` is the digest of the last entry. The journal does no input or output: `sealed`
    gives the next line, `keep` takes it in once the store has it.
    """

    __slots__ = ("_chain", "_peeked", "cursor", "lines", "prefix")

    def __init__(self, key: bytes | None = None) -> None:
        self.lines: list[bytes] = []
        self.prefix = 0
        self.cursor = 0
        self._chain = Chain(key)
        self._peeked: Entry | None = None

    @property
    def head(self) -> str:
        return self._chain.head

    @property
    def in_prefix(self) -> bool:
        return self.cursor < self.prefix

    def peek(self) -> Entry | None:
        """The next entry of the prefix, or ``None`` behind its end."""
        if self._peeked is None and self.cursor < self.prefix:
            self._peeked = read_line(self.lines[self.cursor])
        return self._peeked

    def take(self) -> Entry:
        """The next entry of the prefix, which is thereby consumed."""
        entry = self.peek()
        if entry is None:
            raise IndexError(self.cursor)
        self._peeked = None
        self.cursor += 1
        return entry

    def sealed(self, kind: str, key: str, args: str | None, outcome: str, agent: str | None = None) -> bytes:
        """The next line with its digest; the chain moves on, so the line must be kept or the run ended."""
        canonical, opening = compose(len(self.lines), kind, key, args, outcome, agent)
        return finish(opening, self._chain.add(canonical))

    def keep(self, line: bytes) -> None:
        """Take in a line that the store has accepted; it counts as consumed."""
        self.lines.append(line)
        self.prefix = self.cursor = len(self.lines)

    def read(
        self,
        lines: Iterable[bytes | str],
        *,
        name: str,
        key: bytes | None = None,
        note: Callable[[Entry], None] | None = None,
    ) -> None:
        """Check every line and take it in as the prefix; ``note`` sees each entry once.

        Args:
            lines: raw lines without their newline.
            name: what the errors call the file.
            key: the chain key (`SEA-10`).

        Raises:
            DurableError: the journal is refused (`DRF-1`).
        """
        for position, given in enumerate(lines):
            raw = given.encode("utf-8", "surrogatepass") if isinstance(given, str) else bytes(given)
            if not raw.strip():
                raise DurableError(code="durable.empty_line", file=name, position=position)
            try:
                entry = read_line(raw)
            except ValueError as error:
                raise DurableError(code="durable.unreadable_line", file=name, position=position) from error
            if entry.seq != position:
                raise DurableError(code="durable.bad_sequence", entry=position, found=entry.seq)
            if position == 0:
                check_key(entry, key)
            canonical, opening = entry.composed()
            if self._chain.add(canonical) != entry.h or not same_writing(raw, entry, opening):
                raise DurableError(code="durable.altered", entry=position)
            if position == 0:
                if entry.kind != "open":
                    raise DurableError(code="durable.no_open")
                check_format(entry.stored_args)
            self.lines.append(raw)
            if note is not None:
                note(entry)
        self.prefix = len(self.lines)
        self.cursor = 0


def check_key(first: Entry, key: bytes | None) -> None:
    """Refuse a journal of another format, or opened with the wrong key or none (`DUR-8`, `DRF-1`).

    This comes before the chain is looked at: with another key, or in another format, no digest
    can match, and "altered" would be the wrong news.
    """
    args = first.stored_args
    if first.kind != "open" or type(args) is not dict:
        return
    form = args.get("format")
    if type(form) is str and _ANY_FORMAT.fullmatch(form) and form != DURABLE_FORMAT:
        raise DurableError(code="durable.unknown_format", format=form, wanted=DURABLE_FORMAT)
    recorded = args.get("key_id")
    given = None if key is None else key_id(key)
    if recorded == given:
        return
    if given is None:
        raise DurableError(code="durable.key_missing", key_id=recorded)
    if recorded is None:
        raise DurableError(code="durable.key_unexpected", key_id=given)
    raise DurableError(code="durable.key_other", recorded=recorded, given=given)


def check_format(args: Any) -> None:
    """Refuse an intact journal whose format is not the one that this version reads (`DRF-1`)."""
    form = args.get("format") if isinstance(args, dict) else None
    if form != DURABLE_FORMAT:
        raise DurableError(code="durable.unknown_format", format=form, wanted=DURABLE_FORMAT)
