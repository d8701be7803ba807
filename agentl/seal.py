"""The chain of a recording checked, its seal signed and verified (`SEA-1` to `SEA-9`).

The chain shows alteration; only a signature shows who wrote it; nothing here shows when.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from agentl.errors import SealError
from agentl.journal.chain import DOMAIN, Chain, canonical_entry, chain_hashes, chain_head, empty_head
from agentl.journal.entry import canonical_json
from agentl.messages import render
from agentl.signing import (
    ED25519,
    HMAC_SHA256,
    Ed25519Key,
    Key,
    SecretKey,
    generate_ed25519,
    load_chain_key,
    load_signing_key,
    load_verify_key,
)

SEAL_DOMAIN: Final = b"agentl.journal.seal.v1\n"


# --- chain ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class ChainReport:
    """The verdict on a chain (`SEA-3`): ``reason`` is a message code, ``first_bad`` an entry number."""

    ok: bool
    reason: str
    first_bad: int | None = None
    head_expected: str | None = None
    head_actual: str | None = None
    values: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        if self.ok:
            return render(self.reason, {"head": (self.head_actual or "")[:12]})
        text = render(self.reason, self.values)
        if self.first_bad is None:
            return text
        return f"{text} ({render('seal.first_bad', {'entry': self.first_bad})})"


def verify_chain(raw: Any, *, key: bytes | None = None) -> ChainReport:
    """Check the digests of a journal, and its head against the sealed one (`SEA-3`).

    Args:
        raw: the file as JSON data (``meta`` and ``entries``), or a list of entries, of which only the
            digests are checked.
        key: the key of a keyed chain.
    """
    sealed: str | None = None
    if isinstance(raw, Mapping):
        entries, meta = raw.get("entries", []), raw.get("meta", {})
        found = meta.get("chain_sha256") if isinstance(meta, Mapping) else None
        sealed = found if isinstance(found, str) else None
        if sealed is None:
            return ChainReport(False, "seal.no_head")
    else:
        entries = raw
    chain = Chain(key)
    for position, entry in enumerate(entries):
        if not isinstance(entry, Mapping) or not isinstance(entry.get("h"), str):
            return ChainReport(False, "seal.no_digest", position, sealed)
        try:
            digest = chain.add(canonical_entry(entry))
        except (TypeError, ValueError, RecursionError):
            return ChainReport(False, "seal.bad_digest", position, sealed)
        if digest != entry["h"]:
            return ChainReport(False, "seal.bad_digest", position, sealed, digest)
    head = chain.head or empty_head(key)
    if sealed is not None and sealed != head:
        return ChainReport(False, "seal.other_head", None, sealed, head)
    return ChainReport(True, "seal.chain_ok", None, sealed, head)


def chain_verdict(report: ChainReport) -> str:
    """The verdict on a chain, in words."""
    return str(report)


# --- signature -----------------------------------------------------------------------------


def _message(meta: Mapping[str, Any]) -> bytes:
    return SEAL_DOMAIN + canonical_json({name: value for name, value in meta.items() if name != "signature"})


def sign_meta(meta: Mapping[str, Any], key: Key) -> dict[str, str]:
    """The signature block over a meta: source, head and trace digests are bound together (`SEA-5`).

    Raises:
        SealError: the key cannot sign.
    """
    return {"alg": key.algorithm, "key_id": key.key_id, "value": key.sign(_message(meta))}


@dataclass(frozen=True)
class SealVerdict:
    """The verdict on a signature (`SEA-8`)."""

    ok: bool
    code: str
    values: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return render(self.code, self.values)


def verify_signature(meta: Mapping[str, Any], key: Key | None) -> SealVerdict:
    """Check the signature of a meta (`SEA-8`)."""
    block = meta.get("signature")
    if block is None:
        return SealVerdict(False, "seal.unsigned")
    named = block if isinstance(block, Mapping) else {}
    algorithm, signer, value = named.get("alg"), named.get("key_id"), named.get("value")
    if algorithm not in (HMAC_SHA256, ED25519) or not isinstance(signer, str) or not isinstance(value, str):
        return SealVerdict(False, "seal.unreadable")
    said = {"algorithm": algorithm, "key_id": signer}
    if key is None:
        return SealVerdict(False, "seal.no_verify_key", said)
    if key.key_id != signer or key.algorithm != algorithm:
        return SealVerdict(False, "seal.other_key", {"signed_by": signer, "given": key.key_id})
    if not key.verify(_message(meta), value):
        return SealVerdict(False, "seal.invalid", said)
    return SealVerdict(True, "seal.signed", said)


__all__ = [
    "DOMAIN",
    "ED25519",
    "HMAC_SHA256",
    "ChainReport",
    "Ed25519Key",
    "Key",
    "SealError",
    "SealVerdict",
    "SecretKey",
    "chain_hashes",
    "chain_head",
    "chain_verdict",
    "generate_ed25519",
    "load_chain_key",
    "load_signing_key",
    "load_verify_key",
    "sign_meta",
    "verify_chain",
    "verify_signature",
]
