"""Errors as data: a class name and a text, and the error that is raised again (`ENC-4`, `DUR-7`)."""

from __future__ import annotations

import builtins
from typing import Final

from agentl import errors
from agentl.errors import ActionInDoubt, AgentLError, NotExecuted, ReplayedError

Failure = tuple[str, str]


def describe(error: BaseException) -> Failure:
    """The class name and the text of an error; an error that cannot print itself has none."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - the text of a foreign class is foreign code
        text = ""
    return type(error).__name__, text


class _Said(str):
    """A text whose ``repr`` is itself: ``KeyError`` prints the ``repr`` of what it was given."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _own(cls: type[AgentLError]) -> dict[str, type[AgentLError]]:
    found = {cls.__name__: cls}
    for below in cls.__subclasses__():
        if below.__module__ == errors.__name__:
            found.update(_own(below))
    return found


_OUTCOMES: Final[dict[str, type[AgentLError]]] = {"ActionInDoubt": ActionInDoubt, **_own(NotExecuted)}
_BUILT_IN: Final[dict[str, type[Exception]]] = {
    name: found
    for name, found in sorted(vars(builtins).items())
    if isinstance(found, type) and issubclass(found, Exception) and found.__name__ == name
}
_made: dict[str, type[Exception]] = {}


def rebuild(failure: Failure) -> Exception:
    """The error that a journal holds: same class name, same text (`ENC-4`).

    No class is ever looked up by name outside the package's outcomes and the built-in exceptions:
    any other name becomes a subclass of ``ReplayedError``.
    """
    name, text = failure
    outcome = _OUTCOMES.get(name)
    if outcome is not None:
        error: Exception = outcome.__new__(outcome)
        AgentLError.__init__(error, text)  # type: ignore[arg-type]
        return error
    cls = _BUILT_IN.get(name)
    if cls is not None:
        for said in (text, _Said(text)):
            try:
                error = cls(said)
            except TypeError:
                break
            if str(error) == text:
                return error
    return _named(name, cls)(text)


def _named(name: str, base: type[Exception] | None) -> type[Exception]:
    found = _made.get(name)
    if found is None:
        usable = name.isidentifier() and name.isprintable()
        try:
            found = _speaking(name if usable else "ReplayedError", base or ReplayedError)
            found("")
        except TypeError:
            found = _speaking(name, ReplayedError)
        _made[name] = found
    return found


def _speaking(name: str, base: type[Exception]) -> type[Exception]:
    def __init__(self: Exception, text: str) -> None:  # noqa: N807
        self.args = (text,)
        if isinstance(self, AgentLError):
            AgentLError.__init__(self, text)

    def __str__(self: Exception) -> str:  # noqa: N807
        return str(self.args[0])

    return type(name, (base,), {"__init__": __init__, "__str__": __str__, "__module__": __name__})
