"""Random lives of a durable run on a file, judged from outside (DUR-2, DUR-6, KRN-11, RES-5, RES-6, RES-9).

Crashes come at a random step or inside a tool, leave torn bytes behind, and may hit every resume again;
policies become stricter, promises change, operators speak. The real kernel and a journal in a file run
beside a model that imports nothing of them.
"""

from __future__ import annotations

import ast
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from agentl.errors import KernelAbort
from tests.machines.run_model import BrokenError, RunModel
from tests.support.life import PROMISES, Life
from tests.support.process import Dies, FileDisk, counting_syncs

STRICTER = {"allow": ("allow", "ask", "deny"), "ask": ("ask", "deny"), "deny": ("deny",)}
ACTIONS = 2
SOME_ACTION = st.integers(1, ACTIONS)


class Durable(RuleBasedStateMachine):
    """Boot, die, resume, settle, change the policy and the host; read the bytes after each of them."""

    life: Life
    model: RunModel
    folder: Path | None = None

    @initialize(
        words=st.tuples(*[st.sampled_from(["allow", "ask"])] * ACTIONS),
        host=st.tuples(*[st.sampled_from(PROMISES)] * ACTIONS),
    )
    def begin(self, words: tuple[str, ...], host: tuple[frozenset[str], ...]) -> None:
        shared = Path("/dev/shm")
        self.folder = Path(tempfile.mkdtemp(dir=shared if shared.is_dir() else None, prefix="agentl-life-"))
        self.disk = FileDisk(self.folder / "run")
        self.life = Life(self.disk, words, host)
        self.model = RunModel(ACTIONS, self.life.setting.attempts)

    @rule(
        choices=st.lists(st.integers(0, 11), max_size=12),
        dies_at=st.one_of(st.integers(0, 14), st.integers(0, 40)),
        inside=st.booleans(),
        torn=st.integers(0, 600),
        tampered=st.sampled_from([False, False, False, True]),
        stricter=st.tuples(*[st.sampled_from([0, 0, 0, 1, 2])] * ACTIONS),
        promises=st.tuples(*[st.sampled_from([None, *PROMISES[:4]])] * ACTIONS),
    )
    def boot(
        self,
        choices: list[int],
        dies_at: int,
        inside: bool,
        torn: int,
        tampered: bool,
        stricter: tuple[int, ...],
        promises: tuple[frozenset[str] | None, ...],
    ) -> None:
        """A process, which may die at a step or inside its first call, leaving torn bytes.

        Since the last one the policy may have become stricter, and the host may promise something else.
        """
        left = iter(choices)
        if self.life.left is not None:
            self._change(stricter, promises)

        def choose(options: int) -> int:
            return next(left, 0) % options

        life, model = self.life, self.model
        model.boot(life.rule, life.host)
        first, seen = len(life.outside), len(life.views)
        dying: Any = None
        with counting_syncs(self.disk):
            try:
                life.boot(choose, dies_at=dies_at, inside=inside, torn=torn, tampered=tampered)
            except KernelAbort as error:  # a faulty kernel may stop where a sound one does not
                dying = error
        for event in life.outside[first:]:
            model.hear(event)
        for view in life.views[seen:]:
            if view.run == "up":
                model.watch(view)
        if dying is not None and not isinstance(dying, Dies):
            raise BrokenError(f"RES-1: the resume dies of {dying!r}")
        alive = not inside and not tampered and dies_at >= len(life.views) - seen
        if alive and life.ended == "down":
            raise BrokenError("RES-1: a process that nobody disturbed did not come to an end")
        told = life.views[-1].log if len(life.views) > seen else ()
        model.read(life.records(), life.ended, told=told)

    def _change(self, stricter: tuple[int, ...], promises: tuple[frozenset[str] | None, ...]) -> None:
        life = self.life
        words = [STRICTER[word] for word in life.rule]
        life.rule = tuple(word[step % len(word)] for word, step in zip(words, stricter, strict=True))
        # A tool that acts does not become a reading, nor the reverse (assumption A3 of formal/README.md).
        life.host = tuple(
            was if now is None or "read_only" in was else now
            for was, now in zip(life.host, promises, strict=True)
        )

    @precondition(lambda self: self.life.left is not None)
    @rule(action=SOME_ACTION)
    def settle(self, action: int) -> None:
        """An operator says what the world says; he can exactly once, and only where nobody knows."""
        mine = [record for record in self.model.records if record.action == action]
        trail = [record for record in mine if record.kind != "approve"]
        open_one = [r.note for r in mine if r.kind == "result"] in ([], ["doubt"])
        may = bool(trail) and open_one and trail[-1].kind != "verdict"
        with counting_syncs(self.disk):
            assert self.life.verdict(action) == may
        if may:
            self.model.settled(action)
            self.model.excused.add(action)
            self.model.read(self.life.records(), "down")

    @invariant()
    def the_bytes_say_the_same_again(self) -> None:
        """STO-5: reading repairs nothing that was acknowledged."""
        if self.folder is not None and self.life.left is not None:
            assert self.life.records() == self.model.records

    def teardown(self) -> None:
        if self.folder is not None:
            shutil.rmtree(self.folder)


TestDurable = Durable.TestCase


def test_the_model_shares_nothing_with_the_kernel() -> None:
    """DUR-2: otherwise the two could be wrong together."""
    tree = ast.parse(Path(__file__).with_name("run_model.py").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [str(node.module)]
        assert not any(name.startswith(("agentl", "tests")) for name in names)
