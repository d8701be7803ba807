"""Signed approvals, with real keys, through every store and every forgery (APR-7, PRK-8)."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentl import Host, MockLLM, Runtime, parse_source
from agentl.durable import DurableRun, FileStore, MemoryStore, PostgresStore, SQLiteStore
from agentl.durable.requests import APPROVED, DENIED, Decision
from agentl.errors import (
    DurableError,
    HostDeclarationError,
    Parked,
    ReplayDivergence,
    RuntimeAgentError,
    SealError,
)
from agentl.journal.chain import Chain
from agentl.journal.entry import Entry, finish, from_data
from agentl.kernel.action import ActionRequest
from agentl.kernel.approval import Approval, ApprovalRecord, approval_statement
from agentl.keyring import KeyRing, sign_approval, signed
from agentl.replay import Journal, RecordingHost, ReplayHost, ReplayLLM, verify_trace
from agentl.signing import SecretKey, generate_ed25519, load_signing_key
from tests.support.postgres import sql

AT = "2030-01-02T03:04:05+00:00"
PROGRAM = """
AGENT pays {
  TOOL transfer { INPUT { amount: Number } }
  POLICY { DEFAULT ALLOW  REQUIRE APPROVAL FOR transfer BY finance %s }
  PLAN pay WHEN done != yes { SET done = yes  transfer(amount: 10)  transfer(amount: 20) }
}
"""


class Keys:
    """Key pairs of several people, and a host that declares some of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("alice", "bob", "mallory", "judge"):
            generate_ed25519(folder, name)

    def private(self, name: str) -> Any:
        return load_signing_key(str(self.folder / f"{name}.key"))

    def public(self, name: str) -> Path:
        return self.folder / f"{name}.pub"

    def host(self, effects: list[Any] | None = None) -> Host:
        host = Host()
        host.key_ring("finance", {"alice": self.public("alice"), "bob": self.public("bob").read_bytes()})
        host.key_ring("law", {"judge": [self.public("judge")], "alice": str(self.public("alice"))})

        @host.tool("transfer", idempotent=True)
        def transfer(amount: float) -> dict[str, Any]:
            if effects is not None:
                effects.append(amount)
            return {}

        return host


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    return Keys(tmp_path_factory.mktemp("keys"))


def record_of(request: ActionRequest, keys: Keys, who: str = "alice", **changes: Any) -> ApprovalRecord:
    key = keys.private(changes.pop("key", who))
    run_id = changes.pop("run_id", "run")
    record = replace(ApprovalRecord(request.action_id, request.hash, "approved", who, AT), **changes)
    return signed(record, key, run_id)


FORGERIES: dict[str, Any] = {
    "unsigned": lambda request, keys: ApprovalRecord(
        request.action_id, request.hash, "approved", "alice", AT
    ),
    "a word": lambda request, keys: True,
    "a name": lambda request, keys: Approval(True, by="alice"),
    "a wrong key": lambda request, keys: record_of(request, keys, key="mallory"),
    "a wrong key under a right id": lambda request, keys: replace(
        record_of(request, keys, key="mallory"), key_id=keys.private("alice").key_id
    ),
    "the key of another ring": lambda request, keys: record_of(request, keys, "judge"),
    "somebody who is not in the ring": lambda request, keys: record_of(request, keys, "mallory"),
    "another person of the ring": lambda request, keys: record_of(request, keys, "bob", key="alice"),
    "another run": lambda request, keys: record_of(request, keys, run_id="other"),
    "another action": lambda request, keys: replace(
        record_of(request, keys, action_id=request.action_id + "0"), action_id=request.action_id
    ),
    "another digest": lambda request, keys: replace(
        record_of(request, keys, hash="0" * 64), hash=request.hash
    ),
    "a signed no": lambda request, keys: replace(
        record_of(request, keys, answer="denied"), answer="approved"
    ),
    "another time": lambda request, keys: replace(record_of(request, keys), at="2031-01-01T00:00:00+00:00"),
    "another name afterwards": lambda request, keys: replace(record_of(request, keys), by="bob"),
    "cut": lambda request, keys: replace(
        record_of(request, keys), signature=record_of(request, keys).signature[:-2]
    ),
    "longer": lambda request, keys: replace(
        record_of(request, keys), signature=record_of(request, keys).signature + "00"
    ),
    "capitals": lambda request, keys: replace(
        record_of(request, keys), signature=record_of(request, keys).signature.upper()
    ),
    "empty": lambda request, keys: replace(record_of(request, keys), signature=""),
    "nonsense": lambda request, keys: replace(record_of(request, keys), signature="yes"),
    "no text": lambda request, keys: replace(record_of(request, keys), signature=None),
    "bytes": lambda request, keys: replace(record_of(request, keys), by=b"alice"),
}


