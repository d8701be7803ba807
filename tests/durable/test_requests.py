"""Requests and decisions: the values, the rules, and the book of every store (PRK-1 to PRK-3, PRK-5)."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentl.durable import FileStore, MemoryStore, PostgresStore, SQLiteStore
from agentl.durable import requests as rq
from agentl.durable.requests import Decision, Extension, Filed, Request
from agentl.errors import StoreFailure

AT = "2030-01-02T03:04:05+00:00"
BEFORE = "2030-01-02T03:10:00+00:00"
DEADLINE = "2030-01-02T04:04:05+00:00"
AFTER = "2030-01-03T00:00:00+00:00"
DIGEST = "d" * 64


def request(number: int = 1, digest: str = DIGEST, **changes: Any) -> Request:
    subject = f"run: ü/..:agent:t1:a{number}"
    made = Request(
        run_id="run: ü/..",
        request_id=rq.request_id(subject, digest),
        kind=rq.APPROVAL,
        target="transfer",
        subject=subject,
        digest=digest,
        args={"amount": 10, "to": "é\ud800"},
        reason="approval required (line 4)",
        asked_at=AT,
        deadline=DEADLINE,
        ring=None,
        epoch=1,
        withheld=True,
        signers={"alice": ["k1"]},
    )
    return replace(made, **changes)


def yes(by: str = "alice", at: str = BEFORE) -> Decision:
    return Decision(rq.APPROVED, by, at)


@pytest.fixture(params=["memory", "file", "sqlite", "postgres"])
def books(request: pytest.FixtureRequest, quick_path: Path) -> Any:
    """Gives, at each call, the book of one run as another machine would open it."""
    kind = request.param
    if kind == "memory":
        store = MemoryStore()
        return lambda: store.requests
    if kind == "file":
        return lambda: FileStore(quick_path / "run").requests
    if kind == "postgres":
        dsn = request.getfixturevalue("database")
        return lambda: PostgresStore(dsn, "run: ü/..").requests
    return lambda: SQLiteStore(quick_path / "runs.db", "run: ü/..").requests


def test_a_request_is_kept_whole_and_once(books: Any) -> None:
    """PRK-1: posted again it is the same row; another machine reads what was posted."""
    first = request()
    books().post(first)
    again = books().post(replace(first, reason="other words", epoch=9))
    assert again.request == first
    assert [filed.request for filed in books().all()] == [first]
    assert books().get(first.request_id) == Filed(first)
    assert books().get("nothing") is None


def test_nothing_is_made_by_reading(books: Any, quick_path: Path) -> None:
    """PRK-1: looking at a place that has no request leaves it as it is."""
    before = sorted(quick_path.rglob("*"))
    assert books().all() == []
    assert books().get("x") is None
    assert sorted(quick_path.rglob("*")) == before


def test_the_first_decision_wins_and_later_ones_hear_it(books: Any) -> None:
    """PRK-3: who decided, when and what; a second thought changes nothing."""
    asked = request()
    books().post(asked)
    assert books().decide(asked.request_id, yes()) == yes()
    assert books().decide(asked.request_id, Decision(rq.DENIED, "bob", BEFORE)) == yes()
    assert books().decide(asked.request_id, yes("carol")) == yes()
    assert books().get(asked.request_id).decision == yes()
    assert books().all(open_only=True) == []


def test_of_many_at_once_one_wins(books: Any) -> None:
    """PRK-3: twelve people decide at the same time; all hear of the same decision."""
    asked = request()
    books().post(asked)
    gate = threading.Barrier(12)
    heard: list[Decision] = []

    def person(number: int) -> None:
        book = books()
        gate.wait()
        answer = rq.APPROVED if number % 2 else rq.DENIED
        heard.append(book.decide(asked.request_id, Decision(answer, f"p{number}", BEFORE)))

    people = [threading.Thread(target=person, args=(number,)) for number in range(12)]
    for one in people:
        one.start()
    for one in people:
        one.join()
    assert len(heard) == 12
    assert len(set(heard)) == 1
    assert books().get(asked.request_id).decision == heard[0]


def test_behind_the_deadline_only_expiry_is_recorded(books: Any) -> None:
    """PRK-3: a yes that comes late is not written; the expiry is, and stays whatever the clock says."""
    asked = request()
    books().post(asked)
    stands = books().decide(asked.request_id, yes(at=AFTER))
    assert (stands.answer, stands.by) == (rq.EXPIRED, rq.CLOCK)
    assert books().decide(asked.request_id, yes(at=BEFORE)).answer == rq.EXPIRED
    assert books().extend(asked.request_id, Extension(AFTER, "alice", BEFORE)).state == rq.EXPIRED


def test_an_extension_is_recorded_and_counts(books: Any) -> None:
    """PRK-3: a later deadline, given in time, holds; an earlier one, or one given too late, does not."""
    asked = request()
    books().post(asked)
    longer = Extension("2030-01-05T00:00:00+00:00", "alice", BEFORE)
    assert books().extend(asked.request_id, longer).deadline == longer.deadline
    assert books().get(asked.request_id).extensions == (longer,)
    shorter = Extension(DEADLINE, "bob", BEFORE)
    assert books().extend(asked.request_id, shorter).extensions == (longer,)
    longest = Extension("2030-02-05T00:00:00+00:00", "alice", BEFORE)
    assert books().extend(asked.request_id, longest).extensions == (longer, longest)
    assert books().decide(asked.request_id, yes(at=AFTER)) == yes(at=AFTER)


def test_a_request_without_a_deadline_waits_for_ever(books: Any) -> None:
    """PRK-3: the default is to keep waiting."""
    asked = request(deadline=None)
    books().post(asked)
    assert books().extend(asked.request_id, Extension(AFTER, "alice", BEFORE)).deadline is None
    assert books().decide(asked.request_id, yes(at="2999-01-01T00:00:00+00:00")).answer == rq.APPROVED


def test_what_is_not_there_cannot_be_decided(books: Any) -> None:
    """PRK-1: no such request, or an approval answered like a question: refused, nothing is written."""
    with pytest.raises(StoreFailure):
        books().decide("nothing", yes())
    with pytest.raises(StoreFailure):
        books().extend("nothing", Extension(AFTER, "a", AT))
    asked = request()
    books().post(asked)
    with pytest.raises(StoreFailure):
        books().decide(asked.request_id, Decision(rq.ANSWERED, "a", BEFORE, value=1))
    assert books().get(asked.request_id).open


@pytest.mark.parametrize("value", [None, False, 0, "", {"$sym": "yes"}, [1, {"$dict": [["a", 1.5]]}]])
def test_the_answer_to_a_question_comes_back_as_it_is(books: Any, value: Any) -> None:
    """PRK-7: every value in journal form, false and null too."""
    asked = request(kind=rq.QUESTION)
    books().post(asked)
    books().decide(asked.request_id, Decision(rq.ANSWERED, "a", BEFORE, value=value))
    found = books().get(asked.request_id).decision
    assert found is not None
    assert (found.value, type(found.value)) == (value, type(value))


def test_two_runs_of_one_file_share_nothing(quick_path: Path) -> None:
    """PRK-1: the rows of a run are its own."""
    one, other = (SQLiteStore(quick_path / "runs.db", name).requests for name in ("one", "other"))
    one.post(request())
    assert other.all() == []
    with pytest.raises(StoreFailure):
        other.decide(request().request_id, yes())


@pytest.mark.parametrize("text", ["", "[]", "{", "null", '{"run_id": 1}', "\udcff"])
def test_a_row_that_nobody_of_ours_wrote_is_refused(quick_path: Path, text: str) -> None:
    """PRK-1: neither skipped nor taken for an answer."""
    book = FileStore(quick_path / "run").requests
    asked = request()
    book.post(asked)
    for name in ("request", "decision"):
        file = next(book.directory.glob("*.request.json")).with_suffix("").with_suffix(f".{name}.json")
        kept = file.read_bytes() if file.exists() else None
        file.write_bytes(text.encode("utf-8", "surrogateescape"))
        with pytest.raises(StoreFailure):
            book.get(asked.request_id)
        file.unlink() if kept is None else file.write_bytes(kept)
    assert book.get(asked.request_id) == Filed(asked)


def test_a_file_that_was_never_linked_is_no_decision(quick_path: Path) -> None:
    """PRK-3: what a killed writer leaves behind counts for nothing, and stops nobody."""
    book = FileStore(quick_path / "run").requests
    asked = request()
    book.post(asked)
    final = next(book.directory.glob("*.request.json")).name.replace("request", "decision")
    (book.directory / f".{final}.0123456789abcdef").write_text('{"answer": "appr')
    assert book.get(asked.request_id) == Filed(asked)
    assert book.decide(asked.request_id, Decision(rq.DENIED, "bob", BEFORE)).answer == rq.DENIED


def test_an_open_request_is_found_by_its_action_and_digest() -> None:
    """PRK-2: another digest is another request; a withdrawn one is never taken up again."""
    asked = request()
    subject = asked.subject
    assert rq.current([], rq.APPROVAL, subject, DIGEST) == (asked.request_id, None)
    assert rq.current([Filed(asked)], rq.APPROVAL, subject, DIGEST) == (asked.request_id, Filed(asked))
    assert rq.current([Filed(asked)], rq.APPROVAL, subject, "e" * 64)[1] is None
    gone = Filed(asked, Decision(rq.WITHDRAWN, "run", AT))
    wanted, found = rq.current([gone], rq.APPROVAL, subject, DIGEST)
    assert (wanted, found) == (asked.request_id + "~2", None)
    second = Filed(replace(asked, request_id=wanted), yes())
    assert rq.current([second, gone], rq.APPROVAL, subject, DIGEST) == (wanted, second)


@pytest.mark.parametrize("change", [{"digest": "d" * 63 + "e"}, {"subject": "x"}, {"kind": rq.QUESTION}])
def test_a_row_under_the_right_id_about_something_else_is_refused(change: dict[str, str]) -> None:
    """PRK-2: the whole digest counts, not the digits in the id."""
    asked = request()
    with pytest.raises(StoreFailure):
        rq.current([Filed(replace(asked, **change))], rq.APPROVAL, asked.subject, DIGEST)


def test_only_open_ones_of_this_driver_or_before_are_stale() -> None:
    """PRK-5: a driver that was superseded withdraws nothing of its successor."""
    own, old, newer, decided = (request(number) for number in (1, 2, 3, 4))
    rows = [Filed(own), Filed(old), Filed(replace(newer, epoch=7)), Filed(decided, yes())]
    assert rq.stale(rows, own.request_id, 1) == [Filed(old)]
    assert rq.stale(rows, "", 7) == rows[:3]


@given(
    st.integers(min_value=-100_000, max_value=100_000),
    st.sampled_from(["+00:00", "+05:30", "-11:00", ""]),
)
def test_a_deadline_is_the_same_in_every_zone(seconds: int, zone: str) -> None:
    """PRK-3: computed from absolute time; a time without a zone is UTC."""
    now = rq.later(AT, seconds)
    assert now is not None
    shown = now if not zone else rq.moment(now).astimezone(rq.moment(f"2030-01-01T00:00:00{zone}").tzinfo)
    text = shown if isinstance(shown, str) else shown.isoformat()
    if not zone:
        text = text.removesuffix("+00:00")
    assert rq.due(DEADLINE, text) == (seconds >= 3600)


@pytest.mark.parametrize("text", ["", "soon", "2030", "99999-01-01T00:00:00+00:00"])
def test_a_time_that_cannot_be_read_approves_nothing(text: str) -> None:
    """PRK-3: fail closed."""
    assert rq.due(DEADLINE, text) or rq.moment(text) is not None
    assert rq.due(text, AT) or rq.moment(text) is not None
    assert rq.decide(None, yes(at=text), late=True).answer == rq.EXPIRED


def test_near_is_an_hour_or_a_tenth() -> None:
    """PRK-9: what is reported before it runs out."""
    day = Filed(request(deadline="2030-01-03T03:04:05+00:00"))
    assert not rq.near(day, AT)
    assert not rq.near(day, "2030-01-03T00:40:00+00:00")
    assert rq.near(day, "2030-01-03T00:40:06+00:00")
    assert not rq.near(day, "2030-01-03T03:04:05+00:00"), "over is not near"
    assert rq.near(Filed(request()), AT)
    assert not rq.near(Filed(request(deadline=None)), AT)
    assert not rq.near(replace(day, decision=yes()), "2030-01-03T03:00:00+00:00")
