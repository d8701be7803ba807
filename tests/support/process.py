"""One process of the walk: the real kernel on a real journal, in a world that a chooser decides about.

The process proposes its actions in order, like a program that is derived again on every resume. Whenever the
world has a say (a person, a service, a reconciler, what the program does next), it asks ``choose``; after
every step of the protocol it calls ``arrived`` with the name of the step.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from agentl import Host
from agentl.durable import FileStore, MemoryStore, closing
from agentl.durable.boundary import DurableHost
from agentl.durable.recovery import DurableJournal
from agentl.durable.stores import file as file_store
from agentl.errors import ActionInDoubt, KernelAbort, NotExecuted, PermitError, ReplayDivergence
from agentl.host import Retry
from agentl.kernel import ActionRequest, active_dispatch
from agentl.kernel import steps as told
from agentl.kernel.gate import Kernel
from agentl.kernel.policy import policy_digest
from agentl.kernel.port import NOT_EXECUTED
from agentl.kernel.protocol import PermitStage
from agentl.language.nodes import Agent, PolicyRule, ToolDecl
from agentl.state import State
from tests.support.seen import Effect, Records, View

RUN = "walk"
AT = "2030-01-02T03:04:05+00:00"
OPENING = {
    "format": "agentl.durable.v2", "max_ticks": 1, "program_sha256": "", "agents": [RUN], "promises": {},
}  # fmt: skip
EFFECTS = {"deny": "DENY", "ask": "REQUIRE_APPROVAL"}
REPLIES = ((True, "returned"), (False, "failed"), (True, "unsure"), (False, "unsure"))
Effects = tuple[tuple[Effect, ...], ...]


class Dies(KernelAbort):
    """The process is killed here."""


class MemoryDisk:
    """A journal in memory; what was appended is what a crash leaves."""

    def __init__(self) -> None:
        self.store = MemoryStore()

    def boot(self, lines: Any) -> MemoryStore:
        self.store = MemoryStore()
        self.store.lines = list(lines or ())
        return self.store

    def durable(self) -> tuple[str, ...]:
        return tuple(self.store.lines)

    def torn(self, left: tuple[str, ...], turn: int) -> tuple[str, ...]:
        return left

    def lines(self, left: Any) -> list[bytes]:
        return [line.encode() for line in left]

    def let_go(self) -> None:
        self.store.close()


class FileDisk:
    """A journal in a file. Synchronisations are counted, not made; a crash cuts the file at the last one.

    Behind the cut lies what a power loss may leave: nothing, zeros that were laid out, or a torn line.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = FileStore(folder)
        self.synced = 0
        self.syncs = 0

    def boot(self, left: bytes | None) -> FileStore:
        self.folder.mkdir(exist_ok=True)
        for name in ("lease.json", "refusal.json", "meta.json"):
            (self.folder / name).unlink(missing_ok=True)
        (self.folder / "wal.jsonl").write_bytes(left or b"")
        self.store = FileStore(self.folder)
        self.synced = len((left or b"").rstrip(b"\0"))
        return self.store

    def sync(self, _descriptor: int) -> None:
        self.syncs += 1
        self.synced = self.store._end

    def durable(self) -> bytes:
        content = self.store.wal.read_bytes()
        return content[: self.synced]

    def torn(self, left: bytes, turn: int) -> bytes:
        line = b'{"seq":%d,"kind":"intent","key":"t1","args":{"action_id":"' % left.count(b"\n")
        return (
            left + (b"", bytes(64), line[: 1 + turn * 7 % len(line)], line[: turn % 9] + bytes(32))[turn % 4]
        )

    def lines(self, left: bytes) -> list[bytes]:
        whole = left[: left.rfind(b"\n") + 1]
        return whole.splitlines()

    def let_go(self) -> None:
        self.store._let_go()


@contextmanager
def counting_syncs(disk: FileDisk) -> Iterator[None]:
    """Within: nothing waits for a device, and each synchronisation moves the cut of a crash."""
    real, real_data = os.fsync, file_store._fdatasync
    os.fsync = lambda _descriptor: None  # type: ignore[assignment]
    file_store._fdatasync = disk.sync  # type: ignore[misc]
    try:
        yield
    finally:
        os.fsync, file_store._fdatasync = real, real_data  # type: ignore[misc]


