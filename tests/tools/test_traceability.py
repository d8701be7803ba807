"""The traceability check finds each kind of hole, and the audit book leads to everything it names."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tools import traceability
from tools.trace_matrix.citations import cited
from tools.trace_matrix.clauses import read_chapter
from tools.trace_matrix.matrix import Matrix, build

ROOT = Path(__file__).resolve().parents[2]

CLEAN = {
    "spec/kernel.md": """\
# Kernel: what acts

Everything proposes. See `KRN-2`, [here](kernel.md) and [there](https://example.org/).

## Permits

### KRN-1 · The first rule

An action is judged. <script>alert(1)</script>

| code | meaning |
|---|---|
| `KRN-E001` | Never `twice` |

### KRN-2 · A later one

As `KRN-1` says.

*Later: there is no
such thing yet.*
""",
    "formal/Kernel.tla": """\
---- MODULE Kernel ----
(* Heading, KRN-1 to KRN-2. *)
EXTENDS Naturals
VARIABLES permit

(* KRN-1: judged once.  *)
MayDecide(a) == permit[a] = "none"

Decide(a) ==
    /\\ MayDecide(a)
    /\\ permit' = [permit EXCEPT ![a] = "judged"]

(* ENV.  Somebody pulls the plug.  *)
Crash == permit' = permit

Unrelated == TRUE

(* KRN-1: the last step.  *)
Last == TRUE
Spec == [][Last]_permit
----
Next == (\\E a \\in 1..2 : Decide(a)) \\/ Crash
====
""",
    "agentl/kernel/protocol.py": '''\
"""The steps (`KRN-1`)."""

from agentl.contracts import clause, require


@require(lambda permit: permit == "none", error=clause("KRN-1", "Decide"))
def decide(permit):
    """Decide (`KRN-1`), not clause("XYZ-8", "Decide"): on <b>this</b> machine, in UTF-8, by SHA-256."""
    return "judged"  # KRN-E001
''',
    "agentl/kernel/steps.py": '''\
"""Events."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Decide:
    """Judged (`KRN-1`)."""


class Listener:
    """No event."""
''',
    "tests/test_decide.py": '''\
"""Tests."""


def helper():
    """No test (`KRN-1`)."""


# KRN-E001: a comment above a test is about the test.
def test_decide():
    """`KRN-1`: it may fail."""
    assert "XYZ-9 in a text is no citation"
''',
    "docs/guide.md": "See KRN-1.\n",
    "docs/examples/shop/README.md": "Invoice INV-2041.\n",
}


def tree(folder: Path, *changes: tuple[str, str, str]) -> Path:
    """A small project on disk; a change replaces one text in one of its files."""
    files = dict(CLEAN)
    for name, before, after in changes:
        assert before in files.get(name, "") or not before
        files[name] = files[name].replace(before, after) if before else files.get(name, "") + after
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def found(root: Path) -> list[tuple[str, str]]:
    return [(problem.kind, problem.place) for problem in build(root).problems]


def test_ids_are_read_one_by_one_and_as_ranges() -> None:
    """A range names all between its ends, also across backticks; standards of others are no ids."""
    assert list(cited("`STM-2` to `STM-4`, KRN-1")) == ["STM-2", "STM-3", "STM-4", "KRN-1"]
    assert list(cited("CHK-E009 to CHK-E011")) == ["CHK-E009", "CHK-E010", "CHK-E011"]
    assert list(cited("KRN-1 to HST-2; SHA-256, UTF-8, AKRN-1, KRN-")) == ["KRN-1", "HST-2"]


def test_a_heading_in_a_block_of_code_is_no_clause(tmp_path: Path) -> None:
    """It is an example of one, and the words go on behind it."""
    path = tmp_path / "x.md"
    path.write_text("### KRN-1 · A\n```\n### KRN-2 · B\n```\nmore\n### KRN-3 · C\n", encoding="utf-8")
    first, second = read_chapter(path, tmp_path).clauses
    assert (first.id, first.words) == ("KRN-1", "```\n### KRN-2 · B\n```\nmore")
    assert (second.id, second.line) == ("KRN-3", 6)


def test_a_clean_tree_has_no_problem(tmp_path: Path) -> None:
    """Every clause is found with what cites it, and nothing else is."""
    matrix = build(tree(tmp_path))
    assert matrix.problems == []
    first, row, later = (matrix.rows[name] for name in ("KRN-1", "KRN-E001", "KRN-2"))
    assert first.clause.name == "The first rule"
    assert [one.name for one in first.operators] == ["MayDecide", "Decide", "Last"]
    assert [one.name for one in first.code] == ["agentl.kernel.protocol", "decide", "Decide"]
    assert [(unit.name, one.kind, one.action) for unit, one in first.contracts] == [
        ("decide", "require", "Decide")
    ]
    assert [unit.name for unit in first.tests] == ["test_decide"]
    assert (row.clause.words, row.clause.section) == ("Never `twice`", "Permits")
    assert [unit.name for unit in row.code] == ["decide"]
    assert [unit.name for unit in row.tests] == ["test_decide"]
    assert later.clause.excuse == "Later: there is no such thing yet."
    assert later.clause.mentions == ("KRN-1",)
    assert [(one.operator.name, one.operator.environment) for one in matrix.actions] == [
        ("Decide", False),
        ("Crash", True),
    ]
    assert matrix.counts() == {"clauses": 3, "model": 1, "contract": 1, "code": 2, "test": 2, "excused": 1}


@pytest.mark.parametrize(
    ("change", "kind", "place"),
    [
        (("agentl/kernel/protocol.py", "(`KRN-1`)", "(`KRN-7`)"), "undefined", "agentl/kernel/protocol.py:1"),
        (
            ("agentl/kernel/protocol.py", "# KRN-E001", "# KRN-E001, KRN-E9"),
            "undefined",
            "agentl/kernel/protocol.py:9",
        ),
        (
            ("agentl/kernel/protocol.py", '"KRN-1", "D', '"KRN-8", "D'),
            "undefined",
            "agentl/kernel/protocol.py:6",
        ),
        (("tests/test_decide.py", "(`KRN-1`)", "(`KRN-7`)"), "undefined", "tests/test_decide.py:5"),
        (("formal/Kernel.tla", "KRN-1: judged", "KRN-1, KRN-9: judged"), "undefined", "formal/Kernel.tla:6"),
        (("spec/kernel.md", "As `KRN-1`", "As `KRN-1`, `KRN-3`"), "undefined", "spec/kernel.md:17"),
        (("docs/guide.md", "KRN-1", "KRN-4"), "undefined", "docs/guide.md:1"),
        (("spec/kernel.md", "### KRN-2", "### KRN-1"), "twice", "spec/kernel.md:15"),
        (("agentl/kernel/protocol.py", "# KRN-E001", "# "), "no code", "spec/kernel.md:13"),
        (("tests/test_decide.py", '"""`KRN-1`: it', '"""It'), "no test", "spec/kernel.md:7"),
        (("tests/test_decide.py", "# KRN-E001: a", "# A"), "no test", "spec/kernel.md:13"),
        (("spec/kernel.md", "*Later: there is no\nsuch thing yet.*", ""), "no code", "spec/kernel.md:15"),
        (("formal/Kernel.tla", "(* ENV.  ", "(* "), "name", "formal/Kernel.tla:14"),
        (("agentl/kernel/protocol.py", "def decide", "def choose"), "name", "formal/Kernel.tla:9"),
        (("agentl/kernel/protocol.py", '"Decide"))', '"Decides"))'), "name", "agentl/kernel/protocol.py:6"),
        (("agentl/kernel/steps.py", "class Decide", "class Decided"), "name", "agentl/kernel/steps.py:7"),
        (("agentl/kernel/steps.py", "class Decide", "class Decided"), "name", "formal/Kernel.tla:9"),
    ],
)
def test_each_kind_of_hole_is_found(
    tmp_path: Path, change: tuple[str, str, str], kind: str, place: str
) -> None:
    """One thing wrong, and the place that is named is the one to look at."""
    assert (kind, place) in found(tree(tmp_path, change))


def test_an_excuse_that_is_not_needed_is_a_problem(tmp_path: Path) -> None:
    """A clause that says why it has no code must not have code and a test."""
    changes = (
        ("agentl/kernel/protocol.py", "(`KRN-1`), not", "(`KRN-1`, `KRN-2`), not"),
        ("tests/test_decide.py", "`KRN-1`: it", "`KRN-1`, `KRN-2`: it"),
    )
    assert found(tree(tmp_path, *changes)) == [("excuse", "spec/kernel.md:15")]


def test_a_step_of_the_run_may_stand_in_durable(tmp_path: Path) -> None:
    """With a contract that names the action; a function that only has its name is not enough."""
    root = tree(
        tmp_path,
        ("formal/Kernel.tla", "\\/ Crash", "\\/ Crash \\/ Unrelated"),
        (
            "agentl/kernel/steps.py",
            "class Listener",
            "@dataclass\nclass Unrelated:\n    pass\n\n\nclass Listener",
        ),
    )
    step = root / "agentl" / "durable" / "end.py"
    step.parent.mkdir()
    step.write_text("def unrelated(left):\n    return left\n", encoding="utf-8")
    assert [kind for kind, _ in found(root)] == ["name"]
    contract = '@require(lambda left: left == 0, error=clause("KRN-1", "Unrelated"))\n'
    step.write_text(contract + step.read_text(encoding="utf-8"), encoding="utf-8")
    assert found(root) == []


def test_the_command_reports_and_ends_as_it_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Quiet counts and problems by default, all rows on demand, the same as data; the exit code tells."""
    root = tree(tmp_path)
    assert traceability.main(["--root", str(root)]) == 0
    said = capsys.readouterr().out
    assert "no holes" in said
    assert "test_decide" not in said
    assert traceability.main(["--root", str(root), "--table", "KRN-1"]) == 0
    said = capsys.readouterr().out
    assert "KRN-1 · The first rule" in said
    assert "Kernel!Decide" in said
    assert "decide: require Decide" in said
    assert "KRN-2 ·" not in said
    assert traceability.main(["--root", str(root), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [clause["id"] for clause in data["clauses"]] == ["KRN-1", "KRN-E001", "KRN-2"]
    assert data["problems"] == []
    (root / "tests" / "test_decide.py").unlink()
    assert traceability.main(["--root", str(root)]) == 1
    assert "KRN-1 · The first rule has no test" in capsys.readouterr().out


class Page(HTMLParser):
    """What a page defines, links to and loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.sources: list[str] = []
        self.loads: list[tuple[str, str]] = []
        self.clauses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "article" and "clause" in given.get("class", "").split():
            self.clauses.append(given["id"])
        if "data-source" in given:
            self.sources.append(given["data-source"])
        if tag == "a":
            self.links.append(given["href"])
        self.loads += [
            (tag, given[name]) for name in ("src", "srcset", "data", "poster", "action") if name in given
        ]
        if tag in ("link", "iframe", "object", "embed", "base"):
            self.loads.append((tag, given.get("href", "")))


def book(root: Path) -> tuple[str, Matrix]:
    from tools.trace_matrix.book import render

    matrix = build(root)
    return render(matrix), matrix


@pytest.fixture(scope="module")
def real() -> tuple[str, Matrix]:
    return book(ROOT)


def test_the_book_has_every_clause_once_and_every_link_leads_somewhere(real: tuple[str, Matrix]) -> None:
    """Of this very repository: clauses, operators, functions and tests, with the ways back."""
    text, matrix = real
    page = Page(text)
    assert sorted(page.clauses) == sorted(matrix.rows)
    assert len(page.ids) == len(set(page.ids))
    assert {link for link in page.links if not link.startswith("#")} == set()
    assert {link[1:] for link in page.links} | set(page.sources) <= set(page.ids)
    for clause in matrix.rows:
        assert f"#{clause}" in page.links


def test_the_book_loads_nothing(real: tuple[str, Matrix]) -> None:
    """One file, to be read offline: no address is fetched, and the page forbids it as well."""
    text, _ = real
    assert Page(text).loads == []
    style = text.split("<style>", 1)[1].split("</style>", 1)[0]
    assert "url(" not in style
    assert "@import" not in style
    script = text.rsplit("<script>", 1)[1].split("</script>", 1)[0]
    assert re.search(r"fetch\(|XMLHttpRequest|import\(|https?:", script) is None
    assert "default-src 'none'" in text
    assert "<!--" not in re.sub(r"<pre.*?</pre>", "", text, flags=re.DOTALL)


def test_what_stands_in_the_files_is_shown_and_never_obeyed(tmp_path: Path) -> None:
    """Markup in a clause or in a source is text; the same tree gives the same page."""
    text, _ = book(tree(tmp_path))
    assert "<script>alert(1)</script>" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "on &lt;b&gt;this&lt;/b&gt; machine" in text
    assert '<a href="#chapter-kernel">here</a> and <span>there</span>' in text
    assert book(tmp_path)[0] == text
    page = Page(text)
    assert page.clauses == ["KRN-1", "KRN-E001", "KRN-2"]
    assert "action-Decide" in page.ids
    assert "action-Unrelated" not in page.ids


def test_a_book_of_a_tree_with_holes_says_so(tmp_path: Path) -> None:
    """Nobody should print a page that hides what is missing."""
    text, matrix = book(tree(tmp_path, ("tests/test_decide.py", "# KRN-E001: a", "# A")))
    assert len(matrix.problems) == 1
    assert "KRN-E001 · Never `twice` has no test" in text
    assert "No hole" not in text
