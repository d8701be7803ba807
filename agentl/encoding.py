"""The journal form: JSON with tags, so that what is read back is what was written (`ENC-1`, `ENC-2`).

Data stays data. Every mapping is written under a tag, so nothing in it can pass for one; and
reading builds the types of the data model and no others.
"""

from __future__ import annotations

import math
from base64 import b64decode, b64encode
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal, DecimalException
from typing import Any, Final

from agentl.canonical import SEQUENCE_TAG, canonical_bytes
from agentl.datamodel import (
    MAX_DEPTH,
    MAX_INTEGER_BITS,
    DataModelError,
    NoForm,
    Opaque,
    Symbol,
    from_parts,
    time_parts,
    type_name,
)
from agentl.labels import Labeled, Prov


def encode(value: Any, lossy: list[str] | None = None) -> Any:
    """The journal form of a value: JSON scalars, or objects with one tag (`ENC-1`).

    Never raises: what is outside the data model becomes an opaque record (`ENC-2`), and
    ``path : Type`` is appended to ``lossy``. Every mapping is written as ``$dict``, so no data
    can pass itself off as a tag.
    """
    if type(value) is dict and _is_flat(value):
        # Arguments and results are mostly this: nothing inside to look for, nothing that can be lost.
        return {"$dict": [[key, item] for key, item in value.items()]}
    seen: list[str] = []
    form = _encode(value, None, [], seen)
    if seen and lossy is not None:
        _encode(value, "", [], lossy)  # places are worth their cost only once something is lost
    return form


def _is_flat(value: dict[Any, Any]) -> bool:
    for key, item in value.items():
        if type(key) is not str:
            return False
        if type(item) not in _SAME_FORM and (type(item) is not int or item.bit_length() > MAX_INTEGER_BITS):
            return False
    return True


def _below(place: str | None, part: Any) -> str | None:
    if place is None:
        return None
    return f"{place}.{part if type(part) is str else type_name(part)}"


def _encode(value: Any, place: str | None, above: list[Any], lossy: list[str]) -> Any:
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    if kind is int and value.bit_length() <= MAX_INTEGER_BITS:
        return value
    if kind is float:
        return value if math.isfinite(value) else {"$float": repr(value)}
    tag = _CONTAINER_TAG.get(kind)
    if tag is None or len(above) >= MAX_DEPTH or (above and any(value is held for held in above)):
        return _encode_leaf(value, kind, place, lossy)
    above.append(value)
    try:
        if kind is dict:
            pairs = [
                [_encode(key, place, above, lossy), _encode(item, _below(place, key), above, lossy)]
                for key, item in value.items()
            ]
            if not _told_apart([key for key, _ in pairs]):
                return _encode_leaf(value, kind, place, lossy)
            return {tag: pairs}
        if kind is Labeled:
            return {tag: [_encode(value.value, place, above, lossy), list(value.prov.names)]}
        items = value if kind is not set else sorted(value, key=_set_order)
        forms = [
            _encode(item, None if place is None else f"{place}[{position}]", above, lossy)
            for position, item in enumerate(items)
        ]
        if kind is set and not _told_apart(forms):
            return _encode_leaf(value, kind, place, lossy)
        return {tag: forms}
    finally:
        above.pop()


def _told_apart(forms: list[Any]) -> bool:
    """Whether keys or items are still different once read back.

    Two NaNs are two keys of a dictionary, and so are two foreign objects that print alike; read
    back they are one. A container that holds such a pair has no journal form (`ENC-2`).
    """
    return all(type(form) is str for form in forms) or len({decode(form) for form in forms}) == len(forms)


def _encode_leaf(value: Any, kind: type, place: str | None, lossy: list[str]) -> Any:
    if kind is Symbol:  # marked, so that it does not come back as the text of the same letters (`ENC-3`)
        return {"$sym": value.name}
    if kind is Decimal:
        return {"$dec": str(value)}
    if kind is bytes:
        return {"$bytes": b64encode(value).decode("ascii")}
    if kind is date or kind is time or kind is datetime:
        try:
            return {"$time": time_parts(value)}
        except NoForm:
            pass
    if kind is Opaque:
        text, name = value.text, value.type_name
    else:
        name = type_name(value)
        try:
            text = repr(value)
        except Exception:  # noqa: BLE001 - a foreign repr may do anything; recording must not fail
            text = f"<{name}>"
    lossy.append(f"{(place or '').lstrip('.') or '.'} : {name}")
    return {"$opaque": text, "$type": name}


def _set_order(item: Any) -> bytes:
    """Sets are written in the order of canonical bytes; foreign items follow, by their text."""
    try:
        return b"0" + canonical_bytes(item)
    except DataModelError:
        return b"1" + repr(encode(item)).encode("utf-8", "surrogatepass")


_SAME_FORM: Final = frozenset({str, bool, type(None)})
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
    found = from_parts(tuple(content))
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
    return kind in SEQUENCE_TAG and any(is_opaque_inside(item) for item in value)
