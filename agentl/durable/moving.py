"""A run moves from one store to another, or is copied for reading (`OPS-8`, `OPS-9`).

The rule: at no time may a run be driven in two places. It arrives under a mark that forbids driving; then the
old place is marked as left; only then is the first mark taken away. Whatever dies in between, the same call
again finishes, and until the old place is marked the run is still its own.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agentl.durable.address import DIRECTORY, collection_at, existing_run, parse_address
from agentl.durable.marks import ARRIVING, COPY, MOVED, Mark, mark, refuse_marked
from agentl.durable.recovery import DurableJournal
from agentl.durable.status import meta_of
from agentl.durable.stores.base import utc_now
from agentl.errors import DurableError

PORTABLE_FORMAT: Final = "agentl.durable.portable.v1"


@dataclass(frozen=True, slots=True)
class Moved:
    """What was moved or copied; ``finished``: an earlier call had left the old place already."""

    run_id: str
    source: str
    target: str
    entries: int
    head: str
    copy: bool
    finished: bool = False


def move(source: str, target: str, *, key: bytes | str | None = None) -> Moved:
    """Move a run to another place, where it is resumed, extended and settled from then on (`OPS-8`).

    Args:
        source: the address of the run.
        target: the address of a place; a run id in it must be that of the run.

    Raises:
        DurableError: the journal is refused, the run is marked, an older driver may still be at work, or
            the target is taken; ``LeaseHeld`` when the run is driven.
        StoreFailure: one of the stores failed.
    """
    source = _full(source)
    store = existing_run(source)
    there = store.mark()
    if there is not None and there.get("mark") == MOVED:
        return _finish(store, there, source, target)
    journal = DurableJournal.open(store, key=key)
    try:
        _check(journal, source)
        run_id = journal.index.run_id
        new, name = _target(target, run_id)
        if name == source:
            raise DurableError(code="ops.same_place", name=name)
        more = _facts(journal)
        arriving = mark(ARRIVING, run_id, other=source, **more)
        new.receive(journal.lines, meta_of(journal, held=False), arriving, _epoch(journal))
        _compare(new, journal.head, key)
        store.write_mark(mark(MOVED, run_id, other=name, **more))
        _copy_requests(store, new)
        new.settle_in()
        return Moved(run_id, source, name, journal.index.entries, journal.head, copy=False)
    finally:
        journal.release()
        store.close()


def _check(journal: DurableJournal, source: str) -> None:
    if not journal.lines:
        raise DurableError(code="durable.none", directory=source)
    if journal.lease is not None and journal.lease.unsure:
        # A directory would forget it, and a reconciler's "no" be believed beside a caller that may still act.
        raise DurableError(code="ops.move_unsure", run_id=journal.index.run_id)


def _finish(store: Any, there: Mark, source: str, target: str) -> Moved:
    """An earlier call has marked the old place: what is left is to let the run be driven in the new one."""
    run_id, went = str(there.get("run_id")), str(there.get("other"))
    new, name = _target(target, run_id)
    arrived = new.mark()
    if name != went or arrived is None or arrived.get("mark") != ARRIVING:
        refuse_marked(there, source)
    if arrived is None or arrived.get("head") != there.get("head"):
        raise DurableError(code="ops.not_arriving", name=name)
    _copy_requests(store, new)
    new.settle_in()
    entries = there.get("entries")
    count = entries if type(entries) is int else 0
    return Moved(run_id, source, name, count, str(there.get("head")), copy=False, finished=True)


def copy(source: str, target: str, *, key: bytes | str | None = None) -> Moved:
    """Copy a run, or a portable file, for reading only: nobody ever drives the copy (`OPS-9`).

    Raises:
        DurableError: the journal is refused, or the target is taken.
        StoreFailure: one of the stores failed.
    """
    if is_portable(source):
        run_id, lines = read_portable(Path(source))
        journal = _in_memory(lines, source, key)
    else:
        source = _full(source)
        journal = DurableJournal.open(existing_run(source), key=key, write=False)
        run_id = journal.index.run_id
    if not journal.lines or journal.index.run_id != run_id:
        raise DurableError(code="ops.not_portable", file=source)
    new, name = _target(target, run_id)
    made = mark(COPY, run_id, other=source, **_facts(journal))
    new.receive(journal.lines, meta_of(journal, held=False), made, _epoch(journal))
    _compare(new, journal.head, key)
    return Moved(run_id, source, name, journal.index.entries, journal.head, copy=True)


def write_portable(source: str, file: Path, *, key: bytes | str | None = None) -> Moved:
    """Write a run, finished or not, as one file that `copy` reads (`OPS-9`).

    Raises:
        DurableError: the journal is refused.
        StoreFailure: the store cannot be read.
        OSError: the file cannot be written.
    """
    source = _full(source)
    journal = DurableJournal.open(existing_run(source), key=key, write=False)
    if not journal.lines:
        raise DurableError(code="durable.none", directory=source)
    run_id = journal.index.run_id
    header = {
        "format": PORTABLE_FORMAT,
        "run_id": run_id,
        "entries": journal.index.entries,
        "head": journal.head,
        "written": utc_now(),
        "source": source,
    }
    with file.open("wb") as stream:
        stream.write(json.dumps(header).encode("ascii") + b"\n")
        stream.writelines(line + b"\n" for line in journal.lines)
    return Moved(run_id, source, str(file), journal.index.entries, journal.head, copy=True)


def read_portable(file: Path) -> tuple[str, list[bytes]]:
    """Run id and lines of a portable file.

    Raises:
        DurableError: it is none, or it was cut.
    """
    try:
        first, _, rest = file.read_bytes().partition(b"\n")
        header = json.loads(first)
    except (OSError, ValueError, RecursionError) as error:
        raise DurableError(code="ops.not_portable", file=str(file)) from error
    if not isinstance(header, dict) or header.get("format") != PORTABLE_FORMAT:
        raise DurableError(code="ops.not_portable", file=str(file))
    lines = rest.split(b"\n")
    if lines.pop() or len(lines) != header.get("entries"):
        raise DurableError(code="ops.portable_cut", file=str(file))
    return str(header.get("run_id")), lines


def _in_memory(lines: Sequence[bytes], name: str, key: bytes | str | None) -> DurableJournal:
    from agentl.durable.stores.memory import MemoryStore

    store = MemoryStore()
    try:
        store.lines = [line.decode("utf-8") for line in lines]
    except UnicodeDecodeError as error:
        raise DurableError(code="ops.not_portable", file=name) from error
    return DurableJournal.open(store, key=key, write=False)


def is_portable(source: str) -> bool:
    """Whether a command names a file and no place."""
    address = parse_address(source)
    return address.kind == DIRECTORY and Path(address.place).is_file()


def _full(address: str) -> str:
    """An address as marks keep it: wherever it is read, and without a password."""
    return str(parse_address(address).below(Path.cwd()))


def _target(target: str, run_id: str) -> tuple[Any, str]:
    """The store of the run in the place ``target``, and its address."""
    address = parse_address(target).below(Path.cwd())
    address.of(run_id)
    collection = collection_at(address)
    collection.exists()
    return collection.store(run_id), collection.address(run_id)


def _facts(journal: DurableJournal) -> dict[str, Any]:
    return {
        "head": journal.head,
        "entries": journal.index.entries,
        "opened": journal.index.open_args,
        "ended": None if journal.index.close_args is None else str(journal.index.close_args.get("reason")),
    }


def _epoch(journal: DurableJournal) -> int:
    """The greatest epoch that anybody was given for this run, as far as it is known here."""
    mine = 0 if journal.lease is None else journal.lease.epoch
    return max(mine, journal.index.epoch, journal.index.epochs)


def _compare(store: Any, head: str, key: bytes | str | None) -> None:
    """Read back what arrived (`OPS-8`)."""
    if DurableJournal.open(store, key=key, write=False).head != head:
        raise DurableError(code="ops.arrived_otherwise", name=store.name)


def _copy_requests(old: Any, new: Any) -> None:
    """Requests move with their run: a decision that was not heard yet is heard in the new place.

    They are copied once nobody finds them in the old place any more (`OPS-6`), so none is missed.
    """
    books = getattr(old, "requests", None), getattr(new, "requests", None)
    if books[0] is None or books[1] is None:
        return
    for filed in books[0].all():
        books[1].post(filed.request)
        for extension in filed.extensions:
            books[1].extend(filed.request.request_id, extension)
        if filed.decision is not None:
            books[1].decide(filed.request.request_id, filed.decision)


__all__ = ["PORTABLE_FORMAT", "Moved", "copy", "move", "read_portable", "write_portable"]
