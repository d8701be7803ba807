"""Keys of journals: where one comes from, and which one it is (`SEA-6`, `SEA-10`)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from agentl.errors import SealError

ENVIRONMENT: Final = "AGENTL_JOURNAL_KEY"
_PATH_ENDINGS: Final = (".key", ".pem", ".pub", ".secret")
_PRIVATE: Final = b"PRIVATE KEY-----"
_PUBLIC: Final = b"PUBLIC KEY-----"


def given(spec: str | None) -> str | None:
    """The spec, else what the environment says, else ``None`` (`SEA-6`)."""
    return spec if spec is not None else os.environ.get(ENVIRONMENT) or None


def key_bytes(spec: str) -> tuple[bytes, bool]:
    """What a key spec stands for, and whether it came from a file (`SEA-6`).

    Raises:
        SealError: it looks like a path and there is no such file, or the file cannot be read.
    """
    path = Path(spec)
    try:
        if path.is_file():
            return path.read_bytes(), True
    except (OSError, ValueError) as error:
        raise SealError(code="seal.key_missing", spec=spec) from error
    if spec.endswith(_PATH_ENDINGS) or "/" in spec or "\\" in spec:
        raise SealError(code="seal.key_missing", spec=spec)
    if not spec:
        raise SealError(code="seal.key_empty")
    return spec.encode("utf-8", "surrogatepass"), False


def is_private_pem(content: bytes) -> bool:
    """Whether a file holds a private PEM."""
    return content.lstrip().startswith(b"-----BEGIN") and _PRIVATE in content


def is_public_pem(content: bytes) -> bool:
    """Whether a file holds a public PEM."""
    return content.lstrip().startswith(b"-----BEGIN") and _PUBLIC in content and _PRIVATE not in content


def chain_key(key: bytes | str | None) -> bytes | None:
    """The secret bytes of a chain key (`SEA-10`): bytes as they are, a spec, or the environment's.

    Raises:
        SealError: the spec names no key, or a public one, which is no secret.
    """
    if isinstance(key, bytes):
        return key
    spec = given(key)
    if spec is None:
        return None
    content, from_file = key_bytes(spec)
    if from_file and is_public_pem(content):
        raise SealError(code="seal.public_key", spec=spec)
    return content
