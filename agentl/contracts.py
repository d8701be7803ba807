"""icontract as this project uses it: pre- and postconditions that mirror the formal model.

A refusal that protects somebody is ordinary code; the contract is its mirror (the model's
enabling condition and effect). Contracts are live by default; ``AGENTL_CONTRACTS=off``
removes them at import, and ``python -O`` does too.

Use the names as icontract's own decorators, with the clause as the error:

    @require(lambda permit: permit.status is Status.ISSUED, error=clause("KRN-11", "Dispatch"))
    @ensure(lambda result: result.status is Status.DISPATCHING, error=clause("KRN-11", "Dispatch"))

The contracts belong to icontract, where CrossHair and other tools find them. A call that gives
every argument by position, as the hot path does, has the same conditions called directly instead
of through icontract's checker, which resolves names, coroutines and reports at each call and
costs ten times as much (docs/decisions/0001-lean-contract-checks.md). Any other call goes
through icontract's checker.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, Final, NamedTuple, TypeVar, cast

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


class _Check(NamedTuple):
    """One condition, what picks the arguments that it names out of all, and its error factory."""

    condition: Callable[..., Any]
    pick: Callable[[tuple[Any, ...]], tuple[Any, ...]]
    error: Callable[[], BaseException]


def _checks(contracts: Sequence[Any], names: list[str]) -> tuple[_Check, ...] | None:
    """The contracts of icontract as direct calls, or ``None`` when one needs more than arguments."""
    checks = []
    for contract in contracts:
        wanted = contract.condition_args
        if any(name not in names for name in wanted) or contract.error_args or not callable(contract.error):
            return None
        checks.append(
            _Check(contract.condition, _picker([names.index(name) for name in wanted]), contract.error)
        )
    return tuple(checks)


def _picker(places: list[int]) -> Any:
    # An itemgetter of one place gives a bare item, and of none there is not any; of a slice it gives a tuple.
    if len(places) > 1:
        return itemgetter(*places)
    return itemgetter(slice(places[0], places[0] + 1) if places else slice(0))


def _lean(checker: Any) -> Any:
    """``checker`` of icontract, bypassed where a call gives every argument by position."""
    body = checker.__wrapped__
    parameters = list(inspect.signature(body).parameters.values())
    names = [parameter.name for parameter in parameters]
    plain = all(parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD for parameter in parameters)
    groups, promises = checker.__preconditions__, checker.__postconditions__
    before = _checks(groups[0] if groups else (), names)
    after = _checks(promises, [*names, "result"])
    if not plain or before is None or after is None or len(groups) > 1 or inspect.iscoroutinefunction(body):
        return checker
    return _direct(checker, body, len(names), before, after)


def _direct(
    checker: Any, body: Any, count: int, before: tuple[_Check, ...], after: tuple[_Check, ...]
) -> Any:
    @functools.wraps(checker)
    def checked(*given: Any, **named: Any) -> Any:
        if named or len(given) != count:
            return checker(*given, **named)
        for condition, pick, error in before:
            if not condition(*pick(given)):
                raise error()
        result = body(*given)
        if after:
            whole = (*given, result)
            for condition, pick, error in after:
                if not condition(*pick(whole)):
                    raise error()
        return result

    return checked


if ENABLED:
    import icontract

    snapshot = icontract.snapshot

    def require(
        condition: Callable[..., Any], *, error: Callable[[], BaseException], enabled: bool = True
    ) -> Callable[[_F], _F]:
        """A precondition: the enabling condition of the action; ``condition`` names arguments."""
        return _decorated(icontract.require(condition, error=error, enabled=enabled), enabled)

    def ensure(
        condition: Callable[..., Any], *, error: Callable[[], BaseException], enabled: bool = True
    ) -> Callable[[_F], _F]:
        """A postcondition: the effect of the action; ``condition`` names arguments and ``result``."""
        return _decorated(icontract.ensure(condition, error=error, enabled=enabled), enabled)

    def _decorated(contract: Any, enabled: bool) -> Callable[[_F], _F]:
        def decorate(function: _F) -> _F:
            # icontract gives back its own checker, the one of an earlier decorator if there is one.
            return cast(_F, _lean(contract(function))) if enabled else function

        return decorate

else:

    def _absent(*_args: Any, **_options: Any) -> Callable[[_F], _F]:
        def unchanged(function: _F) -> _F:
            return function

        return unchanged

    require = ensure = snapshot = _absent  # type: ignore[assignment]

__all__ = ["ENABLED", "SLOW", "ContractBroken", "clause", "ensure", "require", "snapshot"]
