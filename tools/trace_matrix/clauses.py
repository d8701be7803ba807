"""The specification: chapters, their sections, and the clauses with their words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tools.trace_matrix.citations import ID, cited

HEADING = re.compile(rf"### ({ID}) · (.+)")
_ROW = re.compile(rf"\| *`?({ID})`? *\|(.*)")
_EXCUSE = re.compile(r"\*(Later|By nature): (.+)\*", re.DOTALL)


@dataclass(frozen=True)
class Clause:
    """One numbered rule: its id, its name, and its words as Markdown.

    ``excuse`` is the reason that the clause itself gives for having no code or no test, else empty.
    """

    id: str
    name: str
    chapter: str
    section: str
    file: str
    line: int
    words: str
    excuse: str = ""

    @property
    def mentions(self) -> tuple[str, ...]:
        """The other clauses that its words name, in order."""
        return tuple(dict.fromkeys(one for one in cited(self.words) if one != self.id))


@dataclass(frozen=True)
class Chapter:
    """One file of the specification: its title, the words before its first clause, and its clauses."""

    name: str
    title: str
    file: str
    intro: str
    clauses: tuple[Clause, ...]


def read_chapter(path: Path, root: Path) -> Chapter:
    """The chapter in one Markdown file. A table row that begins with an id is a clause of its own."""
    file = path.relative_to(root).as_posix()
    title, section, intro = path.stem, "", list[str]()
    found: list[tuple[str, str, str, int, list[str]]] = []
    fenced = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        fenced ^= line.startswith("```")
        heading = None if fenced else HEADING.fullmatch(line.rstrip())
        row = None if fenced else _ROW.match(line)
        if heading:
            found.append((heading[1], heading[2], section, number, []))
        elif not fenced and line.startswith("## "):
            section = line[3:].strip()
        elif not fenced and line.startswith("# "):
            title = line[2:].strip()
        else:
            (found[-1][4] if found else intro).append(line)
            if row and found:
                cells = [cell.strip() for cell in row[2].strip().strip("|").split("|")]
                parent = found.pop()
                found += [(row[1], cells[0], section, number, [" · ".join(cells)]), parent]
    clauses = tuple(_clause(path.stem, file, one) for one in sorted(found, key=lambda one: one[3]))
    return Chapter(path.stem, title, file, "\n".join(intro).strip(), clauses)


def _clause(chapter: str, file: str, found: tuple[str, str, str, int, list[str]]) -> Clause:
    name_id, name, section, line, words = found
    text = "\n".join(words).strip()
    excuses = [
        " ".join(f"{one[1]}: {one[2]}".split())
        for paragraph in text.split("\n\n")
        if (one := _EXCUSE.fullmatch(paragraph.strip()))
    ]
    return Clause(name_id, name, chapter, section, file, line, text, " ".join(excuses))


def read_spec(root: Path) -> tuple[Chapter, ...]:
    """Every chapter that has a clause, by file name."""
    chapters = (read_chapter(path, root) for path in sorted((root / "spec").glob("*.md")))
    return tuple(chapter for chapter in chapters if chapter.clauses)
