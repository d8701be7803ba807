"""The list of features and the check from end to end: what may change, and what is true.

The policy of ``coder.agent`` judges what is asked for; this is the second line, which looks at the files
themselves and compares them with what is committed. It does not matter to it how a change came about.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

from coder_repository import Repository

from agentl.kernel import InvalidArguments

APPLICATION = ("convert.py", "units.py")
LIST, PROGRESS, INIT, TESTS = "features.json", "progress.md", "init.sh", "tests"
PATIENCE = 120.0
"""Seconds that a whole check may take; then it has failed."""

Feature = dict[str, Any]


def application_file(path: str) -> str:
    """The path, if it is a file that the application may consist of."""
    if path not in APPLICATION:
        raise InvalidArguments(f"{path!r} is no file of the application: {', '.join(APPLICATION)}")
    return path


def test_of(feature: str) -> str:
    """The test that proves a feature."""
    return f"{TESTS}/test_{feature}.py"


def rendered(features: list[Feature]) -> bytes:
    """The list as it stands in its file: one form only, so that every other difference shows."""
    return (json.dumps(features, indent=2, ensure_ascii=False) + "\n").encode()


def parsed(content: bytes | None) -> list[Feature]:
    """The list out of its file."""
    try:
        features = json.loads(content or b"")
        whole = rendered(features) == content and all(
            list(one) == ["id", "words", "passes"] and isinstance(one["passes"], bool) for one in features
        )
    except (ValueError, TypeError):
        whole = False
    if not whole:
        raise InvalidArguments(f"{LIST} is not a list of features in its one form")
    return list(features)


def new_list(proposed: list[Any]) -> list[Feature]:
    """The list of a new project: every feature open."""
    features: list[Feature] = []
    for one in proposed:
        name, words = one.get("id"), one.get("words")
        if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z_]*", name) or not isinstance(words, str):
            raise InvalidArguments("a feature has an `id` of small letters, and `words`")
        features.append({"id": name, "words": " ".join(words.split()), "passes": False})
    if not features or len({one["id"] for one in features}) != len(features):
        raise InvalidArguments("the ids of the features must differ, and there must be one")
    return features


def newly_passing(before: list[Feature], after: list[Feature]) -> list[str]:
    """The ids whose ``passes`` went from false to true; any other difference is refused."""
    if [(one["id"], one["words"]) for one in before] != [(one["id"], one["words"]) for one in after]:
        raise InvalidArguments("only `passes` may change in the list: same ids, same words, same order")
    pairs = [(old, new) for old, new in zip(before, after, strict=True) if old["passes"] != new["passes"]]
    if any(old["passes"] for old, _ in pairs):
        raise InvalidArguments("`passes` goes from false to true, never back")
    return [str(new["id"]) for _, new in pairs]


class Project:
    """A folder with its list, its tests and its application."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self._checked: dict[str, dict[str, bool]] = {}

    def features(self, commit: str | None = None) -> list[Feature]:
        """The list: of a commit, or as it lies in the folder."""
        if commit:
            return parsed(self.repository.committed(commit, LIST))
        file = self.repository.folder / LIST
        return parsed(None if file.is_symlink() or not file.is_file() else file.read_bytes())

    def require_intact(self) -> None:
        """Refuse a folder whose tests are not those of the set-up commit, or whose list says other things."""
        root, folder = self.repository.root(), self.repository.folder
        frozen = self.repository.committed_below(root, TESTS, INIT)
        for path in frozen:
            file = folder / path
            there = file.is_file() and not file.is_symlink() and not file.parent.is_symlink()
            if not there or file.read_bytes() != self.repository.committed(root, path):
                raise InvalidArguments(f"{path} is not what the set-up committed: tests are never changed")
        beside = [str(file.relative_to(folder)) for file in (folder / TESTS).rglob("*")]
        if unknown := sorted(set(beside) - set(frozen)):
            raise InvalidArguments(f"{unknown[0]} does not belong among the tests")
        newly_passing(self.features(root), self.features())

    def check(self, feature: str) -> tuple[bool, bool, str]:
        """Whether everything that is said to pass does, whether ``feature`` does, and a report."""
        try:
            self.require_intact()
            features = self.features()
        except InvalidArguments as refusal:
            return False, False, str(refusal)
        if feature not in [one["id"] for one in features]:
            return False, False, f"there is no feature {feature!r}"
        # `feature` is not among those kept, even if the list says already that it passes.
        kept = [str(one["id"]) for one in features if one["passes"] and one["id"] != feature]
        found = self._results([*kept, feature])
        try:
            self.require_intact()  # what was run may have written
        except InvalidArguments as refusal:
            return False, False, str(refusal)
        report = ", ".join(f"{name} {'passes' if passed else 'fails'}" for name, passed in found.items())
        return all(found[name] for name in kept), found[feature], report

    def _results(self, names: list[str]) -> dict[str, bool]:
        """What the tests say about these files; asked again about the same bytes, the same."""
        files = [*APPLICATION, *map(test_of, names)]
        bytes_of = [
            f"{path} {hashlib.sha256(file.read_bytes()).hexdigest()}" if file.is_file() else path
            for path in files
            for file in [self.repository.folder / path]
        ]
        key = "\n".join(bytes_of)
        if key not in self._checked:
            self._checked[key] = run_tests(self.repository.folder, names)
        return self._checked[key]

    def judge(self, kind: str, feature: str, changed: list[str]) -> None:
        """Refuse a commit that is not what its kind says."""
        head = self.repository.head()
        if kind == "set_up":
            laid_out = [*APPLICATION, LIST, PROGRESS, INIT, *(test_of(one["id"]) for one in self.features())]
            if head or changed != sorted(laid_out):
                raise InvalidArguments("the first commit holds the project as it was laid out, nothing else")
            return
        self.require_intact()
        passing = newly_passing(self.features(head), self.features())
        if kind == "taken_back":
            if passing or changed != [PROGRESS]:
                raise InvalidArguments(f"a note changes {PROGRESS} and nothing else")
            return
        if kind != "built" or passing != [feature] or not {LIST, PROGRESS} <= set(changed):
            raise InvalidArguments("a run commits exactly one feature, marked and noted")
        if strange := sorted(set(changed) - {LIST, PROGRESS, *APPLICATION}):
            raise InvalidArguments(f"{strange[0]} is no file of the application")
        whole, done, report = self.check(feature)
        if not (whole and done):
            raise InvalidArguments(f"the check does not pass: {report}")


