"""A completed durable run as a recording (`RES-3`, `RPL-3`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agentl.journal.chain import Chain
from agentl.journal.entry import Entry
from agentl.journal.index import Index
from agentl.replay.journal import JOURNAL_FORMAT, Journal


def exported(entries: Iterable[Entry], index: Index) -> Journal | None:
    """The journal of a completed run, annotations kept and the chain without a key; else ``None``."""
    opened, closed = index.open_args, index.close_args
    if opened is None or closed is None:
        return None
    chain = Chain()
    kept = []
    lossy: list[str] = []
    for entry in entries:
        entry.h = chain.add(entry.composed()[0])
        lossy += _opaque(entry.stored_value, f"{entry.seq}:value")
        kept.append(entry)
    meta: dict[str, Any] = {"agent": " · ".join(str(name) for name in opened.get("agents") or ())}
    meta.update({name: opened[name] for name in ("source", "source_sha256", "lang") if name in opened})
    meta.update(run_id=index.run_id, ticks=index.limit, trace_sha256=closed.get("trace_sha256"))
    meta.update(chain_sha256=chain.head, format=JOURNAL_FORMAT)
    if lossy:
        meta["lossy"] = lossy
    return Journal(kept, meta, lossy)


def _opaque(stored: Any, place: str) -> list[str]:
    if isinstance(stored, dict):
        if "$opaque" in stored:
            return [f"{place} : {stored.get('$type', '?')}"]
        return [found for name, item in stored.items() for found in _opaque(item, f"{place}.{name}")]
    if isinstance(stored, list):
        return [found for number, item in enumerate(stored) for found in _opaque(item, f"{place}[{number}]")]
    return []
