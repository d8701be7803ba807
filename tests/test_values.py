"""The data model and its two encodings. Field reports R60, R71, R73, R75, R77, R79."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentl.labels import Labeled, of
from agentl.values import (
    MAX_DEPTH,
    UNDEFINED,
    DataModelError,
    Opaque,
    Symbol,
    canonical,
    canonical_bytes,
    decode,
    encode,
    is_opaque_inside,
    plain_copy,
    value_digest,
)

PARIS = ZoneInfo("Europe/Paris")

texts = st.text(st.characters(codec=None, categories=None), max_size=6)
zones = st.sampled_from(
    [
        None,
        UTC,
        PARIS,
        ZoneInfo("America/New_York"),
        timezone(timedelta(hours=2)),
        timezone(timedelta(hours=2), "CEST"),
    ]
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=-(10**60), max_value=10**60),
    st.floats(),
    st.decimals(allow_nan=True, allow_infinity=True),
    texts,
    texts.map(Symbol),
    st.binary(max_size=6),
    st.dates(),
    st.times(),
    st.datetimes(timezones=zones),
    st.sampled_from([True, 1, 1.0, Decimal(1), "1", Symbol("1"), b"1", 0, -0.0, 0.0, False, None, ""]),
)
hashables = st.one_of(st.integers(), texts, texts.map(Symbol), st.booleans(), st.tuples(st.integers(), texts))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(texts, inner, max_size=3),
        st.sets(hashables, max_size=3),
    ),
    max_leaves=8,
)


def shape(value: Any) -> Any:
    """What makes two values of the data model the same one: type, content, and no order of keys.

    An independent reading of `KRN-2`, used as the oracle for the canonical bytes.
    """
    kind = type(value)
    if kind is dict:
        return ("dict", frozenset((key, shape(item)) for key, item in value.items()))
    if kind is set:
        return ("set", frozenset(Counter(shape(item) for item in value).items()))
    if kind in (list, tuple):
        return (kind.__name__, tuple(shape(item) for item in value))
    if kind in (datetime, time):
        zone = value.tzinfo
        where = zone.key if isinstance(zone, ZoneInfo) else None if zone is None else zone.tzname(None)
        return (kind.__name__, value.isoformat(), where, value.fold)
    if kind is Symbol:
        return ("Symbol", value.name)
    return (kind.__name__, repr(value))


# --- symbols and the absence of a value -----------------------------------------------------


def test_symbol_equals_the_string_of_its_text() -> None:
    """`EVA-1`: equality with strings both ways, same hash, its own type, its text when printed."""
    assert Symbol("open") == Symbol("open") == "open"
    assert "open".__eq__(Symbol("open")) is NotImplemented  # so Python asks the symbol
    assert Symbol("open") != "closed"
    assert Symbol("open") != Symbol("Open")
    assert Symbol("1") != 1
    assert hash(Symbol("open")) == hash("open")
    assert (str(Symbol("open")), repr(Symbol("open"))) == ("open", "Symbol('open')")
    with pytest.raises(AttributeError):
        Symbol("open").name = "closed"
    for twin in (copy.deepcopy(Symbol("open")), pickle.loads(pickle.dumps(Symbol("open")))):
        assert type(twin) is Symbol
        assert twin.name == "open"


def test_undefined_is_one_false_value_and_not_none() -> None:
    """`STA-2`."""
    assert not UNDEFINED
    assert UNDEFINED is not None
    for twin in (copy.copy(UNDEFINED), copy.deepcopy([UNDEFINED])[0], pickle.loads(pickle.dumps(UNDEFINED))):
        assert twin is UNDEFINED


# --- canonical bytes ------------------------------------------------------------------------


@given(values, values)
def test_two_values_share_bytes_exactly_when_they_are_the_same(left: Any, right: Any) -> None:
    """`KRN-2`: typed, length-framed, injective; R79."""
    assert (canonical_bytes(left) == canonical_bytes(right)) == (shape(left) == shape(right))
    assert (canonical(left) == canonical(right)) == (shape(left) == shape(right))
    assert (value_digest(left) == value_digest(right)) == (shape(left) == shape(right))


def test_lookalikes_are_all_different() -> None:
    """`KRN-2`, R79: equality of the language would merge these; their bytes never do."""
    lookalikes: list[Any] = [
        True, 1, 1.0, Decimal(1), "1", Symbol("1"), b"1", [1], (1,), {1}, {"1": 1},
        False, 0, 0.0, -0.0, Decimal(0), Decimal("-0"), Decimal("0.0"), "", None, [], (), {}, set(), b"",
        "a", Symbol("a"), ["a"], [Symbol("a")], {"a": 1}, {"a": True}, {"a": [1]}, {"a": (1,)},
        ["ab", "c"], ["a", "bc"], ["abc"], [["a"], "b"], [["a", "b"]], {"a": "b", "c": "d"}, {"a": "bcd"},
        Decimal("1.1"), Decimal("1.10"), float("inf"), float("-inf"), float("nan"), "nan", "inf",
        date(2024, 1, 1), "2024-01-01", datetime.fromisoformat("2024-01-01"), time(0), time(0, fold=1),
        datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=ZoneInfo("UTC")),
        datetime(2024, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))),
    ]  # fmt: skip
    assert len({canonical_bytes(value) for value in lookalikes}) == len(lookalikes)
    nested = [{"deep": [value]} for value in lookalikes]
    assert len({canonical_bytes(value) for value in nested}) == len(nested)


forged = st.text(alphabet="asyxild01234:", max_size=8)


@given(st.lists(forged, max_size=3), st.lists(forged, max_size=3), st.sampled_from(["s", "y", "x", ""]))
def test_no_text_imitates_the_frame_of_its_neighbour(left: list[str], right: list[str], tag: str) -> None:
    """`KRN-2`: lengths come first, so texts made of frame marks move no boundary."""
    assert (canonical_bytes(left) == canonical_bytes(right)) == (left == right)
    for separator in (f"{tag}:", f"{tag}1:", f"{tag}{len(tag)}:"):
        joined = [separator.join(left)]
        assert (canonical_bytes(left) == canonical_bytes(joined)) == (left == joined)
        keyed = ({"a": separator.join(left)}, dict.fromkeys(left, ""))
        assert (canonical_bytes(keyed[0]) == canonical_bytes(keyed[1])) == (keyed[0] == keyed[1])


def test_the_length_of_a_text_is_counted() -> None:
    """`KRN-2`: the plain forgery of a boundary between two texts."""
    for tag in ("s", "y", "x", "i", "l", "u", "d", "z", "b", "n", "m", "e", "f"):
        for separator in (f"{tag}:", f"{tag}0:", f"{tag}1:"):
            assert canonical_bytes(["a", "b"]) != canonical_bytes([f"a{separator}b"])
            assert canonical_bytes([Symbol("a"), Symbol("b")]) != canonical_bytes([Symbol(f"a{separator}b")])
            assert canonical_bytes([b"a", b"b"]) != canonical_bytes([b"a%bb" % separator.encode()])


@given(st.dictionaries(texts, values, max_size=4))
def test_insertion_order_does_not_matter(mapping: dict[str, Any]) -> None:
    """`KRN-2`."""
    turned = dict(reversed(list(mapping.items())))
    assert canonical_bytes(turned) == canonical_bytes(mapping)


def test_every_nan_is_one_and_zero_keeps_its_sign() -> None:
    """`KRN-2`, R75: documented choices of the canonical form."""
    assert canonical_bytes(float("nan")) == canonical_bytes(-float("nan"))
    assert canonical_bytes(0.0) != canonical_bytes(-0.0)


def test_lone_surrogates_have_a_digest() -> None:
    """`KRN-2`, R77: hashing never raises, and different strings stay different."""
    odd = ["\ud83d", "\ude00", "\ud83d\ude00", "😀", "\udc80"]
    assert len({value_digest(text) for text in odd}) == len(odd)
    assert value_digest({"\ud83d": Symbol("\ud83d")})


def test_the_digest_is_the_same_in_another_process() -> None:
    """`KRN-2`: stable whatever the hash seed of the process."""
    made = "{'b': {'x', 'y', 'zz', 'long word'}, 'a': [1.5, None, True]}"
    program = f"from agentl.values import value_digest; print(value_digest({made}))"
    for seed in ("1", "2"):
        result = subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[1])},
            capture_output=True,
            text=True,
            check=True,
        )
        assert result.stdout.strip() == value_digest(eval(made))


class MyDict(dict[str, Any]):
    """Somebody else's mapping."""


