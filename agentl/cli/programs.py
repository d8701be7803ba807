"""Reading a program for a command, and saying what `check` thinks of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentl.cli import failures, output
from agentl.errors import AgentLError
from agentl.messages import render

if TYPE_CHECKING:
    from agentl.analysis import Diagnostic
    from agentl.language.nodes import Agent, Program


def read_program(file: Path) -> Program:
    """The tree of ``file``.

    Raises:
        AgentLError: it cannot be read (`CLI-1`), or it does not parse.
    """
    return program_of(read_text(file), file)


def read_text(file: Path) -> str:
    """The text of ``file``.

    Raises:
        AgentLError: it cannot be read (`CLI-1`), is too large or is no text.
    """
    from agentl.language.parser import MAX_SOURCE_BYTES, parse_file

    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_SOURCE_BYTES + 1)
    except (OSError, ValueError) as error:
        raise unreadable(file, error) from error
    try:
        if len(data) <= MAX_SOURCE_BYTES:
            return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    # The parser says in its own words what is wrong with these bytes.
    parse_file(file)
    raise unreadable(file, ValueError(len(data)))


def unreadable(file: Path, error: Exception) -> AgentLError:
    """The error of a file that the system refuses (`CLI-1`)."""
    return AgentLError(code="cli.unreadable", file=str(file), cause=failures.cause(error))


def program_of(text: str, file: Path) -> Program:
    """The tree of a text that was read from ``file``."""
    from agentl.language.parser import parse_source

    return parse_source(text, str(file))


def only_agent(program: Program, file: Path) -> Agent:
    """The one agent of a program that is run.

    Raises:
        AgentLError: there are several.
    """
    if len(program.agents) > 1:
        raise AgentLError(code="cli.society", file=str(file), n=len(program.agents))
    return program.agents[0]


def mark(diagnostic: Diagnostic) -> str:
    """The line of one diagnostic in a report (`CLI-3`)."""
    return f"  {'✗' if diagnostic.severity == 'error' else '!'} {diagnostic}"


def is_error(diagnostic: Diagnostic) -> bool:
    """Whether this diagnostic keeps the program from running (`CHK-1`)."""
    return diagnostic.severity == "error"


def diagnostics_of(program: Program) -> tuple[list[tuple[Any, list[Diagnostic]]], list[Diagnostic]]:
    """The diagnostics per agent, and those of the program as a whole."""
    from agentl.analysis import Analyzer, check_program

    alone = [(agent, list(Analyzer(agent, program).run())) for agent in program.agents]
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


def refuse_errors(program: Program, *, as_json: bool = False) -> list[Diagnostic]:
    """Print the errors that keep a program from running, if any, and give them back (`CLI-5`)."""
    alone, whole = diagnostics_of(program)
    errors = [one for _, found in alone for one in found if is_error(one)]
    errors += [one for one in whole if is_error(one)]
    if not errors:
        return errors
    for diagnostic in errors:
        output.note(mark(diagnostic))
    refusal = render("cli.run_refused", {"errors": len(errors)})
    output.fail(refusal)
    if as_json:
        said = {"code": "cli.run_refused", "message": refusal, "values": {"errors": len(errors)}}
        output.out_json({"error": said, "diagnostics": [as_data(one) for one in errors], "exit_code": 1})
    return errors


def as_data(diagnostic: Diagnostic) -> dict[str, Any]:
    """A diagnostic as data."""
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "line": diagnostic.line,
        "message": diagnostic.message,
    }
