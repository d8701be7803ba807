"""Every command on a durable run takes an address of any kind (`OPS-1`, `CLI-15`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command import child, here
from tests.support.samples import HOST, place

DOUBTFUL = HOST.replace('return {"effort": 0.5}', 'raise OSError("jammed")')


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_commands_on_a_run_of_a_database(folder: Path) -> None:
    """`OPS-1`, `DCL-1` to `DCL-6`: run, status, settle, validate, export, list; and the same call resumes."""
    file = place(folder, host=DOUBTFUL)
    address = "sqlite:all.db#r:1"
    first = here("run", file, "--durable", address)
    assert first.code == 5
    assert first.err.splitlines()[0] == "→ exécution durable r:1 : all.db#r:1"
    status = here("durable", "status", address, "--json").data
    assert (status["run_id"], status["status"]) == ("r:1", "completed")
    action = status["in_doubt"][0]["action_id"]
    assert here("durable", "settle", address, action, "--executed", '{"effort": 1}', "--by", "ada").code == 0
    assert here("run", file, "--durable", "sqlite:all.db", "--run-id", "r:1").code == 0
    assert here("durable", "validate", address).code == 0
    exported = here("durable", "export", address)
    assert exported.code == 0, exported.err
    written = exported.out.removeprefix("→ ").partition(" : ")[0]
    assert here("replay", written, "--quiet").code == 0
    listed = here("durable", "list", "sqlite:all.db", "--json").data["runs"]
    assert [(run["run_id"], run["status"]) for run in listed] == [("r:1", "completed")]
    assert "r:1" in here("durable", "list", "sqlite:all.db").out


def test_a_new_run_of_a_database_gets_an_id(folder: Path) -> None:
    """`OPS-1`: without ``#RUN`` and ``--run-id`` every call begins another run."""
    file = place(folder)
    for _ in range(2):
        assert here("run", file, "--durable", "sqlite:all.db").code == 0
    ids = [run["run_id"] for run in here("durable", "list", "sqlite:all.db", "--json").data["runs"]]
    assert len(ids) == 2
    assert all(len(run_id) == 12 for run_id in ids)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["run", "keeper.agent", "--durable", ""], "durable.address_empty"),
        (["run", "keeper.agent", "--durable", "mysql://h/db"], "durable.address_scheme"),
        (["run", "keeper.agent", "--durable", "sqlite:a.db#x", "--run-id", "y"], "durable.other_run"),
        (["run", "keeper.agent", "--durable", "sqlite:keeper.py#x"], "durable.no_database"),
        (["run", "keeper.agent", "--durable", "sqlite:a.db#x "], "durable.run_id"),
        (["durable", "status", "sqlite:a.db"], "durable.address_no_run"),
        (["durable", "status", "sqlite:a.db#x"], "durable.none_in"),
        (["durable", "status", "sqlite:keeper.py#x"], "durable.no_database"),
        (["durable", "status", "runs"], "durable.address_many"),
        (["durable", "status", "nowhere"], "durable.none"),
        (["durable", "export", "sqlite:a.db#x"], "durable.none_in"),
        (["durable", "validate", "sqlite::memory:#x"], "durable.address_memory"),
        (["durable", "settle", "sqlite:a.db", "x", "--not-executed"], "durable.address_no_run"),
        (["durable", "list", "sqlite:absent.db"], "durable.no_place"),
        (["durable", "list", "sqlite:keeper.py"], "durable.no_database"),
        (["durable", "list", "sqlite:#x"], "durable.address_no_file"),
        (["durable", "list", "absent"], "cli.unreadable"),
        (["durable", "list", "keeper.py"], "cli.unreadable"),
    ],
    ids=str,
)
@pytest.mark.parametrize("lang", ["fr", "en"])
def test_a_bad_address_is_one_sentence(words: list[str], code: str, lang: str, folder: Path) -> None:
    """`OPS-1`, `CLI-1`: one line, exit 2, and nothing is left behind."""
    place(folder)
    assert here("run", "keeper.agent", "--durable", "runs/one").code == 0
    before = sorted(folder.iterdir())
    ended = here(*words, "--json", "--lang", lang)
    assert ended.code == 2, ended
    assert ended.data["error"]["code"] == code
    assert ended.err.count("\n") == 1
    assert ended.err.startswith("✗ ")
    assert code not in ended.err
    assert [path for path in sorted(folder.iterdir()) if path.name != "__pycache__"] == [
        path for path in before if path.name != "__pycache__"
    ]


def test_no_password_reaches_the_screen(folder: Path) -> None:
    """`OPS-1`: neither of an address that cannot be read nor of one that nobody answers at."""
    place(folder)
    for words in (
        ["durable", "list", "postgres://ada:geheim#x@127.0.0.1:1/db"],
        ["durable", "status", "postgres://ada:geheim@127.0.0.1:1/db"],
        ["run", "keeper.agent", "--durable", "postgres://ada:geheim@127.0.0.1:x/db#1"],
    ):
        ended = here(*words, "--json")
        assert ended.code == 2, ended
        assert "geheim" not in ended.out + ended.err


def test_a_host_that_goes_elsewhere_moves_no_place(folder: Path) -> None:
    """`OPS-1`: a relative address stands where the command was given."""
    host = f"import os, pathlib\npathlib.Path('away').mkdir(exist_ok=True)\nos.chdir('away')\n{HOST}"
    place(folder, host=host)
    ended = child("run", "keeper.agent", "--durable", "sqlite:all.db#1", cwd=folder)
    assert ended.code == 0, ended.err
    assert (folder / "all.db").is_file()
    assert not list((folder / "away").iterdir())
