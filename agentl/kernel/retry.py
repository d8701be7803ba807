"""How often, and how long apart, a promising target may be called again (`HST-1`, `HST-4`)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from agentl.errors import HostDeclarationError


@dataclass(frozen=True, slots=True)
class Retry:
    """How often, and how long apart, a target may be called again under one key (`HST-4`).

    Args:
        attempts: the number of calls in all, at least 1.
        delay: seconds before the second call.
        factor: multiplies the delay before each further call.
        jitter: at most so many seconds more, spread by the idempotency key and not by chance, so that
            two actions do not wait alike and a test still knows how long.
        max_delay: no wait is longer, in seconds.

    Raises:
        HostDeclarationError: a number is not finite, negative, or no call is left.
    """

    attempts: int = 2
    delay: float = 0.0
    factor: float = 1.0
    jitter: float = 0.0
    max_delay: float | None = None

    def __post_init__(self) -> None:
        if type(self.attempts) is not int or self.attempts < 1:
            raise HostDeclarationError(code="host.retry", field="attempts", value=self.attempts)
        for name in ("delay", "factor", "jitter", "max_delay"):
            value = getattr(self, name)
            if value is None and name == "max_delay":
                continue
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise HostDeclarationError(code="host.retry", field=name, value=value)
            if not math.isfinite(value) or value < 0:
                raise HostDeclarationError(code="host.retry", field=name, value=value)

    def pause(self, attempt: int, key: str) -> float:
        """Seconds to wait after attempt number ``attempt`` of the action with this idempotency key."""
        try:
            wait = self.delay * self.factor ** (attempt - 1)
        except OverflowError:
            wait = math.inf
        if self.jitter:
            drawn = int.from_bytes(sha256(f"{key}:{attempt}".encode()).digest()[:4], "big")
            wait += self.jitter * drawn / 0xFFFFFFFF
        if self.max_delay is not None:
            return min(wait, self.max_delay)
        return wait if math.isfinite(wait) else self.delay


DEFAULT_RETRY: Final = Retry()


__all__ = ["DEFAULT_RETRY", "Retry"]
