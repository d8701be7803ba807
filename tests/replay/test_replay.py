"""Record and replay (`RPL-1` to `RPL-7`, `INV-7`, R15, R60)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentl.errors import ReplayDivergence, ReplayError
from agentl.kernel.testing import dispatch
from agentl.replay import (
    Journal,
    RecordingHost,
    RecordingLLM,
    ReplayHost,
    ReplayLLM,
    sha256,
    verify_trace,
)
from agentl.runtime.runtime import Runtime
from agentl.values import Symbol
from tests.durable.world import PROGRAM, Ledger, host_for, model


def recorded(tmp_path: Path, promise: str = "plain") -> tuple[Journal, str]:
    journal = Journal(meta={"agent": "everything", "lang": "fr"})
    runtime = Runtime(
        PROGRAM.agents[0],
        RecordingHost(host_for(Ledger(tmp_path / "ledger"), promise), journal),
        RecordingLLM(model(), journal),
        program=PROGRAM,
    )
    runtime.run(2)
    journal.seal(runtime.trace.render())
    return journal, runtime.trace.render()


def replayed(journal: Journal) -> Any:
    runtime = Runtime(PROGRAM.agents[0], ReplayHost(journal), ReplayLLM(journal), program=PROGRAM)
    runtime.run(2)
    return runtime


def test_a_replay_gives_the_same_trace_and_leaves_nothing(tmp_path: Path) -> None:
    """RPL-4, RPL-5, RPL-7: through the file, character for character."""
    journal, trace = recorded(tmp_path)
    effects = Ledger(tmp_path / "ledger").rows()
    journal.save(tmp_path / "j.json")
    again = Journal.load(tmp_path / "j.json")
    assert replayed(again).trace.render() == trace
    assert verify_trace(again, trace)
    assert not verify_trace(again, trace + " ")
    assert again.exhausted
    again.rewind()
    assert again.remaining == len(again.entries)
    assert Ledger(tmp_path / "ledger").rows() == effects
    assert again.dumps() == journal.dumps()


def test_the_attempts_of_an_action_make_one_entry(tmp_path: Path) -> None:
    """RPL-4, DUR-7: its outcome, whatever it took."""
    journal = Journal()
    host = host_for(Ledger(tmp_path / "ledger"), "plain")
    calls = []

    @host.tool("notify", idempotent=True)
    def notify(text: str) -> dict[str, Any]:
        calls.append(text)
        if len(calls) == 1:
            raise TimeoutError("slow")
        return {"sent": Symbol("yes")}

    Runtime(
        PROGRAM.agents[0], RecordingHost(host, journal), RecordingLLM(model(), journal), program=PROGRAM
    ).run(1)
    entries = [entry for entry in journal.entries if entry.key == "notify"]
    assert (len(calls), len(entries)) == (2, 1)
    assert entries[0].error is None


def test_a_host_without_a_kernel_record_is_recorded_too(tmp_path: Path) -> None:
    """RPL-4, INV-1: a governed call alone; replayed it needs a permit as well."""
    journal = Journal()
    host = host_for(Ledger(tmp_path / "ledger"), "plain")
    given = dispatch(RecordingHost(host, journal), "notify", {"text": "x"})
    assert [entry.kind for entry in journal.entries] == ["invoke"]
    assert dispatch(ReplayHost(journal), "notify", {"text": "x"}) == given
    with pytest.raises(Exception, match="sans permis"):
        ReplayHost(journal).invoke("notify", {"text": "x"})


@pytest.mark.parametrize("damage", ["removed", "swapped", "argument", "other"])
def test_a_recording_that_does_not_fit_stops_and_calls_nothing(tmp_path: Path, damage: str) -> None:
    """RPL-6, R15, INV-7: strict loading refuses it; a lenient one diverges with the number."""
    journal, _ = recorded(tmp_path)
    effects = Ledger(tmp_path / "ledger").rows()
    data = journal.to_json()
    entries = data["entries"]
    at = next(number for number, entry in enumerate(entries) if entry["kind"] == "invoke")
    if damage == "removed":
        del entries[at]
    elif damage == "swapped":
        entries[at], entries[at + 1] = entries[at + 1], entries[at]
    elif damage == "argument":
        entries[at]["args"]["$dict"][0][1] = 10
    else:
        entries[at]["key"] = "notify"
    text = json.dumps(data)
    with pytest.raises(ReplayError) as refused:
        Journal.loads(text)
    assert refused.value.code == "replay.altered"
    lenient = Journal.loads(text, strict=False)
    assert not lenient.chain_report.ok
    with pytest.raises(ReplayDivergence) as stopped:
        replayed(lenient)
    assert stopped.value.code in ("replay.diverged", "replay.arguments")
    assert stopped.value.values["entry"] == at
    assert Ledger(tmp_path / "ledger").rows() == effects


def test_an_exhausted_recording_stops(tmp_path: Path) -> None:
    """RPL-6."""
    journal, _ = recorded(tmp_path)
    with pytest.raises(ReplayDivergence) as stopped:
        replayed(Journal(journal.entries[:5]))
    assert stopped.value.code == "replay.exhausted"
    assert stopped.value.values["recorded"] == 5


def test_formats_and_kinds() -> None:
    """RPL-1, RPL-2: unknown ones are refused with words; format 1 is never intact."""
    with pytest.raises(ReplayError) as refused:
        Journal().record("nothing", "x")
    assert refused.value.code == "replay.kind"
    for text, code in (
        ("{", "replay.malformed"),
        ("[]", "replay.malformed"),
        ('{"meta": {"format": 9}, "entries": []}', "replay.format"),
        ('{"meta": {}, "entries": []}', "replay.format"),
        ('{"meta": {"format": 1}, "entries": []}', "replay.altered"),
        ('{"meta": {"format": 3}, "entries": []}', "replay.altered"),
        ("[" * 100_000, "replay.malformed"),
    ):
        with pytest.raises(ReplayError) as refused:
            Journal.loads(text)
        assert refused.value.code == code
    assert Journal.loads('{"meta": {"format": 1}, "entries": []}', strict=False).chain_report.reason == (
        "replay.format_unsealed"
    )


def test_old_approvals_are_keyed_by_the_request() -> None:
    """RPL-2: formats 1 and 2 hold the raw answer under the rendered request."""
    from agentl.kernel.action import ActionRequest

    old = Journal(meta={"format": 2})
    old.record("approve", "pay(n=1)", value=Symbol("yes"))
    record = ReplayHost(old).approve(ActionRequest(tool="pay", args={"n": 1}, action_id="a", hash="h"))
    assert (record.answer, record.action_id, record.hash) == ("approved", "a", "h")


def test_opaque_values_make_a_recording_lossy() -> None:
    """ENC-2, RPL-3: the place and the type are kept, in the journal and in its meta."""
    journal = Journal()
    journal.record("read", "p", value={"a": [object()]})
    journal.seal("trace")
    assert len(journal.lossy) == 1
    assert journal.lossy[0].endswith(" : object")
    assert journal.meta["lossy"] == journal.lossy


def test_a_replay_takes_no_events() -> None:
    """RPL-5: and has neither sensors nor tools."""
    host = ReplayHost(Journal())
    with pytest.raises(ReplayError):
        host.emit("x")
    assert not hasattr(host, "sensors")
    assert not hasattr(host, "tools")


def test_an_unsealed_recording_has_no_trace_to_compare() -> None:
    """RPL-7."""
    with pytest.raises(ReplayError) as refused:
        verify_trace(Journal(), "")
    assert refused.value.code == "replay.unsealed"
    assert len(sha256("\ud83d")) == 64


def test_markers_in_data_stay_data() -> None:
    """R60: a value that looks like a tag of the format comes back as it was."""
    evil = {"$sym": "x", "$opaque": "y", "$type": "os.system", "py/object": "os.system"}
    journal = Journal()
    journal.record("read", "p", value=evil)
    journal.seal("")
    assert Journal.loads(journal.dumps()).replay_value("read", "p") == evil


@pytest.mark.parametrize("digest", ["abc", "", "é" * 10])
def test_a_last_digest_of_another_form_is_damage_and_nothing_worse(tmp_path: Path, digest: str) -> None:
    """SEA-2, SEA-3: a lenient load reports it, and can still be looked at."""
    journal, _ = recorded(tmp_path)
    data = journal.to_json()
    data["entries"][-1]["h"] = digest
    lenient = Journal.loads(json.dumps(data), strict=False)
    assert lenient.chain_report.reason == "seal.bad_digest"
    assert len(lenient.entries) == len(data["entries"])
    assert lenient.head == Journal().head
