"""The types of the data model, and how dates and times are taken apart (`KRN-2`, `EVA-1`, `STA-2`).

The model is closed and its types are exact: a subclass of ``dict`` or ``str`` is somebody else's
type, with behaviour that no store brings back.
"""

from __future__ import annotations

from datetime import date, datetime, time, timezone
from functools import lru_cache
from typing import Any, Final
from zoneinfo import ZoneInfo

from agentl.messages import render

MAX_DEPTH: Final = 128
"""Containers may be nested this deep; deeper values have no canonical form."""

MAX_INTEGER_BITS: Final = 13_000
"""Larger integers have no decimal text that every JSON reader accepts."""


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


class NoForm(Exception):  # a signal between the fast walk and the one that names places
    """The fast walk met something outside the data model."""


def type_name(value: Any) -> str:
    """The class of a value, for messages: bare for built-ins, with its module otherwise."""
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


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
    raise NoForm


def time_parts(value: Any) -> list[Any]:
    """``[type, ISO text]``, then the zone name and the fold when there are any (`ENC-1`)."""
    if type(value) is date:
        return ["date", value.isoformat()]
    parts = ["datetime" if type(value) is datetime else "time", value.isoformat()]
    zone = _zone(value.tzinfo)
    if zone is not None:
        parts.append(zone)
    if value.fold:
        parts.append(value.fold)
    if type(value.tzinfo) is ZoneInfo and from_parts(tuple(parts)) is None:
        raise NoForm  # a private zone under a public name: it would not come back as it was
    return parts


@lru_cache(maxsize=256)
def _known_zone(name: str) -> ZoneInfo:
    return ZoneInfo(name)


def from_parts(parts: tuple[Any, ...]) -> date | time | datetime | None:
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
