"""``check``: every rule over one agent, then the rules that take a whole program (`CHK-1`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from agentl.analysis import calls, declarations, names
from agentl.analysis.diagnostics import Diagnostic, in_order
from agentl.language.nodes import Agent, Program

AGENT_RULES: Final[tuple[Callable[[Agent], Iterator[Diagnostic]], ...]] = (
    calls.check_calls,
    declarations.check_policy,
    declarations.check_handlers,
    declarations.check_evidence,
    declarations.check_memory,
    declarations.check_risks,
    declarations.check_scenarios,
    declarations.check_questions,
    names.check_duplicates,
    names.check_reserved,
    names.check_shadowing,
    names.check_observed_writes,
    names.check_identifiers,
)
"""The rules that one agent is enough for."""

PROGRAM_RULES: Final[tuple[Callable[[Program], Iterator[Diagnostic]], ...]] = (
    declarations.check_messages,
    names.check_agent_names,
    names.check_identifiers_across,
)
"""The rules between the agents of a program."""


class Analyzer:
    """Checks one agent.

    Args:
        agent: the agent.
        program: the program it belongs to; what its other agents send counts as known (`TRI-7`).
    """

    def __init__(self, agent: Agent, program: Program | None = None) -> None:
        self.agent = agent
        self.program = program

    def run(self) -> list[Diagnostic]:
        """What is wrong, from the top of the source to its end."""
        found = [one for rule in AGENT_RULES for one in rule(self.agent)]
        found += names.check_constants(self.agent, self.program)
        return in_order(found)


def check_program(program: Program) -> list[Diagnostic]:
    """What is wrong with each agent, and between them."""
    found = [one for agent in program.agents for one in Analyzer(agent, program).run()]
    return found + in_order([one for rule in PROGRAM_RULES for one in rule(program)])
