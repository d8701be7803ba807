"""Record a run, and derive it again from the record without touching the world.

`RPL-1` to `RPL-7`, `API-10`.
"""

from agentl.errors import ReplayDivergence, ReplayedError, ReplayError
from agentl.journal.entry import ANNOTATIONS, KINDS, Entry
from agentl.replay.journal import JOURNAL_FORMAT, Journal, sha256, verify_trace
from agentl.replay.recording import RecordingHost, RecordingLLM
from agentl.replay.replaying import ReplayHost, ReplayLLM
from agentl.values import decode, encode

__all__ = [
    "ANNOTATIONS",
    "JOURNAL_FORMAT",
    "KINDS",
    "Entry",
    "Journal",
    "RecordingHost",
    "RecordingLLM",
    "ReplayDivergence",
    "ReplayError",
    "ReplayHost",
    "ReplayLLM",
    "ReplayedError",
    "decode",
    "encode",
    "sha256",
    "verify_trace",
]
