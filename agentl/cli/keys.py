"""Keys named on the command line (`SEA-6`, `SEA-10`)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from agentl.errors import AgentLError


def signing_key(spec: str | None) -> Any:
    """The key that signs a recording: ``--sign-key``, else ``AGENTL_JOURNAL_KEY``, else none (`SEA-6`).

    Raises:
        SealError: the key cannot be used.
    """
    if spec is None and not os.environ.get("AGENTL_JOURNAL_KEY"):
        return None
    from agentl.seal import load_signing_key

    return load_signing_key(spec)


def verify_key(spec: str | None) -> Any:
    """The key that verifies a seal: ``--key``, else ``AGENTL_JOURNAL_KEY``, else none (`SEA-6`)."""
    if spec is None and not os.environ.get("AGENTL_JOURNAL_KEY"):
        return None
    from agentl.seal import load_verify_key

    return load_verify_key(spec)


def key_rings(given: list[str]) -> dict[str, dict[str, list[bytes]]]:
    """The rings that ``--key-ring RING:PERSON=FILE`` declares for a replay (`APR-7`).

    Raises:
        AgentLError: one has another form, or its file cannot be read.
    """
    rings: dict[str, dict[str, list[bytes]]] = {}
    for text in given:
        names, _, file = text.partition("=")
        ring, _, person = names.partition(":")
        if not (ring and person and file):
            raise AgentLError(code="cli.key_ring", given=text)
        try:
            content = Path(file).read_bytes()
        except (OSError, ValueError) as error:
            raise AgentLError(
                code="apr.key_file", name=ring, file=file, error=type(error).__name__
            ) from error
        rings.setdefault(ring, {}).setdefault(person, []).append(content)
    return rings
