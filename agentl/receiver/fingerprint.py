"""What a request asks for, as digests (`RCV-4`).

Only digests are stored, so that an inbox holds no personal data beside the answers; one per field,
so that a refusal can say which field differs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from agentl.receiver.errors import ReceiverError

_DOMAIN: Final = b"agentl.receiver.params.v1\n"
MOST_FIELDS: Final = 64
_SHORT: Final = 16


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """``digest`` is of the whole, 64 hex digits; ``fields`` maps the path of each leaf to 16 hex digits."""

    digest: str
    fields: Mapping[str, str]


def fingerprint(params: Any) -> Fingerprint:
    """The fingerprint of parameters: a JSON value, fields in any order.

    Raises:
        ReceiverError: it is no JSON value (`RCV-4`).
    """
    try:
        whole = canonical(params)
        leaves = dict(_leaves(params, ""))
        if len(leaves) > MOST_FIELDS:
            leaves = {_named(name): params[name] for name in params} if isinstance(params, Mapping) else {}
        if len(leaves) > MOST_FIELDS:
            leaves = {}
        fields = {path: _digest(canonical(value))[:_SHORT] for path, value in leaves.items()}
    except (TypeError, ValueError, RecursionError) as error:
        raise ReceiverError(code="receiver.params_form", cause=type(error).__name__) from error
    return Fingerprint(_digest(whole), fields)


def canonical(value: Any) -> bytes:
    """Canonical JSON: keys sorted, no spaces, UTF-8; a number keeps its kind (1 is not 1.0).

    Raises:
        TypeError: a value or a key that JSON does not have.
        ValueError: a number that JSON does not have.
    """
    _strict(value)
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.encode("ascii")


def _strict(value: Any) -> None:
    # json.dumps would write the key 1 and the key "1" alike.
    if isinstance(value, dict):
        for key, inner in value.items():
            if type(key) is not str:
                raise TypeError(type(key).__name__)
            _strict(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            _strict(inner)


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{_named(key)}" if path else _named(key))
    else:
        yield path or "params", value


def _named(key: str) -> str:
    # A dot inside a name must not look like a path.
    return json.dumps(key) if "." in key or not key else key


def _digest(content: bytes) -> str:
    return hashlib.sha256(_DOMAIN + content).hexdigest()


def differing(kept: Mapping[str, str], asked: Mapping[str, str]) -> tuple[str, ...]:
    """The paths whose digests differ, sorted; empty when the fields are not known any more."""
    if not kept or not asked:
        return ()
    return tuple(sorted(path for path in {*kept, *asked} if kept.get(path) != asked.get(path)))


__all__ = ["MOST_FIELDS", "Fingerprint", "canonical", "differing", "fingerprint"]
