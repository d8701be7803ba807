"""The host of ``coder.agent``: a project folder with its git history, and the tools to work in it.

Each tool promises what it can keep when it is interrupted half-way:

- ``commit`` is reconcilable: the commit carries the id of the action that made it, so a resumed run
  looks for it in the git log before it commits;
- ``lay_out``, ``write``, ``remove``, ``mark``, ``progress`` and ``go_back`` are idempotent: each leads to
  one state of the folder that follows from its arguments and from what is committed, so twice is once;
- ``check_before`` and ``check_after`` are read only.

A refusal is always ``InvalidArguments``: nothing was done. ``CODER_FOLDER`` is the project's folder, by
default ``project``. ``CODER_STOP`` names a point where the process waits to be killed, for tests and
demonstrations; the file ``CODER_STOPPED`` appears once it is reached.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from coder_features import (
    APPLICATION,
    INIT,
    LIST,
    PROGRESS,
    Project,
    application_file,
    new_list,
    newly_passing,
    rendered,
    test_of,
)
from coder_model import Scripted
from coder_repository import ACTION, Repository

from agentl import Host, Symbol
from agentl.durable import NOT_EXECUTED
from agentl.kernel import InvalidArguments, current_action

PATIENCE = 120.0


def stop(point: str) -> None:
    """Wait here to be killed, if this is the point."""
    if os.environ.get("CODER_STOP") == point:
        Path(os.environ["CODER_STOPPED"]).write_text(point, encoding="utf-8")
        time.sleep(PATIENCE)


def answer(value: bool) -> Symbol:
    """A truth as the program writes it."""
    return Symbol("yes" if value else "no")


def build() -> tuple[Host, Scripted]:
    """The host, and the scripted model."""
    if shutil.which("git") is None:
        raise RuntimeError("git is not installed")
    folder = Path(os.environ.get("CODER_FOLDER", "project"))
    folder.mkdir(parents=True, exist_ok=True)
    repository = Repository(folder)
    project = Project(repository)
    host = Host()
    sensors(host, repository, project)
    set_up(host, repository)
    work(host, repository, project)
    checkpoints(host, repository, project)
    return host, Scripted()


def sensors(host: Host, repository: Repository, project: Project) -> None:
    """Where the run is, and what earlier runs have left for it."""

    def text(path: str) -> str:
        file = repository.folder / path
        return file.read_text(encoding="utf-8") if file.is_file() else ""

    def clean() -> Symbol:
        if repository.last_commit_here:
            stop("commit recorded")
        return answer(repository.clean())

    def following() -> dict[str, Any]:
        # What is committed, not what a run that was given up may have left in the folder.
        good = repository.good()
        wanted = [one for one in project.features(good) if not one["passes"]] if good else []
        return wanted[0] if wanted else {"id": "", "words": ""}

    def attempt() -> int:
        name = following()["id"]
        notes = [told for _, told in repository.commits() if told.get("Kind") == "taken_back"] if name else []
        return 1 + sum(1 for told in notes if told.get("Feature") == name)

    def count() -> int:
        good = repository.good()
        return sum(not one["passes"] for one in project.features(good)) if good else -1

    readings: dict[str, Callable[[], Any]] = {
        "place.directory": lambda: str(repository.folder),
        "place.state": lambda: Symbol("ready" if repository.head() else "absent"),
        "place.progress": lambda: text(PROGRESS)[-2000:],
        "place.history": repository.history,
        "place.clean": clean,
        "place.head": repository.head,
        "place.good": repository.good,
        "next.id": lambda: following()["id"],
        "next.words": lambda: following()["words"],
        "next.attempt": attempt,
        "list.open": count,
    }
    for path, reading in readings.items():
        host.sensor(path)(reading)


def set_up(host: Host, repository: Repository) -> None:
    """The tool of the first run."""

    @host.tool("lay_out", idempotent=True)
    def lay_out(init: str, features: list[Any], files: list[Any]) -> dict[str, Any]:
        if repository.head():
            raise InvalidArguments("there is a project already")
        wanted = new_list(features)
        with repository.alone():
            repository.git("init", "--quiet")
            for one in files:
                repository.put(application_file(one["path"]), one["content"].encode())
            repository.put(INIT, init.encode())
            repository.put(LIST, rendered(wanted))
            repository.put(PROGRESS, b"# Progress\n\nOne line for each run, the last one below.\n\n")
            for one in features:
                repository.put(test_of(one["id"]), one["test"].encode())
        stop("lay_out done")
        return {"features": len(wanted)}


def work(host: Host, repository: Repository, project: Project) -> None:
    """The tools that look at the application and change it."""

    def check(feature: str) -> dict[str, Any]:
        whole, done, report = project.check(feature)
        return {"whole": answer(whole), "done": answer(done), "report": report}

    host.tool("check_before", read_only=True)(check)
    host.tool("check_after", read_only=True)(check)

    @host.tool("write", idempotent=True)
    def write(path: str, content: str) -> dict[str, Any]:
        stop("write begun")
        digest = repository.put(application_file(path), content.encode())
        stop("write done")
        return {"digest": digest}

    @host.tool("remove", idempotent=True)
    def remove(path: str) -> dict[str, Any]:
        repository.take(application_file(path))
        return {"gone": Symbol("yes")}

    @host.tool("mark", idempotent=True)
    def mark(feature: str) -> dict[str, Any]:
        whole, done, report = project.check(feature)
        if not (whole and done):
            raise InvalidArguments(f"{feature} cannot be marked: {report}")
        features = project.features(repository.head())
        marked = [{**one, "passes": one["passes"] or one["id"] == feature} for one in features]
        newly_passing(features, marked)
        repository.put(LIST, rendered(marked))
        stop("mark done")
        return {"marked": feature}


def checkpoints(host: Host, repository: Repository, project: Project) -> None:
    """The tools that write the history."""

    @host.tool("progress", idempotent=True)
    def progress(feature: str, text: str) -> dict[str, Any]:
        # From what is committed, not from what lies there: a second call adds no second line.
        before = repository.committed(repository.head(), PROGRESS) or b""
        line = f"- {' '.join(feature.split())}: {' '.join(text.split())}\n"
        repository.put(PROGRESS, before + line.encode())
        stop("progress done")
        return {"line": line}

    @host.tool("go_back", idempotent=True)
    def go_back(to: str) -> dict[str, Any]:
        at = repository.go_back(to)
        stop("go_back done")
        return {"at": at}

    @host.tool("commit")
    def commit(kind: Symbol, feature: str) -> dict[str, Any]:
        stop("commit begun")
        action = current_action().action_id
        with repository.alone():
            if repository.made_by(action):
                # A commit that was interrupted is looked for, never made again: this is another run's.
                raise InvalidArguments(f"there is a commit of an action {action}: every run needs its own id")
            try:
                project.judge(str(kind), feature, repository.stage())
            except InvalidArguments:
                repository.unstage()
                raise
            subject = {"set_up": "Set up the project", "built": f"Feature {feature}"}.get(
                str(kind), f"Note: {feature} was taken back"
            )
            made = repository.commit(subject, {ACTION: action, "Kind": str(kind), "Feature": feature})
        repository.last_commit_here = made
        stop("commit done")
        return {"hash": made}

    @host.reconciler("commit")
    def committed(_args: dict[str, Any], context: Any) -> Any:
        # The lock of the repository is waited for, so an orphaned git has ended by now: what is not in
        # the log will not come. A log that cannot be read raises, and raising means "unknown".
        made = repository.made_by(context.action_id)
        repository.last_commit_here = made or ""
        return NOT_EXECUTED if made is None else {"hash": made}


__all__ = ["APPLICATION", "build"]