def run_tests(folder: Path, names: list[str]) -> dict[str, bool]:
    """Use the application as a user would: the tests of some features, in a child process."""
    with tempfile.TemporaryDirectory(prefix="coder-check-") as scratch:
        report = Path(scratch) / "report.xml"
        unwanted = ("PYTEST_", "PYTHON", "GIT_")  # how this process was started is no part of the check
        kept = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}
        process = subprocess.Popen(
            [
                *("sh", INIT, "-q", "--noconftest", "-c", os.devnull, "--rootdir", str(folder)),
                *("-p", "no:cacheprovider", "-o", "junit_family=xunit1", f"--junitxml={report}"),
                *map(test_of, names),
            ],
            cwd=folder,
            env={
                **kept,
                "PYTHON": sys.executable,
                "PYTHONDONTWRITEBYTECODE": "1",  # the check leaves nothing in the folder
                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # with whatever of the application still runs
            process.communicate()
            return dict.fromkeys(names, False)
        if not report.is_file():
            raise RuntimeError(f"the check did not run: {output.decode('utf-8', 'replace').strip()[-300:]}")
        cases = list(ET.parse(report).iter("testcase"))
    results = {}
    for name in names:
        own = [case for case in cases if case.get("file") == test_of(name)]
        results[name] = bool(own) and all(not case.findall("*") for case in own)
    return results
