"""Starting, resuming, extending, refusing, settling (`RES-1` to `RES-10`, `DRF-1`, `DRF-2`, `DUR-13`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentl import Host, MockLLM, Symbol, parse_source
from agentl.durable import (
    NOT_EXECUTED,
    DurableError,
    DurableJournal,
    DurableRun,
    FileStore,
    LeaseHeld,
    MemoryStore,
    StoreFailure,
    resolutions_of,
    settle,
    state_digest,
    survey,
)
from agentl.durable.digests import StateDigest, tolerant_bytes
from agentl.durable.lease import Lease
from agentl.errors import ReplayDivergence, RuntimeAgentError
from agentl.journal.chain import Chain
from agentl.journal.entry import finish, read_line
from agentl.replay import Journal, ReplayHost, ReplayLLM, verify_trace
from agentl.runtime.runtime import Runtime
from tests.durable.world import PROGRAM as EVERYTHING
from tests.durable.world import Died, Ledger, host_for, model

SOURCE = """
AGENT small {
  TOOL act { INPUT { n: Number } OUTPUT { ok: Symbol } SIDE_EFFECT { world.mark } RISK LOW }
  POLICY { DEFAULT ALLOW }
  OBSERVE { level }
  MEMORY { LONG_TERM { seen } WRITE { STORE { level } INTO LONG_TERM.seen } }
  PLAN go WHEN level > 0 { act(n: level) }
  LOOP UNTIL level > 90 MAX 4 { OBSERVE UPDATE_BELIEFS SELECT_PLAN EXECUTE UPDATE_MEMORY }
}
"""
PROGRAM = parse_source(SOURCE)


class World:
    """A host that counts, and can die inside its tool."""

    def __init__(self, level: float = 1, *, dies_at: int = 0, **promise: Any) -> None:
        self.calls = 0
        self.level = level
        self.host = Host()

        @self.host.sensor("level")
        def level_now() -> float:
            return self.level

        @self.host.tool("act", **promise)
        def act(n: float) -> dict[str, Any]:
            self.calls += 1
            if self.calls == dies_at:
                raise Died
            return {"ok": Symbol("yes")}


def run(store: Any, world: World, ticks: int | None = None, **more: Any) -> DurableRun:
    found = DurableRun(more.pop("program", PROGRAM), world.host, MockLLM({}), store=store, **more)
    found.run(ticks)
    return found


def interrupted(**promise: Any) -> MemoryStore:
    """A run that died inside its second action."""
    store = MemoryStore()
    with pytest.raises(Died):
        run(store, World(dies_at=2, **promise), run_id="r")
    return store


def kinds(store: MemoryStore) -> list[str]:
    return [read_line(line.encode()).kind for line in store.lines]


def rewritten(store: MemoryStore, change: Any) -> MemoryStore:
    """The same journal with every entry passed through ``change`` and the chain made again."""
    forged, chain = MemoryStore(), Chain()
    for line in store.lines:
        entry = read_line(line.encode())
        change(entry)
        canonical, opening = entry.composed()
        forged.lines.append(finish(opening, chain.add(canonical)).decode())
    return forged


# --- start, resume, extend ---------------------------------------------------------------------


def test_a_run_starts_ends_and_is_over() -> None:
    """RES-1, RES-2, DUR-10: open first, close last; the same call again calls nothing."""
    store, world = MemoryStore(), World()
    first = run(store, world)
    assert (first.resumed, first.status, first.ended, world.calls) == (False, "completed", "limit", 4)
    assert (kinds(store)[0], kinds(store)[-1], kinds(store).count("checkpoint")) == ("open", "close", 4)
    opened = read_line(store.lines[0].encode())
    assert opened.key == first.run_id
    assert len(first.run_id) == 12
    assert opened.args["max_ticks"] == 4
    lines = list(store.lines)
    second = run(store, world)
    assert (second.resumed, second.already_completed, second.status) == (True, True, "completed")
    assert (world.calls, store.lines) == (4, lines)
    assert second.trace_text() == first.trace_text()


def test_meta_repeats_the_chain_for_people() -> None:
    """DUR-10: run id, status, count, head, last tick; no truth of its own."""
    store = MemoryStore()
    found = run(store, World(), run_id="r")
    assert store.meta is not None
    assert {name: store.meta[name] for name in ("run_id", "status", "entries", "last_tick")} == {
        "run_id": "r",
        "status": "completed",
        "entries": len(store.lines),
        "last_tick": 4,
    }
    assert store.meta["head"] == found.journal.head
    store.meta = None
    assert run(store, World()).already_completed
    store.meta = {"status": "completed", "entries": len(store.lines)}
    del store.lines[-1]
    with pytest.raises(DurableError) as refused:
        run(store, World())
    assert refused.value.code == "durable.cut_tail"
    assert survey_code(store) == "durable.cut_tail"


def survey_code(store: Any) -> str:
    with pytest.raises(DurableError) as refused:
        survey(store)
    return refused.value.code


def test_a_larger_limit_extends_and_nothing_else_does() -> None:
    """RES-2, RES-3: `extend` after `close`, then on; smaller or equal finds it completed."""
    store, world = MemoryStore(), World()
    run(store, world, 2)
    assert run(store, world, 1).already_completed
    assert run(store, world, 2).already_completed
    assert world.calls == 2
    longer = run(store, world, 5)
    assert (world.calls, longer.status, longer.already_completed) == (5, "completed", False)
    at = kinds(store).index("extend")
    assert kinds(store)[at - 1 : at + 2] == ["close", "extend", "resume"]
    assert run(store, world).trace_text() == longer.trace_text()
    straight = run(MemoryStore(), World(), 5, run_id=longer.run_id)
    assert straight.trace_text() == longer.trace_text()
    done = MemoryStore()
    run(done, World(level=95))
    assert run(done, World(level=95), 9).already_completed, "ended by UNTIL"


def test_a_killed_extension_is_resumed() -> None:
    """RES-2: the limit of an unfinished extension is the stored one; another is refused."""
    store = MemoryStore()
    run(store, World(), 1, run_id="r")
    with pytest.raises(Died):
        run(store, World(dies_at=1, idempotent=True), 3)
    with pytest.raises(DurableError) as refused:
        run(store, World(), 4)
    assert refused.value.code == "durable.tick_limit"
    assert run(store, World(), 3).ended == "limit"
    assert run(store, World()).runtime.state.tick == 3


def test_another_limit_for_an_unfinished_run_is_refused() -> None:
    """RES-2, DRF-1, R11: the values are named; no entry is added."""
    store = interrupted(idempotent=True)
    lines = list(store.lines)
    with pytest.raises(DurableError) as refused:
        run(store, World(idempotent=True), 9)
    assert refused.value.values == {"stored": 4, "asked": 9}
    assert store.lines == lines
    assert run(store, World(idempotent=True), 4).status == "completed"


# --- refusals ------------------------------------------------------------------------------------


def test_a_changed_program_is_refused_and_a_changed_layout_is_not() -> None:
    """DRF-1, AST-7, R11: exact beginning; nothing executed; the refusal is kept for status."""
    store = interrupted(idempotent=True)
    world = World(idempotent=True)
    changed = parse_source(SOURCE.replace("level > 0", "level > 0.5"))
    with pytest.raises(DurableError) as refused:
        run(store, world, program=changed)
    assert str(refused.value).startswith("le programme a changé depuis le début de cette exécution")
    found = survey(store)
    assert (found.status, world.calls) == ("refused", 0)
    assert found.refusal is not None
    assert found.refusal["code"] == "durable.program_changed"
    assert found.refusal["message"] == str(refused.value)
    same = parse_source("/* note */\n" + SOURCE.replace("\n", "\n\n"))
    assert run(store, world, program=same).status == "completed"
    assert survey(store).refusal is None


def test_another_run_id_and_odd_run_ids_are_refused() -> None:
    """DRF-1, R58."""
    store = interrupted()
    with pytest.raises(DurableError) as refused:
        run(store, World(), run_id="other")
    assert refused.value.values == {"found": "r", "wanted": "other"}
    for odd in ("", " a", "a\0b", "a\nb", "\ud83d", "x" * 201, "\u202eabc"):
        with pytest.raises(DurableError) as refused:
            run(MemoryStore(), World(), run_id=odd)
        assert refused.value.code == "durable.run_id"


def test_a_store_without_leases_and_several_agents_are_refused() -> None:
    """STO-1; societies come later and say so before anything is written."""
    with pytest.raises(DurableError) as refused:
        DurableRun(PROGRAM, store=object())  # type: ignore[arg-type]
    assert refused.value.code == "durable.no_lease"
    store = MemoryStore()
    with pytest.raises(RuntimeAgentError):
        DurableRun([PROGRAM.agents[0], PROGRAM.agents[0]], store=store)
    assert store.lines == []


def test_a_second_driver_is_refused(tmp_path: Path) -> None:
    """STO-6, R64: while one run object holds it, no other gets it; the status says running."""
    first = DurableRun(PROGRAM, World().host, store=FileStore(tmp_path))
    with pytest.raises(LeaseHeld):
        DurableRun(PROGRAM, World().host, store=FileStore(tmp_path))
    assert survey(FileStore(tmp_path)).status == "running"
    first.close()
    with pytest.raises(DurableError):
        first.run()
    assert run(FileStore(tmp_path), World()).status == "completed"


def test_a_divergence_names_position_recorded_and_asked(tmp_path: Path) -> None:
    """RES-4, DRF-2, R10: another reading order stops before any effect; status is refused."""
    store = interrupted(idempotent=True)

    def other(entry: Any) -> None:
        if entry.kind == "read" and entry.seq < 2:
            entry.key = "elsewhere"

    forged, world = rewritten(store, other), World(idempotent=True)
    with pytest.raises(ReplayDivergence) as stopped:
        run(forged, world)
    assert str(stopped.value).startswith("reprise impossible au franchissement #1 ")
    assert "read:elsewhere" in str(stopped.value)
    assert "read:level" in str(stopped.value)
    assert (world.calls, survey(forged).status) == (0, "refused")


@pytest.mark.parametrize(
    ("field", "code"), [("hash", "durable.diverged_args"), ("action_id", "durable.diverged_intent")]
)
def test_an_intent_of_another_action_stops_the_resume(field: str, code: str) -> None:
    """RES-5, DRF-2."""

    def other(entry: Any) -> None:
        if entry.kind == "intent":
            entry.stored_args[field] = "x"

    world = World(idempotent=True)
    with pytest.raises(ReplayDivergence) as stopped:
        run(rewritten(interrupted(idempotent=True), other), world)
    assert stopped.value.code == code
    assert str(stopped.value).startswith("reprise impossible au franchissement #")
    assert world.calls == 0


def test_an_approval_for_other_arguments_stops_the_resume(tmp_path: Path) -> None:
    """RES-4, APR-6: « une approbation journalisée pour d'autres arguments »."""
    store = MemoryStore()
    DurableRun(EVERYTHING, host_for(Ledger(tmp_path / "l"), "plain"), model(), store=store, run_id="r").run(1)

    def other(entry: Any) -> None:
        if entry.kind == "approve":
            entry.stored_args["hash"] = "0" * 64

    forged = rewritten(store, other)
    with pytest.raises(ReplayDivergence) as stopped:
        DurableRun(EVERYTHING, host_for(Ledger(tmp_path / "m"), "plain"), model(), store=forged).run()
    assert stopped.value.code == "durable.diverged_args"
    assert str(stopped.value).startswith("reprise impossible au franchissement #")
    assert Ledger(tmp_path / "m").rows() == []


