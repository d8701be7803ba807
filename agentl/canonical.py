"""Canonical bytes: what identifies a value (`KRN-2`).

They are typed and length-framed, so that two different values of the data model never share
them. ``-0.0`` and ``0.0`` are different canonical forms; all NaNs are one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final

from agentl.datamodel import (
    MAX_DEPTH,
    MAX_INTEGER_BITS,
    DataModelError,
    NoForm,
    Symbol,
    time_parts,
    type_name,
)

VALUE_DOMAIN: Final = b"agentl.value.v1\n"


def _utf8(text: str) -> bytes:
    """UTF-8 that passes lone surrogates; naming the error handler would double the cost of every text."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _frame_text(value: Any, _depth: int) -> bytes:
    body = _utf8(value)
    return b"s%d:%b" % (len(body), body)


def _frame_integer(value: Any, _depth: int) -> bytes:
    if value.bit_length() > MAX_INTEGER_BITS:
        raise NoForm
    body = b"%x" % value
    return b"i%d:%b" % (len(body), body)


def _frame_float(value: Any, _depth: int) -> bytes:
    body = repr(value).encode("ascii")
    return b"f%d:%b" % (len(body), body)


def _frame_decimal(value: Any, _depth: int) -> bytes:
    body = str(value).encode("ascii")
    return b"n%d:%b" % (len(body), body)


def _frame_symbol(value: Any, _depth: int) -> bytes:
    body = _utf8(value.name)
    return b"y%d:%b" % (len(body), body)


def _frame_bytes(value: Any, _depth: int) -> bytes:
    return b"x%d:%b" % (len(value), value)


def _frame_time(value: Any, depth: int) -> bytes:
    body = b"".join([_WRITERS[type(part)](part, depth) for part in time_parts(value)])
    return b"m%d:%b" % (len(body), body)


def _frame_sequence(value: Any, depth: int) -> bytes:
    if depth >= MAX_DEPTH:
        raise NoForm
    depth += 1
    frames = []
    for item in value:
        write = _WRITERS.get(type(item))
        if write is None:
            raise NoForm
        frames.append(write(item, depth))
    if type(value) is set:
        frames.sort()
    body = b"".join(frames)
    return b"%b%d:%b" % (SEQUENCE_TAG[type(value)], len(body), body)


def _frame_mapping(value: Any, depth: int) -> bytes:
    if depth >= MAX_DEPTH:
        raise NoForm
    depth += 1
    frames = []
    for key in sorted(value) if len(value) > 1 else value:
        if type(key) is not str:
            raise NoForm
        item = value[key]
        kind = type(item)
        name = _utf8(key)
        # Text is most of what arguments are made of; it is framed here without another call.
        if kind is str:
            text = _utf8(item)
            frames.append(b"%d:%bs%d:%b" % (len(name), name, len(text), text))
            continue
        write = _WRITERS.get(kind)
        if write is None:
            raise NoForm
        frames.append(b"%d:%b%b" % (len(name), name, write(item, depth)))
    body = b"".join(frames)
    return b"d%d:%b" % (len(body), body)


SEQUENCE_TAG: Final[dict[type, bytes]] = {list: b"l", tuple: b"u", set: b"e"}
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
        except (NoForm, TypeError):
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
    if kind in SEQUENCE_TAG:
        return (kind.__name__, tuple(_form(item) for item in value))
    if kind in (date, time, datetime):
        return tuple(time_parts(value))
    name = {type(None): "none", Symbol: "symbol", Decimal: "decimal"}.get(kind, kind.__name__)
    return (name, repr(value) if kind is float else str(value) if kind in (Symbol, Decimal) else value)


def _complaint(value: Any) -> DataModelError:
    """The first place in a value that has no canonical form."""
    found = _trouble(value, "", [])
    return DataModelError(*(found or (".", type_name(value))))


def _trouble(value: Any, place: str, above: list[Any]) -> tuple[str, str] | None:
    here = place or "."
    kind = type(value)
    if any(value is container for container in above):
        return here, "cycle"
    if kind not in SEQUENCE_TAG and kind is not dict:
        try:
            _WRITERS[kind](value, 0)
        except (NoForm, KeyError):
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
    except NoForm:
        raise _complaint(value) from None


def _copy(value: Any, depth: int) -> Any:
    kind = type(value)
    if kind is str or kind is bool or value is None or kind is float or kind is Symbol:
        return value
    if kind is dict:
        if depth >= MAX_DEPTH:
            raise NoForm
        copied = {}
        for key, item in value.items():
            if type(key) is not str:
                raise NoForm
            copied[key] = _copy(item, depth + 1)
        return copied
    if kind in SEQUENCE_TAG:
        if depth >= MAX_DEPTH:
            raise NoForm
        return kind([_copy(item, depth + 1) for item in value])
    if kind not in _WRITERS:
        raise NoForm
    _WRITERS[kind](value, depth)
    return value
