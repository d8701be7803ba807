"""Requests as people and scripts see them: what is asked, unambiguously, and the time left (`PRK-10`)."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from agentl.errors import AgentLError
from agentl.messages import render

if TYPE_CHECKING:
    from agentl.durable.requests import Filed, Request

# Printable ASCII, and the accented letters of Latin scripts that nothing else looks like.
_PLAIN: Final = re.compile(
    r"[ -~\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u0130\u0132-\u0137\u0139-\u0148\u014a-\u017e]"
)
_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_DURATION: Final = re.compile(r"([0-9]{1,9})([smhd])")
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}
WITHHELD: Final = "⟦retenu⟧"


def seconds_of(text: str) -> float:
    """The seconds in a duration as ``90s``, ``15m``, ``8h``, ``3d``.

    Raises:
        AgentLError: it is none.
    """
    found = _DURATION.fullmatch(text.strip())
    if found is None or not int(found[1]):
        raise AgentLError(code="cli.duration", given=text)
    return float(int(found[1]) * _UNITS[found[2]])


def duration(seconds: float) -> str:
    """A duration for people, in its two greatest units."""
    left = int(abs(seconds))
    parts: list[str] = []
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        count, left = divmod(left, size)
        if count or (unit == "s" and not parts):
            parts.append(f"{count}{unit}")
    return " ".join(parts[:2])


def literal(text: str) -> str:
    """A text in quotes; a sign that acts, or could be taken for another, is an escape (`PRK-10`)."""
    return '"' + "".join(_sign(sign) for sign in text) + '"'


def _sign(sign: str) -> str:
    if sign in '"\\':
        return "\\" + sign
    if _PLAIN.fullmatch(sign):
        return sign
    return f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08x}"


def bare(text: str) -> str:
    """A name without quotes where it is plain, else as ``literal``."""
    return text if _WORD.fullmatch(text) else literal(text)


def shown(value: Any) -> str:
    """A value in journal form (`ENC-1`): symbols bare, texts in quotes, all else with its type."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return WITHHELD if value == WITHHELD else literal(value)
    if not isinstance(value, Mapping):
        return literal(repr(value))[1:-1] if isinstance(value, int | float) else literal(str(value))
    if "$sym" in value:
        return bare(str(value["$sym"]))
    if "$dict" in value and isinstance(value["$dict"], list):
        pairs = [pair for pair in value["$dict"] if isinstance(pair, list) and len(pair) == 2]
        return "{" + ", ".join(f"{shown(key)}: {shown(item)}" for key, item in pairs) + "}"
    for tag, opening, closing in (("$list", "[", "]"), ("$tuple", "(", ")"), ("$set", "{", "}")):
        if isinstance(value.get(tag), list):
            return opening + ", ".join(shown(item) for item in value[tag]) + closing
    return "<" + ", ".join(f"{bare(str(name))[:40]} {shown(item)}" for name, item in value.items()) + ">"


def question(request: Request) -> str:
    """What is asked, on one line: a call with its arguments, or the words of a question."""
    if request.kind == "question":
        return f"{bare(request.target)}: {shown(request.args.get('question'))}"
    args = ", ".join(f"{bare(str(name))}={shown(value)}" for name, value in request.args.items())
    return f"{bare(request.target)}({args})"


def is_what_is_shown(request: Request) -> bool | None:
    """Whether the arguments of a row are those of its digest; ``None`` where some are withheld (`PRK-8`)."""
    from agentl.kernel.action import action_digest
    from agentl.values import DataModelError, decode

    if request.withheld or request.kind != "approval":
        return None
    try:
        args = {str(name): decode(value) for name, value in request.args.items()}
        known = [action_digest(kind, request.target, args) for kind in ("invoke", "delegate")]
    except (ValueError, TypeError, DataModelError):
        return False
    return request.digest in known


def time_left(filed: Filed, now: str) -> str:
    """The deadline for people; that it is near is said (`PRK-9`)."""
    from agentl.durable.requests import near, remaining

    left = remaining(filed.deadline, now)
    if filed.deadline is None:
        return render("park.no_deadline")
    said = {"deadline": filed.deadline, "left": duration(left or 0)}
    if left is None or left <= 0:
        return render("park.over", said)
    return render("park.near" if near(filed, now) else "park.until", said)


def how_to_answer(address: str, request: Request) -> str:
    """The command that answers, ready to be copied."""
    verb = "answer" if request.kind == "question" else "approve"
    words = ["agentl", "approvals", verb, address, request.request_id]
    command = " ".join(shlex.quote(word) for word in words)
    return render(f"park.how_to_{verb}", {"command": command})


def as_data(filed: Filed, address: str, now: str) -> dict[str, Any]:
    """A request for scripts (`PRK-10`)."""
    from agentl.durable.requests import near, remaining

    request = filed.request
    return {
        "address": address,
        **request.data(),
        "shown": question(request),
        "state": filed.state,
        "deadline": filed.deadline,
        "age_seconds": -(remaining(request.asked_at, now) or 0.0),
        "remaining_seconds": remaining(filed.deadline, now),
        "near": near(filed, now),
        "decision": None if filed.decision is None else filed.decision.data(),
        "extensions": [{"deadline": one.deadline, "by": one.by, "at": one.at} for one in filed.extensions],
    }