@pytest.mark.parametrize("kind", ["ask", "invoke", "delegate"])
def test_other_arguments_of_a_crossing_stop_the_resume(tmp_path: Path, kind: str) -> None:
    """RES-4: the arguments where they are journalled must be those re-derived."""
    store = MemoryStore()
    DurableRun(EVERYTHING, host_for(Ledger(tmp_path / "l"), "plain"), model(), store=store, run_id="r").run(1)

    def other(entry: Any) -> None:
        if entry.kind == kind:
            entry.stored_args = {"reason": "another"} if kind == "ask" else {"$dict": [["n", 1]]}

    with pytest.raises(ReplayDivergence) as stopped:
        DurableRun(
            EVERYTHING, host_for(Ledger(tmp_path / "m"), "plain"), model(), store=rewritten(store, other)
        ).run()
    assert stopped.value.code == "durable.diverged_args"
    assert Ledger(tmp_path / "m").rows() == []


def test_a_checkpoint_that_differs_stops_the_resume() -> None:
    """RES-7, DUR-9: something is not deterministic; the tick and the digest are named."""
    for part in ("state", "trace"):

        def other(entry: Any, part: str = part) -> None:
            if entry.kind == "checkpoint" and entry.key == "1":
                entry.stored_args[part] = "0" * 64

        with pytest.raises(ReplayDivergence) as stopped:
            run(rewritten(interrupted(idempotent=True), other), World(idempotent=True))
        assert stopped.value.code == "durable.checkpoint"
        assert (stopped.value.values["tick"], stopped.value.values["part"]) == (1, part)


