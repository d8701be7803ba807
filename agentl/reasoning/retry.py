"""Calling a remote model again when its failure is transient (`API-6`).

Waiting is done by an injected ``sleep`` and its length is computed, never drawn: a retry
changes nothing in what is journalled, and a test needs no clock.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any, Final, TypeVar
from urllib.error import URLError

TRANSIENT_STATUS: Final = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
_TRANSIENT_NAMES: Final = frozenset({"APIConnectionError", "APITimeoutError"})

_Result = TypeVar("_Result")


def _status(error: BaseException) -> int | None:
    for holder in (error, getattr(error, "response", None)):
        for name in ("status_code", "code", "status"):
            found = getattr(holder, name, None)
            if isinstance(found, int) and not isinstance(found, bool):
                return found
    return None


def is_transient(exc: BaseException) -> bool:
    """Whether the same call may succeed later: an overloaded or unreachable service (`API-6`)."""
    status = _status(exc)
    if status is not None:
        return status in TRANSIENT_STATUS
    if isinstance(exc, (URLError, TimeoutError, ConnectionError)):
        return True
    return any(base.__name__ in _TRANSIENT_NAMES for base in type(exc).__mro__)


def retry_after(exc: BaseException) -> float | None:
    """The seconds that the service asks to wait, or ``None``; a negative or unreadable header is ignored."""
    for holder in (exc, getattr(exc, "response", None)):
        headers = getattr(holder, "headers", None)
        if headers is None or not hasattr(headers, "get"):
            continue
        raw = headers.get("retry-after") or headers.get("Retry-After")
        try:
            seconds = float(raw)
        except (TypeError, ValueError):
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    return None


def _setting(name: str, default: float) -> float:
    try:
        value = float(os.environ.get(name, ""))
    except ValueError:
        return default
    return value if 0 <= value < float("inf") else default


def call_with_retry(
    fn: Callable[[], _Result],
    *,
    attempts: int | None = None,
    base_delay: float = 1.0,
    max_delay: float = 30.0,
    budget: float | None = None,
    sleep: Callable[[float], Any] = time.sleep,
    on_retry: Callable[[int, float, BaseException], Any] | None = None,
) -> _Result:
    """Call ``fn``, again after a transient failure, and return its result (`API-6`).

    Args:
        attempts: how many further calls at most (``AGENTL_LLM_RETRIES``, default 3).
        base_delay: seconds before the second call; doubled before each further one.
        max_delay: seconds that one wait never exceeds.
        budget: seconds of waiting in all (``AGENTL_LLM_RETRY_BUDGET``, default 90).
        sleep: waits the given seconds.
        on_retry: told the number of the retry, the wait in seconds and the error.

    Raises:
        Exception: the last error of ``fn``; one that is not transient at once.
    """
    retries = int(_setting("AGENTL_LLM_RETRIES", 3)) if attempts is None else attempts
    left = _setting("AGENTL_LLM_RETRY_BUDGET", 90) if budget is None else budget
    retry = 0
    while True:
        try:
            return fn()
        except Exception as error:
            if retry >= retries or not is_transient(error):
                raise
            asked = retry_after(error)
            delay = min(base_delay * 2**retry if asked is None else asked, max_delay)
            if delay > left:
                raise
            retry += 1
            left -= delay
            if on_retry is not None:
                on_retry(retry, delay, error)
            sleep(delay)


__all__ = ["TRANSIENT_STATUS", "call_with_retry", "is_transient", "retry_after"]
