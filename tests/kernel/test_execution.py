"""Executions: attempts, settling, doubt; live, and resumed from what an earlier process left."""

from __future__ import annotations

from typing import Any

import pytest

from agentl.errors import (
    ActionInDoubt,
    InvalidArguments,
    KernelAbort,
    NotExecuted,
    PermissionRefused,
    StoreFailure,
)
from agentl.kernel.port import NOT_EXECUTED, Outcome, Verdict
from agentl.kernel.retry import Retry
from agentl.labels import Labeled, of
from agentl.values import Opaque
from tests.support.kernels import After, Bank, NoteBook, authorized, kernel, transfer

LOST = ConnectionError("lost")


def run(bank: Bank, book: NoteBook | None = None, **options: Any) -> Any:
    gate = kernel()
    gate.journal = book
    permit = authorized(gate, **options).permit
    assert permit is not None
    return gate.execute(permit, bank.host)


def failure(bank: Bank, book: NoteBook | None = None) -> Exception:
    with pytest.raises((NotExecuted, ActionInDoubt)) as caught:
        run(bank, book)
    return caught.value


@pytest.mark.parametrize(
    ("raised", "kind", "text"),
    [
        (NotExecuted("closed"), NotExecuted, "closed"),
        (InvalidArguments("odd"), InvalidArguments, "odd"),
        (PermissionRefused("no"), PermissionRefused, "no"),
        (PermissionError("no"), PermissionRefused, "PermissionError: no"),
        (ValueError("x"), ActionInDoubt, "ValueError: x"),
        (TimeoutError("late"), ActionInDoubt, "TimeoutError: late"),
        (ActionInDoubt("half"), ActionInDoubt, "half"),
    ],
)
def test_a_raise_is_a_sure_failure_or_a_doubt(raised: Exception, kind: type, text: str) -> None:
    """TOL-3, DUR-7: the outcome is one of a few classes with a text, its cause kept beside."""
    bank = Bank(raised)
    error = failure(bank)
    assert type(error) is kind
    assert str(error) == text
    assert len(bank.attempts) == 1


def test_a_missing_tool_and_a_misfit_are_sure_failures() -> None:
    """TOL-3, HST-2: the function was not entered."""
    bank = Bank()
    del bank.host.tools["transfer"]
    assert type(failure(bank)) is NotExecuted
    bank.host.tools["transfer"] = lambda amount: amount
    assert type(failure(bank)) is InvalidArguments


def test_an_idempotent_tool_is_called_again_under_the_same_key_within_its_bound() -> None:
    """TOL-3, HST-4, KRN-11: same key, attempt + 1, waiting by ``host.sleep`` alone."""
    bank = Bank(After(LOST), LOST, {"ok": True}, idempotent=True, retry=Retry(3, delay=1.0, factor=4.0))
    assert run(bank) == {"ok": True}
    assert bank.attempts == [1, 2, 3]
    assert len(set(bank.keys)) == 1
    assert bank.waits == [1.0, 4.0]


def test_a_tool_that_changes_its_arguments_changes_no_further_attempt() -> None:
    """KRN-12, INV-6: each attempt gets its own copy of what was judged."""
    seen: list[Any] = []
    bank = Bank(idempotent=True)

    def spoil(amount: Any, to: Any) -> Any:
        seen.append(list(amount))
        amount.append("spoiled")
        if len(seen) == 1:
            raise LOST
        return {"ok": True}

    bank.host.tools["transfer"] = spoil
    assert run(bank, request=transfer([1])) == {"ok": True}
    assert seen == [[1], [1]]


def test_a_wait_that_raises_ends_the_attempts() -> None:
    """`HST-4`, `TOL-3`: a delay that no clock takes is no end of the run; the effect is in doubt."""

    def refuse(_seconds: float) -> None:
        raise OverflowError("timestamp out of range")

    bank = Bank(After(LOST), idempotent=True, retry=Retry(attempts=3, delay=1e300))
    bank.host.sleep = refuse
    assert isinstance(failure(bank), ActionInDoubt)
    assert bank.attempts == [1]


def test_the_bound_ends_in_doubt() -> None:
    """TOL-3."""
    bank = Bank(LOST, LOST, LOST, idempotent=True)
    assert type(failure(bank)) is ActionInDoubt
    assert bank.attempts == [1, 2]


def test_a_tool_without_promise_is_never_called_again() -> None:
    """TOL-3: at most once, whatever its classifier says."""
    bank = Bank(After(LOST), classify=lambda _error: "transient", retry=Retry(9))
    assert type(failure(bank)) is ActionInDoubt
    assert len(bank.effects) == 1