def test_entries_that_are_never_derived_stop_the_end() -> None:
    """RES-8, RES-3: a run that would end earlier than its journal refuses to."""
    store = MemoryStore()
    run(store, World(), 3)

    def shorter(entry: Any) -> None:
        if entry.kind == "open":
            entry.stored_args["max_ticks"] = 2

    with pytest.raises(ReplayDivergence) as stopped:
        run(rewritten(store, shorter), World())
    assert stopped.value.code == "durable.incomplete"


def test_a_completed_run_can_ask_for_nothing_more() -> None:
    """RES-3: a boundary beyond the journal of a completed run is a divergence."""
    store = MemoryStore()
    found = DurableRun(PROGRAM, World().host, store=store)
    found.run(1)
    again = DurableRun(PROGRAM, World().host, store=store)
    journal = again.journal
    again.run()
    with pytest.raises(ReplayDivergence) as stopped:
        journal.crossing("read", "level", lambda: 1)
    assert stopped.value.code == "durable.completed"


def test_a_write_inside_the_prefix_is_refused() -> None:
    """DRF-2: nothing may be added before what is there is re-derived."""
    journal = DurableJournal.open(interrupted())
    with pytest.raises(ReplayDivergence) as stopped:
        journal.write("read", "x", sync=False)
    assert stopped.value.code == "durable.prefix_write"
    journal.release()


