"""Wordings of kernel, policy, permits, host, provenance (codes `kernel.` `pol.` `apr.` `permit.` `host.` `prov.` `tri.`)."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, tuple[str, str]]] = {}
