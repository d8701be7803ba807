"""The audit book: spec, model, code and tests on one page that needs nothing else."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from html import escape
from pathlib import Path

from tools.trace_matrix.book_library import Library
from tools.trace_matrix.book_parts import Clauses, Rooms, contents, figures
from tools.trace_matrix.book_text import Linker
from tools.trace_matrix.clauses import Chapter
from tools.trace_matrix.matrix import Matrix
from tools.trace_matrix.problems import KINDS

ORDER = (
    "kernel", "policy", "journal", "durable", "lease", "park", "operations", "workers", "replay",
    "logic", "state", "runtime", "language", "analysis", "cli",
)  # fmt: skip
"""What is most in need of an audit comes first; a chapter that is not named here comes last."""

_HERE = Path(__file__).resolve().parent


def render(matrix: Matrix) -> str:
    """The page. The same tree gives the same page."""
    matrix = replace(matrix, chapters=tuple(sorted(matrix.chapters, key=_order)))
    linker = Linker(matrix.rows.__contains__)
    clauses, rooms = Clauses(matrix, linker), Rooms(matrix, linker)
    parts = {
        "STYLE": _read("book.css"),
        "SCRIPT": _read("book.js"),
        "CONTENTS": contents(matrix),
        "FIGURES": figures(matrix),
        "PROBLEMS": _problems(matrix),
        "ACTIONS_INDEX": rooms.index(),
        "ACTIONS": rooms.html(),
        "CHAPTERS": "\n".join(clauses.chapter(chapter) for chapter in matrix.chapters),
        "SOURCES": Library(matrix, linker).html(),
        "REVISION": escape(revision(matrix.root)),
        "COUNT": str(len(matrix.rows)),
    }
    page = _read("book.html")
    for name, content in parts.items():
        page = page.replace(f"<!--{name}-->", content)
    return page


def _order(chapter: Chapter) -> int:
    return ORDER.index(chapter.name) if chapter.name in ORDER else len(ORDER)


def _problems(matrix: Matrix) -> str:
    if not matrix.problems:
        return (
            '<p class="verdict good">No hole: every clause has its code and its test, every name agrees.</p>'
        )
    items = "".join(
        f"<li><b>{escape(KINDS[one.kind])}</b> {escape(one.text)} <span>{escape(one.place)}</span></li>"
        for one in matrix.problems
    )
    count = f"{len(matrix.problems)} problems"
    return f'<details class="verdict bad" open><summary>{count}</summary><ul>{items}</ul></details>'


def revision(root: Path) -> str:
    """Which state of the tree this is, when the tree knows."""
    try:
        command = ["git", "describe", "--always", "--dirty= and changes that are not committed"]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return f"Revision {done.stdout.strip()}" if done.returncode == 0 else ""


def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")
