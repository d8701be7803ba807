"""NEVER SEND: what leaves the agent, and what a trace shows (`LLM-5`)."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from agentl.reasoning import MockLLM
from agentl.runtime.redaction import REDACTED, Redactor
from agentl.runtime.runtime import Runtime
from agentl.values import Symbol
from tests.support.running import World, codes, events, run, start

POLICY = "POLICY { DEFAULT ALLOW NEVER SEND customer.iban }"


@pytest.mark.parametrize(
    ("path", "value", "shown", "withheld"),
    [
        ("a.b", 1, REDACTED, ["a.b"]),
        ("a.b.c", 1, REDACTED, ["a.b.c"]),
        ("ab", 1, 1, []),
        ("a.bc", 1, 1, []),
        ("a", {"b": 1, "c": 2}, {"b": REDACTED, "c": 2}, ["a.b"]),
        ("a", [{"b": 1}, {"c": 2}], [{"b": REDACTED}, {"c": 2}], ["a.b"]),
        ("a", {"x": {"b": 1}}, {"x": {"b": 1}}, []),
        ("a", "anything", REDACTED, ["a"]),
        ("a", None, None, []),
    ],
)
def test_paths_match_by_whole_segments(path: str, value: Any, shown: Any, withheld: list[str]) -> None:
    """`LLM-5`: descendants too; a parent keeps its other leaves; one that cannot be walked goes whole."""
    kept: list[str] = []
    assert Redactor(["a.b"]).mask(path, value, kept) == shown
    assert kept == withheld


def test_no_context_holds_a_protected_value() -> None:
    """`LLM-5`: with USING and without; traced and counted."""
    runtime = run(
        POLICY + 'BELIEF { customer.iban: "FR7612345", customer.name: "ann" }'
        'LOOP MAX 1 { REASON "x" { USING { customer.iban, customer.name } '
        'PRODUCE { q } } REASON "y" { PRODUCE { q } } }',
        None,
        llm := MockLLM(),
    )
    assert llm.calls[0].context["focus"] == {"customer.iban": REDACTED, "customer.name": "ann"}
    assert llm.calls[1].context["beliefs"]["customer.iban"]["value"] == REDACTED
    assert "FR7612345" not in repr([call.context for call in llm.calls])
    assert codes(runtime, "BLOCKED") == ["llm.withheld"] * 2
    assert runtime.metrics["redactions"] == 2


def test_a_sub_agent_gets_no_protected_value() -> None:
    """`LLM-5`, `STM-10`."""
    world = World().sensor("customer", {"iban": "FR7612345", "name": "ann"})
    got: list[Any] = []
    world.host.subagent("helper")(lambda payload: got.append(payload) or {})
    run(POLICY + "OBSERVE customer LOOP MAX 1 { OBSERVE DELEGATE helper { INPUT { customer } } }", world.host)
    assert got == [{"customer": {"iban": REDACTED, "name": "ann"}}]


def test_a_tool_gets_the_value_and_the_trace_does_not_show_it() -> None:
    """`LLM-5`: arguments hold it; the trace masks it by path, and by text under another name."""
    world = World().sensor("customer.iban", "FR7612345").tool("pay", OSError("card FR7612345 refused"))
    runtime = run(
        POLICY
        + """OBSERVE customer.iban TOOL pay { INPUT { to } } MEMORY { LONG_TERM k
        WRITE { STORE customer.iban INTO LONG_TERM.k } } PLAN p WHEN 1 == 1 { copy = customer.iban
        pay(to: copy)
        VERIFY customer.iban > 3 }""",
        world.host,
    )
    assert world.calls == [("pay", {"to": "FR7612345"})]
    assert runtime.state.memory["LONG_TERM"]["k"] == [{"customer.iban": "FR7612345"}]
    text = runtime.trace.render() + repr([event.values for event in runtime.trace.events])
    assert "FR7612345" not in text
    assert REDACTED in text
    assert events(runtime, "tool.failed")


def test_a_number_is_withheld_too() -> None:
    """`LLM-5`: by its path whatever it is, by its text when it can be told apart."""
    world = World().sensor("customer.iban", 7).sensor("other.x", 7)
    runtime = run(POLICY + "OBSERVE { customer.iban, other.x }", world.host)
    assert [event.text for event in runtime.trace.of_kind("OBSERVE")] == [
        f"customer.iban = {REDACTED}",
        "other.x = 7",
    ]


def test_an_agent_without_the_prohibition_shows_everything() -> None:
    """`LLM-5`; the mark is public (`API-3`)."""
    runtime = start('BELIEF { customer.iban: "FR7612345" }')
    assert runtime.llm_context(["customer.iban"])["focus"] == {"customer.iban": "FR7612345"}
    assert Runtime.REDACTED == REDACTED == "⟦retenu⟧"


class Foreign:
    """Something that prints what it holds."""

    def __repr__(self) -> str:
        return "Foreign(FR7612345)"


@pytest.mark.parametrize(
    "value",
    [
        "FR7612345",
        Symbol("FR7612345"),
        7612345,
        Decimal("7612345.50"),
        7612345.5,
        b"FR7612345",
        date(7612, 3, 4),
        ("FR7612345",),
        {"FR7612345"},
        ["x", ("FR7612345",)],
        {"FR7612345": 1},
        {"k": {"n": ("FR7612345", 2)}},
        Foreign(),
    ],
    ids=str,
)
def test_a_value_of_any_type_is_masked_under_any_name(value: Any) -> None:
    """`LLM-5`: copied, passed to a tool and given back, it is shown in no event."""
    world = World().sensor("customer.iban", value)
    world.host.tool("pay")(lambda to: {"back": to, "more": [to]})
    runtime = run(
        POLICY
        + """OBSERVE customer.iban TOOL pay { INPUT { to } OUTPUT { back, more } }
        PLAN p WHEN 1 == 1 { copy = customer.iban pay(to: copy) }""",
        world.host,
    )
    text = runtime.trace.render() + repr([event.values for event in runtime.trace.events])
    assert "7612" not in text
    assert REDACTED in text
