"""Whatever a host module does, the command answers in one line, or goes on (CLI-2)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command import child, here
from tests.support.samples import HOST, PROGRAM, place

BUILD = "from agentl import Host, MockLLM\n\ndef build():\n    return "

REFUSED = {
    "leaves by an own exception": ("class Odd(BaseException): pass\nraise Odd('x')\n", "cli.host_failed"),
    "closes its own generator": ("raise GeneratorExit\n", "cli.host_failed"),
    "exits without a code": ("import sys\nsys.exit(0)\n", "cli.host_failed"),
    "says several lines": ("raise ValueError('one\\ntwo\\nthree')\n", "cli.host_failed"),
    "cannot be decoded": ("x = '\\0'\n".replace("\\0", "\0"), "cli.host_failed_somewhere"),
    "wants arguments": ("def build(config):\n    return None\n", "cli.host_failed_somewhere"),
    "is a class": (BUILD + "Host\n", "cli.host_shape"),
    "is a coroutine": ("async def build():\n    return None\n", "cli.host_shape"),
    "is a list": (BUILD + "[Host()]\n", "cli.host_shape"),
    "is the model": (BUILD + "MockLLM(), Host()\n", "cli.host_shape"),
    "has text for a model": (BUILD + "Host(), 'a model'\n", "cli.model_shape"),
    "has a class for a model": (BUILD + "Host(), MockLLM\n", "cli.model_shape"),
    "has an async tool": (HOST.replace("    def shut(", "    async def shut("), "cli.host_async"),
    "serves no agent": (BUILD + "{}\n", "cli.agents_without_host"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_host_that_cannot_be_used_is_refused(name: str, tmp_path: Path) -> None:
    """`CLI-2`: one line, exit code 2, before the first tick, durably or not."""
    host, code = REFUSED[name]
    file = place(tmp_path, host=host)
    for more in ([], ["--durable", tmp_path / "d"]):
        ended = here("run", file, *more, "--json")
        assert (ended.code, ended.data["error"]["code"]) == (2, code)
        assert len(ended.err.splitlines()) == 1
        assert not (tmp_path / "d").exists()


def test_the_line_of_a_host_that_is_named_relatively(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`CLI-2`: the line is found however the program was named."""
    file = place(tmp_path, host="x = 1\nraise RuntimeError('no database')\n")
    monkeypatch.chdir(tmp_path)
    assert here("run", file.name, "--json").data["error"]["values"]["line"] == 2


def test_what_the_host_does_not_offer_is_said_before_it_runs(tmp_path: Path) -> None:
    """`CLI-2`: a name that is misspelt on one side is a warning with the name that comes near."""
    file = place(tmp_path, host=HOST.replace('"shut"', '"shutt"').replace('"door.state"', '"dor.state"'))
    said = here("run", file, "--ticks", "0", "--lang", "en").err
    assert "shut (≈ shutt)" in said
    assert "door.state (≈ dor.state)" in said
    asking = PROGRAM.replace(
        "\n  PLAN ", '\n  PLAN ask { REASON { TASK "t" USING door.state PRODUCE { x } } }\n  PLAN '
    )
    assert "(host, model)" in here("run", place(tmp_path, asking), "--ticks", "0", "--lang", "en").err
    assert here("run", place(tmp_path), "--ticks", "0").err == ""


def test_a_value_cannot_forge_a_line(tmp_path: Path) -> None:
    """`CLI-5`: control characters of a value are shown, not acted on; a line feed begins no line."""
    forged = 'lambda: "open\\n│ ✅ forged\\x1b[2J\\u202e"'
    host = HOST.replace(
        '@host.sensor("door.state")', f'host.sensor("bell.text")({forged})\n\n    @host.sensor("door.state")'
    )
    file = place(tmp_path, PROGRAM.replace("OBSERVE { ", "OBSERVE { bell.text, ", 1), host)
    out = here("run", file, "--ticks", "1").out
    assert r"bell.text = open\n│ ✅ forged\x1b[2J" in out
    assert not any(line.startswith("│ ✅ forged") for line in out.splitlines())
    assert "\x1b" not in out
    assert "\u202e" not in out


NOISE = """
import os, subprocess, sys
print("import")
sys.stdout = open(os.devnull, "w")
"""


def test_json_stands_alone_whatever_the_host_writes(tmp_path: Path) -> None:
    """`CLI-1`: one JSON value on stdout though the host prints, writes below it and starts programs."""
    noisy = HOST.replace(
        "def build():", 'def build():\n    os.write(1, b"raw\\n")\n    subprocess.run(["echo", "child"])'
    )
    ended = child("run", place(tmp_path, host=NOISE + noisy), "--json")
    assert ended.code == 0, ended.err
    assert ended.data["agent"] == "keeper"
    assert {"import", "raw", "child"} <= set(ended.err.split())


def test_a_host_that_closes_stdout_does_not_stop_the_run(tmp_path: Path) -> None:
    """`CLI-5`: a report that nobody can read stops nothing."""
    closing = HOST.replace("def build():", "def build():\n    import sys\n    sys.stdout.close()")
    assert child("run", place(tmp_path, host=closing), "--durable", tmp_path / "d").code == 0


def test_a_host_that_changes_folder_moves_no_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`DCL-1`: what the command line names stands where the command was given."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    host = HOST.replace("def build():", "def build():\n    import os\n    os.chdir('elsewhere')")
    assert here("run", place(tmp_path, host=host).name, "--durable", "d").code == 0
    assert (tmp_path / "d" / "wal.jsonl").is_file()


def test_a_full_file_of_events_stops_nothing(tmp_path: Path) -> None:
    """`CLI-6`: the run goes on to its end, and the loss is said once."""
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    ended = here("run", place(tmp_path), "--events", "/dev/full", "--lang", "en")
    assert ended.code == 0
    assert ended.err.count("⚠") == 1
    assert "/dev/full" in ended.err


@pytest.mark.parametrize("name", ["json", "random", "secrets"])
def test_a_host_may_be_named_like_a_module_of_python(name: str, tmp_path: Path) -> None:
    """`CLI-2`: the host beside the program shadows nothing that the runtime needs, started with `-m` too."""
    place(tmp_path).rename(tmp_path / f"{name}.agent")
    (tmp_path / "keeper.py").rename(tmp_path / f"{name}.py")
    ended = child("run", f"{name}.agent", "--durable", "d", "--json", cwd=tmp_path, fresh=True)
    assert ended.code == 0, ended.err
    assert ended.data["agent"] == "keeper"
