"""The page of field reports and the tests name the same reports."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "field-reports.md"
ROW = re.compile(r"^\| (R\d+) \| (.+) \| (.+) \|$", re.MULTILINE)


def rows() -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    for report, sentence, where in ROW.findall(PAGE.read_text(encoding="utf-8")):
        assert report not in found, f"{report} stands twice"
        found[report] = (sentence, where)
    return found


def test_every_report_with_a_test_is_on_the_page() -> None:
    """A test file is named after its report, says its id, and the page leads to it."""
    listed = rows()
    for path in sorted(HERE.glob("test_r*.py")):
        number = re.match(r"test_r(\d+)_", path.name)
        assert number, path.name
        report = f"R{number.group(1)}"
        assert report in listed, f"{report} is not on the page"
        assert listed[report][1] == f"[`{path.name}`](../tests/field_reports/{path.name})"
        assert path.read_text(encoding="utf-8").startswith(f'"""{report}: ')


def test_every_report_on_the_page_has_a_test_or_a_reason() -> None:
    """A row leads to a file that exists, or says what it waits for."""
    for report, (sentence, where) in rows().items():
        assert sentence.endswith("."), report
        if "](" in where:
            name = where.split("`")[1]
            assert (HERE / name).exists(), name
        else:
            assert where.startswith("later: "), (report, where)


def test_the_page_names_no_product_and_no_address() -> None:
    """One sentence of our own per report, and nothing else."""
    text = PAGE.read_text(encoding="utf-8")
    assert "http" not in text
    assert "github" not in text.lower()
