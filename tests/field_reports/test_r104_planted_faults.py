"""R104: Every planted fault of the code is caught by a test that ships."""

from __future__ import annotations

import pytest

from tests.machines.run_model import BrokenError
from tests.machines.test_durable_mutants import PINNED, live
from tests.support.mutants import CODE

# The faults of the report that exist in this version, and the twin that is planted for each.
FAULTS = {
    "skip fsync": "IntentNotSynced",
    "reuse permit": "PermitSurvives",
    "ignore deny": "JudgesByOldPolicy",
    "retry in doubt": "RetriesBlindly",
    "drop a result": "ResultNotSynced",
    "swap approvals": "HearsYes",
}


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_the_fault_is_caught(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """R104: planted in the code, found by the machine of durable runs; the graph walk finds each as well."""
    CODE[FAULTS[fault]](monkeypatch)
    with pytest.raises((BrokenError, AssertionError)):
        live(FAULTS[fault])


def test_the_sound_code_is_not_accused() -> None:
    """R104: what catches the faults finds nothing in the code."""
    for name in PINNED:
        live(name)