def agent_of(more: str = "") -> Any:
    return parse_source(PROGRAM % more).agents[0]


@pytest.mark.parametrize("way", FORGERIES)
def test_nothing_but_a_true_signature_approves(keys: Keys, way: str) -> None:
    """APR-7: the ephemeral runtime; whatever the approver returns, the tool does not run."""
    effects: list[Any] = []
    host = keys.host(effects)
    host.approver = lambda request: FORGERIES[way](request, keys)
    runtime = Runtime(agent_of(), host)
    runtime.run(1)
    assert effects == []
    assert runtime.metrics["blocked"] == 2


@pytest.mark.parametrize("form", ["record", "approval"])
def test_a_signed_approval_approves(keys: Keys, form: str) -> None:
    """APR-7: a record, or an Approval that carries the same; each action needs a signature of its own."""
    effects: list[Any] = []
    host = keys.host(effects)

    def approver(request: ActionRequest) -> Any:
        record = sign_approval(request, keys.private("bob"), run_id="r7", by="bob", at=AT)
        if form == "record":
            return record
        return Approval(True, "bob", record.at, record.key_id, record.signature)

    host.approver = approver
    runtime = Runtime(agent_of(), host, run_id="r7")
    runtime.run(1)
    assert effects == [10, 20]
    assert runtime.metrics["approvals"] == 2


def test_the_signature_for_one_action_is_no_signature_for_the_next(keys: Keys) -> None:
    """APR-7: replayed for the next action, with its id and digest put in, it does not verify."""
    effects: list[Any] = []
    host = keys.host(effects)
    first: list[ApprovalRecord] = []

    def approver(request: ActionRequest) -> Any:
        if not first:
            first.append(record_of(request, keys))
        return replace(first[0], action_id=request.action_id, hash=request.hash)

    host.approver = approver
    Runtime(agent_of(), host).run(1)
    assert effects == [10]


def test_a_no_needs_no_signature_and_stays_one(keys: Keys) -> None:
    """APR-7: fail closed."""
    host = keys.host()
    host.approver = lambda _request: Approval(False, by="anybody")
    runtime = Runtime(agent_of(), host)
    runtime.run(1)
    assert "approval.denied" in [event.code for event in runtime.trace.events]


@pytest.mark.parametrize(("signer", "effects"), [("alice", [10, 20]), ("bob", []), ("judge", [])])
def test_with_two_rings_the_signer_is_in_both(keys: Keys, signer: str, effects: list[int]) -> None:
    """APR-7: every matching rule that names a ring counts, in whatever order they stand."""
    for more in (
        "REQUIRE APPROVAL FOR * BY law",
        "REQUIRE APPROVAL FOR transfer REQUIRE APPROVAL FOR * BY law",
    ):
        done: list[Any] = []
        host = keys.host(done)
        host.approver = lambda request: record_of(request, keys, signer)
        Runtime(agent_of(more), host).run(1)
        assert done == effects


def test_a_rule_without_a_ring_in_front_hides_none(keys: Keys) -> None:
    """APR-7: the rule that is named as the reason is not the only one that counts."""
    effects: list[Any] = []
    host = keys.host(effects)
    host.approver = lambda _request: True
    source = (PROGRAM % "").replace("DEFAULT ALLOW", "DEFAULT ALLOW REQUIRE APPROVAL FOR transfer")
    Runtime(parse_source(source).agents[0], host).run(1)
    assert effects == []