# --- settling ------------------------------------------------------------------------------------


def test_promises_that_changed_are_reported_and_not_used() -> None:
    """RES-9: idempotent now but not then: not called again."""
    store, world = interrupted(), World(idempotent=True)
    found = run(store, world)
    assert [(change.target, change.recorded, change.now) for change in found.promise_changes] == [
        ("act", (), ("idempotent",))
    ]
    assert [one["how"] for one in found.journal.resolutions] == ["in_doubt"]
    assert len(found.journal.in_doubt()) == 1
    assert found.runtime.state.get("tools.act.in_doubt") is True


def test_a_verdict_on_a_pending_action_decides_first() -> None:
    """RES-6, DCL-5: executed: its value is the result; not executed: called, one attempt on."""
    for executed in (True, False):
        store, world = interrupted(idempotent=True), World(idempotent=True)
        told = settle(store, "r:small:t2:a2", executed=executed, value={"ok": Symbol("yes")}, by="ann")
        assert (told["target"], told["executed"], survey(store).pending()) == ("act", executed, [])
        with pytest.raises(DurableError) as refused:
            settle(store, "r:small:t2:a2", executed=True)
        assert refused.value.code == "durable.not_settleable"
        found = run(store, world)
        assert world.calls == (2 if executed else 3)
        assert found.journal.in_doubt() == []
        assert run(store, world).trace_text() == found.trace_text()


