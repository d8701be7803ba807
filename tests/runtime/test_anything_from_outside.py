"""Whatever comes from outside, a tick ends and nothing outside its contract is bound."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentl.labels import untrusted
from agentl.reasoning import MockLLM
from agentl.runtime.coercion import is_finite
from agentl.values import UNDEFINED, Symbol
from tests.support.running import World, run

ARMED: list[bool] = []


@contextmanager
def armed() -> Iterator[None]:
    """While a program runs, odd values refuse to be printed; a test that fails can print them."""
    ARMED.append(True)
    try:
        yield
    finally:
        ARMED.pop()


class Odd:
    """Compares and measures itself by raising, and prints itself so while a program runs."""

    def __repr__(self) -> str:
        if ARMED:
            raise ValueError("no text")
        return "Odd()"

    def __eq__(self, other: object) -> bool:
        raise ValueError("no comparison")

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        raise ValueError("no length")


class Text(str):
    """A subclass of a plain type."""


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.binary(max_size=3),
    st.sampled_from(
        [
            Symbol("x"), Symbol("none"), Decimal("1.5"), Decimal("NaN"), UNDEFINED, Odd(), object(),
            Text("t"), datetime(2024, 1, 1, tzinfo=UTC),
            10**400, "\ud800", untrusted(1), ValueError("raised"), int, len,
        ]
    ),
)  # fmt: skip
KEYS = st.one_of(st.sampled_from(["n", "s", "b", "x.y", ""]), st.integers(0, 3))
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner),
        st.dictionaries(KEYS, inner, max_size=3),
    ),
    max_leaves=6,
)

PROGRAM = """
  OBSERVE { a.b, items ON UNKNOWN DEGRADE 3 }
  GOAL g { a.b > 3 TARGET { a.b IN items, CONFIDENCE(a.b) > 0.5 } }
  TOOL t { INPUT { n: Number } OUTPUT { n: Number, s: Symbol }
    SIDE_EFFECT { disk } EFFECT { disk.full = n } }
  TOOL u { }
  POLICY { DEFAULT ALLOW NEVER t WHEN a.b == 7 REQUIRE APPROVAL FOR u WHEN a.b > 0 NEVER SEND secret }
  MEMORY { LONG_TERM log WRITE { STORE { a.b, items } INTO LONG_TERM.log } }
  EVENT door { IF payload.n > 1 THEN u(n: n) }
  DECIDE { REASON "which" { PRODUCE {
    urgency: Number IN [0, 10] DEFAULT 3, mood: Symbol IN [calm, wild], on: Bool } } }
  PLAN p {
    t(n: 1) u(n: a.b) u(n: result)
    FOREACH item IN items { last = item.n u(n: item) }
    ASK boss { QUESTION "?" DEFAULT 1 }
    DELEGATE clerk { INPUT { a.b, items } EXPECT { n } }
    SET sum a.b + answer
    VERIFY a.b == items
  }
"""


@given(reading=ANYTHING, items=ANYTHING, result=ANYTHING, answer=ANYTHING, event=ANYTHING, reply=ANYTHING)
def test_no_value_from_outside_aborts_a_tick(
    reading: Any, items: Any, result: Any, answer: Any, event: Any, reply: Any
) -> None:
    """`EVA-13`, `TOL-4`, `INV-3`: sensors, tools, people, events and sub-agents may give anything."""
    world = World().sensor("a.b", reading).sensor("items", items).tool("t", result).tool("u", reply)
    world.host.asker = lambda question, reason: answer
    world.host.approver = lambda request: answer
    world.host.subagent("clerk")(lambda payload: reply)
    world.host.emit("door", n=event)
    world.host.events.append({"id": "raw", "source": "door", "payload": event})
    with armed():
        runtime = run(PROGRAM, world.host, MockLLM({"which": {"urgency": 1}}, plan_choice="p"), ticks=2)
        assert isinstance(runtime.trace.render(), str)
    assert runtime.metrics["ticks"] == 2
    bound = runtime.state.get("t.n")
    assert bound is UNDEFINED or (not isinstance(bound, bool) and is_finite(bound))
    assert runtime.kernel.control.depth() == 0


@given(urgency=ANYTHING, mood=ANYTHING, on=ANYTHING, choice=ANYTHING, missing=ANYTHING)
def test_no_answer_of_a_model_is_bound_outside_its_type_and_domain(
    urgency: Any, mood: Any, on: Any, choice: Any, missing: Any
) -> None:
    """`INV-10`, `INV-5`, `LLM-2` to `LLM-4`."""

    class Model(MockLLM):
        def reason(self, task: str, context: Any, schema: Any) -> dict[str, Any]:
            self.last_reason_missing = missing
            return {"urgency": urgency, "mood": mood, "on": on, "extra": 1}

        def select_plan(self, context: Any, names: Any) -> Any:
            return choice

    with armed():
        runtime = run(PROGRAM, World().host, Model())
        assert isinstance(runtime.trace.render(), str)
    read = runtime.state.locals
    number = read["reason.urgency"]
    assert not isinstance(number, bool)
    assert 0 <= number <= 10
    assert read["reason.mood"] in (UNDEFINED, Symbol("calm"), Symbol("wild"))
    assert read["reason.on"] in (True, False, UNDEFINED)
    assert "reason.extra" not in read
    assert not runtime.plan_queue
    assert all(event.values["plan"] == "p" for event in runtime.trace.of_kind("PLAN"))