class Lying:
    """A ring that answers with something that looks like yes."""

    def __init__(self, said: Any) -> None:
        self.said = said

    def verify(self, *_what: Any) -> Any:
        if isinstance(self.said, Exception):
            raise self.said
        return self.said


@pytest.mark.parametrize("said", [1, "yes", [True], None, RuntimeError("broken")])
def test_a_ring_that_does_not_say_true_refuses(keys: Keys, said: Any) -> None:
    """APR-7, KRN-3: only `True` is a yes; a raise refuses."""
    effects: list[Any] = []
    host = keys.host(effects)
    host.approver = lambda request: record_of(request, keys)
    runtime = Runtime(agent_of(), host)
    runtime.kernel.rings = {"finance": Lying(said)}
    runtime.run(1)
    assert effects == []


@pytest.mark.parametrize(
    ("ring", "code"),
    [
        (None, "apr.no_ring"),
        ({}, "apr.bad_ring"),
        ({"alice": b"no key"}, "apr.bad_ring"),
        ({"alice": "PRIVATE"}, "apr.bad_ring"),
        ({"alice": SecretKey(b"s")}, "apr.bad_ring"),
        ({"alice": 7}, "apr.bad_ring"),
    ],
)
def test_a_ring_that_is_none_is_said_before_the_first_tick(keys: Keys, ring: Any, code: str) -> None:
    """APR-7: not declared, empty, or no public keys."""
    host = Host()
    if ring is not None:
        host.key_rings["finance"] = ring
    if ring == {"alice": "PRIVATE"}:
        host.key_rings["finance"] = {
            "alice": b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
        }
    with pytest.raises(RuntimeAgentError) as refused:
        Runtime(agent_of(), host)
    assert refused.value.code == code


def test_a_key_file_is_read_when_it_is_declared(keys: Keys, tmp_path: Path) -> None:
    """APR-7: a file that is put in its place afterwards changes nothing; one that is missing is said."""
    file = tmp_path / "alice.pub"
    file.write_bytes(keys.public("alice").read_bytes())
    host = Host()
    host.key_ring("finance", {"alice": file})
    file.write_bytes(keys.public("mallory").read_bytes())
    assert KeyRing("finance", host.key_rings["finance"]).signers == {"alice": [keys.private("alice").key_id]}
    with pytest.raises(HostDeclarationError):
        host.key_ring("finance", {"alice": tmp_path / "nothing.pub"})
    with pytest.raises(HostDeclarationError):
        host.key_ring("no name", {})


def test_only_a_private_ed25519_key_signs(keys: Keys) -> None:
    """APR-7: a shared secret would let whoever verifies forge."""
    request = ActionRequest("t", action_id="a", hash="h")
    with pytest.raises(SealError):
        sign_approval(request, SecretKey(b"s"), run_id="r", by="alice", at=AT)


def test_the_statement_is_bound_to_its_domain() -> None:
    """APR-7: written out, so that another implementation can verify it."""
    record = ApprovalRecord("r:a:t1:a1", "0" * 64, "approved", "é", AT)
    assert approval_statement("r", record) == (
        b'agentl.approval.v1\n{"action_id":"r:a:t1:a1","answer":"approved","at":"2030-01-02T03:04:05+00:00",'
        b'"by":"\\u00e9","hash":"' + b"0" * 64 + b'","run_id":"r"}'
    )


# --- through the store -----------------------------------------------------------------------


class Signed:
    """A parked run in memory whose policy names a ring."""

    def __init__(self, keys: Keys, store: Any = None) -> None:
        self.keys = keys
        self.store = store or MemoryStore()
        self.effects: list[Any] = []

    def drive(self, ticks: int | None = None) -> DurableRun:
        self.store.close()
        run = DurableRun(
            agent_of(), self.keys.host(self.effects), MockLLM({}), store=self.store, run_id="r", park=True
        )
        run.run(1 if ticks is None else ticks)
        return run

    def parks(self) -> Any:
        with pytest.raises(Parked):
            self.drive()
        (filed,) = self.store.requests.all(open_only=True)
        return filed

    def decide(self, who: str = "alice", **changes: Any) -> Decision:
        (filed,) = self.store.requests.all(open_only=True)
        asked = filed.request
        request = ActionRequest(asked.target, action_id=asked.subject, hash=asked.digest)
        record = record_of(request, self.keys, who, **{"run_id": "r", **changes})
        decision = Decision(APPROVED, record.by, record.at, key_id=record.key_id, signature=record.signature)
        return self.store.requests.decide(asked.request_id, decision)


