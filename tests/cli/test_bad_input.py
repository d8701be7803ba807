"""Whatever the command is given, it answers with one clear line and an exit code (CLI-1, CLI-2, CLI-16)."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.command import Ended, here
from tests.support.samples import HOST, PROGRAM, place

Words = list[str | Path]


class Case(NamedTuple):
    """A command line that must fail: how it is prepared, its exit code, the code of its message."""

    words: Callable[[Path], Words]
    exit: int
    code: str


def run(program: str | bytes = PROGRAM, host: str | None = HOST, *more: str) -> Callable[[Path], Words]:
    return lambda folder: ["run", place(folder, program, host), *more]


def durable(folder: Path, *more: str | Path) -> Words:
    return ["run", place(folder), "--durable", folder / "run", *more]


def after_a_run(then: Callable[[Path], Words]) -> Callable[[Path], Words]:
    """A command on a durable run that has been completed."""

    def words(folder: Path) -> Words:
        assert here(*durable(folder)).code == 0
        return then(folder)

    return words


def with_damage(damage: Callable[[bytes], bytes]) -> Callable[[Path], Words]:
    def words(folder: Path) -> Words:
        wal = folder / "run" / "wal.jsonl"
        wal.write_bytes(damage(wal.read_bytes()))
        return ["durable", "status", folder / "run"]

    return after_a_run(words)


def settle(*more: str) -> Callable[[Path], Words]:
    return after_a_run(lambda folder: ["durable", "settle", folder / "run", "r:keeper:t1:a9", *more])


def changed_program(folder: Path) -> Words:
    place(folder, PROGRAM.replace("force: 3", "force: 4"))
    return ["run", folder / "keeper.agent", "--durable", folder / "run"]


def a_file(folder: Path, name: str, content: bytes) -> Path:
    (folder / name).write_bytes(content)
    return folder / name


def built(body: str) -> str:
    return "from agentl import Host\n\ndef build():\n    " + body + "\n"


TWO_AGENTS = PROGRAM + PROGRAM.replace("AGENT keeper", "AGENT porter")

CASES = {
    # --- the program ---
    "missing file": Case(lambda folder: ["run", folder / "absent.agent"], 2, "cli.unreadable"),
    "missing file for check": Case(lambda folder: ["check", folder / "absent.agent"], 2, "cli.unreadable"),
    "directory as file": Case(lambda folder: ["ast", folder], 2, "cli.unreadable"),
    "NUL in the path": Case(lambda _folder: ["check", "a\0b.agent"], 2, "cli.usage.value"),
    "binary file": Case(run(b"\x7fELF\x02\x01\xff\xfe\x00"), 2, "lex.encoding"),
    "empty file": Case(run(""), 2, "parse.no_agent"),
    "unknown character": Case(run("AGENT a { \u20ac }"), 2, "lex.character"),
    "open string": Case(run('AGENT a { DESCRIPTION "never closed'), 2, "lex.string"),
    "unknown tool": Case(run(PROGRAM.replace("shut(force: 3)", "slam(force: 3)")), 1, "cli.run_refused"),
    "policy without default": Case(run(PROGRAM.replace("DEFAULT DENY", "")), 1, "cli.run_refused"),
    "several agents": Case(run(TWO_AGENTS), 2, "cli.society"),
    # --- the host ---
    "no host": Case(run(host=None), 2, "cli.no_host"),
    "host without build": Case(run(host="x = 1\n"), 2, "cli.host_without_build"),
    "build is no function": Case(run(host="build = 3\n"), 2, "cli.host_without_build"),
    "host raises at import": Case(run(host="raise RuntimeError('no database')\n"), 2, "cli.host_failed"),
    "host with a syntax error": Case(run(host="def build(:\n"), 2, "cli.host_failed"),
    "host leaves the process": Case(run(host="import sys\nsys.exit(3)\n"), 2, "cli.host_failed"),
    "host imports what is absent": Case(run(host="import no_such_module_anywhere\n"), 2, "cli.host_failed"),
    "build raises": Case(run(host=built("return {}['x']")), 2, "cli.host_failed"),
    "build returns nothing": Case(run(host=built("pass")), 2, "cli.host_shape"),
    "build returns too much": Case(run(host=built("return Host(), None, 1, 2")), 2, "cli.host_shape"),
    "host of an unknown agent": Case(run(host=built("return {'porter': Host()}")), 2, "cli.unknown_hosts"),
    # --- options ---
    "durable and record": Case(
        run(PROGRAM, HOST, "--durable", "d", "--record", "r"), 2, "cli.durable_record"
    ),
    "run id without durable": Case(run(PROGRAM, HOST, "--run-id", "x"), 2, "cli.needs_durable"),
    "signing without recording": Case(run(PROGRAM, HOST, "--sign-key", "x"), 2, "cli.needs_record"),
    "events nowhere": Case(run(PROGRAM, HOST, "--events", "/nowhere/at/all"), 2, "cli.unwritable"),
    "recording nowhere": Case(run(PROGRAM, HOST, "--record", "/nowhere/at/all"), 2, "cli.unwritable"),
    "absent key": Case(
        run(PROGRAM, HOST, "--record", "r.json", "--sign-key", "absent.key"), 2, "seal.key_missing"
    ),
    # --- durable runs ---
    "unknown run": Case(lambda folder: ["durable", "status", folder / "nothing"], 2, "durable.none"),
    "export of nothing": Case(lambda folder: ["durable", "export", folder], 2, "durable.none"),
    "settle nothing": Case(
        lambda folder: ["durable", "settle", folder, "a", "--not-executed"], 2, "durable.none"
    ),
    "list of a file": Case(lambda folder: ["durable", "list", a_file(folder, "f", b"")], 2, "cli.unreadable"),
    "no verdict": Case(settle(), 2, "cli.verdict_choice"),
    "two verdicts": Case(settle("--executed", "--not-executed"), 2, "cli.verdict_choice"),
    "verdict without JSON": Case(settle("--executed", "{charged"), 2, "cli.verdict_value"),
    "verdict on an unknown action": Case(settle("--not-executed"), 2, "durable.not_settleable"),
    "changed program": Case(after_a_run(changed_program), 2, "durable.program_changed"),
    "another run": Case(
        after_a_run(lambda folder: durable(folder, "--run-id", "other")), 2, "durable.other_run"
    ),
    "garbage in front": Case(with_damage(lambda wal: b"garbage\n" + wal), 2, "durable.unreadable_line"),
    "empty line": Case(with_damage(lambda wal: wal.replace(b"\n", b"\n\n", 1)), 2, "durable.empty_line"),
    "changed letter": Case(
        with_damage(lambda wal: wal.replace(b"keeper", b"reaper", 1)), 2, "durable.altered"
    ),
    "unexpected key": Case(
        after_a_run(lambda folder: ["durable", "status", folder / "run", "--key", "secret"]),
        2,
        "durable.key_unexpected",
    ),
    # --- replay and seal ---
    "replay of nothing": Case(lambda folder: ["replay", folder / "absent.json"], 2, "cli.unreadable"),
    "replay of no JSON": Case(
        lambda folder: ["replay", a_file(folder, "j.json", b"{")], 2, "replay.malformed"
    ),
    "replay of another thing": Case(
        lambda folder: ["replay", a_file(folder, "j.json", b"[1, 2]")], 2, "replay.malformed"
    ),
    "seal of nothing": Case(lambda folder: ["seal", folder / "absent.json"], 2, "cli.unreadable"),
    "seal of bytes": Case(lambda folder: ["seal", a_file(folder, "j.json", b"\xff")], 2, "replay.malformed"),
    "nothing to seal": Case(lambda _folder: ["seal"], 2, "cli.seal_what"),
}


def clear(ended: Ended) -> str:
    """The one line of a failure; everything that is no failure line is out of place."""
    assert "Traceback" not in ended.err + ended.out
    lines = [line for line in ended.err.splitlines() if line.startswith("✗ ")]
    assert len(lines) == 1
    assert not re.search(r"\{[a-z_]+\}", lines[0]), "a value of the message is missing"
    return lines[0]


@pytest.mark.parametrize("name", CASES)
def test_one_clear_line_and_an_exit_code(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`CLI-1`, `CLI-2`, `CLI-16`, `DCL-2`, `DCL-3`: the same answer in both languages and as data."""
    case = CASES[name]
    monkeypatch.chdir(tmp_path)
    words = case.words(tmp_path)
    texts = {}
    for lang in ("fr", "en"):
        ended = here(*words, "--lang", lang)
        assert ended.code == case.exit, ended.err
        texts[lang] = clear(ended)
        assert ended.out == ""
    assert texts["fr"] != texts["en"]
    as_data = here(*words, "--json")
    assert as_data.code == case.exit
    assert as_data.data["error"]["code"] == case.code
    assert as_data.data["error"]["message"] in texts["fr"] + as_data.err
    assert as_data.data["exit_code"] == case.exit


