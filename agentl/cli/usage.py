"""What is wrong with the words of a command line, in the language in force (`CLI-1`, `MSG-1`).

The library that reads the words speaks English and moved its classes between its releases, so they
are known by their names; what it says that is not known here is passed on as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from typer.core import TyperCommand, TyperGroup

from agentl.errors import AgentLError
from agentl.messages import render

_COMMAND = re.compile(r"No such command '(.*?)'\.?(?: Did you mean (.*?)\?)?\.?$", re.DOTALL)
_EXTRA = re.compile(r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)", re.DOTALL)


def is_usage(error: BaseException) -> bool:
    """Whether the command-line library refuses the words."""
    return any(kind.__name__ == "ClickException" for kind in type(error).__mro__)


def refusal(error: BaseException, words: Sequence[str]) -> AgentLError:
    """The error that says what is wrong with ``words`` and which help to read."""
    context = getattr(error, "ctx", None)
    command = getattr(context, "command_path", None) or _command_of(words)
    code, values = _described(error)
    return AgentLError(code=code, command=command, **values)


def _described(error: BaseException) -> tuple[str, dict[str, Any]]:
    said = str(getattr(error, "message", "") or error)
    kinds = [kind.__name__ for kind in type(error).__mro__]
    option = getattr(error, "option_name", "")
    parameter = getattr(error, "param", None)
    name = _name(parameter)
    if "MissingParameter" in kinds:
        return "cli.usage.missing", {"name": name}
    if "NoSuchOption" in kinds:
        near = ", ".join(getattr(error, "possibilities", None) or ())
        return ("cli.usage.option_near" if near else "cli.usage.option"), {"name": option, "near": near}
    if "BadOptionUsage" in kinds:
        return ("cli.usage.flag" if "does not take" in said else "cli.usage.argument"), {"name": option}
    if "BadParameter" in kinds:
        whole = "valid integer" in said  # its wording since it knows numbers
        return ("cli.usage.integer" if whole else "cli.usage.value"), {"name": name, "problem": said}
    command = _COMMAND.match(said)
    if command is not None:
        near = (command.group(2) or "").replace("'", "")
        code = "cli.usage.command_near" if near else "cli.usage.command"
        return code, {"name": command.group(1), "near": near}
    extra = _EXTRA.match(said)
    if extra is not None:
        return "cli.usage.extra", {"words": extra.group(1)}
    return "cli.usage", {"problem": said.rstrip(".")}


def _name(parameter: Any) -> str:
    options = [one for one in getattr(parameter, "opts", ()) if one.startswith("-")]
    return options[-1] if options else str(getattr(parameter, "metavar", None) or "")


def _command_of(words: Sequence[str]) -> str:
    """The command that the words name, when the library does not say it."""
    names = [word for word in words if not word.startswith("-")]
    if names and names[0] in ("durable", "approvals"):
        return " ".join(["agentl", *names[:2]])
    return " ".join(["agentl", *names[:1]])


def _spoken(text: str) -> str:
    for heading in ("usage", "arguments", "options", "commands", "required", "help"):
        text = text.replace(render(f"cli.library.{heading}", lang="en"), render(f"cli.library.{heading}"))
    return text


class Command(TyperCommand):
    """A command whose help is wholly in the language in force."""

    def get_help(self, ctx: Any) -> str:
        """The help text."""
        return _spoken(super().get_help(ctx))


class Group(TyperGroup):
    """A family of commands whose help is wholly in the language in force."""

    def get_help(self, ctx: Any) -> str:
        """The help text."""
        return _spoken(super().get_help(ctx))
