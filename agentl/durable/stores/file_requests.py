"""The requests of a run in a directory: one small file each for the request and its decision (`PRK-1`).

Each file is written whole under another name, synchronised, and then linked to its own: a name that is there
already stays (`PRK-3`), and a file with that name is complete.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar

from agentl.durable.requests import (
    Decision,
    Extension,
    Filed,
    Request,
    decision_of,
    extension_of,
    in_order,
    request_of,
    unreadable,
)
from agentl.durable.stores.base import failing_as
from agentl.durable.stores.request_book import answered, extended

_T = TypeVar("_T")


class FileBook:
    """The requests in ``directory``; it is made, with mode 0700, when the first one is posted."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def post(self, request: Request) -> Filed:
        """Keep a request, durable on return.

        Raises:
            StoreFailure: it cannot be written.
        """
        with failing_as("write"):
            if not self.directory.is_dir():
                self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
                _sync(self.directory.parent)
        self._create(f"{_stem(request.request_id)}.request.json", request.data())
        filed = self.get(request.request_id)
        if filed is None:
            raise unreadable(request.request_id)
        return filed

    def get(self, request_id: str) -> Filed | None:
        """The request of that id.

        Raises:
            StoreFailure: a file cannot be read, or none of this package wrote it.
        """
        stem = _stem(request_id)
        request = self._read(f"{stem}.request.json", request_of)
        if request is None:
            return None
        extensions: list[Extension] = []
        while True:
            extension = self._read(f"{stem}.extension-{len(extensions) + 1}.json", extension_of)
            if extension is None:
                break
            extensions.append(extension)
        return Filed(request, self._read(f"{stem}.decision.json", decision_of), tuple(extensions))

    def all(self, *, open_only: bool = False) -> list[Filed]:
        """Every request, oldest first."""
        with failing_as("read"):
            try:
                names = dict.fromkeys(entry.name for entry in os.scandir(self.directory))
            except (FileNotFoundError, NotADirectoryError):
                return []
        rows = []
        for name in names:
            stem = name.removesuffix(".request.json")
            if stem == name or (open_only and f"{stem}.decision.json" in names):
                continue
            request = self._read(name, request_of)
            filed = None if request is None else self.get(request.request_id)
            if filed is not None:
                rows.append(filed)
        return in_order(rows, open_only=open_only)

    def decide(self, request_id: str, decision: Decision) -> Decision:
        """The decision that stands: the first that was linked.

        Raises:
            StoreFailure: it cannot be written, or there is no such request.
        """
        filed = self.get(request_id)
        stands = answered(filed, request_id, decision)
        if filed is None or not filed.open:
            return stands
        name = f"{_stem(request_id)}.decision.json"
        self._create(name, stands.data())
        return self._read(name, decision_of) or stands

    def extend(self, request_id: str, extension: Extension) -> Filed:
        """Put the deadline off."""
        while True:
            known = self.get(request_id)
            filed = extended(known, request_id, extension)
            if filed is known:
                return filed
            name = f"{_stem(request_id)}.extension-{len(filed.extensions)}.json"
            if self._create(name, asdict(extension)):
                # A decision that was linked meanwhile stands, extended or not.
                return replace(filed, decision=self._read(f"{_stem(request_id)}.decision.json", decision_of))

    # --- files -------------------------------------------------------------------------

    def _read(self, name: str, form: Callable[[Any, str], _T]) -> _T | None:
        with failing_as("read"):
            try:
                content = (self.directory / name).read_bytes()
            except (FileNotFoundError, NotADirectoryError):
                return None
        try:
            data = json.loads(content)
        except (ValueError, RecursionError):
            raise unreadable(str(self.directory / name)) from None
        return form(data, str(self.directory / name))

    def _create(self, name: str, data: Mapping[str, Any]) -> bool:
        """Make a complete, durable file of that name; ``False`` when there is one."""
        content = json.dumps(data, ensure_ascii=True, sort_keys=True, indent=1).encode("ascii") + b"\n"
        temporary = self.directory / f".{name}.{secrets.token_hex(8)}"
        with failing_as("write"):
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                try:
                    view = memoryview(content)
                    while view:
                        view = view[os.write(descriptor, view) :]
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)
                made = _linked(temporary, self.directory / name)
            finally:
                temporary.unlink(missing_ok=True)
            # Whoever finds the name taken relies on it too, and its writer may have died before this.
            _sync(self.directory)
        return made


def _linked(source: Path, target: Path) -> bool:
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno == errno.EEXIST:
            return False
        raise
    return True


def _stem(request_id: str) -> str:
    # Run ids are any text, file names are not.
    return hashlib.sha256(request_id.encode("utf-8", "surrogatepass")).hexdigest()[:40]


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
