"""The inside of one driver: a store, a host and an operator with the points at which something may happen.

All of this runs in a process of its own, forked from one that has everything loaded.
"""

from __future__ import annotations

import gc
import hashlib
import importlib
import json
import os
import select
import signal
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from mmap import mmap
from pathlib import Path
from struct import Struct
from typing import Any

from agentl import Host, parse_source
from agentl.durable import NOT_EXECUTED, DurableRun, FileStore, SQLiteStore, settle, survey
from agentl.durable.stores import file as file_store
from agentl.durable.stores import process, sqlite_file
from agentl.errors import DurableError, LeaseHeld, LeaseLost, NotExecuted, StoreFailure
from agentl.host import Retry
from agentl.kernel import current_action
from tests.machines.drivers.outside import Chronicle, Effect, Receiver, StaleTokenError
from tests.machines.drivers.schedule import DIES, INSIDE, Fate, Schedule

RUN = "shared"
TOOL = "TOOL send { INPUT { n: Number } OUTPUT { id: String } RISK HIGH }"
PROGRAMS = {
    # Two actions behind one another. Each with its limit of ticks, and how many actions it takes.
    "row": (
        f"""AGENT courier {{ {TOOL}
          POLICY {{ DEFAULT ALLOW }}
          PLAN go WHEN tools.send.calls == 0 {{ send(n: 1) send(n: 2) }}
        }}""",
        1,
        2,
    ),
    # A tool and a sub-agent, in each of two ticks.
    "ticks": (
        f"""AGENT courier {{ {TOOL}
          POLICY {{ DEFAULT ALLOW }}
          OBSERVE {{ gauge.level }}
          PLAN go WHEN gauge.level > 0 {{
            send(n: gauge.level)
            DELEGATE helper {{ TASK "help" EXPECT {{ id }} }}
          }}
        }}""",
        2,
        4,
    ),
    # One action that a person must approve.
    "asked": (
        f"""AGENT courier {{ {TOOL}
          POLICY {{ DEFAULT ALLOW REQUIRE APPROVAL FOR send WHEN n > 1 }}
          PLAN go WHEN tools.send.calls == 0 {{ send(n: 2) }}
        }}""",
        1,
        1,
    ),
}
_parsed = {name: parse_source(text).agents[0] for name, (text, _, _) in PROGRAMS.items()}
PATIENCE = 30.0
_DOUBLE, _NUMBER = Struct("<d"), Struct("<q")


class Shared:
    """A few bytes that all processes of one play see: the time of leases, and how much was synchronised."""

    def __init__(self) -> None:
        self._bytes = mmap(-1, 16)
        _DOUBLE.pack_into(self._bytes, 0, 1000.0)

    def now(self) -> float:
        return float(_DOUBLE.unpack_from(self._bytes, 0)[0])

    def pass_time(self, seconds: float) -> None:
        _DOUBLE.pack_into(self._bytes, 0, self.now() + seconds)

    @property
    def synced(self) -> int:
        return int(_NUMBER.unpack_from(self._bytes, 8)[0])

    @synced.setter
    def synced(self, size: int) -> None:
        _NUMBER.pack_into(self._bytes, 8, size)

    def close(self) -> None:
        self._bytes.close()