class MyInt(int):
    """Somebody else's number."""


class MyText(str):
    """Somebody else's text."""


def looped() -> list[Any]:
    loop: list[Any] = [1]
    loop.append({"again": loop})
    return loop


def deep(levels: int) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = [value]
    return value


FOREIGN: list[tuple[Any, str, str]] = [
    (object(), ".", "object"),
    ({"a": [0, {"b": object()}]}, "a[1].b", "object"),
    ((1, {"x": frozenset()}), "[1].x", "frozenset"),
    ({"a": {1: 2}}, "a", "key of type int"),
    ({1: 2, "a": 1}, ".", "key of type int"),
    ({Symbol("a"): 1}, ".", "key of type agentl.datamodel.Symbol"),
    (looped(), "[1].again", "cycle"),
    (deep(MAX_DEPTH + 1), "[0]" * MAX_DEPTH, "nested too deeply"),
    (UNDEFINED, ".", "agentl.datamodel.Undefined"),
    ([Opaque("x", "T")], "[0]", "agentl.datamodel.Opaque"),
    (timedelta(1), ".", "datetime.timedelta"),
    (Fraction(1, 2), ".", "fractions.Fraction"),
    (1j, ".", "complex"),
    (bytearray(b"x"), ".", "bytearray"),
    (deque([1]), ".", "collections.deque"),
    (OrderedDict(a=1), ".", "collections.OrderedDict"),
    (defaultdict(int), ".", "collections.defaultdict"),
    (range(3), ".", "range"),
    (10**5000, ".", "integer too large"),
    ({"a": MyInt(1)}, "a", f"{__name__}.MyInt"),
    ([MyText("x")], "[0]", f"{__name__}.MyText"),
    (MyDict(), ".", f"{__name__}.MyDict"),
]


