"""What holds for the repository as a whole: sizes, words, twins, versions."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import agentl

ROOT = Path(__file__).resolve().parent.parent
LINES = 450
"""The longest module that is still pleasant to audit, blank lines apart."""

TEXT = {".py", ".md", ".agent", ".toml", ".tla", ".cfg", ".lark", ".yml", ".yaml", ".sh", ""}


def tracked() -> list[Path]:
    """The files of the repository; without git, whatever lies in its folders."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        names = listed.stdout.decode().split("\0")
        return [ROOT / name for name in names if name and (ROOT / name).is_file()]
    folders = ("agentl", "tools", "tests", "docs", "spec", "formal")
    return [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]


def test_no_module_is_too_long_to_read() -> None:
    """DESIGN: one idea per module; what grows beyond the bound is split."""
    long = {
        str(path.relative_to(ROOT)): count
        for folder in ("agentl", "tools")
        for path in sorted((ROOT / folder).rglob("*.py"))
        # The catalogue is a table, two lines per message; it has no length that hurts.
        if "catalogue" not in path.parts
        and (count := sum(1 for line in path.read_text(encoding="utf-8").splitlines() if line.strip()))
        > LINES
    }
    assert not long


# Put together here so that this file does not hold what it looks for.
FORBIDDEN = (
    "/work" + "/",
    r"\.\./" + "shared",
    "Chat" + "GPT",
    "Copi" + "lot",
    "lang" + "graph",
    "pydantic" + "ai",
    "crew" + "ai",
    "TO" + "DO",
    "FIX" + "ME",
    "XX" + "X",
)


def test_no_word_that_does_not_belong_here() -> None:
    """No machine paths, no tool names, no notes to oneself in the repository."""
    pattern = re.compile("|".join(rf"(?<![A-Za-z]){word}(?![A-Za-z])" for word in FORBIDDEN))
    found = []
    for path in tracked():
        if path.suffix in TEXT and path.name != "LICENSE":
            for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
                if pattern.search(line):
                    found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}")
    assert not found


def prose(page: Path) -> str:
    """The text of a page without its code."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", text)


def headings(page: Path) -> list[int]:
    """The levels of the headings of a page, in order."""
    return [len(match.group(1)) for match in re.finditer(r"^(#+) ", prose(page), flags=re.MULTILINE)]


def links(page: Path) -> set[str]:
    """Where the links of a page lead."""
    return set(re.findall(r"\]\(([^)#\s]+)", prose(page)))


PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "spec").glob("*.md")]


def test_the_french_readme_mirrors_the_english_one() -> None:
    """Both pages have the same headings, the same code blocks and the same links."""
    english, french = ROOT / "README.md", ROOT / "README.fr.md"
    assert headings(english) == headings(french)
    assert len(headings(english)) >= 4
    assert links(english) - {"README.fr.md"} == links(french) - {"README.md"}


@pytest.mark.parametrize("page", sorted(PAGES), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link of a page leads to a file of the repository."""
    inside = [link for link in links(page) if not re.match(r"https?:|mailto:", link)]
    assert [link for link in inside if not (page.parent / link).exists()] == []


def test_the_version_is_one() -> None:
    """`API-1`: `__version__` equals the version of the distribution."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert agentl.__version__ == project["version"]
    assert f"## {project['version']}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_public_names_exist() -> None:
    """`API-1`: every name of the facade can be imported, and nothing else is promised."""
    for name in agentl.__all__:
        assert getattr(agentl, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = agentl.no_such_name
    assert set(agentl.__all__) <= set(dir(agentl))
