"""Goals: how much of what the agent wants holds now (`TCK-9`)."""

from __future__ import annotations

from agentl.labels import RUNTIME_LABEL, Prov
from agentl.language.nodes import Goal
from agentl.runtime.core import Core


class Goals:
    """Scores the goals of one agent and publishes the scores as facts."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.scores: dict[str, float] = {}

    def evaluate(self) -> None:
        """EVALUATE_GOALS: a score per goal, and their weighted mean as ``goal.score`` (`TCK-9`)."""
        core = self.core
        total = weights = 0.0
        label = RUNTIME_LABEL | core.control.label
        for goal in core.agent.goals:
            score, read = self._score(goal)
            label = label | read
            total += score * goal.weight
            weights += goal.weight
            self.scores[goal.name] = score
            core.fact(f"goals.{goal.name}.score", score, RUNTIME_LABEL | core.control.label | read)
            core.say("GOAL", "goal.score", {"goal": goal.name, "score": score, "mode": goal.mode.lower()})
        mean = total / weights if weights else 1.0
        core.fact("goal.score", mean, label)
        core.fact("goal.satisfied", mean >= 1.0, label)

    def _score(self, goal: Goal) -> tuple[float, Prov]:
        core = self.core
        held: list[bool] = []
        label = RUNTIME_LABEL
        if goal.condition is not None:
            held.append(core.condition(goal.condition, "context.goal", goal.name))
            label = label | core.label(goal.condition)
        for target in goal.targets:
            held.append(core.condition(target, "context.target", goal.name))
            label = label | core.label(target)
        return (sum(held) / len(held) if held else 1.0), label


__all__ = ["Goals"]
