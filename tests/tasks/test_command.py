"""``agentl task`` (TSK-8)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import jsonschema
import pytest

from agentl.cli.app import main
from agentl.tasks import SCHEMA
from tests.support.command import ROOT

PROGRAM = """
AGENT worker {
  GOAL told { ACHIEVE reader.told == yes }
  OBSERVE { reader.told }
  TOOL tell { INPUT { to: String } OUTPUT { receipt: String } SIDE_EFFECT { reader.told } RISK LOW }
  POLICY { DEFAULT DENY  ALLOW tell }
  PLAN work WHEN reader.told == no { STEP one { tell(to: "ann") VERIFY "told" { reader.told == yes } } }
  LOOP UNTIL reader.told == yes MAX 2 { OBSERVE SELECT_PLAN EXECUTE }
}
"""
HOST = """
from agentl import Host

def build():
    host, told = Host(), ["no"]
    host.sensor("reader.told")(lambda: told[0])

    @host.tool("tell")
    def tell(to):
        told[0] = "yes"
        return {"receipt": "N\\x1b[31m1"}

    return host, None
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    (tmp_path / "worker.agent").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "worker.py").write_text(HOST, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["run", "worker.agent", "--durable", "run", "--run-id", "r1", "--quiet"]) == 0
    capsys.readouterr()
    return tmp_path


def test_what_it_shows(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`TSK-8`: in French by default; nothing that the journal holds can move the cursor."""
    assert main(["task", "show", "run"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("tâche r1 (agent worker) : objectifs atteints\n")
    assert "  ✓ told : prouvé   [reader.told == yes]" in shown
    assert "\x1b" not in shown
    assert main(["task", "show", "run", "--lang", "en"]) == 0
    assert "proven" in capsys.readouterr().out


def test_the_json_has_the_published_form(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`TSK-8`: the schema on the page, the one that is printed and the one in the code are one."""
    assert main(["task", "show", "run", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(data, SCHEMA)
    assert data["end"] == "goal_reached"
    assert main(["task", "schema"]) == 0
    printed = json.loads(capsys.readouterr().out)
    published = json.loads((ROOT / "docs" / "task-state.schema.json").read_text(encoding="utf-8"))
    assert printed == published == SCHEMA


def test_the_program_may_be_elsewhere(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`TSK-8`: named, or the one that the run noted; without either, a clear word."""
    (folder / "elsewhere").mkdir()
    shutil.move(folder / "worker.agent", folder / "elsewhere" / "worker.agent")
    assert main(["task", "show", "run", "--program", "elsewhere/worker.agent"]) == 0
    capsys.readouterr()
    assert main(["task", "show", "run"]) == 2
    assert "--program" in capsys.readouterr().err


@pytest.mark.parametrize("place", ["nowhere", "sqlite:none.db#r", ""])
def test_a_place_without_a_run(folder: Path, place: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`TSK-8`: one sentence, code 2, no traceback."""
    assert main(["task", "show", place]) == 2
    said = capsys.readouterr().err
    assert said.startswith("✗ ")
    assert "Traceback" not in said


def test_another_program_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`TSK-1`, `TSK-8`."""
    (folder / "other.agent").write_text(PROGRAM.replace("ann", "bob"), encoding="utf-8")
    assert main(["task", "show", "run", "--program", "other.agent"]) == 2
    assert "le programme a changé" in capsys.readouterr().err
