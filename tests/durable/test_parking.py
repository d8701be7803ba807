"""A run that waits for a person without a process (PRK-4 to PRK-7)."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agentl import Host, MockLLM, Symbol, parse_source
from agentl.durable import DurableRun, FileStore, MemoryStore, PostgresStore, SQLiteStore, survey
from agentl.durable.cancelling import cancel
from agentl.durable.requests import ANSWERED, APPROVED, DENIED, EXPIRED, WITHDRAWN, Decision, Filed, Request
from agentl.durable.stores.file import FileStore as Files
from agentl.errors import DurableError, KernelAbort, Parked, StoreFailure
from agentl.kernel.policy import PolicyEngine
from agentl.replay import ReplayHost, ReplayLLM, verify_trace
from agentl.runtime.runtime import Runtime

PROGRAM = """
AGENT pays {
  OBSERVE { invoice.amount, invoice.secret }
  TOOL transfer { INPUT { amount: Number, to: String } }
  TOOL note { INPUT { text: String } }
  POLICY { DEFAULT ALLOW  REQUIRE APPROVAL FOR transfer  NEVER SEND invoice.secret }
  PLAN pay WHEN tools.transfer.calls == 0 {
    REASON { TASK "how much" PRODUCE { amount: Int IN [1, 1000] DEFAULT 1 } }
    transfer(amount: reason.amount, to: invoice.secret)
  }
  PLAN tell WHEN tools.transfer.calls > 0 AND tools.note.calls == 0 { note(text: "paid") }
}
"""
ASKS = """
AGENT asks {
  TOOL note { INPUT { text: String } }
  POLICY { DEFAULT ALLOW }
  PLAN ask WHEN tools.note.calls == 0 {
    ASK boss { QUESTION "which colour?" REASON "taste" %s }
    IF answer == green THEN { note(text: "green") } ELSE { note(text: "other") }
  }
}
"""
START = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)


class World:
    """A place, a ledger, a clock and people, over any number of drivers."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind = kind
        self.folder = folder
        self.memory = MemoryStore()
        self.now = START
        self.effects: list[tuple[str, Any]] = []
        self.asked = 0
        self.amount = 10
        self.notices: list[Request] = []
        self.notify: Callable[[Request], Any] = self.notices.append
        self.dies: Callable[[str], None] = lambda _where: None
        self.source = PROGRAM
        self.dsn = ""

    def store(self) -> Any:
        if self.kind == "memory":
            self.memory.close()
            return self.memory
        if self.kind == "file":
            return FileStore(self.folder / "run")
        if self.kind == "postgres":
            return PostgresStore(self.dsn, "run-1")
        return SQLiteStore(self.folder / "runs.db", "run-1")

    @property
    def book(self) -> Any:
        return self.store().requests

    def host(self) -> Host:
        host = Host()
        host.now = lambda: self.now
        host.notifier = lambda request: self.notify(request)
        host.sensor("invoice.amount")(lambda: 10)
        host.sensor("invoice.secret")(lambda: "account-777")

        @host.tool("transfer", idempotent=True)
        def transfer(amount: float, to: str) -> dict[str, Any]:
            self.dies("before the effect")
            self.effects.append(("transfer", amount))
            self.dies("after the effect")
            return {}

        @host.tool("note", idempotent=True)
        def note(text: str) -> dict[str, Any]:
            self.effects.append(("note", text))
            return {}

        def never(*_anything: Any) -> Any:
            self.asked += 1
            return False

        host.approver = host.asker = never
        return host

    def drive(self, *, park: bool = True, **options: Any) -> DurableRun:
        store = options.pop("store", None) or self.store()
        run = DurableRun(
            parse_source(self.source),
            self.host(),
            MockLLM({"how much": {"amount": self.amount}}),
            store=store,
            run_id="run-1",
            park=park,
            **options,
        )
        self.run = run
        run.run(2)
        return run

    def parks(self, **options: Any) -> Filed:
        """Drive it, see it park, and give the request that it waits for."""
        with pytest.raises(Parked):
            self.drive(**options)
        assert self.run.status == "waiting"
        assert survey(self.store()).status == "waiting"
        (filed,) = self.book.all(open_only=True)
        return filed

    def decides(self, answer: str = APPROVED, by: str = "alice", **more: Any) -> Decision:
        (filed,) = self.book.all(open_only=True)
        at = self.now.isoformat(timespec="seconds")
        return self.book.decide(filed.request.request_id, Decision(answer, by, at, **more))

    def entries(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.store().load()[1]]

    def kinds(self) -> list[str]:
        return [entry["kind"] for entry in self.entries()]


