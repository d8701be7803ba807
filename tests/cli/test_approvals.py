"""`run --park` and `agentl approvals`: questions that outlive the process (PRK-10)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentl.cli import waiting
from agentl.durable import FileStore
from agentl.durable.requests import Decision, Filed, Request, later
from agentl.durable.stores.base import utc_now
from agentl.errors import AgentLError
from agentl.values import Symbol, decode, encode
from tests.support.command import Ended, here

PROGRAM = """
AGENT pays {
  OBSERVE { account.to }
  TOOL transfer { INPUT { amount: Number, to: String } }
  POLICY { DEFAULT ALLOW  REQUIRE APPROVAL FOR transfer }
  PLAN pay WHEN done != yes { SET done = yes  transfer(amount: 10, to: account.to) }
  LOOP MAX 1 { OBSERVE SELECT_PLAN EXECUTE }
}
"""
ASKS = """
AGENT asks {
  TOOL note { INPUT { text: Any } }
  POLICY { DEFAULT ALLOW }
  PLAN ask WHEN done != yes { SET done = yes  ASK boss { QUESTION "how many?" }  note(text: answer) }
  LOOP MAX 1 { OBSERVE SELECT_PLAN EXECUTE }
}
"""
HOST = """
from pathlib import Path
from agentl import Host

def build():
    host = Host()
    host.sensor("account.to")(lambda: TO)
    ledger = Path(__file__).with_name("ledger")

    @host.tool("transfer", idempotent=True)
    def transfer(amount, to):
        with ledger.open("a") as file:
            file.write("transfer\\n")
        return {}

    @host.tool("note", idempotent=True)
    def note(text):
        with ledger.open("a") as file:
            file.write(f"{text!r}\\n")
        return {}

    def nobody(*_what):
        raise AssertionError("the host was asked")

    host.approver = host.asker = nobody
    return host, None
