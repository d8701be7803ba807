"""Each command as a person uses it: its lines, its JSON, both languages, its exit codes.

CLI-1 to CLI-6, CLI-13 to CLI-16.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import agentl
from agentl.catalogue import CATALOGUE
from agentl.cli import exits
from agentl.errors import AgentLError, Cancelled, DurableError, LeaseHeld, LeaseLost, StoreFailure
from tests.support.command import ROOT, child, environment, here
from tests.support.samples import HOST, PROGRAM, place

METRICS = (
    "ticks tool_calls blocked approvals verify_pass verify_fail llm_calls memory_writes inferences "
    "plans_synthesized messages_sent messages_received shared_writes shared_conflicts domain_clamps "
    "effect_drift redactions sensor_unknown sensor_degraded tool_failures tool_contract_failures "
    "tool_output_dropped circuit_open reason_degraded judge_abstained"
)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return place(tmp_path)


# --- the command itself ---------------------------------------------------------------------


def test_the_version_needs_nothing() -> None:
    """`CLI-1`: `python -m agentl --version`; nothing but the facade is imported for it."""
    ended = child("--version", fresh=True)
    assert (ended.code, ended.out, ended.err) == (0, f"agentl {agentl.__version__}\n", "")
    probe = (
        "import sys; sys.argv = ['agentl', '--version']\n"
        "from agentl.__main__ import main; main()\n"
        "heavy = {'typer', 'rich', 'lark', 'icontract', 'agentl.messages'} & set(sys.modules)\n"
        "sys.exit(len(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", probe], env=environment(), cwd=ROOT, check=False)
    assert done.returncode == 0


@pytest.mark.parametrize("lang", ["fr", "en"])
def test_the_help_speaks_the_language(lang: str) -> None:
    """`MSG-4`: `--lang` and `AGENTL_LANG` turn the help too."""
    text = CATALOGUE["cli.help.check"][0 if lang == "fr" else 1]
    assert text in child("check", "--help", "--lang", lang).out
    assert text in child("check", "--help", env={"AGENTL_LANG": lang}).out


@pytest.mark.parametrize(
    ("wanted", "lang"), [("EN", "en"), ("en_GB.UTF-8", "en"), ("FR", "fr"), ("xx", "fr"), ("", "fr")]
)
def test_the_language_of_the_environment_in_any_spelling(
    wanted: str, lang: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`MSG-4`: what is no language of the catalogue is French."""
    monkeypatch.setenv("AGENTL_LANG", wanted)
    assert here("check", "--help").out.find(CATALOGUE["cli.help.check"][lang == "en"]) >= 0


def test_no_command_shows_the_commands() -> None:
    """`CLI-16`: no word at all is wrong usage, and shows what there is."""
    ended = here()
    assert ended.code == 2
    for command in ("run", "check", "ast", "replay", "seal", "durable"):
        assert command in ended.err
    assert not ended.err.startswith("✗")


# --- check and ast ---------------------------------------------------------------------------


def test_check_of_a_clean_program(program: Path) -> None:
    """`CLI-3`: one head line, then the absence of diagnostics."""
    ended = here("check", program)
    assert ended.code == 0
    assert ended.out.splitlines() == [
        "AGENT keeper v1.0 — 1 outil(s), 1 plan(s), 2 règle(s)",
        "  ✓ aucun diagnostic",
    ]
    english = here("check", program, "--lang", "en").out.splitlines()
    assert english == ["AGENT keeper v1.0 — 1 tool(s), 1 plan(s), 2 rule(s)", "  ✓ no diagnostic"]
    report = here("check", program, "--json").data
    assert (report["errors"], report["warnings"]) == (0, 0)
    assert report["agents"][0]["diagnostics"] == []


def test_check_of_a_program_with_errors(tmp_path: Path) -> None:
    """`CLI-3`, `CHK-1`: one line for each error, exit code 1."""
    file = place(tmp_path, PROGRAM.replace("shut(force: 3)", "slam(force: 3)").replace("DEFAULT DENY", ""))
    ended = here("check", file)
    assert ended.code == 1
    shown = [line for line in ended.out.splitlines() if line.startswith("  ✗ ")]
    assert len(shown) == 2
    report = here("check", file, "--json")
    assert report.code == 1
    codes = [one["code"] for one in report.data["agents"][0]["diagnostics"]]
    assert sorted(codes) == ["E001", "E024"]
    assert all(code in ended.out for code in codes)


