"""The tool that checks the models, without running the long check (R100, R102 of the field reports)."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tools import check_formal
from tools.formal_check import graph, manifest, obtain, tlc
from tools.formal_check.checks import problems_of, select
from tools.formal_check.manifest import ManifestError, Run

ROOT = Path(__file__).resolve().parents[2]

FINISHED = """\
Finished computing initial states: 1 distinct state generated at 2026-01-01 00:00:00.
Model checking completed. No error has been found.
<Init line 1, col 1 to line 2, col 2 of module M>: 1:1
<Decide line 3, col 1 to line 4, col 2 of module M>: 4:9
<Crash line 5, col 1 to line 6, col 2 of module M>: 0:0
30 states generated, 12 distinct states found, 0 states left on queue.
The depth of the complete state graph search is 7.
"""

ONE = """
[base.b]
module = "M"
constants = { N = 2, Op = "<- Other" }
[[run]]
name = "m/one"
base = "b"
kind = "safety"
invariants = ["Safe"]
distinct = 12
generated = 30
depth = 7
"""


def one(**changes: object) -> Run:
    return replace(manifest.parse(ONE)[0], **changes)  # type: ignore[arg-type]


def outcome_of(run: Run, code: int = 0, output: str = FINISHED) -> tlc.Outcome:
    return tlc.read(code, output, run, 1.0)


@pytest.mark.parametrize(
    ("code", "output", "verdict"),
    [
        (0, FINISHED, "ok"),
        (0, "", "unfinished"),
        (0, FINISHED.replace(", 0 states left", ", 5 states left"), "unfinished"),
        (
            0,
            "Error: Invariant Safe is violated.\n3 states generated, 2 distinct states found, 1 states left",
            "unfinished",
        ),
        (12, "Error: Invariant Safe is violated.", "Safe"),
        (12, "Error: Invariant Safe is violated by the initial state:", "Safe"),
        (12, "Error: Invariant Other is violated.", "an unnamed clause"),
        (13, "Error: Action property Grows is violated.", "Grows"),
        (13, "Error: Action property line 3, col 4 to line 5, col 6 of module E is violated.", "Grows"),
        (13, "Error: Temporal properties were violated.", "Grows"),
        (11, "Error: Deadlock reached.", "deadlock"),
        (75, "", "an expression could not be evaluated"),
        (150, "", "a module does not parse"),
        (151, "", "the cfg names something wrong"),
        (255, "", "the cfg does not parse"),
        (77, "", "exit code 77"),
    ],
)
def test_verdict_is_named(code: int, output: str, verdict: str) -> None:
    """R102: an unfinished run is never passed; R100: each end has a name."""
    assert tlc.verdict_of(code, output, ("Safe", "Grows"), ("Grows",)) == verdict


def test_run_without_clause_is_never_ok() -> None:
    """R100: TLC ends with 0 when it checked nothing; that is not taken for a pass."""
    assert tlc.verdict_of(0, FINISHED, (), ()) == "unfinished"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ('invariants = ["Safe"]', "nothing would be checked"),
        ('kind = "safety"', "kind is missing"),
        ('name = "m/one"', "name is missing"),
        ('module = "M"', "module is missing"),
    ],
)
def test_manifest_without_something_is_refused(change: str, said: str) -> None:
    """R100: a model without a property, or half described, is refused."""
    with pytest.raises(ManifestError, match=said):
        manifest.parse(ONE.replace(change, ""))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('kind = "safety"', 'kind = "hope"', "is not one of"),
        ('kind = "safety"', 'kind = "safety"\nexpect = "Safe"', "must end well"),
        ('kind = "safety"', 'kind = "safety"\nswaps = { A = "B" }', "has no swap"),
        ('kind = "safety"', 'kind = "mutant"\nexpect = "Safe"', "swaps an operator"),
        ('kind = "safety"', 'kind = "mutant"\nswaps = { A = "B" }\nexpect = "Other"', "exactly one clause"),
        ('kind = "safety"', 'kind = "witness"', "exactly one clause"),
        ('kind = "safety"', 'kind = "liveness"', "one property"),
        ('kind = "safety"', 'kind = "refinement"', "abstract specification"),
        ('kind = "safety"', 'kind = "graph"\nproperties = ["P"]', "add edges"),
        ('kind = "safety"', 'kind = "safety"\ntier = "never"', "is not one of"),
        ('kind = "safety"', 'kind = "safety"\nhope = 1', "unknown key"),
        ('base = "b"', 'base = "c"', "is not defined"),
        ('invariants = ["Safe"]', 'invariants = "Safe"', "list of names"),
        ("[base.b]", "[base.b", "not TOML"),
    ],
)
def test_manifest_that_proves_nothing_is_refused(old: str, new: str, said: str) -> None:
    """R100: what could not fail, or would say nothing, is refused before anything runs."""
    with pytest.raises(ManifestError, match=said):
        manifest.parse(ONE.replace(old, new))


def test_manifest_without_runs_or_with_twins_is_refused() -> None:
    """R100: nothing to run is a failure, and no run hides another."""
    with pytest.raises(ManifestError, match="no run"):
        manifest.parse("")
    with pytest.raises(ManifestError, match="two runs"):
        manifest.parse(ONE + ONE[ONE.index("[[run]]") :])


def test_configuration_names_constants_and_swaps() -> None:
    """The cfg says everything that is in the manifest."""
    text = one(swaps={"Guard": "Mutant"}, constraint="Bounded").configuration()
    assert text.splitlines() == [
        "SPECIFICATION Spec",
        "CONSTANTS",
        "  N = 2",
        "  Op <- Other",
        "  Guard <- Mutant",
        "INVARIANTS Safe",
        "CONSTRAINT Bounded",
    ]
    assert one(init="I", next="N").configuration().startswith("INIT I\nNEXT N\n")


def test_never_taken_action_and_changed_size_are_problems() -> None:
    """R100, R102: an action that never happens, or another number of states, is a failure."""
    run = one(unused=("Crash",))
    assert problems_of(run, outcome_of(run), edges=None, added_edges=None) == ()
    assert problems_of(one(), outcome_of(one()), edges=None, added_edges=None) == (
        "action Crash is never taken",
    )
    wrong = one(unused=("Crash", "Decide"), distinct=13)
    found = problems_of(wrong, outcome_of(wrong), edges=None, added_edges=None)
    assert found == ("distinct states: expected 13, found 12", "action Decide is taken, though marked unused")
    unsized = one(unused=("Crash",), depth=None)
    assert "does not say" in problems_of(unsized, outcome_of(unsized), edges=None, added_edges=None)[0]
    blind = outcome_of(run, output=FINISHED.replace("<", "("))
    assert problems_of(run, blind, edges=None, added_edges=None) == ("no coverage was reported",)


def test_unexpected_verdicts_are_problems() -> None:
    """A witness that passes, a mutant that lives, or one that changes nothing, is a failure."""
    killed = "Error: Invariant Safe is violated."
    mutant = one(kind="mutant", swaps={"A": "B"}, expect="Safe")
    assert problems_of(mutant, outcome_of(mutant, 12, killed), edges=None, added_edges=3) == ()
    assert problems_of(mutant, outcome_of(mutant), edges=None, added_edges=3) == ("expected Safe, found ok",)
    assert "no edge" in problems_of(mutant, outcome_of(mutant, 12, killed), edges=None, added_edges=0)[0]
    pure = replace(mutant, pure=True)
    assert problems_of(pure, outcome_of(pure, 12, killed), edges=None, added_edges=None) == ()
    witness = one(kind="witness", expect="Safe")
    assert problems_of(witness, outcome_of(witness), edges=None, added_edges=None) == (
        "expected Safe, found ok",
    )


def test_edges_read_must_be_the_states_generated() -> None:
    """A graph whose edges were not all read is a failure."""
    walk = one(kind="graph")
    assert problems_of(walk, outcome_of(walk), edges=29, added_edges=None) == ()
    assert "edges read: 28" in problems_of(walk, outcome_of(walk), edges=28, added_edges=None)[0]


def test_graph_reading_and_added_steps() -> None:
    """Edges are compared as pairs of whole states, never by TLC's numbers."""
    base = graph.read_dot(
        'strict digraph DiskGraph {\n1 [label="/\\\\ x = 0",style = filled]\n2 [label="/\\\\ x = 1"];\n'
        '1 -> 2 [label="Up",color="black",fontcolor="black"];\n2 -> 2 [label="Stay"];\n}'
    )
    assert len(base.edges) == 2
    assert base.edges[0] == ("1", "2", "Up")
    same = graph.read_dot('7 [label="/\\\\ x = 0"];\n8 [label="/\\\\ x = 1"];\n7 -> 8 [label="Other"];')
    assert graph.added(base, same) == 0
    more = graph.read_dot('7 [label="/\\\\ x = 0"];\n8 [label="/\\\\ x = 1"];\n8 -> 7 [label="Down"];')
    assert graph.added(base, more) == 1


