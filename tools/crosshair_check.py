"""Let CrossHair confirm the contracts of the pure steps, and find the faults that were planted under them.

    python3 tools/crosshair_check.py [--seconds 5] [--only NAME]

CrossHair runs a function on symbolic arguments and asks its solver for values that break a postcondition.
That it finds nothing says little: it may not have looked far. So each function here must be *confirmed*,
every postcondition over all paths, and the same contract around a wrong body (``tests/contracts/planted``)
must be *found* broken. A pure module with a contracted function that is not on the list fails as well.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

CONFIRMED = {
    "agentl.kernel.protocol": (
        "decide", "approve", "mint", "intent", "dispatch", "present", "result", "usable", "settle",
        "believed", "verdict",
    ),
    "agentl.kernel.policy": ("ruling",),
    "agentl.durable.lease": ("liveness", "standing", "unsure", "next_epoch", "may_append", "may_still_act"),
    "agentl.durable.closing": ("close",),
    "agentl.receiver.decisions": ("ruling", "expire"),
}  # fmt: skip
"""Where functions decide without doing anything: what can be explored, and what an auditor reads."""

OPEN = {"agentl.durable.lease.liveness", "agentl.durable.lease.may_still_act"}
"""Texts and tuples of any length, over which no search ends: only their planted fault may be found."""
OPEN_SECONDS = 1.0

PLANTED = "tests.contracts.planted"


@dataclass(frozen=True)
class Row:
    """What CrossHair says about a function and about its twin with the fault."""

    name: str
    promised: int
    confirmed: int
    trouble: str
    found: str
    seconds: float

    @property
    def passed(self) -> bool:
        """Everything is confirmed, and the fault is found."""
        sure = self.promised == self.confirmed > 0 or self.name in OPEN
        return not self.trouble and sure and bool(self.found)


def explore(name: str, seconds: float) -> list[str]:
    """The lines that CrossHair reports about a function; it ends with 2 when it could not look at it."""
    options = ["--analysis_kind=icontract", "--report_all", f"--per_condition_timeout={seconds:g}"]
    done = subprocess.run(
        [sys.executable, "-m", "crosshair", "check", *options, name],
        cwd=ROOT,
        env={
            **os.environ,
            "PYTHONHASHSEED": "0",
            "PYTHONPATH": str(ROOT),
            "PYTHONOPTIMIZE": "",
            "AGENTL_CONTRACTS": "on",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in {0, 1}:
        return [f"{name}: error: CrossHair ended with {done.returncode}: {done.stderr.strip()[-500:]}"]
    return [line for line in done.stdout.splitlines() if line.strip()]


def look_at(module: str, function: str, promised: int, seconds: float) -> Row:
    """Explore a function and its planted twin."""
    began = time.monotonic()
    name = f"{module}.{function}"
    lines = explore(name, min(seconds, OPEN_SECONDS) if name in OPEN else seconds)
    confirmed = sum("info: Confirmed" in line for line in lines)
    if name in OPEN:
        lines = [line for line in lines if "info: Not confirmed" not in line]
    others = [line.replace(f"{ROOT}{os.sep}", "") for line in lines if "info: Confirmed" not in line]
    twin = explore(f"{PLANTED}.{module.rsplit('.', 1)[1]}.{function}", seconds)
    calls = [re.search(r"false when calling (.*?)(?: \(which returns .*)?$", line) for line in twin]
    found = next((call.group(1) for call in calls if call is not None), "")
    return Row(name, promised, confirmed, "; ".join(others), found, time.monotonic() - began)


def promises() -> dict[tuple[str, str], int]:
    """The number of postconditions of every contracted function in the modules of the list."""
    found = {}
    for name in CONFIRMED:
        module = import_module(name)
        for function, value in vars(module).items():
            if getattr(value, "__module__", "") == name and hasattr(value, "__postconditions__"):
                found[name, function] = len(value.__postconditions__)
    return found


def main() -> int:
    """Explore the list; 1 when a function is not confirmed, its fault not found, or a function not listed."""
    parser = argparse.ArgumentParser(description="Confirm the contracts of the pure steps.")
    parser.add_argument("--seconds", type=float, default=5.0, help="how long to search per condition (CPU)")
    parser.add_argument("--only", metavar="NAME", help="only the functions whose name contains this")
    chosen = parser.parse_args()
    # The list is compared with what icontract keeps, so the contracts must be on here as well.
    os.environ["AGENTL_CONTRACTS"] = "on"
    sys.path.insert(0, str(ROOT))
    began = time.monotonic()
    every = promises()
    listed = [(module, function) for module, functions in CONFIRMED.items() for function in functions]
    missing = sorted(set(every) ^ set(listed))
    work = [pair for pair in listed if not chosen.only or chosen.only in ".".join(pair)]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        sought = [
            pool.submit(look_at, module, function, every.get((module, function), 0), chosen.seconds)
            for module, function in work
        ]
        rows = [row.result() for row in sought]
    width = max((len(row.name) for row in rows), default=0)
    print(f"  {'function':{width}}  confirmed  seconds  planted fault found by")
    for row in rows:
        sign = "✓" if row.passed else "✗"
        print(
            f"{sign} {row.name:{width}}  {row.confirmed:>4} of {row.promised}  {row.seconds:7.1f}"
            f"  {row.found or 'NOT FOUND'}"
        )
        if row.trouble:
            print(f"    {row.trouble}")
    for module, function in missing:
        print(f"✗ {module}.{function}: contracted and not on the list, or listed and not contracted")
    failed = sum(not row.passed for row in rows)
    confirmed = sum(row.confirmed for row in rows)
    print(
        f"{len(rows) - failed} of {len(rows)} functions: {confirmed} conditions confirmed, "
        f"{sum(bool(row.found) for row in rows)} planted faults found, {time.monotonic() - began:.0f} s"
    )
    return 1 if failed or missing or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
