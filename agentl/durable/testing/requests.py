"""What a store that keeps requests promises (`PRK-1`, `PRK-3`, `STO-10`)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Final

import pytest

from agentl.durable.requests import (
    ANSWERED,
    APPROVED,
    DENIED,
    EXPIRED,
    QUESTION,
    Decision,
    Extension,
    Filed,
    Request,
    RequestBook,
    request_id,
)
from agentl.durable.testing.places import RUN, Driver, Place
from agentl.errors import StoreFailure

AT: Final = "2030-01-02T03:04:05+00:00"
DEADLINE: Final = "2030-01-02T04:04:05+00:00"
AFTER: Final = "2030-01-03T00:00:00+00:00"
DIGEST: Final = "d" * 64


def book(place: Place, run_id: str = RUN) -> RequestBook:
    """The requests of a run, as another machine would open them."""
    found: RequestBook = place.store(run_id).requests  # type: ignore[attr-defined]
    return found


def asked(number: int = 1, **changes: Any) -> Request:
    """A request of the run."""
    subject = f"{RUN}:agent:t1:a{number}"
    made = Request(
        run_id=RUN,
        request_id=request_id(subject, DIGEST),
        kind="approval",
        target="transfer",
        subject=subject,
        digest=DIGEST,
        args={"amount": 10, "to": "é\ud800\0"},
        reason="approval required (line 4)",
        asked_at=AT,
        deadline=DEADLINE,
        epoch=1,
        withheld=True,
        signers={"alice": ["k1"]},
    )
    return replace(made, **changes)


def said(answer: str = APPROVED, by: str = "alice", at: str = AT, **more: Any) -> Decision:
    """A decision in time."""
    return Decision(answer, by, at, **more)


class RequestConformance:
    """For every store that has ``requests`` (`PRK-1`)."""

    def test_a_request_is_kept_whole_and_once(self, place: Place) -> None:
        """`PRK-1`: posted again it is the same row."""
        assert book(place).all() == []
        assert book(place).get("nothing") is None
        book(place).post(asked())
        assert book(place).post(replace(asked(), reason="other words", epoch=9)).request == asked()
        assert book(place).all() == [Filed(asked())]

    def test_the_first_decision_stands(self, place: Place) -> None:
        """`PRK-3`: whatever comes later is given the first."""
        first = said(key_id="k1", signature="ab")
        book(place).post(asked())
        assert book(place).decide(asked().request_id, first) == first
        assert book(place).decide(asked().request_id, said(DENIED, "bob")) == first
        assert book(place).get(asked().request_id) == Filed(asked(), first)
        assert book(place).all(open_only=True) == []

    def test_of_many_at_once_one_stands(self, place: Place) -> None:
        """`PRK-3`: ten people at the same time hear of the same decision."""
        for number in range(3):
            request = asked(number)
            book(place).post(request)

            def decide(person: int, request: Request = request) -> Decision:
                answer = APPROVED if person % 2 else DENIED
                return book(place).decide(request.request_id, said(answer, f"p{person}"))

            with ThreadPoolExecutor(10) as pool:
                heard = list(pool.map(decide, range(10)))
            assert len(set(heard)) == 1
            found = book(place).get(request.request_id)
            assert found is not None
            assert found.decision == heard[0]

    def test_behind_the_deadline_only_expiry_is_written(self, place: Place) -> None:
        """`PRK-3`: a yes that comes late is none, and the expiry stays."""
        book(place).post(asked())
        assert book(place).decide(asked().request_id, said(at=AFTER)).answer == EXPIRED
        assert book(place).decide(asked().request_id, said()).answer == EXPIRED

    def test_an_extension_counts(self, place: Place) -> None:
        """`PRK-3`: a later deadline, given in time."""
        book(place).post(asked())
        more = Extension("2030-01-09T00:00:00+00:00", "alice", AT)
        assert book(place).extend(asked().request_id, more).extensions == (more,)
        assert book(place).extend(asked().request_id, Extension(DEADLINE, "bob", AT)).extensions == (more,)
        assert book(place).decide(asked().request_id, said(at=AFTER)).answer == APPROVED
        assert book(place).get(asked().request_id) == Filed(asked(), said(at=AFTER), (more,))

    @pytest.mark.parametrize("value", [None, False, 0, "", {"$sym": "yes"}, ["\ud800", {"$dict": []}]])
    def test_an_answer_comes_back_as_it_is(self, place: Place, value: Any) -> None:
        """`PRK-7`: every value in journal form."""
        question = asked(kind=QUESTION)
        book(place).post(question)
        book(place).decide(question.request_id, said(ANSWERED, value=value))
        found = book(place).get(question.request_id)
        assert found is not None
        assert found.decision == said(ANSWERED, value=value)

    def test_no_lease_is_needed_and_none_is_disturbed(self, place: Place) -> None:
        """`PRK-1`: asked and answered while a driver is at work, and it writes on."""
        driver = Driver(place.store())
        other = place.store() if place.store() is not driver.store else driver.store
        other.requests.post(asked())  # type: ignore[attr-defined]
        other.requests.decide(asked().request_id, said())  # type: ignore[attr-defined]
        driver.write()
        driver.store.close()
        assert book(place).all() == [Filed(asked(), said())]

    def test_runs_answer_for_themselves(self, place: Place) -> None:
        """`PRK-1`: the row of one run is none of another."""
        book(place).post(asked())
        assert book(place, "other").all() == []
        with pytest.raises(StoreFailure):
            book(place, "other").decide(asked().request_id, said())
        with pytest.raises(StoreFailure):
            book(place).decide("nothing", said())
        assert book(place).all(open_only=True) == [Filed(asked())]