class Setting:
    """What does not change from process to process: the agents for each policy, the tools, the keys."""

    def __init__(self, actions: int, attempts: int) -> None:
        self.actions = range(1, actions + 1)
        self.attempts = attempts
        self._agents: dict[tuple[str, ...], Agent] = {}
        self._hosts: dict[tuple[frozenset[str], ...], Host] = {}
        self._keys: dict[Any, str] = {}
        self.rules: dict[str, tuple[str, ...]] = {}
        self.records = Records(self.rules)
        self.process: Process | None = None

    def agent(self, rule: tuple[str, ...]) -> Agent:
        found = self._agents.get(rule)
        if found is None:
            policies = tuple(
                PolicyRule(EFFECTS[word], f"t{a}", None) for a, word in enumerate(rule, 1) if word in EFFECTS
            )
            tools = tuple(ToolDecl(f"t{a}", inputs=(("n", "Number"),)) for a in self.actions)
            found = Agent(RUN, tools=tools, policies=policies, policy_default="ALLOW", has_policy=True)
            self._agents[rule] = found
            self.rules[policy_digest(found)[:16]] = rule
        return found

    def host(self, promises: tuple[frozenset[str], ...]) -> Host:
        found = self._hosts.get(promises)
        if found is None:
            found = self._hosts[promises] = Host()
            found.sleep = lambda _seconds: None
            found.approver = lambda request: self._process().answers(request)
            for a, promise in enumerate(promises, 1):
                self._register(found, a, promise)
        return found

    def _process(self) -> Process:
        assert self.process is not None
        return self.process

    def _register(self, host: Host, action: int, promise: frozenset[str]) -> None:
        @host.tool(
            f"t{action}",
            idempotent="idempotent" in promise,
            read_only="read_only" in promise,
            retry=Retry(attempts=self.attempts),
        )
        def tool(n: Any) -> Any:
            return self._process().acts(action, n)

        if "reconcilable" in promise:

            @host.reconciler(f"t{action}")
            def reconcile(_args: Any, context: Any) -> Any:
                return self._process().knows(action, context.idempotency_key)

    def key(self, number: int, action: int, real: str) -> Any:
        """The model's name of an idempotency key; another name for each further key of one action."""
        known = self._keys.setdefault((number, action), real)
        return (number, action) if known == real else (number, action, real)


