"""The digest chain of a journal (`DUR-8`, `SEA-2`): the one place that knows its domain.

Unkeyed it shows corruption and naive rewriting; keyed (HMAC-SHA-256) only a holder of the
key can write an entry that verifies.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from typing import Any, Final

from agentl.contracts import clause, ensure, require
from agentl.journal.entry import canonical_json

DOMAIN: Final = b"agentl.journal.chain.v1\n"
KEY_ID_DIGITS: Final = 16
HEAD_DIGITS: Final = 64


class Chain:
    """A chain that grows: ``head`` is the digest of the last entry, empty before the first."""

    __slots__ = ("_base", "head")

    @require(lambda head: len(head) in (0, HEAD_DIGITS), error=clause("DUR-8", "Open"))
    def __init__(self, key: bytes | None = None, head: str = "") -> None:
        """Start a chain, or go on after ``head``; with ``key`` every digest is an HMAC of it.

        Raises:
            ValueError: ``head`` is no digest.
        """
        # Head and entry are hashed one behind the other: only a fixed length keeps them apart.
        if len(head) not in (0, HEAD_DIGITS):
            raise ValueError(f"a chain goes on after a digest of {HEAD_DIGITS} digits, not {len(head)}")
        self.head = head
        # Copying a prepared state costs a fraction of setting up an HMAC for every entry.
        self._base = hashlib.sha256(DOMAIN) if key is None else hmac.new(key, DOMAIN, hashlib.sha256)

    @ensure(
        lambda self, result: self.head == result and len(result) == HEAD_DIGITS,
        error=clause("DUR-8", "Append1"),
    )
    def add(self, canonical: bytes) -> str:
        """The digest of the next entry, which becomes the head."""
        state = self._base.copy()
        state.update(self.head.encode("ascii") + canonical)
        self.head = head = state.hexdigest()
        return head


@ensure(lambda result: len(result) == HEAD_DIGITS, error=clause("SEA-2", "Open"))
def empty_head(key: bytes | None = None) -> str:
    """The head of a journal without entries: the digest of the domain alone (`SEA-2`)."""
    return (
        hashlib.sha256(DOMAIN).hexdigest()
        if key is None
        else hmac.new(key, DOMAIN, hashlib.sha256).hexdigest()
    )


def canonical_entry(entry: Mapping[str, Any]) -> bytes:
    """What is hashed of an entry given as JSON data: everything but its digest (`DUR-8`)."""
    return canonical_json({name: value for name, value in entry.items() if name != "h"})


@ensure(lambda entries, result: len(result) == len(entries), error=clause("SEA-2", "Open"))
def chain_hashes(entries: Sequence[Mapping[str, Any]], *, key: bytes | None = None) -> list[str]:
    """The digest of every entry, given as JSON data; a digest already there is left out (`SEA-2`)."""
    chain = Chain(key)
    return [chain.add(canonical_entry(entry)) for entry in entries]


@ensure(lambda result: len(result) == HEAD_DIGITS, error=clause("SEA-2", "Open"))
def chain_head(entries: Sequence[Mapping[str, Any]], *, key: bytes | None = None) -> str:
    """The digest of the last entry; of no entry, that of the domain alone (`SEA-2`)."""
    hashes = chain_hashes(entries, key=key)
    return hashes[-1] if hashes else empty_head(key)


def key_id(secret: bytes) -> str:
    """Which key it is, without telling it: the first 16 digits of its SHA-256 (`SEA-5`)."""
    return hashlib.sha256(secret).hexdigest()[:KEY_ID_DIGITS]
