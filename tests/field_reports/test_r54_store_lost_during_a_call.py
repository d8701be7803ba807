"""R54: when the store fails while a tool works, the run ends as a store failure, not a tool failure."""

from __future__ import annotations

import os
import resource
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentl import Host
from agentl.durable import NOT_EXECUTED, StoreFailure
from agentl.durable.stores.postgres_append import Appender
from tests.field_reports.kit import (
    RUN,
    KillableFile,
    KillablePostgres,
    Ledger,
    Place,
    drive,
    in_child,
    kind_of,
)
from tests.support.postgres import Server, blocked, locked, needed, server

PROGRAM = """
AGENT STORELESS {
  TOOL first { INPUT { n: Number } }
  TOOL charge { INPUT { n: Number } }
  TOOL after { INPUT { n: Number } }
  POLICY { DEFAULT ALLOW }
  PLAN go WHEN tools.first.calls == 0 { first(n: 1) charge(n: 2) after(n: 3) }
}
"""


def fill_the_disk(place: Place) -> None:
    """From here on no file of this process can grow: as a full disk, or a store that went away."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))


def world(ledger: Ledger, place: Place, promise: str, trouble: str = "") -> Host:
    host = Host()

    @host.tool("first")
    def first(n: float) -> dict[str, str]:
        ledger.add("first", n=n)
        if trouble == "before the intent":
            fill_the_disk(place)
        return {}

    @host.tool("charge", idempotent=promise == "idempotent")
    def charge(n: float) -> dict[str, str]:
        ledger.add("charge", n=n)
        if trouble == "after the effect":
            fill_the_disk(place)
        return {}

    @host.tool("after")
    def after(n: float) -> dict[str, str]:
        ledger.add("after", n=n)
        return {}

    if promise == "reconcilable":

        @host.reconciler("charge")
        def charged(args: Any, context: Any) -> Any:
            return {} if ledger.rows("charge") else NOT_EXECUTED

    return host


@pytest.mark.parametrize("promise", ["idempotent", "reconcilable", "plain"])
@pytest.mark.parametrize("trouble", ["before the intent", "after the effect"])
def test_the_store_is_named_and_the_action_is_settled(
    place: Place, ledger: Ledger, tmp_path: Path, promise: str, trouble: str
) -> None:
    """DRF-3, RES-6: no tool after the failure, no false tool error, one effect or a declared doubt."""
    lost = in_child(lambda: drive(place, PROGRAM, world(ledger, place, promise, trouble)))
    assert lost.error == "StoreFailure", lost.trail
    assert "first" not in lost.text.split()
    made = ledger.tools()
    # The result of `first` itself may be what could not be written, when the disk filled inside it.
    assert made == (["first"] if trouble == "before the intent" else ["first", "charge"])
    assert not [entry for entry in place.of_kind("invoke") if "error" in entry]

    run = in_child(lambda: drive(place, PROGRAM, world(ledger, place, promise)).runtime.state.world)
    facts = run.ok()
    assert len(ledger.rows("after")) == 1
    if trouble == "before the intent":
        assert len(ledger.rows("first")) == 1, "without a promise it is not run again"
        assert facts["tools.first.in_doubt"] is True
        assert len(ledger.rows("charge")) == 1
    elif promise == "plain":
        assert len(ledger.rows("charge")) == 1
        assert facts["tools.charge.in_doubt"] is True
    elif promise == "reconcilable":
        assert len(ledger.rows("charge")) == 1
        assert facts["tools.charge.in_doubt"] is False
    else:
        assert len({row["key"] for row in ledger.rows("charge")}) == 1
        assert facts["tools.charge.in_doubt"] is False


def break_store(store: Any, error: OSError, monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on every write of this store fails: at the file, or at the connection."""
    if isinstance(store, KillableFile):

        def fail(*_args: Any) -> int:
            raise error

        monkeypatch.setattr(os, "pwrite", fail)
    else:
        store._committer._connection.close()


@pytest.mark.parametrize("kind", ["open", "intent", "invoke", "checkpoint", "close"])
@pytest.mark.parametrize("error", [OSError(5, "input/output error"), ConnectionError("server closed")])
def test_any_failing_write_ends_the_run(
    place: Place, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, kind: str, error: OSError
) -> None:
    """DRF-3: the error is a StoreFailure with operation and cause; nothing is called after it."""

    def run() -> None:
        store = place.store()

        def fail(when: str, raw: Any) -> None:
            if when == "before" and kind_of(raw) == kind:
                break_store(store, error, monkeypatch)

        store.on_append = fail
        drive(place, PROGRAM, world(ledger, place, "idempotent"), store=store)

    lost = in_child(run)
    assert lost.error == "StoreFailure", lost.trail
    expected = {"open": [], "intent": [], "invoke": ["first"]}
    assert ledger.tools() == expected.get(kind, ["first", "charge", "after"])


