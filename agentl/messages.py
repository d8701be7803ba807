"""The prose of the package: one catalogue, two languages, looked up by code.

Errors, traces and reports carry a *code* and named values (`MSG-5`); this module turns
them into French (the default) or English (`MSG-1` to `MSG-4`). The wordings live in
``agentl.catalogue``, one module per area, and no other module writes prose for a user.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from string import Formatter
from typing import Any, Final, cast

from agentl.catalogue import CATALOGUE

LANGUAGES: Final = ("fr", "en")
# Above this Python writes no decimal digits (its own guard against quadratic work), and raises.
_LONGEST_BITS: Final = 13_000

_chosen: str | None = None
# For a while, and for one thread only: many runs speak at once, each in the language of its journal.
_speaking: Final[ContextVar[str | None]] = ContextVar("agentl_language", default=None)


def set_language(language: str | None) -> None:
    """Choose the language of this process (`MSG-4`); ``None`` goes back to the environment.

    Raises:
        ValueError: the language is not one of ``LANGUAGES``.
    """
    global _chosen
    if language is not None and language not in LANGUAGES:
        raise ValueError(f"language must be one of {', '.join(LANGUAGES)}, not {language!r}")
    _chosen = language


def language() -> str:
    """The language in force: the one chosen, else ``AGENTL_LANG``, else French (`MSG-4`)."""
    spoken = _speaking.get()
    if spoken is not None:
        return spoken
    if _chosen is not None:
        return _chosen
    wanted = os.environ.get("AGENTL_LANG", "fr")[:2].lower()  # `EN` and `en_GB.UTF-8` mean it too
    return wanted if wanted in LANGUAGES else "fr"


@contextmanager
def speaking(language: str | None) -> Iterator[None]:
    """Render in ``language`` for a while (a journal's own, `MSG-4`); ``None`` changes nothing."""
    token = _speaking.set(language if language in LANGUAGES else _speaking.get())
    try:
        yield
    finally:
        _speaking.reset(token)


def fmt(value: Any) -> str:
    """A value as people read it (`TRC-3`, `API-2`): floats in ``%g``, ``[a, b]``, bare symbols."""
    kind = type(value)
    if kind is str:
        return cast(str, value)
    if kind is int:
        return str(value) if value.bit_length() <= _LONGEST_BITS else hex(value)
    if kind is float:
        return f"{value:g}"
    if kind is list or kind is tuple:
        return "[" + ", ".join([fmt(item) for item in value]) + "]"
    if kind is dict:
        return "{" + ", ".join([f"{key!r}: {fmt(item)}" for key, item in value.items()]) + "}"
    return str(value)


def render(code: str, values: Mapping[str, Any] | None = None, lang: str | None = None) -> str:
    """The text of ``code`` with ``values`` in ``lang`` (by default the language in force).

    An unknown code is rendered as itself with its values: a missing wording must never
    turn an error into another error.
    """
    texts = CATALOGUE.get(code)
    if texts is None:
        listed = ", ".join(f"{name}={fmt(value)}" for name, value in (values or {}).items())
        return f"{code} ({listed})" if listed else code
    template = texts[1 if (lang or language()) == "en" else 0]
    if "{" not in template:
        return template
    given = values or {}
    words = []
    for literal, name in _pieces(template):
        words.append(literal)
        if name is not None:
            # A name that is missing stays visible instead of raising.
            words.append(fmt(given[name]) if name in given else "{" + name + "}")
    return "".join(words)


def pieces(code: str, lang: str) -> tuple[tuple[str, str | None], ...]:
    """The template of a known code in ``lang``: literal texts, each with the name of the value behind it."""
    template = CATALOGUE[code][1 if lang == "en" else 0]
    return _pieces(template) if "{" in template else ((template, None),)


@lru_cache(maxsize=4096)
def _pieces(template: str) -> tuple[tuple[str, str | None], ...]:
    """A template cut once into its literal texts, each with the name of the value behind it."""
    return tuple((literal, name or None) for literal, name, _, _ in Formatter().parse(template))


def source_words(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of an error in a source text, its tokens named as people name them (`PER-3`).

    The values themselves stay as they are, kind and value: programs read them.
    """
    shown = dict(values)
    kind, _, text = str(values.get("found", "")).partition(" ")
    if f"parse.kind.{kind}" in CATALOGUE:
        shown["found"] = render(f"parse.kind.{kind}", {"text": text})
    shown["expected"] = " ".join([_token_class(word) for word in values.get("expected", ())])
    if "wanted" in values:
        wanted = [_token_class(word.removeprefix("KW ")) for word in str(values["wanted"]).split(" / ")]
        # "a / b" may be the division itself; a long list says nothing that ``expected`` does not say.
        shown["wanted"] = " / ".join(wanted if len(wanted) <= 4 else [*wanted[:3], "…"])
    if "quantity" in values:
        shown["quantity"] = render(f"parse.quantity_{values['quantity']}")
    return shown


def _token_class(word: str) -> str:
    code = f"parse.class.{word.strip('‹›')}"
    return render(code) if code in CATALOGUE else word
