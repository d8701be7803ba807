"""Sensors: readings, mute sensors, and what is then believed (`SNS-1` to `SNS-3`)."""

from __future__ import annotations

from typing import Any, Final

from agentl.errors import KernelAbort
from agentl.labels import FALLBACK_LABEL, OBSERVED_LABEL, UNKNOWN_LABEL, Prov
from agentl.language.nodes import Expr, Observer
from agentl.logic import equal
from agentl.paths import is_reserved
from agentl.runtime.asking import Asking
from agentl.runtime.core import Core, opened
from agentl.runtime.drift import Drift
from agentl.runtime.paths import paths_of, touches
from agentl.runtime.trace import failure, frozen
from agentl.values import UNDEFINED

OBSERVED_CONFIDENCE: Final = 0.95
FALLBACK_CONFIDENCE: Final = 0.3


class Sensors:
    """The declared sensors of one agent.

    Attributes:
        last_read: tick of the last real reading, by path.
    """

    def __init__(self, core: Core, drift: Drift, asking: Asking) -> None:
        self.core = core
        self.drift = drift
        self.asking = asking
        self.last_read: dict[str, int] = {}
        self._unread: dict[str, Prov] = {}
        self._escalated: dict[str, None] = {}

    def begin_tick(self) -> None:
        """Publish the age of every reading (`SNS-3`)."""
        tick = self.core.state.tick
        for path, read in self.last_read.items():
            self.core.fact(f"sensors.{path}.age", tick - read)

    def observe(self) -> None:
        """OBSERVE: read each declared path whose WHEN holds (`SNS-1`)."""
        for path, observer in self.core.observed.items():
            if self.core.condition(observer.when, "context.observe", path):
                self._observe(observer)

    def _observe(self, observer: Observer) -> None:
        path = observer.path
        if self.core.refuse_reserved(path):
            return
        value, label = self._read(path)
        if value is None:
            self._mute(observer)
            return
        self._perceived(path, value, label)
        self._unread[path] = label
        self.core.say("OBSERVE", "sensor.read", {"path": path, "value": frozen(value)})

    def _read(self, path: str) -> tuple[Any, Prov]:
        try:
            value, label = opened(self.core.host.read(path))
        except KernelAbort:
            raise
        except Exception as error:  # noqa: BLE001 - a failing sensor is a mute one (`SNS-1`)
            self.core.say("ERROR", "sensor.failed", {"path": path, **failure(error, crossed=True)})
            return None, UNKNOWN_LABEL
        return value, OBSERVED_LABEL | label | self.core.control.label

    def _perceived(self, path: str, value: Any, label: Prov) -> None:
        core = self.core
        core.fact(f"sensors.{path}.available", True)
        core.fact(f"sensors.{path}.age", 0)
        core.state.set_world(path, value, label)
        self.last_read[path] = core.state.tick
        self._escalated.pop(path, None)

    def _mute(self, observer: Observer) -> None:
        core = self.core
        path = observer.path
        core.count("sensor_unknown")
        core.fact(f"sensors.{path}.available", False)
        if observer.on_unknown == "DEGRADE" and observer.fallback is not None and self._degrade(observer):
            return
        self._keep_last(path)
        if observer.on_unknown == "ESCALATE" and path not in self._escalated:
            self._escalated[path] = None
            self.asking.mute_sensor(path)
            return
        last = core.state.world.get(path, UNDEFINED)
        if path in self.last_read and last is not UNDEFINED:
            age = core.state.tick - self.last_read[path]
            core.say("OBSERVE", "sensor.stale", {"path": path, "value": frozen(last), "age": age})
        else:
            core.say("OBSERVE", "sensor.mute", {"path": path})

    def _degrade(self, observer: Observer) -> bool:
        core = self.core
        path = observer.path
        assert observer.fallback is not None
        done, value, label = core.value(observer.fallback, "context.degrade", path)
        if not done:
            return False
        label = FALLBACK_LABEL | label | core.control.label
        core.count("sensor_degraded")
        core.state.set_world(path, value, label)
        core.state.set_belief(path, value, FALLBACK_CONFIDENCE, "fallback", core.state.tick, label)
        self._unread.pop(path, None)
        core.say("OBSERVE", "sensor.degraded", {"path": path, "value": frozen(value)})
        return True

    def _keep_last(self, path: str) -> None:
        """The last reading stays, as a belief of source ``stale`` (`SNS-3`)."""
        state = self.core.state
        if path not in self.last_read or path not in state.world:
            return
        belief = state.beliefs.get(path)
        value, confidence = state.world[path], OBSERVED_CONFIDENCE
        updated: Any = self.last_read[path]
        if belief is not None:
            if belief.source != "observation":
                return
            value, confidence, updated = belief.value, belief.confidence, belief.updated
        label = state.labels.get(("world" if belief is None else "beliefs", path))
        state.set_belief(path, value, confidence, "stale", updated, label)
        self._unread.pop(path, None)

    def update_beliefs(self) -> None:
        """UPDATE_BELIEFS: believe what was read since the last time (`TCK-7`)."""
        core = self.core
        unread, self._unread = self._unread, {}
        for path, label in unread.items():
            value = core.state.world.get(path, UNDEFINED)
            if value is UNDEFINED:
                continue
            belief = core.state.beliefs.get(path)
            if belief is not None:
                if not _same(belief.value, value):
                    values = {"path": path, "before": frozen(belief.value), "after": frozen(value)}
                    core.say("BELIEF", "belief.changed", values)
                self.drift.judge(path, belief, value)
            core.state.set_belief(path, value, OBSERVED_CONFIDENCE, "observation", core.state.tick, label)

    def reperceive(self, expr: Expr) -> None:
        """Read again every observed path that ``expr`` mentions, before it decides (`STM-6`, `TOL-2`)."""
        if not self.core.observed:
            return
        read = expr.memo.get("paths")
        if read is None:
            read = expr.memo["paths"] = paths_of(expr)
        for path in self.core.observed:
            if any(touches(path, other) for other in read) and not is_reserved(path):
                self._recheck(path)

    def _recheck(self, path: str) -> None:
        core = self.core
        value, label = self._read(path)
        self._unread.pop(path, None)
        if value is None:
            core.fact(f"sensors.{path}.available", False)
            core.state.invalidate(path)
            core.say("OBSERVE", "sensor.recheck_mute", {"path": path})
            return
        belief = core.state.beliefs.get(path)
        self._perceived(path, value, label)
        self.drift.judge(path, belief, value)
        core.state.set_belief(path, value, OBSERVED_CONFIDENCE, "observation", core.state.tick, label)
        core.say("BELIEF", "belief.rechecked", {"path": path, "value": frozen(value)})


def _same(left: Any, right: Any) -> bool:
    return type(left) is type(right) and bool(equal(left, right))


__all__ = ["FALLBACK_CONFIDENCE", "OBSERVED_CONFIDENCE", "Sensors"]
