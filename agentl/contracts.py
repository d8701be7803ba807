"""icontract as this project uses it: pre- and postconditions that mirror the formal model.

A refusal that protects somebody is ordinary code; the contract is its mirror (the model's
enabling condition and effect). Contracts are live by default; ``AGENTL_CONTRACTS=off``
removes them at import, and ``python -O`` does too.

Use the names as icontract's own decorators, with the clause as the error:

    @require(lambda permit: permit.status is Status.ISSUED, error=clause("KRN-11", "Dispatch"))
    @ensure(lambda result: result.status is Status.DISPATCHING, error=clause("KRN-11", "Dispatch"))

The contracts belong to icontract, where CrossHair and other tools find them. What is called is a
function with the same parameters that calls the same conditions, written out once, instead of
icontract's checker, which resolves names, coroutines and reports at each call and costs twenty
times as much (docs/decisions/0001-lean-contract-checks.md). A contract that needs more than
arguments and result stays with icontract's checker.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar, cast

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


def _usable(contracts: Sequence[Any], names: Sequence[str]) -> bool:
    """Whether each condition needs nothing but arguments (and the result), and each error nothing at all."""
    return all(
        callable(contract.error) and not contract.error_args and set(contract.condition_args) <= set(names)
        for contract in contracts
    )


def _lean(checker: Any) -> Any:
    """A function with the parameters of ``checker`` that says what it says, or ``checker`` itself."""
    body = checker.__wrapped__
    parameters = list(inspect.signature(body).parameters.values())
    names = [parameter.name for parameter in parameters]
    plain = all(parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD for parameter in parameters)
    groups, after = checker.__preconditions__, checker.__postconditions__
    before = groups[0] if groups else ()
    if not plain or len(groups) > 1 or inspect.iscoroutinefunction(body):
        return checker
    if not _usable(before, names) or not _usable(after, [*names, "result"]):
        return checker
    return functools.wraps(checker)(_direct(body, parameters, before, after))


def _direct(
    body: Any, parameters: Sequence[inspect.Parameter], before: Sequence[Any], after: Sequence[Any]
) -> Callable[..., Any]:
    """The checks written out as one function, as ``dataclasses`` writes an ``__init__``.

    Its text holds the names of parameters and numbers, nothing else: whatever is called comes from ``space``.
    """
    space: dict[str, Any] = {"body_": body}
    heads = []
    for parameter in parameters:
        given = parameter.default is inspect.Parameter.empty
        heads.append(parameter.name if given else f"{parameter.name}=default_{parameter.name}")
        space[f"default_{parameter.name}"] = parameter.default
    lines = [f"def checked({', '.join(heads)}):"]

    def check(contract: Any) -> None:
        number = len(space)
        space[f"condition_{number}"], space[f"error_{number}"] = contract.condition, contract.error
        lines.append(f"    if not condition_{number}({', '.join(contract.condition_args)}):")
        lines.append(f"        raise error_{number}()")

    for contract in before:
        check(contract)
    lines.append(f"    result = body_({', '.join(parameter.name for parameter in parameters)})")
    for contract in after:
        check(contract)
    lines.append("    return result")
    exec("\n".join(lines), space)  # noqa: S102 - see above
    return cast(Callable[..., Any], space["checked"])


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
