"""Real drivers on a real store, one step at a time: each is a thread that stops at every place that matters.

A place is the call of the tool, a question to the reconciler, or an append. A driver that is told to crash
leaves without giving anything back; who lives, and where, the stage says instead of the process table.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from agentl import Host, parse_source
from agentl.durable import NOT_EXECUTED, DurableRun, FileStore, SQLiteStore, settle
from agentl.durable.lease import Lease, Liveness, read_holder
from agentl.durable.stores import rows, run_directory
from agentl.errors import KernelAbort, LeaseHeld, LeaseLost, NotExecuted
from agentl.host import Retry
from agentl.kernel import current_action
from agentl.kernel.permit import ActionContext

RUN = "shared"
PROGRAM = """
AGENT one {
  TOOL act { INPUT { n: Number } }
  POLICY { DEFAULT ALLOW }
  PLAN go WHEN tools.act.calls == 0 { act(n: 1) }
}
"""
AGENT = parse_source(PROGRAM).agents[0]
PATIENCE = 20.0
# Entries of the model; before any other a driver does not stop, except where its action is over.
RECORDS = {"intent": "intent", "resolution": "resolution", "invoke": "result", "verdict": "verdict"}


class Interrupted(KernelAbort):
    """The driver is told to end in order."""


class Died(BaseException):
    """The process is killed: nothing is given back."""


class Kept(NamedTuple):
    """An entry as the model has it."""

    kind: str
    note: str
    by: int


class Stage:
    """One run and its drivers: what they share, and what the world is."""

    def __init__(
        self, kind: str, folder: Path, promise: frozenset[str], knows: frozenset[str], home: tuple[int, ...]
    ) -> None:
        self.kind, self.folder = kind, folder
        self.promise, self.knows, self.home = promise, knows, home
        self.attempts = 1
        self.now = 1000.0
        self.effects: list[str] = []
        self.fence = 0
        self.authors: dict[str, int] = {}
        self.actors: dict[int, Actor] = {}
        self.dead: set[int] = set()
        self.asking = 0

    def planted(self, patch: pytest.MonkeyPatch) -> None:
        """From here on the stage says who lives."""
        patch.setattr(rows, "liveness_of", self.liveness)
        patch.setattr(run_directory, "liveness_of", self.liveness)
        patch.setattr(run_directory, "LOOKS", 1)

    def liveness(self, text: str) -> tuple[Liveness, bool]:
        holder = read_holder(text)
        assert holder is not None
        if self.kind != "file" and self.home[holder.process] != self.home[self.asking]:
            return Liveness.UNKNOWN, False
        return (Liveness.DEAD if holder.process in self.dead else Liveness.ALIVE), False

    def pass_time(self) -> None:
        """The latest lease is not renewed in time."""
        self.now += 1000.0
        if self.kind == "postgres":
            _server().let_leases_end()

    def store(self, driver: int) -> Any:
        if self.kind == "file":
            found: Any = CastFile(self.folder / "run")
        elif self.kind == "sqlite":
            found = CastSQLite(self.folder / "runs.db", RUN, clock=lambda: self.now)
        else:
            found = _postgres()(_server().dsn(), RUN)
        found.stage, found.driver, found.actor = self, driver, None
        return found

    def log(self) -> list[Kept]:
        """What is on record, as the model tells it."""
        found = []
        for line in self._lines():
            entry = json.loads(line)
            kind = RECORDS.get(entry["kind"])
            if kind is None:
                continue
            by = self.authors[hashlib.sha256(bytes(line)).hexdigest()]
            found.append(Kept(kind, _note(entry), by))
        return found

    def _lines(self) -> Sequence[bytes | str]:
        if self.kind == "postgres":
            return list(_server().lines())
        return self.store(0).load()[1]

    def ended(self) -> None:
        """Nobody is left behind."""
        for actor in self.actors.values():
            actor.stop(Died)


def _note(entry: dict[str, Any]) -> str:
    kind, args = entry["kind"], entry.get("args") or {}
    if kind == "resolution":
        # A live call that was called off and did not take place has failed: no call follows.
        ended = args["how"] == "not_executed" and "attempt" not in args
        return "failed" if ended else str(args["how"])
    if kind == "verdict":
        return "executed" if args["executed"] else "not_executed"
    if kind == "invoke":
        error = entry.get("error")
        return "result" if not error else "doubt" if error[0] == "ActionInDoubt" else "failed"
    return ""


class Actor:
    """A driver: a thread that goes from place to place when it is told to."""

    def __init__(self, stage: Stage, driver: int, *, operator: bool = False) -> None:
        self.stage, self.driver, self.operator = stage, driver, operator
        self.place = "new"
        self.choice = ""
        self.lease: Lease | None = None
        self.failure: BaseException | None = None
        self.wrote = 0
        self._orders: type[BaseException] | None = None
        self._go, self._here = threading.Semaphore(0), threading.Semaphore(0)
        self.store = stage.store(driver)
        self.store.actor = self
        self._thread = threading.Thread(target=self._live, daemon=True)
        stage.actors[driver] = self
        self._thread.start()
        self._await()

    # --- outside -------------------------------------------------------------------------

    def advance(self, choice: str = "") -> None:
        """Go on to the next place, or to the end."""
        self.choice = choice
        self.stage.asking = self.driver
        self._go.release()
        self._await()

    def write(self) -> None:
        """Go on until one record is written, or the driver has ended."""
        before = self.wrote
        while self.wrote == before and self.place != "end":
            self.advance()

    def stop(self, how: type[BaseException]) -> None:
        """End in order (``Interrupted``), or at once and without a word (``Died``)."""
        if self.place == "end":
            return
        if how is Died:
            self.store.dead = True
        self._orders = how
        while self.place != "end":
            self.advance()

    def _await(self) -> None:
        assert self._here.acquire(timeout=PATIENCE), f"driver {self.driver} hangs at {self.place}"

    # --- in the thread -------------------------------------------------------------------

    def reach(self, place: str) -> None:
        if self._orders is not None:
            return
        self.place = place
        self._here.release()
        self._go.acquire()
        if self._orders is not None:
            raise self._orders

    def _live(self) -> None:
        try:
            self.reach("new")
            if self.operator:
                self._settle()
            else:
                DurableRun(AGENT, self._host(), store=self.store, run_id=RUN).run(1)
        except BaseException as failure:
            self.failure = failure
        self.place = "end"
        self._here.release()

    def _settle(self) -> None:
        executed = self.stage.effects != []
        action = f"{RUN}:one:t1:a1"
        settle(self.store, action, executed=executed, value={} if executed else None, by="operator")

    def _host(self) -> Host:
        host, stage = Host(), self.stage
        host.sleep = lambda _seconds: None
        promised = {word: word in stage.promise for word in ("idempotent", "read_only")}

        @host.tool("act", retry=Retry(attempts=stage.attempts), **promised)
        def act(n: float) -> dict[str, str]:
            context = current_action()
            assert context is not None
            self.reach("tool")
            return self._acts(context)

        if "reconcilable" in stage.promise:

            @host.reconciler("act")
            def asked(_args: Any, context: Any) -> Any:
                self.reach("asked")
                if self.choice == "unknown":
                    raise LookupError("nobody knows")
                self._show(context.fencing_token)
                return {} if stage.effects else NOT_EXECUTED

        return host

    def _show(self, token: int | None) -> None:
        stage = self.stage
        if "token" in stage.knows and token is not None:
            if token < stage.fence:
                raise NotExecuted("a stale token")
            stage.fence = token

    def _acts(self, context: ActionContext) -> dict[str, str]:
        stage = self.stage
        if self.choice in ("failed", "unsure"):
            raise NotExecuted("no") if self.choice == "failed" else TimeoutError("no answer")
        self._show(context.fencing_token)
        known = "key" in stage.knows and context.idempotency_key in stage.effects
        if "read_only" not in stage.promise and not known:
            stage.effects.append(context.idempotency_key)
        if self.choice == "acts, unsure":
            raise TimeoutError("no answer")
        return {}


class Cast:
    """Mixed into a store: stops its driver, and lets the dead give nothing back."""

    stage: Stage
    driver: int
    actor: Actor | None
    dead = False
    live = False

    def acquire(self, holder: str) -> Any:
        where = self.stage.home[self.driver]
        lease = super().acquire(  # type: ignore[misc]
            f"machine-{where} pid {self.driver} start 0 space {where}"
        )
        assert self.actor is not None
        self.actor.lease = lease
        return lease

    def append(self, raw: bytes, epoch: int, *, sync: bool) -> None:
        actor, kind = self.actor, json.loads(raw)["kind"]
        assert actor is not None
        self.live = True
        if kind in RECORDS or kind in ("resume", "checkpoint"):
            actor.reach(f"append:{kind}")
        self.stage.authors[hashlib.sha256(raw).hexdigest()] = self.driver
        super().append(raw, epoch, sync=sync)  # type: ignore[misc]
        actor.wrote += kind in RECORDS

    def write_refusal(self, refusal: Any) -> None:
        # A resume that goes live says first that nothing was refused: its first write, under the same lease.
        if not self.live and self.actor is not None:
            self.live = True
            self.actor.reach("append:resume")
        super().write_refusal(refusal)  # type: ignore[misc]

    def release(self, epoch: int) -> None:
        if self.dead:
            self._let_go()  # type: ignore[attr-defined]
        else:
            super().release(epoch)  # type: ignore[misc]


class CastFile(Cast, FileStore):
    """A directory."""


class CastSQLite(Cast, SQLiteStore):
    """A database of one machine."""


def _server() -> Any:
    return importlib.import_module("tests.machines.drivers.server")


def _postgres() -> Callable[[str, str], Any]:
    from agentl.durable.stores.postgres import PostgresStore

    class CastPostgres(Cast, PostgresStore):
        """A database of any machine."""

    return CastPostgres


__all__ = ["Actor", "Died", "Interrupted", "Kept", "LeaseHeld", "LeaseLost", "Stage"]
