"""Each report is tried on the file store and on the SQLite store."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.field_reports.kit import RUNNING, Ledger, Place


@pytest.fixture(params=["file", "sqlite"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return Place(request.param, tmp_path)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.jsonl")


@pytest.fixture(autouse=True)
def no_child_is_left() -> Iterator[None]:
    yield
    while RUNNING:
        RUNNING.pop().stop()
