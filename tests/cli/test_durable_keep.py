"""show, verify, purge, import and export of a whole run on the command line (`OPS-5` to `OPS-10`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command import here
from tests.support.samples import HOST, place

DOUBTFUL = HOST.replace('return {"effort": 0.5}', 'raise OSError("jammed")')
SECRET = HOST.replace("def build():", "def build():\n    import os").replace(
    'return {"effort": 0.5}', 'return {"effort": 0.5, "note": "geheim"}'
)


@pytest.fixture(params=["runs/{}", "sqlite:runs.db#{}"], ids=["directory", "sqlite"])
def address(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return str(request.param)


def all_of(address: str) -> str:
    return address.removesuffix("{}").rstrip("/#")


def made(address: str, name: str, host: str = HOST, *more: str) -> str:
    file = place(Path.cwd(), host=host)
    ended = here("run", file, "--durable", address.format(name), "--run-id", name, "--quiet", *more)
    assert ended.code in (0, 5), ended.err
    return address.format(name)


def test_a_run_is_told_from_beginning_to_end(address: str) -> None:
    """`OPS-5`: drivers, ticks, actions with their attempts and outcomes, verdicts, the end; no value."""
    one = made(address, "r", DOUBTFUL)
    action = here("durable", "status", one, "--json").data["in_doubt"][0]["action_id"]
    assert here("durable", "settle", one, action, "--executed", '{"effort": 0.7}', "--by", "ada").code == 0
    steps = here("durable", "show", one, "--json").data["steps"]
    assert [step["what"] for step in steps] == ["begun", "action", "tick", "ended", "verdict"]
    assert (steps[1]["target"], steps[1]["action_id"], steps[1]["outcome"]) == ("shut", action, "in_doubt")
    assert steps[1]["attempts"] == 1
    assert steps[2]["counts"]["read"] >= 1
    assert (steps[4]["by"], steps[4]["executed"]) == ("ada", True)
    for lang, words in (("fr", "indéterminée"), ("en", "in doubt")):
        shown = here("durable", "show", one, "--lang", lang)
        assert shown.code == 0
        assert len(shown.out.splitlines()) == len(steps)
        assert words in shown.out
        assert "0.7" not in shown.out
        assert "{" not in shown.out
    assert here("durable", "show", all_of(address)).code == 2


def test_no_value_of_an_action_is_told(address: str) -> None:
    """`OPS-5`: what a tool gave back is not for whoever keeps the machines."""
    one = made(address, "r", SECRET)
    assert "geheim" not in here("durable", "show", one).out
    assert "geheim" not in here("durable", "show", one, "--json").out


def test_one_verdict_each(address: str) -> None:
    """`OPS-10`: chain, key, lease, notes, end; exit 0 when none is bad."""
    one = made(address, "r")
    good = here("durable", "verify", one, "--json")
    verdicts = {verdict["what"]: verdict["grade"] for verdict in good.data["runs"][0]["verdicts"]}
    assert verdicts == {
        "chain": "good",
        "key": "worth_knowing",
        "lease": "good",
        "notes": "good",
        "end": "good",
    }
    assert good.code == 0
    text = here("durable", "verify", one).out.splitlines()
    assert [line[0] for line in text] == ["✓", "!", "✓", "✓", "✓"]
    keyed = made(address, "k", HOST, "--key", "secret")
    assert here("durable", "verify", keyed).code == 1
    assert here("durable", "verify", keyed, "--key", "secret").code == 0
    missing = here("durable", "verify", keyed, "--json").data["runs"][0]["verdicts"][0]
    assert (missing["what"], missing["code"]) == ("key", "durable.key_missing")
    everything = here("durable", "verify", all_of(address))
    assert everything.code == 1
    assert sorted(line[0] for line in everything.out.splitlines()) == ["✓", "✗"]


def test_damage_is_a_bad_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`OPS-10`: a changed journal, and notes that were changed to fit another one."""
    monkeypatch.chdir(tmp_path)
    one = made("runs/{}", "r")
    meta = Path(one, "meta.json")
    kept = meta.read_text()
    meta.write_text(kept.replace('"head": "', '"head": "0'))
    notes = here("durable", "verify", one, "--json")
    assert notes.code == 1
    assert [v["what"] for v in notes.data["runs"][0]["verdicts"] if v["grade"] == "bad"] == ["notes"]
    meta.write_text(kept)
    wal = Path(one, "wal.jsonl")
    wal.write_bytes(wal.read_bytes().replace(b"keeper", b"reaper", 1))
    chain = here("durable", "verify", one)
    assert chain.code == 1
    assert chain.out.startswith("✗ ")
    assert here("durable", "verify", "absent").code == 2


def test_purge_says_what_goes_and_why_the_rest_stays(address: str) -> None:
    """`OPS-7`: a dry run takes nothing; the exit code is 0; the id stays taken."""
    made(address, "old")
    made(address, "doubtful", DOUBTFUL)
    dry = here("durable", "purge", all_of(address), "--older-than", "0s", "--dry-run", "--json").data
    assert (dry["dry_run"], dry["purged"], dry["kept"]) == (True, 1, {"doubts": 1})
    assert here("durable", "purge", all_of(address), "--older-than", "30d").out == ""
    done = here("durable", "purge", all_of(address), "--older-than", "0s")
    assert done.code == 0
    assert address.format("old") in done.out
    assert done.err.startswith("1 purgée(s), 1 gardée(s)")
    again = here("run", "keeper.agent", "--durable", address.format("old"), "--run-id", "old")
    assert again.code == 2
    assert "purgée" in again.err
    assert here("durable", "status", address.format("old")).code == 2
    assert (
        here("durable", "purge", address.format("doubtful"), "--older-than", "0s", "--with-doubts").code == 0
    )
    assert here("durable", "list", all_of(address), "--json").data["runs"] == []
    for words in (["--older-than", "soon"], []):
        assert here("durable", "purge", all_of(address), *words).code == 2
    assert here("durable", "purge", "absent", "--older-than", "0s").code == 2


def test_import_moves_and_copies(address: str) -> None:
    """`OPS-8`, `OPS-9`: one place is left, the other goes on; a file is a copy for reading."""
    one = made(address, "r")
    file = here("durable", "export", one, "--portable", "-o", "r.portable")
    assert file.code == 0, file.err
    refused = here("durable", "import", "r.portable", "sqlite:copy.db")
    assert refused.code == 2
    assert "--copy" in refused.err
    assert here("durable", "import", "r.portable", "sqlite:copy.db", "--copy").code == 0
    copied = here("durable", "list", "sqlite:copy.db", "--json").data["runs"]
    assert [run["status"] for run in copied] == ["copy"]
    assert here("durable", "verify", "sqlite:copy.db#r").code == 0
    assert here("run", "keeper.agent", "--durable", "sqlite:copy.db#r").code == 2
    moved = here("durable", "import", one, "sqlite:new.db")
    assert moved.code == 0, moved.err
    assert moved.out.startswith("→ r (")
    left = here("run", "keeper.agent", "--durable", one)
    assert left.code == 2
    assert "new.db" in left.err
    assert [run["status"] for run in here("durable", "list", all_of(address), "--json").data["runs"]] == [
        "moved"
    ]
    assert here("run", "keeper.agent", "--durable", "sqlite:new.db#r").code == 0
    assert here("durable", "import", one, "sqlite:third.db").code == 2
    assert here("durable", "import", "runs/absent", "sqlite:third.db").code == 2
