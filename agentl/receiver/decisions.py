"""What a receiver decides, without a database (`RCV-1` to `RCV-6`); the names are the model's actions."""

from __future__ import annotations

from enum import Enum

from agentl.contracts import clause, ensure, require
from agentl.receiver.errors import BadKey

LONGEST_KEY = 255


class KeyState(Enum):
    """What is committed under a key."""

    NONE = "none"
    DONE = "done"
    TOMBSTONE = "tombstone"


class Ruling(Enum):
    """What becomes of a request."""

    CLAIM = "claim"
    REPLAY = "replay"
    MISMATCH = "mismatch"
    GONE = "gone"


@ensure(
    lambda state, result: (result is Ruling.CLAIM) == (state is KeyState.NONE),
    error=clause("RCV-1", "Claim"),
)
@ensure(
    lambda state, same, result: (result is Ruling.REPLAY) == (state is KeyState.DONE and same),
    error=clause("RCV-3", "Replay"),
)
@ensure(
    lambda state, same, result: (result is Ruling.MISMATCH) == (state is not KeyState.NONE and not same),
    error=clause("RCV-4", "Mismatch"),
)
@ensure(
    lambda state, same, result: (result is Ruling.GONE) == (state is KeyState.TOMBSTONE and same),
    error=clause("RCV-6", "Gone"),
)
def ruling(state: KeyState, same: bool) -> Ruling:
    """What becomes of a request, given what is committed under its key.

    Args:
        state: what is committed.
        same: the fingerprints are equal.
    """
    if state is KeyState.NONE:
        return Ruling.CLAIM
    if not same:
        return Ruling.MISMATCH
    return Ruling.REPLAY if state is KeyState.DONE else Ruling.GONE


@require(lambda state: state is KeyState.DONE, error=clause("RCV-6", "Expire"))
@ensure(lambda result: result is KeyState.TOMBSTONE, error=clause("RCV-6", "Expire"))
def expire(state: KeyState) -> KeyState:
    """What stays of a key when its retention ends: never nothing.

    Raises:
        ValueError: the key has no answer to forget.
    """
    if state is not KeyState.DONE:
        raise ValueError(state.value)
    return KeyState.TOMBSTONE


def check_key(key: object) -> str:
    """The key, if it has the form of one (`RCV-7`).

    Raises:
        BadKey: it has not.
    """
    if type(key) is not str or not 0 < len(key) <= LONGEST_KEY or not all("!" <= sign <= "~" for sign in key):
        raise BadKey(code="receiver.bad_key")
    return key
