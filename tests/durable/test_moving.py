"""A run moves, and at no time can it be driven in two places (`OPS-6`, `OPS-8`, `OPS-9`)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentl import Host, MockLLM, parse_source
from agentl.durable import (
    DurableError,
    DurableJournal,
    DurableRun,
    FileStore,
    LeaseHeld,
    StoreFailure,
    survey,
)
from agentl.durable.address import collection_at, existing_run, parse_address
from agentl.durable.moving import copy, move, write_portable
from agentl.durable.requests import Decision, Extension, Request
from agentl.durable.stores.process import this_process

PROGRAM = """
AGENT MOVER {
  TOOL act { INPUT { n: Number } }
  POLICY { DEFAULT ALLOW }
  PLAN go WHEN 1 == 1 { act(n: 1) }
}
"""
END = "2999-01-01T00:00:00+00:00"
PLACES = ["directory", "sqlite", "postgres"]


class World:
    """A host that counts effects, and can stop the process in the middle of one."""

    def __init__(self) -> None:
        self.effects: list[int | None] = []
        self.fail_at = 0

    def host(self) -> Host:
        from agentl.kernel import current_action

        host = Host()

        @host.tool("act")
        def act(n: float) -> dict[str, str]:
            action = current_action()
            self.effects.append(None if action is None else action.fencing_token)
            if len(self.effects) == self.fail_at:
                raise KeyboardInterrupt
            return {}

        return host


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str, str], str]:
    """Where runs of a kind are kept."""

    def named(kind: str, name: str) -> str:
        if kind == "postgres":
            return str(request.getfixturevalue("database"))
        return str(tmp_path / name) if kind == "directory" else f"sqlite:{tmp_path / name}.db"

    return named


def drive(world: World, address: str, run_id: str, ticks: int | None = 3) -> DurableRun:
    store = collection_at(address).store(run_id)
    run = DurableRun(parse_source(PROGRAM), world.host(), MockLLM({}), store=store, run_id=run_id)
    run.run(ticks)
    return run


def interrupted(world: World, address: str, run_id: str = "r") -> str:
    """A run that stopped in its second call, without an entry about how that ended."""
    world.fail_at = 2
    with pytest.raises(KeyboardInterrupt):
        drive(world, address, run_id)
    return collection_at(address).address(run_id)


# One database is one place: a run cannot move from it to itself.
PAIRS = [(old, new) for new in PLACES for old in PLACES if not old == new == "postgres"]


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_an_unfinished_run_goes_on_in_the_new_place_only(
    world: World, place: Callable[[str, str], str], old: str, new: str
) -> None:
    """`OPS-8`: the journal verifies, the next driver has a greater epoch, the old place refuses."""
    source, target = place(old, "old"), place(new, "new")
    address = interrupted(world, source)
    before = survey(existing_run(address))
    done = move(address, target)
    assert (done.run_id, done.entries, done.head, done.finished) == ("r", before.entries, before.head, False)
    there = existing_run(collection_at(target).address("r"))
    after = survey(there)
    assert (after.head, after.status, after.last_tick) == (before.head, "interrupted", before.last_tick)
    meta, _ = there.load()
    assert meta is not None
    assert meta["entries"] == before.entries, "the notes are made again"
    with pytest.raises(DurableError) as left:
        drive(world, source, "r")
    assert left.value.code == "ops.moved"
    assert "r" in str(left.value)
    assert survey(existing_run(address)).head == before.head, "it can still be read"
    greatest = max(token or 0 for token in world.effects)
    run = drive(world, target, "r")
    assert run.status == "completed"
    assert len(run.journal.in_doubt()) == 1, "what nobody can know stays unknown"
    assert all((token or 0) > greatest for token in world.effects[2:])
    assert len(world.effects) == 3


def test_back_and_forth_is_refused(world: World, place: Callable[[str, str], str]) -> None:
    """`OPS-8`: a place that a run has left remembers it."""
    source, target = place("directory", "old"), place("sqlite", "new")
    address = interrupted(world, source)
    move(address, target)
    with pytest.raises(DurableError) as back:
        move(f"{target}#r", source)
    assert back.value.code == "ops.moved"
    with pytest.raises(DurableError) as again:
        move(address, place("sqlite", "third"))
    assert again.value.code == "ops.moved"
    with pytest.raises(DurableError) as same:
        move(f"{target}#r", target)
    assert same.value.code == "ops.same_place"


def test_a_taken_place_a_driven_run_and_another_id(world: World, place: Callable[[str, str], str]) -> None:
    """`OPS-8`: nothing is overwritten, nobody is disturbed."""
    source, target = place("directory", "old"), place("sqlite", "new")
    address = interrupted(world, source)
    world.fail_at = 0
    drive(world, target, "r")
    with pytest.raises(DurableError) as taken:
        move(address, target)
    assert taken.value.code == "ops.occupied"
    with pytest.raises(DurableError) as other:
        move(address, f"{target}#s")
    assert other.value.code == "durable.other_run"
    assert existing_run(address).mark() is None
    driver = existing_run(address)
    driver.acquire(str(this_process()))
    with pytest.raises(LeaseHeld):
        move(address, place("sqlite", "third"))
    driver.close()
    held = collection_at(place("sqlite", "fourth")).store("r")
    held.acquire(str(this_process()))
    with pytest.raises(LeaseHeld):
        move(address, place("sqlite", "fourth"))
    held.close()
    assert drive(world, source, "r").status == "completed"


def test_a_sleeping_driver_keeps_a_run_where_it_is(world: World, place: Callable[[str, str], str]) -> None:
    """`OPS-8`, `STO-6`: whom only the store of before can name must not be forgotten by the move."""
    source = place("sqlite", "old")
    address = interrupted(world, source)
    connection = sqlite3.connect(parse_address(source).place)
    connection.execute("UPDATE leases SET expires = 0, holder = 'elsewhere pid 7 start 1 space other'")
    connection.commit()
    connection.close()
    with pytest.raises(DurableError) as refused:
        move(address, place("directory", "new"))
    assert refused.value.code == "ops.move_unsure"
    assert not (Path(place("directory", "new")) / "r" / "wal.jsonl").exists()


class Died(Exception):
    """The process died here."""


STEPS = ("receive", "write_mark", "settle_in")


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(
    ("old", "new"), [("directory", "sqlite"), ("sqlite", "directory"), ("sqlite", "postgres")]
)
def test_death_at_any_step_leaves_one_place_at_most(
    world: World,
    place: Callable[[str, str], str],
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    when: str,
    old: str,
    new: str,
) -> None:
    """`OPS-8`: never two that drive; the same call again finishes, and then it is the new one."""
    source, target = place(old, "old"), place(new, "new")
    address = interrupted(world, source)
    head = survey(existing_run(address)).head
    kinds = [type(collection_at(where).store("r")) for where in (source, target)]
    with monkeypatch.context() as patched:
        for kind in kinds:
            real = getattr(kind, step)

            def dying(self: Any, *args: Any, real: Any = real) -> None:
                if when == "after":
                    real(self, *args)
                raise Died

            patched.setattr(kind, step, dying)
        with pytest.raises(Died):
            move(address, target)
    drivable = [where for where in (source, target) if drives(where)]
    assert len(drivable) <= 1
    if (step, when) in (("receive", "before"), ("receive", "after"), ("write_mark", "before")):
        assert drivable == [source], "until the old place is marked the run is still its own"
    if drivable != [target]:
        move(address, target)
    assert [where for where in (source, target) if drives(where)] == [target]
    assert survey(existing_run(collection_at(target).address("r"))).head == head
    assert drive(world, target, "r").status == "completed"
    assert len(world.effects) == 3


def drives(address: str) -> bool:
    """Whether the run would be given a lease there now."""
    store = collection_at(address).store("r")
    if not store.exists():
        return False
    try:
        store.release(store.acquire(str(this_process())).epoch)
    except DurableError:
        return False
    return True


def test_a_run_that_went_on_replaces_what_had_arrived(
    world: World, place: Callable[[str, str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`OPS-8`: a move that was never finished does not bind the old place."""
    source, target = place("directory", "old"), place("sqlite", "new")
    address = interrupted(world, source)
    with monkeypatch.context() as patched:
        patched.setattr("agentl.durable.stores.file.FileStore.write_mark", lambda self, mark: die())
        with pytest.raises(Died):
            move(address, target)
    assert drive(world, source, "r").status == "completed"
    head = survey(existing_run(address)).head
    with pytest.raises(DurableError) as waiting:
        drive(world, target, "r")
    assert waiting.value.code == "ops.arriving"
    assert move(address, target).head == head
    assert survey(existing_run(f"{target}#r")).head == head


