"""The steps of the protocol: tables, contracts that fire, and refusals that need no contract."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product
from typing import Any

import pytest

from agentl.contracts import ENABLED, ContractBroken
from agentl.errors import PermitError
from agentl.kernel import protocol
from agentl.kernel.protocol import (
    Answer,
    Finding,
    Judgement,
    PermitStage,
    Presentation,
    Promise,
    RecordStage,
    Settlement,
)

contracted = pytest.mark.skipif(not ENABLED, reason="contracts are switched off")
P, R = PermitStage, RecordStage

# One wrong call per step: it must be refused with the contracts on and off.
WRONG: dict[str, tuple[str, tuple[Any, ...]]] = {
    "decide": ("KRN-3", (P.JUDGED, Judgement.ALLOWED)),
    "approve": ("APR-6", (P.APPROVED, Answer.APPROVED, True)),
    "mint": ("KRN-3", (P.JUDGED,)),
    "intent": ("DUR-6", (P.APPROVED, R.NONE)),
    "dispatch": ("KRN-11", (P.ISSUED, R.NONE)),
    "result": ("KRN-11", (P.ISSUED, R.INTENT, R.RESULT, False)),
    "verdict": ("RES-6", (R.RESULT, True)),
}


@contracted
@pytest.mark.parametrize("step", WRONG)
def test_the_enabling_condition_is_a_contract_that_names_its_clause(step: str) -> None:
    """KRN-3, APR-6, DUR-6, KRN-11, RES-6."""
    clause, args = WRONG[step]
    with pytest.raises(ContractBroken) as caught:
        getattr(protocol, step)(*args)
    assert (caught.value.clause, caught.value.action) == (clause, step.capitalize())


@pytest.mark.parametrize(("flags", "switch"), [((), "off"), (("-O",), "on")])
def test_the_refusal_is_ordinary_code(flags: tuple[str, ...], switch: str) -> None:
    """KRN-15: with the contracts off, and under ``python -O``, each wrong step raises PermitError."""
    calls = ", ".join(f"{step!r}: ({', '.join(map(str, args))},)" for step, (_, args) in WRONG.items())
    program = f"""
from agentl.contracts import ENABLED
from agentl.errors import PermitError
from agentl.kernel import protocol
from agentl.kernel.protocol import *
P, R = PermitStage, RecordStage
if ENABLED: raise SystemExit("contracts are on")
wrong = {{{calls}}}
for step, args in wrong.items():
    try:
        getattr(protocol, step)(*args)
    except PermitError as error:
        print(step, error.code)
