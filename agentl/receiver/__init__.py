"""The receiver's half of exactly-once: an idempotent inbox and an outbox, for services (`RCV-1` to `RCV-11`).

    inbox = SQLiteInbox("bank.db")
    with inbox.once(key, {"to": payee, "amount": amount}) as tx:
        if tx.fresh:
            tx.execute("INSERT INTO transfers (payee, amount) VALUES (?, ?)", (payee, amount))
            tx.answer = {"booked": amount}
    return tx.answer

It imports nothing of the kernel; a service needs no agent to use it.
"""

from __future__ import annotations

from agentl.receiver.errors import (
    BadKey,
    InboxFailure,
    KeyBusy,
    KeyGone,
    KeyMismatch,
    ReceiverError,
    TransactionMisused,
)
from agentl.receiver.fingerprint import Fingerprint, fingerprint
from agentl.receiver.http import IdempotencyMiddleware
from agentl.receiver.inbox import Inbox, Once
from agentl.receiver.outbox import Delivered, Message, Outbox
from agentl.receiver.postgres import PostgresInbox
from agentl.receiver.sqlite import SQLiteInbox

__all__ = [
    "BadKey",
    "Delivered",
    "Fingerprint",
    "IdempotencyMiddleware",
    "Inbox",
    "InboxFailure",
    "KeyBusy",
    "KeyGone",
    "KeyMismatch",
    "Message",
    "Once",
    "Outbox",
    "PostgresInbox",
    "ReceiverError",
    "SQLiteInbox",
    "TransactionMisused",
    "fingerprint",
]
