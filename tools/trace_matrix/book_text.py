"""Text for the page: Markdown and sources as HTML, with every id of a clause as a link."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token as Piece
from pygments.lexers import PythonLexer  # type: ignore[import-untyped]
from pygments.token import Comment, Keyword, Name, Number, Operator, String  # type: ignore[import-untyped]

from tools.trace_matrix.citations import ID

_ID = re.compile(rf"\b{ID}\b")
_CHAPTER = re.compile(r"(?:\./)?(\w+)\.md(?:#.*)?")
_FAR_OUT = re.compile(r" +( \*\))$", re.MULTILINE)
_HIDDEN = re.compile(r"<!--.*?-->\n?", re.DOTALL)

_CLASSES = (
    (String.Doc, "c"),
    (String, "s"),
    (Comment, "c"),
    (Keyword, "k"),
    (Operator.Word, "k"),
    (Name.Decorator, "d"),
    (Name.Function, "f"),
    (Name.Class, "f"),
    (Number, "m"),
)
"""Few colours are enough to read by; every other token stays plain, which keeps the page small."""

_TLA = re.compile(
    r"(?P<c>\(\*.*?\*\)|\\\*[^\n]*)"
    r'|(?P<s>"[^"\n]*")'
    r"|(?P<k>\b(?:CASE|OTHER|IF|THEN|ELSE|LET|IN|CHOOSE|UNCHANGED|EXCEPT|DOMAIN|SUBSET|UNION|ENABLED|EXTENDS|"
    r"INSTANCE|CONSTANTS?|VARIABLES?|RECURSIVE|LAMBDA|BOOLEAN|TRUE|FALSE|ASSUME|WF_\w+|SF_\w+)\b)"
    r"|(?P<f>^\w+(?=(?:\([^)\n]*\))?\s*==))"
    r"|(?P<m>\b[0-9]+\b)",
    re.DOTALL | re.MULTILINE,
)


class Linker:
    """Turns the ids that are defined into links to their clauses."""

    def __init__(self, known: Callable[[str], bool]) -> None:
        self._known = known
        self._markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
        self._markdown.renderer = _Renderer(self)

    def link(self, text: str) -> str:
        """Plain text as HTML."""

        def linked(match: re.Match[str]) -> str:
            one = match[0]
            return f'<a class="id" href="#{one}">{one}</a>' if self._known(one) else one

        return _ID.sub(linked, escape(text, quote=False))

    def markdown(self, text: str) -> str:
        """Markdown as HTML. Raw HTML is shown and never obeyed."""
        rendered: str = self._markdown.render(_HIDDEN.sub("", text))
        return rendered

    def python(self, source: str) -> str:
        """Python source as HTML."""
        lexer = PythonLexer(stripnl=False, ensurenl=False)
        return self._spans((_class(kind), text) for kind, text in lexer.get_tokens(source))

    def tla(self, source: str) -> str:
        """TLA+ source as HTML."""
        # The closing brackets of comments stand in one column, far out; here they would only be cut off.
        return self._spans(_tla_pieces(_FAR_OUT.sub(r"\1", source)))

    def _spans(self, pieces: Iterator[tuple[str, str]]) -> str:
        parts: list[str] = []
        last, run = "", ""
        for kind, text in pieces:
            if kind != last and text.strip():
                parts.append(self._span(last, run))
                last, run = kind, text
            else:
                run += text
        parts.append(self._span(last, run))
        return "".join(parts)

    def _span(self, kind: str, text: str) -> str:
        body = self.link(text)
        return f'<i class="{kind}">{body}</i>' if kind and text else body


class _Renderer(RendererHTML):
    def __init__(self, linker: Linker) -> None:
        super().__init__()
        self._linker = linker

    def text(self, tokens: Sequence[Piece], idx: int, options: Any, env: Any) -> str:  # noqa: ARG002 - its interface
        return self._linker.link(tokens[idx].content)

    def code_inline(self, tokens: Sequence[Piece], idx: int, options: Any, env: Any) -> str:  # noqa: ARG002 - as above
        content = tokens[idx].content
        body = self._linker.link(content)
        return body if _ID.fullmatch(content) and body.startswith("<a") else f"<code>{body}</code>"

    def link_open(self, tokens: Sequence[Piece], idx: int, options: Any, env: Any) -> str:  # noqa: ARG002 - as above
        # A link to another chapter stays in the page; whatever leads elsewhere is text here.
        chapter = _CHAPTER.fullmatch(str(tokens[idx].attrs.get("href", "")))
        return f'<a href="#chapter-{chapter[1]}">' if chapter else "<span>"

    def link_close(self, tokens: Sequence[Piece], idx: int, options: Any, env: Any) -> str:  # noqa: ARG002 - as above
        opened = next(at for at in range(idx, -1, -1) if tokens[at].type == "link_open")
        return "</a>" if _CHAPTER.fullmatch(str(tokens[opened].attrs.get("href", ""))) else "</span>"

    def table_open(self, tokens: Sequence[Piece], idx: int, options: Any, env: Any) -> str:  # noqa: ARG002 - as above
        return '<div class="scroll" tabindex="0"><table>'

    def table_close(self, tokens: Sequence[Piece], idx: int, options: Any, env: Any) -> str:  # noqa: ARG002 - as above
        return "</table></div>"


def _class(kind: Any) -> str:
    return next((name for group, name in _CLASSES if kind in group), "")


def _tla_pieces(source: str) -> Iterator[tuple[str, str]]:
    at = 0
    for match in _TLA.finditer(source):
        yield "", source[at : match.start()]
        yield match.lastgroup or "", match[0]
        at = match.end()
    yield "", source[at:]


def slug(text: str) -> str:
    """A text as the name of an anchor."""
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-")
