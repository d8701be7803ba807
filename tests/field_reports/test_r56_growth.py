"""R56: what is stored grows with new data, and not with the square of it."""

from __future__ import annotations

import random

from agentl import Host
from tests.field_reports.kit import Ledger, Place, drive, in_child

PROGRAM = """
AGENT GROWTH {
  TOOL fetch { OUTPUT { page: String } }
  MEMORY { LONG_TERM pages  WRITE { STORE fetch.page INTO LONG_TERM.pages } }
  POLICY { DEFAULT ALLOW }
  PLAN go WHEN 1 == 1 { fetch() }
}
"""
BYTES = 50_000


def world(ledger: Ledger, steps: int) -> Host:
    host = Host()
    calls = 0

    @host.tool("fetch")
    def fetch() -> dict[str, str]:
        nonlocal calls
        calls += 1
        ledger.add("fetch")
        # Nothing that a database can pack: what is measured must be what was stored.
        return {"page": f"{calls:08d}" + random.Random(calls).randbytes(BYTES).hex()[: BYTES - 8]}

    return host


def size(place: Place) -> int:
    if place.kind == "postgres":
        tables = ("runs", "entries", "leases")
        return sum(place.change(f"SELECT pg_total_relation_size('{name}')")[0][0] for name in tables)
    files = [place.path] if place.kind == "sqlite" else list((place.path / "run").iterdir())
    files += list(place.base.glob("runs.db-*"))
    return sum(file.stat().st_size for file in files)


def test_bytes_grow_in_proportion_to_new_data(every_place: Place, tmp_path) -> None:
    """DUR-9, STO-3, STO-4, STO-7: a checkpoint is a digest, never a copy; a resume writes nothing twice."""
    measured: list[int] = []
    for steps in (10, 20, 40):
        here = Place(every_place.kind, tmp_path / str(steps))
        here.base.mkdir()
        ledger = Ledger(tmp_path / f"{steps}.jsonl")
        drive(here, PROGRAM, world(ledger, steps), ticks=steps)
        measured.append(size(here))
        assert in_child(lambda here=here, steps=steps: drive(here, PROGRAM, Host(), ticks=steps).status).ok()
        assert size(here) <= measured[-1] + 8192, "resuming a finished run stores nothing"
        assert len(ledger.rows()) == steps
    for steps, stored in zip((10, 20, 40), measured, strict=True):
        assert stored < steps * BYTES * 1.35 + 65536
    growth = (measured[2] - measured[1]) / (measured[1] - measured[0])
    assert 1.8 < growth < 2.2
