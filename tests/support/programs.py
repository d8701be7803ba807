"""Small programs and what runs them, for tests that need the interpreter or a durable run."""

from __future__ import annotations

from typing import Any

from agentl import Host, MockLLM, Runtime, parse_source
from agentl.durable import DurableRun
from agentl.language.nodes import Agent

PAYMENTS = """
AGENT payments {
  TOOL transfer {
    INPUT { amount: Number }
    OUTPUT { ok: Bool }
    SIDE_EFFECT { accounts }
    RISK HIGH
  }
  POLICY { %(policy)s }
  BELIEF { request.open = yes }
  PLAN pay WHEN request.open == yes AND tools.transfer.calls == 0 { transfer(amount: %(amount)s) }
}
"""


def payments(policy: str = "DEFAULT ALLOW", amount: str = "100") -> Agent:
    return parse_source(PAYMENTS % {"policy": policy, "amount": amount}).agents[0]


class Ledger:
    """An outside world that counts: each effect under its idempotency key."""

    def __init__(self, *, honours_keys: bool = False) -> None:
        self.booked: list[tuple[str, Any]] = []
        self.honours_keys = honours_keys

    def book(self, key: str, amount: Any) -> None:
        if self.honours_keys and any(known == key for known, _ in self.booked):
            return
        self.booked.append((key, amount))


def host_of(ledger: Ledger, *, die_after: type[BaseException] | None = None, **promises: Any) -> Host:
    """A host whose tool books in ``ledger`` and then, if asked, dies."""
    from agentl.kernel import current_action

    host = Host()
    host.sleep = lambda _seconds: None

    @host.tool("transfer", **promises)
    def transfer(amount: Any) -> Any:
        context = current_action()
        assert context is not None
        ledger.book(context.idempotency_key, amount)
        if die_after is not None:
            raise die_after
        return {"ok": True}

    return host


def ran(agent: Agent, host: Host, llm: Any = None, ticks: int = 2) -> Runtime:
    runtime = Runtime(agent, host, llm or MockLLM())
    runtime.run(ticks)
    return runtime


def durable(agent: Agent, host: Host, store: Any, ticks: int = 2) -> DurableRun:
    run = DurableRun(agent, host, MockLLM(), store=store, run_id="r1")
    run.run(max_ticks=ticks)
    return run
