"""What the kernel asks of a journal: a port, implemented by durable runs and recordings.

The kernel never imports a journal. It hands over what must be on record, and takes back what an
earlier process left there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, NamedTuple, Protocol

from agentl.kernel.permit import ExecutionPermit
from agentl.kernel.protocol import Promise

RESULT: Final = "result"
FAILED: Final = "failed"
IN_DOUBT: Final = "in_doubt"


class _NotExecutedAnswer:
    """The answer of a reconciler that knows that the action did not take place (`HST-4`)."""

    __slots__ = ()
    _only: _NotExecutedAnswer | None = None

    def __new__(cls) -> _NotExecutedAnswer:
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def __repr__(self) -> str:
        return "NOT_EXECUTED"

    def __copy__(self) -> _NotExecutedAnswer:
        return self

    def __deepcopy__(self, _memo: Any) -> _NotExecutedAnswer:
        return self

    def __reduce__(self) -> str:
        return "NOT_EXECUTED"


NOT_EXECUTED: Final = _NotExecutedAnswer()


class Outcome(NamedTuple):
    """How an action ended (`TOL-3`).

    ``status`` is ``result`` (``value``), ``failed`` or ``in_doubt`` (``error``: a ``NotExecuted`` or an
    ``ActionInDoubt``).
    """

    status: str
    value: Any = None
    error: Exception | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an operator said about an unsettled action (`DCL-5`, `RES-6`)."""

    action_id: str
    target: str
    executed: bool
    value: Any = None
    by: str = "unknown"
    at: str = ""


@dataclass(frozen=True, slots=True)
class Recovery:
    """What the journal holds about an intent that is made (`RES-5`, `RES-6`).

    A fresh action: nothing but the defaults. A served one: ``outcome``. An interrupted one:
    ``pending``, with the number of its last ``attempt``, the ``recorded_promise`` names, the operator's
    ``verdict`` if there is one, ``declared`` when a doubt about it stands on record, and ``restricted`` when
    an older driver may still be inside its call (`STO-6`).
    """

    outcome: Outcome | None = None
    attempt: int = 1
    pending: bool = False
    recorded_promise: tuple[str, ...] = field(default=())
    verdict: Verdict | None = None
    restricted: bool = False
    declared: bool = False


FRESH: Final = Recovery()


class ActionJournal(Protocol):
    """The record of actions that a kernel writes to and is served from (`DUR-5`, `DUR-6`).

    Every method may raise a ``KernelAbort`` (a failed store, a divergence); the run then ends.
    """

    @property
    def fencing_token(self) -> int | None:
        """The lease epoch of this driver (`STO-6`), or ``None``."""

    def intent(self, permit: ExecutionPermit, promise: tuple[str, ...]) -> Recovery:
        """Put the intent on record, durable on return, or consume the recorded one (`RES-5`)."""

    def resolution(self, permit: ExecutionPermit, how: str, attempt: int | None) -> None:
        """Put a further attempt or the answer of a reconciler on record, durable on return."""

    def result(self, permit: ExecutionPermit, outcome: Outcome) -> None:
        """Put the outcome on record, durable on return: it never runs again."""

    def doubt(self, permit: ExecutionPermit) -> None:
        """Put on record that the recorded result broke its OUTPUT contract (`TOL-4`)."""

    def lookup(self, target: str, call: Callable[[], bool]) -> bool:
        """The crossing ``delegate_lookup``: served, or called and recorded."""

    def reconcile(
        self, target: str, action_id: str, call: Callable[[], tuple[bool, Any]] | None
    ) -> tuple[bool, Any] | None:
        """The crossing ``reconcile`` of a doubtful action: served if it comes next, else called.

        ``call`` is ``None`` when the host makes no such promise now; it raises when the reconciler does
        not know. ``None`` is returned when there was nothing to serve and nothing to call, or when the
        old lease holder may still live (`TOL-8`).
        """

    def verdicts(self) -> list[Verdict]:
        """The verdicts on doubtful actions that wait at the start of this tick (`RES-10`)."""


_PROMISES: Final = {
    "idempotent": Promise.IDEMPOTENT,
    "read_only": Promise.READ_ONLY,
    "reconcilable": Promise.RECONCILABLE,
}


@lru_cache(maxsize=256)
def promise_of(names: tuple[str, ...]) -> Promise:
    """The flags of promise names (`HST-4`); unknown names promise nothing."""
    promise = Promise.PLAIN
    for name in names:
        promise |= _PROMISES.get(name, Promise.PLAIN)
    return promise


__all__ = [
    "FAILED",
    "FRESH",
    "IN_DOUBT",
    "NOT_EXECUTED",
    "RESULT",
    "ActionJournal",
    "Outcome",
    "Recovery",
    "Verdict",
    "promise_of",
]
