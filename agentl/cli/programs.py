"""Reading a program for a command, and saying what `check` thinks of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentl.cli import output
from agentl.errors import AgentLError
from agentl.messages import render

if TYPE_CHECKING:
    from agentl.analysis import Diagnostic
    from agentl.language.nodes import Program


def read_program(file: Path) -> Program:
    """The tree of ``file``.

    Raises:
        AgentLError: it cannot be read (`CLI-1`), or it does not parse.
    """
    return program_of(read_text(file), file)


def read_text(file: Path) -> str:
    """The text of ``file``, byte order mark and line ends included.

    Raises:
        AgentLError: it cannot be read, or is no text (`CLI-1`).
    """
    from agentl.language.parser import MAX_SOURCE_BYTES

    try:
        with file.open("rb") as stream:
            # One byte more than the parser accepts: it refuses the excess in its own words, and
            # nobody makes the command read an endless file.
            data = stream.read(MAX_SOURCE_BYTES + 1)
    except OSError as error:
        raise unreadable(file, error) from error
    except ValueError as error:
        raise AgentLError(code="cli.unreadable", file=str(file), cause=str(error)) from error
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        if len(data) > MAX_SOURCE_BYTES:
            return data.decode("utf-8", errors="replace")
        raise AgentLError(code="cli.not_text", file=str(file), place=error.start) from error


def unreadable(file: Path, error: OSError) -> AgentLError:
    """The error of a file that the system refuses (`CLI-1`)."""
    return AgentLError(code="cli.unreadable", file=str(file), cause=error.strerror or str(error))


def program_of(text: str, file: Path) -> Program:
    """The tree of a text that was read from ``file``."""
    from agentl.language.parser import parse_source

    return parse_source(text, str(file))


def mark(diagnostic: Diagnostic) -> str:
    """The line of one diagnostic in a report (`CLI-3`)."""
    return f"  {'✗' if diagnostic.severity == 'error' else '!'} {diagnostic}"


def is_error(diagnostic: Diagnostic) -> bool:
    """Whether this diagnostic keeps the program from running (`CHK-1`)."""
    return diagnostic.severity == "error"


def diagnostics_of(program: Program) -> tuple[list[tuple[Any, list[Diagnostic]]], list[Diagnostic]]:
    """The diagnostics per agent, and those of the program as a whole."""
    from agentl.analysis import Analyzer, check_program

    alone = [(agent, list(Analyzer(agent).run())) for agent in program.agents]
    own = [diagnostic for _, found in alone for diagnostic in found]
    return alone, _without(check_program(program), own)


def _without(found: Iterable[Diagnostic], known: Sequence[Diagnostic]) -> list[Diagnostic]:
    rest = list(known)
    whole = []
    for diagnostic in found:
        if diagnostic in rest:
            rest.remove(diagnostic)
        else:
            whole.append(diagnostic)
    return whole


def refuse_errors(program: Program) -> list[Diagnostic]:
    """Print the errors that keep a program from running, if any, and give them back (`CLI-5`)."""
    alone, whole = diagnostics_of(program)
    errors = [one for _, found in alone for one in found if is_error(one)]
    errors += [one for one in whole if is_error(one)]
    for diagnostic in errors:
        output.note(mark(diagnostic))
    if errors:
        output.fail(render("cli.run_refused", {"errors": len(errors)}))
    return errors


def as_data(diagnostic: Diagnostic) -> dict[str, Any]:
    """A diagnostic as data."""
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "line": diagnostic.line,
        "message": diagnostic.message,
    }
