"""Each report is tried on the file store and on the SQLite store; those about stores on PostgreSQL too."""

from collections.abc import Iterator
from pathlib import Path

import pytest

# Their assertions count under ``python -O`` too, as those of the tests do.
pytest.register_assert_rewrite("tests.field_reports.kit", "tests.field_reports.relay")

from tests.field_reports.kit import RUNNING, Ledger, Place  # noqa: E402


@pytest.fixture(params=["file", "sqlite"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return Place(request.param, tmp_path)


@pytest.fixture(params=["file", "sqlite", "postgres"])
def every_place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return Place(request.param, tmp_path)


@pytest.fixture(params=["sqlite", "postgres"])
def database_place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return Place(request.param, tmp_path)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.jsonl")


@pytest.fixture(autouse=True)
def no_child_is_left() -> Iterator[None]:
    yield
    while RUNNING:
        RUNNING.pop().stop()
