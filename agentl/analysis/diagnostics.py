"""What ``check`` says about a program (`CHK-1`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from agentl.messages import render


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding; ``line`` is 1-based, 0 when the finding is about no single line."""

    code: str
    severity: Literal["error", "warning"]
    message: str
    line: int = 0

    def __str__(self) -> str:
        place = render("chk.line", {"line": self.line}) if self.line else "—"
        return f"{render(f'chk.{self.severity}'):<7}{self.code}  {place:<10} {self.message}"


def error(code: str, line: int, **values: Any) -> Diagnostic:
    """The error ``code``, its message naming ``values``; ``trouble`` is itself a wording of that code."""
    if "trouble" in values:
        values["trouble"] = render(f"chk.{code}_{values['trouble']}", values)
    return Diagnostic(code, "error", render(f"chk.{code}", values), line)


def in_order(found: list[Diagnostic]) -> list[Diagnostic]:
    """Diagnostics as people read them: down the source, those without a line first."""
    return sorted(found, key=lambda one: (one.line, one.code, one.message))
