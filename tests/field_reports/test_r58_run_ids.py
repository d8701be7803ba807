"""R58: odd run ids share no state, leave no folder, and come back as they were given."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from agentl import AgentLError, Host, MockLLM
from agentl.durable import DurableRun, FileStore, PostgresStore, SQLiteStore
from tests.field_reports.kit import Ledger, Place, agent_of, command

PROGRAM = """
AGENT IDS {
  TOOL act { INPUT { n: Number } }
  POLICY { DEFAULT ALLOW }
  PLAN go WHEN tools.act.calls == 0 { act(n: 1) }
}
"""
IDS = [
    "a:b", "a/b", "../x", "a\\b", "CON", "nul.txt", "a ", "a.", "caf\u00e9", "cafe\u0301", "Run", "run",
    "x" * 300, "", "nul\0byte", "line\nbreak", "%s", "'; DROP TABLE entries; --", "\U0001f600", "half\ud83d",
    ".", "..", "~", "a", "b",
]  # fmt: skip


def start(store, run_id: str, ledger: Ledger) -> str:
    host = Host()

    @host.tool("act")
    def act(n: float) -> dict[str, str]:
        ledger.add("act", n=n)
        return {}

    run = DurableRun(agent_of(PROGRAM), host, MockLLM({}), store=store, run_id=run_id)
    try:
        run.run(max_ticks=1)
    finally:
        store.close()
    return run.run_id


def test_in_one_database_every_id_is_itself(database_place: Place, ledger: Ledger) -> None:
    """STO-4, STO-7: an id is refused with a message, or has rows of its own and is listed as given."""
    place = database_place
    accepted: list[str] = []
    for run_id in IDS:
        with contextlib.suppress(AgentLError, ValueError):
            assert start(place.store(run_id), run_id, ledger) == run_id
            accepted.append(run_id)
    assert len(ledger.rows()) == len(accepted)
    assert len({row["key"] for row in ledger.rows()}) == len(accepted)
    listed = SQLiteStore.runs(place.path) if place.kind == "sqlite" else PostgresStore.runs(place.dsn)
    assert sorted(listed) == sorted(accepted)
    assert {"a:b", "a/b", "../x", "caf\u00e9", "cafe\u0301", "Run", "run"} <= set(accepted)
    for run_id in accepted:
        assert start(place.store(run_id), run_id, ledger) == run_id
    assert len(ledger.rows()) == len(accepted), "each resume found its own finished run"
    assert place.change("SELECT count(DISTINCT run_id) FROM entries") == [(len(accepted),)]
    assert {item.name for item in place.base.iterdir()} <= {
        "runs.db",
        "runs.db-wal",
        "runs.db-shm",
        "ledger.jsonl",
    }


@pytest.mark.parametrize("run_id", IDS, ids=lambda run_id: ascii(run_id)[:24])
def test_in_a_directory_the_id_is_data_and_no_path(tmp_path: Path, ledger: Ledger, run_id: str) -> None:
    """STO-3, DUR-10: files are written in the chosen directory and nowhere else."""
    directory = tmp_path / "chosen" / "runs"
    with contextlib.suppress(AgentLError, ValueError):
        assert start(FileStore(directory), run_id, ledger) == run_id
    assert {item.name for item in tmp_path.iterdir()} <= {"chosen", "ledger.jsonl"}
    assert {item.name for item in (tmp_path / "chosen").glob("*")} <= {"runs"}
    if ledger.rows():
        assert start(FileStore(directory), run_id, ledger) == run_id
        assert len(ledger.rows()) == 1


def test_the_command_line_lists_the_id_as_given(tmp_path: Path) -> None:
    """DCL-1, DCL-6: from ``--run-id`` to ``durable list``."""
    (tmp_path / "ids.agent").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "ids.py").write_text(
        "from agentl import Host\nhost = Host()\nhost.tool('act')(lambda n: {})\n",
        encoding="utf-8",
    )
    made = command("run", "ids.agent", "--durable", "runs/one", "--run-id", "../a:b", "--quiet", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    listed = command("durable", "list", "runs", cwd=tmp_path)
    assert "../a:b" in listed.stdout
    assert sorted(item.name for item in tmp_path.iterdir() if item.name != "__pycache__") == [
        "ids.agent",
        "ids.py",
        "runs",
    ]
