"""From a run id to the name of its directory (`OPS-2`).

Two ids never share a name, not even where a file system does not tell capitals from small letters or one
form of an accent from the other, and no name leaves the directory.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

_PLAIN: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")
_HASHED: Final = re.compile(r".*-[0-9a-f]{16}", re.DOTALL)
# Names that some systems take for devices, whatever follows a dot.
_DEVICES: Final = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?")


def directory_name(run_id: str) -> str:
    """The name of the directory in which a collection keeps the run ``run_id``.

    A plain id (small letters, digits, ``.``, ``_``, ``-``) is its own name; any other gets its letters for
    people and 16 digits of its SHA-256.
    """
    if (
        _PLAIN.fullmatch(run_id)
        and not run_id.endswith(".")
        and not _HASHED.fullmatch(run_id)
        and not _DEVICES.fullmatch(run_id)
    ):
        return run_id
    shown = re.sub(r"[^a-z0-9]+", "-", run_id.lower())[:40].strip("-") or "run"
    return f"{shown}-{hashlib.sha256(run_id.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
