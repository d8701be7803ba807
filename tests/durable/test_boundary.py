"""What crosses a durable boundary comes back the same on a resume, whatever a host gives or raises."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from agentl import Host, MockLLM, Symbol, parse_source
from agentl.durable import DurableRun, MemoryStore
from agentl.errors import PermitError, StoreFailure
from agentl.kernel import current_action
from agentl.language.nodes import Agent

PROGRAM = """
AGENT a {
  OBSERVE { go }
  TOOL act { INPUT { n: Number } OUTPUT { ok: %s } SIDE_EFFECT { acc } RISK HIGH }
  POLICY { DEFAULT ALLOW %s }
  PLAN p WHEN tools.act.calls < 2 { act(n: 1) }
  LOOP MAX 2 {}
}
"""


class Death(BaseException):
    """The process dies here."""


class Alike:
    """Two of these are two keys; in print they are one."""

    def __repr__(self) -> str:
        return "alike"


def agent(policy: str = "", output: str = "Bool") -> Agent:
    return parse_source(PROGRAM % (output, policy)).agents[0]


def host_of(act: Callable[[Any], Any], **promises: Any) -> Host:
    host = Host()
    host.sensor("go")(lambda: Symbol("yes"))
    host.tool("act", **promises)(lambda n: act(n))
    return host


def ran(program: Agent, host: Host, store: MemoryStore, **options: Any) -> DurableRun:
    run = DurableRun(program, host, options.pop("llm", MockLLM()), store=store, run_id="r1", **options)
    run.run()
    return run


def twice(program: Agent, make: Callable[[], Host], **options: Any) -> DurableRun:
    """A run, and the same run re-derived from its journal with a host that starts anew."""
    store = MemoryStore()
    first = ran(program, make(), store, **options)
    second = ran(program, make(), store, **options)
    assert second.already_completed
    assert second.trace_text() == first.trace_text()
    return first


MERGING: dict[str, Callable[[], Any]] = {
    "keys": lambda: {math.nan: 1, float("nan"): 2},
    "items": lambda: {math.nan, float("nan")},
    "inside": lambda: {"ok": True, "more": [{math.nan: 1, float("nan"): 2}]},
    "foreign": lambda: {Alike(): 1, Alike(): 2},
    "large": lambda: 10**6000,
}


@pytest.mark.parametrize("value", MERGING.values(), ids=MERGING.keys())
def test_parts_that_read_back_as_one_are_opaque(value: Callable[[], Any]) -> None:
    """`ENC-2`, `ENC-5`, `ENC-6`: no reading stops the resume, and a result of that kind is in doubt."""

    def sensing() -> Host:
        host = host_of(lambda n: {"ok": True})
        host.sensor("go")(value)
        return host

    twice(agent(), sensing)
    run = twice(agent(), lambda: host_of(lambda n: value()))
    assert run.runtime.state.world["tools.act.in_doubt"] is True


def test_a_number_too_large_for_the_journal_is_opaque_live_too() -> None:
    """`ENC-5`: the first run judges what the second will read."""
    run = twice(agent(output="Number"), lambda: host_of(lambda n: {"ok": 10**6000}))
    assert run.runtime.state.world["tools.act.in_doubt"] is True


def test_an_approver_may_raise_anything() -> None:
    """`KRN-3`, `DUR-7`: a refusal by a raise of any class is on record, and not asked again."""

    def make() -> Host:
        def approve(request: Any) -> Any:
            raise Death("gone")

        host = host_of(lambda n: {"ok": True})
        host.approver = approve
        return host

    run = twice(agent("REQUIRE APPROVAL FOR act"), make)
    assert run.runtime.metrics["blocked"] == 2


def test_what_a_model_says_it_missed_may_be_nonsense() -> None:
    """`LLM-1`, `RPL-4`: nothing that an adapter leaves behind breaks the record of its answer."""
    program = parse_source(
        "AGENT a { BELIEF { b = 1 } LOOP MAX 1 {} "
        'PLAN p WHEN b == 1 { REASON "x" { PRODUCE { k: Number } } } }'
    ).agents[0]

    class Model(MockLLM):
        last_reason_missing: Any = 5

        def reason(self, task: str, context: Any, schema: Any) -> Any:
            return {"k": 1}

    run = twice(program, Host, llm=Model())
    assert run.runtime.state.locals["reason.k"] == 1


def test_one_listing_delivers_an_event_once() -> None:
    """`DUR-12`: a queue that shows an event twice is not believed twice."""

    class Queue(Host):
        def pending(self) -> list[dict[str, Any]]:
            return [{"id": "7", "source": "e", "payload": {}}] * 2

    program = parse_source("AGENT a { BELIEF { n = 0 } EVENT e { SET n = n + 1 } LOOP MAX 2 {} }").agents[0]
    assert twice(program, Queue).runtime.state.get("n") == 1


def test_a_changed_promise_of_a_waiting_intent_is_reported() -> None:
    """`RES-9`: what the intent records counts, although `open` recorded what is promised now."""
    store = MemoryStore()

    def death(n: Any = None) -> Any:
        raise Death

    mute = host_of(death)
    mute.sensor("go")(death)
    for host in (mute, host_of(death, idempotent=True)):
        with pytest.raises(Death):
            ran(agent(), host, store)
    run = DurableRun(agent(), host_of(lambda n: {"ok": True}), MockLLM(), store=store, run_id="r1")
    assert run.promise_changes == [("act", ("idempotent",), ())]
    run.close()


def test_nobody_reading_the_trace_changes_nothing() -> None:
    """`API-7`, `KRN-3`: a line that cannot be printed is no refusal of the action it speaks about."""

    def closed(line: str) -> None:
        raise BrokenPipeError

    def make() -> Host:
        host = host_of(lambda n: {"ok": True})
        host.approver = lambda request: "yes"
        return host

    run = twice(agent("REQUIRE APPROVAL FOR act"), make, echo=closed)
    assert run.runtime.metrics["tool_calls"] == 2


@pytest.mark.parametrize("crossing", ["call", "read", "ask"])
def test_nothing_crosses_from_inside_a_running_action(crossing: str) -> None:
    """`DUR-5`, `KRN-14`: a served action does not run, so what it asked for inside would be missing."""
    store = MemoryStore()
    runs: list[DurableRun] = []

    def act(n: Any) -> Any:
        assert current_action() is not None
        runtime = runs[-1].runtime
        if crossing == "call":
            runtime.call_tool("act", {"n": 2})
        elif crossing == "read":
            runtime.host.read("go")
        else:
            runtime.host.ask("well?")
        return {"ok": True}

    for _ in range(2):
        run = DurableRun(agent(), host_of(act, idempotent=True), MockLLM(), store=store, run_id="r1")
        runs.append(run)
        with pytest.raises(PermitError) as refused:
            run.run()
        assert refused.value.code == "permit.nested"
    kinds = [entry.kind for entry in run.journal.entries]
    assert kinds == ["open", "read", "drain", "intent", "resume", "resolution"]


@pytest.mark.parametrize("kind", ["read", "drain", "approve", "ask", "intent", "invoke"])
@pytest.mark.parametrize("raised", [MemoryError, RecursionError, Death])
def test_a_write_that_breaks_off_ends_the_run(kind: str, raised: type[BaseException]) -> None:
    """`DRF-3`, `DUR-8`: it is no answer of a sensor or a person, and nothing is chained behind the gap."""

    class Failing(MemoryStore):
        armed = True

        def append(self, raw: bytes, epoch: int, *, sync: bool) -> None:
            if self.armed and f'"kind":"{kind}"'.encode() in raw:
                raise raised
            super().append(raw, epoch, sync=sync)

    program = parse_source(
        PROGRAM.replace("act(n: 1)", 'ASK boss { QUESTION "go on?" } act(n: 1)')
        % ("Bool", "REQUIRE APPROVAL FOR act")
    ).agents[0]

    def make() -> Host:
        host = host_of(lambda n: {"ok": True}, idempotent=True)
        host.approver = lambda request: "yes"
        return host

    store = Failing()
    with pytest.raises((StoreFailure, raised)):
        ran(program, make(), store)
    store.armed = False
    assert ran(program, make(), store).runtime.metrics["tool_calls"] == 2
