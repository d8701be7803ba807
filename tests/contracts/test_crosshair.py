"""The tool that lets CrossHair confirm contracts fails when it should (`KRN-17`)."""

from __future__ import annotations

import pytest

from tools import crosshair_check
from tools.crosshair_check import look_at


def test_a_confirmed_step_with_a_found_fault_passes() -> None:
    """STO-6, KRN-17."""
    row = look_at("agentl.durable.lease", "may_append", 1, 5)
    assert row.passed, row
    assert row.found.startswith("may_append(")


def test_a_condition_that_was_not_looked_at_fails() -> None:
    """KRN-17: as many conditions must be confirmed as icontract keeps."""
    assert not look_at("agentl.durable.lease", "may_append", 2, 5).passed


def test_a_wrong_step_fails() -> None:
    """KRN-17: a counterexample."""
    row = look_at("tests.contracts.planted.lease", "may_append", 1, 5)
    assert not row.passed
    assert "false when calling" in row.trouble


def test_a_fault_that_is_not_found_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """KRN-17: here the twin is the step itself, in which there is nothing to find."""
    monkeypatch.setattr(crosshair_check, "PLANTED", "agentl.durable")
    row = look_at("agentl.durable.lease", "may_append", 1, 5)
    assert (row.confirmed, row.found, row.passed) == (1, "", False)
