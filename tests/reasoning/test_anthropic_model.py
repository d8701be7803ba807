"""The adapter of the optional library, without the library (`API-6`)."""

from __future__ import annotations

import importlib
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from agentl.errors import RuntimeAgentError
from agentl.reasoning import AnthropicLLM


class Client:
    """Answers each call with one tool use."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[dict[str, Any]] = []
        self.messages = SimpleNamespace(create=self._create)

    def _create(self, **asked: Any) -> Any:
        self.asked.append(asked)
        block = SimpleNamespace(type="tool_use", input=self.answer)
        return SimpleNamespace(content=[SimpleNamespace(type="text"), block])


def test_the_schema_is_put_as_a_tool_that_must_be_called() -> None:
    """`API-6`, `LLM-1`."""
    client = Client({"risk": 0.5})
    llm = AnthropicLLM("some-model", max_tokens=9, client=client)
    assert llm.reason("assess", {"tick": 1}, {"risk": "Number IN [0, 1]", "why": "String"}) == {"risk": 0.5}
    assert llm.last_reason_missing == ["why"]
    asked = client.asked[0]
    assert (asked["model"], asked["max_tokens"]) == ("some-model", 9)
    assert asked["tools"][0]["input_schema"]["properties"]["risk"] == {
        "description": "Number IN [0, 1]",
        "type": "number",
    }
    assert asked["tool_choice"]["name"] == "answer"


def test_judge_and_select_plan_use_the_same_way() -> None:
    """`API-5`."""
    client = Client({"q": {"value": True, "p": 0.9}})
    llm = AnthropicLLM("m", client=client)
    assert llm.judge("t", {}, {"q": {"schema": "Bool"}}) == {"q": {"value": True, "p": 0.9}}
    assert AnthropicLLM("m", client=Client({"plan": "p"})).select_plan({}, ["p"]) == "p"
    assert AnthropicLLM("m", client=Client({"plan": 3})).select_plan({}, ["p"]) is None


@pytest.mark.parametrize("answer", [None, "text", [1]])
def test_an_answer_without_a_tool_use_gives_nothing(answer: Any) -> None:
    """`LLM-1`: the interpreter then counts every field as missing."""
    assert AnthropicLLM("m", client=Client(answer)).reason("t", {}, {"a": "Any"}) == {}


def test_the_longest_answer_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """`API-6`: AGENTL_MAX_OUTPUT_TOKENS, else 4096."""
    monkeypatch.setenv("AGENTL_MAX_OUTPUT_TOKENS", "77")
    assert AnthropicLLM("m", client=Client({})).max_tokens == 77
    for nonsense in ("", "x", "-1"):
        monkeypatch.setenv("AGENTL_MAX_OUTPUT_TOKENS", nonsense)
        assert AnthropicLLM("m", client=Client({})).max_tokens == 4096


def test_without_a_key_or_a_library_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """`API-6`."""
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(RuntimeAgentError) as refused:
        AnthropicLLM("m")
    assert refused.value.code == "llm.no_key"
    assert "ANTHROPIC_API_KEY" in str(refused.value)
    monkeypatch.setitem(sys.modules, "anthropic", None)
    with pytest.raises(RuntimeAgentError) as missing:
        AnthropicLLM("m", api_key="k")
    assert missing.value.code == "llm.no_library"
    library = SimpleNamespace(Anthropic=lambda api_key: ("client", api_key))
    monkeypatch.setitem(sys.modules, "anthropic", library)
    assert importlib.import_module("anthropic") is library
    assert AnthropicLLM("m", api_key="k")._client == ("client", "k")
