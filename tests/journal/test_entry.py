"""Entries, their lines and their canonical form (`DUR-3`, `DUR-4`, `SEA-1`, `ENC-4`)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentl.durable.recovery import intent_text
from agentl.errors import ActionInDoubt, InvalidArguments, NotExecuted, ReplayedError
from agentl.journal.chain import Chain, chain_hashes
from agentl.journal.entry import (
    ANNOTATIONS,
    KINDS,
    Entry,
    canonical_json,
    compose,
    dump,
    encode_args,
    finish,
    flat_copy,
    flat_text,
    form_text,
    read_json,
    read_line,
    same_writing,
)
from agentl.journal.failures import describe, rebuild
from agentl.values import Symbol, canonical_bytes, decode, encode


class Prose(str):
    """A text of a foreign class: it has no form of its own."""


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False) | st.text(st.characters(exclude_categories=[])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(JSON)
def test_canonical_json_is_one_text_for_one_value(value: Any) -> None:
    """SEA-1: keys sorted, no spaces, UTF-8, surrogates alone escaped; it reads back as it was."""
    written = canonical_json(value)
    text = written.decode("utf-8")
    assert read_json(text) == value
    assert canonical_json(read_json(text)) == written
    surrogates = any(0xD800 <= ord(sign) < 0xE000 for sign in json.dumps(value, ensure_ascii=False))
    assert surrogates or text == json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


@given(JSON, JSON, st.text(st.characters(exclude_categories=[])), st.booleans())
def test_line_and_canonical_form_are_the_same_entry(args: Any, value: Any, key: str, fails: bool) -> None:
    """DUR-3, DUR-8: field order of the line, sorted keys of what is hashed, from the same fragments."""
    error = ("ValueError", key) if fails else None
    entry = Entry(7, "reason", key, {"a": args}, None if fails else value, error, agent="x")
    canonical, opening = entry.composed()
    digest = Chain().add(canonical)
    line = finish(opening, digest)
    data = read_json(line.decode("utf-8"))
    fields = ["seq", "agent", "kind", "key", "args", "error" if fails else "value", "h"]
    assert list(data) == fields
    assert canonical == canonical_json({name: data[name] for name in data if name != "h"})
    assert read_line(line) == Entry(7, "reason", key, {"a": args}, entry.stored_value, error, digest, "x")
    assert chain_hashes([data]) == [digest]


SCALARS = (
    JSON.filter(lambda value: type(value) not in (list, dict))
    | st.floats() | st.builds(Symbol, st.text()) | st.binary() | st.dates() | st.decimals()
    | st.sampled_from([2**13_000 - 1, 2**13_000, -(2**13_000), True, 0, -0.0, Prose("x"), 1j])
)  # fmt: skip


ROWS = SCALARS | st.dictionaries(st.text() | st.integers(), SCALARS | st.lists(SCALARS, max_size=2))


@example({"a": float("nan"), "b": -0.0})
@example([{"a": 1}, "x", 2**13_000])
@example([[1]])
@example(float("-inf"))
@example({"a": 2**13_000})
@example({"a": True, "b": False, "c": None, "d": Symbol("true"), "e": 1})
@example({1: "a"})
@example({"a": Prose("x")})
@example({Prose("x"): 1})
@given(ROWS | st.lists(ROWS, max_size=3))
def test_the_short_way_to_the_journal_form_is_no_other_form(value: Any) -> None:
    """ENC-1, ENC-5, SEA-1: written in one pass, a plain value has the same bytes and reads back as itself."""
    text = flat_text(value)
    if text is not None:
        assert text == dump(encode(value))
        again = decode(read_json(text))
        assert type(again) is type(value)
        assert encode(again) == encode(value)
        assert canonical_bytes(again) == canonical_bytes(value)
        assert encode(flat_copy(value)) == encode(value)
    assert form_text(value) == dump(encode(value))


def test_what_is_read_back_belongs_to_nobody_else() -> None:
    """ENC-5: a host that goes on writing into its own reading changes nothing."""
    given: list[Any] = [{"a": 1}, 2]
    for value in (given, given[0]):
        copied = flat_copy(value)
        assert copied == value
        assert copied is not value
    assert flat_copy(given)[0] is not given[0]


@given(st.text(st.characters(exclude_categories=[])), st.lists(st.text(), max_size=3))
def test_the_text_of_an_intent_is_that_of_its_arguments(issuer: str, promise: list[str]) -> None:
    """DUR-4, SEA-1: names that need escapes are escaped as the encoder does."""
    args = {
        "action_id": f"{issuer}:t1:a1", "hash": "0f" * 32, "key": "a0" * 16, "kind": "invoke",
        "policy": "00" * 8, "promise": promise,
    }  # fmt: skip
    assert intent_text(args) == dump(args)


def test_optional_fields_are_left_out() -> None:
    """DUR-3: no agent and no args where there are none."""
    canonical, opening = compose(0, "read", "p", None, '"value":1')
    assert canonical == b'{"key":"p","kind":"read","seq":0,"value":1}'
    assert opening == b'{"seq":0,"kind":"read","key":"p","value":1,"h":"'


def test_the_kinds_are_those_of_the_clause() -> None:
    """DUR-4: twenty kinds, nine of them annotations."""
    assert len(KINDS) == 21
    assert len(ANNOTATIONS) == 10
    assert frozenset(KINDS) >= ANNOTATIONS


def test_arguments_of_the_program_are_encoded_and_those_of_the_runtime_plain() -> None:
    """DUR-4, R60: a marker inside user data stays data; fixed names stay readable."""
    assert encode_args("intent", {"action_id": "x", "promise": ["idempotent"]}) == {
        "action_id": "x",
        "promise": ["idempotent"],
    }
    entry = Entry(0, "invoke", "t", encode_args("invoke", {"$sym": "no"}))
    assert entry.args == {"$sym": "no"}


@pytest.mark.parametrize(
    "damage",
    [
        b'{"seq":0,"kind":"read","key":"p","value":1,"extra":1,"h":""}',
        b'{"seq":0,"kind":"nothing","key":"p","value":1,"h":""}',
        b'{"seq":"0","kind":"read","key":"p","value":1,"h":""}',
        b'{"seq":0,"kind":"read","key":"p","h":""}',
        b'{"seq":0,"kind":"read","key":"p","error":["a"],"h":""}',
        b'{"seq":0,"kind":"read","key":"p","error":["a","b"],"value":1,"h":""}',
        b'{"seq":0,"kind":"read","key":"p","value":NaN,"h":""}',
        b"[1]",
        b"\xff",
        b"[" * 100_000,
    ],
)
def test_what_is_no_entry_is_refused(damage: bytes) -> None:
    """DUR-3: a line of another form is unreadable, however deep."""
    with pytest.raises(ValueError):
        read_line(damage)


def test_another_layout_is_the_same_entry_but_a_flipped_byte_is_not() -> None:
    """STO-5: `1e+20` and `1E+20` parse alike; one byte apart at the same length is damage."""
    canonical, opening = compose(0, "read", "p", None, '"value":1e+20')
    digest = Chain().add(canonical)
    line = finish(opening, digest)
    entry = read_line(line)
    assert same_writing(line, entry, opening)
    assert same_writing(json.dumps(json.loads(line)).encode(), entry, opening)
    assert not same_writing(line.replace(b"e+20", b"E+20"), entry, opening)


class OddError(Exception):
    def __init__(self, *, code: int) -> None:
        super().__init__(f"odd {code}")


class SilentError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    "error",
    [
        ValueError("x"), KeyError("k"), KeyError("it's"), OSError(2, "gone"),
        UnicodeDecodeError("utf-8", b"x", 0, 1, "y"),
        ExceptionGroup("several", [ValueError("a")]), StopIteration("s"), OddError(code=3),
        NotExecuted("not done"),
        InvalidArguments("bad"), ActionInDoubt("who knows", action_id="a"), RecursionError(""),
        ValueError("\ud83d"),
    ],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
def test_an_error_comes_back_with_its_class_and_text(error: Exception) -> None:
    """ENC-4, R81: same class name, same text, KeyError's quotes and multi-argument classes included."""
    again = rebuild(describe(error))
    assert type(again).__name__ == type(error).__name__
    assert str(again) == str(error)
    if isinstance(error, NotExecuted | ActionInDoubt):
        assert type(again) is type(error)
    elif type(error).__module__ == "builtins":
        assert isinstance(again, (type(error), ReplayedError))
    else:
        assert isinstance(again, ReplayedError)


def test_an_error_without_text_is_still_described() -> None:
    """R81: a class whose text cannot be made never masks the failure."""
    assert describe(SilentError()) == ("SilentError", "")


@pytest.mark.parametrize("name", ["os.system", "Popen", "__import__", "SystemExit", "a\0b", ""])
def test_no_class_is_chosen_by_the_journal(name: str) -> None:
    """R60, ENC-4: any other name becomes a class of the package, never an import."""
    again = rebuild((name, "x"))
    assert isinstance(again, ReplayedError)
    assert str(again) == "x"


def test_dump_refuses_what_json_has_not() -> None:
    """ENC-1: NaN reaches the journal only in its tagged form."""
    with pytest.raises(ValueError):
        dump(float("nan"))
    with pytest.raises(TypeError):
        dump(object())
