"""A service with an inbox, on each database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.receiving import DATABASES, Service, at, remove


@pytest.fixture(params=DATABASES)
def service(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Service]:
    made = at(request.param, tmp_path)
    yield made
    remove(made)
