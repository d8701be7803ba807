"""Names that can be told apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentl.kernel.names_skeleton import is_plain_name, skeleton


@pytest.mark.parametrize("name", ["transfer", "_x", "été", "перевод", "μέτρο".replace("µ", "μ"), "a1"])
def test_identifiers_in_nfkc_form_are_plain(name: str) -> None:
    """KRN-19."""
    assert is_plain_name(name)


@pytest.mark.parametrize(
    "name", ["", "1a", "a b", "a.b", "a-b", "ﬁle", "ｔool", "e\u0301", "x\u200b", None, 3, "²"]
)
def test_everything_else_is_not(name: object) -> None:
    """KRN-19."""
    assert not is_plain_name(name)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("transfer", "trаnsfer"),  # Cyrillic а
        ("pay", "рау"),  # all Cyrillic
        ("pay1", "payl"),
        ("payI", "payl"),
        ("O0", "0O"),
        ("open", "οpen"),  # Greek omicron
        ("Beta", "Βeta"),  # Greek Beta
        ("modern", "rnodern"),
        ("scope", "ѕсоре"),
        ("tool", "t\u200bool"),
    ],
)
def test_confusable_names_have_one_skeleton(one: str, other: str) -> None:
    """KRN-19: Latin, Greek, Cyrillic, 0 and 1."""
    assert one != other
    assert skeleton(one) == skeleton(other)


def test_ordinary_names_keep_apart() -> None:
    """KRN-19."""
    names = ["transfer", "notify", "pay", "play", "wipe", "wire", "read", "reads", "Read", "a", "b", "A"]
    assert len({skeleton(name) for name in names}) == len(names)


@given(st.text(max_size=12))
def test_a_skeleton_is_its_own_skeleton(name: str) -> None:
    """KRN-19: so comparing skeletons is an equivalence."""
    assert skeleton(skeleton(name)) == skeleton(name)
