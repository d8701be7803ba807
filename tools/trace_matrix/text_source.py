"""Files that are no Python: a grammar with comments, and prose that names clauses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tools.trace_matrix.citations import cited
from tools.trace_matrix.python_source import Unit


def read_grammar(path: Path, root: Path) -> list[Unit]:
    """The parts of a grammar: each comment that cites a clause, with the rules below it."""
    file = path.relative_to(root).as_posix()
    lines = path.read_text(encoding="utf-8").splitlines()
    comment = [line.lstrip().startswith("//") for line in lines]
    starts = [
        number
        for number, line in enumerate(lines)
        if comment[number] and not (number and comment[number - 1]) and any(cited(_block(lines, number)))
    ]
    units = []
    for start, end in zip(starts, [*starts[1:], len(lines)][: len(starts)], strict=True):
        source = "\n".join(lines[start:end]).rstrip()
        cites = dict.fromkeys(cited(_block(lines, start)), start + 1)
        for offset in range(start, end):
            for one in cited(lines[offset].partition("//")[2]):
                cites.setdefault(one, offset + 1)
        title = lines[start].strip("/ -=").split("(")[0].strip(" :.") or path.name
        units.append(Unit(file, f"{path.name}: {title}", "grammar", start + 1, end, source, False, cites))
    return units


def _block(lines: list[str], first: int) -> str:
    last = first
    while last < len(lines) and lines[last].lstrip().startswith("//"):
        last += 1
    return " ".join(line.strip("/ ") for line in lines[first:last])


def prose(root: Path) -> Iterator[tuple[str, int, str]]:
    """Every citation in the specification, the models and the documents: file, line, id."""
    paths = [*sorted((root / "spec").glob("*.md")), *sorted((root / "formal").glob("*.*"))]
    # The examples are not about clauses: their data may look like one (an invoice number, say).
    paths += [path for path in sorted((root / "docs").rglob("*.md")) if "examples" not in path.parts]
    for path in paths:
        if path.suffix not in (".md", ".tla", ".toml"):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for one in cited(line):
                yield path.relative_to(root).as_posix(), number, one
