"""Messages and events: who gets them, what they bind, and what they never mask."""

from __future__ import annotations

from typing import Any

import pytest

from agentl.errors import Cancelled
from agentl.host import Host
from agentl.labels import OBSERVED_LABEL
from agentl.runtime.handlers import Envelope
from tests.support.running import World, codes, events, label, run, start, texts


def test_messages_are_taken_in_order_and_their_handlers_run() -> None:
    """`TCK-5`: received with its form, filtered by WHEN, ignored without handler."""
    runtime = start(
        """ON MESSAGE offer { WHEN price < 10, best = price }
        ON MESSAGE offer { WHEN price >= 10, high = price }"""
    )
    runtime.inbox.append(Envelope("offer", "shop", {"price": 7}))
    runtime.inbox.append(Envelope("hello", "shop", {}))
    runtime.run(1)
    assert codes(runtime, "MESSAGE") == ["message.received", "message.filtered", "message.ignored"]
    assert texts(runtime, "MESSAGE")[0] == "offer ← shop [price=7]"
    assert (runtime.state.get("best"), bool(runtime.state.get("high"))) == (7, False)
    assert label(runtime, "best") == ("DECLARED", "MESSAGE")
    assert runtime.metrics["messages_received"] == 2


def test_a_filtered_message_leaves_nothing_behind() -> None:
    """`TCK-5`: locals, untrusted names and labels are restored exactly."""
    runtime = start("ON MESSAGE offer { WHEN price > 10, x = 1 }")
    runtime.state.set_untrusted("price", 99, OBSERVED_LABEL)
    runtime.inbox.append(Envelope("offer", "shop", {"price": 7, "other": 1}))
    before = (dict(runtime.state.locals), dict(runtime.state.untrusted), dict(runtime.state.labels))
    runtime.phase_receive()
    assert (runtime.state.locals, runtime.state.untrusted, runtime.state.labels) == before


def test_a_payload_lasts_for_the_rest_of_the_tick() -> None:
    """`TCK-6`: a queued plan still reads it; the next tick does not."""
    host = Host()
    host.emit("door", who="ann")
    runtime = run(
        "EVENT door { greet } PLAN greet { seen = payload.who from = event.source bare = who }", host
    )
    state = runtime.state
    assert [state.get(name) for name in ("seen", "from", "bare")] == ["ann", "door", "ann"]
    assert label(runtime, "seen") == ("EVENT", "RUNTIME")
    assert not any(name in state.locals for name in ("payload", "event"))
    assert "who" not in state.untrusted


def test_the_envelope_belongs_to_the_runtime_and_its_fields_to_the_sender() -> None:
    """`TCK-6`, `PRV-6`: MESSAGE joined with the labels of the field; the whole has all of them."""
    runtime = start("ON MESSAGE m { a = sure b = payload c = message.name }")
    runtime.inbox.append(Envelope("m", "x", {"sure": 1, "loose": 2}, {"sure": OBSERVED_LABEL}))
    runtime.run(1)
    assert label(runtime, "a") == ("MESSAGE", "OBSERVED")
    assert label(runtime, "b") == ("MESSAGE", "OBSERVED", "UNKNOWN")
    assert label(runtime, "c") == ("MESSAGE", "RUNTIME")


def test_a_payload_never_masks_what_is_known() -> None:
    """`TCK-6`, `INV-4`: the known value answers, the received one is read as payload.k."""
    host = World().sensor("limit.max", 5).host
    host.emit("door", **{"limit.max": 500, "level": 9})
    runtime = run("OBSERVE limit.max BELIEF { level: 1 } EVENT door { a = level b = payload.level }", host)
    masked = events(runtime, "payload.masked")[0]
    assert masked.values["keys"] == ["limit.max", "level"]
    assert masked.values["holder"] == "event"
    assert "payload.level" in masked.detail
    assert (runtime.state.get("a"), runtime.state.get("b"), runtime.state.get("limit.max")) == (1, 9, 5)


def test_events_go_to_every_handler_of_exactly_their_source() -> None:
    """`TCK-10`: handled, filtered by WHEN, without handler."""
    host = Host()
    host.emit("door.front", n=1)
    host.emit("door", n=2)
    runtime = run("EVENT door.front { a = n } EVENT door.front { WHEN n > 5, b = n }", host)
    assert codes(runtime, "EVENT") == ["event.handled", "event.filtered", "event.unhandled"]
    assert host.pending() == []
    assert runtime.state.get("a") == 1


