"""Whole traces, character for character: what a person reads of a run (`TRC-1` to `TRC-3`)."""

from __future__ import annotations

from typing import Any

from agentl.errors import NotExecuted
from agentl.kernel.approval import Approval
from agentl.messages import set_language
from agentl.reasoning import MockLLM
from agentl.runtime.handlers import Envelope
from agentl.values import Symbol
from tests.support.running import World, run, start

GREENHOUSE = """
  GOAL climate { MAINTAIN soil.moisture >= 30 WEIGHT 2 }
  OBSERVE { soil.moisture ON UNKNOWN DEGRADE 30, valve.state, tank.level }
  MEMORY { LONG_TERM log
    WRITE { WHEN valve.state == open STORE { valve.state, soil.moisture } INTO LONG_TERM.log } }
  TOOL open_valve {
    INPUT { zone: Symbol, minutes: Int } OUTPUT { opened: Bool }
    RISK MEDIUM SIDE_EFFECT { valve } EFFECT { valve.state = open } REQUIRES valve.state == closed
  }
  POLICY {
    DEFAULT DENY
    NEVER open_valve WHEN tank.level < 5
    ALLOW open_valve IF minutes <= 20
    REQUIRE APPROVAL FOR open_valve WHEN minutes > 5
  }
  PLAN water WHEN soil.moisture < 30 {
    STEP irrigate { open_valve(zone: north, minutes: 10) }
    STEP confirm { VERIFY { valve.state == open ON FAIL { RETRY 1 FROM START ESCALATE } } }
  }
  LOOP UNTIL soil.moisture >= 30 MAX 4 {
    OBSERVE UPDATE_BELIEFS SELECT_PLAN EXECUTE EVALUATE_GOALS UPDATE_MEMORY
  }
"""

GREENHOUSE_TRACE = """
┌─ tick 1 ───────────────────────────────────────────
│ 👁 soil.moisture = 20.5
│ 👁 valve.state = closed
│ 👁 tank.level = 50
│ ▶ plan water queued   [WHEN true]
│ ▶ plan water
│   · STEP irrigate
│ ◆ valve.state → closed   [re-perception]
│ 🙋 open_valve(zone=north, minutes=10) waiting for approval   [approval required (line 14)]
│ 🙋 open_valve(zone=north, minutes=10) approved   [by ann]
│ • open_valve: undeclared outputs dropped   [litres]
│ 🔧 open_valve(zone=north, minutes=10)   [risk=MEDIUM → {'opened': True}]
│   · STEP confirm
│ ◆ valve.state → open   [re-perception]
│ ✅ valve.state == open
│ ◎ climate score=0.00   [maintain]
│ 💾 LONG_TERM.log ← valve.state=open, soil.moisture=20.5

┌─ tick 2 ───────────────────────────────────────────
│ 👁 soil.moisture = 40
│ 👁 valve.state = open
│ 👁 tank.level = 50
│ ◆ soil.moisture: 20.5 → 40
│ ◎ climate score=1.00   [maintain]
│ 💾 LONG_TERM.log ← valve.state=open, soil.moisture=40
│ • stop condition reached (LOOP UNTIL)
└────────────────────────────────────────────────────"""


def greenhouse() -> World:
    """Opening the valve waters the soil."""
    world = (
        World().sensor("soil.moisture", 20.5).sensor("valve.state", Symbol("closed")).sensor("tank.level", 50)
    )

    def open_valve(zone: Any, minutes: int) -> dict[str, Any]:
        world.readings["valve.state"] = Symbol("open")
        world.readings["soil.moisture"] = 40
        return {"opened": True, "litres": 3}

    world.tool("open_valve", open_valve)
    world.host.approver = lambda request: Approval("yes", "ann")
    return world


def test_a_greenhouse_from_dry_to_wet() -> None:
    """`TRC-1`, `TRC-2`, `TRC-3`: sensors, a plan, an approval, a re-perception, memory, the end."""
    set_language("en")
    runtime = run(GREENHOUSE, greenhouse().host, ticks=4)
    assert runtime.trace.render() == GREENHOUSE_TRACE
    assert runtime.ended == "until"