def test_check_of_several_agents(tmp_path: Path) -> None:
    """`CLI-3`: a program of several agents has a part of its own."""
    file = place(tmp_path, PROGRAM + PROGRAM.replace("AGENT keeper", "AGENT porter"))
    lines = here("check", file).out.splitlines()
    assert [line for line in lines if line.startswith("AGENT ")][1].startswith("AGENT porter v1.0 — ")
    assert lines[-2:] == ["PROGRAMME — 2 agents", "  ✓ contrats entre agents cohérents"]


def test_ast(program: Path) -> None:
    """`CLI-4`: the tree with the lines of its nodes; as JSON every node names its construct."""
    shown = here("ast", program)
    assert shown.code == 0
    assert shown.out.startswith("Program")
    assert "Agent  @1" in shown.out
    tree = here("ast", program, "--json").data
    assert tree["node"] == "Program"
    assert [tool["name"] for tool in tree["agents"][0]["tools"]] == ["shut"]


# --- run -------------------------------------------------------------------------------------


def test_run_shows_the_trace_and_the_metrics(program: Path) -> None:
    """`CLI-5`: the trace as it goes, an empty line, all metrics in one line."""
    ended = here("run", program)
    assert ended.code == 0
    lines = ended.out.splitlines()
    assert any(line.startswith("┌─ tick 1 ") for line in lines)
    assert lines[-2] == ""
    assert [pair.split("=")[0] for pair in lines[-1].split("  ")] == METRICS.split()
    quiet = here("run", program, "--quiet")
    assert quiet.out == ended.out


def test_run_as_json(program: Path) -> None:
    """`CLI-1`: one JSON value on stdout, and nothing else there."""
    report = here("run", program, "--json").data
    assert report["ended"] == "until"
    assert report["exit_code"] == 0
    assert list(report["metrics"]) == METRICS.split()
    assert {event["code"] for event in report["trace"]} >= {"sensor.read", "tool.done", "verify.ok"}


def test_run_limits_the_ticks(tmp_path: Path) -> None:
    """`CLI-5`, `TCK-3`: `--ticks` is the limit."""
    file = place(tmp_path, host=HOST.replace('Symbol("closed")', 'Symbol("ajar")'))
    assert here("run", file, "--ticks", "2", "--json").data["ticks"] == 2
    assert here("run", file, "--json").data["ended"] == "limit"


def test_events_are_one_json_line_each(program: Path, tmp_path: Path) -> None:
    """`CLI-6`: seq, agent, tick, kind, text, detail, code, values."""
    file = tmp_path / "events.jsonl"
    assert here("run", program, "--events", file, "--quiet").code == 0
    events = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert [event["seq"] for event in events] == list(range(len(events)))
    names = ["seq", "agent", "tick", "kind", "text", "detail", "code", "values"]
    assert all(list(event) == names for event in events)
    assert events == here("run", program, "--json").data["trace"]