def test_a_signed_answer_goes_through_the_store_into_the_journal(keys: Keys) -> None:
    """PRK-8, APR-7: the entry holds key and signature; every resume and replay verifies them again."""
    world = Signed(keys)
    asked = world.parks().request
    assert asked.ring == "finance"
    assert asked.signers == {name: [keys.private(name).key_id] for name in ("alice", "bob")}
    world.decide()
    world.parks()
    world.decide("bob")
    run = world.drive()
    assert world.effects == [10, 20]
    entries = [json.loads(line) for line in world.store.lines]
    values = [dict(one["value"]["$dict"]) for one in entries if one["kind"] == "approve"]
    assert [value["key_id"] for value in values] == [keys.private(name).key_id for name in ("alice", "bob")]
    assert world.drive().already_completed
    journal = run.export()
    host = ReplayHost(journal, key_rings=keys.host().key_rings)
    replayed = Runtime(agent_of(), host, ReplayLLM(journal), run_id="r")
    replayed.run(1)
    assert verify_trace(journal, replayed.trace.render())
    with pytest.raises(RuntimeAgentError):
        Runtime(agent_of(), ReplayHost(journal), ReplayLLM(journal), run_id="r")


def test_an_unsigned_yes_is_not_even_written(keys: Keys) -> None:
    """PRK-8: the request stays open for a signed one; a no needs no signature."""
    world = Signed(keys)
    filed = world.parks()
    book = world.store.requests
    with pytest.raises(DurableError) as refused:
        book.decide(filed.request.request_id, Decision(APPROVED, "alice", AT))
    assert refused.value.code == "park.must_sign"
    assert book.get(filed.request.request_id).open
    assert book.decide(filed.request.request_id, Decision(DENIED, "anybody", AT)).answer == DENIED


@pytest.mark.parametrize(
    "changes", [{"key": "mallory"}, {"run_id": "other"}, {"hash": "0" * 64}, {"action_id": "r:pays:t1:a2"}]
)
def test_a_forged_row_does_not_act(keys: Keys, changes: dict[str, str]) -> None:
    """APR-7, PRK-8: whoever writes the row without a key refuses the action, at most."""
    world = Signed(keys)
    world.parks()
    world.decide("alice", **changes)
    with pytest.raises(Parked):
        world.drive()
    assert world.effects == []


def remade(lines: list[str], change: Any) -> list[str]:
    """The journal with one entry changed and the whole chain made anew."""
    chain = Chain()
    made = []
    for line in lines:
        data = json.loads(line)
        change(data)
        entry: Entry = from_data(data)
        canonical, opening = entry.composed()
        made.append(finish(opening, chain.add(canonical)).decode())
    return made


