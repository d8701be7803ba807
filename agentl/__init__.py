"""AGENT-L: a declarative language for agents, a kernel that authorises every action, durable runs.

The names below are the public surface (`API-1`). Each is imported when it is first used:
starting the command must not cost what a run costs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

__version__: Final = "0.1.0"

_HOME: Final[dict[str, str]] = {
    "AgentLError": "agentl.errors",
    "ParseError": "agentl.errors",
    "ReplayDivergence": "agentl.errors",
    "ReplayError": "agentl.errors",
    "Agent": "agentl.language.nodes",
    "Program": "agentl.language.nodes",
    "parse_file": "agentl.language.parser",
    "parse_source": "agentl.language.parser",
    "Symbol": "agentl.values",
    "UNDEFINED": "agentl.values",
    "Belief": "agentl.state",
    "State": "agentl.state",
    "Evaluator": "agentl.evaluator",
    "ActionRequest": "agentl.kernel.action",
    "PolicyEngine": "agentl.kernel.policy",
    "Host": "agentl.host",
    "Retry": "agentl.host",
    "LLM": "agentl.reasoning.model",
    "MockLLM": "agentl.reasoning.model",
    "AnthropicLLM": "agentl.reasoning",
    "Runtime": "agentl.runtime.runtime",
    "Trace": "agentl.runtime.trace",
    "Journal": "agentl.replay",
    "RecordingHost": "agentl.replay",
    "RecordingLLM": "agentl.replay",
    "ReplayHost": "agentl.replay",
    "ReplayLLM": "agentl.replay",
    "verify_trace": "agentl.replay",
    "Analyzer": "agentl.analysis",
    "Diagnostic": "agentl.analysis",
    "check_program": "agentl.analysis",
}

if TYPE_CHECKING:
    from agentl.analysis import Analyzer, Diagnostic, check_program
    from agentl.errors import AgentLError, ParseError, ReplayDivergence, ReplayError
    from agentl.evaluator import Evaluator
    from agentl.host import Host, Retry
    from agentl.kernel.action import ActionRequest
    from agentl.kernel.policy import PolicyEngine
    from agentl.language.nodes import Agent, Program
    from agentl.language.parser import parse_file, parse_source
    from agentl.reasoning import LLM, AnthropicLLM, MockLLM
    from agentl.replay import Journal, RecordingHost, RecordingLLM, ReplayHost, ReplayLLM, verify_trace
    from agentl.runtime.runtime import Runtime
    from agentl.runtime.trace import Trace
    from agentl.state import Belief, State
    from agentl.values import UNDEFINED, Symbol

__all__ = [
    "LLM",
    "UNDEFINED",
    "ActionRequest",
    "Agent",
    "AgentLError",
    "Analyzer",
    "AnthropicLLM",
    "Belief",
    "Diagnostic",
    "Evaluator",
    "Host",
    "Journal",
    "MockLLM",
    "ParseError",
    "PolicyEngine",
    "Program",
    "RecordingHost",
    "RecordingLLM",
    "ReplayDivergence",
    "ReplayError",
    "ReplayHost",
    "ReplayLLM",
    "Retry",
    "Runtime",
    "State",
    "Symbol",
    "Trace",
    "__version__",
    "check_program",
    "parse_file",
    "parse_source",
    "verify_trace",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'agentl' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