@pytest.mark.parametrize(("value", "place", "kind"), FOREIGN, ids=[str(n) for n in range(len(FOREIGN))])
def test_what_is_outside_the_data_model_says_where(value: Any, place: str, kind: str) -> None:
    """`KRN-2`: no canonical form, no plain copy; the place and the type are named."""
    for function in (canonical_bytes, canonical, value_digest, plain_copy):
        with pytest.raises(DataModelError) as caught:
            function(value)
        error = caught.value
        assert (error.code, error.place, error.type_name) == ("kernel.data_model", place, kind)
        assert isinstance(error, ValueError)
        assert place in str(error)
        assert kind in str(error)


def test_as_deep_as_the_limit_says() -> None:
    """`KRN-2`: the limit itself is inside the data model, in both encodings."""
    limit = deep(MAX_DEPTH)
    assert decode(json.loads(json.dumps(encode(limit)))) == limit
    assert plain_copy(limit) == limit
    assert canonical_bytes(limit)


def test_a_shared_part_is_no_cycle() -> None:
    """`KRN-2`: the same list twice is two equal parts."""
    part = [1]
    assert canonical_bytes([part, part]) == canonical_bytes([[1], [1]])
    assert decode(encode([part, part])) == [[1], [1]]


@given(values)
def test_a_plain_copy_is_equal_and_shares_nothing(value: Any) -> None:
    """`KRN-3`: later changes of the original reach no copy."""
    copied = plain_copy(value)
    assert canonical_bytes(copied) == canonical_bytes(value)
    assert type(copied) is type(value)
    assert not set(map(id, containers(copied))) & set(map(id, containers(value)))


def containers(value: Any) -> list[Any]:
    """The parts of a value that could be changed in place."""
    if type(value) is dict:
        return [value, *(part for item in value.values() for part in containers(item))]
    if type(value) in (list, set):
        return [value, *(part for item in value for part in containers(item))]
    if type(value) is tuple:
        return [part for item in value for part in containers(item)]
    return []


# --- journal form ---------------------------------------------------------------------------


