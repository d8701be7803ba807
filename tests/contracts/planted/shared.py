"""The contracts of a function around another body: a planted fault stands under the very same contract."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from icontract._checkers import decorate_with_checker

_F = TypeVar("_F", bound=Callable[..., Any])


def under(function: Callable[..., Any]) -> Callable[[_F], _F]:
    """Put the contracts of ``function`` on the function that follows, which does something wrong."""

    def plant(wrong: _F) -> _F:
        checker: Any = decorate_with_checker(wrong)
        checker.__preconditions__ = function.__preconditions__  # type: ignore[attr-defined]
        checker.__postconditions__ = function.__postconditions__  # type: ignore[attr-defined]
        return cast(_F, checker)

    return plant
