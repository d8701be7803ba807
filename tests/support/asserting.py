"""An assertion outside of a test module: whether such ones count under ``python -O`` is itself tested."""

from __future__ import annotations


def claims(found: object, wanted: object) -> None:
    """Fail unless both are equal."""
    assert found == wanted
