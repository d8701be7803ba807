"""The trace: what a run did, as codes and values, rendered when somebody reads it (`TRC-1` to `TRC-3`).

An event keeps the code of its message and plain named values. Its text and detail are made
on access, so that a tick that nobody watches pays for a small record only, and the digest
of a run depends on codes and values, never on wording or language (`DUR-9`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final

from agentl.catalogue import CATALOGUE
from agentl.messages import fmt, language, pieces, render, speaking

GLYPHS: Final[Mapping[str, str]] = {
    "TICK": "──",
    "OBSERVE": "👁",
    "BELIEF": "◆",
    "GOAL": "◎",
    "PLAN": "▶",
    "STEP": "  ·",
    "TOOL": "🔧",
    "BLOCKED": "⛔",
    "APPROVAL": "🙋",
    "VERIFY_OK": "✅",
    "VERIFY_FAIL": "❌",
    "LLM": "🧠",
    "MEMORY": "💾",
    "EVENT": "⚡",
    "ASK": "❓",
    "DELEGATE": "→",
    "ERROR": "‼",
    "INFO": "•",
    "RETRY": "↻",
    "BAYES": "∿",
    "PLANNER": "⌘",
    "MESSAGE": "✉",
    "SHARED": "⇄",
    "POLICY": "§",
}
_INFO: Final = GLYPHS["INFO"]
WIDTH: Final = 53
_NOTHING: Final[Mapping[str, Any]] = {}


def listed(pairs: Mapping[str, Any]) -> str:
    """``k=v, k2=v2`` in the order of the mapping (`TRC-3`)."""
    return ", ".join([f"{key}={value if type(value) is str else fmt(value)}" for key, value in pairs.items()])


def failure(error: BaseException, *, crossed: bool = False) -> dict[str, Any]:
    """The values of an error in an event: its class, and its text or its code (`DUR-9`).

    ``crossed`` says that it came through a boundary. Its text is then what a journal keeps of
    it; an error of the package itself is kept by code and values, which no language changes.
    """
    code = getattr(error, "code", "")
    if not crossed and isinstance(code, str) and code:
        values = dict(getattr(error, "values", _NOTHING))
        # The source line is for people: as the line of the event it is no part of a digest (`DUR-9`).
        line = {"line": values.pop("line")} if "line" in values else {}
        return {"error_type": type(error).__name__, "error_code": code, "error_values": values, **line}
    return {"error_type": type(error).__name__, "error_text": _text_of(error)}


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - an error that cannot print itself is still an error to report
        return ""


def frozen(value: Any) -> Any:
    """``value`` as it is now: lists and dictionaries are copied, for a state may grow them later."""
    kind = type(value)
    if kind is list:
        return [frozen(item) for item in value]
    if kind is dict:
        return {key: frozen(item) for key, item in value.items()}
    return value


_Maker = Callable[[Mapping[str, Any]], str]


def _args(values: Mapping[str, Any]) -> str:
    return listed(values["args"])


def _action(values: Mapping[str, Any]) -> str:
    return f"{values.get('tool', '')}({listed(values['args'])})"


def _error(values: Mapping[str, Any]) -> str:
    code, kind = values.get("error_code"), values["error_type"]
    said = {"line": values.get("line", ""), **values.get("error_values", _NOTHING)}
    text = render(code, said) if code else values.get("error_text", "")
    return f"{kind}: {text}" if kind else fmt(text)


def _worded(name: str) -> _Maker:
    return lambda values: render(values[name], values)


def _notes(values: Mapping[str, Any]) -> str:
    return " ; ".join([render(code, said) for code, said in values["notes"]])


def _pairs(name: str) -> _Maker:
    return lambda values: listed(values[name]) if isinstance(values[name], dict) else fmt(values[name])


def _items(name: str) -> _Maker:
    def made(values: Mapping[str, Any]) -> str:
        value = values[name]
        return ", ".join([fmt(item) for item in value]) if isinstance(value, list) else fmt(value)

    return made


def _score(values: Mapping[str, Any]) -> str:
    return f"{values['score']:.2f}"


_DERIVED: Final[Mapping[str, tuple[str, _Maker]]] = {
    "args": ("args", _args),
    "action": ("args", _action),
    "error": ("error_type", _error),
    "notes": ("notes", _notes),
    "score": ("score", _score),
    **{name: (name, _worded(name)) for name in ("context", "consequence")},
    **{name: (name, _pairs(name)) for name in ("payload", "produced", "record")},
    **{name: (name, _items(name)) for name in ("keys", "fields", "recipients", "collections")},
}
"""The placeholders that are made from values: the value that must be there, and the words for it."""

_Piece = tuple[str, str, str, _Maker | None]
_Layout = tuple[_Piece, ...]


@lru_cache(maxsize=4096)
def _layouts(code: str, detail_code: str, lang: str) -> tuple[_Layout | None, _Layout | None]:
    """The messages of a text and of its detail, each cut once; ``None`` where there is none."""
    detail = detail_code or code + ".detail"
    return _layout(code, lang), _layout(detail, lang)


def _layout(code: str, lang: str) -> _Layout | None:
    """Literal text, the placeholder behind it, the value that it needs, how its words are made."""
    if code not in CATALOGUE:
        return None
    return tuple(
        (literal, name or "", *_DERIVED.get(name or "", (name or "", None)))
        for literal, name in pieces(code, lang)
    )


def _filled(layout: _Layout, values: Mapping[str, Any]) -> str:
    words = []
    for literal, name, source, make in layout:
        words.append(literal)
        if source in values:
            if make is not None:
                words.append(make(values))
            else:
                value = values[source]
                words.append(value if type(value) is str else fmt(value))
        elif name:
            # Not made, it may be given as it is; a name that is missing stays visible, as in ``render``.
            words.append(fmt(values[name]) if name in values else "{" + name + "}")
    return "".join(words)


def _wordless(code: str, values: Mapping[str, Any], lang: str) -> str:
    """A code that the catalogue does not have, as ``render`` shows it."""
    made = {name: make(values) for name, (source, make) in _DERIVED.items() if source in values}
    return render(code, {**values, **made}, lang)


class TraceEvent:
    """One event: ``tick``, ``kind``, ``code``, ``values``, and ``text`` and ``detail`` on access (`TRC-1`).

    ``values`` are those of the text and of the detail. ``detail_code`` names the message of
    the detail; without it the catalogue's ``<code>.detail``, if any, is used.
    """

    __slots__ = ("_detail", "_text", "code", "detail_code", "kind", "tick", "values")

    def __init__(
        self,
        tick: int,
        kind: str,
        text: str | None = None,
        detail: str | None = None,
        code: str = "",
        values: Mapping[str, Any] = _NOTHING,
        detail_code: str = "",
    ) -> None:
        self.tick = tick
        self.kind = kind
        self.code = code
        self.values = values
        self.detail_code = detail_code
        self._text = text
        self._detail = detail

    @property
    def text(self) -> str:
        """What happened, in the language in force."""
        return self.words()[0] if self._text is None else self._text

    @property
    def detail(self) -> str:
        """The precision in brackets, or an empty string."""
        return self.words()[1] if self._detail is None else self._detail

    def words(self, lang: str | None = None) -> tuple[str, str]:
        """Text and detail, made together, in ``lang`` (by default the language in force)."""
        if self._text is not None and self._detail is not None:
            return self._text, self._detail
        lang = lang or language()
        values = self.values
        text, detail = _layouts(self.code, self.detail_code, lang)
        words = _filled(text, values) if text is not None else _wordless(self.code, values, lang)
        if detail is not None:
            return words, _filled(detail, values)
        return words, _wordless(self.detail_code, values, lang) if self.detail_code else ""

    def identity(self) -> tuple[int, str, str, str, Mapping[str, Any]]:
        """What a digest covers: tick, kind, codes and values, without wording and source lines (`DUR-9`)."""
        values = self.values
        if "line" in values:
            values = {name: value for name, value in values.items() if name != "line"}
        if self.code:
            return (self.tick, self.kind, self.code, self.detail_code, values)
        return (self.tick, self.kind, self._text or "", self._detail or "", values)

    def __repr__(self) -> str:
        return f"TraceEvent({self.tick}, {self.kind!r}, {self.text!r}, {self.detail!r}, {self.code!r})"


def _line(event: TraceEvent, lang: str) -> str:
    if event.kind == "TICK":
        return "\n" + f"┌─ tick {event.tick} ".ljust(WIDTH, "─")
    text, detail = event.words(lang)
    shown = f"│ {GLYPHS.get(event.kind, _INFO)} {text}"
    return f"{shown}   [{detail}]" if detail else shown


class Trace:
    """The events of a run, in order (`API-7`).

    Args:
        sink: called with every event; one that raises never stops the run.

    ``echo`` prints each line as it comes: ``True`` writes to the standard output, a callable
    receives the line; one that raises never stops the run either.
    """

    def __init__(self, sink: Callable[[TraceEvent], Any] | None = None) -> None:
        self.events: list[TraceEvent] = []
        self.sink = sink
        self.echo: bool | Callable[[str], Any] = False

    def log(
        self,
        tick: int,
        kind: str,
        text: str,
        detail: str = "",
        code: str = "",
        values: Mapping[str, Any] = _NOTHING,
    ) -> TraceEvent:
        """Add an event whose words are given (`API-7`)."""
        return self._add(TraceEvent(tick, kind, text, detail, code, values))

    def say(
        self, tick: int, kind: str, code: str, values: Mapping[str, Any] = _NOTHING, detail_code: str = ""
    ) -> TraceEvent:
        """Add an event by its code; the words are made when it is read."""
        event = TraceEvent(tick, kind, None, None, code, values, detail_code)
        if self.echo or self.sink is not None:
            return self._add(event)
        self.events.append(event)
        return event

    def _add(self, event: TraceEvent) -> TraceEvent:
        self.events.append(event)
        # Watching a run must not change it (`API-7`): nobody may be there to read any more.
        if self.echo:
            with suppress(Exception):
                line = self.line(event)
                if callable(self.echo):
                    self.echo(line)
                else:
                    sys.stdout.write(line + "\n")
        if self.sink is not None:
            with suppress(Exception):
                self.sink(event)
        return event

    @staticmethod
    def line(event: TraceEvent) -> str:
        """One event as it is shown; a tick is an empty line and its header (`TRC-1`)."""
        return _line(event, language())

    def render(self) -> str:
        """The whole trace, with its closing rule (`TRC-1`)."""
        lang = language()
        with speaking(lang):  # looked up once, not once per line
            return "\n".join([_line(event, lang) for event in self.events]) + "\n└" + "─" * (WIDTH - 1)

    def of_kind(self, *kinds: str) -> list[TraceEvent]:
        """The events of these kinds, in order."""
        return [event for event in self.events if event.kind in kinds]


__all__ = ["GLYPHS", "Trace", "TraceEvent", "failure", "frozen", "listed"]
