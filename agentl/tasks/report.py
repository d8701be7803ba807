"""The state of a task as JSON, and the schema of that JSON (`TSK-8`)."""

from __future__ import annotations

from typing import Any, Final

from agentl.tasks.account import CAUSES, Confirmed, Failed
from agentl.tasks.evidence import KINDS
from agentl.tasks.state import CLAIMED, ENDS, FORMAT, OPEN, PROVEN, Objective, TaskState


def task_data(task: TaskState) -> dict[str, Any]:
    """The state as plain JSON, in the form of ``SCHEMA``."""
    return {
        "format": FORMAT,
        "run_id": task.run_id,
        "agent": task.agent,
        "end": task.end,
        "whole": task.whole,
        "objectives": [_objective(one) for one in task.objectives],
        "constraints": list(task.constraints),
        "stop": list(task.stop),
        "verified": [{"tick": one.tick, "words": one.words, "passed": one.passed} for one in task.verified],
        "confirmed": [_confirmed(one) for one in task.confirmed],
        "pending": [{"target": one["tool"], "action_id": one["action_id"]} for one in task.pending],
        "in_doubt": [{"target": one["tool"], "action_id": one["action_id"]} for one in task.in_doubt],
        "failures": [_failed(one) for one in task.failures],
        "causes": task.causes,
        "spent": {"ticks": task.tick, "actions": task.actions, "model_calls": task.model_calls},
        "left": {"ticks": task.ticks_left},
        "waiting": [
            {
                "request_id": filed.request.request_id,
                "kind": filed.request.kind,
                "target": filed.request.target,
                "deadline": filed.deadline,
            }
            for filed in task.waiting
        ],
        "refusal": task.refusal,
    }


def _objective(one: Objective) -> dict[str, Any]:
    return {
        "name": one.name,
        "mode": one.mode,
        "condition": list(one.condition),
        "state": one.state,
        "sources": list(one.sources),
        "evidence": {path: proof.data() for path, proof in one.evidence.items()},
    }


def _confirmed(one: Confirmed) -> dict[str, Any]:
    return {
        "target": one.target,
        "action_id": one.action_id,
        "kind": one.kind,
        "attempts": one.attempts,
        "evidence": None if one.evidence is None else one.evidence.data(),
    }


def _failed(one: Failed) -> dict[str, Any]:
    return {name: getattr(one, name) for name in one.__slots__}


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


_TEXT: Final = {"type": "string"}
_COUNT: Final = {"type": "integer", "minimum": 0}
_TEXT_OR_NULL: Final = {"type": ["string", "null"]}
_EVIDENCE: Final = _object(
    kind={"enum": sorted(set(KINDS.values()))},
    source=_TEXT,
    entry=_COUNT,
    sha256={"type": "string", "pattern": "^[0-9a-f]{64}$"},
    size=_COUNT,
    excerpt=_TEXT,
)
_ACTION: Final = _object(target=_TEXT, action_id=_TEXT)

SCHEMA: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "State of a task",
    "description": "What `agentl task show --json` prints: derived from the journal of a run, never stored.",
    **_object(
        format={"const": FORMAT},
        run_id=_TEXT,
        agent=_TEXT,
        end={"enum": list(ENDS)},
        whole={"type": "boolean"},
        objectives=_list(
            _object(
                name=_TEXT,
                mode={"enum": ["achieve", "maintain"]},
                condition=_list(_TEXT),
                state={"enum": [PROVEN, CLAIMED, OPEN]},
                sources=_list(_TEXT),
                evidence={"type": "object", "additionalProperties": _EVIDENCE},
            )
        ),
        constraints=_list(_TEXT),
        stop=_list(_TEXT),
        verified=_list(_object(tick=_COUNT, words=_TEXT, passed={"type": "boolean"})),
        confirmed=_list(
            _object(
                target=_TEXT,
                action_id=_TEXT,
                kind={"enum": ["invoke", "delegate"]},
                attempts={"type": "integer", "minimum": 1},
                evidence={"anyOf": [_EVIDENCE, {"type": "null"}]},
            )
        ),
        pending=_list(_ACTION),
        in_doubt=_list(_ACTION),
        failures=_list(
            _object(
                cause={"enum": list(CAUSES)},
                target=_TEXT,
                action_id=_TEXT,
                entry=_COUNT,
                error=_TEXT,
                text=_TEXT,
            )
        ),
        causes={"type": "object", "additionalProperties": _COUNT},
        spent=_object(ticks=_COUNT, actions=_COUNT, model_calls=_COUNT),
        left=_object(ticks={"type": ["integer", "null"], "minimum": 0}),
        waiting=_list(_object(request_id=_TEXT, kind=_TEXT, target=_TEXT, deadline=_TEXT_OR_NULL)),
        refusal=_TEXT_OR_NULL,
    ),
}
"""The JSON Schema of ``task_data``; ``docs/task-state.schema.json`` is a copy of it."""


__all__ = ["SCHEMA", "task_data"]
