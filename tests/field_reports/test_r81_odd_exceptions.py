"""R81: whatever a tool raises, the program goes the same way live and on resume, and it can be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agentl.durable import DurableJournal
from agentl.kernel import ActionInDoubt, InvalidArguments, NotExecuted, PermissionRefused
from tests.field_reports import relay
from tests.field_reports.kit import Ledger, Place, command, drive


class KeywordOnlyError(Exception):
    def __init__(self, *, account: str, amount: int) -> None:
        super().__init__(f"{account} lacks {amount}")
        self.account, self.amount = account, amount


class UnpicklableError(Exception):
    def __init__(self) -> None:
        super().__init__("holds a function")
        self.function = lambda: None


class NoTextError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


class TwoArgumentsError(Exception):
    def __init__(self, code: int, text: str) -> None:
        super().__init__(code, text)


def caused() -> Any:
    try:
        raise KeyError("inner")
    except KeyError as inner:
        raise RuntimeError("outer") from inner


def raising(error: Any) -> Callable[[], Any]:
    def make() -> Any:
        raise error

    return make


DOUBTFUL: dict[str, Callable[[], Any]] = {
    "keyword only": raising(KeywordOnlyError(account="a", amount=3)),
    "unpicklable": raising(UnpicklableError()),
    "no text": raising(NoTextError()),
    "two arguments": raising(TwoArgumentsError(7, "seven")),
    "with a cause": caused,
    "group": raising(ExceptionGroup("many", [ValueError("a"), KeyError("b")])),
    "key error": raising(KeyError("missing")),
    "system error": raising(OSError(5, "input/output error")),
    "unicode error": raising(UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad")),
    "stop iteration": raising(StopIteration(3)),
    "empty": raising(Exception()),
    "many lines": raising(ValueError("one\ntwo\r\n\0three")),
    "its own doubt": raising(ActionInDoubt("perhaps")),
    "class named like another": raising(type("ConnectionError", (Exception,), {})("mine")),
}
SURE: dict[str, Callable[[], Any]] = {
    "not executed": raising(NotExecuted("did nothing")),
    "arguments": raising(InvalidArguments("no such account")),
    "refused": raising(PermissionRefused("no")),
    "permission": raising(PermissionError(13, "denied")),
}
SURE_PROGRAM = relay.PROGRAM


@pytest.mark.real_kill
@pytest.mark.parametrize("name", [*DOUBTFUL, *SURE])
def test_the_same_branch_live_and_on_resume(place: Place, name: str) -> None:
    """ENC-4, DUR-7, TOL-3: in doubt or not executed, with the same trace in a process without the class."""
    seen, _ = relay.both_ways(place, {**DOUBTFUL, **SURE}[name])
    assert [(tool, args["n"][1]) for tool, args, _ in seen] == [("alarm", "1" if name in DOUBTFUL else "2")]


@pytest.mark.parametrize("name", [*DOUBTFUL, *SURE])
def test_reading_the_outcome_never_raises(place: Place, ledger: Ledger, name: str) -> None:
    """DUR-11, ENC-4: the journal can be opened and read without the host, and names class and text."""
    drive(place, relay.PROGRAM, relay.world(ledger, {**DOUBTFUL, **SURE}[name]))
    kind, text = place.of_kind("invoke")[0]["error"]
    assert kind in (
        {"ActionInDoubt"} if name in DOUBTFUL else {"NotExecuted", "InvalidArguments", "PermissionRefused"}
    )
    assert isinstance(text, str)
    store = place.store()
    journal = DurableJournal.open(store, write=False)
    assert [entry["tool"] for entry in journal.in_doubt()] == (["fetch"] if name in DOUBTFUL else [])
    store.close()


@pytest.mark.parametrize("name", ["keyword only", "no text", "group"])
def test_status_shows_the_doubt(tmp_path: Any, ledger: Ledger, name: str) -> None:
    """DCL-3: from the command line, in another process."""
    place = Place("file", tmp_path)
    drive(place, relay.PROGRAM, relay.world(ledger, DOUBTFUL[name]))
    shown = command("durable", "status", str(place.path / "run"), cwd=tmp_path)
    assert shown.returncode == 0
    assert "fetch" in shown.stdout
    assert "Traceback" not in shown.stderr


@pytest.mark.real_kill
@pytest.mark.parametrize(
    "error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit(), type("Custom", (BaseException,), {})()]
)
def test_an_abrupt_stop_is_not_journalled_and_the_resume_decides(
    place: Place, ledger: Ledger, error: BaseException
) -> None:
    """DUR-7, RES-6: no result is invented for it; the action, without a promise, is declared in doubt."""
    with pytest.raises(BaseException) as stopped:
        drive(place, relay.PROGRAM, relay.world(ledger, raising(error)))
    assert type(stopped.value).__name__ in {type(error).__name__, "KernelAbort", "Cancelled"}
    assert place.of_kind("invoke") == []
    assert [entry["key"] for entry in place.of_kind("intent")] == ["fetch"]
    run = drive(place, relay.PROGRAM, relay.world(ledger, lambda: 1))
    assert run.runtime.state.world["tools.fetch.in_doubt"] is True
    assert ledger.tools() == ["fetch", "alarm"]
