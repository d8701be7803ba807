"""Decisions of a receiver with one fault each, for CrossHair to find (``tools/crosshair_check.py``)."""

from __future__ import annotations

from agentl.receiver import decisions
from agentl.receiver.decisions import KeyState, Ruling
from tests.contracts.planted.shared import under


@under(decisions.ruling)
def ruling(state: KeyState, same: bool) -> Ruling:
    """The same key is the same request, whatever it asks for."""
    if state is KeyState.NONE:
        return Ruling.CLAIM
    return Ruling.REPLAY if state is KeyState.DONE else Ruling.GONE


@under(decisions.expire)
def expire(state: KeyState) -> KeyState:
    """A key is forgotten with its answer."""
    return KeyState.NONE
