"""A PostgreSQL server of our own, in a scratch folder on a free loopback port, for tests and measurements.

It is Debian's ``postgresql`` (or whatever ``initdb`` and ``postgres`` are found), with its synchronisations
on: what is said about durability is said of the real thing. Nothing of the machine is touched: no cluster of
the system, no socket outside the folder. It ends with the process that started it, however that ends.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

USER = "agentl"
READY_SECONDS = 60.0
MISSING = "PostgreSQL is not installed here (on Debian: apt-get install postgresql)"
NO_DRIVER = "psycopg is not installed here (pip install 'agentl[postgres]')"


def binaries() -> Path | None:
    """The folder of the newest server, or ``None`` when there is none."""
    found = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    found.sort(key=lambda folder: int(folder.parent.name) if folder.parent.name.isdigit() else 0)
    if found:
        return found[-1]
    beside = shutil.which("initdb")
    return Path(beside).resolve().parent if beside is not None else None


def why_not() -> str | None:
    """Why no server can be started here; ``None`` when one can."""
    if binaries() is None:
        return MISSING
    try:
        import psycopg  # noqa: F401 - only whether it is there
    except ImportError:
        return NO_DRIVER
    return None


def _unprivileged() -> dict[str, Any]:
    """What makes a child process somebody whom the server accepts: it refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            account = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
    raise RuntimeError("neither postgres nor nobody is a user of this machine")


def free_port() -> int:
    """A port of the loopback that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


_GUARD = """
read -r nothing
kill -INT "$1"
while kill -0 "$1"; do sleep 0.2; done
rm -rf "$2"
"""
_EMPTY = """
DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT nspname FROM pg_namespace
        WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' LOOP
        EXECUTE format('DROP SCHEMA %I CASCADE', name);
    END LOOP;
    CREATE SCHEMA public;
END $$
"""


class Server:
    """One server. ``start`` and ``stop`` may be called again and again: it keeps its data and its port.

    Args:
        settings: of ``postgresql.conf``, by name.
        base: where its folder is made; the system's place for such things when it is not given.
        segments: the size of the files of its write-ahead log, in megabytes.
    """

    def __init__(
        self, settings: Mapping[str, str] | None = None, *, base: Path | None = None, segments: int = 16
    ) -> None:
        folder = binaries()
        if folder is None:
            raise RuntimeError(MISSING)
        self.folder = Path(tempfile.mkdtemp(prefix="agentl-postgres-", dir=base))
        self.port = free_port()
        self._binaries = folder
        self._settings = dict(settings or {})
        self._segments = segments
        self._account = _unprivileged()
        self._owner = os.getpid()
        self._process: subprocess.Popen[bytes] | None = None
        self._guard: subprocess.Popen[bytes] | None = None
        self._names = count()
        self._clean: list[str] = []
        if self._account:
            os.chown(self.folder, self._account["user"], self._account["group"])
        self._initialise()
        self.start()

    def _initialise(self) -> None:
        made = subprocess.run(
            [
                str(self._binaries / "initdb"),
                *("--pgdata", str(self.folder / "data"), "--username", USER, "--auth", "trust"),
                *("--encoding", "UTF8", "--locale", "C", "--no-sync"),
                # Small segments of its log: a limit on files must be met by the tables.
                *("--wal-segsize", str(self._segments)),
            ],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            **self._account,
        )
        if made.returncode:
            raise RuntimeError(made.stderr)

    def start(self, *, largest_file: int | None = None) -> None:
        """Start it and wait until it takes connections; with a limit, as on a disk that is nearly full."""
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": "",
            "max_connections": "200",
            "shared_buffers": "32MB",
            "fsync": "on",
            **self._settings,
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        command = [str(self._binaries / "postgres"), "-D", str(self.folder / "data"), *options]
        if largest_file is not None:
            limit = str(largest_file // 512)
            command = ["sh", "-c", 'ulimit -S -f "$0" && exec "$@"', limit, *command]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                command,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                **self._account,
            )
        # Its input ends with this process, however that dies; then it stops the server and tidies up.
        self._guard = subprocess.Popen(
            ["sh", "-c", _GUARD, "sh", str(self._process.pid), str(self.folder)],
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._wait()

    def _wait(self) -> None:
        import psycopg

        ends = time.monotonic() + READY_SECONDS
        while True:
            try:
                psycopg.connect(self.dsn("postgres"), connect_timeout=2).close()
                return
            except psycopg.OperationalError:
                if self._process is None or self._process.poll() is not None or time.monotonic() > ends:
                    raise RuntimeError(f"the server did not start:\n{self.log()}") from None
                time.sleep(0.02)

    def log(self) -> str:
        """The last lines that the server wrote."""
        return "\n".join((self.folder / "log").read_text("utf-8", "replace").splitlines()[-30:])

    @property
    def process(self) -> int:
        """The process id of the server."""
        if self._process is None:
            raise RuntimeError("the server does not run")
        return self._process.pid

    def kill(self) -> None:
        """Stop it as a crash does: no checkpoint, every connection cut, recovery at the next start."""
        self._end(signal.SIGQUIT)

    def stop(self) -> None:
        """Stop it in order; connections are ended."""
        self._end(signal.SIGINT)

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return
        if self._guard is not None:
            self._guard.kill()
            self._guard.communicate()
        process.send_signal(how)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def remove(self) -> None:
        """Stop it and forget everything; in a forked child this does nothing."""
        if self._owner == os.getpid():
            self.kill()
            shutil.rmtree(self.folder, ignore_errors=True)

    def dsn(self, database: str) -> str:
        """How to reach a database of this server."""
        return f"postgresql://{USER}@127.0.0.1:{self.port}/{database}"

    def run(self, statement: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """One statement on a connection of its own, as another program would; gives the rows."""
        return run_on(self.dsn(database), statement)

    def database(self) -> str:
        """An empty database that nobody uses; gives its address."""
        if self._clean:
            return self._clean.pop()
        name = f"t{next(self._names)}"
        self.run(f"CREATE DATABASE {name}")
        return self.dsn(name)

    def empty(self, dsn: str) -> None:
        """Take everything out of a database, whoever is still connected to it, to use it again.

        To drop it would wait for a checkpoint of the whole server.
        """
        self.cut(dsn)
        run_on(dsn, _EMPTY)
        self._clean.append(dsn)

    def cut(self, dsn: str) -> int:
        """End every connection to a database, as an operator or a proxy does; gives how many there were."""
        name = database_of(dsn)
        others = f"WHERE datname = '{name}' AND pid <> pg_backend_pid()"
        return len(self.run(f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity {others}"))  # noqa: S608


def database_of(dsn: str) -> str:
    """The name of the database in an address of ``Server.dsn``."""
    return dsn.rsplit("/", 1)[1]


def run_on(dsn: str, statement: str) -> list[tuple[Any, ...]]:
    """One statement on a connection of its own; names without a schema are those of our tables."""
    import psycopg

    path = "-c search_path=agentl,public"
    with psycopg.connect(dsn, autocommit=True, options=path) as connection:
        done = connection.execute(statement.encode("utf-8"))
        return done.fetchall() if done.description is not None else []