"""


class Folder:
    """A folder with a program and its host, and a place for runs."""

    def __init__(self, path: Path, kind: str) -> None:
        self.path = path
        self.kind = kind
        self.place = kind if "://" in kind else f"sqlite:{path / 'runs.db'}"
        if kind == "file":
            self.place = str(path / "runs")
        self.program(PROGRAM)

    def program(self, text: str, to: str = "acct-1") -> None:
        (self.path / "p.agent").write_text(text, encoding="utf-8")
        (self.path / "p.py").write_text(HOST.replace("TO)", f"{to!r})"), encoding="utf-8", newline="")

    def address(self, run: str) -> str:
        return f"{self.place}/{run}" if self.kind == "file" else f"{self.place}#{run}"

    def run(self, run: str = "r1", *more: str) -> Ended:
        words = [self.path / "p.agent", "--durable", self.address(run), "--run-id", run, "--park"]
        return here("--lang", "en", "run", *words, *more)

    def approvals(self, verb: str, *more: str, place: str | None = None) -> Ended:
        return here("--lang", "en", "approvals", verb, place or self.place, *more)

    def waiting(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.approvals("list", "--json").data["requests"]
        return found

    def request(self) -> str:
        (one,) = self.waiting()
        return str(one["request_id"])

    @property
    def ledger(self) -> list[str]:
        file = self.path / "ledger"
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


@pytest.fixture(params=["file", "sqlite", "postgres"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Folder:
    postgres = request.param == "postgres"
    return Folder(tmp_path, request.getfixturevalue("database") if postgres else request.param)


def test_parked_listed_approved_and_gone_on(folder: Folder) -> None:
    """PRK-10, CLI-16: 6 while it waits, the last line answers it, 0 once it is done."""
    parked = folder.run()
    assert parked.code == 6, parked.err
    last = parked.err.splitlines()[-1]
    request = folder.request()
    assert f"agentl approvals approve {folder.address('r1')!r}".replace("'", "") in last.replace("'", "")
    assert request in last
    assert folder.ledger == []
    listed = folder.approvals("list")
    assert listed.code == 6
    assert 'transfer(amount=10, to="acct-1")' in listed.out
    assert request in listed.out
    said = folder.approvals("approve", request, "--by", "alice")
    assert (said.code, said.err) == (0, "")
    assert folder.approvals("list").code == 0
    done = folder.run()
    assert done.code == 0, done.err
    assert folder.ledger == ["transfer"]
    assert folder.run().code == 0
    assert folder.ledger == ["transfer"]


def test_who_comes_second_hears_of_the_first(folder: Folder) -> None:
    """PRK-3, PRK-10: who, when and what; the exit code tells a script that its answer is not the one."""
    folder.run()
    request = folder.request()
    assert folder.approvals("deny", request, "--by", "alice").code == 0
    late = folder.approvals("approve", request, "--by", "bob")
    assert late.code == 1
    assert "alice" in late.err
    assert "denied" in late.err
    data = folder.approvals("approve", request, "--by", "carol", "--json").data
    assert (data["won"], data["decision"]["by"], data["exit_code"]) == (False, "alice", 1)
    assert folder.run().code == 0
    assert folder.ledger == []


def test_one_command_lists_everything_that_waits(folder: Folder) -> None:
    """PRK-10: over all runs of a place, once each, with arguments, age, reason, place."""
    for number in range(4):
        assert folder.run(f"w{number}").code == 6
    folder.program(ASKS)
    for number in range(2):
        assert folder.run(f"q{number}").code == 6
    found = folder.waiting()
    assert [one["run_id"] for one in found] == ["q0", "q1", "w0", "w1", "w2", "w3"]
    assert len({one["request_id"] for one in found}) == 6
    for one in found:
        assert one["age_seconds"] >= 0
        assert one["address"] == folder.address(one["run_id"])
        assert one["kind"] == ("question" if one["run_id"].startswith("q") else "approval")
        assert one["shown"]
        assert one["reason"] or one["kind"] == "question"
    alone = folder.approvals("list", "--json", place=folder.address("w2")).data["requests"]
    assert [one["run_id"] for one in alone] == ["w2"]


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (["7"], "'7'"),
        (["--value", "7"], "7"),
        (["--value", '{"$sym": "many"}'], "Symbol(many)"),
        (["--value", "null"], "Symbol(no_answer)"),
    ],
)
def test_a_question_is_answered_with_the_value_that_is_meant(
    folder: Folder, words: list[str], kept: str
) -> None:
    """PRK-7, PRK-10: a text is a text; JSON and journal form give the rest."""
    folder.program(ASKS)
    assert folder.run().code == 6
    request = folder.request()
    assert folder.approvals("approve", request).code == 2
    assert folder.approvals("answer", request).code == 2
    assert folder.approvals("answer", request, "a", "--value", "1").code == 2
    assert folder.approvals("answer", request, "--value", "{").code == 2
    assert folder.approvals("answer", request, *words, "--by", "boss").code == 0
    assert folder.run().code == 0
    assert [line.replace("'", "") for line in folder.ledger] == [kept.replace("'", "")]


def test_show_tells_everything_about_one(folder: Folder) -> None:
    """PRK-10: digest, reason, each argument, time; 6 while it is open."""
    folder.run("r1", "--answer-within", "3d")
    (row,) = folder.waiting()
    shown = folder.approvals("show", row["request_id"])
    assert shown.code == 6
    for part in (row["digest"], "amount = 10", 'to = "acct-1"', "approval required", row["deadline"]):
        assert part in shown.out
    folder.approvals("approve", row["request_id"], "--by", "alice")
    after = folder.approvals("show", row["request_id"], "--json")
    assert (after.code, after.data["decision"]["by"], after.data["state"]) == (0, "alice", "approved")
    assert "alice" in folder.approvals("show", row["request_id"]).out


def aged(folder: Folder, seconds: float, edit: Callable[[Any], Any] | None = None) -> None:
    """Make the request of the run r1 that much older."""
    book = FileStore(folder.path / "runs" / "r1").requests
    file = next(book.directory.glob("*.request.json"))
    data = json.loads(file.read_text())
    for name in ("asked_at", "deadline"):
        data[name] = later(data[name], -seconds)
    if edit is not None:
        edit(data)
    file.write_text(json.dumps(data))


def test_expiry_is_recorded_by_whoever_sees_it(tmp_path: Path) -> None:
    """PRK-3, PRK-10: `list` records it; a yes afterwards hears so; the run goes on with `expired`."""
    folder = Folder(tmp_path, "file")
    folder.run("r1", "--answer-within", "1h")
    request = folder.request()
    aged(folder, 3601)
    status = here("--lang", "en", "durable", "status", folder.address("r1"))
    assert "deadline passed" in status.out
    assert folder.approvals("list").code == 0
    late = folder.approvals("approve", request)
    assert late.code == 1
    assert "expired" in late.err
    assert folder.run().code == 0
    assert folder.ledger == []


def test_a_deadline_that_is_near_is_said_and_can_be_put_off(tmp_path: Path) -> None:
    """PRK-9, PRK-10: the list, the row and the status say it; an extension is on record."""
    folder = Folder(tmp_path, "file")
    folder.run("r1", "--answer-within", "10d")
    request = folder.request()
    assert "ONLY" not in folder.approvals("list").out
    aged(folder, 9.1 * 86400)
    assert "ONLY" in folder.approvals("list").out
    assert folder.waiting()[0]["near"] is True
    assert "ONLY" in here("--lang", "en", "durable", "status", folder.address("r1")).out
    assert folder.approvals("extend", request, "5d", "--by", "boss").code == 0
    assert "ONLY" not in folder.approvals("list").out
    assert "boss" in folder.approvals("show", request).out
    folder.approvals("deny", request)
    refused = folder.approvals("extend", request, "5d")
    assert refused.code == 1
    assert "denied" in refused.err


def test_what_has_no_deadline_cannot_be_put_off(folder: Folder) -> None:
    """PRK-3: it waits for ever already."""
    folder.run()
    assert folder.approvals("extend", folder.request(), "5d").code == 1


def test_status_says_what_a_run_waits_for(folder: Folder) -> None:
    """DUR-13, PRK-10: `waiting`, with the action; as data too."""
    folder.run()
    status = here("--lang", "en", "durable", "status", folder.address("r1"))
    assert status.code == 0
    assert "waiting" in status.out
    assert "transfer(amount=10" in status.out
    data = here("durable", "status", folder.address("r1"), "--json").data
    assert (data["status"], data["waiting"][0]["target"]) == ("waiting", "transfer")
    assert "waiting" in here("durable", "list", folder.place).out


def test_the_report_of_a_parked_run_as_data(folder: Folder) -> None:
    """PRK-10: with --json stdout holds the request and the code."""
    parked = folder.run("r1", "--json")
    assert parked.code == parked.data["exit_code"] == 6
    assert parked.data["status"] == "waiting"
    assert parked.data["waiting"][0]["target"] == "transfer"


@pytest.mark.parametrize(
    "words",
    [
        ["run", "P", "--park"],
        ["run", "P", "--durable", "D", "--answer-within", "1h"],
        ["run", "P", "--durable", "D", "--park", "--answer-within", "soon"],
        ["run", "P", "--durable", "D", "--park", "--answer-within", "0s"],
        ["approvals", "list", "nowhere"],
        ["approvals", "list", "sqlite:nothing.db"],
        ["approvals", "show", "D", "nothing"],
        ["approvals", "approve", "D", "r1:pays:t1:a1"],
        ["approvals", "extend", "D", "x", "5 weeks"],
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, words: list[str], monkeypatch: Any) -> None:
    """PRK-10, CLI-1: one sentence, exit 2, nothing is made."""
    folder = Folder(tmp_path, "file")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    named = {"P": str(tmp_path / "p.agent"), "D": folder.place}
    ended = here(*[named.get(word, word) for word in words])
    assert ended.code == 2
    assert len(ended.err.splitlines()) == 1
    assert list((tmp_path / "runs").iterdir()) == []
    assert not (tmp_path / "nothing.db").exists()


def test_a_request_that_is_there_twice_must_be_named_more_exactly(tmp_path: Path) -> None:
    """PRK-10: a copied run is another run; which one is meant is not guessed."""
    import shutil

    folder = Folder(tmp_path, "file")
    folder.run()
    request = folder.request()
    shutil.copytree(tmp_path / "runs" / "r1", tmp_path / "runs" / "copy")
    assert folder.approvals("approve", request).code == 2
    assert folder.approvals("approve", request, place=folder.address("r1")).code == 0


LOOKALIKES = [
    "аcct-1",  # a Cyrillic letter in front
    "acct\u200b-1",
    "acct-1\u202e1-tcca",
    "acct‐1",
    "ａcct-1",
    "acct-1\x1b[2K",
    "acct-1\nto: acct-2",
    'acct-1", x="',
    "acct-1\\",
    "e\u0301",
    "ſ",
    "ı",
]


@pytest.mark.parametrize("text", LOOKALIKES)
def test_what_looks_like_something_else_is_shown_as_it_is(tmp_path: Path, text: str) -> None:
    """PRK-10: every sign that could deceive is an escape, wherever the request is shown."""
    folder = Folder(tmp_path, "file")
    folder.program(PROGRAM, to=text)
    parked = folder.run("r1", "--quiet")
    shown = waiting.literal(text)
    assert shown.isascii()
    assert shown != f'"{text}"'
    for said in (parked.err, folder.approvals("list").out, folder.approvals("show", folder.request()).out):
        assert shown in said
        assert text not in said or text.isascii()


@given(st.text(max_size=20), st.text(max_size=20))
@example("é", "e\u0301")
@example('a"', 'a\\"')
def test_two_texts_are_never_shown_alike(one: str, other: str) -> None:
    """PRK-10: what is shown can be read back, and is visible."""
    shown = waiting.literal(one)
    assert (shown == waiting.literal(other)) == (one == other)
    assert shown.isprintable()


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
        | st.from_regex(r"[a-z]{1,5}", fullmatch=True).map(Symbol),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=6,
    )
)  # fmt: skip
def test_a_text_is_never_shown_as_another_kind(value: Any) -> None:
    """PRK-10: the text "7" and the number 7, the text "yes" and the symbol yes are told apart."""
    shown = waiting.shown(encode(value))
    assert shown.isprintable()
    text = waiting.shown(encode(str(value)))
    assert shown != text or isinstance(value, str)
    assert decode(encode(value)) == value


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("15m", 900), ("8h", 28800), ("3d", 259200), (" 1s ", 1)]
)
def test_durations(text: str, seconds: float) -> None:
    """PRK-10: a whole number and a unit."""
    assert waiting.seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "5", "5 m", "-5m", "1.5h", "5w", "٣d", "0h", "1h30m"])
def test_no_durations(text: str) -> None:
    """PRK-10: anything else is refused."""
    with pytest.raises(AgentLError):
        waiting.seconds_of(text)


def test_a_request_without_a_run_is_shown_too() -> None:
    """PRK-10: a row is complete in itself."""
    now = utc_now()
    asked = Request("r", "r:a@0", "approval", "t x", "r:a", "0" * 64, asked_at=now)
    assert waiting.question(asked) == '"t x"()'
    data = waiting.as_data(Filed(asked, Decision("denied", "a", now)), "here", now)
    assert (data["state"], data["remaining_seconds"], data["near"]) == ("denied", None, False)


def test_a_password_is_shown_nowhere(database: str) -> None:
    """OPS-1: the address of a place is shown without it, in reports as in messages."""
    secret = database.replace("//", "//someone:wr0ng@") if "@" not in database else database
    for words in (["list"], ["list", "--json"], ["show", "x"], ["approve", "x"]):
        ended = here("approvals", words[0], secret, *words[1:])
        assert "wr0ng" not in ended.out + ended.err


# --- signed ----------------------------------------------------------------------------------


@pytest.fixture
def ringed(tmp_path: Path) -> Folder:
    """A folder whose program demands a signature of the ring `finance`, in which are alice and bob."""
    folder = Folder(tmp_path, "file")
    for name in ("alice", "bob", "mallory"):
        assert here("seal", "--keygen", tmp_path / "keys", "--name", name).code == 0
    folder.program(PROGRAM.replace("FOR transfer", "FOR transfer BY finance"))
    ring = """host = Host()
    keys = Path(__file__).with_name("keys")
    host.key_ring("finance", {name: keys / f"{name}.pub" for name in ("alice", "bob")})
