#!/usr/bin/env python3
"""Lay spec, model, code and tests beside each other, and fail on a hole.

    python3 tools/traceability.py                  counts and problems
    python3 tools/traceability.py --table [KRN-]   every clause with what cites it, or some of them
    python3 tools/traceability.py --json           the same for a machine
    python3 tools/traceability.py --html FILE      the audit book: one page, to be read offline

The ids are read from the files themselves: the headings of ``spec/``, the comments of ``formal/``, the
docstrings, comments and contracts of ``agentl/``, the docstrings and comments of ``tests/``. Needs
Python 3.11 and nothing else; only ``--html`` needs the packages of the extra ``dev``.

Exit code: 0 no hole; 1 an id that no chapter defines, a clause without code or without a test, a name
that differs between model, code and trace; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools.trace_matrix import report
from tools.trace_matrix.matrix import build

ROOT = Path(__file__).resolve().parent.parent


def main(argv: list[str] | None = None) -> int:
    """Run the command; gives the exit code."""
    parser = argparse.ArgumentParser(
        description="Lay spec, model, code and tests beside each other, and fail on a hole.",
        allow_abbrev=False,
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--table", nargs="?", const="", metavar="PREFIX", help="every clause (or these) with what cites it"
    )
    form.add_argument("--json", action="store_true", help="print the matrix as JSON")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write the audit book")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    matrix = build(options.root.resolve())
    if options.html:
        from tools.trace_matrix.book import render

        options.html.parent.mkdir(parents=True, exist_ok=True)
        options.html.write_text(render(matrix), encoding="utf-8")
    if options.json:
        print(json.dumps(report.as_data(matrix), indent=2, ensure_ascii=False))
        return 1 if matrix.problems else 0
    if options.table is not None:
        print("\n".join(report.table(matrix, options.table)))
    print("\n".join(report.summary(matrix)))
    return 1 if matrix.problems else 0


if __name__ == "__main__":
    sys.exit(main())
