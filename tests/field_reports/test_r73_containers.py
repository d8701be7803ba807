"""R73: a container has the same type the first time it is seen as after a resume."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import pytest

from agentl import Symbol
from tests.field_reports import relay
from tests.field_reports.kit import Place, shape


class Point(NamedTuple):
    x: int


KEPT: dict[str, Callable[[], Any]] = {
    "list": lambda: [1, [2, []]],
    "tuple": lambda: (1, (2, ()), [3]),
    "set": lambda: {3, 1, "b", (1, 2)},
    "empty set": set,
    "bytes": lambda: b"\x00\xff",
    "decimal": lambda: Decimal("1.10"),
    "negative zero decimal": lambda: Decimal("-0.00"),
    "large decimal": lambda: Decimal("1E+40"),
    "symbol": lambda: [Symbol("yes"), "yes"],
    "large integer": lambda: 2**70,
    "booleans and numbers": lambda: [True, 1, 1.0, Decimal(1), False, 0, -0.0, 0.0, None],
    "insertion order": lambda: {"b": 1, "a": 2, "c": {"z": 1, "y": 2}},
    "deep": lambda: {"a": [{"b": ({"c": {1, 2}},)}]},
    "empty things": lambda: [[], {}, (), "", b""],
    "digits as keys": lambda: {"1": "text", "01": "other"},
}
REFUSED: dict[str, Callable[[], Any]] = {
    "fraction": lambda: Fraction(1, 3),
    "complex": lambda: 1j,
    "deque": lambda: deque([1, 2], maxlen=2),
    "defaultdict": lambda: defaultdict(list, a=[1]),
    "counter": lambda: Counter("aab"),
    "ordered mapping": lambda: OrderedDict(a=1),
    "range": lambda: range(3),
    "path": lambda: PurePosixPath("/a"),
    "bytearray": lambda: bytearray(b"a"),
    "named tuple": lambda: Point(1),
    "generator": lambda: (n for n in (1, 2)),
    "object": object,
    "class": lambda: Point,
    "hidden in a list": lambda: [1, {"a": deque([1])}],
    "int key": lambda: {1: "a", "1": "b"},
    "none key": lambda: {None: 1},
    "tuple key": lambda: {(1, 2): 1},
    "bool and int key": lambda: {True: "a", "x": 1},
    "frozenset": lambda: frozenset({1}),
}


@pytest.mark.real_kill
@pytest.mark.parametrize("name", KEPT)
def test_what_is_in_the_data_model_is_exact(place: Place, name: str) -> None:
    """ENC-1, ENC-5, KRN-2: value, types and order reach the next tool unchanged, with or without a kill."""
    seen, _ = relay.both_ways(place, KEPT[name])
    assert [tool for tool, _, _ in seen] == ["sink"]
    assert seen[0][1]["data"] == _json(shape(KEPT[name]()))


@pytest.mark.real_kill
@pytest.mark.parametrize("name", REFUSED)
def test_anything_else_is_the_same_both_times_or_refused(place: Place, name: str) -> None:
    """ENC-5, ENC-6: never one thing live and another on resume; no two keys become one."""
    seen, _ = relay.both_ways(place, REFUSED[name])
    for tool, args, _ in seen:
        if tool == "sink":
            assert len(args["data"][1]) == len(_json(shape(REFUSED[name]()))[1]), "keys never collide"


def _json(value: Any) -> Any:
    import json

    return json.loads(json.dumps(value))
