"""Search the pure steps for a counterexample to their contracts, with CrossHair.

    python3 tools/check_contracts.py [--seconds 5]

CrossHair runs each function on symbolic arguments and asks its solver for values that break a
postcondition. Its exit code 0 says only that nothing was found, so this reads what it reports: a
module in which no condition was confirmed over all its paths fails as a counterexample does.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

MODULES = ("agentl/kernel/protocol.py", "agentl/kernel/policy.py", "agentl/durable/lease.py")
"""Where functions decide without doing anything: what can be explored, and what an auditor reads."""


def explore(module: str, seconds: float) -> list[str]:
    """What CrossHair says about each condition of a module."""
    options = ["--analysis_kind=icontract", "--report_all", f"--per_condition_timeout={seconds:g}"]
    done = subprocess.run(
        [sys.executable, "-m", "crosshair", "check", *options, module],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "0", "AGENTL_CONTRACTS": "on"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in {0, 1}:
        return [f"{module}: error: CrossHair ended with {done.returncode}: {done.stderr.strip()[-500:]}"]
    return [line for line in done.stdout.splitlines() if line.strip()]


def verdict(line: str) -> str:
    """The kind of one reported line."""
    if "info: Confirmed" in line:
        return "confirmed"
    return "open" if "info: Not confirmed" in line else "broken" if ": error:" in line else "other"


def main() -> int:
    """Explore every module; 1 when a contract is broken, or none of a module is confirmed."""
    parser = argparse.ArgumentParser(description="Search for counterexamples to the contracts.")
    parser.add_argument("--seconds", type=float, default=5.0, help="how long to search per condition")
    seconds = parser.parse_args().seconds
    failed = False
    for module in MODULES:
        lines = explore(module, seconds)
        counts = Counter(verdict(line) for line in lines)
        bad = counts["broken"] > 0 or counts["confirmed"] == 0
        failed = failed or bad
        for line in lines:
            if verdict(line) in {"broken", "other"}:
                print(f"  {line.replace(str(ROOT) + os.sep, '')}")
        numbers = f"{counts['confirmed']} confirmed, {counts['open']} open, {counts['broken']} broken"
        print(f"{'✗' if bad else '✓'} {module}: {numbers}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
