"""An outbox: what must be told to others leaves behind the commit, at least once (`RCV-8`, `RCV-9`)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agentl.receiver.inbox import Inbox


@dataclass(frozen=True, slots=True)
class Message:
    """``id`` is the key under which the consumer's inbox takes it; ``payload`` a JSON value."""

    id: str
    topic: str
    payload: Any


@dataclass(frozen=True, slots=True)
class Delivered:
    """How many messages were delivered, and how many have to wait."""

    sent: int
    failed: int


class Outbox:
    """The messages that ``tx.publish`` wrote down in ``inbox``."""

    def __init__(self, inbox: Inbox) -> None:
        self.inbox = inbox

    def deliver(self, send: Callable[[Message], Any], *, limit: int = 100) -> Delivered:
        """Give waiting messages to ``send``, the oldest first, each marked after ``send`` returned (`RCV-9`).

        A message may be given again, after a crash or by another process: the consumer must know it by
        its id. What ``send`` raises is kept with the message, which waits for the next call.

        Args:
            limit: how many messages at most.

        Raises:
            InboxFailure: the database failed.
        """
        sent = failed = 0
        for message_id, topic, payload in self.inbox.waiting(limit):
            try:
                send(Message(message_id, topic, json.loads(payload)))
            except Exception as error:  # noqa: BLE001 - whatever a transport raises, the message waits
                failed += 1
                self.inbox.mark(message_id, f"{type(error).__name__}: {error}")
            else:
                sent += 1
                self.inbox.mark(message_id, None)
        return Delivered(sent, failed)


__all__ = ["Delivered", "Message", "Outbox"]
