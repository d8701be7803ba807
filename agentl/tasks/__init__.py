"""A task beside the conversation: what is asked, proven, open, in doubt and spent (`TSK-1` to `TSK-8`)."""

from __future__ import annotations

from agentl.tasks.account import Account, Confirmed, Failed, account
from agentl.tasks.evidence import Evidence
from agentl.tasks.report import SCHEMA, task_data
from agentl.tasks.state import Objective, TaskState, Verified, task_state

__all__ = [
    "SCHEMA",
    "Account",
    "Confirmed",
    "Evidence",
    "Failed",
    "Objective",
    "TaskState",
    "Verified",
    "account",
    "task_data",
    "task_state",
]
