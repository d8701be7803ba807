#!/usr/bin/env python3
"""Project TLC's state graphs onto single actions: the table that ``agentl durable validate`` checks with.

    python tools/build_step_table.py           write agentl/durable/steps.json
    python tools/build_step_table.py --check   exit 1 when the file does not say the same

The graphs are those of one action with each promise, with and without a person, with a policy that becomes
stricter, promises that change, and verdicts. Needs Java and TLC (``tools/check_formal.py`` fetches them).
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from agentl.durable.allowed import TABLE, USE_PROMISES, key_of  # noqa: E402 - a script finds its neighbours by itself

VARIANTS = [
    *({"Host0": f"<- {host}", "Rule0": rule, "RuleChange": "<- StricterOne"}
      for host in ("HostP", "HostI", "HostR", "HostO", "HostB") for rule in ("<- AllAllow", "<- AllAsk")),
    {"Host0": "<- HostI", "HostChange": "<- OtherHost"},
    {"Host0": "<- HostR", "HostChange": "<- OtherHost"},
]  # fmt: skip
_WITH_ACTION = ("Decide", "Approve", "Mint", "Intent", "Dispatch", "Settle", "Result", "Verdict")


def model_digest() -> str:
    """What the table was made from: a change of the model makes it stale."""
    texts = [(ROOT / "formal" / name).read_bytes() for name in ("World.tla", "Kernel.tla")]
    return hashlib.sha256(b"".join(texts)).hexdigest()


def _standing(state: Any) -> tuple[tuple[str, str, str, str, str], frozenset[str]]:
    log = state["log"]
    trail = [entry for entry in log if entry["kind"] != "approve"]
    notes = {kind: [e for e in trail if e["kind"] == kind] for kind in ("intent", "resolution", "result")}
    outcome = notes["result"][0]["note"] if notes["result"] else "none"
    settled = notes["resolution"][-1]["note"] if notes["resolution"] else "none"
    last = trail[-1] if trail else None
    waiting = last["note"] if last is not None and last["kind"] == "verdict" else "none"
    repeats = [e for e in notes["resolution"] if e["note"] in ("retry", "not_executed")]
    promised = notes["intent"][0]["promise"] if notes["intent"] else frozenset()
    recorded = repeats[-1]["promise"] if repeats else promised
    permit, call = state["permit"][0], state["call"][0]
    return (permit, call, outcome, settled, waiting), recorded & state["host"][0]


def _label(action: str, before: Any, after: Any) -> str | None:
    if after["run"] != before["run"] and action != "Verdict":
        return None
    grew = len(after["log"]) > len(before["log"])
    note = after["log"][-1]["note"] if grew else ""
    call, permit = after["call"][0], after["permit"][0]
    to = {
        "Decide": permit,
        "Approve": permit,
        "Mint": "",
        "Intent": "new" if grew else "served" if permit == "spent" else "interrupted",
        "Dispatch": call,
        "Settle": note or {"returned": "executed", "failed": "failed", "doubt": "in_doubt"}.get(call, "?"),
        "Result": note,
        "Verdict": note,
    }[action]
    return f"{action} {to}".strip()


def build() -> dict[str, Any]:
    """The table, from fresh graphs."""
    graphs = importlib.import_module("tests.support.graphs")
    base = graphs.runs()["mutant/RetriesBlindly"]
    table: dict[str, dict[str, list[str]]] = {}
    for variant in VARIANTS:
        run = replace(
            base, name="table", kind="graph", module="MCKernel", swaps={}, invariants=("TypeOK",),
            properties=(), expect="ok", limit=300,
            constants={**base.constants, "MaxVerdict": "2", "MaxAttempts": "3", **variant},
        )  # fmt: skip
        graph = graphs.export(run).graph
        for source, action, target in graph.edges:
            if action not in _WITH_ACTION:
                continue
            before, after = graph.states[source], graph.states[target]
            label = _label(action, before, after)
            if label is None:
                continue
            standing, usable = _standing(before)
            if action not in USE_PROMISES:
                usable = frozenset()
            following = list(_standing(after)[0])
            known = table.setdefault(key_of(*standing, usable), {}).setdefault(label, following)
            if known != following:
                raise SystemExit(f"✗ {label} from {standing} leads to {known} and to {following}")
    return {
        "model": model_digest(),
        "table": {key: dict(sorted(steps.items())) for key, steps in sorted(table.items())},
    }


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description="The table of allowed steps, from TLC's graphs.")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    options = parser.parse_args()
    text = json.dumps(build(), indent=1) + "\n"
    if options.check:
        same = TABLE.read_text(encoding="utf-8") == text
        print("the table is fresh" if same else "✗ the table is stale: run tools/build_step_table.py")
        return 0 if same else 1
    TABLE.write_text(text, encoding="utf-8")
    print(f"{TABLE}: {len(json.loads(text)['table'])} states")
    return 0


if __name__ == "__main__":
    sys.exit(main())
