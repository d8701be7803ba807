"""Values of the language and their two encodings (`KRN-2`, `ENC-1`, `ENC-2`).

*Canonical bytes* identify a value: typed and length-framed, so that two different values of
the data model never share them. *Journal form* stores a value: JSON with tags, so that what
is read back is what was written. The data model is closed and its types are exact: a subclass
of ``dict`` or ``str`` is somebody else's type, with behaviour that no store brings back.

``-0.0`` and ``0.0`` are different canonical forms; all NaNs are one.
"""

from __future__ import annotations

import hashlib
import math
from base64 import b64decode, b64encode
from collections.abc import Callable
from datetime import date, datetime, time, timezone
from decimal import Decimal, DecimalException
from functools import lru_cache
from typing import Any, Final
from zoneinfo import ZoneInfo

from agentl.labels import Labeled, Prov
from agentl.messages import fmt, render

MAX_DEPTH: Final = 128
"""Containers may be nested this deep; deeper values have no canonical form."""

MAX_INTEGER_BITS: Final = 13_000
"""Larger integers have no decimal text that every JSON reader accepts."""

VALUE_DOMAIN: Final = b"agentl.value.v1\n"


class Symbol:
    """An unquoted constant (`EVA-1`): equal to a symbol or a plain string of the same text."""

    __slots__ = ("name",)
    name: str

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "name", str(name))

    def __eq__(self, other: object) -> bool:
        if type(other) is Symbol:
            return self.name == other.name
        return self.name == other if isinstance(other, str) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Symbol({self.name!r})"

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a symbol is immutable: {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a symbol is immutable: {name}")

    def __copy__(self) -> Symbol:
        return self

    def __deepcopy__(self, _memo: Any) -> Symbol:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (Symbol, (self.name,))


class Undefined:
    """The type of ``UNDEFINED``: no value is known; false, and not ``None`` (`STA-2`)."""

    __slots__ = ()
    _only: Undefined | None = None

    def __new__(cls) -> Undefined:
        if cls._only is None:
            cls._only = object.__new__(cls)
        return cls._only

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "UNDEFINED"

    def __copy__(self) -> Undefined:
        return self

    def __deepcopy__(self, _memo: Any) -> Undefined:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (Undefined, ())


UNDEFINED: Final = Undefined()


class Opaque:
    """What a value outside the data model leaves in a journal (`ENC-2`).

    It prints the recorded text, equals another of the same text, and supports nothing else.
    """

    __slots__ = ("text", "type_name")

    def __init__(self, text: str, type_name: str = "object") -> None:
        self.text = text
        self.type_name = type_name

    def __eq__(self, other: object) -> bool:
        return self.text == other.text if type(other) is Opaque else NotImplemented

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return self.text


class DataModelError(ValueError):
    """A value, or a part of it, that has no canonical form (`KRN-2`, code ``kernel.data_model``).

    Attributes:
        place: where in the value, as ``items[2].name``; ``.`` is the value itself.
        type_name: the type found there, or ``cycle``, or what is too large about it.
    """

    def __init__(self, place: str, type_name: str, code: str = "kernel.data_model") -> None:
        super().__init__(place, type_name, code)
        self.place = place
        self.type_name = type_name
        self.code = code
        self.values = {"place": place, "type": type_name}

    def __str__(self) -> str:
        return render(self.code, self.values)


class _NoForm(Exception):  # noqa: N818 - a signal between the fast walk and the one that names places
    """The fast walk met something outside the data model."""


# --- dates and times -----------------------------------------------------------------------


def _zone(zone: Any) -> str | None:
    """The name to keep beside the ISO text: ``None`` when the text alone says everything.

    A named fixed offset is written ``=NAME``; no zone of the tz database begins so.
    """
    if zone is None:
        return None
    if type(zone) is timezone:
        name = zone.tzname(None)
        return None if timezone(zone.utcoffset(None)).tzname(None) == name else "=" + name
    if type(zone) is ZoneInfo and zone.key is not None:
        return zone.key
    raise _NoForm


def _time_parts(value: Any) -> list[Any]:
    """``[type, ISO text]``, then the zone name and the fold when there are any (`ENC-1`)."""
    if type(value) is date:
        return ["date", value.isoformat()]
    parts = ["datetime" if type(value) is datetime else "time", value.isoformat()]
    zone = _zone(value.tzinfo)
    if zone is not None:
        parts.append(zone)
    if value.fold:
        parts.append(value.fold)
    if type(value.tzinfo) is ZoneInfo and _from_parts(tuple(parts)) is None:
        raise _NoForm  # a private zone under a public name: it would not come back as it was
    return parts


@lru_cache(maxsize=256)
def _known_zone(name: str) -> ZoneInfo:
    return ZoneInfo(name)


def _from_parts(parts: tuple[Any, ...]) -> date | time | datetime | None:
    """The date or time of these parts; ``None`` when they do not describe one exactly."""
    try:
        kind, text, *more = parts
        if kind == "date":
            return found if not more and (found := date.fromisoformat(text)).isoformat() == text else None
        if kind not in ("time", "datetime"):
            return None
        rebuilt: Any = (time if kind == "time" else datetime).fromisoformat(text)
        if more and type(more[0]) is str:
            name = more.pop(0)
            if name.startswith("="):
                rebuilt = rebuilt.replace(tzinfo=timezone(rebuilt.utcoffset(), name[1:]))
            else:
                rebuilt = rebuilt.replace(tzinfo=_known_zone(name))
        if more:
            if len(more) > 1 or type(more[0]) is not int:
                return None
            rebuilt = rebuilt.replace(fold=more[0])
    except (ValueError, TypeError, OSError, LookupError):
        return None
    return rebuilt if rebuilt.isoformat() == text else None


# --- canonical bytes -----------------------------------------------------------------------


def _frame_text(value: Any, _depth: int) -> bytes:
    body = value.encode("utf-8", "surrogatepass")
    return b"s%d:%b" % (len(body), body)


def _frame_integer(value: Any, _depth: int) -> bytes:
    if value.bit_length() > MAX_INTEGER_BITS:
        raise _NoForm
    body = b"%x" % value
    return b"i%d:%b" % (len(body), body)


def _frame_float(value: Any, _depth: int) -> bytes:
    body = repr(value).encode("ascii")
    return b"f%d:%b" % (len(body), body)


def _frame_decimal(value: Any, _depth: int) -> bytes:
    body = str(value).encode("ascii")
    return b"n%d:%b" % (len(body), body)


def _frame_symbol(value: Any, _depth: int) -> bytes:
    body = value.name.encode("utf-8", "surrogatepass")
    return b"y%d:%b" % (len(body), body)


def _frame_bytes(value: Any, _depth: int) -> bytes:
    return b"x%d:%b" % (len(value), value)


def _frame_time(value: Any, depth: int) -> bytes:
    body = b"".join([_WRITERS[type(part)](part, depth) for part in _time_parts(value)])
    return b"m%d:%b" % (len(body), body)


def _frame_sequence(value: Any, depth: int) -> bytes:
    if depth >= MAX_DEPTH:
        raise _NoForm
    depth += 1
    frames = []
    for item in value:
        write = _WRITERS.get(type(item))
        if write is None:
            raise _NoForm
        frames.append(write(item, depth))
    if type(value) is set:
        frames.sort()
    body = b"".join(frames)
    return b"%b%d:%b" % (_SEQUENCE_TAG[type(value)], len(body), body)


def _frame_mapping(value: Any, depth: int) -> bytes:
    if depth >= MAX_DEPTH:
        raise _NoForm
    depth += 1
    frames = []
    for key in sorted(value):
        if type(key) is not str:
            raise _NoForm
        item = value[key]
        write = _WRITERS.get(type(item))
        if write is None:
            raise _NoForm
        name = key.encode("utf-8", "surrogatepass")
        frames.append(b"%d:%b%b" % (len(name), name, write(item, depth)))
    body = b"".join(frames)
    return b"d%d:%b" % (len(body), body)


_SEQUENCE_TAG: Final[dict[type, bytes]] = {list: b"l", tuple: b"u", set: b"e"}
_WRITERS: Final[dict[type, Callable[[Any, int], bytes]]] = {
    type(None): lambda _value, _depth: b"z0:",
    bool: lambda value, _depth: b"b1:1" if value else b"b1:0",
    int: _frame_integer,
    float: _frame_float,
    Decimal: _frame_decimal,
    str: _frame_text,
    Symbol: _frame_symbol,
    bytes: _frame_bytes,
    date: _frame_time,
    time: _frame_time,
    datetime: _frame_time,
    list: _frame_sequence,
    tuple: _frame_sequence,
    set: _frame_sequence,
    dict: _frame_mapping,
}
"""One writer per type of the data model, and no type besides (`KRN-2`)."""


def canonical_bytes(value: Any) -> bytes:
    """The bytes that identify a value: typed, length-framed, injective (`KRN-2`).

    Raises:
        DataModelError: the value or a part of it is outside the data model, or is a cycle.
    """
    write = _WRITERS.get(type(value))
    if write is not None:
        try:
            return write(value, 0)
        except (_NoForm, TypeError):
            pass
    raise _complaint(value)


def value_digest(value: Any) -> str:
    """64 hex digits that identify a value (`KRN-2`; attestations). Raises ``DataModelError``."""
    return hashlib.sha256(VALUE_DOMAIN + canonical_bytes(value)).hexdigest()


def canonical(value: Any) -> Any:
    """The canonical form as nested ``(type, content)`` tuples, comparable and readable (`KRN-2`).

    Equal exactly when the canonical bytes are equal. Raises ``DataModelError``.
    """
    canonical_bytes(value)
    return _form(value)


def _form(value: Any) -> tuple[Any, ...]:
    kind = type(value)
    if kind is dict:
        return ("mapping", tuple((key, _form(value[key])) for key in sorted(value)))
    if kind is set:
        return ("set", tuple(_form(item) for item in sorted(value, key=canonical_bytes)))
    if kind in _SEQUENCE_TAG:
        return (kind.__name__, tuple(_form(item) for item in value))
    if kind in (date, time, datetime):
        return tuple(_time_parts(value))
    name = {type(None): "none", Symbol: "symbol", Decimal: "decimal"}.get(kind, kind.__name__)
    return (name, repr(value) if kind is float else str(value) if kind in (Symbol, Decimal) else value)


def type_name(value: Any) -> str:
    """The class of a value, for messages: bare for built-ins, with its module otherwise."""
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _complaint(value: Any) -> DataModelError:
    """The first place in a value that has no canonical form."""
    found = _trouble(value, "", [])
    return DataModelError(*(found or (".", type_name(value))))


def _trouble(value: Any, place: str, above: list[Any]) -> tuple[str, str] | None:
    here = place or "."
    kind = type(value)
    if any(value is container for container in above):
        return here, "cycle"
    if kind not in _SEQUENCE_TAG and kind is not dict:
        try:
            _WRITERS[kind](value, 0)
        except (_NoForm, KeyError):
            return here, "integer too large" if kind is int else type_name(value)
        return None
    if len(above) >= MAX_DEPTH:
        return here, "nested too deeply"
    inside = [*above, value]
    if kind is dict:
        for key, item in value.items():
            if type(key) is not str:
                return here, f"key of type {type_name(key)}"
            if (found := _trouble(item, f"{place}.{key}" if place else key, inside)) is not None:
                return found
        return None
    for position, item in enumerate(value):
        if (found := _trouble(item, f"{place}[{'…' if kind is set else position}]", inside)) is not None:
            return found
    return None


def plain_copy(value: Any) -> Any:
    """An isolated copy made of plain values of the data model only (`KRN-3`).

    Raises:
        DataModelError: the value or a part of it is outside the data model, or is a cycle.
    """
    try:
        return _copy(value, 0)
    except _NoForm:
        raise _complaint(value) from None


def _copy(value: Any, depth: int) -> Any:
    kind = type(value)
    if kind is str or kind is bool or value is None or kind is float or kind is Symbol:
        return value
    if kind is dict:
        if depth >= MAX_DEPTH:
            raise _NoForm
        copied = {}
        for key, item in value.items():
            if type(key) is not str:
                raise _NoForm
            copied[key] = _copy(item, depth + 1)
        return copied
    if kind in _SEQUENCE_TAG:
        if depth >= MAX_DEPTH:
            raise _NoForm
        return kind([_copy(item, depth + 1) for item in value])
    if kind not in _WRITERS:
        raise _NoForm
    _WRITERS[kind](value, depth)
    return value


# --- journal form --------------------------------------------------------------------------


def encode(value: Any, lossy: list[str] | None = None) -> Any:
    """The journal form of a value: JSON scalars, or objects with one tag (`ENC-1`).

    Never raises: what is outside the data model becomes an opaque record (`ENC-2`), and
    ``path : Type`` is appended to ``lossy``. Every mapping is written as ``$dict``, so no data
    can pass itself off as a tag.
    """
    return _encode(value, "", [], lossy)


def _encode(value: Any, place: str, above: list[Any], lossy: list[str] | None) -> Any:
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    if kind is int and value.bit_length() <= MAX_INTEGER_BITS:
        return value
    if kind is float:
        return value if math.isfinite(value) else {"$float": repr(value)}
    tag = _CONTAINER_TAG.get(kind)
    if tag is not None and len(above) < MAX_DEPTH and not any(value is container for container in above):
        above.append(value)
        try:
            if kind is dict:
                pairs = [
                    [
                        _encode(key, place, above, lossy),
                        _encode(item, f"{place}.{key}" if lossy is not None else "", above, lossy),
                    ]
                    for key, item in value.items()
                ]
                return {tag: pairs}
            if kind is Labeled:
                return {tag: [_encode(value.value, place, above, lossy), list(value.prov.names)]}
            items = value if kind is not set else sorted(value, key=_set_order)
            return {
                tag: [
                    _encode(item, f"{place}[{n}]" if lossy is not None else "", above, lossy)
                    for n, item in enumerate(items)
                ]
            }
        finally:
            above.pop()
    return _encode_leaf(value, kind, place, lossy)


def _encode_leaf(value: Any, kind: type, place: str, lossy: list[str] | None) -> Any:
    if kind is Symbol:
        return {"$sym": value.name}
    if kind is Decimal:
        return {"$dec": str(value)}
    if kind is bytes:
        return {"$bytes": b64encode(value).decode("ascii")}
    if kind is date or kind is time or kind is datetime:
        try:
            return {"$time": _time_parts(value)}
        except _NoForm:
            pass
    if kind is Opaque:
        text, name = value.text, value.type_name
    else:
        name = type_name(value)
        try:
            text = repr(value)
        except Exception:  # noqa: BLE001 - a foreign repr may do anything; recording must not fail
            text = f"<{name}>"
    if lossy is not None:
        lossy.append(f"{place.lstrip('.') or '.'} : {name}")
    return {"$opaque": text, "$type": name}


def _set_order(item: Any) -> bytes:
    """Sets are written in the order of canonical bytes; foreign items follow, by their text."""
    try:
        return b"0" + canonical_bytes(item)
    except DataModelError:
        return b"1" + repr(encode(item)).encode("utf-8", "surrogatepass")


_CONTAINER_TAG: Final[dict[type, str]] = {
    dict: "$dict",
    list: "$list",
    tuple: "$tuple",
    set: "$set",
    Labeled: "$lab",
}


def decode(form: Any) -> Any:
    """The value of a journal form (`ENC-1`). Data stays data: only these types are ever built.

    Raises:
        DataModelError: not a journal form (code ``kernel.encoding``).
    """
    kind = type(form)
    if kind is str or kind is int or kind is bool or form is None or kind is float:
        return form
    if kind is dict:
        for tag, content in form.items():
            build = _BUILDERS.get(tag)
            if build is None or len(form) != (2 if tag == "$opaque" else 1):
                raise DataModelError(str(tag), "unknown tag", "kernel.encoding")
            try:
                return build(content if tag != "$opaque" else form)
            except DataModelError:
                raise
            except (ValueError, TypeError, LookupError, DecimalException) as problem:
                raise DataModelError(tag, type(problem).__name__, "kernel.encoding") from problem
    raise DataModelError(".", type_name(form), "kernel.encoding")


def _text(content: Any) -> str:
    if type(content) is not str:
        raise TypeError("text expected")
    return content


def _items(content: Any) -> list[Any]:
    if type(content) is not list:
        raise TypeError("list expected")
    return [decode(item) for item in content]


def _build_mapping(content: Any) -> dict[Any, Any]:
    mapping = {decode(key): decode(item) for key, item in content}
    if len(mapping) != len(content):
        raise ValueError("a key twice")
    return mapping


def _build_set(content: Any) -> set[Any]:
    items = set(_items(content))
    if len(items) != len(content):
        raise ValueError("an item twice")
    return items


def _build_time(content: Any) -> Any:
    found = _from_parts(tuple(content))
    if found is None:
        raise ValueError("not a date or time that this machine knows")
    return found


def _build_labeled(content: Any) -> Labeled:
    value, sources = content
    return Labeled(decode(value), Prov(sources))


_BUILDERS: Final[dict[str, Callable[[Any], Any]]] = {
    "$float": lambda content: {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[content],
    "$sym": lambda content: Symbol(_text(content)),
    "$lab": _build_labeled,
    "$dict": _build_mapping,
    "$list": _items,
    "$tuple": lambda content: tuple(_items(content)),
    "$set": _build_set,
    "$bytes": lambda content: b64decode(_text(content), validate=True),
    "$time": _build_time,
    "$dec": lambda content: Decimal(_text(content)),
    "$opaque": lambda form: Opaque(_text(form["$opaque"]), _text(form["$type"])),
}


def is_opaque_inside(value: Any) -> bool:
    """Whether an opaque record is the value or a part of it (`ENC-6`)."""
    kind = type(value)
    if kind is Opaque:
        return True
    if kind is dict:
        return any(is_opaque_inside(key) or is_opaque_inside(item) for key, item in value.items())
    if kind is Labeled:
        return is_opaque_inside(value.value)
    return kind in _SEQUENCE_TAG and any(is_opaque_inside(item) for item in value)


__all__ = [
    "MAX_DEPTH",
    "MAX_INTEGER_BITS",
    "UNDEFINED",
    "DataModelError",
    "Opaque",
    "Symbol",
    "Undefined",
    "canonical",
    "canonical_bytes",
    "decode",
    "encode",
    "fmt",
    "is_opaque_inside",
    "plain_copy",
    "type_name",
    "value_digest",
]
