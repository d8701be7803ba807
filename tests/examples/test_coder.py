"""The coder example from its first run to its last, and what its policy and its validator refuse.

What is counted is counted in the git log and in the files, never in the report of a run.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentl.kernel import InvalidArguments
from tests.support.coder import CODER, PROGRAM, Coder, needs_git, refused
from tests.support.command import here

# One process makes the story that most of these tests begin from.
pytestmark = [needs_git, pytest.mark.xdist_group("coder")]

FEATURES = ["length", "mass", "temperature", "refusal", "listing"]
SUBJECTS = [
    *("Set up the project", "Feature length", "Feature mass"),
    *("Note: temperature was taken back", "Feature temperature"),
    *("Note: refusal was taken back", "Note: refusal was taken back", "Feature refusal"),
    *("Note: listing was taken back", "Note: listing was taken back", "Feature listing"),
]
PROGRESS = [
    *("length: passes", "mass: passes"),
    *("temperature: did not pass the check", "temperature: passes"),
    *("refusal: refused", "refusal: refused", "refusal: passes"),
    *("listing: refused", "listing: did not pass the check", "listing: passes"),
]
REFUSED = {3: ["mark"], 5: ["write"], 6: ["remove"], 8: ["write"], 9: ["mark"]}
"""What the policy refuses, by the number of the run; in the third the masses would have broken."""


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> list[Coder]:
    """The project after each run: the set-up, then as many runs as there is work for."""
    states: list[Coder] = []
    coder = Coder(tmp_path_factory.mktemp("coder") / "now")
    coder.folder.mkdir()
    for number in range(len(SUBJECTS)):
        ended = coder.run(f"run-{number}")
        assert (ended.code, ended.data["in_doubt"]) == (0, []), ended.err
        blocked = [call for call in refused(ended) if call in {"write", "remove", "mark", "commit"}]
        assert blocked == REFUSED.get(number, [])
        states.append(coder.copy(coder.folder.parent / f"after-{number}"))
    return states


def test_the_program_is_clean() -> None:
    """`CHK-1`: no error and no warning."""
    checked = here("check", PROGRAM, "--json").data
    assert (checked["errors"], checked["warnings"]) == (0, 0)


def test_all_features_from_the_first_run_to_the_last(story: list[Coder]) -> None:
    """`CLI-3`, `RES-2`: the list says that all pass, the log has one commit for each, the program works."""
    last = story[-1]
    assert last.subjects() == SUBJECTS
    assert [subject for subject in last.subjects() if subject.startswith("Feature")] == [
        f"Feature {name}" for name in FEATURES
    ]
    assert last.features() == dict.fromkeys(FEATURES, True)
    assert last.progress() == PROGRESS
    assert len(set(last.actions())) == len(SUBJECTS)
    assert last.convert("3", "km", "m") == "3000 m\n"
    assert last.convert("2.5", "kg", "g") == "2500 g\n"
    assert last.convert("100", "C", "F") == "212 F\n"
    assert last.convert("3", "km", "kg") == "2: cannot convert km to kg\n"
    assert last.convert("--units").startswith("length: mm cm m km\n")


def test_each_run_takes_one_feature_and_leaves_nothing_behind(story: list[Coder]) -> None:
    """After each run: a clean folder, the tests of the first commit, and no feature but its own changed."""
    first = story[0]
    assert first.features() == dict.fromkeys(FEATURES, False)
    for number, state in enumerate(story):
        assert state.left_over() == ""
        assert state.frozen() == first.frozen()
        assert state.subjects() == SUBJECTS[: number + 1]
        done = {subject.removeprefix("Feature ") for subject in SUBJECTS[: number + 1]}
        assert state.features() == {name: name in done for name in FEATURES}
        if SUBJECTS[number].startswith("Note"):
            assert state.git("show", "--name-only", "--format=").split() == ["progress.md"]


def test_without_open_features_a_run_does_nothing(story: list[Coder], tmp_path: Path) -> None:
    """The list of features is the condition of completion."""
    done = story[-1].copy(tmp_path / "done")
    ended = done.run("one-more")
    assert (ended.code, ended.data["ended"], ended.data["metrics"]["tool_calls"]) == (0, "until", 0)
    assert done.subjects() == SUBJECTS


def without_policy(folder: Path) -> Path:
    """The program with a policy that allows everything, its host beside it."""
    copied = shutil.copytree(CODER, folder)
    text, found = re.subn(
        r"\n  POLICY \{.*?\n  \}\n",
        "\n  POLICY { DEFAULT ALLOW }\n",
        PROGRAM.read_text("utf-8"),
        flags=re.DOTALL,
    )
    assert found == 1
    (copied / "coder.agent").write_text(text, encoding="utf-8")
    return copied / "coder.agent"


@pytest.mark.parametrize("number", sorted(REFUSED))
def test_the_validator_holds_the_line_without_the_policy(
    story: list[Coder], tmp_path: Path, number: int
) -> None:
    """A policy that forgets everything: the tool refuses (`TOL-3`), and nothing else comes of the run."""
    coder = story[number - 1].copy(tmp_path / "here")
    coder.program = without_policy(tmp_path / "program")
    ended = coder.run("loose")
    assert (ended.code, ended.data["in_doubt"], refused(ended)) == (0, [], [])
    failed = [event for event in ended.data["trace"] if event["code"] == "tool.failed"]
    assert REFUSED[number] == [event["values"]["tool"] for event in failed]
    assert coder.subjects() == SUBJECTS[: number + 1]
    assert coder.features() == story[number].features()
    assert coder.frozen() == story[0].frozen()
    assert coder.left_over() == ""


# --- what the validator says about files that were changed behind the tools' back ----------------


def rewrite(change: Callable[[list[dict[str, Any]]], Any]) -> Callable[[Path], None]:
    """Change the list of a project."""

    def apply(project: Path) -> None:
        file = project / "features.json"
        listed = json.loads(file.read_bytes())
        change(listed)
        file.write_text(json.dumps(listed, indent=2) + "\n", encoding="utf-8")

    return apply


def appended(path: str, text: str) -> Callable[[Path], None]:
    """Add a text to a file, new or old."""

    def apply(project: Path) -> None:
        with (project / path).open("a", encoding="utf-8") as file:
            file.write(text)

    return apply


def linked(project: Path) -> None:
    """A test that is the same text, somewhere else."""
    test = project / "tests" / "test_mass.py"
    test.rename(project.parent / "elsewhere.py")
    test.symlink_to(project.parent / "elsewhere.py")


TAMPERED: dict[str, Callable[[Path], Any]] = {
    "a test is edited": appended("tests/test_mass.py", "\n"),
    "a test is removed": lambda project: (project / "tests/test_mass.py").unlink(),
    "a test is a link": linked,
    "all tests are removed": lambda project: shutil.rmtree(project / "tests"),
    "a file beside the tests": appended("tests/conftest.py", "collect_ignore = ['test_mass.py']\n"),
    "init.sh is edited": appended("init.sh", "exit 0\n"),
    "a file beside the application": appended("pytest.ini", "[pytest]\n"),
    "another feature is marked": rewrite(lambda listed: listed[4].update(passes=True)),
    "a mark is taken back": rewrite(lambda listed: listed[0].update(passes=False)),
    "no feature is marked": rewrite(lambda listed: listed[1].update(passes=False)),
    "a feature is removed": rewrite(lambda listed: listed.pop(3)),
    "a feature is added": rewrite(lambda listed: listed.append({"id": "x", "words": "x", "passes": False})),
    "the order is another": rewrite(lambda listed: listed.reverse()),
    "the words are others": rewrite(lambda listed: listed[2].update(words="nothing")),
    "an id is another": rewrite(lambda listed: listed[2].update(id="other")),
    "a field is added": rewrite(lambda listed: listed[2].update(note="soon")),
    "passes is no truth": rewrite(lambda listed: listed[1].update(passes=1)),
    "the list has another form": appended("features.json", "\n"),
    "the list is no list": lambda project: (project / "features.json").write_text("{}\n"),
    "the list is gone": lambda project: (project / "features.json").unlink(),
    "the feature does not work": lambda project: (project / "units.py").write_text("nothing = 0\n"),
    "an older feature broke": lambda project: (project / "units.py").write_text(
        (project / "units.py").read_text().replace('"km": 1000', '"km": 999')
    ),
    "no progress is noted": lambda project: (project / "progress.md").write_text(
        "# Progress\n\nOne line for each run, the last one below.\n\n- length: passes\n"
    ),
}


@pytest.fixture
def marked(story: list[Coder], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Any]:
    """The second feature written, marked and noted, not yet committed: the folder and its validator."""
    monkeypatch.syspath_prepend(str(CODER))
    from coder_features import Project
    from coder_repository import Repository

    coder = story[2].copy(tmp_path / "here")
    coder.git("reset", "--soft", "HEAD~1")
    return coder.project, Project(Repository(coder.project))


def test_what_a_run_may_commit(marked: tuple[Path, Any]) -> None:
    """The folder that the cases below change is one that may be committed."""
    _, validator = marked
    validator.judge("built", "mass", validator.repository.stage())
    with pytest.raises(InvalidArguments):
        validator.judge("built", "temperature", validator.repository.stage())
    with pytest.raises(InvalidArguments):
        validator.judge("taken_back", "mass", validator.repository.stage())
    with pytest.raises(InvalidArguments):
        validator.judge("set_up", "", validator.repository.stage())


@pytest.mark.parametrize("tampering", TAMPERED)
def test_what_a_run_may_not_commit(marked: tuple[Path, Any], tampering: str) -> None:
    """Only `passes` of one feature may change, and the tests are those of the set-up, byte for byte."""
    project, validator = marked
    TAMPERED[tampering](project)
    with pytest.raises(InvalidArguments):
        validator.judge("built", "mass", validator.repository.stage())


def meddling(project: Path) -> None:
    """An application that works, and edits its own test while it is checked."""
    appended("units.py", "open(__file__.replace('units.py', 'tests/test_mass.py'), 'a').write('\\n')\n")(
        project
    )


NOT_INTACT = [
    *("a test is edited", "a test is removed", "a test is a link", "all tests are removed"),
    *("a file beside the tests", "init.sh is edited", "a feature is removed", "the words are others"),
    *("the order is another", "the list has another form", "the list is gone", "the application meddles"),
]


@pytest.mark.parametrize("tampering", NOT_INTACT)
def test_the_check_does_not_pass_on_other_tests(marked: tuple[Path, Any], tampering: str) -> None:
    """What is checked are the tests of the set-up; with others, or another list, nothing counts as passed."""
    project, validator = marked
    assert validator.check("mass")[:2] == (True, True)
    {**TAMPERED, "the application meddles": meddling}[tampering](project)
    assert validator.check("mass")[:2] == (False, False)


# --- an application that is broken, a run that was given up -------------------------------------


def test_a_broken_application_goes_back_to_the_last_good_commit(story: list[Coder], tmp_path: Path) -> None:
    """Somebody commits a fault: the next run sees it before its change, and builds on what was good."""
    coder = story[1].copy(tmp_path / "here")
    good = coder.git("rev-parse", "HEAD").strip()
    (coder.project / "units.py").write_text("nothing = 0\n", encoding="utf-8")
    coder.git("commit", "--quiet", "-am", "Tidy up")
    broken = coder.git("rev-parse", "HEAD").strip()
    assert coder.run("next").code == 0
    assert coder.subjects() == SUBJECTS[:3]
    assert coder.git("rev-parse", "HEAD~1").strip() == good
    assert coder.features() == story[2].features()
    assert coder.git("for-each-ref", "--format=%(objectname)", "refs/left").split() == [broken]


def test_a_committed_change_of_a_test_goes_back_too(story: list[Coder], tmp_path: Path) -> None:
    """The tests count as the first commit has them, not as the last one does."""
    coder = story[1].copy(tmp_path / "here")
    (coder.project / "tests" / "test_mass.py").write_text("def test_nothing():\n    pass\n", encoding="utf-8")
    coder.git("commit", "--quiet", "-am", "Simplify a test")
    assert coder.run("next").code == 0
    assert coder.subjects() == SUBJECTS[:3]
    assert coder.frozen() == story[0].frozen()


def test_a_foreign_commit_that_breaks_nothing_is_kept(story: list[Coder], tmp_path: Path) -> None:
    """A run that fails goes back to where it began, not behind what somebody else has added."""
    coder = story[2].copy(tmp_path / "here")
    (coder.project / "NOTES").write_text("by hand\n", encoding="utf-8")
    coder.git("add", "NOTES")
    coder.git("commit", "--quiet", "-m", "By hand")
    assert coder.run("next").code == 0
    assert coder.subjects() == [*SUBJECTS[:3], "By hand", SUBJECTS[3]]
    assert coder.left_over() == ""


def test_what_an_abandoned_run_left_is_not_built_on(story: list[Coder], tmp_path: Path) -> None:
    """Half a change without its run: removed before the next feature is begun, the stale lock of git too."""
    coder = story[1].copy(tmp_path / "here")
    (coder.project / "tests" / "test_length.py").unlink()
    (coder.project / "features.json").write_text("[]\n", encoding="utf-8")
    (coder.project / "half.py").write_text("half\n", encoding="utf-8")
    (coder.project / ".git" / "index.lock").touch()
    assert coder.run("next").code == 0
    assert coder.subjects() == SUBJECTS[:3]
    assert coder.features() == story[2].features()
    assert coder.frozen() == story[0].frozen()
    assert coder.left_over() == ""