def die() -> None:
    raise Died


@pytest.mark.parametrize("new", PLACES)
def test_a_copy_is_for_reading(
    world: World, place: Callable[[str, str], str], tmp_path: Path, new: str
) -> None:
    """`OPS-9`: from a store or a file; it verifies, and nobody ever drives it."""
    source = place("directory", "old")
    address = interrupted(world, source)
    file = tmp_path / "r.portable"
    written = write_portable(address, file)
    done = copy(str(file), place(new, "new"))
    assert (done.copy, done.head, written.head) == (True, written.head, done.head)
    there = collection_at(place(new, "new")).store("r")
    assert survey(there).head == done.head
    with pytest.raises(DurableError) as refused:
        drive(world, place(new, "new"), "r")
    assert refused.value.code == "ops.copy"
    copy(address, place("sqlite", "direct"))
    assert drive(world, source, "r").status == "completed"
    with pytest.raises(DurableError):
        move(f"{place('sqlite', 'direct')}#r", place("directory", "away"))


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (lambda data: data[:-1], "ops.portable_cut"),
        (lambda data: data + b"{}\n", "ops.portable_cut"),
        (lambda data: b"{}\n" + data, "ops.not_portable"),
        (lambda data: b"\xff\xfe", "ops.not_portable"),
        (lambda data: b"", "ops.not_portable"),
        (lambda data: data.replace(b'"run_id": "r"', b'"run_id": "s"', 1), "ops.not_portable"),
        (lambda data: data.replace(b"MOVER", b"MOVED"), "durable.altered"),
    ],
)
def test_a_damaged_file_is_refused(
    world: World,
    place: Callable[[str, str], str],
    tmp_path: Path,
    damage: Callable[[bytes], bytes],
    code: str,
) -> None:
    """`OPS-9`: the chain is checked before anything is written."""
    file = tmp_path / "r.portable"
    write_portable(interrupted(world, place("directory", "old")), file)
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(DurableError) as refused:
        copy(str(file), place("sqlite", "new"))
    assert refused.value.code == code
    assert collection_at(place("sqlite", "new")).ids() == []


