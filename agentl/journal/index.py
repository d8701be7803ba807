"""What a journal says about its run, kept up entry by entry: open actions, doubts, counts.

Built while the chain is checked and kept up while the run goes on, so that neither a resume
nor ``durable status`` has to hold decoded entries (`DUR-11`, `DUR-13`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final

Intention = dict[str, Any]
_PUBLIC: Final = ("tool", "action_id", "key", "hash", "kind", "policy", "promise")


class Index:
    """The facts of a journal that outlive its entries.

    ``open_args`` and ``close_args`` are the arguments of these entries (``close_args`` is ``None``
    again after an ``extend``); ``cancel_args`` those of a cancellation; ``limit`` the tick limit in
    force; ``epochs`` the number of drivers so far; ``events`` the ids of events that the journal holds.
    """

    def __init__(self) -> None:
        self.entries = 0
        self.counts: dict[str, int] = {}
        self.run_id = ""
        self.open_args: Mapping[str, Any] | None = None
        self.close_args: Mapping[str, Any] | None = None
        self.closed_entries = 0
        self.cancel_args: Mapping[str, Any] | None = None
        self.limit: int | None = None
        self.epochs = 0
        self.epoch = 0
        self.last_tick = 0
        self.events: dict[str, None] = {}
        self.resolutions: list[dict[str, Any]] = []
        self._pending: dict[str | None, Intention] = {}
        self._ended: dict[str | None, Intention] = {}
        self._doubts: dict[str, Intention] = {}

    def note(
        self,
        kind: str,
        key: str,
        args: Any = None,
        error: tuple[str, str] | None = None,
        agent: str | None = None,
    ) -> None:
        """Take one entry into account; ``args`` in journal form."""
        self.entries += 1
        self.counts[kind] = self.counts.get(kind, 0) + 1
        step = self._STEPS.get(kind)
        if step is not None:
            step(self, key, args if args is not None else {}, error, agent)

    def pending(self) -> list[Intention]:
        """Intentions without result or verdict (`DUR-11`)."""
        return [public(found) for found in self._pending.values() if "verdict" not in found]

    def in_doubt(self) -> list[Intention]:
        """Doubtful actions that nobody has settled (`DUR-11`)."""
        return [public(found) for found in self._doubts.values()]

    def settleable(self, action_id: str) -> Intention | None:
        """The pending or doubtful action of that id, or ``None``."""
        for found in (*self._pending.values(), *self._doubts.values()):
            if found["action_id"] == action_id and "verdict" not in found:
                return found
        return None

    def add_events(self, ids: list[str]) -> None:
        """Remember event ids that the journal holds (`DUR-12`)."""
        self.events.update(dict.fromkeys(ids))

    # One small step per kind, so that an entry costs a dictionary look-up and no chain of tests.

    def _open(self, key: str, args: Any, _error: Any, _agent: Any) -> None:
        self.run_id = key
        self.open_args = args
        self.limit = args.get("max_ticks")
        self._driver(args)

    def _resume(self, _key: str, args: Any, _error: Any, _agent: Any) -> None:
        self._driver(args)

    def _driver(self, args: Any) -> None:
        self.epochs += 1
        epoch = args.get("epoch")
        self.epoch = epoch if type(epoch) is int else self.epochs

    def _close(self, _key: str, args: Any, _error: Any, _agent: Any) -> None:
        self.close_args = args
        self.closed_entries = self.entries

    def _extend(self, _key: str, args: Any, _error: Any, _agent: Any) -> None:
        self.close_args = None
        self.limit = args.get("max_ticks")

    def _cancel(self, _key: str, args: Any, _error: Any, _agent: Any) -> None:
        self.cancel_args = args

    def _checkpoint(self, key: str, _args: Any, _error: Any, _agent: Any) -> None:
        if key.isdecimal():
            self.last_tick = int(key)

    def _intent(self, key: str, args: Any, _error: Any, agent: Any) -> None:
        # The drivers that had leave to call: one of them may still be inside (`STO-6`).
        self._pending[agent] = {**args, "tool": key, "callers": [self.epoch]}

    def _result(self, _key: str, _args: Any, error: Any, agent: Any) -> None:
        found = self._pending.pop(agent, None)
        if found is None:
            return
        self._ended[agent] = found
        if error is not None and error[0] == "ActionInDoubt":
            self._doubt(found)

    def _doubt(self, found: Intention) -> None:
        found.pop("verdict", None)
        self._doubts[found["action_id"]] = found

    def _resolution(self, key: str, args: Any, _error: Any, agent: Any) -> None:
        self.resolutions.append({**args, "tool": key})
        found = self._pending.get(agent)
        if found is not None:
            # What was decided after a verdict has used it up.
            found.pop("verdict", None)
            if args.get("how") in ("retry", "not_executed"):
                found["callers"].append(self.epoch)
        elif args.get("how") == "in_doubt":
            # A result that broke its OUTPUT contract is declared in doubt behind it (`TOL-4`).
            ended = self._ended.get(agent)
            if ended is not None and ended["action_id"] == args.get("action_id"):
                self._doubt(ended)

    def _verdict(self, key: str, args: Any, _error: Any, _agent: Any) -> None:
        self.resolutions.append({**args, "tool": key, "how": "verdict"})
        action_id = args.get("action_id")
        if self._doubts.pop(action_id, None) is None:
            for found in self._pending.values():
                if found["action_id"] == action_id:
                    found["verdict"] = True

    def _reconcile(self, _key: str, args: Any, error: Any, _agent: Any) -> None:
        if error is None:
            self._doubts.pop(args.get("action_id"), None)

    _STEPS: ClassVar[dict[str, Callable[[Index, str, Any, Any, Any], None]]] = {
        "open": _open,
        "resume": _resume,
        "close": _close,
        "extend": _extend,
        "cancel": _cancel,
        "checkpoint": _checkpoint,
        "intent": _intent,
        "invoke": _result,
        "delegate": _result,
        "resolution": _resolution,
        "verdict": _verdict,
        "reconcile": _reconcile,
    }


def public(found: Intention) -> Intention:
    """An intention in the form of `DUR-11`."""
    return {
        name: found.get(name) for name in ("tool", "action_id", "key", "hash", "kind", "policy", "promise")
    }
