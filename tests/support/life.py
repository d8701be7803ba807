"""The life of one run over many processes, without the bounds of a graph: crashes, verdicts, changes.

Used by the random histories whose logs TLC judges, and by the state machine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentl.durable import settle
from agentl.errors import DurableError
from agentl.kernel import steps as told
from tests.support.process import Dies, Effects, Process, Setting
from tests.support.seen import Record, View

PROMISES = (
    frozenset[str](),
    frozenset({"idempotent"}),
    frozenset({"reconcilable"}),
    frozenset({"idempotent", "reconcilable"}),
    frozenset({"read_only"}),
)


class Life:
    """One run: what lies on its disk, what happened in the world, and the steps that were told."""

    def __init__(self, disk: Any, rule: tuple[str, ...], host: tuple[frozenset[str], ...]) -> None:
        self.disk, self.rule, self.host = disk, rule, host
        self.setting = Setting(len(rule), attempts=3)
        self.left: Any = None
        self.effects: Effects = ((),) * len(rule)
        self.steps: list[told.Step] = []
        self.ended = "down"
        self.views: list[View] = []
        self.outside: list[Any] = []

    def records(self) -> tuple[Record, ...]:
        """What a reader finds on the disk now."""
        return () if self.left is None else self.setting.records.of(self.disk.lines(self.left))

    def boot(
        self,
        choose: Callable[[int], int],
        *,
        dies_at: int,
        inside: bool = False,
        torn: int = 0,
        tampered: bool = False,
    ) -> str:
        """One process, which dies at its step number ``dies_at``, or inside a tool after its effect.

        Returns how it ended: ``closed``, ``refused`` or ``down``.
        """
        if self.left is not None:
            self.steps.append(told.Crash())
            found = [record for record in self.records() if record.kind in ("intent", "result")]
            self.steps.append(told.Resume(len(found)))
        made = 0

        def arrived(action: str) -> None:
            nonlocal made
            self.views.append(process.view())
            made += 1
            if tampered and action == "Intent" and process.call[process.now - 1] == "ready":
                process.tamper()
            if process.run == "up" and made > dies_at and not inside:
                raise Dies

        process = Process(
            self.setting, self.disk, self.left, self.rule, self.host, self.effects, 0, choose, arrived
        )
        process.tell = self.steps.append
        process.die_inside = inside
        process.outside = self.outside
        try:
            process.live()
        except Dies:
            pass
        finally:
            self.disk.let_go()
        self.ended = "down" if process.run == "up" else process.run
        if self.ended == "closed":
            self.steps.append(told.Close())
        self.effects = tuple(tuple(done) for done in process.effects)
        durable = self.disk.durable()
        self.left = self.disk.torn(durable, torn) if self.ended == "down" else durable
        return self.ended

    def verdict(self, action: int) -> bool:
        """An operator looks at the world and says what became of an action; whether he could."""
        numbers = [
            record.id for record in self.records() if record.kind == "intent" and record.action == action
        ]
        if not numbers or self.ended == "up":
            return False
        store = self.disk.boot(self.left)
        executed = bool(self.effects[action - 1])
        name = f"walk:walk:t0:a{numbers[0]}"
        try:
            settle(store, name, executed=executed, by="operator", steps=self.steps.append)
        except DurableError:
            return False
        finally:
            self.disk.let_go()
        self.left = self.disk.durable()
        return True
