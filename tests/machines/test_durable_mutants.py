"""The machine of durable runs catches the mutants of the code: each twin of a mutant of the model (R104).

Most are found by a few random lives. Those that need a certain chain of deaths and changes are pinned: a life
that a long search found, replayed step by step on the same machine.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.machines.run_model import BrokenError
from tests.machines.test_durable import Durable
from tests.support.life import PROMISES
from tests.support.mutants import CODE

PLAIN, IDEMPOTENT, RECONCILABLE, *_ = PROMISES
READ_ONLY = frozenset({"read_only"})
FEW = settings(
    max_examples=150,
    stateful_step_count=14,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate],
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)


class Pinned:
    """The machine, driven by hand."""

    def __init__(
        self,
        promise: frozenset[str],
        second: frozenset[str] = PLAIN,
        *,
        words: tuple[str, str] = ("allow", "allow"),
    ) -> None:
        self.machine = Durable()
        self.machine.begin(words, (promise, second))

    def boot(
        self,
        *choices: int,
        inside: bool = False,
        promise: frozenset[str] | None = None,
        dies_at: int = 1000,
    ) -> None:
        self.machine.boot(
            choices=list(choices), dies_at=dies_at, inside=inside, torn=0, tampered=False, stricter=(0, 0),
            promises=(promise, None),
        )  # fmt: skip

    def settle(self) -> None:
        self.machine.settle(1)


# What the numbers choose: 0 executes the permit; of a call 0 acts and answers, 1 fails surely, 2 acts and
# says nothing, 3 does nothing and says nothing; of a reconciler 0 does not know.


def uses_a_verdict_twice() -> Iterator[Pinned]:
    life = Pinned(PLAIN)
    yield life
    life.boot(0, 3, inside=True)
    life.settle()
    life.boot(0, 0, inside=True)
    life.boot(0)


def trusts_a_new_promise() -> Iterator[Pinned]:
    life = Pinned(PLAIN)
    yield life
    life.boot(0, 0, inside=True)
    life.boot(0, promise=IDEMPOTENT)


def trusts_an_old_promise() -> Iterator[Pinned]:
    life = Pinned(IDEMPOTENT)
    yield life
    life.boot(0, 0, inside=True)
    life.boot(0, promise=PLAIN)


def forgets_a_withdrawal() -> Iterator[Pinned]:
    life = Pinned(IDEMPOTENT)
    yield life
    life.boot(0, 3, inside=True)
    life.settle()
    life.boot(0, 0, inside=True, promise=PLAIN)
    life.boot(0, promise=IDEMPOTENT)


def takes_unknown_for_no() -> Iterator[Pinned]:
    life = Pinned(RECONCILABLE)
    yield life
    life.boot(0, 0, inside=True)
    life.boot(0, 0)


def believes_a_late_failure() -> Iterator[Pinned]:
    life = Pinned(IDEMPOTENT)
    yield life
    life.boot(0, 2, 1)


def guesses_success() -> Iterator[Pinned]:
    life = Pinned(PLAIN)
    yield life
    life.boot(0, 3)


def changes_the_key() -> Iterator[Pinned]:
    life = Pinned(IDEMPOTENT)
    yield life
    life.boot(0, 2, 0)


def cannot_serve() -> Iterator[Pinned]:
    life = Pinned(PLAIN, READ_ONLY, words=("ask", "allow"))
    yield life
    life.settle()
    life.boot(1, 2, 4)
    life.boot(0)


def doubts_too_soon() -> Iterator[Pinned]:
    life = Pinned(IDEMPOTENT, words=("allow", "ask"))
    yield life
    life.boot(4, 3)
    life.settle()


def guesses_failure() -> Iterator[Pinned]:
    life = Pinned(PLAIN, words=("ask", "allow"))
    yield life
    life.boot(3, 2, 2)


def loses_a_result() -> Iterator[Pinned]:
    life = Pinned(PLAIN, words=("ask", "ask"))
    yield life
    life.boot(dies_at=6)
    life.settle()


def retries_blindly() -> Iterator[Pinned]:
    life = Pinned(PLAIN, IDEMPOTENT)
    yield life
    life.boot(4, 3, 0, 4, 1)


def takes_a_result_for_pending() -> Iterator[Pinned]:
    life = Pinned(READ_ONLY, RECONCILABLE, words=("ask", "ask"))
    yield life
    life.boot(3)
    life.boot(0, inside=True)


def revokes_nothing() -> Iterator[Pinned]:
    life = Pinned(READ_ONLY, words=("ask", "ask"))
    yield life
    life.boot(4, 1, 0, 4, inside=True)


PINNED = {
    "CannotServe": cannot_serve,
    "DoubtsTooSoon": doubts_too_soon,
    "GuessesFailure": guesses_failure,
    "ResultNotSynced": loses_a_result,
    "RetriesBlindly": retries_blindly,
    "TakesResultForPending": takes_a_result_for_pending,
    "RevokesNothing": revokes_nothing,
    "KeyPerAttempt": changes_the_key,
    "VerdictTwice": uses_a_verdict_twice,
    "TrustsNewPromise": trusts_a_new_promise,
    "TrustsOldPromise": trusts_an_old_promise,
    "ForgetsWithdrawal": forgets_a_withdrawal,
    "UnknownMeansNo": takes_unknown_for_no,
    "LateFailureClears": believes_a_late_failure,
    "GuessesSuccess": guesses_success,
}


def live(name: str) -> None:
    """One pinned life, or some random ones; raises where the machine objects."""
    pinned = PINNED.get(name)
    if pinned is None:
        run_state_machine_as_test(Durable, settings=FEW)
        return
    steps = pinned()
    life = next(steps)
    try:
        next(steps, None)
    finally:
        life.machine.teardown()


@pytest.mark.parametrize("name", sorted(PINNED))
def test_a_pinned_life_of_the_sound_code(name: str) -> None:
    """RES-6, RES-9, TOL-3: what is pinned for a mutant finds nothing in the code itself."""
    live(name)


@pytest.mark.parametrize("name", sorted(CODE))
def test_the_machine_catches_the_twin(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """KRN-3, KRN-11, DUR-2, DUR-6, RES-5, RES-6, RES-8, RES-9, TOL-3: the machine objects to each mutant."""
    CODE[name](monkeypatch)
    with pytest.raises((BrokenError, AssertionError)):
        live(name)
