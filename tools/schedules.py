#!/usr/bin/env python3
"""Random kills and pauses of drivers that share a run: play one again, or as many as it takes.

    python tools/schedules.py --seed 17 --store sqlite --promise reconcilable --kind pause
    python tools/schedules.py --store sqlite            the full counts for one store, each promise
    python tools/schedules.py --kills 200 --pauses 100  the full counts for each store and promise

A schedule is made from its number (``tests/machines/drivers/schedule.py``); drivers are real processes.
With ``--seed`` the schedule, everything that happened and the verdict are printed. ``--keep-going`` tells
every schedule that fails, not only the first of each row. PostgreSQL is left out where it is not installed.

Exit code: 0 every clause held; 1 one did not; 2 usage.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))


def _parts() -> tuple[Any, Any]:
    return (
        importlib.import_module("tests.machines.drivers.schedule"),
        importlib.import_module("tests.machines.drivers.play"),
    )


def one(options: argparse.Namespace) -> int:
    """Play the schedule of one number and tell everything."""
    schedules, play = _parts()
    schedule = schedules.generate(options.seed, options.store, options.promise, options.kind)
    try:
        report = play.played(schedule)
    except AssertionError as broken:
        print(f"✗ {broken}")
        return 1
    print(schedule)
    print(report.chronicle, end="")
    print(f"✓ {report.kills} killed, {report.pauses} paused, {report.verdicts}")
    return 0


def counts(options: argparse.Namespace) -> int:
    """Kills and pauses until there are as many as asked, for each store and promise."""
    schedules, play = _parts()
    failures = 0
    for store in [options.store] if options.store else play.stores_here():
        for promise in [options.promise] if options.promise else schedules.PROMISES:
            for kind, wanted in (("kill", options.kills), ("pause", options.pauses)):
                began = time.monotonic()
                found = play.many(
                    store, promise, kind, wanted, first=options.first, stop=not options.keep_going
                )
                for broken in found.broken:
                    print(f"✗ {broken}", flush=True)
                failures += len(found.broken)
                took = time.monotonic() - began
                print(f"{store:9} {promise:13} {found.line()}, {took:.0f} s", flush=True)
    return 1 if failures else 0


def main() -> int:
    """Run the command; the exit code is described at the top of this file."""
    schedules, _ = _parts()
    parser = argparse.ArgumentParser(description="Random kills and pauses of drivers that share a run.")
    parser.add_argument("--seed", type=int, help="play this one and tell everything")
    parser.add_argument("--store", choices=schedules.STORES)
    parser.add_argument("--promise", choices=schedules.PROMISES)
    parser.add_argument("--kind", choices=schedules.KINDS)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--pauses", type=int, default=100)
    parser.add_argument("--first", type=int, default=int(os.environ.get("AGENTL_SCHEDULE_SEED", "0")))
    parser.add_argument("--keep-going", action="store_true")
    options = parser.parse_args()
    if options.seed is None:
        return counts(options)
    if not (options.store and options.promise and options.kind):
        parser.error("--seed needs --store, --promise and --kind")
    return one(options)


if __name__ == "__main__":
    raise SystemExit(main())
