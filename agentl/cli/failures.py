"""From an exception to one clear line and an exit code (`CLI-1`, `CLI-16`); a traceback reaches nobody."""

from __future__ import annotations

import errno
import functools
import os
import traceback
from collections.abc import Callable
from typing import Any, ParamSpec

import typer

from agentl.cli import exits, output
from agentl.errors import AgentLError, Cancelled, LeaseHeld, SourceError, StoreFailure
from agentl.messages import render

_P = ParamSpec("_P")


def exit_code(error: BaseException) -> int:
    """The exit code of a command that ends with ``error``."""
    if isinstance(error, KeyboardInterrupt | SystemExit | Cancelled):
        return exits.INTERRUPTED
    if isinstance(error, StoreFailure):
        return exits.STORE_FAILED
    if isinstance(error, AgentLError) and error.code == "durable.cancelled":
        return exits.INTERRUPTED
    if isinstance(error, LeaseHeld):
        return exits.HELD
    return exits.USAGE if isinstance(error, AgentLError) else exits.FAILED


def report(
    error: BaseException, *, as_json: bool = False, text: str | None = None, ending: int | None = None
) -> int:
    """Say what happened on stderr (and as data with ``--json``); returns the exit code.

    ``text`` and ``ending`` replace the error's own words and code, where a command knows better.
    """
    if os.environ.get("AGENTL_DEBUG") and not isinstance(error, KeyboardInterrupt):
        output.note("".join(traceback.format_exception(error)).rstrip())
    code, values, own = _described(error)
    output.fail(text or own)
    for line in _source_lines(error):
        output.note(line)
    ending = exit_code(error) if ending is None else ending
    if as_json:
        said = {"class": type(error).__name__, "code": code, "message": own, "values": values}
        output.out_json({"error": said, "exit_code": ending})
    return ending


def _source_lines(error: BaseException) -> list[str]:
    """The source line of a parse error and a caret below the place (`PER-2`)."""
    context = error.context() if isinstance(error, SourceError) else ""
    return [f"  {line}" for line in context.splitlines()]


def _described(error: BaseException) -> tuple[str, dict[str, Any], str]:
    if isinstance(error, KeyboardInterrupt | SystemExit):
        return "cli.interrupted", {}, render("cli.interrupted")
    if isinstance(error, AgentLError):
        return error.code, dict(error.values), str(error)
    if isinstance(error, RecursionError):
        return "cli.too_deep", {}, render("cli.too_deep")
    said = {"type": type(error).__name__, "error": one_line(error) or "—"}
    return "cli.unexpected", said, render("cli.unexpected", said)


def one_line(error: BaseException) -> str:
    """What an exception says, on one line; nothing when it cannot even say that."""
    try:
        return " ".join(str(error).split())
    except Exception:  # noqa: BLE001 - the exception of a host may raise when it is printed
        return ""


def cause(error: BaseException) -> str:
    """Why the system refused a file, in the language in force where the reason is a common one."""
    if not isinstance(error, OSError):
        return one_line(error)
    code = f"cli.cause.{errno.errorcode.get(error.errno or 0, '')}"
    said = render(code)
    return said if said != code else error.strerror or one_line(error)


def guarded(command: Callable[_P, int]) -> Callable[_P, int]:
    """A command whose every failure is one line and an exit code."""

    @functools.wraps(command)
    def safe(*args: _P.args, **options: _P.kwargs) -> int:
        as_json = bool(options.get("as_json", False))
        with output.report_alone(as_json):
            try:
                return command(*args, **options)
            except (typer.Exit, typer.Abort):
                raise
            except BaseException as error:  # noqa: BLE001 - the last place that can speak
                # An exit that a host asks for is none of the command's: its code would pass for one of ours.
                return report(error, as_json=as_json)

    return safe
