"""One entry of a journal and the one line that holds it (`DUR-3`, `DUR-4`).

Two texts belong to an entry: the *line* (fields in the order that people read) and the
*canonical JSON* that is hashed (keys sorted, `SEA-1`). Nested objects are written with
sorted keys in both, so both are joined from the same fragments and an append encodes
every value once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from math import isfinite
from typing import Any, Final, cast

from agentl.datamodel import MAX_INTEGER_BITS
from agentl.values import Symbol, decode, encode

KINDS: Final = (
    "open",
    "read",
    "ask",
    "approve",
    "drain",
    "invoke",
    "delegate_lookup",
    "delegate",
    "reason",
    "select_plan",
    "judge",
    "intent",
    "reconcile",
    "resolution",
    "verdict",
    "checkpoint",
    "close",
    "resume",
    "extend",
    "park",
    "cancel",
)
ANNOTATIONS: Final = frozenset(
    ("open", "intent", "resolution", "verdict", "checkpoint", "close", "resume", "extend", "park", "cancel")
)
# The kinds whose arguments come from the program; those of all others are written by the runtime
# under fixed names and stay plain JSON.
PROGRAM_ARGUMENTS: Final = frozenset(("invoke", "delegate"))
_KINDS: Final = frozenset(KINDS)
_FIELDS: Final = frozenset(("seq", "agent", "kind", "key", "args", "error", "value", "h"))
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_HEX64: Final = re.compile(r"[0-9a-f]{64}")


def _refuse(value: Any) -> Any:
    raise TypeError(type(value).__name__)


def _dumper() -> Any:
    # JSONEncoder.encode builds a new C encoder for every call; one that is kept halves the cost of
    # a small value. Without the C accelerator the ordinary encoder does the same, more slowly.
    plain = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return plain.encode
    try:
        pieces = make(None, _refuse, json.encoder.encode_basestring, None, ":", ",", True, False, False)
    except TypeError:
        return plain.encode
    quote = json.encoder.encode_basestring

    def dump(data: Any) -> str:
        if type(data) is str:
            return str(quote(data))
        return "".join(pieces(data, 0))

    return dump


dump: Final = _dumper()
"""Canonical JSON text of plain JSON data; lone surrogates are still in it (see `to_bytes`)."""

quote: Final = json.encoder.encode_basestring


def to_bytes(text: str) -> bytes:
    """UTF-8 of canonical text; lone surrogates, and they alone, as escapes (`SEA-1`)."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return _SURROGATE.sub(lambda found: f"\\u{ord(found.group()):04x}", text).encode("utf-8")


def canonical_json(data: Any) -> bytes:
    """Canonical JSON of plain JSON data (`SEA-1`).

    Raises:
        TypeError, ValueError: the data is no plain JSON (NaN included).
    """
    return to_bytes(dump(data))


def plain(data: Any) -> Any:
    """Arguments that the runtime writes, as plain JSON; what is no JSON is encoded (`ENC-1`)."""
    kind = type(data)
    if kind is str or kind is int or kind is bool or data is None:
        return data
    if kind is list or kind is tuple:
        return [plain(item) for item in data]
    if isinstance(data, Mapping):
        return {str(key): plain(item) for key, item in data.items()}
    return encode(data)


def encode_args(kind: str, args: Any) -> Any:
    """The arguments of an entry as they are stored."""
    if args is None:
        return None
    return encode(args) if kind in PROGRAM_ARGUMENTS else plain(args)


def decode_args(kind: str, stored: Any) -> Any:
    """The arguments of an entry as the program had them."""
    if stored is None or kind not in PROGRAM_ARGUMENTS:
        return stored
    return decode(stored)


def flat_text(value: Any) -> str | None:
    """The journal form (`ENC-1`) of a plain value, as canonical text, in one pass.

    ``None`` for whatever is not a scalar, a dictionary of scalars, or a list of these: that goes through
    ``encode``. What has a text here reads back equal to itself, so it needs no decoding to be what a resume
    would see: ``flat_copy`` gives that.
    """
    if type(value) is not list:
        return _row_text(value)
    rows = [_row_text(item) for item in value]
    return None if None in rows else f'{{"$list":[{",".join(cast(list[str], rows))}]}}'