@pytest.fixture(params=["memory", "file", "sqlite", "postgres"])
def world(request: pytest.FixtureRequest, quick_path: Path) -> World:
    found = World(request.param, quick_path)
    if request.param == "postgres":
        found.dsn = request.getfixturevalue("database")
    return found


def test_it_parks_and_goes_on_once(world: World) -> None:
    """PRK-4, PRK-6: nobody at the keyboard, nothing done; answered, done once; the host was never asked."""
    filed = world.parks()
    assert world.effects == []
    assert (filed.request.kind, filed.request.target) == ("approval", "transfer")
    assert filed.request.subject == "run-1:pays:t1:a1"
    assert filed.request.request_id == f"run-1:pays:t1:a1@{filed.request.digest[:16]}"
    assert filed.request.reason
    assert world.decides().answer == APPROVED
    run = world.drive()
    assert (run.status, run.ended) == ("completed", "limit")
    assert world.effects == [("transfer", 10), ("note", "paid")]
    assert world.drive().already_completed
    assert (len(world.effects), world.asked) == (2, 0)
    record = next(entry for entry in world.entries() if entry["kind"] == "approve")
    value = {"answer": "approved", "by": "alice", "at": "2030-01-02T03:04:05+00:00"}
    assert dict(record["value"]["$dict"]) == value
    assert record["args"]["hash"] == filed.request.digest


def test_found_open_it_writes_nothing(world: World) -> None:
    """PRK-4: however often it is run meanwhile, the journal stays as it is, byte for byte."""
    world.parks()
    lines = list(world.store().load()[1])
    meta = world.store().load()[0]
    assert json.loads(lines[-1])["kind"] == "park"
    assert meta["status"] == "waiting"
    for _ in range(3):
        world.parks()
        assert list(world.store().load()[1]) == lines
        assert world.store().load()[0] == meta
    assert len(world.book.all()) == 1


def test_all_that_led_to_the_question_is_durable(world: World) -> None:
    """PRK-4, DUR-6: the model's answer before the question is not asked for again."""
    first = world.parks()
    world.amount = 999
    again = world.parks()
    assert again == first
    world.decides()
    world.drive()
    assert world.effects[0] == ("transfer", 10)


@pytest.mark.parametrize(("answer", "recorded"), [(DENIED, "denied"), (EXPIRED, "expired")])
def test_any_other_answer_is_a_refusal_of_its_own_name(world: World, answer: str, recorded: str) -> None:
    """PRK-3, APR-6: denied and expired are two outcomes, and neither acts."""
    world.source = PROGRAM.replace("WHEN tools.transfer.calls == 0", "WHEN done != yes").replace(
        "transfer(amount: reason.amount, to: invoice.secret)",
        "SET done = yes transfer(amount: reason.amount, to: invoice.secret)",
    )
    filed = world.parks(answer_within=60.0)
    if answer == EXPIRED:
        world.now += timedelta(seconds=61)
    else:
        world.decides(answer)
    run = world.drive()
    assert run.status == "completed"
    assert world.effects == []
    record = next(entry for entry in world.entries() if entry["kind"] == "approve")
    assert dict(record["value"]["$dict"])["answer"] == recorded
    assert world.book.get(filed.request.request_id).state == answer
    codes = [event.code for event in run.runtime.trace.events]
    assert f"approval.{recorded}" in codes or f"apr.{recorded}" in codes


def test_expiry_stays_expiry_when_the_clock_goes_back(world: World) -> None:
    """PRK-3: recorded once, a jump of the clock revives nothing."""
    filed = world.parks(answer_within=60.0)
    assert filed.deadline == "2030-01-02T03:05:05+00:00"
    late = Decision(APPROVED, "alice", "2031-01-01T00:00:00+00:00")
    assert world.book.decide(filed.request.request_id, late).answer == EXPIRED
    world.now -= timedelta(days=1)
    assert (
        world.book.decide(
            filed.request.request_id, Decision(APPROVED, "alice", "2030-01-01T00:00:00Z")
        ).answer
        == EXPIRED
    )
    with pytest.raises(Parked):
        world.drive()  # the plan asks again in the second tick: another action, another request
    assert world.effects == []


def test_a_denied_action_of_the_next_tick_is_another_request(world: World) -> None:
    """PRK-2: an answer is for one action id; the next action is asked about anew."""
    first = world.parks()
    world.decides(DENIED)
    second = world.parks()
    assert second.request.digest == first.request.digest
    assert second.request.subject == "run-1:pays:t2:a2"
    world.decides()
    world.drive()
    assert world.effects == [("transfer", 10)]


