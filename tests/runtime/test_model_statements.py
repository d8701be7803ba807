"""REASON and JUDGE: an answer is typed, bounded, labelled, and never an authority (`INV-10`)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from agentl.errors import StoreFailure
from agentl.reasoning import LLM, MockLLM
from agentl.values import UNDEFINED, Symbol
from tests.support.running import World, codes, events, label, run, start, texts


def reasoned(produce: str, answer: Any, rest: str = "", llm: Any = None) -> Any:
    """One REASON whose answer is ``answer``."""
    model = llm if llm is not None else MockLLM({"think": answer})
    return run(f'LOOP MAX 1 {{ REASON "think" {{ PRODUCE {{ {produce} }} }} }} {rest}', None, model)


def test_the_model_gets_task_context_and_schema() -> None:
    """`LLM-1`, `GRM-23`: the schema names type, domain and default."""
    llm = MockLLM()
    reasoned("a: Number IN [0, 1] DEFAULT 0.5, b: Symbol IN [low, high] DEFAULT low, c", None, llm=llm)
    call = llm.calls[0]
    assert call.task == "think"
    assert call.asked == {
        "a": "Number IN [0, 1] DEFAULT 0.5",
        "b": "Symbol IN [low, high] DEFAULT low",
        "c": "Any",
    }
    assert set(call.context) == {"tick", "goals", "beliefs", "tools", "plans"}


def test_results_are_bound_where_they_never_answer_before_a_fact() -> None:
    """`LLM-6`, `INV-4`: local reason.k, untrusted k, label LLM."""
    runtime = reasoned("level: Number", {"level": 9}, "BELIEF { level: 1 }")
    state = runtime.state
    assert (state.get("reason.level"), state.get("level"), state.untrusted["level"]) == (9, 1, 9)
    assert label(runtime, "reason.level") == ("LLM",)
    assert (state.get("reason.degraded"), state.get("reason.missing")) == (False, 0)
    assert label(runtime, "reason.missing") == ("LLM", "RUNTIME")
    assert texts(runtime, "LLM") == ["REASON « think » [level=9]"]
    assert runtime.metrics["llm_calls"] == 1


def test_a_mute_model_is_degraded() -> None:
    """`LLM-6`: every field missing; defaults hold, others are UNDEFINED."""
    runtime = reasoned("a: Number DEFAULT 3, b: Number", {})
    state = runtime.state
    assert (state.get("reason.a"), state.locals["reason.b"]) == (3, UNDEFINED)
    assert (state.get("reason.degraded"), state.get("reason.missing")) == (True, 2)
    assert codes(runtime, "LLM") == ["llm.mute"]
    assert runtime.metrics["reason_degraded"] == 1
    assert label(runtime, "reason.a") == ("DECLARED", "LLM")


def test_a_partial_answer_names_what_is_missing() -> None:
    """`LLM-6`."""
    runtime = reasoned("a: Number, b: Number", {"a": 1})
    assert codes(runtime, "LLM") == ["llm.answer", "llm.partial"]
    assert events(runtime, "llm.partial")[0].values["fields"] == ["b"]
    assert runtime.state.get("reason.missing") == 1


def test_what_the_adapter_says_is_missing_is_missing() -> None:
    """`LLM-1`: even when the key is there."""

    class Honest(LLM):
        def reason(self, task: Any, context: Any, schema: Any) -> dict[str, Any]:
            self.last_reason_missing = ["a"]
            return {"a": 0, "b": 2}

    runtime = reasoned("a: Number, b: Number", None, llm=Honest())
    assert (runtime.state.locals["reason.a"], runtime.state.get("reason.b")) == (UNDEFINED, 2)


@pytest.mark.parametrize("answer", [ValueError("overloaded"), [1], "text", None])
def test_a_model_that_fails_has_answered_nothing(answer: Any) -> None:
    """`LLM-1`: an exception or no dictionary."""

    class Broken(LLM):
        def reason(self, task: Any, context: Any, schema: Any) -> Any:
            if isinstance(answer, Exception):
                raise answer
            return answer

    runtime = reasoned("a: Number DEFAULT 1", None, llm=Broken())
    assert codes(runtime, "ERROR") == ["llm.failed"]
    assert (runtime.state.get("reason.a"), runtime.state.get("reason.degraded")) == (1, True)


def test_a_store_failure_is_no_failing_model() -> None:
    """`DRF-3`."""

    class Gone(LLM):
        def reason(self, task: Any, context: Any, schema: Any) -> Any:
            raise StoreFailure

    with pytest.raises(StoreFailure):
        reasoned("a", None, llm=Gone())


def test_unknown_keys_are_dropped() -> None:
    """`LLM-2`."""
    runtime = reasoned("a: Number", {"a": 1, "approve": True})
    assert "approve" not in runtime.state.untrusted
    assert "reason.approve" not in runtime.state.locals


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        ("Number", 1, 1),
        ("Number", 1.5, 1.5),
        ("Number", Decimal("1.5"), Decimal("1.5")),
        ("Number", "2.5", 2.5),
        ("Number", True, UNDEFINED),
        ("Number", "many", UNDEFINED),
        ("Number", None, UNDEFINED),
        ("Number", [1], UNDEFINED),
        ("Float", 1, 1.0),
        ("Float", False, UNDEFINED),
        ("Float", 10**400, UNDEFINED),
        ("Int", 3.0, 3),
        ("Int", 3.5, UNDEFINED),
        ("Int", True, UNDEFINED),
        ("Bool", True, True),
        ("Bool", 0, False),
        ("Bool", 2.5, True),
        ("Bool", float("nan"), UNDEFINED),
        ("Bool", "Oui", True),
        ("Bool", "vrai", True),
        ("Bool", "", False),
        ("Bool", Symbol("none"), False),
        ("Bool", "perhaps", UNDEFINED),
        ("String", 1.5, "1.5"),
        ("String", Symbol("x"), "x"),
        ("Symbol", "x", Symbol("x")),
        ("List", (1, 2), [1, 2]),
        ("List", "ab", UNDEFINED),
        ("Any", {"k": [1]}, {"k": [1]}),
    ],
)
def test_values_are_coerced_to_their_type(kind: str, given: Any, expected: Any) -> None:
    """`LLM-3`: what cannot be coerced is UNDEFINED, or the default."""
    value = reasoned(f"a: {kind}", {"a": given}).state.locals["reason.a"]
    assert value == expected
    assert type(value) is type(expected)


def test_what_cannot_be_coerced_takes_the_default() -> None:
    """`LLM-3`."""
    assert reasoned("a: Number DEFAULT 4", {"a": True}).state.get("reason.a") == 4


@pytest.mark.parametrize(
    ("produce", "given", "became", "code"),
    [
        ("a: Number IN [0, 10] DEFAULT 5", 11, 5, "llm.out_of_domain"),
        ("a: Number IN [0, 10]", -1, UNDEFINED, "llm.out_of_domain"),
        ("a: Number IN [0, 10] DEFAULT 50", 11, UNDEFINED, "llm.out_of_domain"),
        ("a: Symbol IN [low, high] DEFAULT low", "huge", Symbol("low"), "llm.out_of_domain"),
        ("a: Symbol IN [low, high]", "huge", UNDEFINED, "llm.out_of_domain"),
        ("a: Number DEFAULT 1", float("nan"), 1, "llm.not_finite"),
        ("a: Number IN [0, 10]", float("inf"), UNDEFINED, "llm.not_finite"),
    ],
)
def test_a_value_outside_is_never_clamped(produce: str, given: Any, became: Any, code: str) -> None:
    """`LLM-4`: the default when it lies inside, else UNDEFINED."""
    runtime = reasoned(produce, {"a": given})
    assert runtime.state.locals["reason.a"] == became
    assert codes(runtime, "BLOCKED") == [code]
    assert runtime.metrics["domain_clamps"] == 1


@pytest.mark.parametrize(("produce", "given"), [("a: Number IN [0, 10]", 10), ("a: Number IN [0, 10]", 0),
                                                ("a: Symbol IN [low, high]", "high")])  # fmt: skip
def test_a_domain_includes_its_bounds_and_items(produce: str, given: Any) -> None:
    """`LLM-4`, `GRM-23`: a closed range."""
    runtime = reasoned(produce, {"a": given})
    assert runtime.state.get("reason.a") == given
    assert codes(runtime, "BLOCKED") == []


def test_a_default_outside_its_own_domain_is_refused_too() -> None:
    """`LLM-2`, `LLM-4`: domains apply to what a missing field takes."""
    runtime = reasoned("a: Number IN [0, 10] DEFAULT 50", {})
    assert runtime.state.locals["reason.a"] is UNDEFINED
    assert codes(runtime, "BLOCKED") == ["llm.out_of_domain"]


def test_the_confidence_of_the_model_is_that_of_later_actions() -> None:
    """`LLM-6`, `POL-4`: a float; 1.0 before any, UNDEFINED when it is not given."""
    asked: list[Any] = []
    world = World().tool("t")
    world.host.approver = lambda request: asked.append(request.confidence) or True
    program = """TOOL t {} POLICY { DEFAULT ALLOW REQUIRE APPROVAL FOR t }
        LOOP MAX 1 { t() REASON "one" { PRODUCE { confidence: Number } } t() REASON "two" { PRODUCE
        { x } } t()
        REASON "three" { PRODUCE { confidence: Number } } t() }"""
    run(program, world.host, MockLLM({"one": {"confidence": 1}, "two": {"x": 1}}))
    assert asked == [1.0, 1.0, 1.0, UNDEFINED]
    assert type(asked[1]) is float


def test_using_sends_those_paths_and_nothing_else() -> None:
    """`LLM-5`."""
    runtime = start("BELIEF { a.b: 1.50, c.d: secretive } PLAN p { x = 1 }")
    assert runtime.llm_context(["a.b"]) == {"tick": 0, "focus": {"a.b": "1.5"}}


def test_without_using_the_model_gets_an_overview() -> None:
    """`LLM-5`."""
    runtime = run(
        """BELIEF { a.b: 1 CONFIDENCE 0.5 } GOAL g { MAINTAIN a.b == 1 } PLAN p { x = 1 }
        TOOL t { INPUT { n: Number } RISK HIGH }"""
    )
    assert runtime.llm_context() == {
        "tick": 1,
        "goals": {"g": {"mode": "MAINTAIN", "score": 1.0}},
        "beliefs": {"a.b": {"value": 1, "confidence": 0.5, "source": "declared"}},
        "tools": {"t": {"risk": "HIGH", "inputs": {"n": "Number"}}},
        "plans": ["p"],
    }


def test_a_model_cannot_change_the_state_through_its_context() -> None:
    """`INV-10`: what it gets is a copy."""

    class Vandal(MockLLM):
        def reason(self, task: Any, context: Any, schema: Any) -> dict[str, Any]:
            context["beliefs"]["a.b"]["value"].append(9)
            context["tools"]["t"]["risk"] = "LOW"
            context["plans"].clear()
            return {}

    world = World().sensor("a.b", [1])
    runtime = start(
        "OBSERVE a.b TOOL t { RISK HIGH } PLAN p { x = 1 } LOOP MAX 2 { "
        'OBSERVE UPDATE_BELIEFS REASON "z" { PRODUCE { q } } }',
        world.host,
        Vandal(),
    )
    runtime.run(1)
    assert runtime.state.get("a.b") == [1]
    context = runtime.llm_context()
    assert (context["tools"]["t"]["risk"], context["plans"]) == ("HIGH", ["p"])


# --- JUDGE ---

QUESTIONS = """JUDGE "weigh" { urgent: NOUL "is it urgent?" ABSTAIN BELOW 0.7
    team: CHOICE "who?" { sales "they sell" ops "they run" } DEFAULT ops
    grade: SCORE "how bad?" ["fine", "bad", "awful"] }"""


def judged(answer: dict[str, Any], llm: Any = None) -> Any:
    """One JUDGE of three questions."""
    return run(f"LOOP MAX 1 {{ {QUESTIONS} }}", None, llm or MockLLM({"weigh": answer}))


def test_questions_are_sent_with_their_form() -> None:
    """`LLM-7`, `AST-6`."""
    llm = MockLLM()
    judged({}, llm)
    asked = llm.calls[0].asked
    assert asked["urgent"] == {
        "kind": "NOUL", "instructions": "is it urgent?", "schema": "Bool", "abstain_below": 0.7,
    }  # fmt: skip
    assert asked["team"]["criteria"] == {"sales": "they sell", "ops": "they run"}
    assert asked["team"]["schema"] == "Symbol IN [sales, ops] DEFAULT ops"
    assert asked["grade"]["levels"] == ["fine", "bad", "awful"]
    assert asked["grade"]["schema"] == "Number IN [0, 2]"


def test_a_judgement_binds_value_probability_and_confidence() -> None:
    """`LLM-7`: a bare value has neither; confidence is p when none was given."""
    runtime = judged(
        {
            "urgent": {"value": True, "p": 0.9},
            "team": "sales",
            "grade": {"value": 1, "p": 0.5, "confidence": 0.4},
        }
    )
    state = runtime.state
    assert [state.get(f"judge.urgent{part}") for part in ("", ".value", ".p", ".confidence")] == [
        True,
        True,
        0.9,
        0.9,
    ]
    assert (state.locals["judge.team"], state.locals["judge.team.p"]) == (Symbol("sales"), UNDEFINED)
    assert state.locals["judge.team.confidence"] is UNDEFINED
    assert (state.get("judge.grade.p"), state.get("judge.grade.confidence")) == (0.5, 0.4)
    assert (state.get("reason.grade"), state.untrusted["grade"]) == (1, 1)
    assert label(runtime, "judge.grade") == ("LLM",)
    assert texts(runtime, "LLM")[0].startswith("JUDGE « weigh »")


@pytest.mark.parametrize("p", [0.69, None, True, "0.9", float("nan"), 1.5, -1])
def test_below_the_threshold_or_without_a_probability_it_abstains(p: Any) -> None:
    """`LLM-7`: only a finite number in [0, 1] that is no boolean is a probability."""
    runtime = judged({"urgent": {"value": True, "p": p}, "team": "ops", "grade": 0})
    assert runtime.state.locals["judge.urgent"] is UNDEFINED
    assert runtime.metrics["judge_abstained"] == 1
    assert events(runtime, "llm.abstained")[0].values["fields"] == ["urgent"]
    assert runtime.state.get("reason.missing") == 1


def test_domains_apply_to_answers_and_defaults_fill_what_is_missing() -> None:
    """`LLM-7`, `LLM-4`, `LLM-2`."""
    runtime = judged({"grade": {"value": 3, "p": 0.9}})
    assert runtime.state.locals["judge.grade"] is UNDEFINED
    assert runtime.state.get("judge.team") == Symbol("ops")
    assert codes(runtime, "BLOCKED") == ["llm.out_of_domain"]


def test_a_model_without_a_judge_method_is_asked_through_reason() -> None:
    """`LLM-7`: with p undefined, so a threshold abstains."""

    class Plain:
        def reason(self, task: str, context: Any, schema: Any) -> dict[str, Any]:
            assert schema["grade"] == "Number IN [0, 2]"
            return {"urgent": True, "grade": 2}

    runtime = judged({}, Plain())
    assert runtime.state.get("judge.grade") == 2
    assert runtime.state.locals["judge.grade.p"] is UNDEFINED
    assert runtime.state.locals["judge.urgent"] is UNDEFINED
