"""The coder example, killed with SIGKILL at every interesting point and resumed with the same command.

Before the write, after it and before its record, after the commit and before its record, after the record:
the git log and the files say that each effect took place once.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.support.coder import Coder, needs_git, wait_for
from tests.support.command import Ended

pytestmark = [needs_git, pytest.mark.real_kill]

SETTLED = {
    "write begun": ("write", "retry"),
    "write done": ("write", "retry"),
    "mark done": ("mark", "retry"),
    "progress done": ("progress", "retry"),
    "commit begun": ("commit", "not_executed"),
    "commit done": ("commit", "reconciled"),
    "commit recorded": None,
}
"""Where a run is killed, and how the action that was under way there is settled."""


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Coder:
    """A project that has been set up."""
    coder = Coder(tmp_path_factory.mktemp("coder") / "begun")
    coder.folder.mkdir()
    assert coder.run("set-up").code == 0
    return coder


@pytest.fixture(scope="module")
def two_built(begun: Coder, tmp_path_factory: pytest.TempPathFactory) -> Coder:
    """A project with two features, whose next attempt breaks the second."""
    coder = begun.copy(tmp_path_factory.mktemp("coder") / "two")
    for run in ("feature-1", "feature-2"):
        assert coder.run(run).code == 0
    return coder


def settled(ended: Ended) -> tuple[str, str] | None:
    """How the resumed run settled what it found under way."""
    found = [(one["target"], one["how"]) for one in ended.data["resolutions"]]
    assert len(found) <= 1
    return found[0] if found else None


def require_one_feature(coder: Coder) -> None:
    """One commit for the one feature, and everything else as it must be."""
    assert coder.subjects() == ["Set up the project", "Feature length"]
    assert len(set(coder.actions())) == len(coder.actions()) == 2
    assert [name for name, passes in coder.features().items() if passes] == ["length"]
    assert len(coder.features()) == 5
    assert coder.progress() == ["length: passes"]
    assert coder.left_over() == ""
    assert coder.convert("3", "km", "m") == "3000 m\n"
    assert sorted(coder.git("show", "--name-only", "--format=").split()) == [
        *("features.json", "progress.md", "units.py")
    ]


@pytest.mark.parametrize("point", SETTLED)
def test_killed_at_a_point_and_resumed(begun: Coder, tmp_path: Path, point: str) -> None:
    """`DUR-2`, `RES-6`: whatever had happened already has happened once in the end."""
    coder = begun.copy(tmp_path / "here")
    coder.kill_at("feature-1", point)
    (coder.project / ".git" / "index.lock").touch()  # what a git that was killed as well leaves behind
    resumed = coder.run("feature-1")
    assert (resumed.code, resumed.data["in_doubt"], resumed.data["resumed"]) == (0, [], True)
    assert settled(resumed) == SETTLED[point]
    require_one_feature(coder)


def test_killed_at_every_point_of_one_run(begun: Coder, tmp_path: Path) -> None:
    """`RES-6`: as many deaths as there are points; and the completed run does nothing again (`RES-3`)."""
    coder = begun.copy(tmp_path / "here")
    for point in SETTLED:
        coder.kill_at("feature-1", point)
        (coder.folder / "reached").unlink()
    for _ in range(2):
        assert coder.run("feature-1").code == 0
        require_one_feature(coder)


@pytest.mark.parametrize("point", ["lay_out done", "commit begun", "commit done"])
def test_killed_while_setting_up(begun: Coder, tmp_path: Path, point: str) -> None:
    """`RES-6`: the first commit is made once, of the same files."""
    coder = Coder(tmp_path)
    coder.kill_at("set-up", point)
    assert coder.run("set-up").code == 0
    assert coder.subjects() == ["Set up the project"]
    assert coder.git("rev-parse", "HEAD^{tree}") == begun.git("rev-parse", "HEAD^{tree}")
    assert coder.left_over() == ""


@pytest.mark.parametrize("point", ["go_back done", "commit done"])
def test_killed_while_taking_back(two_built: Coder, tmp_path: Path, point: str) -> None:
    """`RES-6`: of the change that broke the masses only the note is left, and that once."""
    coder = two_built.copy(tmp_path / "here")
    working = (coder.project / "units.py").read_bytes()
    coder.kill_at("feature-3", point)
    assert coder.run("feature-3").code == 0
    assert coder.subjects()[3:] == ["Note: temperature was taken back"]
    assert coder.progress()[2:] == ["temperature: did not pass the check"]
    assert (coder.project / "units.py").read_bytes() == working
    assert sum(coder.features().values()) == 2
    assert coder.left_over() == ""


SHIM = """\
#!/bin/sh
# git, but the first commit waits: its agent is dead by the time that it is made.
case " $* " in
  *" commit --quiet "*)
    if mkdir "$CODER_SHIM/entered" 2>/dev/null; then
      echo waiting > "$CODER_SHIM/waiting"
      while [ ! -e "$CODER_SHIM/release" ]; do sleep 0.02; done
    fi ;;
esac
exec "$CODER_GIT" "$@"
"""


def test_a_git_that_outlives_its_agent_commits_once(begun: Coder, tmp_path: Path) -> None:
    """`RES-6`: a reconciler that looked while an orphaned git still works would answer "not executed"."""
    coder = begun.copy(tmp_path / "here")
    shim = tmp_path / "bin"
    shim.mkdir()
    (shim / "git").write_text(SHIM, encoding="utf-8")
    (shim / "git").chmod(0o755)
    environment = {
        "PATH": f"{shim}{os.pathsep}{os.environ['PATH']}",
        "CODER_GIT": str(shutil.which("git")),
        "CODER_SHIM": str(tmp_path),
    }
    process = coder.begin("feature-1", **environment)
    try:
        wait_for(tmp_path / "waiting", process)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == -9
    assert coder.subjects() == ["Set up the project"]
    resumed = coder.begin("feature-1", **environment)
    try:
        said = tmp_path / "here" / "feature-1.txt"
        while "waiting for the git" not in said.read_text(encoding="utf-8"):
            assert resumed.poll() is None, "the resumed run did not wait for the orphaned git"
    finally:
        (tmp_path / "release").touch()
        code = resumed.wait(120)
    assert code == 0
    require_one_feature(coder)
