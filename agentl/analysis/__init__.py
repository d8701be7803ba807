"""What can be said about a program without running it: ``check`` (`CHK-1`)."""

from agentl.analysis.check import Analyzer, check_program
from agentl.analysis.diagnostics import Diagnostic

__all__ = ["Analyzer", "Diagnostic", "check_program"]
