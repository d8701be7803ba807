"""What proves something: an entry of the journal that came from the world (`TSK-3`).

A model's word is no evidence. There is no way to make one of it: ``Evidence`` is made from an entry, and
refuses the kinds in which a model speaks.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Final

from agentl.errors import AgentLError
from agentl.journal.entry import Entry, dump
from agentl.values import fmt

KINDS: Final = {
    "read": "reading",
    "invoke": "result",
    "reconcile": "reconciled",
    "verdict": "verdict",
}
"""Which kinds of entry are evidence, and what they are called here: what a sensor saw, what a tool returned,
what the world said when it was asked again, what an operator found. What a model, a sub-agent or a person in
a conversation said is not among them."""

EXCERPT: Final = 200


@dataclass(frozen=True, slots=True)
class Evidence:
    """One proof, to be looked up in the journal.

    ``kind`` is a value of ``KINDS``; ``source`` the sensor or tool; ``entry`` the number of the entry in
    the journal; ``sha256`` the digest of the value's journal form, ``size`` its length in bytes, ``excerpt``
    its first characters.
    """

    kind: str
    source: str
    entry: int
    sha256: str
    size: int
    excerpt: str

    @classmethod
    def of(cls, entry: Entry) -> Evidence:
        """The evidence that an entry is.

        Raises:
            AgentLError: the entry is an error, or of a kind that proves nothing (`TSK-3`).
        """
        kind = KINDS.get(entry.kind)
        if kind is None or entry.error is not None:
            raise AgentLError(code="task.no_evidence", kind=entry.kind, entry=entry.seq)
        text = dump(entry.stored_value)
        content = text.encode("utf-8", "surrogatepass")
        shown = fmt(entry.value)
        return cls(
            kind,
            entry.key,
            entry.seq,
            hashlib.sha256(content).hexdigest(),
            len(content),
            shown if len(shown) <= EXCERPT else shown[: EXCERPT - 1] + "…",
        )

    def data(self) -> dict[str, Any]:
        """As plain JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


__all__ = ["EXCERPT", "KINDS", "Evidence"]
