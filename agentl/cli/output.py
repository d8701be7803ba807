"""What reaches the two streams: plain and exact in a pipe, with colours on a terminal."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
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


# Control characters but tab and line feed, and what turns the direction of writing.
_ACTING: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


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
    note(f"✗ {' '.join(text.split(chr(10)))}")


def trace(line: str) -> None:
    """A line of a trace, on stdout. What stands in a value cannot pass for a line of its own."""
    start = "\n" if line.startswith("\n") else ""
    out(start + line.removeprefix("\n").replace("\n", "\\n"))


def visible(text: str) -> str:
    """``text`` without what would act on a terminal instead of being shown by it."""
    return _ACTING.sub(lambda met: met.group().encode("unicode_escape").decode("ascii"), text)


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
        with _descriptor_alone() as kept, redirect_stdout(sys.stderr):
            _report = kept or _report
            yield
    finally:
        _report = None


@contextmanager
def _descriptor_alone() -> Iterator[TextIO | None]:
    """The same one floor below: what child processes and libraries write to descriptor 1."""
    try:
        out, err = sys.stdout.fileno(), sys.stderr.fileno()
        sys.stdout.flush()
        kept = os.fdopen(os.dup(out), "w", encoding=sys.stdout.encoding, errors="replace")
    except (OSError, ValueError, AttributeError):
        yield None  # no real descriptors: a test, or a program that calls this one
        return
    os.dup2(err, out)
    try:
        yield kept
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        with suppress(OSError, ValueError):
            os.dup2(kept.fileno(), out)
            kept.close()


def out_json(report: Any) -> None:
    """The report as one JSON value on stdout."""
    stream = _report or sys.stdout
    text = json.dumps(plain(report), ensure_ascii=False, indent=2, default=str)
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        # A letter that the stream lacks, or half a surrogate pair: as an escape it arrives all the same.
        text = json.dumps(plain(report), indent=2, default=str)
    _emit(stream, text)


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
    text = visible(text)
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
