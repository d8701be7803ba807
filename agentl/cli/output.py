"""What reaches the two streams: plain and exact in a pipe, with colours on a terminal."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any, Final, TextIO

STYLES: Final = {
    "✗": "bold red",
    "✘": "bold red",
    "⛔": "red",
    "‼": "red",
    "❌": "red",
    "✓": "green",
    "✔": "green",
    "✅": "green",
    "⚠": "yellow",
    "◐": "yellow",
    "!": "yellow",
    "↻": "cyan",
    "→": "cyan",
}
"""How a line looks on a terminal, by its first glyph (behind the bar of a trace line)."""


def prepare_streams() -> None:
    """Never fail on a glyph that the encoding of a stream lacks: write a question mark there."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def colourful(stream: TextIO) -> bool:
    """Colours only for people: on a terminal, and not when ``NO_COLOR`` is set."""
    try:
        terminal = stream.isatty()
    except (AttributeError, ValueError):
        return False
    return terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def out(text: str = "") -> None:
    """A line of the report, on stdout, visible at once."""
    _write(sys.stdout, text)


def note(text: str) -> None:
    """A line about the run, on stderr."""
    _write(sys.stderr, text)


def fail(text: str) -> None:
    """One clear sentence on stderr: ``✗ message`` (`CLI-1`)."""
    note(f"✗ {text}")


_report: TextIO | None = None


@contextmanager
def report_alone(wanted: bool) -> Iterator[None]:
    """With ``--json`` stdout holds the report and nothing else: what a host prints goes to stderr."""
    global _report
    if not wanted:
        yield
        return
    _report = sys.stdout
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _report = None


def out_json(report: Any) -> None:
    """The report as one JSON value on stdout."""
    _emit(_report or sys.stdout, json.dumps(plain(report), ensure_ascii=False, indent=2, default=str))


def plain(value: Any) -> Any:
    """``value`` in what JSON has; symbols and other values of a program in their journal form (`ENC-1`)."""
    kind = type(value)
    if value is None or kind in {bool, int, str}:
        return value
    if kind is dict:
        return {str(name): plain(item) for name, item in value.items()}
    if kind in {list, tuple}:
        return [plain(item) for item in value]
    if isinstance(value, BaseException | Path):
        return str(value)
    from agentl.values import encode

    return encode(value)


def _write(stream: TextIO | None, text: str) -> None:
    if stream is None:  # the process was started without this stream
        return
    style = _style(text) if colourful(stream) else None
    if style is None:
        _emit(stream, text)
        return
    from rich.console import Console

    console = Console(file=stream, highlight=False, markup=False, emoji=False, soft_wrap=True)
    try:
        console.print(text, style=style)
    except OSError:
        _mute(stream)


def _style(text: str) -> str | None:
    start = text.lstrip(" │")
    return STYLES.get(start[:1]) if start else None


def _emit(stream: TextIO, text: str) -> None:
    try:
        stream.write(text + "\n")
        stream.flush()
    except (OSError, ValueError):
        # Nobody reads any more (a closed stream or pipe, a full disk behind a redirection). A run that
        # moves money must not be stopped by its own report.
        _mute(stream)


def _mute(stream: TextIO) -> None:
    silent = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - lives as long as the process
    if stream is sys.stdout:
        sys.stdout = silent
    elif stream is sys.stderr:
        sys.stderr = silent
