"""Wordings of the interpreter, its evaluation and its trace (codes `eval.` `state.` `sensor.` `tool.` …)."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, tuple[str, str]]] = {}
