"""A model reached through the optional ``anthropic`` library (`API-6`).

The library is imported when the first adapter is made, so that a program without a remote
model needs nothing installed. The schema is put as a tool that the model has to call; its
answer is enforced again by the interpreter (`LLM-2`), so this adapter trusts nothing.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

from agentl.errors import RuntimeAgentError
from agentl.reasoning.model import LLM, missing_from
from agentl.reasoning.retry import call_with_retry
from agentl.values import fmt

_JSON_TYPES: Final = {
    "number": "number",
    "float": "number",
    "int": "integer",
    "string": "string",
    "symbol": "string",
    "bool": "boolean",
    "boolean": "boolean",
    "list": "array",
}


class AnthropicLLM(LLM):
    """Answers through the Messages interface of the ``anthropic`` library.

    Args:
        model: name of the model.
        api_key: by default ``ANTHROPIC_API_KEY``.
        max_tokens: longest answer, in tokens; by default ``AGENTL_MAX_OUTPUT_TOKENS``, else 4096.
        client: a ready client, for tests and proxies.

    Raises:
        RuntimeAgentError: the library is not installed, or there is no key.
    """

    def __init__(
        self, model: str, api_key: str | None = None, max_tokens: int | None = None, *, client: Any = None
    ) -> None:
        self.model = model
        self.max_tokens = max_tokens or _positive(os.environ.get("AGENTL_MAX_OUTPUT_TOKENS"), 4096)
        self._client = client if client is not None else _client(api_key)

    def reason(self, task: str, context: Mapping[str, Any], schema: Mapping[str, str]) -> dict[str, Any]:
        """One call whose answer must have the fields of ``schema``."""
        answer = self._ask(task, context, "answer", {name: _property(text) for name, text in schema.items()})
        self.last_reason_missing = missing_from(answer, schema)
        return answer

    def judge(
        self, task: str, context: Mapping[str, Any], questions: Mapping[str, Mapping[str, Any]]
    ) -> dict[str, Any]:
        """One call; each question asks for a value and its probability in [0, 1]."""
        fields = {
            name: {
                "type": "object",
                "description": json.dumps(dict(question), default=fmt, ensure_ascii=False),
                "properties": {
                    "value": _property(str(question.get("schema", "Any"))),
                    "p": {"type": "number", "minimum": 0, "maximum": 1},
                },
                "required": ["value"],
            }
            for name, question in questions.items()
        }
        return self._ask(task, context, "judgement", fields)

    def select_plan(self, context: Mapping[str, Any], names: Sequence[str]) -> str | None:
        """One of ``names``, or ``None`` when the model gives none."""
        answer = self._ask("select_plan", context, "plan", {"plan": {"type": "string", "enum": list(names)}})
        chosen = answer.get("plan")
        return chosen if isinstance(chosen, str) else None

    def _ask(
        self, task: str, context: Mapping[str, Any], tool: str, fields: Mapping[str, Any]
    ) -> dict[str, Any]:
        content = json.dumps({"task": task, "context": context}, default=fmt, ensure_ascii=False)
        reply = call_with_retry(
            lambda: self._client.messages.create(
                model=self.model,
                max_tokens=self.max_tokens,
                messages=[{"role": "user", "content": content}],
                tools=[{"name": tool, "input_schema": {"type": "object", "properties": dict(fields)}}],
                tool_choice={"type": "tool", "name": tool},
            )
        )
        for block in getattr(reply, "content", ()):
            found = getattr(block, "input", None)
            if getattr(block, "type", "") == "tool_use" and isinstance(found, dict):
                return dict(found)
        return {}


def _client(api_key: str | None) -> Any:
    key = api_key or os.environ.get("ANTHROPIC_API_KEY")
    if not key:
        raise RuntimeAgentError(code="llm.no_key", variable="ANTHROPIC_API_KEY")
    try:
        library = importlib.import_module("anthropic")
    except ImportError as error:
        raise RuntimeAgentError(code="llm.no_library", library="anthropic", extra="anthropic") from error
    return library.Anthropic(api_key=key)


def _positive(raw: str | None, default: int) -> int:
    try:
        value = int(raw or "")
    except ValueError:
        return default
    return value if value > 0 else default


def _property(schema: str) -> dict[str, Any]:
    kind = _JSON_TYPES.get(schema.split(" ", 1)[0].lower())
    described: dict[str, Any] = {"description": schema}
    if kind is not None:
        described["type"] = kind
    return described


__all__ = ["AnthropicLLM"]