@pytest.mark.parametrize("what", ["answer", "signature", "name", "time", "copied"])
def test_a_forged_entry_with_its_chain_made_anew_does_not_act(keys: Keys, what: str) -> None:
    """APR-7: a recorded no cannot be made a yes, nor a yes for one action a yes for another."""
    world = Signed(keys)
    first = world.parks()
    world.decide()
    second = world.parks()
    if what == "answer":
        world.store.requests.decide(second.request.request_id, Decision(DENIED, "bob", AT))
    else:
        world.decide("bob")
    cut = next(
        number
        for number, line in enumerate(world.store.lines)
        if json.loads(line)["kind"] == "park"
        and json.loads(line)["args"]["request_id"] == second.request.request_id
    )
    store = MemoryStore()
    assert world.drive().status == "completed"
    lines = world.store.lines
    place = max(number for number, line in enumerate(lines) if json.loads(line)["kind"] == "approve")
    assert place > cut
    taken = dict(json.loads(next(one for one in lines if '"kind":"approve"' in one))["value"]["$dict"])

    def forge(data: dict[str, Any]) -> None:
        if data["seq"] != place:
            return
        value = dict(data["value"]["$dict"])
        if what == "answer":
            value["answer"] = "approved"
        elif what == "signature":
            value["signature"] = value["signature"][:-2] + ("00" if value["signature"][-2:] != "00" else "11")
        elif what == "name":
            value["by"] = "alice"
        elif what == "time":
            value["at"] = "2031-01-01T00:00:00+00:00"
        else:
            value = {**taken}
        data["value"]["$dict"] = [[name, item] for name, item in value.items()]

    effects = len(world.effects)
    store.lines = remade(lines[: place + 1], forge)
    forged = Signed(keys, store)
    forged.drive()
    assert forged.effects == [], "nothing of the forged run acts"
    assert len(world.effects) == effects
    assert first.request.request_id != second.request.request_id

    # With the intent and the result forged behind it, the resume stops: the kernel grants no such permit.
    if what != "answer":
        whole = MemoryStore()
        whole.lines = remade(lines, forge)
        with pytest.raises(ReplayDivergence):
            Signed(keys, whole).drive()


@pytest.mark.parametrize("kind", ["file", "sqlite", "postgres"])
def test_a_row_written_by_hand_does_not_act(
    keys: Keys, kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """APR-7: a yes put into the store past the package, in each kind of store."""
    if kind == "file":
        make: Any = lambda: FileStore(tmp_path / "r")  # noqa: E731
    elif kind == "sqlite":
        make = lambda: SQLiteStore(tmp_path / "r.db", "r")  # noqa: E731
    else:
        dsn = request.getfixturevalue("database")
        make = lambda: PostgresStore(dsn, "r")  # noqa: E731
    world = Signed(keys, make())
    filed = world.parks()
    forged = {"answer": "approved", "by": "alice", "at": AT, "key_id": keys.private("alice").key_id}
    text = json.dumps({**forged, "signature": "ab" * 64})
    if kind == "file":
        final = next((tmp_path / "r" / "requests").glob("*.request.json")).name
        (tmp_path / "r" / "requests" / final.replace("request", "decision")).write_text(text)
    elif kind == "sqlite":
        connection = sqlite3.connect(tmp_path / "r.db")
        connection.execute("UPDATE requests SET decision = ?", (text,))
        connection.commit()
        connection.close()
    else:
        sql(dsn)(f"UPDATE agentl.requests SET decision = '{text}'")
    assert make().requests.get(filed.request.request_id).state == APPROVED
    world.store = make()
    with pytest.raises(Parked):
        world.drive()
    assert world.effects == []


def test_an_approver_with_a_key_in_a_durable_and_a_recorded_run(keys: Keys) -> None:
    """APR-7: without parking too; journal and recording keep the signature, and both verify it."""
    effects: list[Any] = []

    def approver(request: ActionRequest) -> ApprovalRecord:
        return sign_approval(request, keys.private("alice"), run_id="r", by="alice", at=AT)

    host = keys.host(effects)
    host.approver = approver
    store = MemoryStore()
    DurableRun(agent_of(), host, store=store, run_id="r").run(1)
    assert effects == [10, 20]
    again = DurableRun(agent_of(), keys.host(effects), store=store, run_id="r")
    again.run(1)
    assert (effects, again.already_completed) == ([10, 20], True)
    other = Host()
    other.key_ring("finance", {"alice": keys.public("mallory")})
    with pytest.raises(ReplayDivergence):
        DurableRun(agent_of(), other, store=store, run_id="r").run(1)

    journal = Journal()
    recorded = Runtime(agent_of(), RecordingHost(host, journal), run_id="r")
    recorded.run(1)
    for rings, same in ((keys.host().key_rings, True), (other.key_rings, False)):
        journal.rewind()
        replayed = Runtime(agent_of(), ReplayHost(journal, key_rings=rings), run_id="r")
        try:
            replayed.run(1)
        except ReplayDivergence:
            assert not same
        assert (replayed.trace.render() == recorded.trace.render()) == same
