"""The chain of a recording checked, its seal signed and verified (`SEA-1` to `SEA-9`).

The chain shows alteration; only a signature shows who wrote it; nothing here shows when.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

from agentl.errors import SealError
from agentl.journal.chain import DOMAIN, Chain, canonical_entry, chain_hashes, chain_head, empty_head, key_id
from agentl.journal.entry import canonical_json
from agentl.journal.keys import chain_key, given, is_private_pem, is_public_pem, key_bytes
from agentl.messages import render

SEAL_DOMAIN: Final = b"agentl.journal.seal.v1\n"
HMAC_SHA256: Final = "HMAC-SHA256"
ED25519: Final = "Ed25519"


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


# --- keys ----------------------------------------------------------------------------------


class Key(Protocol):
    """A key that verifies, and perhaps signs."""

    @property
    def algorithm(self) -> str:
        """``HMAC-SHA256`` or ``Ed25519``."""

    @property
    def key_id(self) -> str:
        """Which key it is (`SEA-5`)."""

    def sign(self, message: bytes) -> str:
        """The signature in hexadecimal digits; ``SealError`` when the key can only verify."""

    def verify(self, message: bytes, signature: str) -> bool:
        """Whether the signature is this key's over the message."""


class SecretKey:
    """A shared secret: HMAC-SHA-256."""

    algorithm: Final = HMAC_SHA256

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self.key_id = key_id(secret)

    def sign(self, message: bytes) -> str:
        """The HMAC of the message."""
        return hmac.new(self._secret, message, hashlib.sha256).hexdigest()

    def verify(self, message: bytes, signature: str) -> bool:
        """Compare in constant time."""
        return hmac.compare_digest(self.sign(message).encode("ascii"), signature.encode("utf-8", "replace"))


class Ed25519Key:
    """An Ed25519 key pair, or its public half."""

    algorithm: Final = ED25519

    def __init__(self, private: Any, public: Any) -> None:
        serialization = _cryptography("hazmat.primitives.serialization")
        self._private, self._public = private, public
        raw = public.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
        self.key_id = key_id(raw)

    def sign(self, message: bytes) -> str:
        """Sign; only a private key can."""
        if self._private is None:
            raise SealError(code="seal.cannot_sign", key_id=self.key_id)
        return bytes(self._private.sign(message)).hex()

    def verify(self, message: bytes, signature: str) -> bool:
        """Check with the public key."""
        invalid = _cryptography("exceptions").InvalidSignature
        try:
            self._public.verify(bytes.fromhex(signature), message)
        except (invalid, ValueError):
            return False
        return True


def _cryptography(module: str) -> Any:
    from importlib import import_module

    try:
        return import_module(f"cryptography.{module}")
    except ImportError as error:
        raise SealError(code="seal.no_cryptography") from error


def _from_pem(content: bytes, spec: str) -> Ed25519Key:
    serialization = _cryptography("hazmat.primitives.serialization")
    ed25519 = _cryptography("hazmat.primitives.asymmetric.ed25519")
    try:
        if is_private_pem(content):
            private = serialization.load_pem_private_key(content, password=None)
            if isinstance(private, ed25519.Ed25519PrivateKey):
                return Ed25519Key(private, private.public_key())
        else:
            public = serialization.load_pem_public_key(content)
            if isinstance(public, ed25519.Ed25519PublicKey):
                return Ed25519Key(None, public)
    except (ValueError, TypeError, _cryptography("exceptions").UnsupportedAlgorithm) as error:
        raise SealError(code="seal.bad_key", spec=spec) from error
    raise SealError(code="seal.bad_key", spec=spec)


def load_signing_key(spec: str | None = None) -> Key | None:
    """The key that signs: a private PEM, a secret file, or the literal (`SEA-6`).

    Returns:
        ``None`` when neither a spec nor ``AGENTL_JOURNAL_KEY`` is given.

    Raises:
        SealError: there is no such key, or it cannot sign.
    """
    key = load_verify_key(spec)
    if isinstance(key, Ed25519Key):
        key.sign(b"")
    return key


def load_verify_key(spec: str | None = None) -> Key | None:
    """The key that verifies: as `load_signing_key`, or a public PEM (`SEA-6`).

    Raises:
        SealError: there is no such key.
    """
    wanted = given(spec)
    if wanted is None:
        return None
    content, from_file = key_bytes(wanted)
    if from_file and (is_private_pem(content) or is_public_pem(content)):
        return _from_pem(content, wanted)
    return SecretKey(content)


def load_chain_key(spec: str | None = None) -> bytes | None:
    """The secret bytes that key the chain of a durable journal (`SEA-10`).

    Raises:
        SealError: there is no such key, or it is a public one.
    """
    return chain_key(spec)


def generate_ed25519(directory: str | os.PathLike[str], name: str = "journal") -> tuple[Path, Path]:
    """Write a new key pair, ``<name>.key`` (mode 0600) and ``<name>.pub``; existing files stay (`SEA-7`).

    Raises:
        OSError: a file cannot be written, or exists.
        SealError: the optional library is missing.
    """
    serialization = _cryptography("hazmat.primitives.serialization")
    ed25519 = _cryptography("hazmat.primitives.asymmetric.ed25519")
    pair = ed25519.Ed25519PrivateKey.generate()
    private = pair.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = pair.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for ending, content, mode in (("key", private, 0o600), ("pub", public, 0o644)):
        path = folder / f"{name}.{ending}"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        written.append(path)
    return written[0], written[1]


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
