"""The statements of a driver in PostgreSQL (`STO-7`). Each that writes compares the epoch itself."""

from __future__ import annotations

from typing import Final

LEASES: Final = (
    "SELECT epoch, holder, since, expires IS NULL, coalesce(expires <= clock_timestamp(), false) "
    "FROM agentl.leases WHERE run_id = %(run)s ORDER BY epoch"
)
GRANT: Final = (
    "INSERT INTO agentl.leases (run_id, epoch, holder, since, expires, claim) VALUES (%(run)s, %(epoch)s, "
    "%(holder)s, %(since)s, clock_timestamp() + make_interval(secs => %(seconds)s), %(claim)s)"
)
RENEW: Final = (
    "UPDATE agentl.leases SET expires = clock_timestamp() + make_interval(secs => %(seconds)s) "
    "WHERE run_id = %(run)s AND epoch = %(epoch)s AND expires IS NOT NULL"
)
RELEASE: Final = (
    "WITH lease AS (UPDATE agentl.leases SET expires = NULL "
    "WHERE run_id = %(run)s AND epoch = %(epoch)s AND claim = %(claim)s RETURNING epoch) "
    "UPDATE agentl.runs SET driven = false FROM lease "
    "WHERE runs.run_id = %(run)s AND runs.epoch = lease.epoch"
)
META: Final = "UPDATE agentl.runs SET meta = %(text)s WHERE run_id = %(run)s AND epoch = %(epoch)s AND driven"
# Not waited for: what a crash of the server takes back is rebuilt from the entries (DUR-10).
META_SOON: Final = (
    "WITH soon AS (SELECT set_config('synchronous_commit', 'off', true)) "
    "UPDATE agentl.runs SET meta = %(text)s FROM soon WHERE run_id = %(run)s AND epoch = %(epoch)s AND driven"
)
REFUSAL: Final = (
    "UPDATE agentl.runs SET refusal = %(text)s WHERE run_id = %(run)s AND epoch = %(epoch)s AND driven"
)
ENTRIES: Final = "SELECT body FROM agentl.entries WHERE run_id = %(run)s AND seq >= %(seq)s ORDER BY seq"
