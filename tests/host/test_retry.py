"""How often and how long apart."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentl.errors import HostDeclarationError
from agentl.kernel.retry import DEFAULT_RETRY, Retry


def test_the_default_is_one_more_call_at_once() -> None:
    """HST-1."""
    assert (DEFAULT_RETRY.attempts, DEFAULT_RETRY.delay, DEFAULT_RETRY.pause(1, "k")) == (2, 0.0, 0.0)


def test_waits_grow_by_the_factor_up_to_the_cap() -> None:
    """HST-4."""
    retry = Retry(5, delay=1.0, factor=3.0, max_delay=8.0)
    assert [retry.pause(attempt, "k") for attempt in (1, 2, 3, 4)] == [1.0, 3.0, 8.0, 8.0]
    assert Retry(3, delay=2.0, factor=1e300).pause(9, "k") == 2.0


@given(st.text(max_size=8), st.integers(1, 9))
def test_jitter_stays_in_its_bounds_and_is_the_same_every_time(key: str, attempt: int) -> None:
    """HST-4: spread by the key, no randomness."""
    retry = Retry(9, delay=1.0, jitter=0.5)
    assert 1.0 <= retry.pause(attempt, key) <= 1.5
    assert retry.pause(attempt, key) == retry.pause(attempt, key)
    assert Retry(9, delay=1.0, jitter=0.5, max_delay=1.0).pause(attempt, key) == 1.0


def test_different_actions_do_not_wait_alike() -> None:
    """HST-4."""
    retry = Retry(2, delay=1.0, jitter=0.5)
    assert len({retry.pause(1, f"key{number}") for number in range(20)}) == 20


@pytest.mark.parametrize(
    "bad",
    [
        {"attempts": 0},
        {"attempts": True},
        {"attempts": 2.0},
        {"delay": -1.0},
        {"delay": float("nan")},
        {"factor": float("inf")},
        {"jitter": "1"},
        {"max_delay": -1},
        {"delay": True},
    ],
)
def test_a_bound_that_makes_no_sense_is_refused(bad: dict[str, Any]) -> None:
    """HST-4."""
    with pytest.raises(HostDeclarationError) as caught:
        Retry(**bad)
    assert caught.value.code == "host.retry"
