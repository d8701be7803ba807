"""Doubtful actions of one kernel, and how they are settled later (`TOL-8`, `RES-10`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agentl.contracts import clause, ensure
from agentl.errors import PermitError
from agentl.kernel import protocol
from agentl.kernel.action import ActionRequest
from agentl.kernel.protocol import RecordStage


@dataclass(frozen=True, slots=True)
class Doubt:
    """An action of which nobody knows whether it took place."""

    kind: str
    target: str
    action_id: str
    idempotency_key: str
    action_hash: str
    request: ActionRequest
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class SettledDoubt:
    """A doubt that is closed: it took place (``executed``, with its ``value``) or it did not.

    ``by`` names the operator of a verdict, and is ``None`` after a reconciliation.
    """

    doubt: Doubt
    executed: bool
    value: Any = None
    by: str | None = None

    @property
    def target(self) -> str:
        return self.doubt.target

    @property
    def kind(self) -> str:
        return self.doubt.kind

    @property
    def action_id(self) -> str:
        return self.doubt.action_id


class Doubts:
    """The open doubts, in the order in which they arose."""

    __slots__ = ("_asked", "_open")

    def __init__(self) -> None:
        self._open: dict[str, Doubt] = {}
        self._asked: dict[tuple[str, str], int] = {}

    def __len__(self) -> int:
        return len(self._open)

    def add(self, doubt: Doubt) -> None:
        """Open a doubt; adding the same action again changes nothing."""
        self._open.setdefault(doubt.action_id, doubt)

    def of(self, target: str, kind: str | None = None) -> list[Doubt]:
        """The open doubts about a target, of one kind or of both."""
        return [
            doubt
            for doubt in self._open.values()
            if doubt.target == target and (kind is None or doubt.kind == kind)
        ]

    def find(self, action_id: str) -> Doubt | None:
        """The open doubt about this action, or ``None``."""
        return self._open.get(action_id)

    def may_ask(self, target: str, kind: str, tick: int) -> bool:
        """Whether the reconciler of this target was not asked yet in this tick; notes that it is now."""
        if self._asked.get((kind, target)) == tick:
            return False
        self._asked[kind, target] = tick
        return True

    @ensure(
        lambda self, action_id, executed, result: (
            result.executed == executed
            and result.doubt.action_id == action_id
            and self.find(action_id) is None
        ),
        error=clause("TOL-8", "Verdict"),
    )
    def settle(self, action_id: str, executed: bool, value: Any, by: str | None) -> SettledDoubt:
        """Close a doubt (the model's Verdict on a doubtful record).

        Raises:
            PermitError: there is no such doubt.
        """
        doubt = self._open.get(action_id)
        if doubt is None:
            raise PermitError(code="permit.step", step="verdict", stage=RecordStage.NONE.value)
        closed = protocol.verdict(RecordStage.DOUBT, executed)
        del self._open[action_id]
        return SettledDoubt(doubt, closed is RecordStage.RESULT, value if executed else None, by)


__all__ = ["Doubt", "Doubts", "SettledDoubt"]