def flat_copy(value: Any) -> Any:
    """What a value with a ``flat_text`` reads back as."""
    kind = type(value)
    if kind is list:
        return [item.copy() if type(item) is dict else item for item in value]
    return value.copy() if kind is dict else value


def _row_text(value: Any) -> str | None:
    if type(value) is not dict:
        return _scalar_text(value)
    pairs = []
    for name, item in value.items():
        if type(name) is not str:
            return None
        text = quote(item) if type(item) is str else _scalar_text(item)
        if text is None:
            return None
        pairs.append(f"[{quote(name)},{text}]")
    return f'{{"$dict":[{",".join(pairs)}]}}'


def _scalar_text(value: Any) -> str | None:
    kind = type(value)
    if kind is str:
        return quote(value)
    if kind is int:
        return int.__repr__(value) if value.bit_length() <= MAX_INTEGER_BITS else None
    if kind is Symbol:
        return f'{{"$sym":{quote(value.name)}}}'
    if kind is float and isfinite(value):
        return float.__repr__(value)
    if value is True:
        return "true"
    if value is False:
        return "false"
    return "null" if value is None else None


def form_text(value: Any) -> str:
    """The journal form of any value, as canonical text."""
    text = flat_text(value)
    return dump(encode(value)) if text is None else text


def compose(
    seq: int, kind: str, key: str, args: str | None, outcome: str, agent: str | None = None
) -> tuple[bytes, bytes]:
    """The canonical JSON of an entry, and its line up to the digest.

    Args:
        args: the arguments as canonical text, or ``None``.
        outcome: ``"value":…`` or ``"error":…`` as canonical text.
        agent: the agent that crosses, in a society.
    """
    named = quote(key)
    who = f'"agent":{quote(agent)},' if agent is not None else ""
    given = f'"args":{args},' if args is not None else ""
    if outcome.startswith('"e'):
        canonical = f'{{{who}{given}{outcome},"key":{named},"kind":"{kind}","seq":{seq}}}'
    else:
        canonical = f'{{{who}{given}"key":{named},"kind":"{kind}","seq":{seq},{outcome}}}'
    opening = f'{{"seq":{seq},{who}"kind":"{kind}","key":{named},{given}{outcome},"h":"'
    try:
        return canonical.encode("utf-8"), opening.encode("utf-8")
    except UnicodeEncodeError:
        return to_bytes(canonical), to_bytes(opening)


def finish(opening: bytes, digest: str) -> bytes:
    """The complete line: what `compose` opened, with the chain digest."""
    return b'%b%b"}' % (opening, digest.encode("ascii"))


class Entry:
    """One crossing or annotation, as stored (`DUR-3`).

    ``args`` and ``value`` are decoded on each reading; ``stored_args`` and ``stored_value``
    are the journal form (`ENC-1`). ``error`` is ``None`` or ``(class name, text)``.
    """

    __slots__ = ("agent", "error", "h", "key", "kind", "seq", "stored_args", "stored_value")

    def __init__(
        self,
        seq: int,
        kind: str,
        key: str,
        stored_args: Any = None,
        stored_value: Any = None,
        error: tuple[str, str] | None = None,
        h: str = "",
        agent: str | None = None,
    ) -> None:
        self.seq = seq
        self.kind = kind
        self.key = key
        self.stored_args = stored_args
        self.stored_value = stored_value
        self.error = error
        self.h = h
        self.agent = agent

    @property
    def args(self) -> Any:
        """The arguments as the program had them, or ``None``."""
        return decode_args(self.kind, self.stored_args)

    @property
    def value(self) -> Any:
        """The value as the program received it (`ENC-5`)."""
        return decode(self.stored_value)

    def body(self) -> dict[str, Any]:
        """The entry as JSON data without its digest, fields in the order of `DUR-3`."""
        data: dict[str, Any] = {"seq": self.seq}
        if self.agent is not None:
            data["agent"] = self.agent
        data["kind"] = self.kind
        data["key"] = self.key
        if self.stored_args is not None:
            data["args"] = self.stored_args
        if self.error is not None:
            data["error"] = list(self.error)
        else:
            data["value"] = self.stored_value
        return data

    def composed(self) -> tuple[bytes, bytes]:
        """`compose` of this entry."""
        args = None if self.stored_args is None else dump(self.stored_args)
        if self.error is not None:
            outcome = f'"error":{dump(list(self.error))}'
        else:
            outcome = f'"value":{dump(self.stored_value)}'
        return compose(self.seq, self.kind, self.key, args, outcome, self.agent)

    def __repr__(self) -> str:
        return f"Entry(seq={self.seq}, kind={self.kind!r}, key={self.key!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Entry):
            return NotImplemented
        return self.h == other.h and self.body() == other.body()

    __hash__ = None  # type: ignore[assignment]