@pytest.mark.parametrize("executed", [True, False])
def test_a_verdict_on_a_pending_action_leaves_no_doubt_of_its_own(executed: bool) -> None:
    """RES-6, TOL-8, RPL-6: executed without a fitting value is settled; in a replay of the export too."""
    store = interrupted()
    settle(store, "r:small:t2:a2", executed=executed, by="ann")
    world = World(dies_at=0 if executed else 1)
    if not executed:
        with pytest.raises(Died):
            run(store, world)
        world = World()
    found = run(store, world)
    assert found.runtime.state.get("tools.act.calls") == 4
    assert len(found.journal.in_doubt()) == (0 if executed else 1)
    assert found.runtime.state.get("tools.act.in_doubt") is not executed
    assert run(store, World()).trace_text() == found.trace_text()
    journal = found.export()
    again = Runtime(PROGRAM.agents[0], ReplayHost(journal), ReplayLLM(journal), run_id="r")
    again.run(4)
    assert verify_trace(journal, str(again.trace.render()))


def test_a_verdict_does_not_cover_a_second_interruption() -> None:
    """RES-6, DUR-2: settled as not executed, called again, killed again: unknown again."""
    store = interrupted()
    settle(store, "r:small:t2:a2", executed=False)
    with pytest.raises(Died):
        run(store, World(dies_at=1))
    assert [one["action_id"] for one in survey(store).pending()] == ["r:small:t2:a2"]
    world = World()
    found = run(store, world)
    assert [one["how"] for one in found.journal.resolutions] == ["in_doubt"]
    assert world.calls == 2, "ticks 3 and 4 only"


def test_a_verdict_on_a_doubt_takes_effect_at_the_next_tick() -> None:
    """RES-10, TOL-8: consumed where it stands, the same on every resume."""
    store = interrupted()
    with pytest.raises(Died):
        run(store, World(dies_at=1))
    with pytest.raises(DurableError):
        settle(store, "nobody", executed=True)
    settle(store, "r:small:t2:a2", executed=True, value={"ok": Symbol("yes")}, by="ann")
    found = run(store, World(idempotent=True))
    assert "ann" in found.trace_text()
    assert [one["how"] for one in resolutions_of(found.journal)][:2] == ["in_doubt", "verdict"]
    assert run(store, World()).trace_text() == found.trace_text()
    assert survey(store).in_doubt() == found.journal.in_doubt()


@pytest.mark.parametrize(
    ("answer", "how"), [({"ok": Symbol("yes")}, "reconciled"), (NOT_EXECUTED, "in_doubt")]
)
def test_after_a_lease_that_ended_by_time_a_reconcilers_no_is_not_believed(answer: Any, how: str) -> None:
    """STO-6, RES-6, R02: the old driver may still be inside its call, so only a yes stays true."""

    class Unsure(MemoryStore):
        def acquire(self, holder: str) -> Lease:
            lease = super().acquire(holder)
            return Lease(lease.epoch, holder, lease.since, (1,)) if self.lines else lease

    asked = []
    store = Unsure()
    for dies_at in (1, 0):
        world = World(dies_at=dies_at)

        @world.host.reconciler("act")
        def done(args: Any, context: Any) -> Any:
            asked.append(context.action_id)
            return answer

        if dies_at:
            with pytest.raises(Died):
                run(store, world, 1, run_id="r")
        else:
            found = run(store, world, 1)
    assert len(asked) == 1
    assert [one["how"] for one in found.journal.resolutions] == [how]


# --- crossings -----------------------------------------------------------------------------------


def test_an_event_given_again_is_acknowledged_and_not_delivered_twice() -> None:
    """DUR-12: journalled, then acknowledged; a crash between the two gives it again."""
    program = parse_source("AGENT e { EVENT ring { SET rang = payload.n } }")
    store = MemoryStore()

    class Queue(Host):
        acknowledged: list[str]
        dies = True

        def pending(self) -> list[dict[str, Any]]:
            return (
                [] if getattr(self, "gone", False) else [{"id": "1", "source": "ring", "payload": {"n": 5}}]
            )

        def acknowledge(self, ids: Any) -> None:
            if self.dies and not store.lines[-1].startswith("x"):
                raise Died
            self.gone = "1" in list(ids)

    queue = Queue()
    with pytest.raises(Died):
        DurableRun(program, queue, store=store, run_id="r").run(2)
    queue.dies = False
    found = DurableRun(program, queue, store=store)
    found.run()
    assert queue.gone
    assert sum(event.code == "event.handled" for event in found.runtime.trace.events) == 1


