"""``agentl durable list`` as people and scripts read it (`DCL-6`, `OPS-4`)."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from agentl.cli import durable_list, output
from agentl.cli.app import main
from agentl.messages import set_language
from tests.support.command import here
from tests.support.samples import HOST, place

DOUBTFUL = HOST.replace('return {"effort": 0.5}', 'raise OSError("jammed")')


@pytest.fixture(params=["runs/{}", "sqlite:runs.db#{}"], ids=["directory", "sqlite"])
def address(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return str(request.param)


def all_of(address: str) -> str:
    return address.removesuffix("{}").rstrip("/#")


def test_a_line_per_run_with_tabs(address: str, tmp_path: Path) -> None:
    """`OPS-4`: address, id, state, tick, age, time since the last sign, doubts, what it waits for."""
    file = place(tmp_path, host=DOUBTFUL)
    assert here("run", file, "--durable", address.format("b"), "--run-id", "b").code == 5
    place(tmp_path)
    assert here("run", file, "--durable", address.format("a"), "--run-id", "a").code == 0
    listed = here("durable", "list", all_of(address))
    rows = [line.split("\t") for line in listed.out.splitlines()]
    assert [row[:3] for row in rows] == [[address.format(name), name, "completed"] for name in "ab"]
    assert [row[6] for row in rows] == ["0", "⚠ 1"]
    assert {len(row) for row in rows} == {8}
    assert listed.err.startswith("completed=2 ; ")
    data = here("durable", "list", all_of(address), "--json").data
    assert (data["basis"], data["counts"]) == ("chain", {"completed": 2})
    assert len(data["runs"][1]["in_doubt"]) == 1
    assert data["runs"][0]["age_seconds"] < 600
    assert data["runs"][0]["behind"] == 0
    noted = here("durable", "list", all_of(address), "--no-check", "--json", "--state", "completed,new").data
    assert noted["basis"] == "notes"
    assert [run["in_doubt"] for run in noted["runs"]] == [run["in_doubt"] for run in data["runs"]]
    assert here("durable", "list", all_of(address), "--state", "running", "--json").data["runs"] == []


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_columns_on_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`OPS-4`: a heading, and every column below it; wide letters count as they are shown."""
    monkeypatch.chdir(tmp_path)
    file = place(tmp_path)
    for name in ("a", "a-much-longer-name", "長い名前"):
        assert here("run", file, "--durable", f"sqlite:r.db#{name}").code == 0
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    assert main(["durable", "list", "sqlite:r.db", "--lang", "en"]) == 0
    set_language(None)
    lines = screen.getvalue().splitlines()
    assert lines[0].split() == ["ADDRESS", "RUN", "STATE", "TICK", "AGE", "SINCE", "DOUBTS", "WAITS", "FOR"]
    at = lines[0].index("STATE")
    assert [line.index("completed") for line in lines[1:3]] == [at, at]
    from rich.cells import cell_len

    assert cell_len(lines[3][: lines[3].index("completed")]) == at


def test_a_name_cannot_forge_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`OPS-4`: a directory with a line break in its name is one line; nothing acts on a terminal."""
    monkeypatch.chdir(tmp_path)
    file = place(tmp_path)
    odd = "runs/x\nforged\x1b[2J"
    assert here("run", file, "--durable", odd, "--run-id", "r").code == 0
    listed = here("durable", "list", "runs")
    assert listed.out.count("\n") == 1
    assert "\x1b" not in listed.out
    assert here("durable", "list", "runs", "--json").data["runs"][0]["address"] == odd


def test_ages_are_rounded_down() -> None:
    """`OPS-4`: the largest unit that fits."""
    spans = {0: "0 s", 59: "59 s", 60: "1 min", 3599: "59 min", 3600: "1 h", 86_399: "23 h", 172_800: "2 j"}
    assert {seconds: durable_list.age(seconds) for seconds in spans} == spans
    assert durable_list.age(None) == "—"


def test_listing_needs_no_runtime(tmp_path: Path) -> None:
    """`OPS-4`: ten thousand runs in a second leave no time to load what would drive them."""
    import subprocess

    probe = (
        "import sys\nfrom agentl.cli.app import main\n"
        f"main(['durable', 'list', {str(tmp_path)!r}, '--no-check'])\n"
        "print([name for name in sys.modules if name in ('agentl.runtime.runtime', 'rich.console')])"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, check=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]", done.stdout
    assert json.loads(here("durable", "list", tmp_path, "--json").out)["runs"] == []
    assert output.visible("\x1b") == "\\x1b"
