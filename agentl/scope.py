"""The state as the guards of a policy see it: with the judged action laid over the locals (`POL-4`)."""

from __future__ import annotations

from typing import Any

from agentl.labels import UNKNOWN_LABEL, Prov
from agentl.paths import MISS, Found, descend, splits
from agentl.state import State
from agentl.values import UNDEFINED


class Scope:
    """A state with the entries of one judged action laid over its locals (`POL-4`, `POL-5`).

    Nothing is copied: the entries are looked up first, then the state's own locals. A name in
    ``exact`` (a bare argument name) answers for itself only; the parts of an argument are read
    as ``action.args.<k>…``, and ``<k>.x`` keeps its ordinary resolution.
    """

    __slots__ = ("action_label", "entries", "entry_labels", "exact", "state")

    def __init__(
        self,
        state: State,
        entries: dict[str, Any],
        labels: dict[str, Prov],
        exact: frozenset[str],
        action: Prov,
    ) -> None:
        self.state = state
        self.entries = entries
        self.entry_labels = labels
        self.exact = exact
        self.action_label = action

    def find(self, path: str) -> Found | None:
        """As ``State.find``, with the action's entries among the locals."""
        entries = self.entries
        if path in entries:
            return Found(entries[path], "action", path)
        local = self.state.locals
        if path in local:
            return Found(local[path], "locals", path)
        if "." in path:
            for prefix, segments in splits(path):
                if prefix in entries and prefix not in self.exact:
                    held, store = entries[prefix], "action"
                elif prefix in local:
                    held, store = local[prefix], "locals"
                else:
                    continue
                value = descend(held, segments)
                if value is not MISS:
                    return Found(value, store, prefix)
        return self.state.find_below_locals(path)

    def get(self, path: str) -> Any:
        """As ``State.get``."""
        value = self.entries.get(path, MISS)
        if value is not MISS:
            return value
        found = self.find(path)
        return UNDEFINED if found is None else found[0]

    def get_labeled(self, path: str) -> tuple[Any, Prov]:
        """As ``State.get_labeled``."""
        found = self.find(path)
        return (UNDEFINED, UNKNOWN_LABEL) if found is None else (found[0], self.label_of(found))

    def label_of(self, found: Found) -> Prov:
        """As ``State.label_of``."""
        if found.store == "action":
            return self.entry_labels.get(found.key, UNKNOWN_LABEL)
        return self.state.label_of(found)

    def confidence_of(self, path: str) -> float | None:
        """As ``State.confidence_of``."""
        return self.state.confidence_of(path)

    def attested_by(self, value: Any) -> set[str]:
        """As ``State.attested_by``."""
        return self.state.attested_by(value)
