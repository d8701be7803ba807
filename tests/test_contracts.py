"""Contracts are icontract's: the direct checks say what icontract's own checker says (KRN-17)."""

from __future__ import annotations

import functools
import inspect
import subprocess
import sys
from collections.abc import Callable, Iterator
from enum import Enum
from itertools import product
from typing import Any

import pytest

from agentl import contracts
from agentl.contracts import ENABLED, ContractBroken, clause
from agentl.durable import lease
from agentl.errors import PermitError
from agentl.kernel import policy, protocol

pytestmark = pytest.mark.skipif(not ENABLED, reason="contracts are off")

_PROMISES = [protocol.Promise(bits) for bits in range(8)]
_DOMAINS: dict[str, list[Any]] = {
    "bool": [False, True],
    "int": [-1, 0, 1, 2],
    "str": ["", "here", "there"],
    "tuple[int, ...]": [(), (1,), (1, 2), (2, 3)],
    "Promise": _PROMISES,
    "Verdict": ["ALLOWED", "DENIED", "APPROVAL_REQUIRED"],
}


def _stated(module: Any) -> list[Callable[..., Any]]:
    return [found for found in vars(module).values() if hasattr(found, "__postconditions__")]


STEPS = [step for module in (protocol, policy, lease) for step in _stated(module)]


def _domain(module: Any, annotation: str) -> list[Any]:
    kind = getattr(module, annotation, None)
    if annotation in _DOMAINS:
        return _DOMAINS[annotation]
    if annotation == "Ended":
        return [protocol.Ended(p, r) for p in protocol.PermitStage for r in protocol.RecordStage]
    assert isinstance(kind, type), annotation
    assert issubclass(kind, Enum), annotation
    return list(kind)


def _calls(step: Any) -> Iterator[tuple[Any, ...]]:
    module = sys.modules[step.__module__]
    parameters = inspect.signature(step).parameters.values()
    return product(*[_domain(module, str(parameter.annotation)) for parameter in parameters])


def _checker(step: Any) -> Any:
    from icontract._checkers import find_checker

    return find_checker(step)


def _outcome(step: Any, args: tuple[Any, ...]) -> Any:
    try:
        return ("gives", step(*args))
    except ContractBroken as broken:
        return ("broken", broken.clause, broken.action)
    except PermitError as refused:
        return ("refused", refused.code)


def _around(step: Any, body: Callable[..., Any]) -> Any:
    """icontract's own checker with the contracts of ``step`` around another body."""
    from icontract._checkers import decorate_with_checker

    bare = inspect.unwrap(step)

    @functools.wraps(bare)
    def other(*args: Any, **named: Any) -> Any:
        return body(*args, **named)

    del other.__wrapped__  # type: ignore[attr-defined]
    other.__signature__ = inspect.signature(bare)  # type: ignore[attr-defined]
    checker: Any = decorate_with_checker(other)
    checker.__preconditions__ = step.__preconditions__
    checker.__postconditions__ = step.__postconditions__
    return checker


def test_every_step_with_a_contract_is_looked_at() -> None:
    """KRN-3, STO-6, POL-2: the lists below are not empty by accident."""
    names = {step.__name__ for step in STEPS}
    assert {"decide", "approve", "mint", "intent", "dispatch", "present", "result", "settle"} <= names
    assert {"verdict", "ruling", "liveness", "standing", "next_epoch", "may_append"} <= names


@pytest.mark.parametrize("step", STEPS, ids=lambda step: str(step.__name__))
def test_a_direct_check_agrees_with_icontract_on_every_call(step: Any) -> None:
    """KRN-3, KRN-11, POL-2, RES-6, STO-6: same value, same broken clause, same refusal."""
    checker = _checker(step)
    assert checker is not step
    for args in _calls(step):
        assert _outcome(step, args) == _outcome(checker, args), args


@pytest.mark.parametrize("step", STEPS, ids=lambda step: str(step.__name__))
def test_a_direct_check_agrees_with_icontract_on_every_wrong_result(step: Any) -> None:
    """KRN-3, KRN-11, POL-2, RES-6, STO-6: each wrong result is caught by the same clause."""
    returns = str(inspect.signature(step).return_annotation)
    broken = 0
    for wrong in _domain(sys.modules[step.__module__], returns):
        checker = _around(step, lambda *_args, wrong=wrong, **_named: wrong)
        direct = contracts._lean(checker)
        assert direct is not checker
        for args in _calls(step):
            found = _outcome(direct, args)
            assert found == _outcome(checker, args), (args, wrong)
            broken += found[0] == "broken"
    assert broken


def test_a_call_by_name_is_checked_too() -> None:
    """KRN-3: what is not given by position goes through icontract."""
    with pytest.raises(ContractBroken):
        protocol.mint(permit=protocol.PermitStage.NONE)
    assert protocol.mint(permit=protocol.PermitStage.APPROVED) is protocol.PermitStage.ISSUED


def test_a_default_is_seen_by_the_condition() -> None:
    """KRN-17: a call that leaves an argument out is judged with its default."""

    @contracts.require(lambda low, high: low < high, error=clause("TEST", "Ordered"))
    @contracts.ensure(lambda low, result: result > low, error=clause("TEST", "Above"))
    def between(low: int, high: int = 10) -> int:
        return (low + high) // 2 if high < 100 else low

    assert between(2) == 6
    assert between(2, 4) == 3
    for args in [(10,), (4, 2), (11,)]:
        with pytest.raises(ContractBroken) as caught:
            between(*args)
        assert caught.value.action == "Ordered"
    with pytest.raises(ContractBroken) as caught:
        between(1, 100)
    assert caught.value.action == "Above"
    with pytest.raises(TypeError):
        between(1, 2, 3)  # type: ignore[call-arg]


def test_conditions_that_need_more_than_arguments_stay_with_icontract() -> None:
    """KRN-17: values from before a call are icontract's business."""

    @contracts.snapshot(lambda items: len(items), name="count")
    @contracts.ensure(lambda OLD, items: len(items) == OLD.count + 1, error=clause("TEST", "Grows"))  # noqa: N803
    def grow(items: list[int], by: int) -> None:
        items.extend([0] * by)

    grow([], 1)
    with pytest.raises(ContractBroken):
        grow([], 2)


def test_contracts_are_removed_at_import_when_they_are_off() -> None:
    """KRN-17: nothing is left around a function, and icontract is not even loaded."""
    program = (
        "import os, sys; os.environ['AGENTL_CONTRACTS'] = 'off'; import agentl.kernel.protocol as p;"
        "print(hasattr(p.mint, '__wrapped__'), 'icontract' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
