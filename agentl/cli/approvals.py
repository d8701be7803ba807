"""``agentl approvals``: what waits for people, over all runs of a place, and their answers (`PRK-10`).

No command here drives a run or takes a lease; any machine that reaches the place may be used.
"""

from __future__ import annotations

import getpass
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from agentl.cli import durable, durable_list, exits, options, output, waiting
from agentl.errors import AgentLError, DurableError
from agentl.messages import render

if TYPE_CHECKING:
    from agentl.durable.collections.base import RunNote
    from agentl.durable.requests import Decision, Filed, Request, RequestBook

RequestId = Annotated[str, typer.Argument(metavar="REQUEST", help=render("cli.help.request"))]
Everything = Annotated[bool, typer.Option("--all", help=render("cli.help.approvals_all"))]
By = Annotated[str | None, typer.Option("--by", metavar="WHO", help=render("cli.help.by"))]
SignKey = Annotated[str | None, typer.Option("--key", metavar="K", help=render("cli.help.approval_key"))]
Unseen = Annotated[bool, typer.Option("--unseen", help=render("cli.help.unseen"))]
Text = Annotated[str | None, typer.Argument(metavar="TEXT", help=render("cli.help.answer_text"))]
Json = Annotated[str | None, typer.Option("--value", metavar="JSON", help=render("cli.help.answer_value"))]
More = Annotated[str, typer.Argument(metavar="DURATION", help=render("cli.help.extend_by"))]


@dataclass(frozen=True)
class Found:
    """A request, where it is, and the book that keeps it."""

    address: str
    filed: Filed
    book: RequestBook


def list_requests(
    place: options.Place,
    everything: Everything = False,
    as_json: options.AsJson = False,
    _lang: options.Lang = None,
) -> int:
    """Everything that waits for a person; the exit code says whether anything does (`PRK-10`)."""
    from agentl.durable.address import hidden

    now, where = _now(), hidden(place)
    rows: list[Found] = []
    doubts: list[dict[str, str]] = []
    for note, book in _notes(place):
        listed = _of_run(note, book) if everything else _open_of(note, book)
        rows += [_seen(one, now) for one in listed]
        known = {"address": note.address, "run_id": note.run_id}
        doubts += [{**known, "action_id": action_id} for action_id in note.in_doubt if note.mark is None]
    still = sum(one.filed.open for one in rows) + len(doubts)
    code = exits.WAITING if still else exits.DONE
    if as_json:
        data = [waiting.as_data(one.filed, one.address, now) for one in rows]
        report = {"place": where, "requests": data, "doubts": doubts, "waiting": still}
        output.out_json({**report, "exit_code": code})
        return code
    for one in rows:
        _print_row(one, now)
    for doubt in doubts:
        output.out("⚠ " + render("park.doubt", doubt))
    output.out(render("park.listed" if still else "park.nothing_waits", {"n": still, "place": where}))
    return code


def show(
    place: options.Place, request: RequestId, as_json: options.AsJson = False, _lang: options.Lang = None
) -> int:
    """One request, in full (`PRK-10`)."""
    now = _now()
    found = _seen(_find(place, request), now)
    filed = found.filed
    code = exits.WAITING if filed.open else exits.DONE
    if as_json:
        output.out_json({**waiting.as_data(filed, found.address, now), "exit_code": code})
        return code
    asked = filed.request
    output.out(f"{_mark(filed)} {waiting.question(asked)}")
    facts = [
        ("run", waiting.bare(asked.run_id)),
        ("where", found.address),
        ("request", asked.request_id),
        ("digest", f"{asked.digest} — {render(f'park.digest_{_checked(asked)}')}"),
        ("reason", waiting.literal(asked.reason)[1:-1]),
        ("ring", asked.ring or "—"),
        ("asked", f"{asked.asked_at}, {_age(filed, now)}"),
        ("deadline", waiting.time_left(filed, now)),
    ]
    for name, value in facts:
        output.out(f"    {render(f'park.fact_{name}')} : {value}")
    for name, value in asked.args.items():
        output.out(f"      {waiting.bare(str(name))} = {waiting.shown(value)}")
    for one in filed.extensions:
        output.out("    " + render("park.extension", {"by": one.by, "at": one.at, "deadline": one.deadline}))
    if filed.decision is not None:
        output.out("    " + _said(filed.decision))
    return code


