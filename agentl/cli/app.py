"""The command ``agentl``: its commands, its language, its failures."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import typer

from agentl.cli import exits, failures, output, usage
from agentl.messages import LANGUAGES, render, set_language


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code (`CLI-16`)."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    output.prepare_streams()
    _early_language(words)
    as_json = "--json" in words
    try:
        return _invoke(words)
    except typer.Abort:
        return failures.report(KeyboardInterrupt(), as_json=as_json)
    except BaseException as error:  # noqa: BLE001 - the last place that can speak
        if type(error).__name__ == "NoArgsIsHelpError":
            output.note(str(error))
            return exits.USAGE
        if usage.is_usage(error):
            error = usage.refusal(error, words)
        return failures.report(error, as_json=as_json)


def _invoke(words: list[str]) -> int:
    application = build()
    result = typer.main.get_command(application).main(args=words, prog_name="agentl", standalone_mode=False)
    return int(result or 0)


def _early_language(words: list[str]) -> None:
    """The help texts are made while the commands are built, so the language is looked up before."""
    for place, word in enumerate(words):
        wanted = word.removeprefix("--lang=") if word.startswith("--lang=") else None
        if word == "--lang" and place + 1 < len(words):
            wanted = words[place + 1]
        if wanted in LANGUAGES:
            set_language(wanted)


def build() -> typer.Typer:
    """All the commands. They import what they run with only when they run."""
    from agentl.cli import (
        approvals,
        check,
        durable,
        durable_cancel,
        durable_keep,
        durable_list,
        durable_look,
        options,
        replay,
        run,
        task,
        worker,
    )

    application = typer.Typer(
        name="agentl",
        cls=usage.Group,
        help=render("cli.help.agentl"),
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    application.callback()(options.before_the_command)
    commands: tuple[tuple[str, Callable[..., int]], ...] = (
        ("run", run.run),
        ("check", check.check),
        ("ast", check.ast),
        ("submit", worker.submit),
        ("worker", worker.worker),
        ("replay", replay.replay),
        ("seal", replay.seal),
    )
    for name, command in commands:
        application.command(name, cls=usage.Command, help=render(f"cli.help.{name}"))(
            failures.guarded(command)
        )
    family = typer.Typer(
        cls=usage.Group, help=render("cli.help.durable"), no_args_is_help=True, rich_markup_mode=None
    )
    verbs: tuple[tuple[str, Callable[..., int]], ...] = (
        ("list", durable_list.list_runs),
        ("status", durable.status),
        ("export", durable.export),
        ("settle", durable.settle),
        ("cancel", durable_cancel.cancel),
        ("validate", durable.validate),
        ("show", durable_look.show),
        ("verify", durable_look.verify),
        ("purge", durable_keep.purge),
        ("import", durable_keep.import_run),
    )
    answers: tuple[tuple[str, Callable[..., int]], ...] = (
        ("list", approvals.list_requests),
        ("show", approvals.show),
        ("approve", approvals.approve),
        ("deny", approvals.deny),
        ("answer", approvals.answer),
        ("extend", approvals.extend),
    )
    people = typer.Typer(
        cls=usage.Group, help=render("cli.help.approvals"), no_args_is_help=True, rich_markup_mode=None
    )
    tasks = typer.Typer(
        cls=usage.Group, help=render("cli.help.task"), no_args_is_help=True, rich_markup_mode=None
    )
    states: tuple[tuple[str, Callable[..., int]], ...] = (("show", task.show), ("schema", task.schema))
    for group, kind, members in (
        (family, "durable", verbs),
        (people, "approvals", answers),
        (tasks, "task", states),
    ):
        for name, verb in members:
            text = render(f"cli.help.{kind}_{name}")
            group.command(name, cls=usage.Command, help=text)(failures.guarded(verb))
        application.add_typer(group, name=kind)
    return application