# --- a database on the other side of a connection ----------------------------------------------


def cut_in_the_middle(place: Place) -> None:
    """The next append waits for a lock; there its connection is cut, and the lock let go."""
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with locked(place.dsn, RUN) as other:
            held.set()
            for backend in blocked(place.dsn):
                place.change(f"SELECT pg_terminate_backend({backend}, 5000)")
            other.rollback()
        done.set()

    threading.Thread(target=hold, daemon=True).start()
    assert held.wait(30)


def lose_the_answer(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next append is committed, and nobody hears so."""
    real = Appender.append

    def append(self: Any, first: int, lines: Any) -> int:
        real(self, first, lines)
        monkeypatch.setattr(Appender, "append", real)
        server().cut(place.dsn)
        return real(self, first, lines)

    monkeypatch.setattr(Appender, "append", append)


@pytest.mark.parametrize("kind", ["intent", "invoke"])
@pytest.mark.parametrize("how", ["idle", "in the middle", "answer lost"])
def test_a_connection_that_is_cut_costs_nothing(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, kind: str, how: str
) -> None:
    """STO-9: before the intent, between effect and result, in the middle of either's transaction."""
    place = Place("postgres", tmp_path)
    store = place.store()

    def trouble(when: str, raw: Any) -> None:
        if when != "before" or kind_of(raw) != kind:
            return
        if how == "idle":
            server().cut(place.dsn)
        elif how == "in the middle":
            cut_in_the_middle(place)
        else:
            lose_the_answer(place, monkeypatch)

    store.on_append = trouble
    run = drive(place, PROGRAM, world(ledger, place, "plain"), store=store)
    assert run.status == "completed"
    assert ledger.tools() == ["first", "charge", "after"]
    entries = place.entries()
    assert [entry["seq"] for entry in entries] == list(range(len(entries)))
    assert ["error" in entry for entry in place.of_kind("invoke")] == [False] * 3
    assert drive(place, PROGRAM, world(ledger, place, "plain")).already_completed


@pytest.fixture(scope="module")
def own() -> Iterator[Server]:
    needed()
    found = Server()
    yield found
    found.remove()


@pytest.mark.parametrize("promise", ["idempotent", "reconcilable", "plain"])
@pytest.mark.parametrize("back", [True, False])
def test_a_server_that_dies_while_the_tool_works(
    own: Server, tmp_path: Path, ledger: Ledger, promise: str, back: bool
) -> None:
    """STO-9, DRF-3, RES-6: back in time the result is written; else the action is settled by the next."""
    place = Place("postgres", tmp_path, own.database())

    def host(*, dies: bool) -> Host:
        found = world(ledger, place, promise)
        charge = found.tools["charge"]

        def charging(n: float) -> dict[str, str]:
            answer: dict[str, str] = charge(n=n)
            own.kill()
            if back:
                own.start()
            return answer

        if dies:
            found.tools["charge"] = charging
        return found

    store = KillablePostgres(place.dsn, RUN, reconnect_seconds=20 if back else 0.1)
    if back:
        run = drive(place, PROGRAM, host(dies=True), store=store)
        assert run.runtime.state.world["tools.charge.in_doubt"] is False
        assert ledger.tools() == ["first", "charge", "after"]
        return
    with pytest.raises(StoreFailure) as lost:
        drive(place, PROGRAM, host(dies=True), store=store)
    assert "PostgreSQL" in str(lost.value)
    assert "charge" not in str(lost.value)
    own.start()
    # This process still lives, so for the server it still drives: the operator ends it, here its row does.
    place.change(
        "UPDATE leases SET holder = regexp_replace(holder, ' start [0-9]+ ', ' start 0 ') RETURNING 1"
    )
    run = drive(place, PROGRAM, host(dies=False))
    assert run.runtime.state.world["tools.charge.in_doubt"] is (promise == "plain")
    assert len({row["key"] for row in ledger.rows("charge")}) == 1
    assert len(ledger.rows("charge")) == (2 if promise == "idempotent" else 1)
    assert ledger.tools()[-1] == "after"