def test_an_event_whose_acknowledgement_fails_is_known_by_its_id() -> None:
    """DUR-12: on record is delivered; given again in the next tick it is only acknowledged."""
    program = parse_source("AGENT e { EVENT ring { SET rang = payload.n } }")

    class Queue(Host):
        told = 0

        def pending(self) -> list[dict[str, Any]]:
            event = {"id": "1", "source": "ring", "payload": {"n": 5}}
            return [] if self.told > 1 else [event]

        def acknowledge(self, ids: Any) -> None:
            self.told += bool(list(ids))
            if self.told == 1:
                raise OSError("the queue is away")

    store, queue = MemoryStore(), Queue()
    found = DurableRun(program, queue, store=store)
    found.run(3)
    assert queue.told == 2
    assert sum(event.code == "event.handled" for event in found.runtime.trace.events) == 1
    again = DurableRun(program, Queue(), store=store)
    again.run()
    assert again.trace_text() == found.trace_text()


def test_a_promise_withdrawn_by_one_resume_is_not_used_by_a_later_one() -> None:
    """RES-9: the driver that called in between did not honour the key, whatever the next one says."""
    store = interrupted(idempotent=True)
    settle(store, "r:small:t2:a2", executed=False)
    with pytest.raises(Died):
        run(store, World(dies_at=1))
    world = World(idempotent=True)
    found = run(store, world)
    assert [one["how"] for one in found.journal.resolutions] == ["in_doubt"]
    assert world.calls == 2
    assert run(store, world).trace_text() == found.trace_text()


def test_an_extension_shows_its_own_ticks_only() -> None:
    """DCL-1: the last re-derived tick has its checkpoint in the record and is not shown again."""
    store = MemoryStore()
    run(store, World(), 1)
    shown: list[str] = []
    run(store, World(), 2, echo=shown.append)
    assert [line.strip()[:9] for line in shown if "tick" in line] == ["┌─ tick 2"]


def test_errors_come_back_with_class_and_text_live_as_on_resume() -> None:
    """DUR-7, ENC-4, R81: the trace of a failing sensor is the same, in a process without the class."""

    class StrangeError(Exception):
        pass

    store, world = MemoryStore(), World()

    def fails() -> float:
        raise StrangeError("no wire")

    world.host.sensors["level"] = fails
    first = run(store, world, 2)
    assert "StrangeError: no wire" in first.trace_text()
    assert run(store, World()).trace_text() == first.trace_text()


def test_a_store_that_fails_ends_the_run_and_calls_nothing_after_it() -> None:
    """DRF-3: no tool failure, no further call; once there is room the run goes on."""

    class Full(MemoryStore):
        full = False

        def append(self, raw: bytes, epoch: int, *, sync: bool) -> None:
            if self.full and b'"intent"' in raw:
                raise StoreFailure(code="durable.store_failed", operation="append", cause="full")
            super().append(raw, epoch, sync=sync)

    store, world = Full(), World()
    store.full = True
    with pytest.raises(StoreFailure):
        run(store, world)
    assert world.calls == 0
    assert survey(store).status == "interrupted"
    store.full = False
    assert run(store, world).status == "completed"


def test_the_keyed_journal() -> None:
    """DUR-8, SEA-10: a run under a key is resumed, surveyed and settled with it, and with no other."""
    store = MemoryStore()
    with pytest.raises(Died):
        run(store, World(dies_at=1), run_id="r", key=b"secret")
    for key, code in ((None, "durable.key_missing"), (b"other", "durable.key_other")):
        with pytest.raises(DurableError) as refused:
            run(store, World(), key=key)
        assert refused.value.code == code
    settle(store, "r:small:t1:a1", executed=False, key="secret")
    assert run(store, World(), key="secret").status == "completed"
    assert survey(store, key=b"secret").status == "completed"


# --- digests, echo, export -----------------------------------------------------------------------


def test_the_incremental_digest_is_the_one_from_scratch() -> None:
    """DUR-9: keeping it up key by key gives what going over everything gives."""
    world = World()
    runtime = Runtime(PROGRAM.agents[0], world.host)
    kept = StateDigest(runtime)
    seen = []
    for tick in runtime.iter_ticks(4):
        world.level += tick
        seen.append(kept.value())
        assert seen[-1] == state_digest(runtime)
    assert len(dict.fromkeys(seen)) == 4
    runtime.state.set_world("level", 1, None)
    assert kept.value() != seen[-1]


