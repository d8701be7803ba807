"""Keys named on the command line (`SEA-6`, `SEA-10`)."""

from __future__ import annotations

import os
from typing import Any


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
