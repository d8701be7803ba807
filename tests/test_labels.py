"""Sources, labels and what crosses the host boundary (`PRV-1` to `PRV-4`)."""

from __future__ import annotations

import copy
import itertools
import pickle

import pytest

from agentl import labels
from agentl.labels import NONE, UNKNOWN_LABEL, Labeled, Prov, SourceError, join, of, untrusted, unwrap

TRUSTED = {"DECLARED", "RUNTIME", "OBSERVED", "HUMAN", "EFFECT", "INFERRED", "FALLBACK"}
UNTRUSTED = {"TOOL", "MESSAGE", "EVENT", "DELEGATE", "LLM", "SHARED", "MEMORY", "EXTERNAL", "UNKNOWN"}


def test_the_sources_are_these() -> None:
    """`PRV-1`: each is a constant of its own name, and its trust is fixed."""
    assert set(labels.SOURCES) == TRUSTED | UNTRUSTED
    for name in labels.SOURCES:
        assert getattr(labels, name) == name
        assert getattr(labels, f"{name}_LABEL", None) in (None, of(name))
        assert of(name).untrusted is (name in UNTRUSTED)
        assert of(name).llm_derived is (name == "LLM")


def test_an_unlisted_source_is_refused() -> None:
    """`PRV-1`."""
    for bad in ("human", "", "NOBODY"):
        with pytest.raises(SourceError) as caught:
            of("TOOL", bad)
        assert isinstance(caught.value, ValueError)
        assert caught.value.code == "prov.source"
        assert bad in str(caught.value)


def test_every_pair_of_sources_joins_to_both() -> None:
    """`PRV-2`, `PRV-4`: union and nothing else; untrusted as soon as one source is."""
    for left, right in itertools.product(labels.SOURCES, repeat=2):
        label = of(left) | of(right)
        assert label.sources == {left, right}
        assert label.untrusted is bool({left, right} & UNTRUSTED)
        assert label.llm_derived is ("LLM" in (left, right))
        assert label is of(right, left) is join(of(left), of(right))
        assert list(label) == sorted({left, right}) == list(label.names)
        assert left in label
        assert hash(label) == hash(of(right, left))


def test_the_empty_label_is_not_trusted() -> None:
    """`PRV-2`: nothing known about the origin is no reason to trust."""
    assert NONE.untrusted
    assert not NONE.sources
    assert NONE | of("HUMAN") == of("HUMAN")
    assert join() is NONE
    assert Prov() is NONE


def test_a_missing_label_counts_as_unknown() -> None:
    """`PRV-2`."""
    assert join(None) is UNKNOWN_LABEL
    assert join(of("HUMAN"), None) == of("HUMAN", "UNKNOWN")


def test_a_label_is_immutable_and_copies_to_itself() -> None:
    """`PRV-1`."""
    label = of("TOOL", "HUMAN")
    for attribute in ("mask", "sources", "untrusted", "new"):
        with pytest.raises(AttributeError):
            setattr(label, attribute, 0)
    with pytest.raises(AttributeError):
        del label.mask
    for twin in (copy.copy(label), copy.deepcopy(label), pickle.loads(pickle.dumps(label))):
        assert twin is label
    assert Prov("TOOL") == of("TOOL")


def test_a_host_can_only_lower_trust() -> None:
    """`PRV-3`: labels of a wrapped value add up; a bare value has none of its own."""
    assert unwrap(5) == (5, NONE)
    assert unwrap(untrusted(5)) == (5, of("EXTERNAL"))
    assert unwrap(Labeled(5, "HUMAN")) == (5, of("HUMAN"))
    twice = untrusted(Labeled([1], of("MEMORY")))
    assert unwrap(twice) == ([1], of("EXTERNAL", "MEMORY"))
    assert twice == Labeled([1], of("MEMORY", "EXTERNAL"))
    assert twice != Labeled([1], of("MEMORY"))
    assert twice != [1]
