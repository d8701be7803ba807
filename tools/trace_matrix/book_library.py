"""The sources at the end of the page: each cited piece once, and how other parts refer to it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from itertools import groupby, pairwise

from tools.trace_matrix.book_text import Linker, slug
from tools.trace_matrix.matrix import Matrix
from tools.trace_matrix.python_source import Unit
from tools.trace_matrix.tla import Operator

_MEMBER = re.compile(r"\s+(?:async )?def |\s+@")
WHOLE_CLASS = 30
"""A class up to this many lines is shown whole; of a longer one its head: its members stand alone."""


@dataclass(frozen=True)
class Group:
    """Operators under one comment: they are read, shown and linked together."""

    operators: tuple[Operator, ...]

    @property
    def file(self) -> str:
        """The module's file."""
        return self.operators[0].file

    @property
    def name(self) -> str:
        """The module and all the names."""
        return f"{self.operators[0].module}!{', '.join(one.name for one in self.operators)}"

    @property
    def place(self) -> str:
        """The file, and the line of the comment."""
        return f"{self.file}:{self.operators[0].group}"

    @property
    def cites(self) -> dict[str, int]:
        """What the comments of the group name."""
        return {clause: line for one in self.operators for clause, line in one.cites.items()}

    @property
    def source(self) -> str:
        """All of them, with the blank lines between."""
        parts = [self.operators[0].source]
        for before, one in pairwise(self.operators):
            parts.append(one.source if one.first == before.last + 1 else f"\n{one.source}")
        return "\n".join(parts)


def groups(matrix: Matrix, operators: Iterable[Operator]) -> list[Group]:
    """The whole groups that these operators stand in, each once, in the order given."""
    wanted = dict.fromkeys((one.module, one.group) for one in operators)
    return [
        Group(tuple(one for one in matrix.models[module].operators if one.group == group))
        for module, group in wanted
    ]


def anchor(piece: Unit | Group) -> str:
    """The name of the place where a piece stands in the sources."""
    if isinstance(piece, Group):
        return f"tla-{piece.operators[0].module}-{piece.operators[0].name}"
    return slug(f"{piece.file}-{piece.name}-{piece.first}")


def shown(unit: Unit) -> str:
    """The source of a unit as the page shows it, indented to the left edge."""
    lines = unit.source.splitlines()
    if unit.kind == "class" and len(lines) > WHOLE_CLASS:
        start = next((n for n, line in enumerate(lines) if line.startswith(("class ", "    class "))), 0)
        end = next((n for n in range(start + 1, len(lines)) if _MEMBER.match(lines[n])), len(lines))
        lines = [*lines[:end], "    …"] if end < len(lines) else lines
    margin = min(
        (len(line) - len(line.lstrip()) for line in lines if line.strip() and line != "…"), default=0
    )
    return "\n".join(line[margin:] if line.strip() else "" for line in lines).strip("\n")


def breakable(name: str) -> str:
    """A name as HTML that may be broken where its words end."""
    return escape(name).replace("_", "_<wbr>").replace(".", ".<wbr>").replace("!", "!<wbr>")


class Library:
    """Renders the cited pieces, grouped by file, each with links back to its clauses."""

    def __init__(self, matrix: Matrix, linker: Linker) -> None:
        self._linker = linker
        self._known = matrix.rows
        self.operators = groups(
            matrix,
            (
                one
                for module in matrix.models.values()
                for one in module.operators
                if any(clause in matrix.rows for clause in one.cites) or one in module.actions
            ),
        )
        self.code = [unit for unit in matrix.code if self._cites(unit)]
        self.tests = [unit for unit in matrix.tests if self._cites(unit)]

    def _cites(self, unit: Unit) -> bool:
        return any(one in self._known for one in unit.cites)

    def html(self) -> str:
        """The three shelves."""
        return "\n".join(
            self._shelf(name, title, pieces)
            for name, title, pieces in (
                ("model", "Model", self.operators),
                ("code", "Code", self.code),
                ("test", "Tests", self.tests),
            )
        )

    def _shelf(self, name: str, title: str, pieces: Iterable[Unit | Group]) -> str:
        files = "\n".join(
            f'<section class="file"><h4>{escape(file)}</h4>'
            f"{''.join(self._piece(one) for one in group)}</section>"
            for file, group in groupby(pieces, key=lambda piece: piece.file)
        )
        return f'<section class="shelf {name}"><h3>{title}</h3>{files}</section>'

    def _piece(self, piece: Unit | Group) -> str:
        if isinstance(piece, Group):
            body = self._linker.tla(piece.source)
        elif piece.kind == "grammar":
            body = self._linker.link(piece.source)
        else:
            body = self._linker.python(shown(piece))
        clauses = " ".join(
            f'<a class="id" href="#{one}">{one}</a>' for one in sorted(piece.cites) if one in self._known
        )
        return (
            f'<div class="piece" id="{anchor(piece)}"><p class="at"><b>{breakable(piece.name)}</b>'
            f"<span>{escape(piece.place)}</span></p>"
            f'<p class="for">{clauses}</p><pre tabindex="0"><code>{body}</code></pre></div>'
        )
