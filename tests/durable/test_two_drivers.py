"""A driver that sleeps inside its call, and a second one that finds the intent (`STO-6`).

The old driver's tool plays the second run to its end before it acts: it wakes at the worst moment.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentl import Host
from agentl.durable import NOT_EXECUTED, DurableRun, LeaseLost, PostgresStore, SQLiteStore
from agentl.durable.lease import LEASE_SECONDS
from agentl.kernel import current_action
from tests.support.postgres import sql
from tests.support.programs import Ledger, durable, host_of, payments


class Killed(BaseException):
    """The process ends inside its call."""


class Elsewhere:
    """Mixed into a store that is used from another machine: nobody can know whether its driver lives."""

    def acquire(self, holder: str) -> Any:
        return super().acquire("other-machine pid 1 start 1 space elsewhere")  # type: ignore[misc]


class SQLiteElsewhere(Elsewhere, SQLiteStore):
    """Used from another machine."""


class PostgresElsewhere(Elsewhere, PostgresStore):
    """Used from another machine."""


class InSQLite:
    """A file of runs, and a clock that the test sets."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.now = 1000.0

    def store(self) -> Any:
        return SQLiteStore(self.path, "r1", clock=lambda: self.now)

    def elsewhere(self) -> Any:
        return SQLiteElsewhere(self.path, "r1", clock=lambda: self.now)

    def pass_time(self) -> None:
        self.now += LEASE_SECONDS + 1


class InPostgres:
    """A database of runs; its leases are moved where the server's clock cannot be."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn

    def store(self) -> Any:
        return PostgresStore(self.dsn, "r1")

    def elsewhere(self) -> Any:
        return PostgresElsewhere(self.dsn, "r1")

    def pass_time(self) -> None:
        sql(self.dsn)(f"UPDATE leases SET expires = expires - make_interval(secs => {LEASE_SECONDS + 1})")


@pytest.fixture(params=["sqlite", "postgres"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> InSQLite | InPostgres:
    if request.param == "sqlite":
        return InSQLite(tmp_path / "runs.db")
    return InPostgres(request.getfixturevalue("database"))


class Scene:
    """One run, an old driver elsewhere, and a second one that takes over by time."""

    def __init__(self, stores: InSQLite | InPostgres, promise: str) -> None:
        self.stores = stores
        self.promise = promise
        self.ledger = Ledger(honours_keys=promise == "idempotent")
        self.second: DurableRun | None = None

    def host(self, sleeps: str = "never") -> Host:
        host = Host()

        @host.tool("transfer", idempotent=self.promise == "idempotent")
        def transfer(amount: Any) -> Any:
            context = current_action()
            assert context is not None
            if sleeps == "before":
                self.take_over()
            self.ledger.book(context.idempotency_key, amount)
            if sleeps == "after":
                self.take_over()
            return {"ok": True}

        if self.promise == "reconcilable":
            host.reconciler("transfer")(
                lambda _args, _context: {"ok": True} if self.ledger.booked else NOT_EXECUTED
            )
        return host

    def take_over(self) -> None:
        self.stores.pass_time()
        self.second = durable(payments(), self.host(), self.stores.store())

    def play(self, sleeps: str) -> DurableRun:
        store = self.stores.elsewhere()
        with pytest.raises(LeaseLost):
            durable(payments(), self.host(sleeps), store)
        assert self.second is not None
        return self.second


def in_doubt(run: DurableRun) -> bool:
    return bool(run.runtime.state.world["tools.transfer.in_doubt"])


@pytest.mark.parametrize(
    ("promise", "sleeps", "doubt"),
    [
        ("idempotent", "before", False),
        ("idempotent", "after", False),
        ("reconcilable", "before", True),
        ("reconcilable", "after", False),
        ("plain", "before", True),
        ("plain", "after", True),
    ],
)
def test_a_driver_that_wakes_doubles_nothing(stores: Any, promise: str, sleeps: str, doubt: bool) -> None:
    """STO-6, DUR-2: retried under the same key; a reconciler's yes is believed, its no is not."""
    scene = Scene(stores, promise)
    second = scene.play(sleeps)
    assert len(scene.ledger.booked) == 1
    assert in_doubt(second) is doubt


def test_a_driver_that_never_had_leave_to_call_is_no_reason_to_doubt(stores: Any) -> None:
    """STO-6: one that slept before its first entry cannot call: the reconciler is believed."""
    scene = Scene(stores, "reconcilable")
    first = scene.host()
    first.tools["transfer"] = host_of(Ledger(), die_after=Killed).tools["transfer"]
    with pytest.raises(Killed):
        durable(payments(), first, stores.store())
    sleeper = stores.elsewhere()
    assert sleeper.acquire("").epoch == 2
    scene.take_over()
    assert scene.second is not None
    assert len(scene.ledger.booked) == 1
    assert not in_doubt(scene.second)
    sleeper.close()