def approve(
    place: options.Place,
    request: RequestId,
    by: By = None,
    key: SignKey = None,
    unseen: Unseen = False,
    as_json: options.AsJson = False,
    _lang: options.Lang = None,
) -> int:
    """Say yes to one action with the arguments that were shown (`PRK-2`), signed with ``--key`` (`PRK-8`)."""
    from agentl.durable.requests import APPROVED, Decision, fits

    found = _find(place, request)
    asked = found.filed.request
    if not fits(asked.kind, APPROVED):
        raise AgentLError(code=f"park.is_{asked.kind}", request=asked.request_id)
    seen = waiting.is_what_is_shown(asked)
    if seen is False:
        raise DurableError(code="park.not_what_is_shown", request=asked.request_id)
    if seen is None and key is not None and not unseen:
        raise DurableError(code="park.withheld", request=asked.request_id)
    if key is None:
        return _answer(found, Decision(APPROVED, _who(by), _now()), as_json)
    return _answer(found, _signed(asked, key, by), as_json)


def _signed(asked: Request, spec: str, by: str | None) -> Decision:
    """A yes with the signature of a key; by default in the name that the ring has for that key.

    Raises:
        SealError: there is no such key, or it cannot sign.
        DurableError: the ring has no such key for that person.
    """
    from agentl.durable.requests import APPROVED, Decision
    from agentl.kernel.approval import ApprovalRecord
    from agentl.keyring import signed, signing_key

    key = signing_key(spec)
    holders = [
        str(who) for who, keys in asked.signers.items() if isinstance(keys, list) and key.key_id in keys
    ]
    who = by or (holders[0] if holders else _who(None))
    if asked.ring is not None and asked.signers and who not in holders:
        known = ", ".join(str(one) for one in asked.signers)
        raise DurableError(code="park.not_in_ring", ring=asked.ring, key_id=key.key_id, by=who, known=known)
    record = ApprovalRecord(asked.subject, asked.digest, APPROVED, who, _now())
    record = signed(record, key, asked.run_id)
    return Decision(APPROVED, who, record.at, key_id=record.key_id, signature=record.signature)


def deny(
    place: options.Place,
    request: RequestId,
    by: By = None,
    as_json: options.AsJson = False,
    _lang: options.Lang = None,
) -> int:
    """Say no."""
    from agentl.durable.requests import DENIED, Decision

    return _answer(_find(place, request), Decision(DENIED, _who(by), _now()), as_json)


def answer(
    place: options.Place,
    request: RequestId,
    text: Text = None,
    value: Json = None,
    by: By = None,
    as_json: options.AsJson = False,
    _lang: options.Lang = None,
) -> int:
    """Answer a question, with a text or another value (`PRK-7`)."""
    from agentl.durable.requests import ANSWERED, Decision
    from agentl.values import encode

    if (text is None) == (value is None):
        raise AgentLError(code="cli.answer_choice")
    said = encode(text if value is None else durable.json_value(value))
    return _answer(_find(place, request), Decision(ANSWERED, _who(by), _now(), value=said), as_json)


def extend(
    place: options.Place,
    request: RequestId,
    more: More,
    by: By = None,
    as_json: options.AsJson = False,
    _lang: options.Lang = None,
) -> int:
    """Put the deadline of an open request off, counted from the one in force (`PRK-3`)."""
    from agentl.durable.requests import Extension, later

    seconds, now = waiting.seconds_of(more), _now()
    found = _seen(_find(place, request), now)
    end = None if found.filed.deadline is None else later(found.filed.deadline, seconds)
    filed = found.filed
    if filed.open and end is not None:
        filed = found.book.extend(request, Extension(end, _who(by), now))
    won = filed.open and filed.deadline == end and end is not None
    code = exits.DONE if won else exits.FAILED
    if as_json:
        output.out_json({**waiting.as_data(filed, found.address, now), "won": won, "exit_code": code})
    elif won:
        output.out("✓ " + waiting.time_left(filed, now))
    else:
        reason = render("park.no_deadline") if filed.decision is None else _said(filed.decision)
        output.fail(render("park.not_extended", {"reason": reason}))
    return code


# --- finding -------------------------------------------------------------------------------


def _now() -> str:
    from agentl.durable.stores.base import utc_now

    return utc_now()


