"""Retrying a remote model (`API-6`)."""

from __future__ import annotations

from email.message import Message
from typing import Any
from urllib.error import HTTPError, URLError

import pytest

from agentl.reasoning import call_with_retry, is_transient, retry_after


def http(status: int, **headers: str) -> HTTPError:
    """The error of a service."""
    message = Message()
    for name, value in headers.items():
        message[name.replace("_", "-")] = value
    return HTTPError("http://service", status, "no", message, None)


class Coded(Exception):
    """An error of a client library."""

    def __init__(self, status: int) -> None:
        self.status_code = status


class APIConnectionError(Exception):
    """Known by its name: the library is optional."""


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 529])
def test_overload_and_server_errors_are_transient(status: int) -> None:
    """`API-6`."""
    assert is_transient(http(status))
    assert is_transient(Coded(status))


@pytest.mark.parametrize(
    "error", [URLError("unreachable"), TimeoutError(), ConnectionResetError(), APIConnectionError()]
)
def test_an_unreachable_service_is_transient(error: Exception) -> None:
    """`API-6`."""
    assert is_transient(error)


@pytest.mark.parametrize("error", [http(400), http(401), Coded(404), ValueError(), KeyError("x")])
def test_other_errors_are_not(error: Exception) -> None:
    """`API-6`."""
    assert not is_transient(error)


@pytest.mark.parametrize(
    ("header", "seconds"), [("3", 3.0), ("0.5", 0.5), ("-1", None), ("soon", None), ("inf", None)]
)
def test_the_service_may_ask_for_a_wait(header: str, seconds: float | None) -> None:
    """`API-6`: in seconds; nonsense is ignored."""
    assert retry_after(http(429, Retry_After=header)) == seconds
    assert retry_after(ValueError()) is None


class Service:
    """Fails as told, then answers."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.calls = 0

    def __call__(self) -> str:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return "ok"


def test_a_transient_failure_is_tried_again_with_doubled_waits() -> None:
    """`API-6`: no wait above max_delay, and on_retry is told."""
    waits: list[float] = []
    told: list[Any] = []
    service = Service(http(503), http(503), http(503), http(503))
    answer = call_with_retry(
        service, attempts=4, base_delay=1, max_delay=3, budget=90, sleep=waits.append,
        on_retry=lambda number, delay, error: told.append((number, delay)),
    )  # fmt: skip
    assert (answer, waits) == ("ok", [1, 2, 3, 3])
    assert told == [(1, 1), (2, 2), (3, 3), (4, 3)]


def test_the_wait_that_the_service_asks_for_is_respected() -> None:
    """`API-6`."""
    waits: list[float] = []
    call_with_retry(Service(http(429, Retry_After="7")), attempts=1, budget=90, sleep=waits.append)
    assert waits == [7.0]


def test_a_failure_that_is_not_transient_is_never_retried() -> None:
    """`API-6`."""
    service = Service(ValueError("bad request"))
    with pytest.raises(ValueError, match="bad request"):
        call_with_retry(service, attempts=5, budget=90, sleep=lambda seconds: pytest.fail("no wait"))
    assert service.calls == 1


def test_attempts_and_budget_bound_the_retries() -> None:
    """`API-6`: the last error is raised."""
    service = Service(*[http(503)] * 9)
    with pytest.raises(HTTPError):
        call_with_retry(service, attempts=2, budget=90, sleep=lambda seconds: None)
    assert service.calls == 3
    waits: list[float] = []
    with pytest.raises(HTTPError):
        call_with_retry(Service(*[http(503)] * 9), attempts=9, base_delay=4, budget=5, sleep=waits.append)
    assert waits == [4]


def test_the_defaults_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """`API-6`: AGENTL_LLM_RETRIES (3) and AGENTL_LLM_RETRY_BUDGET (90); nonsense is the default."""
    for value, calls in (("1", 2), ("nonsense", 4), ("", 4)):
        monkeypatch.setenv("AGENTL_LLM_RETRIES", value)
        service = Service(*[http(503)] * 9)
        with pytest.raises(HTTPError):
            call_with_retry(service, sleep=lambda seconds: None)
        assert service.calls == calls
    monkeypatch.setenv("AGENTL_LLM_RETRY_BUDGET", "0.5")
    service = Service(*[http(503)] * 9)
    with pytest.raises(HTTPError):
        call_with_retry(service, sleep=lambda seconds: None)
    assert service.calls == 1
