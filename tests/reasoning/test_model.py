"""The model port and the scripted model (`API-5`, `LLM-7`)."""

from __future__ import annotations

from typing import Any

import pytest

from agentl.reasoning import LLM, MockLLM, ask_judge, missing_from
from agentl.values import UNDEFINED


def test_the_first_key_found_in_the_task_answers() -> None:
    """`API-5`: a case-insensitive substring; otherwise every field is missing."""
    llm = MockLLM({"Fraud": {"risk": 1}, "raud": {"risk": 2}})
    assert llm.reason("assess the FRAUD case", {}, {"risk": "Number"}) == {"risk": 1}
    assert llm.last_reason_missing == []
    assert llm.reason("something else", {}, {"risk": "Number"}) == {}
    assert llm.last_reason_missing == ["risk"]


def test_every_call_is_recorded() -> None:
    """`API-5`."""
    llm = MockLLM()
    llm.reason("t", {"tick": 1}, {"a": "Any"})
    llm.judge("j", {}, {"q": {}})
    llm.select_plan({}, ["p", "q"])
    assert [(call.method, call.task) for call in llm.calls] == [
        ("reason", "t"),
        ("judge", "j"),
        ("select_plan", ""),
    ]


def test_the_script_is_never_changed_by_what_is_done_to_an_answer() -> None:
    """`API-5`: the same question has the same answer."""
    llm = MockLLM({"t": {"items": [1]}})
    llm.reason("t", {}, {})["items"].append(2)
    assert llm.reason("t", {}, {}) == {"items": [1]}


def test_the_default_choice_is_the_first_candidate() -> None:
    """`API-5`."""
    assert MockLLM().select_plan({}, ["p", "q"]) == "p"
    assert MockLLM().select_plan({}, []) is None
    assert MockLLM(plan_choice="q").select_plan({}, ["p", "q"]) == "q"


def test_what_is_missing_follows_the_schema() -> None:
    """`API-6`: in its order; UNDEFINED is missing, None is a value."""
    assert missing_from({"b": None, "c": UNDEFINED}, {"c": "", "a": "", "b": ""}) == ["c", "a"]


def test_judge_is_translated_to_reason_by_default() -> None:
    """`API-5`: the schemas of the questions; an answer that is no dictionary is none."""
    seen: list[Any] = []

    class Reasoner(LLM):
        def reason(self, task: str, context: Any, schema: Any) -> Any:
            seen.append((task, context, schema))
            return {"q": 1} if len(seen) == 1 else None

    llm = Reasoner()
    questions = {"q": {"kind": "NOUL", "schema": "Bool"}}
    assert llm.judge("t", {"tick": 1}, questions) == {"q": 1}
    assert seen == [("t", {"tick": 1, "questions": questions}, {"q": "Bool"})]
    assert llm.judge("t", {}, questions) == {}


def test_an_oracle_without_judge_is_asked_through_reason() -> None:
    """`LLM-7`."""

    class Oracle:
        def reason(self, task: str, context: Any, schema: Any) -> Any:
            return {"q": schema["q"]}

    assert ask_judge(Oracle(), "t", {}, {"q": {"schema": "Bool"}}) == {"q": "Bool"}
    assert ask_judge(MockLLM({"t": {"q": {"value": 1, "p": 0.5}}}), "t", {}, {"q": {}}) == {
        "q": {"value": 1, "p": 0.5}
    }


def test_the_port_itself_answers_nothing() -> None:
    """`API-5`: an adapter has to say how."""
    with pytest.raises(NotImplementedError):
        LLM().reason("t", {}, {})
    with pytest.raises(NotImplementedError):
        LLM().select_plan({}, [])
