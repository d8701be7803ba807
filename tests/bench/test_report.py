"""The bench's own arithmetic and its section of the documentation (no figure is judged here)."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agentl import parse_source
from tools.bench import programs
from tools.bench.measure import disk_kind, percentile_micros
from tools.bench.report import BEGIN, END, as_json, figure, table, write_docs
from tools.bench.rows import Row, at_least, at_most
from tools.bench.run import main

MACHINE = {
    "date": "2026-01-01",
    "cores": 2,
    "disk": "disk",
    "python": "3",
    "rounds": 1,
    "steps": 1,
    "quick": False,
}
ROWS = [
    at_least("durable", "step / floor", 0.5, "×", 0.5),
    at_least("durable", "step / floor", 0.49, "×", 0.5),
    at_most("policy", "decision", 25.0, "µs", 25),
    at_most("policy", "decision", 25.1, "µs", 25),
    Row("floor", "append", 7012.4, "steps/s"),
]


def test_a_bound_is_met_on_its_edge_and_not_beyond() -> None:
    assert [row.met for row in ROWS] == [True, False, True, False, None]


def test_table_and_json_hold_every_row() -> None:
    assert len(table(ROWS).splitlines()) == len(ROWS) + 1
    assert "7 012 steps/s" in table(ROWS)
    assert len(json.loads(as_json(ROWS, MACHINE))["rows"]) == len(ROWS)


@pytest.mark.parametrize(
    ("value", "text"),
    [(12345.6, "12 346"), (123.4, "123"), (12.34, "12.3"), (0.5, "0.50"), (0.0301, "0.030")],
)
def test_figures_have_three_places(value: float, text: str) -> None:
    assert figure(value) == text


def test_only_the_section_of_the_page_changes(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    write_docs(page, ROWS, MACHINE)
    write_docs(page, ROWS, MACHINE)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n" + BEGIN)
    assert text.endswith(END + "\nafter\n")
    assert "old" not in text
    assert text.count(BEGIN) == 1
    page.write_text("no section", encoding="utf-8")
    with pytest.raises(ValueError, match="no section"):
        write_docs(page, ROWS, MACHINE)


def test_the_page_has_its_section_and_names_no_machine() -> None:
    text = (Path(__file__).parents[2] / "docs" / "performance.md").read_text(encoding="utf-8")
    assert text.index(BEGIN) < text.index(END)
    assert os.uname().nodename not in text


def test_the_page_is_written_by_whole_runs_alone() -> None:
    assert main(["--quick", "--write-docs"]) == 2
    assert main(["--only", "policy", "--write-docs"]) == 2


@pytest.mark.parametrize("lines", [200, 2000])
def test_the_long_program_has_the_lines_it_promises(lines: int) -> None:
    text = programs.long_program(lines)
    assert text.count("\n") == lines
    parse_source(text)


def test_the_other_programs_are_programs() -> None:
    assert len(parse_source(programs.policy_program(5, 10)).agents[0].policies) == 50
    assert programs.steps_agent().name == "BENCH"
    assert programs.ticks_agent().name == "TICKS"


def test_a_percentile_is_one_of_the_samples(tmp_path: Path) -> None:
    p50, p99 = percentile_micros(lambda: None, 50, warm_up=1)
    assert 0 <= p50 <= p99
    assert disk_kind(tmp_path)