class Process:
    """One life of the process, from boot to crash, refusal or close."""

    def __init__(
        self,
        setting: Setting,
        disk: Any,
        left: Any,
        rule: tuple[str, ...],
        host: tuple[frozenset[str], ...],
        effects: Effects,
        crashes: int,
        choose: Callable[[int], int],
        arrived: Callable[[str], None],
    ) -> None:
        self.setting, self.disk, self.left = setting, disk, left
        self.rule, self.promises = rule, host
        self.effects = [list(done) for done in effects]
        self.crashes, self.choose, self.arrived = crashes, choose, arrived
        size = len(setting.actions)
        self.stage = ["none"] * size
        self.permits: list[Any] = [None] * size
        self.args = ["judged"] * size
        self.call = ["idle"] * size
        self.resumed_call = [False] * size
        self.run = "up"
        self.step = "Resume"
        self.served = False
        self.journal: Any = None
        self.now = 0
        self.die_inside = False
        self.outside: list[Any] = []
        self.tell: Callable[[told.Step], None] = told.DISCARD

    # --- what can be seen ----------------------------------------------------------------

    def view(self) -> View:
        """The state now, read off the real permits, the real journal and the world."""
        up = self.run == "up"
        lines = self.journal._ordered.lines
        consumed = self.setting.records.consumed(lines, self.journal._ordered.cursor) if up else 0
        size = len(self.setting.actions)
        return View(
            self.setting.records.of(lines),
            tuple(self._stage(a) for a in range(size)) if up else ("none",) * size,
            tuple(self.args) if up else ("judged",) * size,
            tuple(self.call) if up else ("idle",) * size,
            consumed,
            self.run,
            self.rule,
            self.promises,
            tuple(tuple(done) for done in self.effects),
            self.crashes,
        )

    def _stage(self, place: int) -> str:
        permit = self.permits[place]
        return self.stage[place] if permit is None else str(permit.status.value)

    # --- the world -----------------------------------------------------------------------

    def answers(self, request: Any) -> bool:
        yes = self.choose(2) == 0
        self.outside.append(("asked", int(request.tool[1:]), yes))
        return yes

    def acts(self, action: int, n: Any) -> Any:
        place, promise = action - 1, self.promises[action - 1]
        acts, hears = REPLIES[self.choose(4)]
        dispatch = active_dispatch()
        assert dispatch is not None
        held = dispatch.held
        key = self.setting.key(
            int(held.action_id.rsplit(":a", 1)[1]), action, dispatch.context.idempotency_key
        )
        known = any(e.key == key and "idempotent" in e.promise for e in self.effects[place])
        on_record = self.setting.records.of(self.disk.lines(self.disk.durable()))
        self.outside.append(("called", action, key, n, promise, hears, on_record))
        if acts and "read_only" not in promise and not ("idempotent" in promise and known):
            asked = any(r.kind == "approve" and r.action == action for r in self._log())
            granted = self.rule[place] == "allow" or (self.rule[place] == "ask" and asked and held.approved)
            lawful = held.stage is PermitStage.DISPATCHING and granted
            self.effects[place].append(Effect("judged" if n == action else "changed", lawful, key, promise))
            self.outside.append(("happened", action))
        if self.die_inside:
            raise Dies
        if hears == "failed":
            raise NotExecuted("no")
        if hears == "unsure":
            raise TimeoutError("?")
        return {"n": n}

    def _log(self) -> Any:
        return self.setting.records.of(self.journal._ordered.lines)

    def knows(self, action: int, real: str) -> Any:
        if self.choose(2) == 0:
            self.outside.append(("unknown", action))
            raise LookupError("unknown")
        held = next(p for p in self.permits if p is not None and p.idempotency_key == real)
        key = self.setting.key(int(held.action_id.rsplit(":a", 1)[1]), action, real)
        took_place = any(e.key == key and "reconcilable" in e.promise for e in self.effects[action - 1])
        self.outside.append(("found" if took_place else "found nothing", action))
        return {"n": action} if took_place else NOT_EXECUTED

    # --- the program ---------------------------------------------------------------------

    def live(self) -> None:
        """From boot to the end; ``run`` then says how it ended. ``Dies`` passes."""
        self.setting.process = self
        try:
            self._live()
        except ReplayDivergence:
            self._end("refused", self.step)
        except PermitError:
            self.crashes += 1
            self._end("down", "Dispatch")

    def _end(self, how: str, step: str) -> None:
        self.run = how
        self.journal.release()
        self.arrived(step)

    def _live(self) -> None:
        self.journal = DurableJournal.open(self.disk.boot(self.left))
        self.journal.clock = lambda: AT
        if self.left is None:
            self.journal.write("open", RUN, OPENING, sync=True)
        else:
            self.journal.take("open", RUN)
        kernel = Kernel(self.setting.agent(self.rule), run_id=RUN)
        kernel.journal = self.journal
        kernel.steps = self.hears
        host = DurableHost(self.setting.host(self.promises), self.journal)
        state = State()
        self.arrived("Resume")
        following = 1
        unused: Any = None
        while True:
            options: list[str] = []
            if unused is not None and unused.status is PermitStage.ISSUED:
                options.append("execute")
            options.append("propose" if following in self.setting.actions else "close")
            choice = options[self.choose(len(options)) if len(options) > 1 else 0]
            if choice == "execute":
                self._execute(kernel, unused, host)
                unused = None
            elif choice == "propose":
                self.now, following = following, following + 1
                self.step = "Approve"
                request = ActionRequest(f"t{self.now}", {"n": self.now})
                granted = kernel.authorize(request, state, approve=host.approve)
                if granted.permit is not None:
                    unused = self.permits[self.now - 1] = granted.permit
            else:
                self.step = "Close"
                self._close()
                return

    def _close(self) -> None:
        entry = self.journal.upcoming()
        ending = closing.close(self.journal.remaining(), None if entry is None else entry.kind)
        if ending is closing.Ending.REFUSED:
            self._end("refused", "Close")
            return
        if ending is closing.Ending.WRITE:
            self.journal.write("close", RUN, {"reason": "until", "ticks": 1}, sync=True)
        self._end("closed", "Close")

    def _execute(self, kernel: Kernel, permit: Any, host: Any) -> None:
        self.now = int(permit.target[1:])
        self.step = "Intent"
        self.served = False
        with suppress(NotExecuted, ActionInDoubt):
            kernel.execute(permit, host)
        if self.served:
            self.arrived("Intent")

    # --- the steps -----------------------------------------------------------------------

    def hears(self, step: told.Step) -> None:
        """A step is told: note where the action stands, and compare."""
        self.tell(step)
        place = self.now - 1
        match step:
            case told.Decide() | told.Approve():
                self.stage[place] = step.permit
            case told.Mint():
                self.stage[place] = "issued"
            case told.Intent():
                self.served = step.found == "served"
                self.resumed_call[place] = step.found == "interrupted"
                if self.served:
                    return  # the permit is spent in the same step, see _execute
                self.call[place] = "interrupted" if step.found == "interrupted" else "ready"
            case told.Dispatch():
                self.call[place] = step.heard
                self.resumed_call[place] = False
            case told.Settle():
                self.call[place] = self._settled(step.how, place)
            case told.Result():
                self.call[place] = "idle"
        self.arrived(type(step).__name__)

    def _settled(self, how: str, place: int) -> str:
        if how == "not_executed":
            return "ready" if self.resumed_call[place] else "failed"
        ways = {"retry": "ready", "reconciled": "returned", "executed": "returned", "in_doubt": "doubt"}
        return ways.get(how, "failed")

    def tamper(self) -> None:
        """Something changes the arguments that are about to be presented."""
        self.permits[self.now - 1].args["n"] = 99
        self.args[self.now - 1] = "changed"
