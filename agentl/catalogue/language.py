"""Wordings of lexis and grammar (codes `lex.` `parse.`)."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, tuple[str, str]]] = {}
