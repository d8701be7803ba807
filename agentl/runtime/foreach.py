"""FOREACH: what can be walked, and what one item binds (`STM-4`)."""

from __future__ import annotations

from typing import Any

from agentl.values import Symbol


def items_of(source: Any) -> list[Any] | None:
    """The items of a collection as they are now: a list, a tuple, or the values of a dictionary."""
    if isinstance(source, (list, tuple)):
        return list(source)
    if isinstance(source, dict):
        return list(source.values())
    return None


class Projection:
    """Turns the items of one FOREACH into locals; the names of the fields are made once."""

    __slots__ = ("_index", "_names", "variable")

    def __init__(self, variable: str) -> None:
        self.variable = variable
        self._index = f"{variable}.index"
        self._names: dict[str, str] = {}

    def of(self, item: Any, index: int) -> dict[str, Any]:
        """The locals that ``item`` binds, and ``v.index`` (from 0)."""
        bound: dict[str, Any] = {}
        if type(item) is dict:
            names = self._names
            for key, value in item.items():
                name = names.get(key)
                if name is None:
                    name = names[key] = f"{self.variable}.{key}"
                kind = type(value)
                if kind is str:
                    bound[name] = Symbol(value)
                elif kind is list:
                    bound[f"{name}.count"] = len(value)
                elif kind is dict:
                    for inner, held in value.items():
                        bound[f"{name}.{inner}"] = Symbol(held) if type(held) is str else held
                else:
                    bound[name] = value
        elif type(item) is str:
            bound[self.variable] = Symbol(item)
        else:
            bound[self.variable] = item
        bound[self._index] = index
        return bound


__all__ = ["Projection", "items_of"]
