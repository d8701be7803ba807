"""Models: the port through which a program asks one, and the adapters (`API-5`, `API-6`)."""

from __future__ import annotations

from agentl.reasoning.anthropic_model import AnthropicLLM
from agentl.reasoning.model import LLM, MockLLM, ModelCall, ask_judge, missing_from
from agentl.reasoning.retry import call_with_retry, is_transient, retry_after

__all__ = [
    "LLM",
    "AnthropicLLM",
    "MockLLM",
    "ModelCall",
    "ask_judge",
    "call_with_retry",
    "is_transient",
    "missing_from",
    "retry_after",
]
