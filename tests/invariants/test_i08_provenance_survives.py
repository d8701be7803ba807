"""I8: the provenance of a value survives every transformation (INV-8, PRV-4 to PRV-6)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentl import parse_source
from agentl.evaluator import Evaluator
from agentl.host import Host
from agentl.kernel.gate import Kernel
from agentl.kernel.provenance import Labeled, join, of
from agentl.labels import SOURCES
from agentl.language.nodes import BinOp, CallExpr, Expr, ListExpr, Literal, UnOp
from agentl.state import State
from tests.support.kernels import agent, path, rule, transfer
from tests.support.programs import ran

TAINTED = path("note.value")
CLEAN = path("door.value")

TRANSFORMS: dict[str, Any] = {
    "sum": lambda x: BinOp("+", x, Literal(1)),
    "difference": lambda x: BinOp("-", Literal(1), x),
    "negation": lambda x: UnOp("-", x),
    "not": lambda x: UnOp("NOT", x),
    "comparison": lambda x: BinOp("==", x, CLEAN),
    "and": lambda x: BinOp("AND", CLEAN, x),
    "or": lambda x: BinOp("OR", CLEAN, x),
    "list": lambda x: ListExpr((CLEAN, x)),
    "membership": lambda x: BinOp("IN", CLEAN, ListExpr((x,))),
    "function": lambda x: CallExpr("max", (CLEAN, x)),
    "epistemic": lambda x: CallExpr("len", (x,)),
}


def state() -> State:
    made = State()
    made.set_world("note.value", 3, of("LLM", "TOOL"))
    made.set_world("door.value", 4, of("OBSERVED"))
    return made


@given(st.lists(st.sampled_from(sorted(TRANSFORMS)), max_size=5))
def test_no_chain_of_operators_removes_a_source(chain: list[str]) -> None:
    """PRV-4: nothing ever removes a source; short circuits do not hide one."""
    expression: Expr = TAINTED
    for name in chain:
        expression = TRANSFORMS[name](expression)
    assert {"LLM", "TOOL"} <= set(Evaluator(state()).label(expression).sources)


@given(st.lists(st.sampled_from(SOURCES)), st.lists(st.sampled_from(SOURCES)))
def test_a_union_only_grows(one: list[str], other: list[str]) -> None:
    """PRV-2, PRV-4."""
    joined = of(*one) | of(*other)
    assert joined.sources == set(one) | set(other)
    assert join(of(*one), of(*other)) is joined


PROGRAM = """
AGENT a {
  TOOL fetch { OUTPUT { text: Any } RISK LOW }
  TOOL act { INPUT { x: Any } OUTPUT { ok: Bool } RISK LOW }
  POLICY { DEFAULT ALLOW NEVER act WHEN UNTRUSTED(x) == true }
  BELIEF { go.now = yes }
  PLAN p WHEN go.now == yes { %s }
}
"""

FLOWS = {
    "directly": "fetch() act(x: fetch.text)",
    "through a local": "fetch() SET copy.value = fetch.text act(x: copy.value)",
    "through arithmetic": "fetch() SET copy.value = fetch.text + 1 act(x: copy.value)",
    "through a loop": "fetch() FOREACH item IN [fetch.text] { act(x: item) }",
    "through a decision": "fetch() IF fetch.text == 7 THEN { act(x: 1) } ELSE { act(x: 2) }",
    "through a decision and a local": (
        "fetch() IF fetch.text == 7 THEN { SET copy.v = 1 } ELSE { SET copy.v = 2 } act(x: copy.v)"
    ),
}


@pytest.mark.parametrize("flow", FLOWS)
def test_a_tool_output_stays_untrusted_on_every_way_through_a_program(flow: str) -> None:
    """INV-8, PRV-5, PRV-6: explicit and implicit flows."""
    host = Host()
    acted: list[Any] = []
    host.tool("fetch")(lambda: {"text": 7})
    host.tool("act")(lambda x: acted.append(x) or {"ok": True})
    runtime = ran(parse_source(PROGRAM % FLOWS[flow]).agents[0], host, ticks=1)
    assert acted == []
    assert runtime.metrics["tool_calls"] == 1
    assert runtime.metrics["blocked"] >= 1


def test_a_literal_is_trusted() -> None:
    """PRV-4: the twin, so that the refusals above are not empty."""
    host = Host()
    acted: list[Any] = []
    host.tool("fetch")(lambda: {"text": 7})
    host.tool("act")(lambda x: acted.append(x) or {"ok": True})
    ran(parse_source(PROGRAM % "fetch() act(x: 5)").agents[0], host, ticks=1)
    assert acted == [5]


def test_a_label_given_by_the_host_is_joined_not_believed() -> None:
    """PRV-3."""
    host = Host()
    acted: list[Any] = []
    host.tool("fetch")(lambda: {"text": Labeled(7, of("DECLARED"))})
    host.tool("act")(lambda x: acted.append(x) or {"ok": True})
    ran(parse_source(PROGRAM % FLOWS["directly"]).agents[0], host, ticks=1)
    assert acted == []


def test_a_guard_sees_the_labels_of_the_arguments_and_of_the_decision() -> None:
    """POL-5, PRV-7: ``action`` is the whole action."""
    guard = CallExpr("UNTRUSTED", (path("action"),))
    gate = Kernel(agent(rule("NEVER", "transfer", guard)))
    request = transfer()
    request.provenance = {"amount": of("DECLARED"), "to": of("DECLARED"), "$control": of("DECLARED")}
    assert gate.authorize(request, State()).granted
    request.provenance = {**request.provenance, "$control": of("LLM")}
    assert gate.authorize(request, State()).stage == "policy"
    request.provenance = {"amount": of("DECLARED"), "$control": of("DECLARED")}
    assert gate.authorize(request, State()).stage == "policy"
