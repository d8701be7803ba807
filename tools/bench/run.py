"""The bench as a command: ``python -m tools.bench`` or ``python3 tools/bench/run.py``."""

from __future__ import annotations

import argparse
import datetime as dt
import platform
import sys
from pathlib import Path

if __package__ in {None, ""}:  # started as a file: make the checkout importable
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tools.bench.child import ROOT
from tools.bench.many_rows import many_rows
from tools.bench.measure import cores, disk_kind
from tools.bench.report import as_json, table, write_docs
from tools.bench.rows import FULL, GROUPS, QUICK, Row, workspace
from tools.bench.workers import worker_rows

GROUPS |= {"many": many_rows, "workers": worker_rows}
DOCUMENT = ROOT / "docs" / "performance.md"


def options(arguments: list[str] | None) -> argparse.Namespace:
    """The command line of the bench."""
    parser = argparse.ArgumentParser(
        prog="bench", description="Measure what a governed, durable action costs."
    )
    parser.add_argument(
        "--quick", action="store_true", help="a smoke run: every row, figures without meaning"
    )
    parser.add_argument(
        "--only", choices=sorted(GROUPS), action="append", help="measure this group only (repeatable)"
    )
    parser.add_argument("--rounds", type=int, help=f"alternating rounds (default {FULL.rounds})")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the report as JSON")
    parser.add_argument(
        "--write-docs", action="store_true", help=f"regenerate the table of docs/{DOCUMENT.name}"
    )
    parser.add_argument("--dir", type=Path, default=ROOT, help="a directory on the disk to measure")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, write. Returns 1 when a bound is not met, 0 otherwise (always 0 with ``--quick``)."""
    chosen = options(arguments)
    if chosen.write_docs and (chosen.quick or chosen.only):
        print("bench: --write-docs wants the whole, full run", file=sys.stderr)
        return 2
    sizes = QUICK if chosen.quick else FULL
    if chosen.rounds:
        sizes = type(sizes)(
            **{**{name: getattr(sizes, name) for name in sizes.__slots__}, "rounds": chosen.rounds}
        )
    rows: list[Row] = []
    with workspace(chosen.dir) as place:
        for name, group in GROUPS.items():
            if chosen.only and name not in chosen.only:
                continue
            print(f"bench: {name} …", file=sys.stderr, flush=True)
            rows += list(group(sizes, place))
    machine = {
        "cores": cores(),
        "disk": disk_kind(chosen.dir),
        "python": platform.python_version(),
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "rounds": sizes.rounds,
        "steps": sizes.steps,
        "quick": chosen.quick,
    }
    print(table(rows))
    if chosen.json:
        chosen.json.write_text(as_json(rows, machine) + "\n", encoding="utf-8")
    if chosen.write_docs:
        write_docs(DOCUMENT, rows, machine)
    return 0 if chosen.quick or all(row.met is not False for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
