"""R15: a replay that lacks a recording stops; it never calls a tool or a model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentl import Host, MockLLM, Runtime
from agentl.replay import (
    Journal,
    RecordingHost,
    RecordingLLM,
    ReplayDivergence,
    ReplayError,
    ReplayHost,
    ReplayLLM,
)
from tests.field_reports.kit import Ledger, agent_of, command

PROGRAM = """
AGENT REPLAYED {
  OBSERVE { desk.jobs }
  TOOL price { INPUT { n: Number } OUTPUT { cost: Number } }
  TOOL pay { INPUT { cost: Number } }
  POLICY { DEFAULT ALLOW }
  PLAN go WHEN desk.jobs > 0 {
    REASON { TASK "how many" PRODUCE { n: Number DEFAULT 1 } }
    price(n: reason.n)
    pay(cost: price.cost)
  }
}
"""
MODULE = """
from agentl import Host, MockLLM
from pathlib import Path

def build():
    host = Host()
    host.sensor("desk.jobs")(lambda: 1)
    wire = Path(__file__).with_name("wire.txt")
    def touch(what):
        with wire.open("a") as file:
            file.write(what + "\\n")
    @host.tool("price")
    def price(n):
        touch("price")
        return {"cost": n * 10}
    @host.tool("pay")
    def pay(cost):
        touch("pay")
        return {}
    return host, MockLLM({"how many": {"n": 3}})
"""


def live(ledger: Ledger) -> tuple[Host, MockLLM]:
    host = Host()
    host.sensor("desk.jobs")(lambda: 1)

    @host.tool("price")
    def price(n: float) -> dict[str, float]:
        ledger.add("price", n=n)
        return {"cost": n * 10}

    @host.tool("pay")
    def pay(cost: float) -> dict[str, str]:
        ledger.add("pay", cost=cost)
        return {}

    return host, MockLLM({"how many": {"n": 3}})


def recorded(ledger: Ledger) -> dict[str, Any]:
    host, model = live(ledger)
    journal = Journal([], {})
    runtime = Runtime(agent_of(PROGRAM), RecordingHost(host, journal), RecordingLLM(model, journal))
    runtime.run(max_ticks=1)
    journal.seal(runtime.trace.render())
    assert ledger.tools() == ["price", "pay"]
    return json.loads(journal.dumps())


def positions(document: dict[str, Any], *kinds: str) -> list[int]:
    return [place for place, entry in enumerate(document["entries"]) if entry["kind"] in kinds]


def remove(kind: str) -> Callable[[dict[str, Any]], None]:
    return lambda document: document["entries"].pop(positions(document, kind)[0])


def change_argument(document: dict[str, Any]) -> None:
    document["entries"][positions(document, "invoke")[0]]["args"]["n"] = 4


def swap(document: dict[str, Any]) -> None:
    one, two = positions(document, "invoke")[:2]
    entries = document["entries"]
    entries[one], entries[two] = entries[two], entries[one]


def cut(document: dict[str, Any]) -> None:
    del document["entries"][positions(document, "reason")[0] :]


DAMAGE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "no reading": remove("read"),
    "no model answer": remove("reason"),
    "no call": remove("invoke"),
    "changed argument": change_argument,
    "two calls swapped": swap,
    "tail cut": cut,
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_recording_stops_the_replay(ledger: Ledger, damage: str) -> None:
    """RPL-2, RPL-6, INV-7: refused when loaded; loaded leniently, stopped at the differing call."""
    document = recorded(ledger)
    DAMAGE[damage](document)
    text = json.dumps(document)
    with pytest.raises(ReplayError):
        Journal.loads(text)
    journal = Journal.loads(text, strict=False)
    assert not journal.chain_report.ok
    with pytest.raises(ReplayDivergence) as stopped:
        Runtime(agent_of(PROGRAM), ReplayHost(journal), ReplayLLM(journal)).run(max_ticks=1)
    assert stopped.value.code.startswith("replay.")
    assert ledger.tools() == ["price", "pay"], "nothing live in a replay"


def test_the_command_fails_and_touches_nothing(tmp_path: Path) -> None:
    """CLI-13: each case ends with a status that is not zero and calls nothing of the host module."""
    (tmp_path / "job.agent").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "job.py").write_text(MODULE, encoding="utf-8")
    made = command("run", "job.agent", "--ticks", "1", "--record", "journal.json", "--quiet", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    wire = tmp_path / "wire.txt"
    assert wire.read_text(encoding="ascii").split() == ["price", "pay"]
    good = command("replay", "journal.json", cwd=tmp_path)
    assert good.returncode == 0, good.stderr + good.stdout
    document = json.loads((tmp_path / "journal.json").read_text(encoding="utf-8"))
    for number, damage in enumerate(("no model answer", "changed argument")):
        damaged = json.loads(json.dumps(document))
        DAMAGE[damage](damaged)
        (tmp_path / f"bad{number}.json").write_text(json.dumps(damaged), encoding="utf-8")
        ended = command("replay", f"bad{number}.json", cwd=tmp_path)
        assert ended.returncode in {1, 2}
        assert ended.stderr.strip()
        assert "Traceback" not in ended.stderr
    missing = command("replay", "absent.json", cwd=tmp_path)
    assert missing.returncode == 2
    assert "Traceback" not in missing.stderr
    assert wire.read_text(encoding="ascii").split() == ["price", "pay"], "the tripwire never fired"
