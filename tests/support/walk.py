"""Walks a state graph of TLC on the real kernel and journal, in both directions.

The code leads: from every boot, each choice that the world has is tried, and after each step the real state
is looked up among the successors that the model knows. So *the model knows what the code does* is checked at
every step; that *the code does what the model allows* is checked at the end: every edge must have been taken.
"""

from __future__ import annotations

import random
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any

from agentl.durable import settle
from agentl.errors import DurableError
from tests.support.process import Dies, Process, Setting
from tests.support.seen import View, model_view
from tests.support.tla import Graph


class Cut(Dies):
    """Everything from here on was walked before."""


class DisagreementError(Dies):
    """The code did what the model does not know."""


@dataclass
class Report:
    """What a walk found."""

    states: int = 0
    edges: int = 0
    taken: Counter[str] = field(default_factory=Counter)
    processes: int = 0
    steps: int = 0
    disagreements: list[str] = field(default_factory=list)

    def line(self) -> str:
        """One line for people."""
        return (
            f"{self.states} states, {self.edges} edges, {sum(self.taken.values())} walked, "
            f"{self.processes} processes, {self.steps} steps, {len(self.disagreements)} disagreements"
        )


@dataclass(frozen=True)
class Left:
    """What a process left behind: the bytes of its journal, and the world."""

    bytes: Any
    view: View


class Model:
    """The graph as a successor table over what can be seen."""

    def __init__(self, graph: Graph) -> None:
        self.views = {number: model_view(state) for number, state in graph.states.items()}
        self.initial = graph.initial[0]
        self.next: dict[int, dict[tuple[str, View], int]] = {number: {} for number in graph.states}
        for source, action, target in graph.edges:
            known = self.next[source].setdefault((action, self.views[target]), target)
            if known != target:
                raise ValueError("two successors look the same: the view forgets too much")
        self.edges = {(s, a, t) for s, found in self.next.items() for (a, _), t in found.items()}

    def labels(self, number: int) -> set[str]:
        """The actions that are enabled in a state."""
        return {action for action, _ in self.next[number]}


