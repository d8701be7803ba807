"""The ledger of a kernel: which of its permits can still be used (`KRN-10`, `KRN-11`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agentl.contracts import clause, ensure
from agentl.errors import PermitError
from agentl.kernel import protocol
from agentl.kernel.action import ActionRequest
from agentl.kernel.permit import ExecutionPermit, Held
from agentl.kernel.protocol import PermitStage

_put: Final = object.__setattr__


def _named(permit: Any) -> str:
    try:
        return str(permit.target)
    except AttributeError:
        return "?"


class Ledger:
    """The permits of one kernel that can still be used, by nonce (`KRN-11`).

    Holds at most one unused permit and those whose execution is under way, so it stays small
    however long the run is.
    """

    __slots__ = ("_entries", "_next", "_unused", "issuer")

    def __init__(self, issuer: str) -> None:
        self.issuer = issuer
        self._next = 1
        self._unused: int | None = None
        self._entries: dict[int, tuple[ExecutionPermit, Held]] = {}

    @ensure(
        lambda self, action_hash, result: (
            (entry := self._entries.get(self._unused)) is not None
            and entry[0] is result
            and (held := entry[1]) is result._held  # noqa: SLF001
            and held.stage is PermitStage.ISSUED
            and held.action_hash == action_hash
        ),
        error=clause("KRN-10", "Mint"),
    )
    def mint(
        self,
        stage: PermitStage,
        kind: str,
        target: str,
        args: Mapping[str, Any],
        action_hash: str,
        action_id: str,
        idempotency_key: str,
        policy_digest: str,
        approved: bool,
        request: ActionRequest,
    ) -> ExecutionPermit:
        """Issue the permit of an action that was allowed or approved; an older unused one is void.

        Raises:
            PermitError: the action was not approved (``protocol.mint``).
        """
        issued = protocol.mint(stage)
        if self._unused is not None:
            self._drop(self._unused, PermitStage.VOID)
        nonce = self._next
        self._next = nonce + 1
        held = Held(
            kind,
            target,
            action_hash,
            action_id,
            idempotency_key,
            issued,
            request,
            policy_digest,
            approved,
            self.issuer,
        )
        permit = ExecutionPermit.__new__(ExecutionPermit)
        _put(permit, "args", args)
        _put(permit, "nonce", nonce)
        _put(permit, "_held", held)
        self._entries[nonce] = (permit, held)
        self._unused = nonce
        return permit

    @ensure(
        lambda permit, result: result.stage is PermitStage.ISSUED and permit._held is result,  # noqa: SLF001
        error=clause("KRN-11", "Dispatch"),
    )
    def held(self, permit: Any) -> Held:
        """The entry of a permit that can still be executed.

        Raises:
            PermitError: forged, copied, of another kernel, used, running or revoked.
        """
        if type(permit) is ExecutionPermit:
            entry = self._entries.get(getattr(permit, "nonce", 0))
            if entry is not None and entry[0] is permit and permit._held is entry[1]:  # noqa: SLF001
                held = entry[1]
                if held.stage is PermitStage.ISSUED:
                    return held
        raise PermitError(code="permit.unknown", target=_named(permit))

    @ensure(
        lambda permit, result: result.stage is PermitStage.SPENT and permit._held is result,  # noqa: SLF001
        error=clause("TOL-4", "Result"),
    )
    def spent(self, permit: Any) -> Held:
        """The entry of a permit of this ledger that had its execution.

        Raises:
            PermitError: it had none here.
        """
        if type(permit) is ExecutionPermit and permit.issuer == self.issuer:
            held: Held | None = getattr(permit, "_held", None)
            if held is not None and held.stage is PermitStage.SPENT:
                return held
        raise PermitError(code="permit.unknown", target=_named(permit))

    def start(self, permit: ExecutionPermit) -> None:
        """The permit is no longer unused: minting another one does not void it."""
        if self._unused == permit.nonce:
            self._unused = None

    @ensure(
        lambda self, permit: (
            permit.nonce not in self._entries and permit._held.stage is not PermitStage.ISSUED  # noqa: SLF001
        ),
        error=clause("KRN-11", "Result"),
    )
    def spend(self, permit: ExecutionPermit) -> None:
        """The permit has had its one execution."""
        self._drop(permit.nonce, PermitStage.SPENT)

    @ensure(
        lambda self, permit: permit.nonce not in self._entries and permit.status is PermitStage.VOID,
        error=clause("KRN-11", "Mint"),
    )
    def void(self, permit: ExecutionPermit) -> None:
        """Revoke a permit that was not used (`KRN-11`).

        Raises:
            PermitError: this ledger has no such unused permit.
        """
        self.held(permit)
        self._drop(permit.nonce, PermitStage.VOID)

    def _drop(self, nonce: int, stage: PermitStage) -> None:
        entry = self._entries.pop(nonce, None)
        if entry is not None:
            entry[1].stage = stage
        if self._unused == nonce:
            self._unused = None


__all__ = ["Ledger"]
