"""The model of the coder example: it answers from a script, and not always well.

Five features of a unit converter. On the way it breaks what worked (temperature), edits and deletes a test
(refusal), rewrites the list, and says that something passes that does not (listing).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentl import MockLLM

INIT = """\
#!/bin/sh
# What every session runs first: use the application from end to end. Arguments go to pytest.
set -eu
cd "$(dirname "$0")"
exec "${PYTHON:-python3}" -P -m pytest "$@"
"""

RUN = """\
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent.parent / "convert.py"


def run(*words):
    command = [sys.executable, str(PROGRAM), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)


"""

FEATURES = [
    {
        "id": "length",
        "words": "`convert.py 3 km m` prints `3000 m`; lengths are mm, cm, m and km.",
        "test": RUN
        + """\
def test_lengths():
    assert run("3", "km", "m").stdout == "3000 m\\n"
    assert run("250", "mm", "cm").stdout == "25 cm\\n"
""",
    },
    {
        "id": "mass",
        "words": "`convert.py 2.5 kg g` prints `2500 g`; masses are g, kg and t.",
        "test": RUN
        + """\
def test_masses():
    assert run("2.5", "kg", "g").stdout == "2500 g\\n"
    assert run("1500", "kg", "t").stdout == "1.5 t\\n"
""",
    },
    {
        "id": "temperature",
        "words": "`convert.py 100 C F` prints `212 F`; temperatures are C, F and K.",
        "test": RUN
        + """\
def test_temperatures():
    assert run("100", "C", "F").stdout == "212 F\\n"
    assert run("0", "C", "K").stdout == "273.15 K\\n"
""",
    },
    {
        "id": "refusal",
        "words": "What cannot be converted ends with exit code 2 and one line that names both units.",
        "test": RUN
        + """\
def test_what_cannot_be_converted():
    ended = run("3", "km", "kg")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "cannot convert km to kg\\n"
""",
    },
    {
        "id": "listing",
        "words": "`convert.py --units` prints the quantities with their units, a line each.",
        "test": RUN
        + """\
def test_the_units():
    assert run("--units").stdout.splitlines()[:2] == ["length: mm cm m km", "mass: g kg t"]
""",
    },
]

SKELETON = '''\
"""Converts an amount from one unit to another: convert.py AMOUNT UNIT WANTED."""

import sys

import units

amount, unit, wanted = sys.argv[1:]
print(f"{units.convert(float(amount), unit, wanted):g} {wanted}")
'''

NOTHING = '''\
"""What is known about units."""


def convert(amount, unit, wanted):
    raise LookupError(f"{unit} to {wanted}")
'''

TABLES = '''\
"""What is known about units: for each quantity its units, measured in one of them."""

'''

LENGTH = 'LENGTH = {"mm": 0.001, "cm": 0.01, "m": 1, "km": 1000}\n'
MASS = 'MASS = {"g": 1, "kg": 1000, "t": 1_000_000}\n'

CONVERT = """

def convert(amount, unit, wanted):
    for table in QUANTITIES.values():
        if unit in table and wanted in table:
            return amount * table[unit] / table[wanted]
    raise LookupError(f"{unit} to {wanted}")
"""

DEGREES = """

TO_KELVIN = {
    "C": lambda degrees: degrees + 273.15,
    "F": lambda degrees: (degrees + 459.67) * 5 / 9,
    "K": lambda degrees: degrees,
}
FROM_KELVIN = {
    "C": lambda kelvin: kelvin - 273.15,
    "F": lambda kelvin: kelvin * 9 / 5 - 459.67,
    "K": lambda kelvin: kelvin,
}


def convert(amount, unit, wanted):
    if unit in TO_KELVIN and wanted in TO_KELVIN:
        return round(FROM_KELVIN[wanted](TO_KELVIN[unit](amount)), 6)
    for table in QUANTITIES.values():
        if unit in table and wanted in table:
            return amount * table[unit] / table[wanted]
    raise LookupError(f"{unit} to {wanted}")
"""

ONLY_LENGTH = 'QUANTITIES = {"length": LENGTH}\n'
BOTH = 'QUANTITIES = {"length": LENGTH, "mass": MASS}\n'
WITH_DEGREES = TABLES + LENGTH + MASS + BOTH + DEGREES

REFUSING = '''\
"""Converts an amount from one unit to another: convert.py AMOUNT UNIT WANTED."""

import sys

import units

amount, unit, wanted = sys.argv[1:]
try:
    converted = units.convert(float(amount), unit, wanted)
except LookupError:
    print(f"cannot convert {unit} to {wanted}", file=sys.stderr)
    sys.exit(2)
print(f"{converted:g} {wanted}")
'''

LISTING = REFUSING.replace(
    "amount, unit",
    """\
if sys.argv[1:] == ["--units"]:
    for quantity, table in units.QUANTITIES.items():
        print(f"{quantity}: {' '.join(table)}")
    print("temperature: C F K")
    sys.exit()

amount, unit""",
    1,
)

EVERYTHING_PASSES = '[{"id": "listing", "words": "it passes", "passes": true}]\n'


def writing(path: str, content: str, passing: str) -> dict[str, Any]:
    """The answer that gives a file its content."""
    return {"deed": "write", "path": path, "content": content, "passing": passing}


ANSWERS: dict[str, dict[str, Any]] = {
    "set up": {
        "init": INIT,
        "features": FEATURES,
        "files": [{"path": "convert.py", "content": SKELETON}, {"path": "units.py", "content": NOTHING}],
    },
    "length": writing("units.py", TABLES + LENGTH + ONLY_LENGTH + CONVERT, "length"),
    "mass": writing("units.py", TABLES + LENGTH + MASS + BOTH + CONVERT, "mass"),
    # It works, and the masses are gone.
    "temperature, attempt 1": writing("units.py", TABLES + LENGTH + ONLY_LENGTH + DEGREES, "temperature"),
    "temperature": writing("units.py", WITH_DEGREES, "temperature"),
    # A test that asks for nothing, then no test at all.
    "refusal, attempt 1": writing("tests/test_refusal.py", "def test_nothing():\n    pass\n", "refusal"),
    "refusal, attempt 2": {"deed": "remove", "path": "tests/test_refusal.py", "passing": "refusal"},
    "refusal": writing("convert.py", REFUSING, "refusal"),
    # A shorter list, then a claim without any work behind it.
    "listing, attempt 1": writing("features.json", EVERYTHING_PASSES, "listing"),
    "listing, attempt 2": writing("convert.py", REFUSING, "listing"),
    "listing": writing("convert.py", LISTING, "listing"),
}
"""The first key that occurs in what is asked has the answer."""


class Scripted(MockLLM):
    """A ``MockLLM`` that is asked by the feature and the attempt in its context, not by the task alone."""

    def __init__(self) -> None:
        super().__init__(ANSWERS)

    def reason(self, task: str, context: Mapping[str, Any], schema: Mapping[str, str]) -> dict[str, Any]:
        """The scripted answer for the feature at hand."""
        focus = context.get("focus", {})
        if "next.id" in focus:
            task = f"{focus['next.id']}, attempt {focus['next.attempt']}"
        return super().reason(task, context, schema)
