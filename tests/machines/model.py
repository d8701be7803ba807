"""What a permit may do, said a second time. Imports nothing from ``agentl.kernel``.

The machine compares the real kernel with this after every step. It knows kernels and permits by number,
arguments by value, and effects by count.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class ModelPermit:
    """A permit: who minted it, for which exact call, and where it stands."""

    kernel: int
    kind: str
    target: str
    judged: str
    present: str
    stage: str = "issued"


@dataclass
class ModelKernel:
    """One kernel: the ids it allotted, and the one permit that is not used yet."""

    limit: int
    allotted: int = 0
    unused: ModelPermit | None = None


@dataclass
class Model:
    """All kernels and permits, and what took place in the world."""

    kernels: dict[int, ModelKernel] = field(default_factory=dict)
    effects: list[tuple[str, str, str]] = field(default_factory=list)

    def propose(
        self, kernel: int, kind: str, target: str, arguments: str, amount: int, answer: Any
    ) -> ModelPermit | None:
        """Above the limit a rule denies; above half of it a person must say yes."""
        known = self.kernels[kernel]
        if amount > known.limit:
            return None
        known.allotted += 1
        if amount > known.limit // 2 and answer is not True:
            return None
        if known.unused is not None:
            known.unused.stage = "void"
        permit = ModelPermit(kernel, kind, target, arguments, arguments)
        known.unused = permit
        return permit

    def execute(self, kernel: int, permit: ModelPermit, kind: str) -> str:
        """``ran``, ``changed`` (the host refuses the arguments) or ``refused`` (the kernel does)."""
        if permit.kernel != kernel or permit.stage != "issued" or permit.kind != kind:
            return "refused"
        self.kernels[kernel].unused = None
        permit.stage = "spent"
        if permit.present != permit.judged:
            return "changed"
        self.effects.append((kind, permit.target, permit.judged))
        return "ran"

    def void(self, kernel: int, permit: ModelPermit) -> bool:
        if permit.kernel != kernel or permit.stage != "issued":
            return False
        permit.stage = "void"
        self.kernels[kernel].unused = None
        return True