RESULTS = {
    "not a number": "float('nan')",
    "infinite": "float('inf')",
    "a truth value": "True",
    "an object": "object()",
    "a text": "'much'",
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_that_breaks_the_contract_is_in_doubt(name: str, tmp_path: Path) -> None:
    """`TOL-4`, `ENC-6`, `CLI-16`: the call happened, what it did is not known; exit code 5, no traceback."""
    file = place(tmp_path, host=HOST.replace('"effort": 0.5', f'"effort": {RESULTS[name]}'))
    for words in (["run", file], ["run", file, "--durable", tmp_path / "run"]):
        ended = here(*words, "--json")
        assert ended.code == 5, ended.err
        assert "tool.output" in {event["code"] for event in ended.data["trace"]}
        assert [one["target"] for one in ended.data["in_doubt"]] == ["shut"]
        assert "Traceback" not in ended.out + ended.err


@pytest.mark.parametrize("argument", ['"three"', "true", "1.5", "[1]"])
def test_an_argument_of_the_wrong_type_is_blocked(argument: str, tmp_path: Path) -> None:
    """`KRN-7`, `TOL-2`: the call is not made, the run goes on, exit code 0."""
    file = place(tmp_path, PROGRAM.replace("force: 3)", f"force: {argument})"))
    ended = here("run", file, "--json")
    assert ended.code == 0
    assert "tool.input" in {event["code"] for event in ended.data["trace"]}
    assert ended.data["metrics"]["tool_calls"] == 0


def test_a_tool_that_raises_is_one_line_of_the_trace(tmp_path: Path) -> None:
    """DESIGN rule 5: an exception of a tool is an event; the command shows no traceback."""
    file = place(tmp_path, host=HOST.replace('return {"effort": 0.5}', 'raise OSError("jammed")'))
    ended = here("run", file)
    assert ended.code == 5
    assert "OSError: jammed" in ended.out
    assert "Traceback" not in ended.out + ended.err


def test_host_forms(tmp_path: Path) -> None:
    """`CLI-2`: build() may return a host alone, with a model, with extras; or there are top-level names."""
    for form in (
        "return host",
        "return host, None",
        "return host, None, {'more': 1}",
        "return {'keeper': host}",
    ):
        file = place(tmp_path, host=HOST.replace("return host, None", form))
        assert here("run", file, "--quiet").code == 0, form
    module = HOST.replace("def build():", "def make():") + "\n\nhost, llm = make()\n"
    assert here("run", place(tmp_path, host=module), "--quiet").code == 0


def test_a_host_that_prints_does_not_spoil_the_report(tmp_path: Path) -> None:
    """`CLI-1`: with `--json` stdout holds the report alone; what a host prints is not lost."""
    host = "print('loading')\n" + HOST.replace(
        'return {"effort"', 'print("shutting")\n        return {"effort"'
    )
    ended = here("run", place(tmp_path, host=host), "--json")
    assert ended.data["exit_code"] == 0
    assert ended.err.splitlines() == ["loading", "shutting"]


def test_the_host_that_runs_is_the_one_in_the_file(tmp_path: Path) -> None:
    """`CLI-2`: a host edited twice within a second runs in its last form."""
    for effort in ("0.1", "0.2", "0.3"):
        report = here("run", place(tmp_path, host=HOST.replace("0.5", effort)), "--json").data
        done = next(event for event in report["trace"] if event["code"] == "tool.done")
        assert effort in done["detail"]
    assert not list(tmp_path.glob("__pycache__/keeper*"))


def test_a_host_may_import_its_neighbour(tmp_path: Path) -> None:
    """`CLI-2`: what lies beside the host can be imported by it, whatever the working directory."""
    (tmp_path / "levers.py").write_text("EFFORT = 0.5\n", encoding="utf-8")
    host = "import levers\n" + HOST.replace("0.5", "levers.EFFORT")
    assert here("run", place(tmp_path, host=host), "--quiet").code == 0


# --- durable ---------------------------------------------------------------------------------


def test_a_durable_run_and_what_is_said_about_it(program: Path) -> None:
    """`CLI-15`, `DCL-1`, `DCL-3`, `DCL-4`, `DCL-6`: run, status, list, export, in text and as data."""
    first = here("run", program, "--durable", "runs/a", "--run-id", "a1")
    assert first.code == 0
    assert first.err == f"→ exécution durable a1 : {Path('runs/a/wal.jsonl')}\n"
    assert first.out.splitlines()[-2] == ""

    status = here("durable", "status", "runs/a", "--json").data
    assert (status["run_id"], status["status"], status["agents"]) == ("a1", "completed", ["keeper"])
    assert sum(status["kinds"].values()) == status["entries"]
    text = here("durable", "status", "runs/a").out
    assert "a1" in text
    assert status["head"][:12] in text
    assert f"intent={status['kinds']['intent']}" in text

    listed = here("durable", "list", "runs", "--json").data["runs"]
    assert [(run["run_id"], run["status"]) for run in listed] == [("a1", "completed")]
    assert "a1" in here("durable", "list", "runs").out

    exported = here("durable", "export", "runs/a")
    assert exported.code == 0
    assert exported.out.startswith("→ ")
    assert Path("runs/a/journal.json").is_file()
    again = here("run", program, "--durable", "runs/a")
    assert again.code == 0
    assert "a1" in again.err + again.out


def test_listing_shows_refused_journals_too(program: Path) -> None:
    """`DCL-6`: in the order of names; a refused one as `✗ message`; an empty folder says so."""
    for name in ("b", "a"):
        assert here("run", program, "--durable", f"runs/{name}", "--run-id", name).code == 0
    wal = Path("runs/a/wal.jsonl")
    wal.write_bytes(wal.read_bytes().replace(b"keeper", b"reaper", 1))
    lines = here("durable", "list", "runs").out.splitlines()
    assert lines[0].startswith("✗ ")
    assert "b" in lines[1]
    Path("empty").mkdir()
    assert here("durable", "list", "empty").code == 0


def test_a_limit_can_be_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`RES-2`, `DCL-2`: a completed run goes on with a larger limit."""
    monkeypatch.chdir(tmp_path)
    file = place(tmp_path, host=HOST.replace('Symbol("closed")', 'Symbol("ajar")'))
    assert here("run", file, "--durable", "r", "--ticks", "2", "--json").data["ticks"] == 2
    assert here("run", file, "--durable", "r", "--ticks", "3", "--json").data["ticks"] == 3
    assert here("durable", "status", "r", "--json").data["kinds"]["extend"] == 1


@pytest.mark.parametrize("quiet", [True, False])
def test_a_resume_shows_what_is_new(quiet: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`DCL-1`: no line of a re-derived tick, `--quiet` or not; all of them with `--trace-all`."""
    monkeypatch.chdir(tmp_path)
    file = place(tmp_path, host=HOST.replace('Symbol("closed")', 'Symbol("ajar")'))
    more = ["--quiet"] if quiet else []
    assert here("run", file, "--durable", "r", "--ticks", "2", *more).code == 0

    def ticks(*words: str) -> list[str]:
        shown = here("run", file, "--durable", "r", *words, *more).out.splitlines()
        return [line.split()[2] for line in shown if line.startswith("┌─ tick ")]

    assert ticks("--ticks", "3") == ["3"]
    assert ticks() == []
    assert ticks("--trace-all") == ["1", "2", "3"]


def test_a_keyed_journal_wants_its_key(program: Path) -> None:
    """`SEA-10`, `DRF-1`: absent or another key is refused, from the option or the environment."""
    assert here("run", program, "--durable", "r", "--key", "secret").code == 0
    assert here("durable", "status", "r", "--key", "secret").code == 0
    for words, code in ((["--key", "other"], "durable.key_other"), ([], "durable.key_missing")):
        ended = here("durable", "status", "r", "--json", *words)
        assert ended.code == 2
        assert ended.data["error"]["code"] == code


def test_settle_as_text_and_as_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`DCL-5`: a verdict on a doubtful action; the same action cannot be settled twice."""
    monkeypatch.chdir(tmp_path)
    file = place(tmp_path, host=HOST.replace('return {"effort": 0.5}', 'raise OSError("jammed")'))
    assert here("run", file, "--durable", "r", "--run-id", "r").code == 5
    assert here("run", file, "--durable", "r").code == 5
    doubtful = here("durable", "status", "r", "--json").data["in_doubt"]
    action = doubtful[0]["action_id"]
    settled = here("durable", "settle", "r", action, "--executed", '{"effort": 1}', "--by", "ada")
    assert settled.code == 0
    assert settled.out.startswith("✓ ")
    assert action in settled.out
    assert here("durable", "settle", "r", action, "--not-executed").code == 2
    assert here("run", file, "--durable", "r").code == 0
    status = here("durable", "status", "r").out
    assert "ada" in status


# --- replay and seal -------------------------------------------------------------------------


def test_record_replay_and_seal(program: Path) -> None:
    """`CLI-5`, `CLI-13`, `CLI-14`: recorded, signed, replayed, verified."""
    recorded = here("run", program, "--record", "j.json", "--sign-key", "secret", "--quiet")
    assert recorded.code == 0
    assert any(line.startswith("→ ") for line in recorded.out.splitlines())
    replayed = here("replay", "j.json", "--key", "secret", "--quiet")
    assert replayed.code == 0, replayed.err
    assert replayed.out.splitlines()[-1].startswith("✔ ")
    report = here("replay", "j.json", "--key", "secret", "--json").data
    assert (report["outcome"], report["remaining"], report["exit_code"]) == ("ok", 0, 0)
    assert here("seal", "j.json", "--key", "secret").code == 0
    assert here("seal", "j.json", "--key", "other").code == 1
    assert here("replay", "j.json", "--key", "other").code == 2


def test_an_unsigned_journal(program: Path) -> None:
    """`CLI-13`, `CLI-14`: fine unless a seal is required."""
    assert here("run", program, "--record", "j.json", "--quiet").code == 0
    assert here("seal", "j.json").code == 0
    assert here("replay", "j.json", "--quiet").code == 0
    assert here("replay", "j.json", "--require-seal").code == 2


def test_replay_of_a_changed_program_and_of_a_changed_journal(program: Path) -> None:
    """`CLI-13`: 1 without `--force`; a divergence with it; a broken chain is refused."""
    assert here("run", program, "--record", "j.json", "--quiet").code == 0
    program.write_text(PROGRAM.replace("force: 3", "force: 4"), encoding="utf-8")
    changed = here("replay", "j.json", "--json")
    assert changed.code == 1
    assert changed.data["error"]["code"] == "replay.program_changed"
    assert here("replay", "j.json", "--force", "--quiet").code == 1
    journal = Path("j.json")
    journal.write_text(journal.read_text(encoding="utf-8").replace('"open"', '"shut"'), encoding="utf-8")
    assert here("replay", "j.json", "--force").code == 2
    assert here("seal", "j.json").code == 1


def test_key_pairs(program: Path, tmp_path: Path) -> None:
    """`CLI-14`, `SEA-7`: a pair is made, signs, and verifies with its public half."""
    pytest.importorskip("cryptography")
    made = here("seal", "--keygen", tmp_path / "keys", "--name", "ours", "--json").data
    assert here("run", program, "--record", "j.json", "--sign-key", made["private"], "--quiet").code == 0
    assert here("replay", "j.json", "--key", made["public"], "--require-seal", "--quiet").code == 0


# --- exit codes and streams ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ([], 0),
        ([0], 0),
        ([5, 1], 1),
        ([1, 2], 2),
        ([2, 10], 10),
        ([10, 4], 4),
        ([4, 130], 130),
        ([8, 6, 7], 7),
    ],
)
def test_which_exit_code_counts(codes: list[int], expected: int) -> None:
    """`CLI-16`: the first of 130 4 10 2 1 5 9 7 6 8."""
    assert exits.first(codes) == expected


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (AgentLError("x"), 2),
        (DurableError("x"), 2),
        (LeaseHeld("x"), 10),
        (StoreFailure("x"), 4),
        (LeaseLost("x"), 4),
        (Cancelled("x"), 130),
        (KeyboardInterrupt(), 130),
        (RecursionError(), 1),
    ],
)
def test_exit_codes_of_errors(error: BaseException, expected: int) -> None:
    """`CLI-16`, `DCL-2`: every class of error has one exit code."""
    from agentl.cli.failures import exit_code

    assert exit_code(error) == expected


def test_a_stream_without_the_glyphs(program: Path) -> None:
    """A terminal that knows ASCII alone gets question marks, never an encoding error."""
    ended = child("run", program, env={"PYTHONIOENCODING": "ascii"}, fresh=True)
    assert ended.code == 0
    assert "tick 1" in ended.out
    assert "Traceback" not in ended.err


def test_a_closed_pipe_does_not_stop_a_run(program: Path, tmp_path: Path) -> None:
    """Whoever stops reading stops nothing: the run goes on to its end."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "agentl", "run", str(program), "--durable", str(tmp_path / "r")],
            env=environment(),
            stdout=writer,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    finally:
        os.close(writer)
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
    assert here("durable", "status", tmp_path / "r", "--json").data["status"] == "completed"


@pytest.mark.parametrize("colours", [True, False])
def test_colours_on_a_terminal(program: Path, colours: bool) -> None:
    """On a terminal lines are coloured by their glyph; `NO_COLOR` is respected."""
    pty = pytest.importorskip("pty")
    master, slave = pty.openpty()
    more = {} if colours else {"NO_COLOR": "1"}
    env = {name: value for name, value in environment(TERM="xterm", **more).items() if name != "CI"}
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "agentl", "check", str(program)], env=env, stdout=slave, stderr=slave
        )
        os.close(slave)
        seen = b""
        while True:
            try:
                block = os.read(master, 4096)
            except OSError:
                break
            if not block:
                break
            seen += block
        assert process.wait(60) == 0
    finally:
        os.close(master)
    assert "✓ aucun diagnostic".encode() in seen
    assert (b"\x1b[" in seen) == colours


def test_no_colours_in_a_pipe(program: Path) -> None:
    """Colours are for terminals; `FORCE_COLOR` or not, a pipe gets the exact lines."""
    assert "\x1b" not in child("run", program, env={"FORCE_COLOR": "1"}).out