def test_a_keyed_run_moves_with_its_key(world: World, place: Callable[[str, str], str]) -> None:
    """`OPS-8`, `SEA-10`: what cannot be checked is not moved."""
    source, target = place("directory", "old"), place("sqlite", "new")
    store = collection_at(source).store("r")
    run = DurableRun(parse_source(PROGRAM), world.host(), MockLLM({}), store=store, run_id="r", key=b"secret")
    run.run(1)
    address = collection_at(source).address("r")
    with pytest.raises(DurableError) as refused:
        move(address, target)
    assert refused.value.code == "durable.key_missing"
    move(address, target, key=b"secret")
    journal = DurableJournal.open(existing_run(f"{target}#r"), key=b"secret", write=False)
    assert journal.index.close_args is not None


@pytest.mark.parametrize("kind", PLACES)
def test_a_mark_that_nobody_can_read_refuses(
    world: World, place: Callable[[str, str], str], kind: str, request: pytest.FixtureRequest
) -> None:
    """`OPS-6`: a mark of a later version, or a damaged one, is no leave to drive."""
    source = place(kind, "old")
    interrupted(world, source)
    store = collection_at(source).store("r")
    store.acquire(str(this_process()))
    store.write_mark({"mark": "of a later version", "run_id": "r"})
    store.close()
    with pytest.raises(DurableError) as refused:
        drive(world, source, "r")
    assert refused.value.code == "ops.marked"
    note = next(iter(collection_at(source).notes()))
    assert note.mark is not None
    assert [mark["run_id"] for _, mark in collection_at(source).marks()] == ["r"]


def test_only_the_driver_marks(world: World, place: Callable[[str, str], str]) -> None:
    """`OPS-6`: nobody can lock a run out that somebody else drives."""
    for kind in PLACES:
        source = place(kind, "old")
        interrupted(world, source, kind)
        with pytest.raises(StoreFailure):
            collection_at(source).store(kind).write_mark({"mark": "moved"})
        assert collection_at(source).store(kind).mark() is None
        world.effects.clear()


@pytest.mark.parametrize("new", ["sqlite", "postgres"])
def test_requests_and_their_answers_move_too(
    world: World, place: Callable[[str, str], str], new: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`OPS-8`, `PRK-3`: an answer that is given while the run moves is heard in the new place."""
    source, target = place("directory", "old"), place(new, "new")
    address = interrupted(world, source)
    book = existing_run(address).requests
    made = [
        Request(
            "r", f"q{number}", "approval", "act", "a", "d", asked_at="2026-11-30T10:00:00+00:00", deadline=END
        )
        for number in range(3)
    ]
    for request in made:
        book.post(request)
    book.decide("q0", Decision("approved", "ada", "2026-11-30T11:00:00+00:00"))
    book.extend("q1", Extension("2999-01-02T00:00:00+00:00", "ada", "2026-11-30T11:00:00+00:00"))
    real = FileStore.write_mark

    def late(self: FileStore, mark: Any) -> None:
        book.decide("q2", Decision("denied", "bob", "2026-11-30T12:00:00+00:00"))
        real(self, mark)

    monkeypatch.setattr(FileStore, "write_mark", late)
    move(address, target)
    there = existing_run(f"{target}#r").requests
    assert there.all() == book.all()
    assert [filed.state for filed in there.all()] == ["approved", "open", "denied"]