def _notes(place: str) -> Iterator[tuple[RunNote, RequestBook]]:
    """The runs of a place, or the one run that an address names, each with its requests.

    Raises:
        DurableError: there is no such place, or no such run.
        StoreFailure: it cannot be read.
    """
    from agentl.durable.address import DIRECTORY, collection_at, existing_run, parse_address, store_at
    from agentl.durable.stores.request_book import book_of

    address = parse_address(place)
    collection = collection_at(address)
    if not collection.exists():
        raise durable_list.no_place(place)
    if address.run_id is not None:
        existing_run(address)
    for note in collection.notes():
        if address.run_id in (None, note.run_id):
            # The address of a note shows no password; a directory may hold two runs of one id.
            directory = address.kind == DIRECTORY
            book = book_of(store_at(note.address) if directory else collection.store(note.run_id))
            if book is not None:
                yield note, book


def _of_run(note: RunNote, book: RequestBook) -> Iterator[Found]:
    yield from (Found(note.address, filed, book) for filed in book.all())


def _open_of(note: RunNote, book: RequestBook) -> Iterator[Found]:
    from agentl.durable.states import COMPLETED

    if note.status != COMPLETED and note.mark is None:
        yield from (Found(note.address, filed, book) for filed in note.waiting)


def _find(place: str, request: str) -> Found:
    """The request of that id.

    Raises:
        DurableError: there is none, or more than one.
    """
    found = [
        one
        for note, book in _notes(place)
        if request.startswith(f"{note.run_id}:")
        for one in _of_run(note, book)
        if one.filed.request.request_id == request
    ]
    if not found:
        from agentl.durable.address import hidden

        raise DurableError(code="park.unknown", request=request, place=hidden(place))
    if len(found) > 1:
        raise DurableError(code="park.many", request=request, places=", ".join(one.address for one in found))
    return found[0]


def _seen(found: Found, now: str) -> Found:
    """The same, its expiry recorded when this is who sees it first (`PRK-3`)."""
    from agentl.durable.requests import Filed, expiry

    filed = found.filed
    if not filed.late(now):
        return found
    stands = found.book.decide(filed.request.request_id, expiry(now))
    return Found(found.address, Filed(filed.request, stands, filed.extensions), found.book)


def _who(by: str | None) -> str:
    if by:
        return by
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"


# --- answering -----------------------------------------------------------------------------


def _answer(found: Found, decision: Decision, as_json: bool) -> int:
    from agentl.durable.requests import fits

    asked = found.filed.request
    if not fits(asked.kind, decision.answer):
        raise AgentLError(code=f"park.is_{asked.kind}", request=asked.request_id)
    stands = found.book.decide(asked.request_id, decision)
    won = stands == decision
    code = exits.DONE if won else exits.FAILED
    if as_json:
        said = {"request_id": asked.request_id, "address": found.address, "shown": waiting.question(asked)}
        output.out_json({**said, "won": won, "decision": stands.data(), "exit_code": code})
    elif won:
        output.out(f"✓ {waiting.question(asked)}")
        output.out("    " + _said(stands))
    else:
        output.fail(render("park.decided_already", {"decision": _said(stands)}))
    return code


def _said(decision: Decision) -> str:
    values = {"by": waiting.literal(decision.by)[1:-1], "at": decision.at}
    if decision.signature:
        values["by"] += " " + render("park.signed", {"key_id": decision.key_id})
    if decision.answer == "answered":
        return render("park.said_answered", {**values, "value": waiting.shown(decision.value)})
    return render(f"park.said_{decision.answer}", values)


def _mark(filed: Filed) -> str:
    marks = {"open": "⏸", "approved": "✓", "answered": "✓", "denied": "✗"}
    return marks.get(filed.state, "◐")


def _age(filed: Filed, now: str) -> str:
    from agentl.durable.requests import remaining

    return render("park.age", {"age": waiting.duration(remaining(filed.request.asked_at, now) or 0.0)})


def _checked(asked: Request) -> str:
    if asked.kind == "question":
        return "question"
    return {True: "seen", False: "other", None: "withheld"}[waiting.is_what_is_shown(asked)]


def _print_row(one: Found, now: str) -> None:
    asked = one.filed.request
    output.out(f"{_mark(one.filed)} {waiting.question(asked)}")
    facts = [one.address, _age(one.filed, now), waiting.literal(asked.reason)[1:-1]]
    if asked.ring is not None:
        facts.append(render("park.by_ring", {"ring": asked.ring}))
    facts.append(
        waiting.time_left(one.filed, now) if one.filed.decision is None else _said(one.filed.decision)
    )
    output.out("    " + " · ".join(fact for fact in facts if fact))
    output.out(f"    {asked.request_id}")