class Queue(Host):
    """A host with a queue of its own."""

    def __init__(self, waiting: Any) -> None:
        super().__init__()
        self.waiting = waiting
        self.acknowledged: list[Any] = []

    def pending(self) -> Any:
        if isinstance(self.waiting, BaseException):
            raise self.waiting
        return self.waiting

    def acknowledge(self, ids: Any) -> None:
        self.acknowledged.extend(ids)


@pytest.mark.parametrize(
    ("waiting", "code"),
    [
        (OSError("down"), "event.queue_failed"),
        ({"id": 1}, "event.queue_malformed"),
        (None, "event.queue_malformed"),
        ([3], "event.queue_malformed"),
        ([{"id": 1, "source": "door", "payload": [1]}], "event.queue_malformed"),
    ],
)
def test_a_broken_queue_gives_no_event(waiting: Any, code: str) -> None:
    """`TCK-14`: traced, and the tick goes on."""
    runtime = run("EVENT door { x = 1 } GOAL g { x == 1 }", Queue(waiting))
    assert codes(runtime, "ERROR") == [code]
    assert "goal.score" in codes(runtime)


def test_events_are_read_then_acknowledged() -> None:
    """`TCK-14`, `HST-6`."""
    host = Queue([{"id": "e1", "source": "door", "payload": {}}])
    run("EVENT door { x = 1 }", host)
    assert host.acknowledged == ["e1"]


def test_an_interruption_is_no_broken_queue() -> None:
    """`KRN-15`."""
    with pytest.raises(Cancelled):
        run("EVENT door { x = 1 }", Queue(Cancelled()))


def test_a_message_without_a_society_is_not_delivered() -> None:
    """`STM-11`; a payload that cannot be evaluated sends nothing (`EVA-13`)."""
    runtime = run(
        'LOOP MAX 1 { MESSAGE hi { TO bob PAYLOAD { n: 1 } } MESSAGE hi { TO bob PAYLOAD { n: "x" - 1 } } }'
    )
    assert codes(runtime, "MESSAGE") == ["message.undelivered"]
    assert codes(runtime, "ERROR") == ["eval.value"]
    assert runtime.metrics["messages_sent"] == 0


def test_a_filtered_message_does_not_keep_an_earlier_one_alive() -> None:
    """`TCK-6`, `TCK-5`: whatever is filtered in between, the payload is gone after its tick."""
    runtime = start("ON MESSAGE offer { WHEN price < 10, best = price }")
    runtime.inbox.extend([Envelope("offer", "a", {"price": 7}), Envelope("offer", "b", {"price": 80})])
    runtime.run(1)
    assert runtime.state.get("best") == 7
    assert "price" not in runtime.state.untrusted
    assert "payload" not in runtime.state.locals


def test_what_a_tool_gave_under_the_name_of_a_field_stays() -> None:
    """`TCK-6`, `TOL-5`: only what the payload bound ends with the tick."""
    world = World().tool("t", {"n": 7})
    world.host.emit("door", n=7)
    runtime = run("TOOL t { OUTPUT { n: Number } } EVENT door { t() }", world.host)
    assert runtime.state.untrusted["n"] == 7
    assert runtime.state.labels["untrusted", "n"].names == ("EVENT", "TOOL")


def test_field_names_that_are_no_text_are_read_as_text() -> None:
    """`TCK-6`: a queue may hold anything."""
    waiting = [{"id": 1, "source": "door", "payload": {1: "one"}}]
    assert run("EVENT door { x = payload }", Queue(waiting)).state.get("x") == {"1": "one"}


def test_a_filtered_event_answers_nothing_later_in_its_tick() -> None:
    """`TCK-10`, `TCK-5`: a plan does not read what no handler took."""
    host = Host()
    host.emit("door", n=3)
    runtime = run("EVENT door { WHEN n > 5, x = 1 } PLAN p WHEN n == 3 { y = 1 }", host)
    assert not runtime.state.get("y")


def test_a_field_of_an_event_is_labelled_wherever_it_is_read() -> None:
    """`TCK-6`, `PRV-6`: by a plan that no event queued, too."""
    host = Host()
    host.emit("door", n=3)
    runtime = run("EVENT door { x = 1 } PLAN p WHEN 1 == 1 { y = n }", host)
    assert label(runtime, "y") == ("DECLARED", "EVENT")