"""
    text = (tmp_path / "p.py").read_text(encoding="utf-8")
    (tmp_path / "p.py").write_text(text.replace("host = Host()", ring), encoding="utf-8")
    assert folder.run().code == 6
    return folder


def key_of(folder: Folder, name: str) -> str:
    return str(folder.path / "keys" / f"{name}.key")


def test_a_signed_approval_from_the_command_line(ringed: Folder) -> None:
    """PRK-8: the name is that of the ring; the journal replays with the public keys."""
    request = ringed.request()
    said = ringed.approvals("approve", request, "--key", key_of(ringed, "bob"))
    assert said.code == 0, said.err
    assert "bob" in said.out
    assert ringed.run().code == 0
    assert ringed.ledger == ["transfer"]
    journal = ringed.path / "journal.json"
    assert here("durable", "export", ringed.address("r1"), "-o", journal).code == 0
    assert here("replay", journal).code == 2
    public = f"finance:bob={ringed.path / 'keys' / 'bob.pub'}"
    assert here("replay", journal, "--key-ring", public).code == 0
    assert here("replay", journal, "--key-ring", public.replace("bob.pub", "alice.pub")).code == 1
    for wrong in ("finance", "finance:bob", "finance=x", "finance:bob=nothing.pub"):
        assert here("replay", journal, "--key-ring", wrong).code == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "--key"),
        (["--key", "KEYS/mallory.key"], "finance"),
        (["--key", "KEYS/alice.key", "--by", "bob"], "bob"),
        (["--key", "a secret"], "Ed25519"),
        (["--key", "KEYS/alice.pub"], ""),
        (["--key", "KEYS/nothing.key"], ""),
    ],
)
def test_a_yes_that_would_not_count_is_not_written(ringed: Folder, words: list[str], said: str) -> None:
    """PRK-8: exit 2, and the request stays open."""
    request = ringed.request()
    words = [word.replace("KEYS", str(ringed.path / "keys")) for word in words]
    refused = ringed.approvals("approve", request, *words)
    assert refused.code == 2
    assert said in refused.err
    assert ringed.request() == request
    assert ringed.run().code == 6
    assert ringed.ledger == []


def test_a_row_that_shows_one_thing_and_names_another_is_not_signed(ringed: Folder) -> None:
    """PRK-8: somebody changed the arguments in the row; the digest is that of the action."""
    request = ringed.request()
    (file,) = (ringed.path / "runs" / "r1" / "requests").glob("*.request.json")
    data = json.loads(file.read_text())
    kept = file.read_bytes()
    data["args"]["amount"] = 1
    file.write_text(json.dumps(data))
    for words in (["--key", key_of(ringed, "alice")], ["--key", key_of(ringed, "alice"), "--unseen"], []):
        refused = ringed.approvals("approve", request, *words)
        assert refused.code == 2
        assert "digest" in refused.err
    assert "NOT" in ringed.approvals("show", request).out
    data = {**json.loads(kept), "withheld": True}
    file.write_text(json.dumps(data))
    assert ringed.approvals("approve", request, "--key", key_of(ringed, "alice")).code == 2
    assert ringed.approvals("approve", request, "--key", key_of(ringed, "alice"), "--unseen").code == 0
    assert ringed.run().code == 0


def test_a_ring_that_the_host_does_not_declare_is_said_at_once(tmp_path: Path) -> None:
    """APR-7, CLI-16: exit 2, `apr.no_ring`."""
    folder = Folder(tmp_path, "file")
    folder.program(PROGRAM.replace("FOR transfer", "FOR transfer BY finance"))
    ended = folder.run("r1", "--json")
    assert (ended.code, ended.data["error"]["code"]) == (2, "apr.no_ring")
