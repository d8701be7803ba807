"""What the reader sees: a line of progress on a terminal, a table, JSON, the kill matrix."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from typing import Any

from tools.formal_check.checks import Report


def short_name(run_name: str) -> str:
    """The part after the slash."""
    return run_name.rsplit("/", 1)[-1]


class Progress:
    """One line, rewritten, on a terminal; silence elsewhere."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()

    def __call__(self, report: Report, done: int, total: int) -> None:
        """Hear of a finished run."""
        self.line(f"[{done}/{total}] {'ok  ' if report.passed else 'FAIL'} {report.run.name}")

    def line(self, text: str) -> None:
        """Rewrite the line."""
        if self._live:
            print(f"\r\x1b[2K{text[:110]}", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Clear the line."""
        if self._live:
            print("\r\x1b[2K", end="", file=sys.stderr, flush=True)


def table(reports: list[Report], seconds: float) -> str:
    """The summary."""
    width = max(len(report.run.name) for report in reports)
    head = f"{'distinct':>9} {'generated':>9} {'depth':>5} {'s':>5}"
    lines = [f"{'model':<{width}}  {'kind':<10} {'verdict':<28} {head}"]
    for report in reports:
        seen = report.outcome
        mark = "✓" if report.passed else "✗"
        sizes = f"{_count(seen.distinct):>9} {_count(seen.generated):>9} {_count(seen.depth):>5}"
        numbers = f"{sizes} {seen.seconds:>5.1f}"
        lines.append(f"{report.run.name:<{width}}  {report.run.kind:<10} {mark} {seen.verdict:<26} {numbers}")
        lines += [f"    {problem}" for problem in report.problems]
        if not report.passed and report.outcome.verdict != report.run.expect:
            lines += [f"    | {line}" for line in report.outcome.output.splitlines()[-25:]]
    failed = sum(not report.passed for report in reports)
    mutants = [report for report in reports if report.run.kind == "mutant"]
    killed = sum(report.passed for report in mutants)
    passed = len(reports) - failed
    lines.append("")
    lines.append(
        f"{passed} of {len(reports)} runs as expected; "
        f"{killed} of {len(mutants)} mutants killed by their clause; "
        f"{sum(report.outcome.distinct or 0 for report in reports):,} states; {seconds:.1f} s"
    )
    return "\n".join(lines)


def _count(number: int | None) -> str:
    return "-" if number is None else str(number)


def as_json(reports: list[Report], seconds: float) -> str:
    """All of it, for a machine."""
    rows: list[dict[str, Any]] = [
        {
            "name": report.run.name,
            "kind": report.run.kind,
            "module": report.run.module,
            "clauses": list(report.run.clauses),
            "swaps": report.run.swaps,
            "expected": report.run.expect,
            "verdict": report.outcome.verdict,
            "passed": report.passed,
            "problems": list(report.problems),
            "distinct": report.outcome.distinct,
            "generated": report.outcome.generated,
            "depth": report.outcome.depth,
            "added_edges": report.added_edges,
            "seconds": round(report.outcome.seconds, 2),
        }
        for report in reports
    ]
    passed = all(report.passed for report in reports)
    return json.dumps({"passed": passed, "seconds": round(seconds, 2), "runs": rows}, indent=2)


def matrix(
    mutants: list[tuple[str, str, str]], clauses: list[str], cells: dict[tuple[str, str], str], title: str
) -> str:
    """One kill matrix as a Markdown table. ``mutants``: run name, swapped operator, its named clause."""
    head = ["mutant", "takes the place of", *clauses]
    lines = [f"## {title}", "", "| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for name, swapped, named in mutants:
        row = [f"`{short_name(name)}`", f"`{swapped}`"]
        for clause in clauses:
            verdict = cells.get((name, clause), "")
            mark = (
                "·" if verdict == "ok" else "kill" if verdict == clause else f"({verdict})" if verdict else ""
            )
            row.append(f"**{mark}**" if clause == named and mark == "kill" else mark)
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines) + "\n"


def today() -> str:
    """The date, for a page that is committed."""
    return datetime.now(tz=UTC).date().isoformat()
