"""The host of ``payments.agent``: what the agent sees, and what it can do.

The program proposes, the kernel authorises, and only then one of the three tools below is
called. Each makes another promise about being interrupted half-way:

- ``transfer`` is idempotent: the bank ignores a second request with the same key, so a resumed
  run calls it again and the money moves exactly once;
- ``notify`` is reconcilable: the mailer can be asked whether a letter went out, so a resumed run
  asks before it writes;
- ``fee`` promises nothing: a resumed run never calls it again, it says that it does not know.

``PAYMENTS_BANK`` is where the bank answers (see ``bank.py``). ``PAYMENTS_APPROVER`` is who
approves transfers when nobody sits at a terminal.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

from agentl import Host, Symbol
from agentl.durable import NOT_EXECUTED
from agentl.kernel import Approval, InvalidArguments, NotExecuted, current_action

INVOICE = {
    "to": "acct-1",
    "amount": 1200,
    "message": "Invoice INV-2041 has been paid.",
    "state": Symbol("approved"),
}

TIMEOUT = 120.0
"""Seconds to wait for the bank's answer."""


class Service:
    """JSON over HTTP. A refusal of the bank is known to have done nothing; silence is not."""

    def __init__(self, base: str) -> None:
        self.base = base.rstrip("/")

    def get(self, path: str, **query: str) -> Any:
        """Ask a question."""
        suffix = f"?{urllib.parse.urlencode(query)}" if query else ""
        with urllib.request.urlopen(f"{self.base}{path}{suffix}", timeout=TIMEOUT) as answer:
            return json.load(answer)

    def post(self, path: str, body: dict[str, Any], **headers: str) -> Any:
        """Ask for something to be done."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(
            f"{self.base}{path}",
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json", **named},
        )
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refusal:
            reason = json.load(refusal).get("error", refusal.reason)
            if refusal.code in {400, 422}:
                raise InvalidArguments(reason) from None
            if refusal.code == 409:
                raise NotExecuted(reason) from None
            raise


class Bank(Service):
    """The bank as the agent's tools see it."""

    def transfer(self, amount: int, to: str, idempotency_key: str) -> str:
        """Move money under a key; returns the bank's reference."""
        answer = self.post("/transfers", {"amount": amount, "to": to}, Idempotency_Key=idempotency_key)
        return str(answer["reference"])

    def charge(self, amount: int) -> None:
        """Book a fee."""
        self.post("/fees", {"amount": amount})

    def ledger(self) -> Any:
        """The books."""
        return self.get("/ledger")


class Mailer(Service):
    """The supplier's letter box."""

    def send(self, text: str, message_id: str) -> None:
        """Send a letter."""
        self.post("/messages", {"message_id": message_id, "text": text})

    def exists(self, message_id: str) -> bool:
        """Whether that letter went out."""
        return bool(self.get("/messages", key=message_id)["sent"])


def approve(request: Any) -> Any:
    """Ask whoever is responsible; nobody there means no."""
    person = os.environ.get("PAYMENTS_APPROVER")
    if person:
        return Approval(Symbol("approved"), by=person)
    if not sys.stdin.isatty():
        return Symbol("denied")
    amount, to = request.args["amount"], request.args["to"]
    print(f"Transfer {amount} to {to}? [yes/no] ", end="", file=sys.stderr, flush=True)
    return Approval(sys.stdin.readline().strip(), by=os.environ.get("USER", "terminal"))


def build() -> tuple[Host, None]:
    """The host, and no model: nothing in this program asks one."""
    address = os.environ.get("PAYMENTS_BANK", "http://127.0.0.1:8765")
    bank, mailer = Bank(address), Mailer(address)
    host = Host()
    host.approver = approve

    for name, value in INVOICE.items():
        host.sensor(f"invoice.{name}")(lambda value=value: value)

    @host.sensor("invoice.paid")
    def paid() -> Symbol:
        booked = {(entry["to"], entry["amount"]) for entry in bank.ledger()["transfers"]}
        return Symbol("yes" if (INVOICE["to"], INVOICE["amount"]) in booked else "no")

    @host.sensor("account.balance")
    def balance() -> int:
        return int(bank.ledger()["balance"])

    @host.tool("transfer", idempotent=True)
    def transfer(amount: int, to: str) -> dict[str, Any]:
        key = current_action().idempotency_key  # stable from one resume to the next
        reference = bank.transfer(amount, to, idempotency_key=key)
        return {"status": Symbol("booked"), "reference": reference}

    @host.tool("notify")
    def notify(msg: str) -> dict[str, Any]:
        mailer.send(msg, message_id=current_action().idempotency_key)
        return {"sent": Symbol("yes")}

    @host.reconciler("notify")
    def notify_done(_args: dict[str, Any], context: Any) -> Any:
        # A mailer that does not answer raises here, and raising means "unknown": saying
        # NOT_EXECUTED instead would turn "perhaps" into "send it again".
        if mailer.exists(context.idempotency_key):
            return {"sent": Symbol("yes")}
        return NOT_EXECUTED

    @host.tool("fee")
    def fee(amount: int) -> dict[str, Any]:
        bank.charge(amount)
        return {"charged": amount}

    return host, None