def test_a_later_sure_failure_does_not_remove_the_doubt() -> None:
    """TOL-3."""
    bank = Bank(After(LOST), NotExecuted("closed"), idempotent=True)
    assert type(failure(bank)) is ActionInDoubt
    assert bank.attempts == [1, 2]
    sure = Bank(NotExecuted("closed"), idempotent=True)
    assert type(failure(sure)) is NotExecuted
    assert sure.attempts == [1]


def test_a_read_only_tool_only_fails() -> None:
    """HST-4, TOL-3."""
    bank = Bank(LOST, LOST, read_only=True)
    error = failure(bank)
    assert (type(error), str(error)) == (NotExecuted, "ConnectionError: lost")
    assert bank.attempts == [1, 2]


@pytest.mark.parametrize(
    ("answer", "kind"), [(NOT_EXECUTED, NotExecuted), (RuntimeError("who knows"), ActionInDoubt)]
)
def test_a_reconciler_settles_what_a_raise_left_open(answer: Any, kind: type) -> None:
    """TOL-3: NOT_EXECUTED is a failure, a raise leaves the doubt."""
    bank = Bank(LOST)
    bank.reconciler(answer)
    assert type(failure(bank)) is kind
    assert len(bank.attempts) == 1


def test_what_a_reconciler_finds_is_the_result_none_included() -> None:
    """TOL-3, RES-6."""
    for value in ({"ok": True}, None):
        bank = Bank(After(LOST))
        bank.reconciler(value)
        assert run(bank) == value
        assert len(bank.effects) == 1


def test_attempts_come_before_the_reconciler() -> None:
    """TOL-3."""
    book = NoteBook()
    bank = Bank(LOST, LOST, idempotent=True)
    bank.reconciler({"ok": True})
    assert run(bank, book) == {"ok": True}
    assert [entry[0] if entry[0] != "resolution" else entry[2:] for entry in book.entries] == [
        "intent",
        ("retry", 2),
        ("reconciled", None),
        "result",
    ]


@pytest.mark.parametrize(
    ("word", "kind", "calls"),
    [
        ("failed", NotExecuted, 1),
        ("in_doubt", ActionInDoubt, 1),
        ("transient", ActionInDoubt, 2),
        (None, ActionInDoubt, 2),
    ],
)
def test_a_classifier_may_name_what_a_raise_means(word: Any, kind: type, calls: int) -> None:
    """HST-4."""
    bank = Bank(LOST, LOST, idempotent=True, classify=lambda _error: word)
    assert type(failure(bank)) is kind
    assert len(bank.attempts) == calls


def test_a_classifier_that_raises_has_said_nothing() -> None:
    """HST-4, and fail closed."""

    def broken(_error: Exception) -> str:
        raise RuntimeError

    assert type(failure(Bank(LOST, classify=broken))) is ActionInDoubt


class Killed(BaseException):
    pass


@pytest.mark.parametrize("error", [KernelAbort("stop"), KeyboardInterrupt(), SystemExit(), Killed()])
def test_interruptions_are_no_outcome(error: BaseException) -> None:
    """TOL-3, DUR-7: nothing is recorded after the intent; the permit is spent all the same."""
    book = NoteBook()
    gate = kernel()
    gate.journal = book
    permit = authorized(gate).permit
    assert permit is not None
    with pytest.raises(type(error)):
        gate.execute(permit, Bank(error, idempotent=True).host)
    assert book.kinds() == ["intent"]
    assert permit.status.value == "spent"


def test_what_a_host_returns_is_what_a_journal_would_give_back() -> None:
    """ENC-5: no value behaves otherwise the second time."""
    shared = [1]
    value = {"list": shared, "t": (1, 2), "odd": {1: "x"}, "lab": Labeled(3, of("EXTERNAL"))}
    result = run(Bank(value))
    assert result == value
    assert result["list"] is not shared
    opaque = run(Bank({"handle": object()}))
    assert type(opaque["handle"]) is Opaque


def test_a_host_that_does_not_check_is_counted() -> None:
    """KRN-4."""

    class Careless:
        def invoke(self, name: str, args: Any) -> Any:
            return {"ok": True}

    gate = kernel()
    permit = authorized(gate).permit
    assert permit is not None
    gate.execute(permit, Careless())
    assert gate.stats == {"permits": 1, "unpresented": 1}