@pytest.mark.parametrize(
    "words",
    [
        ["flub"],
        ["run"],
        ["run", "x.agent", "--no-such-option"],
        ["run", "x.agent", "--ticks", "many"],
        ["run", "x.agent", "--lang", "de"],
        ["durable", "flub"],
        ["durable", "settle", "dir"],
        ["check", "a.agent", "b.agent"],
    ],
    ids=" ".join,
)
def test_wrong_usage(words: list[str]) -> None:
    """`CLI-16`: wrong words are one line that names the help, exit code 2."""
    ended = here(*words)
    assert ended.code == 2
    assert "--help" in clear(ended)
    assert ended.out == ""


def test_a_failing_host_names_its_line(tmp_path: Path) -> None:
    """`CLI-2`: the message names the host's file and the line in it that failed."""
    for host, line in (
        ("x = 1\ny = 2\nraise RuntimeError('no database')\n", 3),
        ("\n\n\ndef build(:\n", 4),
        ("def build():\n    return helper()\n\ndef helper():\n    return {}['x']\n", 5),
    ):
        file = place(tmp_path, host=host)
        values = here("run", file, "--json").data["error"]["values"]
        assert values["line"] == line
        assert values["file"] == str(file.with_suffix(".py"))


def test_a_parse_error_shows_the_place(tmp_path: Path) -> None:
    """`CLI-1`: below the message the source line, and a caret under the word that is wrong."""
    file = place(tmp_path, PROGRAM.replace("RISK LOW", "RISKY LOW"))
    ended = here("check", file, "--lang", "en")
    assert ended.code == 2
    lines = ended.err.splitlines()
    assert lines[0].startswith(f"✗ {file}:9: ")
    place_of = next(number for number, line in enumerate(lines) if "RISKY LOW" in line and number)
    assert lines[place_of + 1].index("^") == lines[place_of].index("RISKY")


