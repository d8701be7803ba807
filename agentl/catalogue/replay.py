"""Wordings of record, replay and seal (codes `replay.` `seal.`)."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, tuple[str, str]]] = {}