def from_data(data: Any) -> Entry:
    """An entry from JSON data.

    Raises:
        ValueError: the data has not the form of `DUR-3`.
    """
    if type(data) is not dict or not _FIELDS.issuperset(data):
        raise ValueError("fields")
    seq, kind, key, digest = data.get("seq"), data.get("kind"), data.get("key"), data.get("h", "")
    agent, error = data.get("agent"), data.get("error")
    if type(seq) is not int or type(kind) is not str or type(key) is not str or type(digest) is not str:
        raise ValueError("types")
    if kind not in _KINDS or (agent is not None and type(agent) is not str):
        raise ValueError("kind")
    if error is None:
        if "value" not in data or "error" in data:
            raise ValueError("outcome")
        return Entry(seq, kind, key, data.get("args"), data["value"], None, digest, agent)
    if (
        "value" in data
        or type(error) is not list
        or len(error) != 2
        or type(error[0]) is not str
        or type(error[1]) is not str
    ):
        raise ValueError("error")
    return Entry(seq, kind, key, data.get("args"), None, (error[0], error[1]), digest, agent)


def _no_constant(name: str) -> Any:
    raise ValueError(name)


_loads: Final = json.JSONDecoder(parse_constant=_no_constant).decode
_ESCAPED: Final = re.compile(r"(?<!\\)((?:\\\\)*)\\u(d[89a-f][0-9a-f]{2})", re.IGNORECASE)


def read_json(text: str) -> Any:
    """The data of a JSON text in which every escaped surrogate stays one character of its own.

    A JSON reader joins two neighbouring halves into one character; here they were two (`SEA-1`).

    Raises:
        ValueError: the text is no JSON (NaN included).
    """
    if "\\ud" in text or "\\uD" in text:
        text = _ESCAPED.sub(lambda found: found[1] + chr(int(found[2], 16)), text)
        # Each match needs what stands before it, so neighbours take a second pass.
        text = _ESCAPED.sub(lambda found: found[1] + chr(int(found[2], 16)), text)
    try:
        return _loads(text)
    except RecursionError as error:
        raise ValueError("depth") from error


def read_line(raw: bytes) -> Entry:
    """The entry that a line holds.

    Raises:
        ValueError: the line is no JSON object of the form of `DUR-3`.
    """
    return from_data(read_json(raw.decode("utf-8")))


def same_writing(raw: bytes, entry: Entry, opening: bytes) -> bool:
    """Whether a verified line is written as this package writes it, a few bytes apart counting as damage.

    Another layout of the same JSON is the same entry. But a flipped bit may leave the parsed
    value as it was (``1e+20`` and ``1E+20``, the last digit of a long float): a line of the right
    length that differs in a handful of bytes is damaged, not differently written.
    """
    if _HEX64.fullmatch(entry.h) is None:
        return False
    written = finish(opening, entry.h)
    if raw == written or len(raw) != len(written):
        return True
    return sum(a != b for a, b in zip(raw, written, strict=True)) > 8
