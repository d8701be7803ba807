"""The steps of ``bootstrap.py test``: each is one command, all are run, one failure fails the whole."""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

OPTIMISED = ("-W", "ignore::pytest.PytestConfigWarning")
"""pytest warns that assertions which it did not rewrite do nothing now: none that a test relies on is left
(docs/decisions/0003-tested-without-contracts.md)."""

GUARDED = ("kernel", "host", "invariants", "machines", "durable", "journal", "contracts")
"""The folders of tests whose subject refuses something: they must pass without contracts and assertions."""


@dataclass(frozen=True)
class Step:
    """One check: its name, its command, what it needs in the environment, and the file it checks."""

    name: str
    title: str
    command: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()
    needs: str | None = None


def steps(python: Path) -> list[Step]:
    """Every check, in order: what is quick and what explains most comes first."""
    run = str(python)
    module = (run, "-m")
    quiet_tests = (*module, "pytest", "-q", "-n", "2", "-p", "no:cacheprovider")
    guarded = tuple(f"tests/{folder}" for folder in GUARDED)
    return [
        Step("lint", "ruff: lint", (*module, "ruff", "check", ".")),
        Step("format", "ruff: format", (*module, "ruff", "format", "--check", ".")),
        Step("types", "mypy --strict", (*module, "mypy")),
        Step(
            "tests",
            "pytest",
            (*module, "pytest", "-q", "-n", "2", "--dist", "loadgroup", "--durations", "10"),
        ),
        Step(
            "optimised",
            "pytest with the package under python -O: no refusal may depend on an assertion or a contract",
            (*quiet_tests, *OPTIMISED, "-m", "not real_kill", *guarded),
            # Not the option -O, which xdist's workers and the processes of the tests would not get.
            environment=(("PYTHONOPTIMIZE", "1"), ("AGENTL_PROPERTY_RUNS", "15")),
            needs="tests/contracts",
        ),
        Step(
            "uncontracted",
            "pytest with contracts off",
            (*quiet_tests, "tests/kernel", "tests/invariants"),
            environment=(("AGENTL_CONTRACTS", "off"),),
            needs="tests/invariants",
        ),
        Step(
            "contracts",
            "CrossHair: contracts of the pure steps confirmed, planted faults found",
            (run, "tools/crosshair_check.py"),
            needs="tools/crosshair_check.py",
        ),
        Step(
            "survivors",
            "each synchronisation with the disk is missed by a test when it is taken away",
            (run, "tools/survivors.py", "--only", "sync"),
            needs="tools/survivors.py",
        ),
        Step(
            "formal",
            "TLC: models and their mutants",
            (run, "tools/check_formal.py"),
            needs="tools/check_formal.py",
        ),
        Step(
            "traceability",
            "every clause has its code and its test, every action one name in model, code and trace",
            (run, "tools/traceability.py"),
            needs="tools/traceability.py",
        ),
    ]


def run_checks(root: Path, python: Path, only: list[str], *, names_only: bool = False) -> int:
    """Run the chosen steps (all when none is named) and report; 0 when every one passed.

    A step whose file is missing counts as failed: a check that quietly does nothing is worse
    than one that is red.
    """
    every = steps(python)
    known = [step.name for step in every]
    if names_only:
        print("\n".join(f"{step.name:14} {step.title}" for step in every))
        return 0
    unknown = [name for name in only if name not in known]
    if unknown:
        print(f"✗ no such step: {', '.join(unknown)} (known: {', '.join(known)})")
        return 2
    outcomes = [(step, *_run(root, step)) for step in every if not only or step.name in only]

    print("\n── summary " + "─" * 61)
    for step, passed, seconds in outcomes:
        print(f"{'✓' if passed else '✗'} {step.name:14} {seconds:7.1f} s   {step.title}")
    failed = sum(1 for _, passed, _ in outcomes if not passed)
    print(f"{len(outcomes) - failed} passed, {failed} failed")
    return 1 if failed else 0


def _run(root: Path, step: Step) -> tuple[bool, float]:
    print(
        f"\n── {step.name}: {step.title} " + "─" * max(0, 66 - len(step.name) - len(step.title)), flush=True
    )
    if step.needs and not (root / step.needs).exists():
        print(f"✗ {step.needs} is missing", flush=True)
        return False, 0.0
    environment = {**os.environ, **dict(step.environment)}
    if "CI" in environment:
        environment.setdefault("HYPOTHESIS_PROFILE", "ci")
    began = time.monotonic()
    code = subprocess.run(step.command, cwd=root, env=environment, check=False).returncode
    seconds = time.monotonic() - began
    print(f"{'✓' if code == 0 else f'✗ exit {code}:'} {step.name} ({seconds:.1f} s)", flush=True)
    return code == 0, seconds