class Walker:
    """One walk over one graph."""

    def __init__(
        self, graph: Graph, disk: Any, *, actions: int, attempts: int = 2, verdicts: int = 0
    ) -> None:
        self.model = Model(graph)
        self.setting = Setting(actions, attempts)
        self.disk = disk
        self.verdicts = verdicts
        self.report = Report(len(graph.states), len(self.model.edges))
        self.seen: set[tuple[int, str, int]] = set()
        self.expanded: set[int] = set()
        self.left: dict[int, Left] = {}
        self.waiting: deque[int] = deque()
        self.limit = 20
        # one process
        self.node = self.model.initial
        self.process: Process | None = None
        self.script: list[int] = []
        self.made: list[int] = []
        self.open: list[list[int]] = []
        self.random: random.Random | None = None

    # --- comparing -----------------------------------------------------------------------

    def _disagree(self, text: str) -> None:
        self.report.disagreements.append(text)

    def move(self, action: str, view: View) -> int:
        """Follow one step of the code in the model."""
        self.report.steps += 1
        target = self.model.next[self.node].get((action, view))
        if target is None:
            self._disagree(self._unknown(action, view))
            raise DisagreementError
        self.seen.add((self.node, action, target))
        return target

    def _unknown(self, action: str, view: View) -> str:
        here = self.model.views[self.node]
        near = [known for name, known in self.model.next[self.node] if name == action]
        differs = {
            name: (getattr(view, name), [getattr(known, name) for known in near])
            for name in View._fields
            if all(getattr(known, name) != getattr(view, name) for known in near)
        }
        labels = ", ".join(sorted(self.model.labels(self.node)))
        return f"the model has no such {action}, only {labels}, from {here}: (code, model) {differs}"

    # --- one process ---------------------------------------------------------------------

    def choose(self, options: int) -> int:
        """The world's choice: from the script, then the first; the others are tried later."""
        if len(self.made) < len(self.script):
            choice = self.script[len(self.made)]
        elif self.random is not None:
            choice = self.random.randrange(options)
        else:
            choice = 0
            self.open += [[*self.made, other] for other in range(1, options)]
        self.made.append(choice)
        return choice

    def arrived(self, action: str) -> None:
        """A step was made: it must be one of the model's."""
        process = self.process
        assert process is not None
        view = process.view()
        if action == "Resume":
            if view != self.model.views[self.node]:
                self._disagree(f"a boot shows {view}, the model {self.model.views[self.node]}")
                raise DisagreementError
        else:
            self.node = self.move(action, view)
        node = self.node
        fresh = len(self.made) >= len(self.script)
        if process.run != "up":
            self._keep(node, Left(self.disk.durable(), view))
            return
        if self.random is not None:
            self._random_crash(view)
        elif fresh:
            if node in self.expanded:
                raise Cut
            self.expanded.add(node)
            self._crash(view)
        if "Tamper" in self.model.labels(node) and self.choose(2) == 1:
            process.tamper()
            self.node = self.move("Tamper", process.view())
            if self.random is None and len(self.made) >= len(self.script):
                if self.node in self.expanded:
                    raise Cut
                self.expanded.add(self.node)
                self._crash(process.view())

    def _crash(self, view: View) -> None:
        """What a kill at this moment leaves is kept, to be booted from later."""
        if "Crash" not in self.model.labels(self.node):
            return
        left = self._killed(view)
        target = self.move("Crash", left.view)
        self._keep(target, left)

    def _killed(self, view: View) -> Left:
        left = self.disk.durable()
        size = len(view.permit)
        gone = view._replace(
            log=self.setting.records.of(self.disk.lines(left)),
            permit=("none",) * size,
            args=("judged",) * size,
            call=("idle",) * size,
            cursor=0,
            run="down",
            crashes=view.crashes + 1,
        )
        return Left(self.disk.torn(left, self.report.steps), gone)

    def _random_crash(self, view: View) -> None:
        assert self.random is not None
        if "Crash" in self.model.labels(self.node) and self.random.random() < 0.08:
            left = self._killed(view)
            self.node = self.move("Crash", left.view)
            self._keep(self.node, left)
            raise Cut

    def _keep(self, node: int, left: Left) -> None:
        if self.random is not None:
            self.left[node] = left
        elif node not in self.left:
            self.left[node] = left
            self.waiting.append(node)

    def _live(self, boot: int, left: Left | None, script: list[int]) -> None:
        self.node, self.script, self.made = boot, script, []
        view = self.model.views[boot]
        self.report.processes += 1
        self.process = Process(
            self.setting,
            self.disk,
            None if left is None else left.bytes,
            view.rule,
            view.host,
            view.effects if left is None else left.view.effects,
            view.crashes,
            self.choose,
            self.arrived,
        )
        try:
            self.process.live()
        except Dies:
            pass
        except Exception as problem:  # a walk of faulty code: whatever it does is a finding
            self._disagree(f"the code raised {problem!r} from {self.model.views[self.node]}")
        finally:
            self.disk.let_go()

    # --- the whole graph -----------------------------------------------------------------

    def walk(self) -> Report:
        """Every edge."""
        self._boot(self.model.initial, None)
        while self.waiting and len(self.report.disagreements) < self.limit:
            node = self.waiting.popleft()
            left = self.left[node]
            self._settle(node, left)
            for action, view in list(self.model.next[node]):
                if action == "Resume":
                    self.node = node
                    self._boot(self.move("Resume", view), left)
        self._missed()
        return self.report

    def _boot(self, boot: int, left: Left | None) -> None:
        self.open = [[]]
        while self.open and len(self.report.disagreements) < self.limit:
            self._live(boot, left, self.open.pop())

    def _missed(self) -> None:
        for source, action, target in sorted(self.model.edges - self.seen)[: self.limit]:
            if len(self.report.disagreements) >= self.limit:
                break
            before, after = self.model.views[source], self.model.views[target]
            changed = {n: (getattr(before, n), getattr(after, n)) for n in View._fields
                       if getattr(before, n) != getattr(after, n)}  # fmt: skip
            self._disagree(f"the code never takes {action} in {before}, which would change {changed}")
        for _, action, _ in self.seen:
            self.report.taken[action] += 1

    def _settle(self, node: int, left: Left) -> None:
        """An operator tries to settle each action; he can exactly where the model lets him."""
        spoken = sum(record.kind == "verdict" for record in left.view.log)
        if spoken >= self.verdicts:
            return
        for action in self.setting.actions:
            numbers = [r.id for r in left.view.log if r.kind == "intent" and r.action == action]
            if not numbers:
                continue
            executed = bool(left.view.effects[action - 1])
            store = self.disk.boot(left.bytes)
            try:
                settle(store, f"walk:walk:t0:a{numbers[0]}", executed=executed, by="operator")
            except DurableError:
                continue
            finally:
                self.disk.let_go()
            bytes_now = self.disk.durable()
            view = left.view._replace(log=self.setting.records.of(self.disk.lines(bytes_now)))
            self.node = node
            try:
                target = self.move("Verdict", view)
            except DisagreementError:
                continue
            self._keep(target, Left(bytes_now, view))

    # --- random walks --------------------------------------------------------------------

    def wander(self, walks: int, seed: int) -> Report:
        """Random walks from the start to the end of a run: states are reached by many roads."""
        self.random = random.Random(seed)
        for _ in range(walks):
            if len(self.report.disagreements) >= self.limit:
                break
            self._wander()
        for _, action, _ in self.seen:
            self.report.taken[action] += 1
        return self.report

    def _wander(self) -> None:
        assert self.random is not None
        self.left.clear()
        boot, left = self.model.initial, None
        while True:
            found = len(self.report.disagreements)
            self._live(boot, left, [])
            if len(self.report.disagreements) > found or self.node not in self.left:
                return
            left = self.left[self.node]
            ways = [(a, v) for a, v in self.model.next[self.node] if a == "Resume"]
            if not ways:
                return
            self.report.processes += 1
            boot = self.move(*self.random.choice(ways))