# --- the record ----------------------------------------------------------------------------


def test_intent_before_the_call_and_result_before_anything_else() -> None:
    """DUR-5, DUR-6."""
    book = NoteBook()
    seen: list[list[str]] = []
    bank = Bank()
    bank.host.tools["transfer"] = lambda amount, to: seen.append(book.kinds()) or {"ok": True}  # type: ignore[func-returns-value]
    assert run(bank, book) == {"ok": True}
    assert seen == [["intent"]]
    assert book.kinds() == ["intent", "result"]


def test_a_store_that_fails_ends_the_run() -> None:
    """DRF-3: before the call nothing is done; after it no other outcome is invented."""
    for kind, effects in (("intent", 0), ("result", 1)):
        book, bank = NoteBook(), Bank()
        book.fail_on = kind
        with pytest.raises(StoreFailure):
            run(bank, book)
        assert len(bank.effects) == effects


def test_a_recorded_outcome_is_served_without_a_call() -> None:
    """RES-5, DUR-2."""
    for script in ({"ok": True}, NotExecuted("closed"), LOST):
        book = NoteBook()
        first = Bank(script)
        live = served = None
        try:
            live = run(first, book)
        except (NotExecuted, ActionInDoubt) as error:
            live = (type(error), str(error))
        again = Bank()
        try:
            served = run(again, book.reopened())
        except (NotExecuted, ActionInDoubt) as error:
            served = (type(error), str(error))
        assert served == live
        assert again.attempts == []


def interrupted(**promises: Any) -> tuple[NoteBook, Bank]:
    """A process that died inside the tool, after the effect."""
    book, bank = NoteBook(), Bank(After(Killed()), **promises)
    with pytest.raises(Killed):
        run(bank, book)
    return book, bank


def test_an_interrupted_idempotent_action_is_called_again_under_the_same_key() -> None:
    """RES-6: attempt + 1, the resolution on record before the call."""
    book, dead = interrupted(idempotent=True)
    bank = Bank(idempotent=True)
    book = book.reopened()
    assert run(bank, book) == {"ok": True}
    assert bank.attempts == [2]
    assert bank.keys == dead.keys
    assert book.kinds() == ["intent", "resolution", "result"]
    # Dying again and again keeps counting.
    book, _ = interrupted(idempotent=True)
    for attempt in (2, 3, 4):
        book = book.reopened()
        bank = Bank(Killed(), idempotent=True)
        with pytest.raises(Killed):
            run(bank, book)
        assert bank.attempts == [attempt]


def test_after_an_interruption_a_sure_failure_does_not_remove_the_doubt() -> None:
    """TOL-3, RES-6."""
    book, _ = interrupted(idempotent=True)
    assert type(failure(Bank(NotExecuted("closed"), idempotent=True), book.reopened())) is ActionInDoubt


def test_an_interrupted_reconcilable_action_is_asked_about() -> None:
    """RES-6."""

    def with_reconciler(answer: Any, *script: Any) -> Bank:
        bank = Bank(*script)
        bank.reconciler(answer)
        return bank

    def dead() -> NoteBook:
        book = NoteBook()
        bank = with_reconciler(None, After(Killed()))
        with pytest.raises(Killed):
            run(bank, book)
        return book.reopened()

    book = dead()
    bank = with_reconciler({"ok": True})
    assert run(bank, book) == {"ok": True}
    assert bank.attempts == []
    assert book.entries[1][2:] == ("reconciled", None)

    book = dead()
    bank = with_reconciler(NOT_EXECUTED)
    assert run(bank, book) == {"ok": True}
    assert bank.attempts == [2]
    assert book.entries[1][2:] == ("not_executed", 2)
    # It is known that nothing was done before, so a sure failure now is one.
    book = dead()
    assert type(failure(with_reconciler(NOT_EXECUTED, NotExecuted("closed")), book)) is NotExecuted

    book = dead()
    assert type(failure(with_reconciler(RuntimeError()), book)) is ActionInDoubt
    assert book.entries[1][2:] == ("in_doubt", None)


def test_an_interrupted_action_without_promise_is_in_doubt_and_not_called() -> None:
    """RES-6, RES-9: nor one whose promise is not on record, or no longer made."""
    for before, now in (({}, {}), ({}, {"idempotent": True}), ({"idempotent": True}, {})):
        book, _ = interrupted(**before)
        bank = Bank(**now)
        error = failure(bank, book.reopened())
        assert type(error) is ActionInDoubt
        assert bank.attempts == []