def test_an_unexpected_exception_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DESIGN rule 5: even a fault of the package is one sentence; `AGENTL_DEBUG=1` shows where it is."""
    file = place(tmp_path)

    def broken(*_words: object) -> None:
        raise ZeroDivisionError("a fault of ours")

    monkeypatch.setattr("agentl.cli.programs.diagnostics_of", broken)
    ended = here("check", file, "--lang", "en")
    assert ended.code == 1
    assert "ZeroDivisionError: a fault of ours" in clear(ended)
    assert "AGENTL_DEBUG=1" in ended.err
    monkeypatch.setenv("AGENTL_DEBUG", "1")
    assert "Traceback" in here("check", file).err


def test_an_interruption_is_130(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`CLI-16`: interrupted by the keyboard, exit code 130, no traceback."""
    file = place(tmp_path)

    def interrupted(*_words: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("agentl.cli.programs.diagnostics_of", interrupted)
    ended = here("check", file)
    assert ended.code == 130
    assert clear(ended) == "✗ interrompu"


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        ("SystemExit(0)", 130, "interrompu"),
        ("GeneratorExit('half')", 1, "GeneratorExit : half"),
        ("type('Odd', (BaseException,), {})('half')", 1, "Odd : half"),
    ],
    ids=["exit", "generator", "own"],
)
def test_a_tool_that_stops_the_process_is_no_success(
    raised: str, code: int, said: str, tmp_path: Path
) -> None:
    """`CLI-1`, `CLI-16`: an exit that a tool asks for is not the command's; the action stays open."""
    file = place(tmp_path, host=HOST.replace('door["state"] = Symbol("closed")', f"raise {raised}"))
    ended = here("run", file, "--durable", tmp_path / "run")
    assert ended.code == code
    assert said in clear(ended)
    status = here("durable", "status", tmp_path / "run")
    assert "intention sans résultat" in status.out + status.err


USAGE = {
    "cli.usage.command": ["flub"],
    "cli.usage.command_near": ["chekc", "x.agent"],
    "cli.usage.missing": ["run"],
    "cli.usage.option": ["run", "x.agent", "--no-such-option"],
    "cli.usage.integer": ["run", "x.agent", "--ticks", "many"],
    "cli.usage.argument": ["run", "x.agent", "--ticks"],
    "cli.usage.flag": ["run", "x.agent", "--quiet=3"],
    "cli.usage.value": ["run", "x.agent", "--lang", "de"],
    "cli.usage.extra": ["check", "a.agent", "b.agent"],
}


@pytest.mark.parametrize("code", USAGE)
def test_wrong_usage_is_told_in_the_language(code: str) -> None:
    """`MSG-1`, `MSG-4`: what the command-line library refuses is said in French as well."""
    words = USAGE[code]
    french = clear(here(*words))
    english = clear(here("--lang", "en", *words))
    assert french != english
    assert not re.search(r"\b(No such|Missing|Invalid|requires|Got)\b", french)
    assert here(words[0], "--json", *words[1:]).data["error"]["code"] == code


def test_help_is_wholly_in_the_language() -> None:
    """`MSG-1`: the headings of a help text too."""
    french = here("run", "--help").out
    assert "Emploi :" in french
    assert not re.search(r"Usage:|Options:|Show this|required", french)
    assert "Usage:" in here("--lang", "en", "run", "--help").out


def test_a_durable_journal_is_no_replay_journal(tmp_path: Path) -> None:
    """`CLI-13`: the two kinds are told apart, and the way from one to the other is named."""
    assert here(*durable(tmp_path)).code == 0
    for file in (tmp_path / "run", tmp_path / "run" / "wal.jsonl"):
        for command in ("replay", "seal"):
            ended = here(command, file, "--lang", "en")
            assert ended.code == 2
            assert f"agentl durable export {tmp_path / 'run'}" in clear(ended)
