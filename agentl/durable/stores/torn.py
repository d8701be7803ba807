"""Where a journal file ends: complete lines, then perhaps a torn tail (`STO-5`).

A tail is torn when it cannot have been durable: it is the beginning of one JSON object, or it
lies in the zero bytes that were laid out before the lines were written. Everything else that
does not verify is damage, and is left for the journal to refuse. So is a hole of zeros with bytes
behind it: nothing tells whether what is lost there had become durable, and losing an intent or a
result in silence could double an effect.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final

_STRING: Final = re.compile(rb'"(?:[^"\\\x00-\x1f]|\\.)*"')
_OPEN_STRING: Final = re.compile(rb'"(?:[^"\\\x00-\x1f]|\\.)*\\?\Z')
_SCALAR: Final = re.compile(
    rb"(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)(?=[\s,\]}])"
)
_OPEN_SCALAR: Final = re.compile(
    rb"(?:-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:[eE][+-]?[0-9]*)?)?|t(?:r(?:ue?)?)?|f(?:a(?:l(?:se?)?)?)?|n(?:u(?:ll?)?)?)\Z"
)
_SPACE: Final = re.compile(rb"[ \t\r]*")


class Shape(Enum):
    """What a tail without a newline looks like."""

    NOTHING = "nothing"
    BEGINNING = "beginning"
    WHOLE = "whole"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Division:
    """A file divided: its ``lines`` and the byte at which they ``end``; ``torn`` counts the bytes behind.

    ``unfinished``: the last line lacks its newline.
    """

    lines: list[bytes]
    end: int
    torn: int
    unfinished: bool


def divide(data: bytes) -> Division:
    """Divide the content of a journal file into lines and tail (`STO-5`)."""
    body = data.rstrip(b"\0")
    size = len(data)
    cut = body.rfind(b"\n") + 1
    tail = body[cut:]
    lines = body[:cut].split(b"\n")
    lines.pop()
    shape = shape_of(tail)
    if shape is Shape.WHOLE or shape is Shape.OTHER:
        lines.append(tail)
        return Division(lines, len(body), size - len(body), True)
    return Division(lines, cut, size - cut, False)


def shape_of(tail: bytes) -> Shape:
    """Whether ``tail`` is the beginning of one JSON object, a whole one, or something else."""
    if not tail:
        return Shape.NOTHING
    if tail[:1] != b"{":
        return Shape.OTHER
    closers: list[bytes] = []
    position = 0
    wanted = "value"
    while True:
        found = _SPACE.match(tail, position)
        position = found.end() if found is not None else position
        if position == len(tail):
            return Shape.BEGINNING
        step = _step(tail, position, wanted, closers)
        if isinstance(step, Shape):
            return step
        position, wanted = step
        if not closers:
            return Shape.WHOLE if position == len(tail) else Shape.OTHER


def _step(tail: bytes, position: int, wanted: str, closers: list[bytes]) -> tuple[int, str] | Shape:
    sign = tail[position : position + 1]
    if closers and sign == closers[-1] and wanted in ("first", "key or end", "more"):
        closers.pop()
        return position + 1, "more"
    if wanted == "more":
        if sign != b",":
            return Shape.OTHER
        return position + 1, "key" if closers[-1] == b"}" else "value"
    if wanted == "colon":
        return (position + 1, "value") if sign == b":" else Shape.OTHER
    if wanted in ("key", "key or end"):
        return _string(tail, position, "colon") if sign == b'"' else Shape.OTHER
    if sign == b"{":
        closers.append(b"}")
        return position + 1, "key or end"
    if sign == b"[":
        closers.append(b"]")
        return position + 1, "first"
    if sign == b'"':
        return _string(tail, position, "more")
    found = _SCALAR.match(tail, position)
    if found is not None:
        return found.end(), "more"
    return Shape.BEGINNING if _OPEN_SCALAR.match(tail, position) else Shape.OTHER


def _string(tail: bytes, position: int, then: str) -> tuple[int, str] | Shape:
    found = _STRING.match(tail, position)
    if found is not None:
        return found.end(), then
    return Shape.BEGINNING if _OPEN_STRING.match(tail, position) else Shape.OTHER
