"""The step that ends a run, and its contract (RES-8)."""

from __future__ import annotations

import pytest

from agentl.contracts import ENABLED, ContractBroken
from agentl.durable import closing
from agentl.durable.closing import Ending, close


def kept(left: int, kind: str | None, result: Ending) -> bool:
    """Whether both postconditions of ``close`` accept this answer."""
    given = {"left": left, "kind": kind, "result": result}
    promises = closing.close.__postconditions__  # type: ignore[attr-defined]
    assert len(promises) == 2
    return all(one.condition(*(given[name] for name in one.condition_args)) for one in promises)


@pytest.mark.parametrize(
    ("left", "kind", "expected"),
    [
        (0, None, Ending.WRITE),
        (1, "close", Ending.SERVED),
        (3, "close", Ending.SERVED),
        (1, "invoke", Ending.REFUSED),
        (2, "extend", Ending.REFUSED),
        (1, None, Ending.REFUSED),
    ],
)
def test_a_run_ends_at_the_end_of_its_record(left: int, kind: str | None, expected: Ending) -> None:
    """`RES-8`: what is left must begin with the end that was recorded."""
    assert close(left, kind) is expected


@pytest.mark.skipif(not ENABLED, reason="contracts are off")
@pytest.mark.parametrize(
    ("wrong", "left", "kind"),
    [
        (Ending.WRITE, 1, "invoke"),
        (Ending.SERVED, 1, "invoke"),
        (Ending.SERVED, 0, None),
        (Ending.REFUSED, 0, None),
    ],
)
def test_the_contract_finds_an_end_that_comes_too_early(wrong: Ending, left: int, kind: str | None) -> None:
    """`RES-8`: both postconditions of ``close``, on answers that a wrong step could give."""
    assert not kept(left, kind, wrong)
    assert kept(left, kind, close(left, kind))


@pytest.mark.skipif(not ENABLED, reason="contracts are off")
def test_the_contract_names_its_clause_and_the_action() -> None:
    """`RES-8`: as the model calls it."""
    errors = [contract.error() for contract in closing.close.__postconditions__]  # type: ignore[attr-defined]
    assert all(isinstance(error, ContractBroken) for error in errors)
    assert {(error.clause, error.action) for error in errors} == {("RES-8", "Close")}
