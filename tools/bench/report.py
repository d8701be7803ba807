"""What the bench says: a table on the terminal, JSON in a file, a section of ``docs/performance.md``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tools.bench.rows import Row

BEGIN = "<!-- bench:begin -->"
END = "<!-- bench:end -->"


def figure(value: float) -> str:
    """Three significant places are all that such a figure can bear."""
    if value >= 1000:
        return f"{value:,.0f}".replace(",", " ")
    if value >= 100:
        return f"{value:.0f}"
    if value >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"


def verdict(row: Row) -> str:
    """``yes`` or ``no`` where a bound exists, nothing elsewhere."""
    return "" if row.met is None else ("yes" if row.met else "no")


def table(rows: Sequence[Row]) -> str:
    """The rows as aligned text."""
    cells = [
        (row.group, row.name, f"{figure(row.value)} {row.unit}", row.target, verdict(row), row.note)
        for row in rows
    ]
    head = ("group", "measured", "figure", "target", "met", "note")
    widths = [max(len(line[column]) for line in [head, *cells]) for column in range(len(head))]
    lines = []
    for line in [head, *cells]:
        padded = [
            cell.rjust(width) if column == 2 else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def as_json(rows: Sequence[Row], machine: dict[str, Any]) -> str:
    """The same report for programs."""
    return json.dumps(
        {"machine": machine, "rows": [row.as_json() for row in rows]}, ensure_ascii=False, indent=2
    )


def markdown(rows: Sequence[Row], machine: dict[str, Any]) -> str:
    """The section of the documentation, markers included."""
    lines = [
        BEGIN,
        f"Measured {machine['date']} on {machine['cores']} cores, {machine['disk']}, "
        f"Python {machine['python']}; "
        f"medians of {machine['rounds']} alternating rounds of {machine['steps']} steps.",
        "",
        "| measured | figure | target | met | note |",
        "|---|--:|---|---|---|",
    ]
    lines += [
        f"| {row.name} | {figure(row.value)} {row.unit} | {row.target} | {verdict(row)} | {row.note} |"
        for row in rows
    ]
    lines.append(END)
    return "\n".join(lines)


def write_docs(path: Path, rows: Sequence[Row], machine: dict[str, Any]) -> None:
    """Replace the generated section of ``path``.

    Raises:
        ValueError: the file has no such section.
    """
    text = path.read_text(encoding="utf-8")
    begin, end = text.find(BEGIN), text.find(END)
    if begin < 0 or end < begin:
        raise ValueError(f"{path.name} has no section between {BEGIN} and {END}")
    path.write_text(text[:begin] + markdown(rows, machine) + text[end + len(END) :], encoding="utf-8")
