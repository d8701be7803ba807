"""A recording: every crossing of one run in order, sealed at its end (`RPL-1` to `RPL-3`, `RPL-6`)."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from agentl.errors import ReplayDivergence, ReplayError
from agentl.journal.chain import HEAD_DIGITS, Chain, empty_head
from agentl.journal.entry import ANNOTATIONS, KINDS, Entry, dump, encode_args, from_data, read_json
from agentl.journal.failures import describe, rebuild
from agentl.kernel.port import Verdict
from agentl.seal import ChainReport, Key, SealVerdict, sign_meta, verify_chain, verify_signature
from agentl.values import encode

JOURNAL_FORMAT: Final = 3
READABLE: Final = (1, 2, 3)
_COMPARED: Final = frozenset(("invoke", "delegate", "ask"))
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def sha256(text: str) -> str:
    """The digest of a text, lone surrogates included (`SEA-1`)."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Journal:
    """Crossings to record or to replay (`RPL-1`).

    Args:
        entries: what is recorded already.
        meta: about the run (`RPL-3`).
        lossy: places of values without a serial form (`ENC-2`).
        chain_report: the verdict on the chain of what was loaded.
        signing_key: signs the seal.
    """

    def __init__(
        self,
        entries: Sequence[Entry] = (),
        meta: Mapping[str, Any] | None = None,
        lossy: Sequence[str] = (),
        chain_report: ChainReport | None = None,
        signing_key: Key | None = None,
    ) -> None:
        self.entries: list[Entry] = list(entries)
        self.meta: dict[str, Any] = dict(meta or {})
        self.lossy: list[str] = list(lossy)
        self.signing_key = signing_key
        self._report = chain_report
        # A digest of another form is damage, which the report names; no chain goes on after it.
        last = self.entries[-1].h if self.entries else ""
        self._chain = Chain(None, last if len(last) == HEAD_DIGITS else "")
        self._cursors: dict[str | None, int] = {}
        self._verdicts: list[Verdict] = []

    # --- recording -----------------------------------------------------------------------

    def record(
        self,
        kind: str,
        key: str,
        *,
        args: Any = None,
        value: Any = None,
        error: BaseException | tuple[str, str] | None = None,
        agent: str | None = None,
    ) -> Entry:
        """Add one crossing.

        Raises:
            ReplayError: there is no such kind.
        """
        if kind not in KINDS:
            raise ReplayError(code="replay.kind", kind=kind)
        failure = describe(error) if isinstance(error, BaseException) else error
        lost: list[str] = []
        stored = None if failure is not None else encode(value, lost)
        self.lossy += [f"{len(self.entries)}:{place}" for place in lost]
        entry = Entry(len(self.entries), kind, key, encode_args(kind, args), stored, failure, agent=agent)
        entry.h = self._chain.add(entry.composed()[0])
        self.entries.append(entry)
        return entry

    # --- replaying -----------------------------------------------------------------------

    def peek(self, agent: str | None = None) -> Entry | None:
        """The next crossing of that agent; annotations are skipped, verdicts kept for the next tick."""
        position = self._cursors.get(agent, 0)
        while position < len(self.entries):
            entry = self.entries[position]
            if entry.agent == agent or (entry.agent is None and entry.kind == "verdict"):
                if entry.kind not in ANNOTATIONS:
                    break
                if entry.kind == "verdict":
                    self._verdicts.append(_verdict(entry))
            position += 1
        self._cursors[agent] = position
        return self.entries[position] if position < len(self.entries) else None

    def next(self, kind: str, key: str, agent: str | None = None) -> Entry:
        """The recorded entry of this crossing (`RPL-6`).

        Raises:
            ReplayDivergence: the recording is at its end, or holds another crossing here.
        """
        entry = self.peek(agent)
        if entry is None:
            recorded = sum(found.kind not in ANNOTATIONS for found in self.entries)
            raise ReplayDivergence(code="replay.exhausted", crossing=f"{kind}:{key}", recorded=recorded)
        if entry.kind != kind or entry.key != key:
            raise ReplayDivergence(
                code="replay.diverged",
                entry=entry.seq,
                recorded=f"{entry.kind}:{entry.key}",
                derived=f"{kind}:{key}",
            )
        self._cursors[agent] = entry.seq + 1
        return entry

    def matched(self, kind: str, key: str, args: Any = None, agent: str | None = None) -> Entry:
        """As `next`, with the arguments compared where they count (`RPL-6`).

        Raises:
            ReplayDivergence: as `next`, or the arguments differ.
        """
        entry = self.next(kind, key, agent)
        recorded: Any = entry.stored_args
        derived: Any = encode_args(kind, args)
        if kind == "approve":
            recorded, derived = _part(recorded, "hash"), _part(derived, "hash")
        elif kind not in _COMPARED:
            return entry
        if dump(recorded) != dump(derived):
            raise ReplayDivergence(
                code="replay.arguments",
                entry=entry.seq,
                crossing=f"{kind}:{key}",
                recorded=dump(recorded),
                derived=dump(derived),
            )
        return entry

    def replay_value(self, kind: str, key: str, args: Any = None, agent: str | None = None) -> Any:
        """What the recorded crossing gave: its value, or its error raised again.

        Raises:
            ReplayDivergence: the recording holds something else here.
        """
        entry = self.matched(kind, key, args, agent)
        if entry.error is not None:
            raise rebuild(entry.error)
        return entry.value

    def verdicts(self, agent: str | None = None) -> list[Verdict]:
        """The verdicts met so far that no tick has taken (`RES-10`)."""
        self.peek(agent)
        waiting, self._verdicts = self._verdicts, []
        return waiting

    def verdict_on(self, action_id: str) -> Verdict | None:
        """The verdict met on this action, which no tick takes then (`RES-6`)."""
        found = [verdict for verdict in self._verdicts if verdict.action_id == action_id]
        self._verdicts = [verdict for verdict in self._verdicts if verdict.action_id != action_id]
        return found[-1] if found else None

    def rewind(self) -> None:
        """Replay from the beginning again."""
        self._cursors.clear()
        self._verdicts.clear()

    @property
    def remaining(self) -> int:
        """Crossings that were not consumed; annotations do not count."""
        return sum(
            entry.seq >= self._cursors.get(entry.agent, 0)
            for entry in self.entries
            if entry.kind not in ANNOTATIONS
        )

    @property
    def exhausted(self) -> bool:
        """Whether everything was consumed."""
        return self.remaining == 0

    # --- chain and seal --------------------------------------------------------------------

    def entry_bodies(self) -> list[dict[str, Any]]:
        """The entries as JSON data, without their digests."""
        return [entry.body() for entry in self.entries]

    @property
    def head(self) -> str:
        """The digest of the last entry; of an empty journal, that of the domain alone (`SEA-2`)."""
        return self._chain.head or empty_head()

    @property
    def chain_report(self) -> ChainReport:
        """The verdict on the chain: of what was loaded, else of what is held now."""
        return self._report if self._report is not None else verify_chain(self.to_json())

    def seal(self, trace: str, *, key: Key | None = None, **extra: Any) -> None:
        """Freeze head and trace digest in the meta, and sign it when there is a key (`SEA-4`, `SEA-5`).

        Raises:
            SealError: the key cannot sign.
        """
        self.meta.update(extra)
        self.meta.update(trace_sha256=sha256(trace), chain_sha256=self.head, format=JOURNAL_FORMAT)
        self.meta.pop("signature", None)
        if self.lossy:
            self.meta["lossy"] = list(self.lossy)
        signer = key if key is not None else self.signing_key
        if signer is not None:
            self.meta["signature"] = sign_meta(self.meta, signer)

    @property
    def signed(self) -> bool:
        """Whether there is a signature, valid or not."""
        return self.meta.get("signature") is not None

    def verify_seal(self, key: Key | None = None) -> SealVerdict:
        """The verdict on the signature (`SEA-8`)."""
        return verify_signature(self.meta, key)

    # --- files -----------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """The journal as JSON data (`RPL-2`)."""
        meta = {**self.meta}
        meta.setdefault("format", JOURNAL_FORMAT)
        return {"meta": meta, "entries": [{**entry.body(), "h": entry.h} for entry in self.entries]}

    def dumps(self) -> str:
        """The journal as text: two spaces of indentation, keys in order, a final newline."""
        text = json.dumps(self.to_json(), ensure_ascii=False, indent=2, allow_nan=False)
        return _SURROGATE.sub(lambda found: f"\\u{ord(found.group()):04x}", text) + "\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the journal to a file. Raises ``OSError``."""
        Path(path).write_text(self.dumps(), encoding="utf-8")

    @classmethod
    def loads(cls, text: str, *, strict: bool = True) -> Journal:
        """Read a journal (`RPL-2`).

        Args:
            strict: refuse a broken chain; else the verdict is kept in ``chain_report``.

        Raises:
            ReplayError: it is no journal, its format is unknown, or (strict) its chain is broken.
        """
        try:
            raw = read_json(text)
            meta, bodies = raw["meta"], raw["entries"]
            if type(meta) is not dict or type(bodies) is not list:
                raise ValueError("layout")
        except (ValueError, KeyError, TypeError) as error:
            raise ReplayError(code="replay.malformed", file="—", cause=type(error).__name__) from error
        version = meta.get("format")
        if type(version) is not int or version not in READABLE:
            readable = ", ".join(str(number) for number in READABLE)
            raise ReplayError(code="replay.format", format=version, readable=readable)
        report = _report(raw, version)
        if strict and not report.ok:
            raise ReplayError(code="replay.altered", verdict=str(report))
        entries = []
        for position, body in enumerate(bodies):
            try:
                # A line that was removed or moved shows in the chain; the numbers only say where we are.
                entry = from_data({**body, "seq": position} if type(body) is dict else body)
            except ValueError as error:
                raise ReplayError(code="replay.malformed", file="—", cause=f"#{position}") from error
            entries.append(entry)
        lossy = meta.get("lossy")
        places = [str(place) for place in lossy] if isinstance(lossy, list) else []
        return cls(entries, meta, places, report)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, strict: bool = True) -> Journal:
        """Read a journal from a file, as `loads`. Raises ``OSError`` too."""
        content = Path(path).read_bytes()
        try:
            return cls.loads(content.decode("utf-8"), strict=strict)
        except UnicodeDecodeError as error:
            raise ReplayError(code="replay.malformed", file="—", cause="UTF-8") from error


def _report(raw: Mapping[str, Any], version: int) -> ChainReport:
    if version == 1:
        return ChainReport(False, "replay.format_unsealed", values={"format": version})
    return verify_chain(raw)


def _part(args: Any, name: str) -> Any:
    return args.get(name) if isinstance(args, dict) else None


def _verdict(entry: Entry) -> Verdict:
    args = entry.stored_args if isinstance(entry.stored_args, dict) else {}
    return Verdict(
        str(args.get("action_id", "")),
        entry.key,
        args.get("executed") is True,
        entry.value,
        str(args.get("by", "unknown")),
        str(args.get("at", "")),
    )


def verify_trace(journal: Journal, text: str) -> bool:
    """Whether a trace is the recorded one, character for character (`RPL-7`).

    Raises:
        ReplayError: the recording is not sealed.
    """
    sealed = journal.meta.get("trace_sha256")
    if not isinstance(sealed, str):
        raise ReplayError(code="replay.unsealed")
    return sealed == sha256(text)