def test_a_second_park_of_a_resumed_run_says_who_drives(world: World) -> None:
    """PRK-4, DUR-4: `resume` comes before the first entry that a new driver adds."""
    world.parks()
    world.decides(DENIED)
    world.parks()
    kinds = world.kinds()
    assert kinds.count("park") == 2
    assert kinds.count("resume") == 1
    assert kinds.index("resume") < kinds.index("approve")


# --- crash points ----------------------------------------------------------------------------


class Died(KernelAbort):
    """Stands for the death of the process."""


def dying_at(world: World, kind: str, when: str) -> Any:
    """A store whose process dies just before or after the entry of a kind."""
    store = world.store()
    append = store.append

    def deadly(raw: bytes, epoch: int, *, sync: bool) -> None:
        here = json.loads(raw)["kind"] == kind
        if here and when == "before":
            raise Died
        append(raw, epoch, sync=sync)
        if here and when == "after":
            raise Died

    store.append = deadly
    return store


def revive(store: Any) -> None:
    del store.append


def test_killed_between_the_entry_and_the_request(world: World) -> None:
    """PRK-4: the entry is there, the request is not: the next driver posts it, with the same deadline."""
    store = dying_at(world, "park", "after")
    with pytest.raises(KernelAbort):
        world.drive(store=store, answer_within=60.0)
    if world.kind == "memory":
        revive(store)
    assert world.book.all() == []
    assert world.kinds()[-1] == "park"
    world.now += timedelta(seconds=30)
    filed = world.parks(answer_within=60.0)
    assert filed.request.asked_at == "2030-01-02T03:04:05+00:00"
    assert filed.deadline == "2030-01-02T03:05:05+00:00"
    assert world.kinds().count("park") == 1


