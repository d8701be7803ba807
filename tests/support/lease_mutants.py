"""For each mutant of ``formal/MutLease.tla`` the same fault in the code, planted by replacing one function.

``CODE`` maps the name of a model mutant to a function that plants its twin with a ``pytest.MonkeyPatch``.
``NO_TWIN`` says of the others why the code has no place for them; ``OWN`` are faults that the model cannot
have, because there a test and a write are one step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agentl.durable import recovery
from agentl.durable.lease import Lease, Liveness, Standing, may_still_act
from agentl.durable.recovery import DurableJournal
from agentl.durable.stores import file as file_store
from agentl.durable.stores import oslock, postgres, postgres_append, rows, sqlite
from agentl.durable.stores.sqlite_file import connected, transaction
from agentl.kernel import execution, protocol
from agentl.kernel.protocol import Finding, Promise, Settlement
from tests.support.mutants import CODE as KERNEL

Plant = Callable[[pytest.MonkeyPatch], None]
CODE: dict[str, Plant] = {}
OWN: dict[str, Plant] = {"IntentNotSynced": KERNEL["IntentNotSynced"]}

NO_TWIN = {
    "CallGoesOn": "an effect that arrives after the death of its process: assumption A4, nothing in the code",
    "TokenMeansKey": "no host can promise a fencing token today (STO-6)",
    "AsksWithoutToken": "no host can promise a fencing token today (STO-6)",
}


def twin(plant: Plant) -> Plant:
    """Register the twin of the model mutant that has this name."""
    CODE[plant.__name__] = plant
    return plant


def own(plant: Plant) -> Plant:
    """Register a fault that only the code can have."""
    OWN[plant.__name__] = plant
    return plant


# --- who is believed -----------------------------------------------------------------------


@twin
def BelievesNo(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(protocol, "believed", lambda finding, _restricted: finding)


@twin
def BelievesNoLater(patch: pytest.MonkeyPatch) -> None:
    real, restricted = DurableJournal.reconcile, DurableJournal._restricted
    later: list[bool] = []

    def reconcile(self: Any, *args: Any) -> Any:
        later.append(True)
        try:
            return real(self, *args)
        finally:
            later.pop()

    patch.setattr(DurableJournal, "reconcile", reconcile)
    patch.setattr(DurableJournal, "_restricted", lambda self, found: not later and restricted(self, found))


@twin
def NeverAsks(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        protocol, "believed", lambda finding, restricted: Finding.NOT_KNOWN if restricted else finding
    )


@twin
def AnyDriver(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(recovery, "may_still_act", lambda unsure, _callers: bool(unsure))


@twin
def OnlyTheFirst(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(recovery, "may_still_act", lambda unsure, callers: may_still_act(unsure, callers[:1]))


@twin
def OnlyTheLast(patch: pytest.MonkeyPatch) -> None:
    def restricted(self: Any, found: Any) -> bool:
        before = tuple(epoch for epoch in self.lease.unsure if epoch == self.lease.epoch - 1)
        return found is not None and may_still_act(before, tuple(found["callers"]))

    patch.setattr(DurableJournal, "_restricted", restricted)


@twin
def HastyVerdict(patch: pytest.MonkeyPatch) -> None:
    from tests.machines.drivers.play import Play

    patch.setattr(Play, "final", lambda _self: True)


# --- who is dead ---------------------------------------------------------------------------


def succeeding(patch: pytest.MonkeyPatch, change: Callable[[Any, Lease], Lease]) -> None:
    real = rows.succeed

    def succeed(known: Any, holder: str, since: str) -> Lease:
        return change(known, real(known, holder, since))

    for module in (sqlite, postgres):
        patch.setattr(module, "succeed", succeed)


@twin
def LateMeansDead(patch: pytest.MonkeyPatch) -> None:
    def change(known: Any, lease: Lease) -> Lease:
        late = {row.epoch for row in known if row.late}
        unsure = tuple(epoch for epoch in lease.unsure if epoch not in late)
        return Lease(lease.epoch, lease.holder, lease.since, unsure)

    succeeding(patch, change)


@twin
def ElsewhereMeansDead(patch: pytest.MonkeyPatch) -> None:
    real = rows.liveness_of

    def liveness_of(text: str) -> tuple[Liveness, bool]:
        alive, itself = real(text)
        return (Liveness.DEAD if alive is Liveness.UNKNOWN else alive), itself

    patch.setattr(rows, "liveness_of", liveness_of)


@twin
def StealsLock(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(oslock, "take", lambda _descriptor: True)
    patch.setattr(rows, "_standing", lambda _row: Standing.FREE)


@twin
def ReleasesInCall(patch: pytest.MonkeyPatch) -> None:
    def renew(self: Any) -> None:
        # "It ran out, so let somebody else have it": but the call goes on.
        with connected(self.path) as connection, transaction(connection):
            connection.execute(
                "UPDATE leases SET expires = NULL WHERE run_id = ? AND epoch = ? AND expires <= ?",
                (self.run_id, self._epoch, self._clock()),
            )

    patch.setattr(sqlite.SQLiteStore, "renew", renew)


# --- who writes ----------------------------------------------------------------------------


@twin
def AdmitsAll(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sqlite, "admit", lambda _own, _latest: None)
    compared = b"AND epoch = $2 AND driven"
    assert compared in postgres_append._APPEND
    patch.setattr(
        postgres_append, "_APPEND", postgres_append._APPEND.replace(compared, b"AND epoch >= 0 * $2::bigint")
    )


@twin
def SameEpoch(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(file_store, "next_epoch", lambda latest: max(latest, 1))


@own
def ChecksBefore(patch: pytest.MonkeyPatch) -> None:
    """The epoch is compared, and then the entry is written: two steps."""
    real = sqlite.SQLiteStore._fence
    append = sqlite.SQLiteStore.append

    def checked(self: Any, raw: bytes, epoch: int, *, sync: bool) -> None:
        if sync and self._connection is not None:
            real(self, self._connection, epoch)
            self.stage.reach("append.checked")
        append(self, raw, epoch, sync=sync)

    patch.setattr(sqlite.SQLiteStore, "append", checked)
    patch.setattr(sqlite.SQLiteStore, "_fence", lambda *_args: None)


# --- what the receiver knows ---------------------------------------------------------------


@twin
def KeyPerDriver(patch: pytest.MonkeyPatch) -> None:
    real = execution.start_attempt

    def start(held: Any, attempt: int, token: Any) -> Any:
        dispatch = real(held, attempt, token)
        dispatch.context.idempotency_key += f"-{token}"
        return dispatch

    patch.setattr(execution, "start_attempt", start)


@twin
def RetriesWithoutKey(patch: pytest.MonkeyPatch) -> None:
    real = protocol.settle

    def settle(promise: Promise, finding: Finding, unsure: bool, may_repeat: bool) -> Settlement:
        if finding is Finding.UNSURE and may_repeat:
            return Settlement.RETRY
        return real(promise, finding, unsure, may_repeat)

    patch.setattr(protocol, "settle", settle)
