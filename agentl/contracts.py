"""icontract as this project uses it: pre- and postconditions that mirror the formal model.

A refusal that protects somebody is ordinary code; the contract is its mirror (the model's
enabling condition and effect). Contracts are live by default; ``AGENTL_CONTRACTS=off``
removes them at import, and ``python -O`` does too.

Use the two names as icontract's own decorators, with the clause as the error:

    @require(lambda permit: permit.status is Status.ISSUED, error=clause("KRN-11", "Dispatch"))
    @ensure(lambda result: result.status is Status.DISPATCHING, error=clause("KRN-11", "Dispatch"))
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final, TypeVar

_OFF: Final = ("off", "0", "no", "false")
_ON: Final = ("on", "1", "yes", "true")

ENABLED: Final = __debug__ and os.environ.get("AGENTL_CONTRACTS", "on").lower() not in _OFF
SLOW: Final = ENABLED and os.environ.get("AGENTL_CONTRACTS_SLOW", "off").lower() in _ON

_F = TypeVar("_F", bound=Callable[..., Any])


class ContractBroken(AssertionError):
    """A contract of the trusted base does not hold: a fault of the package, never of a user.

    ``clause`` is the id of the clause that the contract mirrors, ``action`` the model's action.
    """

    def __init__(self, clause: str, action: str) -> None:
        super().__init__(f"[{clause}] {action}")
        self.clause = clause
        self.action = action


def clause(clause_id: str, action: str) -> Callable[[], ContractBroken]:
    """The error factory of a contract: names the clause and the model's action, prints no argument."""

    def broken() -> ContractBroken:
        return ContractBroken(clause_id, action)

    return broken


if ENABLED:
    from icontract import ensure, require, snapshot
else:

    def _absent(*_args: Any, **_options: Any) -> Callable[[_F], _F]:
        def unchanged(function: _F) -> _F:
            return function

        return unchanged

    require = ensure = snapshot = _absent  # type: ignore[assignment]

__all__ = ["ENABLED", "SLOW", "ContractBroken", "clause", "ensure", "require", "snapshot"]
