"""Which run ids there are (`DUR-10`)."""

from __future__ import annotations

import unicodedata
from typing import Any, Final

from agentl.errors import DurableError

LONGEST_RUN_ID: Final = 200


def check_run_id(run_id: Any) -> str:
    """A run id that every store and every message can carry; two different ids are two runs.

    Raises:
        DurableError: it is empty, too long, or holds characters that cannot be shown.
    """
    if type(run_id) is not str or not run_id or run_id != run_id.strip() or len(run_id) > LONGEST_RUN_ID:
        raise DurableError(code="durable.run_id", run_id=_shown(run_id), longest=LONGEST_RUN_ID)
    if any(unicodedata.category(sign)[0] == "C" for sign in run_id):
        raise DurableError(code="durable.run_id", run_id=_shown(run_id), longest=LONGEST_RUN_ID)
    return run_id


def _shown(run_id: Any) -> str:
    return ascii(run_id)[:60]
