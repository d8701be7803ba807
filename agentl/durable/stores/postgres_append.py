"""One durable append in one round trip: one statement compares the epoch and writes the lines (`STO-7`).

The row of the run is locked by the comparison and changed by a takeover, so the two exclude each other: an
append that has to wait for a takeover looks at the row again when it goes on, and finds another epoch.
"""

from __future__ import annotations

import select
import struct
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from agentl.durable.stores.postgres_link import psycopg

if TYPE_CHECKING:
    from agentl.durable.stores.postgres_link import Link

_APPEND: Final = b"""
WITH fence AS MATERIALIZED (
    SELECT FROM agentl.runs WHERE run_id = $1 AND epoch = $2 AND driven FOR NO KEY UPDATE
)
INSERT INTO agentl.entries (run_id, seq, body)
SELECT $1, $3 + line.number - 1, line.body
FROM fence, unnest($4::bytea[]) WITH ORDINALITY AS line (body, number)
"""
_NAME: Final = b"agentl_append"
_FORMATS: Final = (1, 1, 1, 1)
_BYTEA: Final = 17
_HEAD: Final = struct.Struct("!iiIii")
_LONG: Final = struct.Struct("!q")
_LENGTH: Final = struct.Struct("!i")
# The server ends a statement that takes too long; this much later nobody is there to do so.
_SILENCE: Final = 5.0


class Appender:
    """The prepared append of one driver on one connection.

    Args:
        seconds: the time-out of statements on this connection.
    """

    def __init__(self, link: Link, run_id: str, epoch: int, seconds: float) -> None:
        self._link = link
        self._connection = link.pgconn
        self._run = run_id.encode("utf-8")
        self._epoch = _LONG.pack(epoch)
        self._limit = seconds + _SILENCE
        self._good = _good()
        self._poll = select.poll()
        self._poll.register(self._connection.socket, select.POLLIN)
        with link.lock:
            self._connection.send_prepare(_NAME, _APPEND)
            self._finished()

    def append(self, first: int, lines: Sequence[bytes]) -> int:
        """Commit ``lines`` as entries ``first`` and on; gives how many were written: all, or none (fenced).

        Raises:
            psycopg.Error: the statement failed; when the link is closed after it, nobody knows how it ended.
        """
        parameters = (self._run, self._epoch, _LONG.pack(first), _array(lines))
        with self._link.lock:
            self._connection.send_query_prepared(_NAME, parameters, param_formats=_FORMATS, result_format=1)
            return int(self._finished().command_tuples or 0)

    def _finished(self) -> Any:
        # psycopg's own waiting has no end: a server that is stopped but not gone would hold the run for ever.
        connection = self._connection
        ends = time.monotonic() + self._limit
        last: Any = None
        while True:
            flushed = not connection.flush()
            while connection.is_busy():
                if not flushed:
                    self._poll.modify(connection.socket, select.POLLIN | select.POLLOUT)
                left = ends - time.monotonic()
                if left <= 0 or not self._poll.poll(left * 1000):
                    self._link.close()
                    raise psycopg().OperationalError("no answer from the server")
                connection.consume_input()
                if not flushed:
                    self._poll.modify(connection.socket, select.POLLIN)
                    flushed = not connection.flush()
            found = connection.get_result()
            if found is None:
                break
            # The commit comes behind the statement, and its failure behind the result.
            last = found
        if last is None or last.status not in self._good:
            raise psycopg().OperationalError("no answer") if last is None else _error(last)
        return last


def _good() -> tuple[int, ...]:
    from psycopg.pq import ExecStatus

    return (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK)


def _error(result: Any) -> Exception:
    from psycopg.errors import error_from_result

    return error_from_result(result, encoding="utf-8")


def _array(lines: Sequence[bytes]) -> bytes:
    parts = [_HEAD.pack(1, 0, _BYTEA, len(lines), 1)]
    for line in lines:
        parts.append(_LENGTH.pack(len(line)))
        parts.append(line)
    return b"".join(parts)