@pytest.mark.parametrize("kind", ["park", "approve", "intent", "invoke"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_at_any_entry_it_is_asked_once_and_done_once(world: World, kind: str, when: str) -> None:
    """PRK-6, R22: approved, killed before or after any entry, resumed: never asked again, never twice."""
    if kind != "park":
        world.parks()
        world.decides()
    store = dying_at(world, kind, when)
    with pytest.raises(KernelAbort):
        world.drive(store=store)
    if world.kind == "memory":
        revive(store)
    if kind == "park":
        world.parks()
        world.decides()
    world.drive()
    done = [effect for effect in world.effects if effect[0] == "transfer"]
    keys = 2 if (kind, when) == ("invoke", "before") else 1  # called again under the same key
    assert len(done) == keys
    assert len(world.book.all()) == 1
    assert world.kinds().count("approve") == 1
    assert world.asked == 0


def test_an_answer_that_comes_while_a_driver_starts_is_taken(world: World) -> None:
    """PRK-6: answered between the opening of the journal and the question."""
    world.parks()
    run = DurableRun(
        parse_source(world.source), world.host(), MockLLM({}), store=world.store(), run_id="run-1", park=True
    )
    (filed,) = run._store.requests.all(open_only=True)
    run._store.requests.decide(
        filed.request.request_id, Decision(APPROVED, "alice", "2030-01-02T03:04:06+00:00")
    )
    run.run(2)
    assert world.effects[0] == ("transfer", 10)


def test_an_answer_for_other_arguments_is_never_used(quick_path: Path) -> None:
    """PRK-2, PRK-5: the end of the journal was lost, the model answers otherwise: the old yes is not used."""
    world = World("memory", quick_path)
    first = world.parks()
    world.memory.lines = world.memory.lines[:1]
    world.memory.meta = None
    world.book.decide(first.request.request_id, Decision(APPROVED, "alice", "2030-01-02T03:04:05+00:00"))
    world.amount = 999
    second = world.parks()
    assert second.request.request_id != first.request.request_id
    assert dict(second.request.args)["amount"] == 999
    assert world.effects == []
    world.decides(DENIED)
    with pytest.raises(Parked):
        world.drive()
    assert world.effects == []


def test_the_old_question_is_withdrawn_and_never_taken_up_again(quick_path: Path) -> None:
    """PRK-5: one open request at a time; when the first arguments come back they are asked about anew."""
    world = World("memory", quick_path)
    first = world.parks()
    for amount, number in ((999, 2), (10, 3)):
        world.memory.lines = world.memory.lines[:1]
        world.memory.meta = None
        world.amount = amount
        (filed,) = [world.parks()]
        assert len(world.book.all()) == number
    assert world.book.get(first.request.request_id).state == WITHDRAWN
    assert filed.request.request_id == first.request.request_id + "~2"
    late = world.book.decide(first.request.request_id, Decision(APPROVED, "a", "2030-01-02T03:04:05+00:00"))
    assert (late.answer, late.by) == (WITHDRAWN, "run-1")
    world.parks()
    world.decides()
    world.drive()
    assert world.effects[0] == ("transfer", 10)


def test_other_arguments_behind_the_entry_withdraw_the_request(world: World, monkeypatch: Any) -> None:
    """PRK-5: the entry names other arguments than those derived now; nothing was done upon it."""
    first = world.parks()
    from agentl.kernel import gate

    real = gate.isolate

    def another(request: Any, kind: str, declared: Any) -> Any:
        if request.tool == "transfer":
            request.args["amount"] = 77
        return real(request, kind, declared)

    monkeypatch.setattr(gate, "isolate", another)
    second = world.parks()
    assert dict(second.request.args)["amount"] == 77
    assert world.book.get(first.request.request_id).state == WITHDRAWN
    assert world.kinds().count("park") == 2
    world.decides()
    world.drive()
    assert world.effects[0] == ("transfer", 77)


def test_a_policy_that_became_stricter_is_not_overruled(world: World, monkeypatch: Any) -> None:
    """PRK-6, APR-6: judged again, refused; the yes that came is not looked at."""
    filed = world.parks()
    world.decides()
    check = PolicyEngine.check

    def strict(self: Any, request: Any, state: Any) -> Any:
        found = check(self, request, state)
        return found._replace(verdict="DENIED", code="pol.deny") if request.tool == "transfer" else found

    monkeypatch.setattr(PolicyEngine, "check", strict)
    assert world.drive().status == "completed"
    assert world.effects == []
    assert world.book.get(filed.request.request_id).state == APPROVED
    assert "approve" not in world.kinds()


def test_a_question_that_is_not_asked_any_more_is_withdrawn(world: World, monkeypatch: Any) -> None:
    """PRK-5: at the end of a run nothing of it is open."""
    filed = world.parks()
    check = PolicyEngine.check

    def loose(self: Any, request: Any, state: Any) -> Any:
        return check(self, request, state)._replace(verdict="ALLOWED")

    monkeypatch.setattr(PolicyEngine, "check", loose)
    assert world.drive().status == "completed"
    assert world.book.get(filed.request.request_id).state == WITHDRAWN
    assert survey(world.store()).waiting == []


def test_once_posted_a_request_is_answered_there_and_nowhere_else(world: World) -> None:
    """PRK-4: the same run without `park` does not turn to the host for what waits."""
    world.parks()
    with pytest.raises(Parked):
        world.drive(park=False)
    assert world.asked == 0
    world.decides()
    assert world.drive(park=False).status == "completed"
    assert (world.asked, world.effects[0]) == (0, ("transfer", 10))


def test_without_park_nothing_is_posted(world: World) -> None:
    """PRK-4: people are asked through the host, as ever."""
    world.drive(park=False)
    assert world.asked == 2
    assert world.book.all() == []
    assert "park" not in world.kinds()


def test_notices_carry_one_id(world: World) -> None:
    """PRK-4, R32: told at each pause, under the same id; what the notifier raises is of no consequence."""
    world.parks()
    seen = [world.notices[0].request_id]

    def late(request: Request) -> None:
        seen.append(request.request_id)
        raise TimeoutError("late")

    world.notify = late
    for _ in range(4):
        world.parks()
    assert len(seen) == 5
    assert len(set(seen)) == 1
    assert len(world.book.all()) == 1


class Odd(BaseException):
    """Raised by nobody who means well."""


def test_a_notifier_that_raises_anything_does_not_answer(world: World) -> None:
    """PRK-4: an odd exception is no refusal of the action."""

    def odd(_request: Request) -> None:
        raise Odd

    world.notify = odd
    world.parks()
    assert world.kinds()[-1] == "park"


def test_secrets_are_withheld_from_the_row(world: World) -> None:
    """PRK-1, LLM-5: what NEVER SEND protects is not in the row; the digest is of the whole action."""
    filed = world.parks()
    assert "account-777" not in json.dumps(filed.request.data(), ensure_ascii=False)
    assert "⟦retenu⟧" in filed.request.args["to"]
    world.decides()
    world.drive()


def test_a_store_that_keeps_no_requests_cannot_park(quick_path: Path) -> None:
    """PRK-4: said before the first tick."""
    world = World("file", quick_path)

    class Bare(Files):
        requests = property(lambda _self: None, lambda _self, _value: None)  # type: ignore[assignment]

    with pytest.raises(DurableError) as refused:
        world.drive(store=Bare(quick_path / "run"))
    assert refused.value.code == "park.no_requests"
    assert world.drive(park=False, store=Bare(quick_path / "run")).status == "completed"


def test_a_request_that_cannot_be_posted_ends_the_run(quick_path: Path) -> None:
    """PRK-4, DRF-3: the store failed; once that is mended, the same call posts it."""
    world = World("file", quick_path)
    (quick_path / "run").mkdir()
    (quick_path / "run" / "requests").write_text("in the way")
    with pytest.raises(StoreFailure):
        world.drive()
    assert world.kinds()[-1] == "park"
    (quick_path / "run" / "requests").unlink()
    world.parks()


def test_a_replay_passes_over_the_entry(world: World) -> None:
    """PRK-4, RPL-6: the exported journal replays to the same trace."""
    world.parks()
    world.decides()
    run = world.drive()
    journal = run.export()
    replayed = Runtime(
        parse_source(world.source).agents[0], ReplayHost(journal), ReplayLLM(journal), run_id="run-1"
    )
    replayed.run(2)
    assert verify_trace(journal, replayed.trace.render())
    assert journal.remaining == 0


# --- questions -------------------------------------------------------------------------------


def asks(world: World, more: str = "") -> World:
    world.source = ASKS % more
    return world


@pytest.mark.parametrize(
    ("value", "done"), [("green", "green"), ({"$sym": "green"}, "green"), ("blue", "other"), (None, "other")]
)
def test_a_question_waits_like_an_approval(world: World, value: Any, done: str) -> None:
    """PRK-7: ASK parks; the answer is bound as one that was given at once."""
    filed = asks(world).parks()
    assert (filed.request.kind, filed.request.target) == ("question", "boss")
    assert filed.request.args == {"question": "which colour?"}
    assert filed.request.reason == "taste"
    world.decides(ANSWERED, value=value)
    run = world.drive()
    assert world.effects == [("note", done)]
    assert world.asked == 0
    expected = {"$sym": "no_answer"} if value is None else value
    given = run.runtime.state.get("answer.boss")
    assert given == (Symbol(expected["$sym"]) if isinstance(expected, dict) else expected)
    assert world.drive().already_completed


@pytest.mark.parametrize("decision", ["late", "denied"])
def test_no_answer_in_time_is_no_answer(world: World, decision: str) -> None:
    """PRK-7, STM-9: TIMEOUT is the deadline; behind it, and where the answer is refused, DEFAULT counts."""
    filed = asks(world, "TIMEOUT 30s DEFAULT green").parks(answer_within=9999.0)
    assert filed.deadline == "2030-01-02T03:04:35+00:00"
    if decision == "late":
        world.now += timedelta(seconds=30)
    else:
        world.decides(DENIED)
    world.drive()
    assert world.effects == [("note", "green")]
    assert world.book.get(filed.request.request_id).state == ("expired" if decision == "late" else DENIED)


def test_two_questions_of_the_same_words_are_two(world: World) -> None:
    """PRK-2, PRK-7: the place tells them apart."""
    asks(world)
    ask = 'ASK boss { QUESTION "which colour?" REASON "taste" }'
    world.source = world.source.replace("IF answer", f"SET first = answer {ask} IF answer")
    one = world.parks()
    world.decides(ANSWERED, value="blue")
    two = world.parks()
    assert one.request.digest == two.request.digest
    assert one.request.subject != two.request.subject
    world.decides(ANSWERED, value="green")
    world.drive()
    assert world.effects == [("note", "green")]


def test_an_escalation_tells_and_does_not_wait(world: World) -> None:
    """PRK-7: ESCALATE expects nothing, so nothing waits for it."""
    asks(world)
    world.source = world.source.replace('ASK boss { QUESTION "which colour?" REASON "taste"  }', "ESCALATE")
    assert "ESCALATE" in world.source
    assert world.drive().status == "completed"
    assert world.asked == 1


def test_a_cancelled_run_asks_for_nothing_any_more(world: World) -> None:
    """PRK-5, TSK-9: cancelling withdraws what is open; a yes afterwards hears so."""
    filed = world.parks()
    cancel(world.store(), by="owner")
    assert world.book.all(open_only=True) == []
    said = Decision(APPROVED, "alice", "2030-01-02T03:04:05+00:00")
    assert world.book.decide(filed.request.request_id, said).answer == WITHDRAWN
    assert survey(world.store()).status == "cancelled"
