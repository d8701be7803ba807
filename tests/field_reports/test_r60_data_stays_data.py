"""R60: a value that looks like the journal's own notation comes back as the plain data it was."""

from __future__ import annotations

import contextlib
import json
import pickle
import sys
from pathlib import Path
from typing import Any

import pytest

from agentl.durable import DurableError, DurableJournal
from agentl.replay import decode, encode
from agentl.values import value_digest
from tests.field_reports import relay
from tests.field_reports.kit import Ledger, Place, drive, shape
from tests.support.command import here


class Trap:
    """Says so when anybody rebuilds it."""

    def __reduce__(self) -> Any:
        return (sys.exit, ("a constructor was called",))


MARKERS: dict[str, Any] = {
    "symbol": {"$sym": "admin"},
    "dictionary": {"$dict": [["a", 1]]},
    "tuple": {"$tuple": [1]},
    "list": {"$list": [1]},
    "set": {"$set": [1]},
    "float": {"$float": "nan"},
    "bytes": {"$bytes": "AAAA"},
    "time": {"$time": ["datetime", "2026-01-01T00:00:00"]},
    "decimal": {"$dec": "1.0"},
    "label": {"$lab": [1, ["DECLARED"]]},
    "opaque": {"$opaque": "x", "$type": "os.system"},
    "unknown tag": {"$new": 1},
    "nested": {"a": [{"$sym": "x"}, {"b": {"$lab": [{"$tuple": []}, ["RUNTIME"]]}}]},
    "jsonpickle": {"py/object": "os.system", "py/reduce": [{"py/function": "os.system"}, ["id"]]},
    "constructor": {"lc": 1, "type": "constructor", "id": ["os", "system"], "kwargs": {"command": "id"}},
    "yaml": "!!python/object/apply:os.system ['id']",
    "pickle": pickle.dumps(Trap()),
    "class name": {"__class__": "subprocess.Popen", "args": ["id"]},
    "prototype": {"__proto__": {"admin": True}, "constructor": 1},
    "text of a tag": '{"$sym": "admin"}',
}


@pytest.mark.parametrize("marker", MARKERS)
def test_a_marker_in_a_result_changes_no_type(every_place: Place, marker: str) -> None:
    """ENC-1, ENC-5: live and after a kill the next tool receives the same plain value."""
    value = MARKERS[marker]
    seen, _ = relay.both_ways(every_place, lambda: value)
    assert [tool for tool, _, _ in seen] == ["sink"]
    assert seen[0][1]["data"] == json.loads(json.dumps(shape(value)))


@pytest.mark.parametrize("marker", ["jsonpickle", "constructor", "class name", "symbol", "opaque"])
def test_what_stands_beside_a_journal_is_only_read(tmp_path: Path, marker: str) -> None:
    """OPS-3, OPS-6, OPS-9: notes, marks, refusals and portable files of another's making build nothing."""
    value = MARKERS[marker]
    run = tmp_path / "runs" / "r"
    run.mkdir(parents=True)
    (run / "wal.jsonl").write_text(json.dumps({"seq": 0, "kind": "open", "key": value, "args": value}) + "\n")
    for name in ("meta.json", "refusal.json", "lease.json"):
        (run / name).write_text(json.dumps({"run_id": value, "open": value, "written": value, "code": value}))
    before = set(sys.modules)
    for words in (["durable", "list", tmp_path / "runs", "--json"], ["durable", "verify", tmp_path / "runs"]):
        assert here(*words).code in (0, 1)
    (run / "mark.json").write_text(json.dumps({"mark": value, "run_id": value, "at": value, "other": value}))
    assert here("durable", "list", tmp_path / "runs", "--json").code == 0
    file = tmp_path / "r.portable"
    file.write_text(
        json.dumps({"format": "agentl.durable.portable.v1", "run_id": value, "entries": 0}) + "\n"
    )
    assert here("durable", "import", file, tmp_path / "copies", "--copy").code == 2
    loaded = [name for name in sys.modules if name not in before]
    assert not [name for name in loaded if name.partition(".")[0] in ("os", "subprocess", "pickle", "yaml")]


@pytest.mark.parametrize("marker", MARKERS)
def test_the_encoding_is_exact(marker: str) -> None:
    """ENC-1: nothing is built on the way back, and two different values have different digests."""
    value = MARKERS[marker]
    before = set(sys.modules)
    back = decode(json.loads(json.dumps(encode(value))))
    assert shape(back) == shape(value)
    assert value_digest(back) == value_digest(value)
    assert set(sys.modules) == before


@pytest.mark.parametrize(
    "written",
    [
        {"$opaque": "x", "$type": "subprocess.Popen"},
        {"$type": "os.system", "args": ["id"]},
        {"$time": ["subprocess.Popen", "id"]},
        {"$float": "__import__('os')"},
        {"$sym": ["not", "text"]},
        {"$unheard": 1},
        {"py/object": "os.system"},
    ],
)
def test_what_somebody_writes_into_the_store_builds_nothing(every_place: Place, written: Any) -> None:
    """DUR-8, ENC-2: a rewritten entry breaks the chain; and even decoded it is inert."""
    place = every_place
    ledger = Ledger(place.base / "ledger")
    drive(place, relay.PROGRAM, relay.world(ledger, lambda: "plain"))
    entry = place.of_kind("invoke")[0]
    entry["value"] = {"data": written}
    line = json.dumps(entry).encode()
    if place.kind == "file":
        log = place.path / "run" / "wal.jsonl"
        lines = log.read_bytes().splitlines()
        lines[entry["seq"]] = line
        log.write_bytes(b"\n".join(lines) + b"\n")
    else:
        body = f"x'{line.hex()}'" if place.kind == "sqlite" else f"'\\x{line.hex()}'"
        place.change(f"UPDATE entries SET body = {body} WHERE seq = {entry['seq']} RETURNING 1")
    store = place.store()
    with pytest.raises(DurableError) as refused:
        DurableJournal.open(store, write=False)
    store.close()
    assert refused.value.code == "durable.altered"
    before = set(sys.modules)
    with contextlib.suppress(Exception):  # a form that is none is refused, and nothing was built
        back = decode(written)
        assert type(back).__module__.split(".")[0] in {"agentl", "builtins", "datetime", "decimal"}
    assert set(sys.modules) == before
