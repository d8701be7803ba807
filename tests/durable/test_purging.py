"""Ended runs go by age, their digests stay, and nothing else ever goes (`OPS-7`)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agentl import Host, MockLLM, parse_source
from agentl.durable import DurableError, DurableRun, survey
from agentl.durable.address import collection_at, existing_run
from agentl.durable.collections import Collection
from agentl.durable.purging import Rule, purge, span
from agentl.durable.stores.process import this_process

PROGRAM = """
AGENT ENDING {
  TOOL act { INPUT { n: Number } }
  POLICY { DEFAULT ALLOW }
  PLAN go WHEN 1 == 1 { act(n: 1) }
}
"""
LATER = datetime.now(UTC) + timedelta(days=31)
MONTH = timedelta(days=30)


@pytest.fixture(params=["directory", "sqlite", "postgres"])
def collection(request: pytest.FixtureRequest, tmp_path: Path) -> Collection:
    if request.param == "postgres":
        return collection_at(request.getfixturevalue("database"))
    place = str(tmp_path / "runs") if request.param == "directory" else f"sqlite:{tmp_path / 'runs.db'}"
    return collection_at(place)


def drive(collection: Collection, run_id: str, act: Callable[[], Any] = dict, **options: Any) -> DurableRun:
    host = Host()
    host.tool("act")(lambda n: act())
    store = collection.store(run_id)
    run = DurableRun(parse_source(PROGRAM), host, MockLLM({}), store=store, run_id=run_id, **options)
    run.run(1)
    return run


def stop() -> None:
    raise KeyboardInterrupt


def jam() -> None:
    raise OSError("jammed")


def look(collection: Collection, **options: Any) -> dict[str, str | None]:
    rule = Rule(options.pop("older_than", MONTH), options.pop("now", LATER), **options)
    return {found.note.run_id: found.kept for found in purge(collection, rule)}


def test_only_what_has_ended_long_ago_goes(collection: Collection) -> None:
    """`OPS-7`, R56: never an open, doubtful, driven, damaged, keyed or young one; and each says why."""
    drive(collection, "ended")
    drive(collection, "doubtful", jam)
    drive(collection, "keyed", key=b"secret")
    with pytest.raises(KeyboardInterrupt):
        drive(collection, "open", stop)
    drive(collection, "driven")
    driver = collection.store("driven")
    driver.acquire(str(this_process()))
    wanted = {"doubtful": "doubts", "driven": "held", "ended": None, "keyed": "refused", "open": "active"}
    assert look(collection, dry=True) == wanted
    assert look(collection, dry=True, now=datetime.now(UTC))["ended"] == "young"
    assert collection.ids() == sorted(wanted), "a dry run takes nothing"
    assert look(collection) == wanted
    assert collection.ids() == ["doubtful", "driven", "keyed", "open"]
    driver.close()
    keyed = look(collection, key=b"secret", with_doubts=True)
    assert keyed == {"doubtful": "refused", "driven": "refused", "keyed": None, "open": "active"}
    assert look(collection, with_doubts=True, older_than=timedelta()) == {
        "doubtful": None,
        "driven": None,
        "open": "active",
    }


def test_a_tombstone_keeps_the_digests_and_the_id(collection: Collection) -> None:
    """`OPS-7`: run id, program, head, number of entries, when it ended and went; begun again by nobody."""
    drive(collection, "r")
    before = survey(collection.store("r"))
    opened = collection.store("r").load()[0]["open"]  # type: ignore[index]
    assert look(collection, by="ada") == {"r": None}
    ((address, tombstone),) = collection.marks()
    assert address == collection.address("r")
    assert tombstone["mark"] == "purged"
    assert (tombstone["run_id"], tombstone["head"], tombstone["entries"]) == (
        "r",
        before.head,
        before.entries,
    )
    assert (tombstone["program_sha256"], tombstone["ended"]) == (opened["program_sha256"], "limit")
    assert tombstone["ended_at"] < tombstone["at"] == LATER.isoformat(timespec="seconds")
    assert tombstone["by"] == "ada"
    assert collection.store("r").load() == (None, [])
    assert list(collection.notes()) == []
    with pytest.raises(DurableError) as again:
        drive(collection, "r")
    assert again.value.code == "ops.purged"
    with pytest.raises(DurableError) as shown:
        existing_run(collection.address("r"))
    assert shown.value.code == "ops.purged"
    assert look(collection) == {}


@pytest.mark.parametrize("kind", ["directory", "sqlite"])
def test_room_is_given_back(tmp_path: Path, kind: str) -> None:
    """`OPS-7`, R56: the bytes of purged runs are free again; in a file that is driven, later."""
    place = tmp_path / "runs"
    collection = collection_at(str(place) if kind == "directory" else f"sqlite:{place / 'runs.db'}")
    for number in range(30):
        drive(collection, f"r{number}", lambda: {"page": "x" * 4000})
    before = size(place)
    driver = collection.store("other")
    driver.acquire(str(this_process()))
    assert {kept for run_id, kept in look(collection).items() if run_id != "other"} == {None}
    collection.reclaim()
    driver.close()
    collection.reclaim()
    assert size(place) < before / 2
    assert size(place) < 30 * 1500 + 16_384


def size(place: Path) -> int:
    return sum(path.stat().st_size for path in place.rglob("*") if path.is_file())


def test_a_damaged_journal_is_evidence(tmp_path: Path) -> None:
    """`OPS-7`: whatever the notes say, only a journal that holds goes."""
    collection = collection_at(str(tmp_path))
    drive(collection, "r")
    wal = tmp_path / "r" / "wal.jsonl"
    wal.write_bytes(wal.read_bytes().replace(b"ENDING", b"ENDINK", 1))
    assert look(collection) == {"r": "refused"}
    assert wal.is_file()


def test_notes_that_lie_purge_nothing(tmp_path: Path) -> None:
    """`OPS-7`: an end that only the notes claim is no end."""
    collection = collection_at(str(tmp_path))
    with pytest.raises(KeyboardInterrupt):
        drive(collection, "open", stop)
    meta = tmp_path / "open" / "meta.json"
    meta.write_text(meta.read_text().replace('"close": null', '"close": {"ticks": 1, "reason": "until"}'))
    assert look(collection) == {"open": "active"}
    meta.write_text(meta.read_text().replace('"written": "', '"written": "not a time '))
    assert look(collection) == {"open": "undated"}


@pytest.mark.parametrize("name", ["lease.json", "refusal.json", "wal.jsonl"])
def test_a_purge_that_was_stopped_is_finished_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """`OPS-7`: the tombstone comes first, so what is half gone is never begun again, and goes."""
    collection = collection_at(str(tmp_path))
    drive(collection, "r")
    real = Path.unlink

    def dying(self: Path, missing_ok: bool = False) -> None:
        if self.name == name:
            raise KeyboardInterrupt
        real(self, missing_ok=missing_ok)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", dying)
        with pytest.raises(KeyboardInterrupt):
            look(collection)
    with pytest.raises(DurableError) as again:
        drive(collection, "r")
    assert again.value.code == "ops.purged"
    assert look(collection) == {}
    assert [path.name for path in (tmp_path / "r").iterdir()] == ["mark.json"]


def test_one_run_and_what_left(collection: Collection, tmp_path: Path) -> None:
    """`OPS-7`: by name; a copy goes without a trace, what moved leaves the way it went."""
    from agentl.durable.moving import copy, move

    for run_id in ("a", "b"):
        drive(collection, run_id)
    rule = Rule(MONTH, LATER)
    assert [found.note.run_id for found in purge(collection, rule, "a")] == ["a"]
    other = f"sqlite:{tmp_path / 'other.db'}"
    copy(str(_typed(collection, "b")), other)
    move(str(_typed(collection, "b")), str(tmp_path / "away"))
    assert [(found.note.run_id, found.kept) for found in purge(collection, rule)] == [("b", None)]
    marks = {mark["run_id"]: mark for _, mark in collection.marks()}
    assert (marks["b"]["mark"], marks["b"]["was"]) == ("purged", "moved")
    assert marks["b"]["other"] == str(tmp_path / "away" / "b")
    assert [found.kept for found in purge(collection_at(other), rule)] == [None]
    assert list(collection_at(other).marks()) == []


def _typed(collection: Collection, run_id: str) -> str:
    """The address with the password that a server may want."""
    dsn = getattr(collection, "dsn", None)
    return collection.address(run_id) if dsn is None else f"{dsn}#{run_id}"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30d", 2_592_000),
        ("2w", 1_209_600),
        ("12h", 43_200),
        ("90min", 5400),
        ("5m", 300),
        ("0s", 0),
        (" 1d ", 86_400),
    ],
)
def test_spans(text: str, seconds: int) -> None:
    """`OPS-7`: a number and a unit."""
    assert span(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "30", "d", "-1d", "1.5d", "1y", "30 d", "1d12h", "9999999d", "٣d"])
def test_what_is_no_span(text: str) -> None:
    """`OPS-7`: nothing is guessed where something is thrown away."""
    with pytest.raises(DurableError) as refused:
        span(text)
    assert refused.value.code == "ops.span"
