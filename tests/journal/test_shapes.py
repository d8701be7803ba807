"""A journal whose chain was made again around nonsense: one clear refusal, whatever was put in (`DUR-4`)."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from agentl import Host, MockLLM
from agentl.durable import DurableError, DurableRun, MemoryStore, export_journal, settle, survey
from agentl.errors import ReplayDivergence
from agentl.journal.chain import Chain
from agentl.journal.entry import finish, from_data
from tests.support.programs import Ledger, host_of, payments

JUNK = (None, True, "x", [1], {"$list": [{"$bad": 1}]})


class Death(BaseException):
    """The process dies here."""


def host(**options: Any) -> Host:
    return host_of(Ledger(), idempotent=True, **options)


def written() -> list[dict[str, Any]]:
    """The entries of a run that was killed, resumed, killed, settled and extended: every annotation."""
    store = MemoryStore()
    for _ in range(2):
        with pytest.raises(Death):
            DurableRun(payments(), host(die_after=Death), MockLLM(), store=store, run_id="r1").run(1)
    settle(store, survey(store).pending()[0]["action_id"], executed=True, value={"ok": True}, by="ann")
    for ticks in (1, 2):
        DurableRun(payments(), host(), MockLLM(), store=store, run_id="r1").run(ticks)
    return [{name: part for name, part in json.loads(line).items() if name != "h"} for line in store.lines]


def sealed(entries: list[dict[str, Any]]) -> MemoryStore:
    """The entries under a chain made anew."""
    store, chain = MemoryStore(), Chain()
    for data in entries:
        canonical, opening = from_data({**data, "h": ""}).composed()
        store.lines.append(finish(opening, chain.add(canonical)).decode())
    return store


def places(data: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    parts: Any = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for name, part in parts:
        yield (*place, name)
        yield from places(part, (*place, name))


def changed(data: dict[str, Any], place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    found: Any = copy.deepcopy(data)
    inner = found
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = value
    return dict(found)


ENTRIES = written()


def test_the_samples_hold_every_annotation() -> None:
    """`DUR-4`: what is put together here is a run that is accepted as it stands."""
    kinds = {data["kind"] for data in ENTRIES}
    assert kinds >= {"open", "intent", "resolution", "verdict", "checkpoint", "close", "resume", "extend"}
    run = DurableRun(payments(), host(), MockLLM(), store=sealed(ENTRIES), run_id="r1")
    run.run()
    assert run.already_completed


@pytest.mark.parametrize(
    "number", range(len(ENTRIES)), ids=[f"{n}-{d['kind']}" for n, d in enumerate(ENTRIES)]
)
def test_nonsense_is_refused_as_such(number: int) -> None:
    """`DUR-8`, `DRF-1`, `DRF-2`: a forger is not detected, but meets no error that is not ours."""
    data = ENTRIES[number]
    for place in places(data):
        if place[0] not in ("args", "value", "error", "key"):
            continue
        for junk in JUNK:
            try:
                store = sealed([*ENTRIES[:number], changed(data, place, junk), *ENTRIES[number + 1 :]])
            except ValueError:
                continue  # no line can say this
            try:
                found = survey(store)
                found.pending()
                export_journal(store)
                DurableRun(payments(), host(), MockLLM(), store=store, run_id="r1").run(3)
            except (DurableError, ReplayDivergence):
                pass
