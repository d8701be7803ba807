"""Memory and effect drift."""

from __future__ import annotations

from typing import Any

import pytest

from agentl.errors import RuntimeAgentError
from agentl.messages import set_language
from tests.support.running import World, codes, events, label, run, start, texts


def test_a_record_is_stored_when_its_guard_holds() -> None:
    """`MEM-1`: {path: value}; equal to the last one is skipped; label is the union, the guard's included."""
    world = World().sensor("a.b", 1)
    runtime = start(
        "OBSERVE a.b MEMORY { LONG_TERM log WRITE { WHEN a.b > 0 STORE { a.b, c.d } INTO LONG_TERM.log } }",
        world.host,
    )
    runtime.run(2)
    world.readings["a.b"] = 2
    runtime.run(1)
    world.readings["a.b"] = 0
    runtime.run(1)
    assert runtime.state.memory["LONG_TERM"]["log"] == [{"a.b": 1}, {"a.b": 2}]
    assert texts(runtime, "MEMORY") == ["LONG_TERM.log ← a.b=1", "LONG_TERM.log ← a.b=2"]
    assert runtime.metrics["memory_writes"] == 2
    assert runtime.state.labels["LONG_TERM", "log"].names == ("DECLARED", "OBSERVED", "UNKNOWN")


def test_shared_writes_have_versions() -> None:
    """`MEM-2`: version per key, published; no conflict with oneself."""
    runtime = run(
        "BELIEF { n: 0 } MEMORY { SHARED box WRITE { STORE n INTO SHARED.box "
        "} } LOOP MAX 3 { n = n + 1 UPDATE_MEMORY }",
        ticks=2,
    )
    assert texts(runtime, "SHARED") == ["box v1 ← n=1", "box v2 ← n=2"]
    assert runtime.state.get("shared.box.version") == runtime.state.get("SHARED.box.version") == 2
    assert (runtime.metrics["shared_writes"], runtime.metrics["shared_conflicts"]) == (2, 0)
    assert runtime.metrics["memory_writes"] == 0


def test_a_write_of_somebody_else_in_between_is_a_conflict() -> None:
    """`MEM-2`: the last writer wins."""
    runtime = start(
        "BELIEF { n: 0 } MEMORY { SHARED box WRITE { STORE n INTO SHARED.box "
        "} } LOOP MAX 3 { n = n + 1 UPDATE_MEMORY }"
    )
    runtime.run(1)
    runtime.state.append_memory("SHARED", "box", {"n": 99})
    runtime.run(1)
    assert codes(runtime, "SHARED") == ["shared.write", "shared.write", "shared.conflict"]
    assert runtime.metrics["shared_conflicts"] == 1
    assert runtime.state.get("SHARED.box.last.n") == 2


def test_memory_from_outside_is_labelled_so() -> None:
    """`MEM-3`."""
    runtime = start("MEMORY { LONG_TERM log }")
    runtime.seed_memory("LONG_TERM", "log", [{"a": 1}])
    assert runtime.state.get("log") == [{"a": 1}]
    assert label(runtime, "log") == ("MEMORY",)
    with pytest.raises(RuntimeAgentError) as refused:
        runtime.seed_memory("ELSEWHERE", "log", [])
    assert refused.value.code == "runtime.bucket"


# --- drift ---

TOOL = "OBSERVE v.s TOOL act { EFFECT { v.s = open } } LOOP MAX 9 { act() OBSERVE UPDATE_BELIEFS }"


def acted(*readings: Any, memory: str = "") -> Any:
    """One call and one reading per tick."""
    world = World().sensor("v.s", None).tool("act")
    runtime = start(TOOL + memory, world.host)
    for reading in readings:
        world.readings["v.s"] = reading
        runtime.run(1)
    return runtime


def test_a_reading_confirms_or_denies_what_an_effect_predicted() -> None:
    """`DRI-1`: denied is an error and a metric."""
    runtime = acted("open", "closed")
    assert runtime.drift.judged == {("act", "v.s"): [1, 1]}
    denied = events(runtime, "drift.denied")[0]
    assert (denied.values["predicted"], denied.values["observed"]) == ("open", "closed")
    assert denied.detail == "observé closed, démentis 1/2"
    assert runtime.metrics["effect_drift"] == 1


def test_the_confidence_of_an_effect_follows_its_record() -> None:
    """`DRI-2`: 0.80 while unjudged, then (k + 1/2) / (n + 1)."""
    runtime = start(TOOL, World().tool("act").host)
    runtime.call_tool("act", {})
    assert runtime.state.beliefs["v.s"].confidence == 0.80
    judged = acted("open", "closed", "closed")
    judged.call_tool("act", {})
    assert judged.state.beliefs["v.s"].confidence == pytest.approx(1.5 / 4)


def test_a_re_perception_judges_too() -> None:
    """`DRI-1`, `STM-6`."""
    world = World().sensor("v.s", "closed").tool("act")
    runtime = run(
        "OBSERVE v.s TOOL act { EFFECT { v.s = open } } PLAN p WHEN 1 == 1 { act() VERIFY v.s == open }",
        world.host,
    )
    assert runtime.drift.judged == {("act", "v.s"): [0, 1]}
    assert runtime.metrics["verify_fail"] == 1


def test_a_belief_of_another_source_is_not_judged() -> None:
    """`DRI-1`."""
    world = World().sensor("v.s", "closed")
    runtime = run("OBSERVE v.s BELIEF { v.s: open } TOOL act { EFFECT { v.s = open } }", world.host)
    assert runtime.drift.judged == {}


def test_the_registry_is_kept_only_where_it_is_declared() -> None:
    """`DRI-3`."""
    assert "effect_drift" not in acted("open").state.memory["LONG_TERM"]
    kept = acted("open", "closed", memory="MEMORY { LONG_TERM effect_drift }")
    records = kept.state.memory["LONG_TERM"]["effect_drift"]
    assert records == [{"tool": "act", "path": "v.s", "confirmé": 1, "démenti": 1}]


def test_loading_the_registry_ignores_what_is_malformed() -> None:
    """`DRI-3`, `MEM-3`."""
    runtime = start("MEMORY { LONG_TERM effect_drift }" + TOOL, World().tool("act").host)
    good = {"tool": "act", "path": "v.s", "confirmé": 3, "démenti": 0}
    runtime.seed_memory(
        "LONG_TERM", "effect_drift", [good, 7, {"tool": 1}, {**good, "path": "x", "démenti": True}]
    )
    assert runtime.drift.judged == {("act", "v.s"): [3, 0]}
    assert events(runtime, "drift.loaded")[0].values == {"pairs": 1}
    runtime.call_tool("act", {})
    assert runtime.state.beliefs["v.s"].confidence == pytest.approx(3.5 / 4)


def test_the_report_marks_what_was_ever_denied() -> None:
    """`DRI-3`, `CLI-5`."""
    assert start("").drift.report() == []
    set_language("en")
    assert acted("open", "closed").drift.report() == [
        "effect drift:",
        "  ✘ act() → v.s : 1/2 confirmed, credibility 0.5",
    ]
    assert acted("open").drift.report()[1].startswith("  ✔ act() → v.s : ")
