"""Keys that sign and verify: Ed25519 pairs, shared secrets, and where they are found (`SEA-5` to `SEA-7`)."""

from __future__ import annotations

import hashlib
import hmac
import os
from pathlib import Path
from typing import Any, Final, Protocol

from agentl.errors import SealError
from agentl.journal.chain import key_id
from agentl.journal.keys import chain_key, given, is_private_pem, is_public_pem, key_bytes

HMAC_SHA256: Final = "HMAC-SHA256"
ED25519: Final = "Ed25519"


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
        serialization = cryptography("hazmat.primitives.serialization")
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
        invalid = cryptography("exceptions").InvalidSignature
        try:
            self._public.verify(bytes.fromhex(signature), message)
        except (invalid, ValueError):
            return False
        return True


def cryptography(module: str) -> Any:
    """A module of the optional library.

    Raises:
        SealError: it is not installed.
    """
    from importlib import import_module

    try:
        return import_module(f"cryptography.{module}")
    except ImportError as error:
        raise SealError(code="seal.no_cryptography") from error


def from_pem(content: bytes, spec: str) -> Ed25519Key:
    """The key in a PEM text; ``spec`` is what messages call it.

    Raises:
        SealError: it holds no Ed25519 key.
    """
    serialization = cryptography("hazmat.primitives.serialization")
    ed25519 = cryptography("hazmat.primitives.asymmetric.ed25519")
    try:
        if is_private_pem(content):
            private = serialization.load_pem_private_key(content, password=None)
            if isinstance(private, ed25519.Ed25519PrivateKey):
                return Ed25519Key(private, private.public_key())
        else:
            public = serialization.load_pem_public_key(content)
            if isinstance(public, ed25519.Ed25519PublicKey):
                return Ed25519Key(None, public)
    except (ValueError, TypeError, cryptography("exceptions").UnsupportedAlgorithm) as error:
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
        return from_pem(content, wanted)
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
    serialization = cryptography("hazmat.primitives.serialization")
    ed25519 = cryptography("hazmat.primitives.asymmetric.ed25519")
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