def test_beside_a_driver_that_may_wake_the_same_key_is_enough() -> None:
    """STO-6: one receiver makes one of many calls under one key."""
    book, _ = interrupted(idempotent=True)
    book.restricted = True
    assert run(Bank(idempotent=True), book.reopened()) == {"ok": True}


@pytest.mark.parametrize(
    ("answer", "restricted", "wanted", "calls"),
    [
        (NOT_EXECUTED, False, {"ok": True}, 1),
        (NOT_EXECUTED, True, ActionInDoubt, 0),
        ({"ok": 7}, False, {"ok": 7}, 0),
        ({"ok": 7}, True, {"ok": 7}, 0),
    ],
)
def test_beside_a_driver_that_may_wake_only_a_yes_is_believed(
    answer: object, restricted: bool, wanted: object, calls: int
) -> None:
    """STO-6: "it did not" is true only until that driver wakes; "it took place" stays true."""
    book = NoteBook()
    dead = Bank(After(Killed()))
    dead.reconciler(None)
    with pytest.raises(Killed):
        run(dead, book)
    book.restricted = restricted
    bank = Bank()
    bank.reconciler(answer)
    again = book.reopened()
    if wanted is ActionInDoubt:
        assert type(failure(bank, again)) is ActionInDoubt
    else:
        assert run(bank, again) == wanted
    assert len(bank.attempts) == calls


def test_a_verdict_decides_first() -> None:
    """RES-6: its value is the result and is a person's word; not executed means call."""
    book, _ = interrupted()
    book.entries.append(("verdict", Verdict("run:payments:t0:a1", "transfer", True, {"ok": True}, "ada")))
    bank = Bank()
    value = run(bank, book.reopened())
    assert value == Labeled({"ok": True}, of("HUMAN"))
    assert bank.attempts == []
    book, _ = interrupted()
    book.entries.append(("verdict", Verdict("run:payments:t0:a1", "transfer", False)))
    bank = Bank()
    assert run(bank, book.reopened()) == {"ok": True}
    assert bank.attempts == [2]


def test_the_lease_epoch_reaches_the_tool() -> None:
    """KRN-13, STO-6."""
    from agentl.kernel import current_action

    bank = Bank()
    tokens: list[Any] = []
    bank.host.tools["transfer"] = lambda amount, to: tokens.append(current_action().fencing_token)  # type: ignore[union-attr]
    run(bank, NoteBook())
    assert tokens == [7]


# --- sub-agents ----------------------------------------------------------------------------


def test_a_sub_agent_runs_under_its_own_permit() -> None:
    """KRN-12, HST-3."""
    bank = Bank()
    payloads: list[Any] = []
    bank.host.subagents["transfer"] = lambda payload: payloads.append(payload) or {"done": True}
    gate = kernel()
    permit = authorized(gate, kind="delegate").permit
    assert permit is not None
    assert gate.delegate(permit, bank.host) == (True, {"done": True})
    assert payloads == [{"amount": 100, "to": "acct-1"}]


def test_an_absent_sub_agent_is_no_call() -> None:
    """KRN-12."""
    gate = kernel()
    permit = authorized(gate, kind="delegate").permit
    assert permit is not None
    assert gate.delegate(permit, Bank().host) == (False, None)
    assert permit.status.value == "spent"


def test_a_sub_agent_is_settled_like_a_tool() -> None:
    """RES-6, HST-4."""
    bank = Bank()

    @bank.host.subagent("transfer", idempotent=True)
    def helper(payload: Any) -> Any:
        raise LOST

    @bank.host.reconciler("transfer", kind="delegate")
    def found(args: Any, context: Any) -> Any:
        assert context.kind == "delegate"
        return {"found": args["amount"]}

    gate = kernel()
    permit = authorized(gate, kind="delegate").permit
    assert permit is not None
    assert gate.delegate(permit, bank.host) == (True, {"found": 100})


def test_an_outcome_without_its_error_is_still_an_outcome() -> None:
    """RES-5: a served failure or doubt always raises."""
    gate = kernel()
    for status, kind in (("failed", NotExecuted), ("in_doubt", ActionInDoubt)):
        permit = authorized(gate).permit
        assert permit is not None
        book = NoteBook(
            [
                ("intent", permit.action_id, permit.action_hash, ()),
                ("result", permit.action_id, Outcome(status)),
            ]
        )
        gate.journal = book
        with pytest.raises(kind):
            gate.execute(permit, Bank().host)