@pytest.mark.parametrize(
    ("text", "major"),
    [
        ('openjdk version "17.0.15" 2025', 17),
        ('java version "1.8.0_292"', 8),
        ('version "25"', 25),
        ("none", None),
    ],
)
def test_java_version(text: str, major: int | None) -> None:
    """Java older than 11 is not used."""
    assert obtain.java_major(text) == major


def test_other_jar_is_refused(tmp_path: Path) -> None:
    """Only the TLC whose content is known is used, unless another is named on purpose."""
    (tmp_path / "tla2tools.jar").write_bytes(b"not TLC")
    with pytest.raises(obtain.EnvironmentFaultError, match="SHA-256"):
        obtain.find_tlc(tmp_path)
    with pytest.raises(obtain.EnvironmentFaultError, match="missing"):
        obtain.find_tlc(tmp_path / "empty", fetch=False)


def test_usage_and_environment_end_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2: a pattern that selects nothing, a broken manifest, a jar that is not there."""
    assert check_formal.main(["--only", "nothing/*"]) == 2
    assert "no model matches" in capsys.readouterr().err
    assert check_formal.main(["--formal", str(tmp_path)]) == 2
    assert "cannot read" in capsys.readouterr().err
    (tmp_path / "manifest.toml").write_text(ONE.replace('invariants = ["Safe"]', ""), encoding="utf-8")
    assert check_formal.main(["--formal", str(tmp_path)]) == 2
    assert "nothing would be checked" in capsys.readouterr().err
    assert check_formal.main(["--jar", str(tmp_path / "no.jar")]) == 2
    assert "is not a file" in capsys.readouterr().err


def test_own_manifest_is_whole(capsys: pytest.CaptureFixture[str]) -> None:
    """The seed's five mutants and ten more, at least; every mutant and witness operator exists."""
    runs = manifest.load(ROOT / "formal" / "manifest.toml")
    mutants = [run for run in runs if run.kind == "mutant"]
    assert len(mutants) >= 15
    seed = {"RetriesBlindly", "ChecksNothing", "TakesResultForPending", "CannotServe", "MintsRefused"}
    assert seed <= {mutant for run in mutants for mutant in run.swaps.values()}
    for run in runs:
        assert (ROOT / "formal" / f"{run.module}.tla").is_file()
    assert {run.kind for run in runs} == set(manifest.KINDS)
    assert len(select(runs, "walk/2a2c-*", long=False)) >= 5
    assert check_formal.main(["--list"]) == 0
    assert "mutant/RetriesBlindly" in capsys.readouterr().out


def test_smallest_model_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """One real run, where Java and TLC are at hand already (nothing is fetched by a test)."""
    if shutil.which("java") is None or not (ROOT / ".tools" / "tla2tools.jar").is_file():
        pytest.skip("no Java in PATH, or TLC was never fetched: run tools/check_formal.py once")
    assert check_formal.main(["--only", "effects/*", "--json"]) == 0
    assert '"passed": true' in capsys.readouterr().out
