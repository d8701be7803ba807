"""R77: half of a surrogate pair is a character like any other, or is refused before the effect."""

from __future__ import annotations

from typing import Any

import pytest

from agentl import Host, Runtime
from agentl.kernel import Approval, action_digest, canonical_bytes, value_digest
from agentl.seal import chain_hashes, verify_chain
from tests.field_reports import relay
from tests.field_reports.kit import Kill, Ledger, Place, agent_of, blocked, drive, in_child

ODD: dict[str, str] = {
    "high alone": "\ud83d",
    "low alone": "\ude00",
    "pair in two escapes": "\ud83d\ude00",
    "the character": "\U0001f600",
    "reversed": "\ude00\ud83d",
    "from bytes": b"caf\xe9".decode("utf-8", "surrogateescape"),
    "text of an escape": "\\ud83d",
    "with nul": "a\0\ud83d\u2028\r\n\x7f",
    "byte order mark": "\ufeffx",
}


@pytest.mark.parametrize("name", ODD)
def test_a_digest_never_raises_and_never_confuses(name: str) -> None:
    """KRN-2, SEA-1: different texts have different digests, wherever they stand."""
    for build in (
        lambda text: text,
        lambda text: [text],
        lambda text: {text: 1},
        lambda text: {"a": (text,)},
    ):
        digests = {action_digest("invoke", "act", {"value": build(text)}) for text in ODD.values()}
        assert len(digests) == len(ODD)
        assert len({value_digest(build(text)) for text in ODD.values()}) == len(ODD)
    assert isinstance(canonical_bytes(ODD[name]), bytes)
    entry = {"seq": 0, "kind": "read", "key": ODD[name], "value": ODD[name]}
    entry["h"] = chain_hashes([entry])[0]
    assert verify_chain({"entries": [entry], "meta": {"chain_sha256": entry["h"]}}).ok


@pytest.mark.real_kill
@pytest.mark.parametrize("name", ODD)
def test_a_result_goes_round_exactly(place: Place, name: str) -> None:
    """ENC-1, SEA-1: the finished result is what the next tool gets, also as a key and nested."""
    for value in (ODD[name], {"k": [ODD[name]]}):
        here = Place(place.kind, place.base / type(value).__name__)
        here.base.mkdir()
        seen, _ = relay.both_ways(here, lambda value=value: value)
        assert [tool for tool, _, _ in seen] == ["sink"]
        assert repr(ODD[name]) in str(seen[0][1]["data"]).replace("\\\\", "\\") or name != "high alone"


@pytest.mark.real_kill
@pytest.mark.parametrize("name", ODD)
def test_an_error_text_keeps_its_class_and_its_text(place: Place, name: str) -> None:
    """DUR-7, ENC-4: the message of a raising tool is data too."""

    def make() -> Any:
        raise ValueError(f"broken {ODD[name]}")

    seen, _ = relay.both_ways(place, make)
    assert [tool for tool, _, _ in seen] == ["alarm"]


@pytest.mark.real_kill
@pytest.mark.parametrize("name", ODD)
def test_arguments_and_an_approvers_name_survive(place: Place, ledger: Ledger, name: str) -> None:
    """APR-6, DUR-3: asked once, run once, with the very text."""
    program = """
    AGENT ODD {
      OBSERVE { desk.text }
      TOOL act { INPUT { text: String } }
      POLICY { DEFAULT ALLOW  REQUIRE APPROVAL FOR act }
      PLAN go WHEN tools.act.calls == 0 { act(text: desk.text) }
    }
    """

    def world() -> Host:
        host = Host()
        host.sensor("desk.text")(lambda: ODD[name])

        @host.tool("act", idempotent=True)
        def act(text: str) -> dict[str, str]:
            ledger.add("act", text=text)
            return {}

        host.approver = lambda _request: Approval(True, by=ODD[name])
        return host

    assert in_child(lambda: drive(place, program, world(), kill=Kill("after", "approve"))).killed
    assert in_child(lambda: drive(place, program, world()).status).ok() == "completed"
    assert [row["args"]["text"] for row in ledger.rows()] == [["str", repr(ODD[name])]]
    assert len(place.of_kind("approve")) == 1


@pytest.mark.parametrize("name", ["high alone", "from bytes", "with nul"])
def test_as_a_tool_name_it_is_refused(ledger: Ledger, name: str) -> None:
    """KRN-19, TOL-2."""
    with pytest.raises(ValueError, match=r".") as refused:
        Host().tool(f"act{ODD[name]}")
    assert str(refused.value)
    runtime = Runtime(agent_of("AGENT A { TOOL { act } POLICY { DEFAULT ALLOW } }"), Host())
    runtime.call_tool(f"act{ODD[name]}", {})
    assert blocked(runtime) == ["tool.undeclared"]
    assert ledger.rows() == []
