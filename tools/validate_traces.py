#!/usr/bin/env python3
"""Check recorded step logs against the model ``formal/Kernel.tla``, with TLC.

    python tools/validate_traces.py DIR_OR_FILE...      logs written by agentl.durable.steplog (*.steps)
    python tools/validate_traces.py --complete DIR      and every action of the model must have been seen

Each log is accepted only if some behaviour of the model matches it from the first to the last line. The
report gives the number of traces, the steps of each kind, and the actions of the model that no trace shows.

Exit code: 0 all are accepted; 1 one is rejected, empty, cut or of another format; 2 nothing was checked.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from agentl.durable.conformance import Line, lines_of  # noqa: E402 - a script finds its neighbours by itself
from agentl.durable.steplog import read_steps  # noqa: E402
from agentl.errors import DurableError  # noqa: E402
from tools.formal_check.obtain import EnvironmentFaultError, find_java, find_tlc  # noqa: E402
from tools.formal_check.tlc import Tlc  # noqa: E402
from tools.formal_check.traces import TraceError, judge  # noqa: E402


def _files(given: list[Path]) -> list[Path]:
    found: list[Path] = []
    for path in given:
        found += sorted(path.rglob("*.steps")) if path.is_dir() else [path]
    return found


def main(argv: list[str] | None = None) -> int:
    """Run the command; the exit code is described at the top of this file."""
    parser = argparse.ArgumentParser(description="Check step logs against the kernel's model with TLC.")
    parser.add_argument("paths", nargs="+", type=Path, help="step logs, or folders of *.steps")
    parser.add_argument("--complete", action="store_true", help="every action of the model must be seen")
    options = parser.parse_args(argv)
    files = _files(options.paths)
    if not files:
        print("✗ there is no trace (*.steps) here, so nothing would be checked", file=sys.stderr)
        return 2
    logs: list[list[Line]] = []
    refused = 0
    for file in files:
        try:
            logs.append(lines_of(read_steps(file)))
        except DurableError as error:
            refused += 1
            print(f"✗ {error}")
    if refused:
        return 1
    try:
        tools = ROOT / ".tools"
        verdict = judge(Tlc(find_java(tools), find_tlc(tools).resolve(), ROOT / "formal"), logs)
    except (EnvironmentFaultError, TraceError) as error:
        print(f"✗ {error}", file=sys.stderr)
        return 2
    for rejected in verdict.rejected:
        line = logs[rejected.log][rejected.line]
        print(f"✗ {files[rejected.log]}: line {line.source + 1} is no step of the model: {line}")
    print(verdict.report())
    missing = verdict.never_seen if options.complete else []
    if missing:
        print(f"✗ no trace shows {', '.join(missing)}")
    return 1 if verdict.rejected or missing else 0


if __name__ == "__main__":
    sys.exit(main())