@given(values)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    """`ENC-1`, `ENC-3`, R73: type for type, through real JSON."""
    lossy: list[str] = []
    text = json.dumps(encode(value, lossy), allow_nan=False)
    back = decode(json.loads(text))
    assert shape(back) == shape(value)
    assert lossy == []
    if type(value) is dict:
        assert list(back) == list(value)


def test_the_tagged_forms() -> None:
    """`ENC-1`: exactly these forms are stored."""
    forms: list[tuple[Any, Any]] = [
        (None, None),
        (True, True),
        (10**30, 10**30),
        (-0.0, -0.0),
        ("x", "x"),
        (float("nan"), {"$float": "nan"}),
        (float("-inf"), {"$float": "-inf"}),
        (Symbol("open"), {"$sym": "open"}),
        (Labeled([1], of("LLM", "EVENT")), {"$lab": [{"$list": [1]}, ["EVENT", "LLM"]]}),
        ({"b": 1, "a": Symbol("x")}, {"$dict": [["b", 1], ["a", {"$sym": "x"}]]}),
        ({1: 2, None: 3, (1, "x"): 4}, {"$dict": [[1, 2], [None, 3], [{"$tuple": [1, "x"]}, 4]]}),
        ([1, (2,)], {"$list": [1, {"$tuple": [2]}]}),
        ({"b", "a"}, {"$set": ["a", "b"]}),
        (b"\x00\xff", {"$bytes": "AP8="}),
        (Decimal("1.10"), {"$dec": "1.10"}),
        (date(2024, 2, 29), {"$time": ["date", "2024-02-29"]}),
        (time(1, 2, tzinfo=PARIS), {"$time": ["time", "01:02:00", "Europe/Paris"]}),
        (datetime(2024, 1, 1, tzinfo=UTC), {"$time": ["datetime", "2024-01-01T00:00:00+00:00"]}),
        (
            datetime(2024, 10, 27, 2, 30, tzinfo=PARIS, fold=1),
            {"$time": ["datetime", "2024-10-27T02:30:00+01:00", "Europe/Paris", 1]},
        ),
        (
            datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=2), "CEST")),
            {"$time": ["datetime", "2024-01-01T00:00:00+02:00", "=CEST"]},
        ),
        (
            datetime.fromisoformat("2024-01-01").replace(fold=1),
            {"$time": ["datetime", "2024-01-01T00:00:00", 1]},
        ),
    ]
    for value, form in forms:
        assert encode(value) == form
        assert type(decode(form)) is type(value)
        assert encode(decode(form)) == form


def test_a_date_keeps_its_zone_so_sums_agree() -> None:
    """`ENC-1`, R71: a day later is the same hour on both sides of a clock change."""
    for fold in (0, 1):
        before = datetime(2024, 10, 27, 2, 30, tzinfo=PARIS, fold=fold)
        after = decode(json.loads(json.dumps(encode(before))))
        assert after.tzinfo.key == "Europe/Paris"
        assert after.fold == fold
        for step in (timedelta(days=1), timedelta(hours=1)):
            assert (after + step).isoformat() == (before + step).isoformat()
    eve = datetime(2024, 10, 26, 12, tzinfo=PARIS)
    assert (decode(encode(eve)) + timedelta(days=1)).isoformat() == "2024-10-27T12:00:00+01:00"


def test_a_private_zone_under_a_public_name_is_opaque() -> None:
    """`ENC-2`, R71: what would come back as another zone is not stored as one."""
    data = next(Path(root, "Asia/Tokyo") for root in zone_folders() if Path(root, "Asia/Tokyo").exists())
    with data.open("rb") as file:
        private = ZoneInfo.from_file(file, key="Europe/Paris")
    moment = datetime(2024, 1, 1, tzinfo=private)
    assert "$opaque" in encode(moment)
    with pytest.raises(DataModelError):
        canonical_bytes(moment)


def zone_folders() -> list[str]:
    import zoneinfo

    return [*zoneinfo.TZPATH, *(str(Path(p, "tzdata/zoneinfo")) for p in sys.path)]


