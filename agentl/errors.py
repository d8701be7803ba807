"""The exception tree: a class, a code and named values; the prose is in the catalogue.

``KRN-15`` fixes the classes of the kernel, ``DRF-1`` to ``DRF-3`` those of durable runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentl.messages import render, source_words


class AgentLError(Exception):
    """Base of every error that this package raises on purpose (`KRN-15`, `MSG-5`).

    Args:
        text: the words, where somebody outside the package wrote them (a tool that raises).
        code: the message code, where the package speaks; the text is then rendered from it.
        values: the named values of that message.
    """

    def __init__(self, text: str = "", *, code: str = "", **values: Any) -> None:
        super().__init__(text)
        self.text = text
        self.code = code
        self.values: Mapping[str, Any] = values

    def __str__(self) -> str:
        return self.text or (render(self.code, self.values) if self.code else "")

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (type(self), self.text, self.code, dict(self.values)))


def _rebuild(cls: type[AgentLError], text: str, code: str, values: dict[str, Any]) -> AgentLError:
    error = cls.__new__(cls)
    AgentLError.__init__(error, text, code=code, **values)
    return error


EXCERPT_WIDTH = 120
"""How much of a source line an error shows, in characters."""


def excerpt_start(column: int) -> int:
    """How many characters of a source line are left out before the part that an error shows."""
    return max(column - 60, 0) if column > 100 else 0


class SourceError(AgentLError):
    """A source text that is no program: says where, what stands there and what could (`PER-2`, `PER-3`)."""

    @property
    def filename(self) -> str:
        """The file, ``<source>`` for a text without one."""
        return str(self.values.get("filename", "<source>"))

    @property
    def line(self) -> int:
        """The line, from 1."""
        return int(self.values.get("line", 0))

    @property
    def column(self) -> int:
        """The column, from 1, in characters."""
        return int(self.values.get("column", 0))

    @property
    def found(self) -> str:
        """Kind and value of what stands there."""
        return str(self.values.get("found", ""))

    @property
    def expected(self) -> tuple[str, ...]:
        """What could stand there: tokens as written, kinds in capitals, constructs as ``‹name›``."""
        return tuple(self.values.get("expected", ()))

    def context(self) -> str:
        """The source line with a caret under the place; empty when there is none."""
        excerpt = str(self.values.get("excerpt", ""))
        if not excerpt:
            return ""
        before = excerpt[: max(self.column - 1 - excerpt_start(self.column), 0)]
        return f"{excerpt}\n{''.join(mark if mark == chr(9) else ' ' for mark in before)}^"

    def __str__(self) -> str:
        if self.text:
            return super().__str__()
        shown = source_words(self.values)
        place = f"{self.filename}:{self.line}: " if self.line else ""
        hint = self.values.get("hint")
        more = f" — {render(hint, shown)}" if hint else ""
        return f"{place}{render(self.code, shown)}{more}"


class LexError(SourceError):
    """A character sequence that is no token (`LEX-2`, `LEX-6`, `LEX-12`)."""


class ParseError(SourceError):
    """Tokens that are no program (`PER-1` to `PER-7`)."""


class EvalError(AgentLError):
    """An expression that has no value (`EVA-8`, `EVA-10`)."""


class PolicyViolation(AgentLError):
    """The policy refused what was asked."""


class RuntimeAgentError(AgentLError):
    """The program or its host cannot be run as asked."""


class HostDeclarationError(AgentLError, ValueError):
    """A name, a promise or a bound that a host cannot declare (`KRN-19`, `HST-4`)."""


class KernelAbort(AgentLError):
    """An interruption that no tolerant boundary may swallow (`KRN-15`)."""


class PermitError(KernelAbort):
    """A host was called, or a permit used, in a way that the kernel did not authorise (`KRN-14`)."""


class Cancelled(KernelAbort):
    """Somebody stopped the run."""


class Parked(KernelAbort):
    """The run waits for a person, and no process with it: it goes on when it is run again (`PRK-4`)."""


class HandedBack(KernelAbort):
    """A worker lets go of a run between two actions: whoever runs it again goes on (`WRK-3`)."""


class StoreFailure(KernelAbort):
    """The store of a durable run failed: the run ends, no tool is called after it (`DRF-3`)."""


class LeaseLost(StoreFailure):
    """Another driver has taken this run over (`STO-6`, `DRF-3`)."""


class NotExecuted(AgentLError):
    """Raised by a tool to say for sure that it did nothing (`TOL-3`)."""


class InvalidArguments(NotExecuted):
    """The arguments were not acceptable; nothing was done (`TOL-3`)."""


class PermissionRefused(NotExecuted):
    """The outside world refused permission; nothing was done (`TOL-3`)."""


class NotRegistered(NotExecuted, KeyError):
    """The host has no tool or sub-agent of that name, so nothing was done (`HST-2`, `HST-3`)."""


class ActionInDoubt(AgentLError):
    """Whether an action had its effect is not known (`TOL-3`, `RES-6`)."""

    def __init__(
        self, text: str = "", *, action_id: str = "", tool: str = "", code: str = "", **values: Any
    ) -> None:
        super().__init__(text, code=code, action_id=action_id, tool=tool, **values)

    @property
    def action_id(self) -> str:
        """The doubtful action."""
        return str(self.values.get("action_id", ""))

    @property
    def tool(self) -> str:
        """The target of the doubtful action."""
        return str(self.values.get("tool", ""))


class DurableError(AgentLError):
    """A durable journal or run that is refused (`DRF-1`)."""


class LeaseHeld(DurableError):
    """Another driver holds the run (`STO-6`)."""


class SealError(AgentLError):
    """A key or a seal that cannot be used (`SEA-6`)."""


class ReplayError(AgentLError):
    """A recording that cannot be replayed (`RPL-6`)."""


class ReplayDivergence(ReplayError, KernelAbort):
    """What is re-derived is not what was recorded (`RPL-6`, `DRF-2`)."""


class ReplayedError(AgentLError):
    """An error of the recorded run whose class is not a built-in one (`ENC-4`)."""
