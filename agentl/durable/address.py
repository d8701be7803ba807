"""One text names a place where durable runs are kept (`OPS-1`).

``DIR`` is a directory with one run or with directories of runs; ``sqlite:PATH`` a database file and
``postgres://…`` (or ``postgresql://…``) a database server, with ``#RUN`` behind it where one run is meant.
What stands behind the first ``#`` is the run id, exactly as it is; nothing is unquoted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from agentl.durable.marks import refuse_marked
from agentl.durable.run_ids import check_run_id
from agentl.errors import DurableError

if TYPE_CHECKING:
    from agentl.durable.collections.base import Collection

DIRECTORY: Final = "directory"
SQLITE: Final = "sqlite"
POSTGRES: Final = "postgres"
# One letter before a colon is a drive, and a colon behind a slash belongs to a name.
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(.*)", re.DOTALL)
# Somebody, then hosts with ports, then the name of a database and what else the server should know.
_SERVER: Final = re.compile(
    r"postgres(?:ql)?://(?:[^@\s]*@)?(?:(?:\[[0-9a-fA-F:.]+\]|[^:/?@\s\[\]]*)(?::[0-9]+)?,?)*(?:/[^?\s]*)?(?:\?\S*)?"
)
_PASSWORD: Final = re.compile(r"(?<=//)([^:@/]*):.*@", re.DOTALL)
_PASSWORD_ARGUMENT: Final = re.compile(r"(?i)([?&](?:ssl)?password=)[^&#]*")


@dataclass(frozen=True, slots=True)
class Address:
    """A place of durable runs, and one of its runs when ``run_id`` is not ``None`` (`OPS-1`).

    ``kind`` is ``directory``, ``sqlite`` or ``postgres``; ``place`` a path, or the text by which a server
    is reached.
    """

    kind: str
    place: str
    run_id: str | None = None

    def __str__(self) -> str:
        """The address as it can be typed, without a password."""
        if self.kind == DIRECTORY:
            return directory_address(self.place)
        place = hidden(self.place) if self.kind == POSTGRES else f"sqlite:{self.place}"
        return place if self.run_id is None else f"{place}#{self.run_id}"

    @property
    def one_run(self) -> bool:
        """Whether the address itself says which run is meant; a directory always may hold one."""
        return self.kind == DIRECTORY or self.run_id is not None

    def below(self, folder: Path) -> Self:
        """The same place, a relative path counted from ``folder``."""
        if self.kind == POSTGRES:
            return self
        return replace(self, place=str(folder / self.place))

    def of(self, run_id: str | None) -> Self:
        """The address of one run of this database; a directory stays what it is.

        Raises:
            DurableError: the address names another run already.
        """
        if run_id is None or self.kind == DIRECTORY:
            return self
        if self.run_id not in (None, run_id):
            raise DurableError(code="durable.other_run", found=self.run_id, wanted=run_id)
        return replace(self, run_id=check_run_id(run_id))


def directory_address(path: str) -> str:
    """The path of a directory in a form that is not taken for an address of another kind."""
    return f"./{path}" if _SCHEME.fullmatch(path) else path


def hidden(text: str) -> str:
    """``text`` with every password of an address in it replaced; for messages and records (`OPS-1`)."""
    return _PASSWORD_ARGUMENT.sub(r"\1***", _PASSWORD.sub(r"\1:***@", text))


def parse_address(text: str) -> Address:
    """Read an address (`OPS-1`).

    Raises:
        DurableError: it is empty, of no known kind, names no file or server, or names a run by an id that
            no run can have.
    """
    if not text.strip():
        raise DurableError(code="durable.address_empty")
    if "\0" in text:
        raise DurableError(code="durable.address_sign", address=ascii(hidden(text)))
    found = _SCHEME.fullmatch(text)
    if found is None:
        return Address(DIRECTORY, text)
    scheme, rest = found[1].lower(), found[2]
    if scheme == SQLITE:
        return _sqlite(text, rest)
    if scheme in ("postgres", "postgresql"):
        return _postgres(text, f"{scheme}:{rest}")
    raise DurableError(code="durable.address_scheme", scheme=found[1], address=hidden(text))


def _sqlite(text: str, rest: str) -> Address:
    path, run_id = _divided(rest)
    if path.startswith("//") and not path.startswith("///"):
        raise DurableError(code="durable.address_slashes", address=text)
    if path.startswith("///"):
        path = "/" + path.lstrip("/")
    if not path.strip() or path.endswith("/"):
        raise DurableError(code="durable.address_no_file", address=text)
    if path.strip() == ":memory:":
        raise DurableError(code="durable.address_memory", address=text)
    return Address(SQLITE, path, run_id)


def _postgres(text: str, rest: str) -> Address:
    place, run_id = _divided(rest)
    if not _SERVER.fullmatch(place):
        raise DurableError(code="durable.address_server", address=hidden(text))
    return Address(POSTGRES, place, run_id)


def _divided(text: str) -> tuple[str, str | None]:
    place, mark, run_id = text.partition("#")
    return place, check_run_id(run_id) if mark else None


def known_address(address: str | Address) -> Address:
    """``address``, read if it is still a text."""
    return parse_address(address) if isinstance(address, str) else address


def store_at(address: str | Address, run_id: str | None = None) -> Any:
    """The store of one run (`OPS-1`, `STO-1`); nothing is opened or created yet.

    Args:
        run_id: the run of a database that the address leaves open. A directory is the place of one run
            whatever its id, and takes none.

    Raises:
        DurableError: the address is refused, or leaves open which run of a database is meant.
    """
    known = known_address(address).of(run_id)
    if known.kind == DIRECTORY:
        from agentl.durable.stores.file import FileStore

        return FileStore(known.place)
    if known.run_id is None:
        raise DurableError(code="durable.address_no_run", address=str(known))
    return collection_at(known).store(known.run_id)


def collection_at(address: str | Address) -> Collection:
    """All runs of a place (`OPS-1`); nothing is opened or created yet.

    Raises:
        DurableError: the address is refused.
    """
    known = known_address(address)
    if known.kind == DIRECTORY:
        from agentl.durable.collections.directory import DirectoryCollection

        return DirectoryCollection(known.place)
    if known.kind == SQLITE:
        from agentl.durable.collections.sqlite import SQLiteCollection

        return SQLiteCollection(known.place)
    from agentl.durable.collections.postgres import PostgresCollection

    return PostgresCollection(known.place)


def existing_run(address: str | Address) -> Any:
    """The store of a run that is there (`OPS-1`, `DCL-3`).

    Raises:
        DurableError: there is no such run, or the address leaves open which one.
        StoreFailure: the place cannot be read.
    """
    known = known_address(address)
    store = store_at(known)
    if (known.kind == DIRECTORY or collection_at(known).exists()) and store.exists():
        return store
    refuse_marked(store.mark(), str(known))
    if known.kind == DIRECTORY:
        from agentl.durable.collections.directory import DirectoryCollection

        below = DirectoryCollection(known.place).count()
        if below:
            raise DurableError(code="durable.address_many", address=str(known), runs=below)
        raise DurableError(code="durable.none", directory=str(known))
    raise DurableError(code="durable.none_in", run_id=known.run_id, place=str(replace(known, run_id=None)))


__all__ = ["Address", "collection_at", "existing_run", "hidden", "parse_address", "store_at"]
