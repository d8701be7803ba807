"""The tables in PostgreSQL, in versioned steps (`STO-8`).

A step that was released is never changed: what comes later is a step behind it. Steps run under a lock of the
whole database, so that two processes that come at once do not both run them, and all of them in one
transaction: there is no half of a schema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agentl.errors import DurableError

if TYPE_CHECKING:
    from typing import LiteralString

    from agentl.durable.stores.postgres_link import Link

# Run ids compare byte by byte, on every machine: an index must not depend on a locale. `runs.epoch` is the
# epoch of the latest lease, `driven` whether it is held: the row that an append locks and a takeover changes.
_RUNS: Final = """
CREATE TABLE agentl.runs (
    run_id text COLLATE "C" PRIMARY KEY,
    epoch bigint NOT NULL DEFAULT 0,
    driven boolean NOT NULL DEFAULT false,
    meta text,
    refusal text
) WITH (fillfactor = 50);
CREATE TABLE agentl.entries (
    run_id text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (run_id, seq)
);
CREATE TABLE agentl.leases (
    run_id text COLLATE "C" NOT NULL,
    epoch bigint NOT NULL,
    holder text NOT NULL,
    since timestamptz NOT NULL,
    expires timestamptz,
    claim text NOT NULL,
    PRIMARY KEY (run_id, epoch)
);
"""

# What waits for people, and their answers (`PRK-1`); who looks for open ones looks at few rows.
_REQUESTS: Final = """
CREATE TABLE agentl.requests (
    run_id text COLLATE "C" NOT NULL,
    request_id text COLLATE "C" NOT NULL,
    request text NOT NULL,
    decision text,
    extensions text NOT NULL DEFAULT '[]',
    PRIMARY KEY (run_id, request_id)
);
CREATE INDEX open_requests ON agentl.requests (run_id) WHERE decision IS NULL;
"""

# Why nobody may drive the run here (`OPS-6`).
_MARKS: Final = "ALTER TABLE agentl.runs ADD COLUMN mark text"

# Runs that wait for a worker (`WRK-1`): `job` says it all, the other columns are what is looked for.
_JOBS: Final = """
CREATE TABLE agentl.jobs (
    run_id text COLLATE "C" PRIMARY KEY,
    state text NOT NULL,
    due double precision,
    space text,
    job text NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX live_jobs ON agentl.jobs (due) WHERE state IN ('ready', 'claimed', 'waiting');
"""

STEPS: Final[tuple[LiteralString, ...]] = (_RUNS, _REQUESTS, _MARKS, _JOBS)
"""Step 1, step 2, …; the version of a database is the number of steps that it has seen."""

LOCK: Final = 0x6167656E746C
"""The advisory lock under which steps run."""


def version_of(link: Link) -> int:
    """How many steps a database has seen; 0 for one without our tables."""
    # By the rows of the catalogue: to_regclass answers from a cache that may not know a neighbour's commit.
    found = link.execute(
        "SELECT count(*) FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace "
        "WHERE nspname = 'agentl' AND relname = 'schema_steps'"
    ).fetchone()
    if found is None or not found[0]:
        return 0
    row = link.execute("SELECT coalesce(max(step), 0) FROM agentl.schema_steps").fetchone()
    return int(row[0]) if row is not None else 0


def prepare(link: Link) -> None:
    """Bring a database to this version; one that has it is only read (`STO-8`).

    Raises:
        DurableError: a later version of AGENT-L has changed the tables.
        psycopg.Error: a step failed; none was applied.
    """
    if _settled(version_of(link)):
        return
    with link.transaction():
        link.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        seen = version_of(link)
        if _settled(seen):
            return
        if not seen:
            link.execute("CREATE SCHEMA IF NOT EXISTS agentl")
            link.execute(
                "CREATE TABLE agentl.schema_steps "
                "(step integer PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now())"
            )
        for number, step in enumerate(STEPS[seen:], seen + 1):
            link.execute(step)
            link.execute("INSERT INTO agentl.schema_steps (step) VALUES (%s)", (number,))


def _settled(seen: int) -> bool:
    if seen > len(STEPS):
        raise DurableError(code="durable.schema_newer", found=seen, known=len(STEPS))
    return seen == len(STEPS)