def test_opaque_values() -> None:
    """`ENC-2`, R73: recorded as lossy; decode to something that prints the text and no more."""
    for foreign in (
        Fraction(1, 2),
        1j,
        deque([1], maxlen=2),
        timedelta(1),
        frozenset({1}),
        defaultdict(int),
        range(2),
    ):
        lossy: list[str] = []
        form = encode({"result": [1, foreign]}, lossy)
        opaque = decode(form)["result"][1]
        assert type(opaque) is Opaque
        assert str(opaque) == repr(foreign)
        assert opaque == Opaque(repr(foreign), "whatever")
        assert opaque != repr(foreign)
        assert len(lossy) == 1
        assert lossy[0].startswith("result[1] : ")
        assert is_opaque_inside(decode(form))
        assert encode(opaque) == encode(decode(encode(opaque)))
        with pytest.raises(TypeError):
            opaque + 1
    assert not is_opaque_inside({"a": [1, (2, {3}), {"b": None}]})
    assert is_opaque_inside({"a": [Labeled((Opaque("x"),), of("TOOL"))]})
    assert is_opaque_inside({Opaque("x"): 1})


class Rude:
    """Raises from its ``repr``, as foreign objects do at the worst moment."""

    def __repr__(self) -> str:
        raise RuntimeError("no text")


def test_encoding_never_raises() -> None:
    """`ENC-1`, R75, R77: cycles, depth, size, rude objects, mixed sets."""
    loop = looped()
    for odd in (
        Rude(),
        {"x": Rude()},
        loop,
        deep(MAX_DEPTH + 5),
        10**5000,
        {Rude(): 1},
        {1, "a", None, 2.5},
        "\ud83d",
    ):
        lossy: list[str] = []
        assert decode(json.loads(json.dumps(encode(odd, lossy)))) is not Ellipsis
    assert encode(Rude()) == {"$opaque": f"<{__name__}.Rude>", "$type": f"{__name__}.Rude"}


@pytest.mark.parametrize(
    "marked",
    [
        {"$sym": "x"},
        {"$dict": [["a", 1]]},
        {"$list": [1]},
        {"$opaque": "x", "$type": "y"},
        {"$lab": [1, ["HUMAN"]]},
        {"$dec": "1"},
        {"__class__": "os.system", "args": ["true"]},
        {"py/object": "builtins.set"},
        {"!!python/object": "x"},
        {"lc": 1, "type": "constructor", "id": ["os"], "kwargs": {}},
    ],
)
def test_markers_in_data_stay_data(marked: dict[str, Any]) -> None:
    """`ENC-1`, R60: a mapping that looks like a tag comes back as the mapping it was."""
    for value in (marked, [marked], {"x": {"$dict": marked}}, (marked,)):
        back = decode(json.loads(json.dumps(encode(value))))
        assert back == value
        assert shape(back) == shape(value)


@pytest.mark.parametrize(
    "form",
    [
        {},
        [],
        [1],
        {"a": 1},
        {"$sym": 1},
        {"$sym": "a", "$dec": "1"},
        {"$nope": 1},
        {"$float": "1.0"},
        {"$list": "ab"},
        {"$list": {"a": 1}},
        {"$dict": [["a"]]},
        {"$dict": [["a", 1], ["a", 2]]},
        {"$dict": [[{"$list": []}, 1]]},
        {"$set": [1, 1]},
        {"$set": [{"$list": []}]},
        {"$bytes": "*"},
        {"$bytes": 5},
        {"$dec": "x"},
        {"$dec": 1},
        {"$time": ["date", "2024-02-30"]},
        {"$time": ["datetime", "2024-01-01T00:00:00", "No/Where"]},
        {"$time": ["datetime", "2024-01-01T00:00:00+05:00", "Europe/Paris"]},
        {"$time": ["datetime", "2024-01-01T00:00:00+00:00", "../../etc/passwd"]},
        {"$time": ["eval", "1"]},
        {"$time": 5},
        {"$opaque": "x"},
        {"$opaque": 1, "$type": "x"},
        {"$lab": [1, ["NOBODY"]]},
        {"$lab": [1]},
        {"$py": "os.system"},
    ],
)
def test_what_is_no_journal_form_is_refused(form: Any) -> None:
    """`ENC-1`, R60: no guess, no import, no constructor: a clear refusal."""
    with pytest.raises(DataModelError) as caught:
        decode(form)
    assert caught.value.code == "kernel.encoding"
