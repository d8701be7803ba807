"""The arguments and options that several commands share, with their help in the language in force."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agentl import __version__
from agentl.cli import output
from agentl.messages import LANGUAGES, render, set_language


def choose_language(value: str | None) -> str | None:
    """``--lang`` (`MSG-4`): sets the language as soon as it is read."""
    if value is None:
        return None
    if value not in LANGUAGES:
        raise typer.BadParameter(render("cli.language", {"given": value, "known": ", ".join(LANGUAGES)}))
    set_language(value)
    return value


Lang = Annotated[
    str | None,
    typer.Option(
        "--lang", callback=choose_language, is_eager=True, metavar="fr|en", help=render("cli.help.lang")
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help=render("cli.help.json"))]
ProgramFile = Annotated[Path, typer.Argument(metavar="FILE", help=render("cli.help.program"))]
Place = Annotated[str, typer.Argument(metavar="ADDRESS", help=render("cli.help.place"))]
Key = Annotated[str | None, typer.Option("--key", metavar="K", help=render("cli.help.key"))]
Ticks = Annotated[int | None, typer.Option("--ticks", metavar="N", help=render("cli.help.ticks"))]
Quiet = Annotated[bool, typer.Option("--quiet", help=render("cli.help.quiet"))]
Events = Annotated[Path | None, typer.Option("--events", metavar="F", help=render("cli.help.events"))]


def _show_version(wanted: bool) -> None:
    if wanted:
        output.out(f"agentl {__version__}")
        raise typer.Exit


Version = Annotated[
    bool, typer.Option("--version", callback=_show_version, is_eager=True, help=render("cli.help.version"))
]


def before_the_command(_lang: Lang = None, _version: Version = False) -> None:
    """The options that may stand before the command."""