@dataclass
class Stage:
    """One driver: who it is and what is to happen to it."""

    driver: int
    schedule: Schedule
    folder: Path
    shared: Shared
    fates: tuple[Fate, ...] = ()
    waits: bool = False
    patience: float = 10.0
    line: int = -1
    store: Any = None
    come_by: dict[str, int] = field(default_factory=dict)
    replies: list[str] = field(default_factory=list)
    acquiring: bool = False

    def __post_init__(self) -> None:
        self.chronicle = Chronicle(self.folder / "chronicle")
        self.receiver = Receiver(
            self.folder, knows_key=self.schedule.knows_key, knows_token=self.schedule.knows_token
        )
        self.replies = list(self.schedule.replies_of(self.driver))

    def tell(self, event: str, **more: Any) -> None:
        self.chronicle.tell(self.driver, event, **more)

    def reach(self, point: str) -> None:
        """Come to a point: die there, fall asleep there, or go on."""
        nth = self.come_by.get(point, 0)
        self.come_by[point] = nth + 1
        for fate in self.fates:
            if (fate.point, fate.nth) == (point, nth):
                self.tell(fate.how, at=f"{point}#{nth}")
                if fate.how == DIES:
                    os.kill(os.getpid(), signal.SIGKILL)
                os.write(self.line, b"s")
                os.kill(os.getpid(), signal.SIGSTOP)
                if point not in INSIDE:
                    self.woke()

    def woke(self) -> None:
        """Back from sleep; the thread that renews the lease may be the first to run."""
        if self.schedule.renews and hasattr(self.store, "renew"):
            try:
                self.store.renew()
            except StoreFailure as problem:
                self.tell("could not renew", text=str(problem))

    # --- the world -----------------------------------------------------------------------

    def host(self) -> Host:
        """A host that keeps one kind of promise for the tool and the sub-agent."""
        promise = self.schedule.promise
        promised = {"idempotent": promise in ("idempotent", "both"), "read_only": promise == "read_only"}
        host = Host()
        host.now = lambda: datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
        host.sleep = lambda _seconds: None
        host.approver = lambda _request: True
        retry = Retry(attempts=3 if self.schedule.replies else 1)

        @host.sensor("gauge.level")
        def level() -> int:
            return 7

        @host.tool("send", retry=retry, **promised)
        def send(n: float) -> dict[str, str]:
            return self.called()

        @host.subagent("helper", retry=retry, **promised)
        def helper(payload: dict[str, Any]) -> dict[str, str]:
            return self.called()

        if promise in ("reconcilable", "both"):
            host.reconciler("send")(self.asked)
            host.reconciler("helper", kind="delegate")(self.asked)
        return host

    def called(self) -> dict[str, str]:
        """The tool: everything that happens on the way to the effect and back."""
        context = current_action()
        assert context is not None
        self.reach("tool.before")
        reply = self.replies.pop(0) if self.replies else "good"
        try:
            self.receiver.admit(context.fencing_token)
        except StaleTokenError:
            self.tell("stale token", action=context.action_id)
            raise NotExecuted("the token is stale") from None
        if reply in ("good", "unsure_done") and self.schedule.promise != "read_only":
            epoch = context.fencing_token or 0
            self.receiver.act(Effect(context.action_id, context.idempotency_key, epoch, self.driver))
        self.tell("called", action=context.action_id, key=context.idempotency_key, reply=reply)
        self.reach("tool.after")
        if reply == "failed":
            raise NotExecuted("no")
        if reply != "good":
            raise TimeoutError("no answer")
        return {"id": f"ref-{context.action_id}"}

    def asked(self, _args: Any, context: Any) -> Any:
        """The reconciler: the truth of the moment at which it looks."""
        self.reach("reconciler.before")
        self.receiver.admit(context.fencing_token)
        found = any(effect.key == context.idempotency_key for effect in self.receiver.effects())
        self.tell("asked", action=context.action_id, found=found)
        self.reach("reconciler.after")
        return {"id": f"ref-{context.action_id}"} if found else NOT_EXECUTED

    # --- what it does ------------------------------------------------------------------

    def drive(self) -> None:
        """Start or resume the run, or hear that somebody else drives it."""
        if self.schedule.company:
            threading.Thread(target=self._beside, daemon=True).start()
        heard = ""
        while True:
            try:
                run = DurableRun(
                    _parsed[self.schedule.program], self.host(), store=place_of(self), run_id=RUN
                )
                break
            except LeaseHeld as held:
                if str(held) != heard:
                    heard = str(held)
                    self.tell("refused", text=heard)
                if not self.waits:
                    raise
                select.select([], [], [], 0.001)
        run.run(PROGRAMS[self.schedule.program][1])
        self.tell("completed", trace=run.trace_text())

    def _beside(self) -> None:
        """Other runs of this process, in the same database, one behind the other."""
        agent = _parsed["ticks"]
        plain = replace(self.schedule, promise="none", replies=(), company=False)
        for turn in range(4):
            stage = Stage(self.driver, plain, self.folder / "beside", self.shared)
            store = plain_store(self, f"beside-{self.driver}-{turn}")
            with suppress(StoreFailure):  # the file may belong to somebody who sleeps
                DurableRun(agent, stage.host(), store=store, run_id=store.run_id).run(5)

    def settle(self) -> None:
        """An operator says of each open action what the world says."""
        done = {effect.action for effect in self.receiver.effects()}
        found = survey(place_of(self))
        for open_one in [*found.pending(), *found.in_doubt()]:
            action = open_one["action_id"]
            self.tell("verdict", action=action, executed=action in done)
            value = {"id": f"ref-{action}"} if action in done else None
            settle(place_of(self), action, executed=action in done, value=value, by="operator")
        self.tell("settled")


