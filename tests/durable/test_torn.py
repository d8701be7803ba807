"""Where a journal file ends: torn tails, holes, damage (`STO-5`, R52)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentl.durable.stores.torn import Shape, divide, shape_of

SECTOR = 512

LINE = json.dumps(
    {"seq": 2, "kind": "ask", "key": 'é😀\\"', "value": [1, -2.5e-3, True, None, {"a": []}]},
    ensure_ascii=False,
).encode()
GOOD = b'{"seq":0}\n{"seq":1}\n'


@pytest.mark.parametrize("length", range(1, len(LINE)))
def test_every_cut_of_a_line_is_a_beginning(length: int) -> None:
    """STO-5: inside a multi-byte character, a number, an escape: a strict prefix is torn."""
    assert shape_of(LINE[:length]) is Shape.BEGINNING
    found = divide(GOOD + LINE[:length])
    assert found.lines == [b'{"seq":0}', b'{"seq":1}']
    assert (found.end, found.torn, found.unfinished) == (len(GOOD), length, False)


def test_a_whole_line_without_its_newline_is_kept() -> None:
    """STO-5: complete and without a newline: kept, for the chain to judge."""
    found = divide(GOOD + LINE)
    assert found.lines[-1] == LINE
    assert (found.end, found.torn, found.unfinished) == (len(GOOD) + len(LINE), 0, True)


@pytest.mark.parametrize(
    "tail", [b'{"a":1}x', b"x", b'{"a":1} {', b'{"a"}', b'{"a":1,}', b"[1", b'{"a":01', b'{"a":\x01']
)
def test_what_is_no_beginning_is_left_to_be_refused(tail: bytes) -> None:
    """STO-5: bytes after the object, or no object at all, are damage and not a torn tail."""
    assert shape_of(tail) is Shape.OTHER
    assert divide(GOOD + tail).lines[-1] == tail


@pytest.mark.parametrize("length", range(len(LINE) + 1))
@pytest.mark.parametrize("zeros", [1, 700])
def test_laid_out_zeros_are_a_torn_tail(length: int, zeros: int) -> None:
    """STO-5: zero bytes behind the last line, and behind a part of one, are dropped."""
    found = divide(GOOD + LINE[:length] + bytes(zeros))
    whole = length == len(LINE)
    assert found.lines == [b'{"seq":0}', b'{"seq":1}', *([LINE] if whole else [])]
    assert found.torn == zeros + (0 if whole else length)


def test_only_zeros() -> None:
    """STO-5: a file that was laid out and never written is empty."""
    assert divide(bytes(4096)).lines == []
    assert divide(b"").lines == []


@pytest.mark.parametrize("start", [0, 40, SECTOR - 1])
@pytest.mark.parametrize("size", [30, 300, 900])
@pytest.mark.parametrize("zeros", [0, SECTOR])
def test_a_hole_with_bytes_behind_it_is_damage(start: int, size: int, zeros: int) -> None:
    """STO-5, DUR-6: a lost sector may have held an intent and its result: nothing behind it is dropped."""
    first = json.dumps({"pad": "x" * (2 * SECTOR + start - 10)}).encode() + b"\n"
    block = b"".join(json.dumps({"n": n, "pad": "y" * size}).encode() + b"\n" for n in range(60))
    data = bytearray(first + block + bytes(zeros))
    sector = (len(first) // SECTOR + 1) * SECTOR
    data[sector : sector + SECTOR] = bytes(SECTOR)
    found = divide(bytes(data))
    assert found.end == len(first + block)
    assert any(b"\0" in line for line in found.lines)


def test_one_byte_that_turned_to_zero_is_damage() -> None:
    """STO-5, DUR-8: `@` with a bit flipped is a zero byte; nothing behind it may be dropped."""
    lines = [b'{"seq":0,"key":"a@b"}', b'{"seq":1}']
    for tail in (b"", bytes(600)):
        data = b"\n".join(lines).replace(b"@", b"\0") + b"\n" + tail
        assert divide(data).lines == [lines[0].replace(b"@", b"\0"), lines[1]]


@given(st.binary(max_size=60), st.integers(0, 30))
def test_no_complete_line_is_ever_dropped(tail: bytes, zeros: int) -> None:
    """STO-5: whatever follows, what ended in a newline stays or is handed on for refusal."""
    found = divide(GOOD + tail.replace(b"\0", b"") + bytes(zeros))
    assert found.lines[:2] == [b'{"seq":0}', b'{"seq":1}']