def test_the_same_run_without_anybody_who_approves() -> None:
    """`TRC-3`: a refusal, a failed check, one retry from the start, an escalation."""
    set_language("en")
    world = greenhouse()
    world.host.approver = None
    runtime = run(GREENHOUSE, world.host)
    attempt = """│   · STEP irrigate
│ ◆ valve.state → closed   [re-perception]
│ 🙋 open_valve(zone=north, minutes=10) waiting for approval   [approval required (line 14)]
│ ⛔ open_valve(zone=north, minutes=10): approval denied   [approval required (line 14)]
│   · STEP confirm
│ ◆ valve.state → closed   [re-perception]
│ ❌ valve.state == open
"""
    assert runtime.trace.render() == (
        """
┌─ tick 1 ───────────────────────────────────────────
│ 👁 soil.moisture = 20.5
│ 👁 valve.state = closed
│ 👁 tank.level = 50
│ ▶ plan water queued   [WHEN true]
│ ▶ plan water
"""
        + attempt
        + """│ ↻ plan water, retry 1/1   [from STEP irrigate]
│ ▶ plan water   [attempt 2]
"""
        + attempt
        + """│ ❓ escalation to the operator
│ ◎ climate score=0.00   [maintain]
└────────────────────────────────────────────────────"""
    )


DESK = """
  BELIEF { budget: 100 }
  TOOL pay { INPUT { amount: Number, to: Symbol } OUTPUT { ref: String } RISK HIGH }
  TOOL mail { SIDE_EFFECT { outbox } }
  POLICY { DEFAULT ALLOW NEVER pay WHEN amount > budget }
  EVENT invoice { pay(amount: payload.amount, to: payload.to) }
  ON MESSAGE hello { ASK boss { QUESTION "answer?" REASON "politeness" DEFAULT later } }
  DECIDE { REASON "what next" { PRODUCE { urgency: Number IN [0, 10], mood: Symbol } } }
  PLAN tell {
    FOREACH who IN [ann, bob, eve] MAX 2 { mail(to: who) }
    SET budget budget - 10
    DELEGATE clerk { TASK "file it" INPUT { budget } EXPECT { folder } }
    MESSAGE done { BROADCAST }
    ROLLBACK
  }
"""

DESK_TRACE = """
┌─ tick 1 ───────────────────────────────────────────
│ ✉ hello ← desk   [text=hi]
│ ❓ boss : answer?   [politeness]
│ ❓ answer: later   [boss]
│ ⚡ event invoice   [amount=30, to=ann]
│ 🔧 pay(amount=30, to=ann)   [risk=HIGH → {'ref': r1}]
│ ⚡ event invoice   [amount=300, to=eve]
│ ⛔ pay(amount=300, to=eve) refused   [forbidden by NEVER pay (line 5)]
│ ⚡ event fire without handler
│ ⛔ urgency out of domain   [12 not in [0, 10] → UNDEFINED]
│ 🧠 REASON « what next »   [urgency=UNDEFINED, mood=calm]
│ 🧠 plan chosen: tell
│ ▶ plan tell queued   [chosen by the model]
│ ▶ plan tell
│   · STEP main
│ • FOREACH who: 3 item(s)
│ • FOREACH cut: 3 item(s), MAX 2
│ 🔧 mail(to=ann)   [risk=LOW → {}]
│ ‼ mail failed   [OSError: line cut, 1 failure(s) in a row]
│ ‼ the effect of mail is in doubt   [run:T:t1:a3]
│ • SET budget = 90
│ → clerk ← « file it »
│ → clerk → folder=blue
│ ✉ message done to * not delivered   [no society]
│ • ROLLBACK asked: no effect is undone automatically
└────────────────────────────────────────────────────"""


def test_a_desk_with_events_messages_a_model_and_a_doubt() -> None:
    """`TRC-3`: nearly every kind of line, in one tick."""
    set_language("en")
    world = World().tool("pay", {"ref": "r1"})
    mails = iter([{}, OSError("line cut")])
    world.tool("mail", lambda to: next(mails))
    world.host.subagent("clerk")(lambda payload: {"folder": Symbol("blue")})
    for amount, to in ((30, "ann"), (300, "eve")):
        world.host.emit("invoice", amount=amount, to=Symbol(to))
    world.host.emit("fire")
    runtime = start(DESK, world.host, MockLLM({"next": {"urgency": 12, "mood": "calm"}}))
    runtime.inbox.append(Envelope("hello", "desk", {"text": "hi"}))
    runtime.run(1)
    assert runtime.trace.render() == DESK_TRACE


def test_failures_and_the_open_circuit() -> None:
    """`TRC-3`, in French, the default."""
    world = World().tool("t", NotExecuted("hors service"))
    runtime = run("TOOL t { } LOOP MAX 9 { t(n: 1) }", world.host, ticks=2, tool_breaker=1)
    assert (
        runtime.trace.render()
        == """
┌─ tick 1 ───────────────────────────────────────────
│ ‼ t a échoué   [NotExecuted: hors service, 1 échec(s) de suite]

┌─ tick 2 ───────────────────────────────────────────
│ ⛔ t(n=1) non tentée : circuit ouvert   [1 échec(s), prochain essai dans 4 tick(s)]
└────────────────────────────────────────────────────"""
    )
