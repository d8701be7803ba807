"""What the field-report tests share: an outside ledger, real kills, both stores, and a child process.

The verdict of every test is read from a ledger that the tool itself writes, or from the bytes
of the store; never from the runtime's own report alone.
"""

from __future__ import annotations

import json
import os
import pickle
import select
import signal
import sqlite3
import subprocess
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentl import Host, MockLLM, Runtime, parse_source
from agentl.durable import DurableRun, FileStore, PostgresStore, SQLiteStore
from agentl.kernel import current_action
from tests.support.postgres import database_for, sql

ROOT = Path(__file__).resolve().parents[2]
RUN = "run"


def die() -> None:
    """SIGKILL to this very process: nothing runs after it, no handler, no flush."""
    os.kill(os.getpid(), signal.SIGKILL)


@dataclass
class Ended:
    """How a child process ended."""

    killed: bool
    value: Any = None
    error: str = ""
    text: str = ""
    trail: str = ""

    def ok(self) -> Any:
        """Its value; fails the test when it raised or was killed."""
        assert not self.killed, "the child was killed"
        assert not self.error, self.trail
        return self.value


RUNNING: list[Child] = []


class Child:
    """A forked process that runs ``work`` and hands its value (or its exception) back."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._reading, writing = os.pipe()
        self.ended = False
        self.pid = os.fork()
        if self.pid == 0:  # pragma: no cover - the child
            os.close(self._reading)
            try:
                answer = ("value", work(), "", "")
            except BaseException as error:
                answer = ("error", type(error).__name__, str(error), traceback.format_exc())
            try:
                with os.fdopen(writing, "wb") as pipe:
                    pipe.write(_pickled(answer))
            finally:
                os._exit(0)
        os.close(writing)
        RUNNING.append(self)

    def stop(self) -> None:
        """Kill it if it still runs: a test that failed must not leave it waiting for ever."""
        if not self.ended:
            self.ended = True
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            os.close(self._reading)

    def wait(self, seconds: float = 60.0) -> Ended:
        """Collect it; a child that never ends is killed and fails the test."""
        received = b""
        self.ended = True
        with os.fdopen(self._reading, "rb", buffering=0) as pipe:
            while select.select([pipe], [], [], seconds)[0]:
                part = pipe.read(65536)
                if not part:
                    break
                received += part
            else:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                raise AssertionError("the child did not end")
        _, status = os.waitpid(self.pid, 0)
        if os.WIFSIGNALED(status):
            assert os.WTERMSIG(status) == signal.SIGKILL
            return Ended(killed=True)
        kind, value, text, trail = pickle.loads(received)
        if kind == "error":
            return Ended(killed=False, error=value, text=text, trail=trail)
        return Ended(killed=False, value=value)


def _pickled(answer: tuple[Any, ...]) -> bytes:
    try:
        return pickle.dumps(answer)
    except Exception:  # a value that is of no use outside its process, as a whole run
        return pickle.dumps((answer[0], None, *answer[2:]))


def in_child(work: Callable[[], Any]) -> Ended:
    """Run ``work`` in a process of its own."""
    return Child(work).wait()


class Ledger:
    """Effects as the outside world sees them: one JSON line per effect, appended and flushed by the tool."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, tool: str, **args: Any) -> None:
        """One effect, with the key and the attempt that the runtime told the tool."""
        action = current_action()
        row = {"tool": tool, "args": {name: shape(value) for name, value in args.items()}, "pid": os.getpid()}
        if action is not None:
            row |= {"key": action.idempotency_key, "attempt": action.attempt, "id": action.action_id}
        with self.path.open("ab", buffering=0) as file:
            file.write(json.dumps(row).encode() + b"\n")

    def rows(self, tool: str | None = None) -> list[dict[str, Any]]:
        """The effects so far, of one tool or of all."""
        if not self.path.exists():
            return []
        rows = [json.loads(line) for line in self.path.read_text(encoding="ascii").splitlines()]
        return [row for row in rows if tool is None or row["tool"] == tool]

    def tools(self) -> list[str]:
        """The tools in the order of their effects."""
        return [row["tool"] for row in self.rows()]


@dataclass
class Kill:
    """SIGKILL ``when`` ("before", "after") the n-th journal entry of ``kind`` is appended."""

    when: str
    kind: str
    nth: int = 1
    seen: int = field(default=0)

    def now(self, when: str, raw: Any) -> bool:
        if when == "before" and kind_of(raw) == self.kind:
            self.seen += 1
        return when == self.when and kind_of(raw) == self.kind and self.seen == self.nth


def kind_of(raw: Any) -> str:
    """The kind of an entry in the form in which a store is given it."""
    body = raw if isinstance(raw, dict) else json.loads(raw)
    return str(body["kind"])


