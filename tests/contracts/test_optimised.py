"""``PYTHONOPTIMIZE=1`` with pytest tests something: an optimised package, tests that assert (`KRN-17`).

docs/decisions/0003-tested-without-contracts.md says why it is done this way.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools.bootstrap_checks import OPTIMISED, steps

ROOT = Path(__file__).resolve().parents[2]
PROBE = "tests/contracts/optimised/probe.py"


def run(*options: str, environment: dict[str, str]) -> str:
    """The output of pytest on the probe, in a process of its own."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", *options, PROBE]
    done = subprocess.run(
        command, cwd=ROOT, env={**clean, **environment}, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("workers", [[], ["-n", "1"]], ids=["alone", "workers"])
def test_assertions_count_while_the_package_is_optimised(workers: list[str]) -> None:
    """KRN-17: in the process itself and in xdist's workers, which a plain ``-O`` does not reach."""
    step = next(step for step in steps(Path(sys.executable)) if step.name == "optimised")
    flags = [option for option in OPTIMISED if option in step.command]
    assert flags == list(OPTIMISED)
    output = run(*workers, *OPTIMISED, environment=dict(step.environment))
    passed = set(re.findall(r"^PASSED \S+::(\w+)", output, re.MULTILINE))
    failed = set(re.findall(r"^FAILED \S+::(\w+)", output, re.MULTILINE))
    assert passed == {"test_the_package_is_optimised"}, output
    assert failed == {"test_an_assertion_of_a_test", "test_an_assertion_of_what_tests_share"}, output
