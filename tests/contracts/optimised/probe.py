"""What tests must come to under ``PYTHONOPTIMIZE=1``: two that fail, one that passes. Run on purpose only."""

from __future__ import annotations

from agentl.contracts import ENABLED
from tests.support.asserting import claims


def test_the_package_is_optimised() -> None:
    claims((__debug__, ENABLED), (False, False))


def test_an_assertion_of_a_test() -> None:
    assert ENABLED


def test_an_assertion_of_what_tests_share() -> None:
    claims(ENABLED, True)
