"""Reads the tables of the specification that are marked as test data."""

from __future__ import annotations

import re
from decimal import Decimal
from math import inf, nan
from pathlib import Path
from typing import Any

from agentl.logic import UNKNOWN
from agentl.values import UNDEFINED, Symbol

SPEC = Path(__file__).parents[2] / "spec"
TRUTH = {"T": True, "F": False, "U": UNKNOWN}
_NAMES = {"Symbol": Symbol, "Decimal": Decimal, "UNDEFINED": UNDEFINED, "inf": inf, "nan": nan, "set": set}


def table(chapter: str, name: str) -> list[list[str]]:
    """The rows, without the head, of the table marked ``<!-- table: name -->`` in ``spec/<chapter>.md``."""
    text = (SPEC / f"{chapter}.md").read_text(encoding="utf-8")
    _before, mark, after = text.partition(f"<!-- table: {name} -->\n")
    assert mark, f"no table {name} in {chapter}.md"
    lines = re.match(r"(?:\|.*\n)+", after)
    assert lines, f"table {name} is empty"
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines.group().splitlines()]
    return rows[2:]


def value(cell: str) -> Any:
    """The value that a cell in code style spells."""
    assert cell.startswith("`"), cell
    assert cell.endswith("`"), cell
    return eval(cell[1:-1], {"__builtins__": {}}, dict(_NAMES))