def test_a_belief_counts_by_its_four_parts() -> None:
    """DUR-9: put together from the bytes of each, they are those of the whole."""
    runtime = Runtime(PROGRAM.agents[0], World().host)
    kept = StateDigest(runtime)
    reading = [{"a": 1}, 2.5]
    runtime.state.set_world("x", reading)
    runtime.state.set_belief("x", reading, 0.5, "observation", 1)
    parts = tolerant_bytes([reading, 0.5, "observation", 1])
    assert kept._content(runtime.state, "beliefs", "x") == tolerant_bytes(["UNKNOWN"]) + parts
    before = kept.value()
    reading.append(3)
    runtime.state.set_world("x", reading)
    assert kept.value() != before


def test_a_value_without_serial_form_counts_by_its_type() -> None:
    """DUR-9: never by its memory address."""
    digests = []
    for _ in range(2):
        runtime = Runtime(PROGRAM.agents[0], World().host)
        runtime.state.set_local("x", {"a": [object()]})
        runtime.state.set_belief("y", [object()])
        digests.append(StateDigest(runtime).value())
    assert digests[0] == digests[1]


def test_only_live_ticks_are_shown_on_a_resume() -> None:
    """DCL-1: no line of a re-derived tick; with echo_all every line."""
    store = interrupted(idempotent=True)
    shown: list[str] = []
    kept = MemoryStore()
    kept.lines = list(store.lines)
    found = run(store, World(idempotent=True), echo=shown.append)
    assert [line.strip()[:9] for line in shown if "tick" in line] == ["┌─ tick 2", "┌─ tick 3", "┌─ tick 4"]
    everything: list[str] = []
    run(kept, World(idempotent=True), echo=everything.append, echo_all=True)
    assert "\n".join(everything) in found.trace_text()


def test_a_listener_hears_of_opening_and_of_each_resolution() -> None:
    """DCL-1."""
    heard: list[Any] = []

    class Listener:
        def opened(self, run: DurableRun) -> None:
            heard.append((run.run_id, len(run.journal.entries), len(run.journal.pending())))

        def resolved(self, *what: str) -> None:
            heard.append(what)

    store = interrupted(idempotent=True)
    entries = len(store.lines)
    run(store, World(idempotent=True), listener=Listener())
    assert heard == [("r", entries, 1), ("act", "r:small:t2:a2", "retry")]


def test_a_completed_run_is_exported_and_replayed(tmp_path: Path) -> None:
    """RES-3, RPL-7, INV-7: the export replays to the same trace, with nothing called and nothing left."""
    store = MemoryStore()
    ledger = Ledger(tmp_path / "l")
    found = DurableRun(EVERYTHING, host_for(ledger, "plain"), model(), store=store, run_id="r")
    found.run(2)
    effects = len(ledger.rows())
    journal = Journal.loads(found.export().dumps())
    assert journal.chain_report.ok
    assert (journal.meta["run_id"], journal.meta["ticks"]) == ("r", 2)
    runtime = Runtime(
        EVERYTHING.agents[0], ReplayHost(journal), ReplayLLM(journal), run_id="r", program=EVERYTHING
    )
    runtime.run(2)
    assert verify_trace(journal, runtime.trace.render())
    assert journal.exhausted
    assert len(ledger.rows()) == effects
    with pytest.raises(DurableError):
        DurableRun(PROGRAM, World().host, store=MemoryStore()).export()


def test_the_lines_are_plain_json(tmp_path: Path) -> None:
    """DUR-3: one object per line, readable by anything."""
    run(FileStore(tmp_path), World(), run_id="r")
    entries = [json.loads(line) for line in (tmp_path / "wal.jsonl").read_text("utf-8").splitlines()]
    assert [entry["seq"] for entry in entries] == list(range(len(entries)))
    assert json.loads((tmp_path / "meta.json").read_text())["status"] == "completed"
