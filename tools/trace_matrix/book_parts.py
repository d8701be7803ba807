"""The parts of the page: figures, the four rooms of each action, the clauses, the table of contents."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from tools.trace_matrix.book_library import Group, anchor, breakable, groups
from tools.trace_matrix.book_text import Linker
from tools.trace_matrix.clauses import Chapter, Clause
from tools.trace_matrix.matrix import Matrix, Row
from tools.trace_matrix.names import PROTOCOL, Action, snake
from tools.trace_matrix.python_source import Unit

ROOMS = (("model", "Model"), ("contract", "Contracts"), ("code", "Code"), ("test", "Tests"))
_MANY = 7
_EXCERPT = 160
_NEAR = (
    "tests/kernel/test_protocol.py",
    "tests/kernel/",
    "tests/machines/",
    "tests/formal/",
    "tests/invariants/",
)


def specific(pieces: Sequence[Unit]) -> list[Unit]:
    """What speaks of few clauses comes first: it is about this one."""
    return sorted(pieces, key=lambda unit: (unit.kind == "module", len(unit.cites)))


def contents(matrix: Matrix) -> str:
    """The list of all clauses, by chapter."""
    return "\n".join(
        f'<details class="toc-chapter" open><summary>{_short(chapter)}'
        f'<span class="count">{len(chapter.clauses)}</span></summary><ol>'
        + "".join(_entry(matrix.rows[clause.id]) for clause in chapter.clauses)
        + "</ol></details>"
        for chapter in matrix.chapters
    )


def _entry(row: Row) -> str:
    clause = row.clause
    marks = "".join(f'<i class="{room}"></i>' for room, count in _counts(row) if count)
    return (
        f'<li data-id="{clause.id}"><a href="#{clause.id}"><span class="no">{clause.id}</span>'
        f'<span class="name">{_plain(clause.name)}</span><span class="marks">{marks}</span></a></li>'
    )


def _counts(row: Row) -> tuple[tuple[str, int], ...]:
    return (
        ("model", len(row.operators)),
        ("contract", len(row.contracts)),
        ("code", len(row.code)),
        ("test", len(row.tests)),
    )


def figures(matrix: Matrix) -> str:
    """How much of each chapter has what."""
    total = matrix.counts()
    tiles = [f'<div class="tile"><b>{total["clauses"]}</b><span>clauses</span></div>']
    tiles += [
        f'<div class="tile {room}"><b>{total[room]}</b><span>{words}</span></div>'
        for room, words in (
            ("code", "with code"),
            ("test", "with a test"),
            ("model", "in the model"),
            ("contract", "under a contract"),
        )
    ]
    rows = "".join(_figures_row(matrix, chapter) for chapter in matrix.chapters)
    heads = "".join(f'<th scope="col" class="{room}">{title}</th>' for room, title in ROOMS)
    return (
        f'<div class="tiles">{"".join(tiles)}</div><div class="scroll" tabindex="0">'
        '<table class="coverage"><thead>'
        f'<tr><th scope="col">Chapter</th><th scope="col">Clauses</th>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _figures_row(matrix: Matrix, chapter: Chapter) -> str:
    counts = matrix.counts(chapter.name)
    whole = counts["clauses"]
    cells = "".join(
        f'<td class="{room}"><span class="bar">'
        f'<i style="width:{round(100 * counts[room] / whole)}%"></i></span>'
        f'<span class="n">{counts[room]}</span></td>'
        for room, _ in ROOMS
    )
    return (
        f'<tr><th scope="row"><a href="#chapter-{chapter.name}">{_short(chapter)}</a></th>'
        f'<td class="n">{whole}</td>{cells}</tr>'
    )


def _short(chapter: Chapter) -> str:
    return _plain(chapter.title.split(":", 1)[0])


def _plain(text: str) -> str:
    return escape(text.replace("`", ""))


class Clauses:
    """Renders chapters and clauses."""

    def __init__(self, matrix: Matrix, linker: Linker) -> None:
        self._matrix = matrix
        self._linker = linker
        self._mentioned: dict[str, list[str]] = {one: [] for one in matrix.rows}
        for row in matrix.rows.values():
            for one in row.clause.mentions:
                if one in self._mentioned:
                    self._mentioned[one].append(row.clause.id)

    def chapter(self, chapter: Chapter) -> str:
        """One chapter: its introduction, then clause by clause."""
        title, _, subtitle = chapter.title.partition(":")
        parts = [
            f'<section class="chapter" id="chapter-{chapter.name}"><header>'
            f'<p class="kicker">{chapter.file}</p>'
            f"<h2>{_plain(title)}</h2>"
            + (f'<p class="subtitle">{_plain(subtitle.strip())}</p>' if subtitle else "")
            + f'<div class="intro words">{self._linker.markdown(chapter.intro)}</div></header>'
        ]
        section = ""
        for clause in chapter.clauses:
            if clause.section and clause.section != section:
                section = clause.section
                parts.append(f'<h3 class="section">{_plain(section)}</h3>')
            parts.append(self._clause(self._matrix.rows[clause.id]))
        return "".join(parts) + "</section>"

    def _clause(self, row: Row) -> str:
        clause = row.clause
        has = " ".join(room for room, count in _counts(row) if count) + (" excused" if clause.excuse else "")
        others = self._mentioned[clause.id]
        back = ""
        if others:
            links = " ".join(f'<a class="id" href="#{one}">{one}</a>' for one in others)
            back = f'<p class="back">Named by {links}</p>'
        return (
            f'<article class="clause" id="{clause.id}" data-has="{has}" tabindex="-1">'
            f'<header><a class="no" href="#{clause.id}">{clause.id}</a>'
            f"<h4>{_plain(clause.name)}</h4></header>"
            f'<div class="beside"><div class="words">{self._linker.markdown(clause.words)}{back}</div>'
            f'<div class="evidence">{self._model(row)}{self._code(row)}{self._tests(row)}</div>'
            "</div></article>"
        )

    def _model(self, row: Row) -> str:
        operators = sorted(row.operators, key=lambda one: one.module.startswith(("MC", "Mut", "Ind")))
        items = [
            reference(one, opened=number == 0) for number, one in enumerate(groups(self._matrix, operators))
        ]
        return _group("model", "Model", items)

    def _code(self, row: Row) -> str:
        under = [unit for unit, contract in row.contracts]
        units = sorted(specific(row.code), key=lambda unit: (unit not in under, unit.file != PROTOCOL))
        items = [
            reference(unit, opened=number == 0 and unit in under, clause=row.clause)
            for number, unit in enumerate(units)
        ]
        return _group("code", "Code", items)

    def _tests(self, row: Row) -> str:
        return _group("test", "Tests", [reference(unit) for unit in specific(row.tests)])


def _group(room: str, title: str, items: list[str]) -> str:
    if not items:
        return ""
    first, rest = "".join(items[:_MANY]), items[_MANY:]
    if len(rest) > 1:
        first += f'<details class="more"><summary>{len(rest)} more</summary>{"".join(rest)}</details>'
    else:
        first += "".join(rest)
    return f'<section class="room {room}"><h5>{title}<span>{len(items)}</span></h5>{first}</section>'


def reference(piece: Unit | Group, *, opened: bool = False, clause: Clause | None = None) -> str:
    """A piece by its name; opened, the page puts the source from the end of the page there."""
    contracts = ""
    if isinstance(piece, Unit) and piece.contracts:
        contracts = "".join(
            f'<span class="chip{" own" if clause and one.clause == clause.id else ""}">'
            f"{one.kind} {one.action} · {one.clause}</span>"
            for one in piece.contracts
        )
        contracts = f'<span class="chips">{contracts}</span>'
    name = piece.name
    if isinstance(piece, Unit) and piece.kind == "module":
        name = (
            f"the module {piece.name}" if not piece.test else f"the whole of {piece.name.rsplit('.', 1)[-1]}"
        )
    target = anchor(piece)
    return (
        f'<details class="ref" data-source="{target}"{" open" if opened else ""}>'
        f'<summary><span class="what">{breakable(name)}</span>'
        f'<span class="where">{escape(piece.place)}</span>'
        f'{contracts}</summary><p class="hole"><a href="#{target}">in the sources</a></p></details>'
    )


class Rooms:
    """The actions of the protocol, each in its four rooms."""

    def __init__(self, matrix: Matrix, linker: Linker) -> None:
        self._matrix = matrix
        self._linker = linker

    def html(self) -> str:
        """All of them, in the order of the model."""
        return "".join(self._action(action) for action in self._matrix.actions)

    def index(self) -> str:
        """Links to them."""
        return "".join(
            f'<a href="#action-{one.operator.name}"{" class=env" if one.operator.environment else ""}>'
            f"{one.operator.name}</a>"
            for one in self._matrix.actions
        )

    def _action(self, action: Action) -> str:
        one = action.operator
        clauses = [name for name in one.cites if name in self._matrix.rows]
        for unit in action.functions:
            clauses += [contract.clause for contract in unit.contracts if contract.action == one.name]
        rows = [self._matrix.rows[name] for name in dict.fromkeys(clauses) if name in self._matrix.rows]
        mark = '<span class="env">environment</span>' if one.environment else ""
        columns = (
            ("spec", "Specification", "".join(self._excerpt(row) for row in rows)),
            ("model", "Model", self._model(action)),
            ("code", "Code", self._code(action)),
            ("test", "Tests", self._tests(action, rows)),
        )
        body = "".join(
            f'<section class="room {room}"><h5>{title}</h5>{content or _nothing(room, action)}</section>'
            for room, title, content in columns
        )
        return (
            f'<article class="action" id="action-{one.name}" tabindex="-1"><header><h3>{one.name}</h3>{mark}'
            f'<button type="button" class="spread" aria-pressed="false">Four columns</button></header>'
            f'<div class="four">{body}</div></article>'
        )

    def _excerpt(self, row: Row) -> str:
        # Enough to know what it is about; the words stand once in full, at the clause.
        taken: list[str] = []
        for paragraph in row.clause.words.split("\n\n"):
            if not paragraph.lstrip().startswith(("|", "<!--")) and len("".join(taken)) < _EXCERPT:
                taken.append(paragraph)
        text = self._linker.markdown("\n\n".join(taken))
        name = _plain(row.clause.name)
        return (
            f'<div class="excerpt words"><p class="title">'
            f'<a class="id" href="#{row.clause.id}">{row.clause.id}</a> {name}</p>{text}</div>'
        )

    def _model(self, action: Action) -> str:
        return "".join(reference(one, opened=True) for one in groups(self._matrix, [action.operator]))

    def _code(self, action: Action) -> str:
        exact = [unit for unit in action.functions if unit.name == snake(action.operator.name)]
        items = "".join(reference(unit, opened=unit in exact or not exact) for unit in action.functions)
        event = next((unit for unit in self._matrix.code if unit.place == action.event), None)
        if event is None and action.event:
            file, _, line = action.event.rpartition(":")
            event = next(
                (
                    u
                    for u in self._matrix.code
                    if u.file == file and u.first <= int(line) <= u.last and u.kind == "class"
                ),
                None,
            )
        return items + (f'<p class="note">Told as</p>{reference(event)}' if event and event.cites else "")

    def _tests(self, action: Action, rows: list[Row]) -> str:
        names = [unit.name.rsplit(".", 1)[-1] for unit in action.functions]
        spoken = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))}|[\"']{action.operator.name}[\"'])\b")
        tests = {id(unit): unit for row in rows for unit in row.tests}.values()
        near = [unit for unit in tests if names and unit.kind != "module" and spoken.search(unit.source)]
        chosen = sorted(specific(near or list(tests)), key=_distance)
        return "".join(reference(unit, opened=number == 0) for number, unit in enumerate(chosen[:_MANY])) + (
            f'<p class="note">and {len(chosen) - _MANY} more under the clauses</p>'
            if len(chosen) > _MANY
            else ""
        )


def _distance(unit: Unit) -> int:
    """How far a test is from the protocol itself."""
    return next((rank for rank, start in enumerate(_NEAR) if unit.file.startswith(start)), len(_NEAR))


def _nothing(room: str, action: Action) -> str:
    if action.operator.environment and room == "code":
        return '<p class="note">The world takes this step; no function has its name.</p>'
    return '<p class="note">None.</p>'
