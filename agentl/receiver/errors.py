"""What a receiver refuses, each with the status that HTTP has for it (`RCV-4` to `RCV-7`)."""

from __future__ import annotations

from typing import ClassVar

from agentl.errors import AgentLError


class ReceiverError(AgentLError):
    """Base: the request was not executed, and nothing was changed for it."""

    status: ClassVar[int] = 500


class BadKey(ReceiverError):
    """The key has no usable form, or there is none (`RCV-7`)."""

    status = 400


class KeyMismatch(ReceiverError):
    """The key was used for another request (`RCV-4`); ``fields`` names what differs."""

    status = 422

    @property
    def fields(self) -> tuple[str, ...]:
        """The paths of the parameters that differ; empty when they are no longer known."""
        return tuple(self.values.get("differing", ()))


class KeyBusy(ReceiverError):
    """A request with this key is being worked on (`RCV-5`)."""

    status = 409


class KeyGone(ReceiverError):
    """The retention of the key is over (`RCV-6`)."""

    status = 410


class TransactionMisused(ReceiverError):
    """The block of ``once`` did something that would break the one transaction (`RCV-2`, `RCV-3`)."""


class InboxFailure(ReceiverError):
    """The database failed; nothing was answered (`RCV-11`)."""

    status = 503
