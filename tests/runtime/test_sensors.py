"""Sensors: readings, mute sensors, what is believed and how old it is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentl.errors import StoreFailure
from agentl.host import Host
from agentl.labels import untrusted
from agentl.runtime.core import opened, unwrapped
from agentl.values import UNDEFINED, decode, encode
from tests.support.running import World, codes, events, label, run, start, texts


def test_a_reading_is_a_fact_with_the_label_of_its_sensor() -> None:
    """`SNS-2`, `PRV-3`: OBSERVED with what the host declared; never trusted more."""
    host = Host()
    host.sensor("a.b")(lambda: untrusted(5))
    runtime = run("OBSERVE a.b", host)
    state = runtime.state
    assert (state.get("a.b"), state.get("sensors.a.b.available"), state.get("sensors.a.b.age")) == (
        5,
        True,
        0,
    )
    assert state.get_labeled("a.b")[1].names == ("EXTERNAL", "OBSERVED")
    assert texts(runtime, "OBSERVE") == ["a.b = 5"]


def test_only_what_its_guard_allows_is_read() -> None:
    """`SNS-1`."""
    world = World().sensor("a.b", 1).sensor("c.d", 2)
    assert texts(run("OBSERVE { a.b WHEN 1 == 2, c.d }", world.host), "OBSERVE") == ["c.d = 2"]


def test_a_mute_sensor_without_conduct_stays_undefined() -> None:
    """`SNS-1`: metric, available False; a sensor that nobody provides is mute as well."""
    runtime = run("OBSERVE { a.b, c.d }", World().sensor("a.b", None).host)
    assert codes(runtime, "OBSERVE") == ["sensor.mute", "sensor.mute"]
    assert runtime.metrics["sensor_unknown"] == 2
    assert runtime.state.get("a.b") is UNDEFINED
    assert runtime.state.get("sensors.a.b.available") is False
    assert runtime.state.get("sensors.a.b.age") is UNDEFINED


def test_a_failing_sensor_is_traced_and_mute() -> None:
    """`SNS-1`."""
    runtime = run("OBSERVE a.b", World().sensor("a.b", OSError("cable")).host)
    assert codes(runtime, "ERROR", "OBSERVE") == ["sensor.failed", "sensor.mute"]
    assert events(runtime, "sensor.failed")[0].detail == "OSError: cable"


def test_a_store_failure_is_no_failing_sensor() -> None:
    """`DRF-3`, `TOL-3`: the run ends."""
    with pytest.raises(StoreFailure):
        run("OBSERVE a.b", World().sensor("a.b", StoreFailure()).host)


def test_a_sensor_that_goes_mute_keeps_its_last_reading_as_stale() -> None:
    """`SNS-3`, `SNS-1`: the confidence stays, the age grows, a reading makes it fresh again."""
    world = World().sensor("a.b", 1)
    runtime = start("OBSERVE a.b", world.host)
    runtime.run(1)
    world.readings["a.b"] = None
    runtime.run(2)
    belief = runtime.state.beliefs["a.b"]
    assert (belief.value, belief.source, belief.confidence) == (1, "stale", 0.95)
    assert [event.values["age"] for event in events(runtime, "sensor.stale")] == [1, 2]
    assert runtime.state.get("sensors.a.b.age") == 2
    world.readings["a.b"] = 1
    runtime.run(1)
    assert runtime.state.beliefs["a.b"].source == "observation"
    assert runtime.state.get("sensors.a.b.age") == 0


def test_a_reading_never_believed_becomes_a_stale_belief() -> None:
    """`SNS-3`: 0.95 when not yet believed."""
    world = World().sensor("a.b", 1)
    runtime = start("OBSERVE a.b", world.host)
    runtime.phase_observe()
    world.readings["a.b"] = None
    runtime.phase_observe()
    assert runtime.state.beliefs["a.b"].source == "stale"
    assert runtime.state.beliefs["a.b"].confidence == 0.95


def test_a_belief_of_another_source_is_left_alone() -> None:
    """`SNS-3`."""
    world = World().sensor("a.b", 1)
    runtime = start("OBSERVE a.b", world.host)
    runtime.run(1)
    runtime.state.set_belief("a.b", 9, 0.8, "effect:t", 1)
    world.readings["a.b"] = None
    runtime.run(1)
    assert (runtime.state.beliefs["a.b"].value, runtime.state.beliefs["a.b"].source) == (9, "effect:t")


def test_a_fallback_is_declared_not_measured() -> None:
    """`SNS-1`, `SNS-3`: DEGRADE gives world and belief 0.3, until a real reading."""
    world = World().sensor("a.b", None)
    runtime = start("OBSERVE a.b ON UNKNOWN DEGRADE 30", world.host)
    runtime.run(2)
    belief = runtime.state.beliefs["a.b"]
    assert (belief.value, belief.source, belief.confidence) == (30, "fallback", 0.3)
    assert label(runtime, "a.b") == ("DECLARED", "FALLBACK")
    assert runtime.state.get("sensors.a.b.available") is False
    assert (runtime.metrics["sensor_degraded"], runtime.metrics["sensor_unknown"]) == (2, 2)
    world.readings["a.b"] = 31
    runtime.run(1)
    assert (runtime.state.beliefs["a.b"].value, runtime.state.beliefs["a.b"].confidence) == (31, 0.95)


def test_a_fallback_that_cannot_be_evaluated_is_not_applied() -> None:
    """`EVA-13`."""
    runtime = run('OBSERVE a.b ON UNKNOWN DEGRADE "x" - 1', World().host)
    assert codes(runtime, "ERROR", "OBSERVE") == ["eval.value", "sensor.mute"]
    assert runtime.state.get("a.b") is UNDEFINED


def test_an_operator_is_asked_once_per_outage() -> None:
    """`SNS-1`: a later reading arms it again."""
    world = World().sensor("a.b", None)
    asked: list[Any] = []
    world.host.asker = lambda question, reason: asked.append(question)
    runtime = start("OBSERVE a.b ON UNKNOWN ESCALATE", world.host)
    runtime.run(2)
    assert [(question.code, question.values) for question in asked] == [("ask.mute_sensor", {"path": "a.b"})]
    world.readings["a.b"] = 1
    runtime.run(1)
    world.readings["a.b"] = None
    runtime.run(1)
    assert len(asked) == 2


def test_a_changed_belief_is_traced() -> None:
    """`TCK-7`: only on change; the label and the tick are those of the reading."""
    world = World().sensor("a.b", 1)
    runtime = start("OBSERVE a.b", world.host)
    runtime.run(2)
    world.readings["a.b"] = 2
    runtime.run(1)
    assert texts(runtime, "BELIEF") == ["a.b: 1 → 2"]
    belief = runtime.state.beliefs["a.b"]
    assert (belief.value, belief.confidence, belief.source, belief.updated) == (2, 0.95, "observation", 3)


def test_a_check_reads_the_world_again() -> None:
    """`STM-6`: what changed meanwhile counts."""
    world = World().sensor("a.b", 1)

    def act() -> None:
        world.readings["a.b"] = 2

    world.tool("act", act)
    runtime = run("OBSERVE a.b TOOL act {} PLAN p WHEN a.b == 1 { act() VERIFY a.b == 2 }", world.host)
    assert codes(runtime, "VERIFY_OK", "VERIFY_FAIL") == ["verify.ok"]
    assert texts(runtime, "BELIEF") == ["a.b → 2 [re-perception]"]


def test_a_mute_sensor_never_verifies_with_the_belief_from_before() -> None:
    """`STM-6`: the path is invalidated, a DEGRADE does not stand in."""
    world = World().sensor("a.b", 1)

    def act() -> None:
        world.readings["a.b"] = None

    world.tool("act", act)
    runtime = run(
        "OBSERVE a.b ON UNKNOWN DEGRADE 1 TOOL act {} PLAN p WHEN a.b == 1 { act() VERIFY a.b == 1 }",
        world.host,
    )
    assert codes(runtime, "VERIFY_OK", "VERIFY_FAIL") == ["verify.fail"]
    assert "sensor.recheck_mute" in codes(runtime)
    assert runtime.state.get("a.b") is UNDEFINED
    assert "a.b" not in runtime.state.beliefs
    assert runtime.state.get("sensors.a.b.available") is False


def test_a_reading_looks_the_same_live_and_resumed() -> None:
    """`ENC-5`: what has no journal form arrives as what a journal would give back."""

    class Gadget:
        def __repr__(self) -> str:
            return "gadget"

    runtime = run("OBSERVE a.b", World().sensor("a.b", Gadget()).host)
    assert type(runtime.state.get("a.b")).__name__ == "Opaque"


def test_a_reserved_path_is_never_written() -> None:
    """`STA-10`."""
    runtime = run("OBSERVE tools.x", World().sensor("tools.x", 1).host)
    assert codes(runtime, "ERROR", "OBSERVE") == ["state.reserved"]


ROW = st.dictionaries(
    st.text(max_size=2) | st.integers(0, 1),
    st.integers() | st.floats() | st.text(max_size=2) | st.just(2**13_000) | st.lists(st.none(), max_size=1),
    max_size=2,
)


@given(st.lists(ROW | st.integers() | st.just(2**13_000) | st.builds(untrusted, st.integers()), max_size=3))
def test_a_long_reading_is_copied_as_the_journal_would_give_it_back(reading: list[Any]) -> None:
    """`ENC-5`, `PRV-3`: in one pass where it is plain, and never the host's own list."""
    value, found = opened(reading)
    assert encode((value, found)) == encode((*unwrapped(decode(encode(reading))),))
    assert value is not reading
    assert all(row is not item for row, item in zip(value, reading, strict=True) if type(item) is dict)
