"""The programs and hosts that the bench runs, as text: exactly what a user would write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentl import Host, MockLLM, parse_source

STEPS = """
AGENT BENCH {
  OBSERVE { jobs }
  TOOL transfer {
    INPUT { amount: Number, to: String }
    OUTPUT { receipt: String }
    RISK HIGH
    SIDE_EFFECT { ledger }
  }
  POLICY {
    DEFAULT DENY
    NEVER transfer WHEN tools.transfer.in_doubt == true
    NEVER transfer WHEN amount > 1000
    ALLOW transfer WHEN amount > 0
  }
  PLAN pay WHEN len(jobs) > 0 {
    FOREACH job IN jobs MAX 1000000 {
      REASON { TASK "price the job" USING { job.to } PRODUCE { amount: Number IN [0, 500] DEFAULT 0 } }
      transfer(amount: reason.amount, to: job.to)
    }
  }
}
"""

TICKS = """
AGENT TICKS {
  OBSERVE { meter }
  MEMORY { LONG_TERM readings  WRITE { STORE meter INTO LONG_TERM.readings } }
  POLICY { DEFAULT DENY }
}
"""


def steps_agent() -> Any:
    """The agent whose one plan takes ``len(jobs)`` governed steps."""
    return parse_source(STEPS).agents[0]


def ticks_agent() -> Any:
    """The agent that stores one memory record per tick."""
    return parse_source(TICKS).agents[0]


def steps_world(count: int, on_call: Callable[[int], None] | None = None) -> tuple[Host, MockLLM]:
    """Host and scripted model of ``STEPS`` with ``count`` jobs; ``on_call(n)`` runs inside the n-th call."""
    host = Host()
    jobs = [{"to": f"acct-{number:05d}"} for number in range(count)]
    calls = 0

    @host.sensor("jobs")
    def read_jobs() -> list[dict[str, str]]:
        return jobs

    @host.tool("transfer", idempotent=True)
    def transfer(amount: float, to: str) -> dict[str, str]:  # noqa: ARG001 - names are the contract
        nonlocal calls
        calls += 1
        if on_call is not None:
            on_call(calls)
        return {"receipt": "r-00000001"}

    return host, MockLLM({"price": {"amount": 125}})


def ticks_world(on_read: Callable[[int], None] | None = None) -> Host:
    """Host of ``TICKS``: a meter that gives another number at each reading."""
    host = Host()
    readings = 0

    @host.sensor("meter")
    def read_meter() -> int:
        nonlocal readings
        readings += 1
        if on_read is not None:
            on_read(readings)
        return readings

    return host


def policy_program(tools: int, rules_per_tool: int) -> str:
    """A program with ``tools`` tools and, for each, that many rules whose guards read the arguments."""
    lines = ["AGENT RULES {", "  BELIEF { desk.open: yes, desk.limit: 1000000 }"]
    lines += [
        f"  TOOL act{tool} {{ INPUT {{ amount: Number, to: String }} RISK MEDIUM }}" for tool in range(tools)
    ]
    lines += ["  POLICY {", "    DEFAULT DENY"]
    for tool in range(tools):
        for rule in range(rules_per_tool - 1):
            kind = rule % 4
            if kind == 0:
                lines.append(f"    NEVER act{tool} WHEN amount > {100000 + rule}")
            elif kind == 1:
                lines.append(f"    DENY act{tool} WHEN to == blocked{rule} AND amount > {rule}")
            elif kind == 2:
                lines.append(f"    NEVER act{tool} WHEN NOT desk.open == yes")
            else:
                lines.append(f"    REQUIRE APPROVAL FOR act{tool} WHEN amount > desk.limit + {rule}")
        lines.append(f"    ALLOW act{tool} WHEN amount > 0")
    lines += ["  }", "}"]
    return "\n".join(lines)


def long_program(lines_wanted: int) -> str:
    """A program of exactly ``lines_wanted`` lines: tools, rules, plans with nested statements."""
    lines = ["AGENT LONG {"]
    block = 0
    while len(lines) + 16 + 1 <= lines_wanted:
        lines += [
            f"  TOOL act{block} {{",
            "    INPUT { amount: Number, to: String }",
            "    OUTPUT { receipt: String }",
            "    RISK MEDIUM",
            f"    EFFECT {{ state{block}.done = yes }}",
            "  }",
            f"  POLICY {{ DEFAULT DENY NEVER act{block} WHEN amount > {block} * 10 AND NOT ok == yes }}",
            f"  PLAN plan{block} PRIORITY {block % 7} WHEN state{block}.level >= 3 OR UNTRUSTED(ok) {{",
            f'    STEP one {{ act{block}(amount: state{block}.level + 2 * 3, to: "acct-{block}") }}',
            "    STEP two {",
            f'      IF state{block}.done == yes THEN {{ SET note{block} = [1, 2, "three"] }}',
            f'      ELSE {{ ASK owner {{ QUESTION "go on with {block}?" DEFAULT no }} }}',
            f"      FOREACH item IN state{block}.items MAX 10 {{ SET last{block} = item.index }}",
            f'      VERIFY "done" {{ state{block}.done == yes ON FAIL {{ RETRY 1 ESCALATE }} }}',
            "    }",
            "  }",
        ]
        block += 1
    while len(lines) < lines_wanted - 1:
        lines.append("  # padding")
    lines.append("}")
    return "\n".join(lines) + "\n"
