"""What a receiver decides, and what a request's fingerprint is (RCV-1, RCV-3, RCV-4, RCV-6, RCV-7)."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentl.receiver import BadKey, ReceiverError, fingerprint
from agentl.receiver.decisions import KeyState, Ruling, check_key, expire, ruling
from agentl.receiver.fingerprint import MOST_FIELDS, differing

TABLE = {
    (KeyState.NONE, True): Ruling.CLAIM,
    (KeyState.NONE, False): Ruling.CLAIM,
    (KeyState.DONE, True): Ruling.REPLAY,
    (KeyState.DONE, False): Ruling.MISMATCH,
    (KeyState.TOMBSTONE, True): Ruling.GONE,
    (KeyState.TOMBSTONE, False): Ruling.MISMATCH,
}


def test_what_becomes_of_a_request_is_written_out() -> None:
    """`RCV-1`, `RCV-3`, `RCV-4`, `RCV-6`: the whole table."""
    assert {(state, same): ruling(state, same) for state in KeyState for same in (True, False)} == TABLE


def test_retention_leaves_a_tombstone_and_nothing_less() -> None:
    """`RCV-6`: only an answered key has something to forget."""
    assert expire(KeyState.DONE) is KeyState.TOMBSTONE


@pytest.mark.parametrize("state", [KeyState.NONE, KeyState.TOMBSTONE])
def test_what_has_no_answer_cannot_forget_it(state: KeyState) -> None:
    """`RCV-6`: refused, with contracts as without."""
    with pytest.raises((ValueError, AssertionError)):
        expire(state)


@pytest.mark.parametrize("key", ["a", "A" * 255, "!~", "0123-abcd", '"quoted"', "a,b"])
def test_visible_ascii_is_a_key(key: str) -> None:
    """`RCV-7`."""
    assert check_key(key) == key


@pytest.mark.parametrize(
    "key", ["", "a" * 256, "a b", "\tx", "é", "x\n", "\x00", "\x7f", "🙂", None, 7, b"x"]
)
def test_everything_else_is_none(key: Any) -> None:
    """`RCV-7`."""
    with pytest.raises(BadKey) as refused:
        check_key(key)
    assert refused.value.status == 400


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def shuffled(value: Any) -> Any:
    """The same value, every object with its fields in the opposite order."""
    if isinstance(value, dict):
        return {key: shuffled(value[key]) for key in reversed(list(value))}
    return [shuffled(item) for item in value] if isinstance(value, list) else value


@given(JSON)
def test_order_and_white_space_do_not_matter(value: Any) -> None:
    """`RCV-4`: what JSON itself does not tell apart has one fingerprint."""
    again = json.loads(json.dumps(shuffled(value), indent=3))
    assert fingerprint(again) == fingerprint(value)


@given(JSON, JSON)
def test_different_values_have_different_fingerprints(one: Any, other: Any) -> None:
    """`RCV-4`: types count, 1 is neither 1.0 nor true."""
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (fingerprint(one).digest == fingerprint(other).digest) == same


@pytest.mark.parametrize(
    ("kept", "asked", "names"),
    [
        ({"amount": 1, "to": "a"}, {"amount": 2, "to": "a"}, ("amount",)),
        ({"amount": 1}, {"amount": 1.0}, ("amount",)),
        ({"amount": 1}, {"amount": True}, ("amount",)),
        ({"to": {"iban": "x", "name": "n"}}, {"to": {"iban": "y", "name": "n"}}, ("to.iban",)),
        ({"to": {"iban": "x"}}, {"to": "x"}, ("to", "to.iban")),
        ({"a.b": 1}, {"a": {"b": 1}}, ('"a.b"', "a.b")),
        ({"a": 1}, {"a": 1, "b": None}, ("b",)),
        ({"a": [1, 2]}, {"a": [2, 1]}, ("a",)),
        (1, 2, ("params",)),
        ({}, {"a": 1}, ("a", "params")),
    ],
)
def test_the_fields_that_differ_are_named(kept: Any, asked: Any, names: tuple[str, ...]) -> None:
    """`RCV-4`: nested fields by their path."""
    assert differing(fingerprint(kept).fields, fingerprint(asked).fields) == names


def test_many_fields_are_named_by_their_first_part() -> None:
    """`RCV-4`: up to 64 are told apart, and beyond that the outermost ones, or none."""
    wide = {"a": {str(number): number for number in range(MOST_FIELDS + 1)}, "b": 1}
    assert set(fingerprint(wide).fields) == {"a", "b"}
    assert fingerprint(list(range(100))).fields.keys() == {"params"}
    assert fingerprint({str(number): number for number in range(MOST_FIELDS + 1)}).fields == {}


def test_what_is_kept_shows_no_value() -> None:
    """`RCV-4`: digests only."""
    kept = fingerprint({"iban": "DE02120300000000202051"})
    assert "DE0212" not in repr(kept)


class Strange:
    pass


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, {1: 2}, {"a": {None: 1}}, {1, 2}, b"x", Strange(), object]
)
def test_what_is_no_json_is_refused(value: Any) -> None:
    """`RCV-4`: before anything is opened."""
    with pytest.raises(ReceiverError) as refused:
        fingerprint(value)
    assert refused.value.code == "receiver.params_form"


def test_a_value_that_contains_itself_is_refused() -> None:
    """`RCV-4`."""
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(ReceiverError):
        fingerprint(loop)