"""
    done = subprocess.run(
        [sys.executable, *flags, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, "AGENTL_CONTRACTS": switch},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"{step} permit.step" for step in WRONG]


@contracted
@pytest.mark.parametrize(
    ("step", "clause", "args", "wrong"),
    [
        ("decide", "POL-2", (P.NONE, Judgement.DENIED), P.APPROVED),
        ("approve", "APR-6", (P.JUDGED, Answer.DENIED, True), P.APPROVED),
        ("approve", "APR-6", (P.JUDGED, Answer.APPROVED, False), P.APPROVED),
        ("mint", "KRN-10", (P.APPROVED,), P.APPROVED),
        ("intent", "DUR-6", (P.ISSUED, R.RESULT), R.INTENT),
        ("dispatch", "KRN-11", (P.ISSUED, R.INTENT), P.ISSUED),
        ("present", "KRN-13", (P.DISPATCHING, False, True, True), Presentation.ACCEPTED),
        ("present", "KRN-13", (P.DISPATCHING, True, True, False), Presentation.ACCEPTED),
        ("result", "KRN-11", (P.DISPATCHING, R.INTENT, R.RESULT, False), (P.DISPATCHING, R.RESULT)),
        ("settle", "RES-6", (Promise.PLAIN, Finding.UNSURE, True, True), Settlement.RETRY),
        ("settle", "RES-6", (Promise.RECONCILABLE, Finding.NOT_KNOWN, True, True), Settlement.NOT_EXECUTED),
        ("settle", "RES-6", (Promise.PLAIN, Finding.UNSURE, True, True), Settlement.RECONCILED),
        ("settle", "TOL-3", (Promise.IDEMPOTENT, Finding.NOTHING_DONE, True, True), Settlement.FAILED),
        ("verdict", "RES-6", (R.DOUBT, False), R.RESULT),
    ],
)
def test_the_effect_is_a_contract_too(step: str, clause: str, args: tuple[Any, ...], wrong: Any) -> None:
    """POL-2, APR-6, KRN-10 to KRN-13, DUR-6, RES-6, TOL-3: a step that did otherwise would be caught."""
    checked = getattr(protocol, step)
    broken = _with_body(checked, lambda *_args, **_kwargs: wrong)
    with pytest.raises(ContractBroken) as caught:
        broken(*args)
    assert caught.value.clause == clause


def _with_body(checked: Any, body: Any) -> Any:
    """The same contracts around another body."""
    import functools
    import inspect

    from icontract._checkers import decorate_with_checker

    bare = inspect.unwrap(checked)

    @functools.wraps(bare)
    def other(*args: Any, **kwargs: Any) -> Any:
        return body(*args, **kwargs)

    del other.__wrapped__  # type: ignore[attr-defined]
    other.__signature__ = inspect.signature(bare)  # type: ignore[attr-defined]
    checker = decorate_with_checker(other)
    checker.__preconditions__ = checked.__preconditions__
    checker.__postconditions__ = checked.__postconditions__
    return checker


def allowed(step: Any, *args: Any) -> Any:
    """The result of a step, or None where it refuses (by its contract, or by itself)."""
    try:
        return step(*args)
    except (PermitError, ContractBroken):
        return None


def test_only_a_chain_of_steps_leads_to_a_permit() -> None:
    """KRN-3, INV-2: over all stages, judgements and answers, a permit needs a yes of policy and person."""
    for stage, judgement in product(P, Judgement):
        after = allowed(protocol.decide, stage, judgement)
        if after is not None:
            assert stage is P.NONE
            assert (after is P.APPROVED) == (judgement is Judgement.ALLOWED)
            assert (after is P.REFUSED) == (judgement is Judgement.DENIED)
    for stage, answer, same in product(P, Answer, (True, False)):
        after = allowed(protocol.approve, stage, answer, same)
        if after is not None:
            assert stage is P.JUDGED
            assert (after is P.APPROVED) == (answer is Answer.APPROVED and same)
    assert [stage for stage in P if allowed(protocol.mint, stage)] == [P.APPROVED]


def test_a_call_needs_an_open_intent_on_record() -> None:
    """KRN-11, DUR-6."""
    enabled = [pair for pair in product(P, R) if allowed(protocol.dispatch, *pair)]
    assert enabled == [(P.ISSUED, R.INTENT), (P.DISPATCHING, R.INTENT)]


def test_an_outcome_is_recorded_once_and_spends_the_permit() -> None:
    """KRN-11, TOL-3."""
    enabled = {}
    for permit, record, outcome, settled in product(P, R, R, (True, False)):
        ended = allowed(protocol.result, permit, record, outcome, settled)
        if ended is not None:
            assert ended == (P.SPENT, outcome)
            enabled[permit, record, outcome, settled] = True
    assert set(enabled) == {
        *product([P.DISPATCHING], [R.INTENT], [R.RESULT, R.DOUBT], [True, False]),
        *product([P.ISSUED], [R.INTENT], [R.RESULT, R.DOUBT], [True]),
        *(
            (P.ISSUED, outcome, outcome, settled)
            for outcome in (R.RESULT, R.DOUBT)
            for settled in (True, False)
        ),
    }


def test_settling_is_never_a_guess() -> None:
    """TOL-3, RES-6: over every combination of promises and findings."""
    for bits, finding, unsure, may in product(range(8), Finding, (True, False), (True, False)):
        promise = Promise(bits)
        how = allowed(protocol.settle, promise, finding, unsure, may)
        asked = finding in (Finding.TOOK_PLACE, Finding.DID_NOT, Finding.NOT_KNOWN)
        assert (how is None) == (asked and not promise & Promise.RECONCILABLE)
        if how is None:
            continue
        repeatable = bool(promise & (Promise.IDEMPOTENT | Promise.READ_ONLY))
        if how is Settlement.RETRY:
            assert (repeatable, may, finding) == (True, True, Finding.UNSURE)
        if how is Settlement.ASK:
            assert promise & (Promise.RECONCILABLE | Promise.READ_ONLY) == Promise.RECONCILABLE
        if how is Settlement.RECONCILED:
            assert finding is Finding.TOOK_PLACE
        if how is Settlement.NOT_EXECUTED:
            assert finding is Finding.DID_NOT
        if how is Settlement.FAILED:
            assert promise & Promise.READ_ONLY or (finding is Finding.NOTHING_DONE and not unsure)
        if promise & Promise.READ_ONLY:
            assert how is not Settlement.IN_DOUBT


def test_promises_that_count_after_an_interruption() -> None:
    """RES-9."""
    both = Promise.IDEMPOTENT | Promise.RECONCILABLE
    assert protocol.usable(both, Promise.RECONCILABLE) is Promise.RECONCILABLE
    assert protocol.usable(Promise.PLAIN, both) is Promise.PLAIN
    assert protocol.usable(both, both) is both


def test_what_the_answer_of_a_reconciler_is_worth() -> None:
    """STO-6: beside a caller that may wake, a no is not believed; a yes stays true."""
    for finding in Finding:
        assert protocol.believed(finding, False) is finding
        wanted = Finding.NOT_KNOWN if finding is Finding.DID_NOT else finding
        assert protocol.believed(finding, True) is wanted


def test_a_verdict_closes_what_waits_and_nothing_else() -> None:
    """RES-6, TOL-8."""
    assert {
        (record, executed): after
        for record, executed in product(R, (True, False))
        if (after := allowed(protocol.verdict, record, executed)) is not None
    } == {
        (R.INTENT, True): R.RESULT,
        (R.INTENT, False): R.INTENT,
        (R.DOUBT, True): R.RESULT,
        (R.DOUBT, False): R.NONE,
    }
