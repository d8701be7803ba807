"""How every test runs: the hypothesis profiles, and a language and an environment of its own.

``HYPOTHESIS_PROFILE`` is ``dev`` (default), ``ci`` (derandomised, so a red build stays red) or
``nightly`` (deep). ``AGENTL_PROPERTY_RUNS`` overrides the number of examples of any of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from agentl.messages import set_language

# What the tests share asserts as well; unless pytest rewrites it, that is dropped under python -O.
pytest.register_assert_rewrite(
    "agentl.durable.testing",
    *(f"tests.{folder.name}" for folder in sorted(Path(__file__).parent.iterdir()) if folder.is_dir()),
)

_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}
_DEEP = {"stateful_step_count": 100, "print_blob": True}
_SAME_EVERY_TIME = {"stateful_step_count": 50, "derandomize": True, "database": None, "print_blob": True}

settings.register_profile("dev", max_examples=50, stateful_step_count=30, **_COMMON)
settings.register_profile("ci", max_examples=100, **_SAME_EVERY_TIME, **_COMMON)
settings.register_profile("nightly", max_examples=5000, **_DEEP, **_COMMON)


def _load_profile() -> None:
    name = os.environ.get("HYPOTHESIS_PROFILE", "dev")
    runs = os.environ.get("AGENTL_PROPERTY_RUNS")
    if runs:
        settings.register_profile("chosen", parent=settings.get_profile(name), max_examples=int(runs))
        name = "chosen"
    settings.load_profile(name)


_load_profile()


@pytest.fixture(autouse=True)
def _own_language(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test starts in the default language and leaves none behind (`MSG-4`)."""
    for name in ("AGENTL_LANG", "AGENTL_JOURNAL_KEY", "AGENTL_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    set_language(None)
    yield
    set_language(None)


@pytest.fixture
def database() -> Iterator[str]:
    """The address of a new, empty PostgreSQL database; the test is skipped where there is no server.

    Each process of the tests has a server of its own, started by the first test that asks for it.
    """
    from tests.support.postgres import server

    dsn = server().database()
    yield dsn
    server().empty(dsn)