class _Killable:
    kill: Kill | None = None
    on_append: Callable[[str, Any], None] | None = None

    def append(self, raw: Any, epoch: int, *, sync: bool) -> Any:
        if self.on_append is not None:
            self.on_append("before", raw)
        if self.kill is not None and self.kill.now("before", raw):
            die()
        done = super().append(raw, epoch, sync=sync)  # type: ignore[misc]
        if self.kill is not None and self.kill.now("after", raw):
            die()
        return done


class KillableFile(_Killable, FileStore):
    """A file store that can kill its process at a named write."""


class KillableSQLite(_Killable, SQLiteStore):
    """A SQLite store that can kill its process at a named write."""


class KillablePostgres(_Killable, PostgresStore):
    """A PostgreSQL store that can kill its process at a named write."""


@dataclass
class Place:
    """Where a run lives, on one kind of store; a base has a database of its own."""

    kind: str
    base: Path
    dsn: str = ""

    def __post_init__(self) -> None:
        if self.kind == "postgres" and not self.dsn:
            self.dsn = database_for(self.base)

    @property
    def path(self) -> Path:
        return self.base / "runs" if self.kind == "file" else self.base / "runs.db"

    def store(self, run_id: str = RUN, kill: Kill | None = None) -> Any:
        """A fresh store object on this run."""
        opened: Any
        if self.kind == "file":
            opened = KillableFile(self.path / run_id)
        elif self.kind == "sqlite":
            opened = KillableSQLite(self.path, run_id)
        else:
            opened = KillablePostgres(self.dsn, run_id)
        opened.kill = kill
        return opened

    def entries(self, run_id: str = RUN) -> list[dict[str, Any]]:
        """The journal entries, read from the bytes without the package."""
        if self.kind == "file":
            log = self.path / run_id / "wal.jsonl"
            if not log.exists():
                return []
            lines = log.read_bytes().rstrip(b"\0").splitlines()
        elif self.kind == "postgres":
            if sql(self.dsn)("SELECT to_regclass('entries')") == [(None,)]:
                return []
            rows = sql(self.dsn)(f"SELECT body FROM agentl.entries WHERE run_id = '{run_id}' ORDER BY seq")
            lines = [bytes(row[0]) for row in rows]
        else:
            if not self.path.exists():
                return []
            connection = sqlite3.connect(self.path)
            rows = connection.execute(
                "SELECT body FROM entries WHERE run_id = ? ORDER BY seq", (run_id,)
            ).fetchall()
            connection.close()
            lines = [row[0].encode() if isinstance(row[0], str) else bytes(row[0]) for row in rows]
        return [json.loads(line) for line in lines]

    def change(self, statement: str) -> list[tuple[Any, ...]]:
        """What somebody else does to the database, the same statement for either kind; gives the rows."""
        if self.kind == "postgres":
            return sql(self.dsn)(statement)
        connection = sqlite3.connect(self.path)
        found = connection.execute(statement).fetchall()
        connection.commit()
        connection.close()
        return found

    def of_kind(self, *kinds: str, run_id: str = RUN) -> list[dict[str, Any]]:
        return [entry for entry in self.entries(run_id) if entry["kind"] in kinds]


def answer_of(entry: dict[str, Any]) -> str:
    """The answer in an ``approve`` entry as it is stored."""
    value = entry["value"]
    return str(dict(value["$dict"])["answer"] if "$dict" in value else value["answer"])


def agent_of(source: str) -> Any:
    """The one agent of a program text."""
    return parse_source(source).agents[0]


def drive(
    place: Place,
    source: str,
    host: Host,
    model: Any = None,
    *,
    ticks: int = 1,
    kill: Kill | None = None,
    run_id: str = RUN,
    store: Any = None,
    **options: Any,
) -> DurableRun:
    """Start or resume a durable run and drive it to its end."""
    opened = store if store is not None else place.store(run_id, kill)
    run = DurableRun(agent_of(source), host, model or MockLLM({}), store=opened, run_id=run_id, **options)
    try:
        run.run(max_ticks=ticks)
    finally:
        opened.close()
    return run


def codes(runtime: Runtime) -> list[str]:
    """The message codes of a trace, in order."""
    return [event.code for event in runtime.trace.events]


def blocked(runtime: Runtime) -> list[str]:
    """The codes of what was refused."""
    return [event.code for event in runtime.trace.events if event.kind == "BLOCKED"]


def shape(value: Any) -> Any:
    """A value with all its types, as JSON: two values of one shape are the same to a program."""
    kind = type(value)
    if isinstance(value, dict):
        return [kind.__name__, [[shape(key), shape(item)] for key, item in value.items()]]
    if isinstance(value, list | tuple):
        return [kind.__name__, [shape(item) for item in value]]
    if isinstance(value, set | frozenset):
        return [kind.__name__, sorted(json.dumps(shape(item)) for item in value)]
    fold = getattr(value, "fold", None)
    zone = str(getattr(value, "tzinfo", None))
    return [kind.__name__, repr(value)] if fold is None else [kind.__name__, repr(value), fold, zone]


def command(
    *arguments: str, cwd: Path, lang: str = "en", **environment: str
) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "agentl", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), "AGENTL_LANG": lang, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
