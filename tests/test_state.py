"""The state: resolution order, labels, writes and exact restoration (`STA-1` to `STA-10`)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentl.labels import NONE, UNKNOWN_LABEL, Prov, of
from agentl.scope import Scope
from agentl.state import BUCKETS, RESERVED_ROOTS, State, is_reserved
from agentl.values import UNDEFINED, Symbol

MARK = of("TOOL")


def place(state: State, step: str, path: str, value: Any) -> None:
    """Put a value where one step of the resolution order finds it."""
    if step == "locals":
        state.set_local(path, value, of("HUMAN"))
    elif step == "beliefs":
        state.set_belief(path, value, prov=of("EFFECT"))
    elif step == "world":
        state.set_world(path, value, of("OBSERVED"))
    elif step == "untrusted":
        state.set_untrusted(path, value, of("LLM"))
    else:
        state.set_memory(step, path, value, of("MEMORY"))


STEPS = ("locals", "beliefs", "world", "SHORT_TERM", "LONG_TERM", "KNOWLEDGE", "untrusted")
LABELS = {"locals": "HUMAN", "beliefs": "EFFECT", "world": "OBSERVED", "untrusted": "LLM"}


@pytest.mark.parametrize("path", ["x", "a.b"])
def test_the_first_store_in_order_answers(path: str) -> None:
    """`STA-3`, `STA-5`: for every set of stores that hold the path, value and label of the first one."""
    for chosen in range(1, 2 ** len(STEPS)):
        state = State()
        held = [step for number, step in enumerate(STEPS) if chosen >> number & 1]
        for step in reversed(held):
            place(state, step, path, step)
        first = held[0]
        expected = of(LABELS.get(first, "MEMORY"))
        assert state.get(path) == first
        assert state.get_labeled(path) == (first, expected)


def test_nothing_answers() -> None:
    """`STA-3` step 8."""
    state = State()
    for path in ("x", "a.b.c", "SHARED.k", "x.confidence"):
        assert state.get(path) is UNDEFINED
        assert state.get_labeled(path) == (UNDEFINED, UNKNOWN_LABEL)
        assert state.find(path) is None


def test_a_key_bound_to_undefined_answers() -> None:
    """`STA-3`: known to be missing is an answer; it hides what lies below."""
    state = State()
    state.set_world("x", 1, MARK)
    state.set_local("x", UNDEFINED, of("HUMAN"))
    assert state.get_labeled("x") == (UNDEFINED, of("HUMAN"))


@pytest.mark.parametrize("step", ["locals", "world", "LONG_TERM", "untrusted"])
def test_lookup_descends_from_the_longest_prefix(step: str) -> None:
    """`STA-4`: flat key first, then prefixes from longest to shortest, and on when a descent fails."""
    state = State()
    place(state, step, "a", {"b": {"c": 1, "d": 2}, "x": 9})
    place(state, step, "a.b", {"c": 3})
    place(state, step, "a.b.e", 4)
    assert state.get("a.b.c") == 3
    assert state.get("a.b.d") == 2
    assert state.get("a.b.e") == 4
    assert state.get("a.x") == 9
    assert state.get("a.x.y") is UNDEFINED
    assert state.get("a.b.c.d") is UNDEFINED


def test_a_local_that_does_not_descend_leaves_the_path_to_the_world() -> None:
    """`STA-3`, `STA-4`: a store answers only when the whole path resolves in it."""
    state = State()
    state.set_local("a", {"z": 1}, of("HUMAN"))
    state.set_world("a.b", 2, of("OBSERVED"))
    assert state.get_labeled("a.b") == (2, of("OBSERVED"))
    assert state.get_labeled("a.z") == (1, of("HUMAN"))
    state.set_local("a", {"b": 3}, of("HUMAN"))
    assert state.get("a.b") == 3
    assert state.get_labeled("a.b") == (3, of("HUMAN"))


def test_beliefs_answer_for_their_exact_path_only() -> None:
    """`STA-3` step 3."""
    state = State()
    state.set_belief("a", {"b": 1})
    assert state.get("a") == {"b": 1}
    assert state.get("a.b") is UNDEFINED


def test_the_confidence_of_a_belief() -> None:
    """`STA-3` step 6, `STA-5`: after world and memory, before untrusted names."""
    state = State()
    state.set_belief("a.b", 5, 0.7, "observation", 3, of("OBSERVED"))
    state.set_untrusted("a.b.confidence", 0.1, of("LLM"))
    assert state.get_labeled("a.b.confidence") == (0.7, of("RUNTIME", "OBSERVED"))
    assert state.confidence_of("a.b") == 0.7
    assert state.confidence_of("a") is None
    state.set_memory("KNOWLEDGE", "a.b.confidence", 0.2, of("MEMORY"))
    assert state.get("a.b.confidence") == 0.2


def test_a_missing_label_reads_as_unknown() -> None:
    """`STA-5`, `STA-7`: whatever the store, and for a write without a label."""
    state = State()
    for write in (state.set_world, state.set_local):
        write("x", 1)
        assert state.get_labeled("x")[1] is UNKNOWN_LABEL
    state.set_belief("b", 1)
    state.set_memory("LONG_TERM", "m", [1])
    state.set_untrusted("u", 1, None)
    for path in ("b", "m", "u"):
        assert state.get_labeled(path)[1] is UNKNOWN_LABEL
    state.labels.clear()
    assert state.get_labeled("b") == (1, UNKNOWN_LABEL)
    assert state.get_labeled("b.confidence")[1] == of("RUNTIME", "UNKNOWN")


# --- the shared compartment -----------------------------------------------------------------


def test_shared_forms() -> None:
    """`STA-6`."""
    state = State()
    assert state.get("SHARED.k.version") == 0
    state.set_memory("SHARED", "k", [], of("DECLARED"))
    assert state.get("SHARED.k") == []
    assert state.get("SHARED.k.count") == 0
    assert state.get("SHARED.k.version") == 0
    assert state.get("SHARED.k.last") is UNDEFINED
    assert state.get("SHARED.k.last.x") is UNDEFINED
    state.append_memory("SHARED", "k", {"x": 1, "a.b": 2}, of("TOOL"))
    state.append_memory("SHARED", "k", {"x": {"y": 3}, "a.b": 4}, of("LLM"))
    assert state.get("SHARED.k.count") == 2
    assert state.get("SHARED.k.version") == 2
    assert state.get("SHARED.k.last") == {"x": {"y": 3}, "a.b": 4}
    assert state.get("SHARED.k.last.x.y") == 3
    assert state.get("SHARED.k.last.a.b") == 4
    for unknown in (
        "SHARED.k.other",
        "SHARED.k.last.nope",
        "SHARED.k.count.x",
        "SHARED.no",
        "SHARED.no.count",
    ):
        assert state.get(unknown) is UNDEFINED


def test_shared_labels() -> None:
    """`STA-5`: SHARED joined with the labels of the records that are read."""
    state = State()
    state.set_memory("SHARED", "k", [], NONE)
    state.append_memory("SHARED", "k", {"x": 1}, of("TOOL"))
    state.append_memory("SHARED", "k", {"x": 2}, of("HUMAN"))
    assert state.get_labeled("SHARED.k")[1] == of("SHARED", "TOOL", "HUMAN")
    assert state.get_labeled("SHARED.k.count")[1] == of("SHARED", "TOOL", "HUMAN")
    assert state.get_labeled("SHARED.k.last.x") == (2, of("SHARED", "HUMAN"))
    assert state.get_labeled("SHARED.never.version") == (0, of("SHARED"))


def test_a_shared_miss_falls_to_nothing_else() -> None:
    """`STA-3` step 2: a local may answer before, nothing answers after."""
    state = State()
    state.set_world("SHARED.k", 1)
    state.set_untrusted("SHARED.k", 2, MARK)
    assert state.get("SHARED.k") is UNDEFINED
    state.set_local("SHARED.k", 3)
    assert state.get("SHARED.k") == 3


def test_keys_with_dots_in_the_shared_compartment() -> None:
    """`STA-6`: the longest declared key that fits is the key."""
    state = State()
    state.append_memory("SHARED", "a.b", {"v": 1}, MARK)
    assert state.get("SHARED.a.b.count") == 1
    assert state.get("SHARED.a.b.last.v") == 1


# --- writing --------------------------------------------------------------------------------


def test_assign_updates_a_belief_or_writes_a_local() -> None:
    """`STA-8`."""
    state = State()
    state.set_belief("b", 1, 0.4, "observation", 2, of("OBSERVED"))
    state.assign("b", 2, MARK)
    state.assign("c", 3, MARK)
    belief = state.beliefs["b"]
    assert (belief.value, belief.confidence, belief.source) == (2, 0.4, "assignment")
    assert state.get_labeled("b") == (2, MARK)
    assert state.locals == {"c": 3}


def test_invalidate_removes_the_path_with_its_labels() -> None:
    """`STA-7`: from world, beliefs and locals; memory and untrusted names stay."""
    state = State()
    for step in STEPS:
        place(state, step, "p", step)
    state.invalidate("p")
    assert state.get("p") == "SHORT_TERM"
    assert not {("world", "p"), ("beliefs", "p"), ("locals", "p")} & set(state.labels)
    state.invalidate("p")


def test_memory_labels_only_grow_by_appending() -> None:
    """`MEM-1`: the label of a key is the union of everything stored in it; appending copies nothing."""
    state = State()
    state.set_memory("LONG_TERM", "k", [], of("DECLARED"))
    records = state.memory["LONG_TERM"]["k"]
    for source in ("TOOL", "LLM"):
        state.append_memory("LONG_TERM", "k", {"x": source}, of(source))
    assert state.memory["LONG_TERM"]["k"] is records
    assert state.get_labeled("k") == ([{"x": "TOOL"}, {"x": "LLM"}], of("DECLARED", "TOOL", "LLM"))
    state.label_memory("LONG_TERM", "k", of("MEMORY"))
    assert state.get_labeled("k")[1] == of("MEMORY")


def test_memory_versions_tell_growth_from_replacement() -> None:
    """`STA-7`: between two replacements a list only grew."""
    state = State()
    state.set_memory("LONG_TERM", "k", [1, 2])
    assert state.memory_version("LONG_TERM", "k") == (1, 2)
    state.append_memory("LONG_TERM", "k", 3)
    assert state.memory_version("LONG_TERM", "k") == (1, 3)
    state.set_memory("LONG_TERM", "k", [])
    assert state.memory_version("LONG_TERM", "k") == (2, 0)
    assert state.memory_version("SHARED", "nothing") == (0, 0)
    state.append_memory("SHORT_TERM", "new", 1)
    assert state.memory["SHORT_TERM"]["new"] == [1]


def test_changes_are_listed_once_in_order() -> None:
    """`STA-1`: every write is seen, removals too, in the order of first writing."""
    state = State()
    state.set_world("w", 1)
    state.set_local("l", 1)
    state.set_world("w", 2)
    state.set_belief("b", 1)
    state.set_untrusted("u", 1, MARK)
    state.append_memory("LONG_TERM", "m", 1)
    state.attest("tool", "q", "x")
    digest = next(iter(state.attestations))
    assert state.take_changes() == [
        ("world", "w"), ("locals", "l"), ("beliefs", "b"), ("untrusted", "u"), ("LONG_TERM", "m"),
        ("attestations", digest),
    ]  # fmt: skip
    assert state.take_changes() == []
    state.drop_local("l")
    state.drop_local("absent")
    state.invalidate("w")
    assert state.take_changes() == [("locals", "l"), ("world", "w")]


# --- restoring ------------------------------------------------------------------------------

names = st.sampled_from(["a", "b", "a.b", "c"])
sources = st.sampled_from([None, of("TOOL"), of("HUMAN"), of("LLM")])
writes = st.lists(
    st.tuples(st.sampled_from(["locals", "untrusted"]), names, st.integers(), sources), max_size=8
)


def write(state: State, done: list[tuple[str, str, int, Prov | None]]) -> None:
    for store, key, value, label in done:
        (state.set_local if store == "locals" else state.set_untrusted)(key, value, label)


def contents(state: State) -> tuple[Any, ...]:
    return dict(state.locals), dict(state.untrusted), dict(state.labels)


@given(writes, writes, st.lists(names, max_size=3))
def test_a_frame_is_restored_exactly(before: list[Any], after: list[Any], dropped: list[str]) -> None:
    """`TCK-5`: values, absences and labels; and the restored keys count as changed."""
    state = State()
    write(state, before)
    kept = contents(state)
    frame = state.frame()
    write(state, after)
    for key in dropped:
        state.drop_local(key)
    touched = contents(state)
    state.take_changes()
    state.restore_frame(frame)
    assert contents(state) == kept
    different = {
        (store, key)
        for store, was, now in (("locals", kept[0], touched[0]), ("untrusted", kept[1], touched[1]))
        for key in was.keys() | now.keys()
        if was.get(key) != now.get(key) or kept[2].get((store, key)) != touched[2].get((store, key))
    }
    assert different <= set(state.take_changes())


@given(writes, writes, st.lists(names, max_size=4, unique=True))
def test_saved_keys_are_restored_exactly(before: list[Any], after: list[Any], keys: list[str]) -> None:
    """`STM-4`: the saved keys go back, every other key keeps what it has."""
    state = State()
    write(state, before)
    was, labels = dict(state.locals), dict(state.labels)
    saved = state.save("locals", keys)
    write(state, after)
    now, new_labels = dict(state.locals), dict(state.labels)
    state.restore(saved)
    for key in ("a", "b", "a.b", "c"):
        chosen, chosen_labels = (was, labels) if key in keys else (now, new_labels)
        assert state.locals.get(key, "absent") == chosen.get(key, "absent")
        assert state.labels.get(("locals", key)) is chosen_labels.get(("locals", key))


# --- attestations, overview, reserved roots -------------------------------------------------


def test_attestations_are_about_the_value() -> None:
    """`STA-9`, `PRV-8`: symbol and string of equal text are one value here; other types are not."""
    state = State()
    assert state.attested_by("x") == set()
    state.attest("check_iban", "iban", Symbol("DE02"))
    state.attest("other", "iban", "DE02")
    state.attest("check_list", "q", [Symbol("a"), {"k": Symbol("b")}])
    assert state.attested_by("DE02") == {"check_iban", "other"}
    assert state.attested_by(Symbol("DE02")) == {"check_iban", "other"}
    assert state.attested_by(["a", {"k": "b"}]) == {"check_list"}
    for other in ("de02", ["DE02"], 1, None, object(), UNDEFINED):
        assert state.attested_by(other) == set()
    state.attest("number", "n", 1)
    for lookalike in (True, 1.0, "1"):
        assert state.attested_by(lookalike) == set()


def test_snapshot() -> None:
    """`STA-9`: an overview that later writes do not change."""
    state = State()
    state.tick = 4
    state.set_world("w", 1)
    state.set_belief("b", 2, 0.5)
    state.set_local("l", 3)
    state.append_memory("LONG_TERM", "m", {"x": 1})
    taken = state.snapshot()
    state.append_memory("LONG_TERM", "m", {"x": 2})
    state.set_world("w", 9)
    assert taken["tick"] == 4
    assert taken["world"] == {"w": 1}
    assert taken["beliefs"] == {"b": (2, 0.5)}
    assert taken["locals"] == {"l": 3}
    assert taken["memory"] == {**{bucket: {} for bucket in BUCKETS}, "LONG_TERM": {"m": [{"x": 1}]}}


def test_reserved_roots() -> None:
    """`STA-10`."""
    assert {
        "tools", "sensors", "goal", "planner", "reason", "judge", "delegate", "action", "payload", "event",
        "message", "result", "last_action", "SHARED",
    } == RESERVED_ROOTS  # fmt: skip
    assert is_reserved("tools.pay.calls")
    assert is_reserved("goal")
    assert not is_reserved("toolsx.y")
    assert not is_reserved("x.tools")


paths = st.sampled_from(["a", "b", "a.b", "a.b.c", "a.c", "a.confidence", "SHARED.a", "SHARED.a.count"])
held_values = st.sampled_from([1, UNDEFINED, {"b": 2}, {"b": {"c": 3}, "c": 4}, [], {"x": 1}])


@given(st.lists(st.tuples(st.sampled_from((*STEPS, "SHARED")), paths, held_values), max_size=8), paths)
def test_get_and_get_labeled_agree_everywhere(done: list[tuple[str, str, Any]], path: str) -> None:
    """`STA-5`: the quick reading of a value is the value of the one resolution."""
    state = State()
    for step, key, value in done:
        place(state, step, key, value)
    assert state.get(path) is state.get_labeled(path)[0]
    scope = Scope(state, "t", {"a": {"b": 7}, "z.y": 8}, {}, "LOW", "plan", 0.5)
    for asked in (
        path,
        "action.args.a.b",
        "action.args.z.y",
        "action.risk",
        "confidence",
        "z.y",
        "action.no",
    ):
        assert scope.get(asked) == scope.get_labeled(asked)[0]
    if path != "a":
        assert scope.get(path) is state.get(path)
