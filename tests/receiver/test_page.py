"""The page for those who build a service says what is true (RCV-1 to RCV-10)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "receiver.md"


def test_what_the_page_shows_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`RCV-1`, `RCV-8`, `RCV-10`: its pieces of code, one after the other, as somebody would paste them."""
    monkeypatch.chdir(tmp_path)
    pieces = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(pieces) == 3
    names: dict[str, Any] = {}
    for piece in pieces:
        exec(compile(piece, str(PAGE), "exec"), names)
    names["inbox"].close()
