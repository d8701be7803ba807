"""The steps of the protocol as events: what happened, told once it is true.

One event per action of ``formal/Kernel.tla``, under the same name. A listener hears of a step after the
write that makes it true has reached the disk, so a log of events never says more than the journal. The
default listener discards; nothing is built for it, so a run without a listener pays one comparison a step.

``Crash`` and ``Resume`` are told by the process that comes after: it finds the journal of one that did not
close its run. ``Tamper`` is a step of the environment, which nobody in here can see.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol


@dataclass(frozen=True, slots=True)
class Decide:
    """A proposal was judged (`KRN-3`). ``action_id`` is empty when ``permit`` is ``refused`` (`KRN-10`)."""

    target: str
    action_id: str
    permit: str


@dataclass(frozen=True, slots=True)
class Approve:
    """A person was asked (`APR-6`); ``permit`` is ``approved`` or ``refused``."""

    action_id: str
    permit: str


@dataclass(frozen=True, slots=True)
class Mint:
    """A permit was issued (`KRN-3`)."""

    action_id: str


@dataclass(frozen=True, slots=True)
class Intent:
    """The intention is on record (`DUR-6`).

    ``found``: ``new``, ``served`` (with its result) or ``interrupted`` (without one). ``promise``: what the
    host promises now.
    """

    action_id: str
    found: str
    promise: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dispatch:
    """One attempt was made, and its answer was understood (`KRN-12`, `TOL-3`).

    ``heard``: ``returned``, ``failed`` (a sure failure), ``unsure``, or ``called_off`` (unsure, and not to be
    repeated). ``bound``: the number of attempts that the host allows.
    """

    action_id: str
    attempt: int
    heard: str
    bound: int


@dataclass(frozen=True, slots=True)
class Settle:
    """It was found what becomes of an action without a result (`RES-6`, `TOL-3`).

    ``how``: ``retry``, ``reconciled``, ``not_executed``, ``failed``, ``in_doubt``, or ``executed`` (an
    operator's verdict).
    """

    action_id: str
    how: str


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome is on record and the permit spent (`KRN-11`): ``result``, ``failed`` or ``in_doubt``."""

    action_id: str
    status: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """An operator settled an action (`DCL-5`)."""

    action_id: str
    executed: bool


@dataclass(frozen=True, slots=True)
class Close:
    """The run is over (`RES-8`)."""


@dataclass(frozen=True, slots=True)
class Crash:
    """A process was found to have ended without closing its run."""


@dataclass(frozen=True, slots=True)
class Resume:
    """A process takes the run up again (`RES-1`), and finds so many intents and results on record."""

    records: int


Step = Decide | Approve | Mint | Intent | Dispatch | Settle | Result | Verdict | Close | Crash | Resume


class StepListener(Protocol):
    """Whatever hears of steps. What it raises ends the run as if the process had died there."""

    def __call__(self, step: Step, /) -> None:
        """Hear of one step, right after it became true."""


def discard(_step: Step, /) -> None:
    """The listener of a run that nobody listens to."""


DISCARD: Final[StepListener] = discard
