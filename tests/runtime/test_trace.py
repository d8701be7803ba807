"""The trace: what an event shows, when it is made, and what watching it may change."""

from __future__ import annotations

import pytest

from agentl.catalogue.runtime import TEXTS
from agentl.errors import EvalError
from agentl.messages import set_language
from agentl.runtime.trace import GLYPHS, Trace, TraceEvent, failure, frozen
from agentl.values import Symbol


def test_a_rendered_trace_has_headers_lines_details_and_a_closing_rule() -> None:
    """`TRC-1`: tick header, glyph, three spaces before the detail, closing rule."""
    trace = Trace()
    trace.say(1, "TICK", "tick.start", {"tick": 1})
    trace.say(1, "OBSERVE", "sensor.read", {"path": "p", "value": 2.50})
    trace.log(1, "INFO", "hello", "why")
    assert trace.render() == ("\n┌─ tick 1 " + "─" * 43 + "\n│ 👁 p = 2.5\n│ • hello   [why]\n└" + "─" * 52)


def test_an_unknown_kind_is_shown_as_an_information() -> None:
    """`TRC-2`."""
    assert Trace.line(TraceEvent(1, "NEWS", "x", "")) == "│ • x"
    assert len(GLYPHS) == 24
    assert GLYPHS["STEP"] == "  ·"


def test_values_print_as_people_read_them() -> None:
    """`TRC-3`: floats in %g, lists, bare symbols, booleans; arguments in their own order."""
    trace = Trace()
    args = {"z": 1.0, "a": [1, Symbol("x")], "b": True, "n": None}
    trace.say(1, "TOOL", "tool.done", {"tool": "t", "args": args, "risk": "LOW", "result": {"k": 0.25}})
    assert trace.events[0].text == "t(z=1, a=[1, x], b=True, n=None)"
    assert trace.events[0].detail == "risk=LOW → {'k': 0.25}"


def test_the_text_follows_the_language_in_force_when_it_is_read() -> None:
    """`TRC-3`, `MSG-4`: an event keeps code and values, never words."""
    event = Trace().say(1, "INFO", "loop.until")
    french = event.text
    set_language("en")
    assert event.text != french
    assert event.identity() == (1, "INFO", "loop.until", "", {})


def test_the_identity_of_an_event_has_no_source_lines() -> None:
    """`DUR-9`: layout is no part of a run."""
    event = Trace().say(1, "BLOCKED", "tool.refused", {"tool": "t", "args": {}, "line": 7}, "pol.never")
    assert event.identity()[-1] == {"tool": "t", "args": {}}


@pytest.mark.parametrize("error", [RuntimeError("boom"), KeyboardInterrupt])
def test_a_sink_that_raises_never_stops_the_run(error: type[BaseException] | BaseException) -> None:
    """`API-7`; an interruption by a person is no failure of a sink and goes on."""

    def sink(_event: TraceEvent) -> None:
        raise error

    trace = Trace(sink)
    if isinstance(error, Exception):
        trace.log(1, "INFO", "x")
    else:
        with pytest.raises(KeyboardInterrupt):
            trace.log(1, "INFO", "x")
    assert [event.text for event in trace.events] == ["x"]


def test_echo_prints_each_line_as_it_comes(capsys: pytest.CaptureFixture[str]) -> None:
    """`API-7`."""
    trace = Trace()
    trace.echo = True
    trace.say(1, "INFO", "loop.until")
    assert capsys.readouterr().out == trace.line(trace.events[0]) + "\n"
    heard: list[str] = []
    trace.echo = heard.append
    trace.log(1, "INFO", "x")
    assert heard == ["│ • x"]


def test_events_can_be_picked_by_kind() -> None:
    """`API-7`."""
    trace = Trace()
    for kind in ("INFO", "ERROR", "INFO", "ASK"):
        trace.log(1, kind, kind)
    assert [event.text for event in trace.of_kind("INFO", "ASK")] == ["INFO", "INFO", "ASK"]


def test_an_error_of_the_package_is_kept_by_code_one_from_outside_by_text() -> None:
    """`DUR-9`, `MSG-5`."""
    inner = failure(EvalError(code="eval.not_numeric", value="x", line=3))
    assert inner == {
        "error_type": "EvalError",
        "error_code": "eval.not_numeric",
        "error_values": {"value": "x"},
        "line": 3,
    }
    assert failure(ValueError("nope"), crossed=True) == {"error_type": "ValueError", "error_text": "nope"}


def test_the_line_of_an_error_is_shown_and_is_no_part_of_a_digest() -> None:
    """`DUR-9`, `TRC-3`: people read where it happened; another layout of the program changes nothing."""
    shown, identities = [], []
    for line in (3, 8):
        trace = Trace()
        error = EvalError(code="eval.not_numeric", value="x", line=line)
        trace.say(1, "ERROR", "stm.set_failed", {"path": "y", **failure(error)})
        shown.append(trace.events[0].text + trace.events[0].detail)
        identities.append(trace.events[0].identity())
    assert "3" in shown[0]
    assert "8" in shown[1]
    assert "{line}" not in shown[0]
    assert identities[0] == identities[1]


def test_an_error_that_cannot_print_itself_is_still_reported() -> None:
    """`EVA-13`: reporting a failure must not be another one."""

    class Mute(Exception):
        def __str__(self) -> str:
            raise ValueError

    assert failure(Mute()) == {"error_type": "Mute", "error_text": ""}


def test_what_an_event_shows_is_what_was_true_then() -> None:
    """`TRC-1`: a list that grows later does not change an older event."""
    records = [{"a": 1}]
    kept = frozen(records)
    records.append({"a": 2})
    records[0]["a"] = 9
    assert kept == [{"a": 1}]


def test_french_and_english_name_the_same_values() -> None:
    """`MSG-1`, for the texts of this area."""
    import string

    for code, (french, english) in TEXTS.items():
        names = [
            {field for _, field, _, _ in string.Formatter().parse(text) if field}
            for text in (french, english)
        ]
        assert names[0] == names[1], code
