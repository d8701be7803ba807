"""Connections to PostgreSQL as a durable run needs them: what is set, what fails how (`STO-9`).

psycopg is asked for only when a connection is: nobody else needs it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from agentl.durable.address import hidden
from agentl.durable.stores.base import failure
from agentl.errors import DurableError, StoreFailure

if TYPE_CHECKING:
    from typing import LiteralString

    from psycopg import Connection

    Link = Connection[tuple[Any, ...]]

STATEMENT_SECONDS: Final = 30.0
RECONNECT_SECONDS: Final = 15.0
_PAUSE: Final = 0.05
# What the address does not say otherwise. A peer that vanished is noticed by its silence.
_DEFAULTS: Final[Mapping[str, str]] = {
    "application_name": "agentl",
    "connect_timeout": "10",
    "keepalives": "1",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}
# A level below `on` answers before the entry is durable; one above it also waits for standbys, and stays.
_SESSION: Final = """
SELECT set_config('synchronous_commit', CASE WHEN current_setting('synchronous_commit') = 'remote_apply'
                                        THEN 'remote_apply' ELSE 'on' END, false),
       set_config('statement_timeout', %(statement)s, false),
       set_config('lock_timeout', %(lock)s, false),
       set_config('idle_in_transaction_session_timeout', %(statement)s, false),
       set_config('default_transaction_isolation', 'read committed', false),
       set_config('search_path', 'pg_catalog', false)
"""


def psycopg() -> Any:
    """The library.

    Raises:
        DurableError: it is not installed.
    """
    try:
        return import_module("psycopg")
    except ImportError as error:
        raise DurableError(code="durable.no_psycopg") from error


def settings(dsn: str) -> dict[str, Any]:
    """What an address says, by name.

    Raises:
        DurableError: it is none. Its text is not repeated: it may hold a password.
    """
    library = psycopg()
    try:
        found: dict[str, Any] = import_module("psycopg.conninfo").conninfo_to_dict(dsn)
    except (library.Error, UnicodeError) as error:
        raise DurableError(code="durable.bad_dsn") from error
    return found


def shown(dsn: str) -> str:
    """An address for people, which can be typed again: without its password."""
    said = settings(dsn)
    if dsn.startswith(("postgres://", "postgresql://")):
        return hidden(dsn)
    port = f":{said['port']}" if "port" in said else ""
    return f"postgresql://{said.get('host', '')}{port}/{said.get('dbname', '')}"


def connect(
    dsn: str,
    *,
    driving: bool,
    statement_seconds: float = STATEMENT_SECONDS,
    connect_seconds: int | None = None,
) -> Link:
    """A new connection, each statement a transaction unless it is put into one (`STO-9`).

    Args:
        driving: it will write, so a standby does not do.
        statement_seconds: how long the server works on one statement; a lock is waited for a third of it.
        connect_seconds: how long to wait for the server, instead of what the address says.

    Raises:
        psycopg.Error: there is none to be had.
        DurableError: psycopg is not installed, or the address is none.
    """
    library = psycopg()
    said = {**_DEFAULTS, **settings(dsn), "client_encoding": "UTF8"}
    if driving:
        said.setdefault("target_session_attrs", "read-write")
    if connect_seconds is not None:
        said["connect_timeout"] = str(connect_seconds)
    link: Link = library.connect(autocommit=True, **said)
    milliseconds = max(1, int(statement_seconds * 1000))
    try:
        link.execute(_SESSION, {"statement": str(milliseconds), "lock": str(max(1, milliseconds // 3))})
    except BaseException:
        link.close()
        raise
    return link


def reconnect(dsn: str, *, ends: float, statement_seconds: float) -> Link:
    """A new connection, tried again and again until ``ends`` (of ``time.monotonic``), once at least.

    Raises:
        psycopg.Error: the last attempt failed too.
    """
    library = psycopg()
    while True:
        left = ends - time.monotonic()
        try:
            return connect(
                dsn, driving=True, statement_seconds=statement_seconds, connect_seconds=max(2, int(left))
            )
        except library.OperationalError:
            if time.monotonic() + _PAUSE >= ends:
                raise
        time.sleep(_PAUSE)


# A connection must be neither used nor closed in a forked child; the child keeps it to its end.
_abandoned: Final[list[Any]] = []


class Reader:
    """A connection for looking, kept for the next look: who looks at a thousand runs connects once (`STO-9`).

    It is closed with the object. A forked child makes its own.
    """

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._link: Link | None = None
        self._process = 0

    @contextmanager
    def link(self) -> Iterator[Link]:
        """The connection, made anew when it was lost.

        Raises:
            psycopg.Error: there is none to be had.
        """
        if self._process != os.getpid():
            _abandoned.append(self._link)
            self._link = None
        if self._link is None or self._link.closed:
            self._link, self._process = connect(self._dsn, driving=False), os.getpid()
        yield self._link

    def __del__(self) -> None:
        """Close it, in the process that made it."""
        link = getattr(self, "_link", None)
        if link is not None and self._process == os.getpid():
            link.close()


def rows(
    link: Link, statement: LiteralString, values: Mapping[str, Any] | None = None
) -> list[tuple[Any, ...]]:
    """What a statement finds; nothing in a database without our tables (`STO-8`)."""
    with suppress(psycopg().errors.UndefinedTable):
        return link.execute(statement, values).fetchall()
    return []


@contextmanager
def failing(operation: str) -> Iterator[None]:
    """Turn the errors of the database into ``StoreFailure`` (`DRF-3`)."""
    library = psycopg()
    try:
        yield
    except library.Error as error:
        raise failed(operation, error) from error


def failed(operation: str, error: BaseException) -> StoreFailure:
    """The failure of ``operation``; the cause is one line that names the database."""
    return failure(operation, f"PostgreSQL: {' '.join(str(error).split()) or type(error).__name__}")
