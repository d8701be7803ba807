"""I5: the model can only name a declared plan (INV-5, TCK-10)."""

from __future__ import annotations

from typing import Any

import pytest

from agentl import MockLLM, parse_source
from agentl.host import Host
from agentl.values import Symbol
from tests.support.programs import ran

PROGRAM = """
AGENT a {
  TOOL safe { OUTPUT { ok: Bool } RISK LOW }
  TOOL wipe { OUTPUT { ok: Bool } RISK CRITICAL }
  POLICY { DEFAULT ALLOW }
  PLAN tidy { safe() }
  DECIDE { REASON { TASK "what now" PRODUCE { note: String } } }
}
"""


class Oracle(MockLLM):
    def __init__(self, choice: Any) -> None:
        super().__init__()
        self.choice = choice

    def select_plan(self, context: Any, names: Any) -> Any:
        if isinstance(self.choice, BaseException):
            raise self.choice
        return self.choice


def calls(choice: Any) -> tuple[list[str], Any]:
    host = Host()
    made: list[str] = []
    host.tool("safe")(lambda: made.append("safe") or {"ok": True})
    host.tool("wipe")(lambda: made.append("wipe") or {"ok": True})
    runtime = ran(parse_source(PROGRAM).agents[0], host, Oracle(choice), ticks=1)
    return made, runtime


def test_a_declared_plan_is_queued_with_the_label_of_the_model() -> None:
    """INV-5: the twin of the refusals."""
    assert calls("tidy")[0] == ["safe"]


@pytest.mark.parametrize(
    "choice",
    [
        "wipe",
        "wipe()",
        "tidy; wipe",
        "TIDY",
        " tidy",
        "unknown",
        "",
        3,
        ["tidy"],
        {"plan": "tidy"},
        object(),
        True,
    ],
)
def test_any_other_answer_queues_nothing(choice: Any) -> None:
    """INV-5: a tool is no plan, and neither is a text that contains one."""
    made, runtime = calls(choice)
    assert made == []
    assert "llm.unknown_plan" in [event.code for event in runtime.trace.events]


@pytest.mark.parametrize("choice", [None, RuntimeError("no"), TimeoutError()])
def test_no_answer_queues_nothing(choice: Any) -> None:
    """INV-5, TCK-10."""
    assert calls(choice)[0] == []


def test_a_symbol_is_taken_by_its_text_or_not_at_all() -> None:
    """INV-5: never for anything but the plan of that name."""
    assert calls(Symbol("wipe"))[0] == []
    assert calls(Symbol("tidy"))[0] in ([], ["safe"])
