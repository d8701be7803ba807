"""The port of a model, and the scripted model of tests and demonstrations (`API-5`).

A model only answers questions. What it answers is typed, bounded and labelled by the
interpreter afterwards (`LLM-2`): nothing here decides anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any, NamedTuple

from agentl.values import UNDEFINED


def missing_from(answer: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """The fields of ``schema`` that ``answer`` does not give, in the order of the schema (`API-6`)."""
    return [name for name in schema if answer.get(name, UNDEFINED) is UNDEFINED]


class LLM:
    """A model as the interpreter sees it (`API-5`).

    An adapter overrides ``reason`` and, when it can do better than the defaults, ``judge``
    and ``select_plan``. It may set ``last_reason_missing`` to the names of the fields that it
    could not give; otherwise the keys absent from its answer count as missing (`LLM-1`).
    """

    last_reason_missing: list[str] | None = None

    def reason(self, task: str, context: Mapping[str, Any], schema: Mapping[str, str]) -> dict[str, Any]:
        """Values for the fields of ``schema``; a field that the model cannot give is left out."""
        raise NotImplementedError

    def judge(
        self, task: str, context: Mapping[str, Any], questions: Mapping[str, Mapping[str, Any]]
    ) -> dict[str, Any]:
        """Answers ``{value, p, confidence}`` or bare values, by question (`LLM-7`).

        By default the questions are put through ``reason``: an answer then has no probability.
        """
        return _through_reason(self.reason, task, context, questions)

    def select_plan(self, context: Mapping[str, Any], names: Sequence[str]) -> str | None:
        """One of ``names``, or ``None`` (`TCK-10`); the interpreter refuses any other answer."""
        raise NotImplementedError


def _through_reason(
    reason: Callable[[str, Mapping[str, Any], Mapping[str, str]], Any],
    task: str,
    context: Mapping[str, Any],
    questions: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    schema = {name: str(question.get("schema", "Any")) for name, question in questions.items()}
    answer = reason(task, {**context, "questions": questions}, schema)
    return answer if isinstance(answer, dict) else {}


def ask_judge(
    llm: Any, task: str, context: Mapping[str, Any], questions: Mapping[str, Mapping[str, Any]]
) -> Any:
    """Put the questions of a JUDGE to ``llm``, through ``reason`` when it has no judge method (`LLM-7`)."""
    judge = getattr(llm, "judge", None)
    if callable(judge):
        return judge(task, context, questions)
    return _through_reason(llm.reason, task, context, questions)


class ModelCall(NamedTuple):
    """One call that a scripted model received: ``method`` is ``reason``, ``judge`` or ``select_plan``."""

    method: str
    task: str
    context: Mapping[str, Any]
    asked: Any


class MockLLM(LLM):
    """A model that answers from a script (`API-5`).

    Args:
        scripted: answers by a part of the task; the first key that is found in the task,
            upper or lower case, wins. Without one, every field is missing.
        plan_choice: the plan to choose; by default the first candidate.
    """

    def __init__(
        self, scripted: Mapping[str, Mapping[str, Any]] | None = None, plan_choice: str | None = None
    ) -> None:
        self.scripted = dict(scripted or {})
        self.plan_choice = plan_choice
        self.calls: list[ModelCall] = []
        self._folded = [(key.lower(), answer) for key, answer in self.scripted.items()]

    def _scripted(self, task: str) -> dict[str, Any]:
        wanted = task.lower()
        for key, answer in self._folded:
            if key in wanted:
                return _copied(answer)
        return {}

    def reason(self, task: str, context: Mapping[str, Any], schema: Mapping[str, str]) -> dict[str, Any]:
        """The scripted answer, as a copy: what the program does to it does not change the script."""
        self.calls.append(ModelCall("reason", task, context, schema))
        answer = self._scripted(task)
        self.last_reason_missing = missing_from(answer, schema)
        return answer

    def judge(
        self, task: str, context: Mapping[str, Any], questions: Mapping[str, Mapping[str, Any]]
    ) -> dict[str, Any]:
        """The scripted answers; each a bare value or ``{value, p, confidence}``."""
        self.calls.append(ModelCall("judge", task, context, questions))
        return self._scripted(task)

    def select_plan(self, context: Mapping[str, Any], names: Sequence[str]) -> str | None:
        """The plan chosen beforehand, else the first candidate."""
        self.calls.append(ModelCall("select_plan", "", context, tuple(names)))
        if self.plan_choice is not None:
            return self.plan_choice
        return names[0] if names else None


def _copied(answer: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value if type(value) in (str, int, float, bool) or value is None else deepcopy(value)
        for name, value in answer.items()
    }


__all__ = ["LLM", "MockLLM", "ModelCall", "ask_judge", "missing_from"]
