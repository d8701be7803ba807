"""A run that is stopped for good: what was done is named, and nothing is undone (TSK-9)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentl import Host
from agentl.cli.app import main
from agentl.durable import DurableRun, FileStore, SQLiteStore, cancel, settle, survey
from agentl.durable.recovery import DurableJournal
from agentl.durable.timeline import timeline
from agentl.durable.validate import validate
from agentl.errors import DurableError, KernelAbort, LeaseHeld
from agentl.tasks import task_state
from tests.tasks.programs import World, program

BODY = """
  POLICY { DEFAULT DENY  ALLOW save  ALLOW tell }
  PLAN work WHEN reader.told == no {
    STEP one { save(text: "abc") VERIFY "saved" { file.saved == yes } }
    STEP two { tell(to: "ann") VERIFY "told" { reader.told == yes } }
  }
  LOOP UNTIL reader.told == yes MAX 3 { OBSERVE SELECT_PLAN EXECUTE }
"""
TREE = program(BODY)


class Died(KernelAbort):
    pass


def file(folder: Path) -> FileStore:
    return FileStore(folder / "run")


def sqlite(folder: Path) -> SQLiteStore:
    return SQLiteStore(folder / "runs.db", "r1")


@pytest.fixture(params=[file, sqlite])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Any]:
    return lambda: request.param(tmp_path)


def interrupted(store: Callable[[], Any]) -> World:
    """A run that saved, and died inside ``tell``."""
    world = World()
    world.raises["tell"] = Died()
    with pytest.raises(Died):
        DurableRun(TREE, world.host(idempotent=True), store=store()).run(3)
    return world


def test_it_names_what_was_done_and_what_nobody_knows(store: Callable[[], Any]) -> None:
    """`TSK-9`: the interrupted action is unknown, neither done nor not."""
    interrupted(store)
    found = cancel(store(), by="olga", reason="wrong reader")
    assert [one["target"] for one in found.done] == ["save"]
    assert [one["target"] for one in found.unknown] == ["tell"]
    assert (found.by, found.reason, found.already) == ("olga", "wrong reader", False)
    assert survey(store()).status == "cancelled"


def test_a_cancelled_run_does_not_go_on(store: Callable[[], Any]) -> None:
    """`TSK-9`: the same call that would have resumed it is refused, and nobody is called."""
    world = interrupted(store)
    cancel(store(), by="olga", reason="enough")
    for _ in range(2):
        with pytest.raises(DurableError) as refused:
            DurableRun(TREE, world.host(idempotent=True), store=store()).run(3)
        assert refused.value.code == "durable.cancelled"
        assert refused.value.values["by"] == "olga"
    assert world.calls == ["save", "tell"]
    assert survey(store()).status == "cancelled"


def test_again_changes_nothing_and_tells_the_same(store: Callable[[], Any]) -> None:
    """`TSK-9`: the first one stands."""
    interrupted(store)
    first = cancel(store(), by="olga")
    entries = survey(store()).entries
    again = cancel(store(), by="peter", reason="late")
    assert (again.by, again.at, again.already) == (first.by, first.at, True)
    assert again.done == first.done
    assert survey(store()).entries == entries


def test_what_is_unknown_can_still_be_settled(store: Callable[[], Any]) -> None:
    """`TSK-9`, `DCL-5`: a verdict follows the cancellation; then nothing is unknown."""
    interrupted(store)
    unknown = cancel(store()).unknown[0]["action_id"]
    settle(store(), unknown, executed=True, value={"receipt": "N1"}, by="olga")
    found = cancel(store())
    assert [one["target"] for one in found.done] == ["save", "tell"]
    assert found.unknown == ()
    assert survey(store()).status == "cancelled"


def test_a_run_that_is_over_cannot_be_cancelled(store: Callable[[], Any]) -> None:
    """`TSK-9`: its effects are what they are, and its end is on record."""
    DurableRun(TREE, World().host(), store=store()).run(3)
    with pytest.raises(DurableError) as refused:
        cancel(store())
    assert refused.value.code == "durable.cancel_over"
    assert survey(store()).status == "completed"


def test_a_run_that_is_driven_is_not_cancelled_under_its_driver(store: Callable[[], Any]) -> None:
    """`TSK-9`, `STO-6`: refused by name; nothing is written."""
    interrupted(store)
    driver = DurableRun(TREE, World().host(idempotent=True), store=store())
    with driver, pytest.raises(LeaseHeld):
        cancel(store())
    assert survey(store()).status == "interrupted"


def test_the_entry_is_in_the_journal_and_the_journal_still_holds(store: Callable[[], Any]) -> None:
    """`TSK-9`, `DUR-4`, `DUR-8`: chain, protocol, timeline and task all know it."""
    interrupted(store)
    cancel(store(), by="olga", reason="enough")
    assert validate(store())
    journal = DurableJournal.open(store(), write=False)
    assert timeline(journal)[-1].what == "cancelled"
    task = task_state(store(), TREE)
    assert task.end == "cancelled"
    assert [one.target for one in task.confirmed] == ["save"]


def test_a_run_that_is_not_there(tmp_path: Path) -> None:
    """`TSK-9`: nothing is created."""
    with pytest.raises(DurableError) as refused:
        cancel(FileStore(tmp_path / "run"))
    assert refused.value.code == "durable.none"


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`TSK-9`: what was done and what is unknown, the exit code 5 while something is."""
    interrupted(lambda: file(tmp_path))
    place = str(tmp_path / "run")
    assert main(["durable", "cancel", place, "--by", "olga", "--reason", "enough"]) == 5
    said = capsys.readouterr().out
    assert "annulée par olga" in said
    assert "save (" in said
    assert "agentl durable settle" in said
    assert main(["durable", "cancel", place, "--json"]) == 5
    data = json.loads(capsys.readouterr().out)
    assert (data["already"], data["by"], data["exit_code"]) == (True, "olga", 5)
    assert main(["durable", "status", place]) == 0
    assert "cancelled" in capsys.readouterr().out