HOW = ((LeaseHeld, "held"), (LeaseLost, "fenced"), (StoreFailure, "store"), (DurableError, "durable"))


def live(stage: Stage, work: Callable[[Stage], None]) -> None:
    """The life of a driver in its own process; never returns."""
    gc.disable()
    sqlite_file.BUSY_SECONDS = stage.patience  # type: ignore[misc]
    if stage.schedule.store == "file":
        _note_syncs(stage)
    if stage.driver in stage.schedule.away:
        # On a machine of its own: nobody else can look at its processes, and it at nobody else's.
        process._space = lambda: f"away-{stage.driver}"  # type: ignore[assignment]
    try:
        try:
            work(stage)
            stage.tell("ended", how="well")
        except BaseException as problem:
            how = next((word for kind, word in HOW if isinstance(problem, kind)), "broken")
            trail = traceback.format_exc() if how == "broken" else ""
            stage.tell("ended", how=how, error=type(problem).__name__, text=str(problem), trail=trail)
    finally:
        os._exit(0)


# --- stores with points ------------------------------------------------------------------


class Watched:
    """Mixed into a store: says what it does and comes by the points of it."""

    stage: Stage
    _broken: Any

    def acquire(self, holder: str) -> Any:
        stage = self.stage
        stage.reach("acquire.before")
        stage.acquiring = True
        lease = super().acquire(holder)  # type: ignore[misc]
        stage.acquiring = False
        stage.tell("acquired", epoch=lease.epoch, unsure=list(lease.unsure), pid=os.getpid())
        stage.reach("acquire.after")
        return lease

    def append(self, raw: bytes, epoch: int, *, sync: bool) -> None:
        stage, entry = self.stage, json.loads(raw)
        stage.reach("append.before")
        stage.tell(
            "appends", kind=entry["kind"], line=hashlib.sha256(raw).hexdigest(), epoch=epoch, sync=sync
        )
        super().append(raw, epoch, sync=sync)  # type: ignore[misc]
        stage.reach("append.after")

    def write_meta(self, meta: Any, *, sync: bool = False) -> None:
        self.stage.reach("meta.before")
        super().write_meta(meta, sync=sync)  # type: ignore[misc]

    def release(self, epoch: int) -> None:
        self.stage.reach("release.before")
        super().release(epoch)  # type: ignore[misc]

    def _let_go(self) -> None:
        if not self.stage.acquiring and self._broken is None:
            self.stage.tell("gave back")
        self.stage.reach("release.inside")
        super()._let_go()  # type: ignore[misc]


class WatchedFile(Watched, FileStore):
    """A directory."""

    def _divide(self) -> Any:
        if self.stage.acquiring:
            self.stage.reach("acquire.inside")
        return super()._divide()

    def _flush(self) -> None:
        super()._flush()
        self.stage.reach("append.inside")


class WatchedSQLite(Watched, SQLiteStore):
    """A database of one machine."""

    def _fence(self, connection: Any, epoch: int) -> None:
        super()._fence(connection, epoch)
        self.stage.reach("append.inside")


def place_of(stage: Stage) -> Any:
    """The store of a driver, on the run that all of them share."""
    if stage.schedule.store == "file":
        store: Any = WatchedFile(stage.folder / "run")
    elif stage.schedule.store == "sqlite":
        store = WatchedSQLite(stage.folder / "runs.db", RUN, clock=lambda: _clock(stage))
    else:
        store = importlib.import_module("tests.machines.drivers.server").watched(stage)
    store.stage = stage
    stage.store = store
    return store


def plain_store(stage: Stage, run_id: str) -> Any:
    """The store of another run in the same database, without points."""
    if stage.schedule.store == "sqlite":
        return SQLiteStore(stage.folder / "runs.db", run_id, clock=stage.shared.now)
    return importlib.import_module("tests.machines.drivers.server").store(run_id)


def _clock(stage: Stage) -> float:
    if stage.acquiring:
        stage.reach("acquire.inside")
    return stage.shared.now()


def _note_syncs(stage: Stage) -> None:
    """Say outside how much of the journal has reached the disk: a power failure leaves no more."""

    def noted(real: Callable[[int], None]) -> Callable[[int], None]:
        def sync(descriptor: int) -> None:
            real(descriptor)
            if descriptor == stage.store._descriptor:
                stage.shared.synced = stage.store._end

        return sync

    file_store._fdatasync = noted(file_store._fdatasync)  # type: ignore[misc]
    os.fsync = noted(os.fsync)  # type: ignore[assignment]
