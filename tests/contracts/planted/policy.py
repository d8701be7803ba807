"""The ruling with a fault. CrossHair must find it (``tools/crosshair_check.py``)."""

from __future__ import annotations

from agentl.kernel import policy
from agentl.kernel.policy import Verdict
from tests.contracts.planted.shared import under


@under(policy.ruling)
def ruling(
    never: bool, denied: bool, allow_targets: bool, allow_true: bool, default_allows: bool, approval: bool
) -> Verdict:
    """An approval that a person may give in spite of a NEVER."""
    if (never or denied) and not approval:
        return "DENIED"
    if not (allow_true if allow_targets else default_allows):
        return "DENIED"
    return "APPROVAL_REQUIRED" if approval else "ALLOWED"