def test_the_run_command_says_who_cancelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`TSK-9`, `CLI-16`: exit 130."""
    from tests.tasks.test_command import HOST, PROGRAM

    (tmp_path / "worker.agent").write_text(PROGRAM.replace("UNTIL reader.told == yes ", ""), encoding="utf-8")
    (tmp_path / "worker.py").write_text(HOST.replace('told[0] = "yes"', "raise SystemExit"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["run", "worker.agent", "--durable", "run", "--quiet"]) != 0
    assert main(["durable", "cancel", "run", "--by", "olga"]) == 5
    capsys.readouterr()
    assert main(["run", "worker.agent", "--durable", "run", "--quiet"]) == 130
    assert "olga" in capsys.readouterr().err


def test_what_the_world_said_late_is_done(tmp_path: Path) -> None:
    """`TSK-9`, `TOL-8`: in doubt at first, found when asked again, and then neither unknown nor left out."""
    from tests.durable.test_syncs import ACTING

    host, calls, asked = Host(), [0], [0]
    host.sensor("level")(lambda: 1)

    @host.tool("act")
    def act(n: float) -> Any:
        calls[0] += 1
        raise Died if calls[0] == 2 else RuntimeError("lost")

    @host.reconciler("act")
    def found(_args: Any, _context: Any) -> Any:
        asked[0] += 1
        if asked[0] == 1:
            raise RuntimeError("nobody answers")
        return {"ok": "yes"}

    with pytest.raises(Died):
        DurableRun(ACTING, host, store=file(tmp_path)).run(2)
    account = cancel(file(tmp_path))
    assert [one["action_id"].rsplit(":", 1)[1] for one in account.done] == ["a1"]
    assert [one["action_id"].rsplit(":", 1)[1] for one in account.unknown] == ["a2"]
