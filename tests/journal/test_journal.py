"""The ordered journal: every damage is refused with its entry number (`DUR-8`, `DRF-1`)."""

from __future__ import annotations

import pytest

from agentl.errors import DurableError
from agentl.journal.chain import Chain, empty_head, key_id
from agentl.journal.index import Index
from agentl.journal.journal import DURABLE_FORMAT, Entries, OrderedJournal


def written(key: bytes | None = None) -> list[bytes]:
    """A short journal, as its lines."""
    journal = OrderedJournal(key)
    named = f',"key_id":"{key_id(key)}"' if key is not None else ""
    opened = f'{{"format":"{DURABLE_FORMAT}"{named}}}'
    journal.keep(journal.sealed("open", "r", opened, '"value":null'))
    journal.keep(journal.sealed("read", "a.b", None, '"value":12.5'))
    journal.keep(journal.sealed("ask", "é 😀?", '{"reason":"w"}', '"value":{"$sym":"no"}'))
    journal.keep(journal.sealed("read", "a.c", None, '"error":["KeyError","\'k\'"]'))
    odd = '"value":{"$list":[1e+20,0.30000000000000004,"\ud83d"]}'
    journal.keep(journal.sealed("read", "a.d", None, odd))
    return list(journal.lines)


def refusal(lines: list[bytes], key: bytes | None = None) -> DurableError:
    with pytest.raises(DurableError) as refused:
        OrderedJournal(key).read(lines, name="wal.jsonl", key=key)
    return refused.value


def test_an_intact_journal_is_read() -> None:
    """DUR-8, DUR-11: entries and head come back."""
    lines = written()
    journal = OrderedJournal()
    journal.read(lines, name="x")
    assert [entry.kind for entry in Entries(journal.lines)] == ["open", "read", "ask", "read", "read"]
    assert journal.in_prefix
    assert journal.head == Entries(lines)[4].h
    assert Entries(lines)[1:3] == [Entries(lines)[1], Entries(lines)[2]]


def test_every_flipped_bit_is_refused_with_its_entry() -> None:
    """DUR-8: whatever bit of whatever line, the last one too; the error names the entry."""
    lines = written()
    for number, line in enumerate(lines):
        for place in range(len(line)):
            for bit in range(8):
                damaged = bytearray(line)
                damaged[place] ^= 1 << bit
                if b"\n" in damaged:
                    continue  # a new line end: the store sees two lines
                error = refusal([*lines[:number], bytes(damaged), *lines[number + 1 :]])
                assert error.code in (
                    "durable.altered",
                    "durable.unreadable_line",
                    "durable.bad_sequence",
                    "durable.unknown_format",
                )
                assert error.values.get("entry", error.values.get("position", 0)) == number
                assert f"#{number}" in str(error)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_removed_swapped_and_duplicated_lines_are_refused(number: int) -> None:
    """DUR-8, DRF-1: the number of the first entry that is not where it belongs."""
    lines = written()
    removed = [*lines[:number], *lines[number + 1 :]]
    swapped = [*lines[:number], lines[number + 1], lines[number], *lines[number + 2 :]]
    doubled = [*lines[:number], lines[number], lines[number], *lines[number + 1 :]]
    for damaged, entry in ((removed, number), (swapped, number), (doubled, number + 1)):
        error = refusal(damaged)
        assert (error.code, error.values["entry"]) == ("durable.bad_sequence", entry)


def test_empty_and_unreadable_lines_are_refused() -> None:
    """STO-5, DRF-1: in the middle they are damage."""
    lines = written()
    for damage, code in (
        (b"", "durable.empty_line"),
        (b"  ", "durable.empty_line"),
        (b"{", "durable.unreadable_line"),
    ):
        error = refusal([lines[0], damage, *lines[1:]])
        assert error.code == code
        assert error.values == {"file": "wal.jsonl", "position": 1}


def test_entry_zero_must_open_the_run() -> None:
    """DRF-1: not open, no arguments, another format."""
    journal = OrderedJournal()
    assert refusal([journal.sealed("read", "a", None, '"value":1')]).code == "durable.no_open"
    for version in ("agentl.durable.v1", "agentl.durable.v3", "something"):
        other = OrderedJournal().sealed("open", "r", f'{{"format":"{version}"}}', '"value":null')
        assert refusal([other]).code == "durable.unknown_format"


def test_a_keyed_chain_needs_its_key() -> None:
    """DUR-8, SEA-10: without it, with another, or with one where there is none: refused."""
    keyed, plain = written(b"secret"), written()
    OrderedJournal(b"secret").read(keyed, name="x", key=b"secret")
    assert refusal(keyed).code == "durable.key_missing"
    assert refusal(keyed, b"other").code == "durable.key_other"
    assert refusal(plain, b"secret").code == "durable.key_unexpected"


def test_who_recomputes_an_unkeyed_chain_is_not_seen_but_a_keyed_one_shows_it() -> None:
    """DUR-8: the limit that the documentation states, and what the key is for."""
    forged = OrderedJournal()
    forged.keep(forged.sealed("open", "r", f'{{"format":"{DURABLE_FORMAT}"}}', '"value":null'))
    OrderedJournal().read(forged.lines, name="x")
    named = f'{{"format":"{DURABLE_FORMAT}","key_id":"{key_id(b"secret")}"}}'
    unkeyed = OrderedJournal().sealed("open", "r", named, '"value":null')
    assert refusal([unkeyed], b"secret").code == "durable.altered"


def test_the_head_of_nothing_is_the_digest_of_the_domain() -> None:
    """SEA-2."""
    assert Chain().head == ""
    assert len(empty_head()) == 64
    assert empty_head(b"k") != empty_head()


def test_the_index_follows_doubts_verdicts_and_drivers() -> None:
    """DUR-11, DUR-13: pending, in doubt, settled, and the verdict that a later resolution uses up."""
    index = Index()
    index.note("open", "r", {"max_ticks": 3, "epoch": 1})
    index.note("intent", "t", {"action_id": "a1", "promise": []})
    assert [found["action_id"] for found in index.pending()] == ["a1"]
    index.note("verdict", "t", {"action_id": "a1", "executed": False, "by": "op", "at": "now"})
    assert index.pending() == []
    assert index.settleable("a1") is None
    index.note("resume", "r", {"epoch": 2})
    index.note("resolution", "t", {"action_id": "a1", "how": "not_executed", "attempt": 2})
    assert [found["action_id"] for found in index.pending()] == ["a1"], (
        "the second call may be interrupted too"
    )
    index.note("invoke", "t", {}, ("ActionInDoubt", "?"))
    assert [found["action_id"] for found in index.in_doubt()] == ["a1"]
    index.note("reconcile", "t", {"action_id": "a1"}, ("OSError", "?"))
    assert index.in_doubt(), "a reconciler that raises settles nothing"
    index.note("reconcile", "t", {"action_id": "a1"})
    assert index.in_doubt() == []
    index.note("intent", "t", {"action_id": "a2", "promise": []})
    index.note("invoke", "t", {})
    index.note("resolution", "t", {"action_id": "a2", "how": "in_doubt"})
    assert [found["action_id"] for found in index.in_doubt()] == ["a2"], "a broken OUTPUT contract (TOL-4)"
    index.note("close", "r", {"reason": "limit", "ticks": 3})
    index.note("extend", "r", {"max_ticks": 5})
    assert (index.limit, index.close_args, index.epochs) == (5, None, 2)


def test_the_index_knows_who_had_leave_to_call() -> None:
    """STO-6: the driver of the intent, and each one that called again; a doubt or a verdict is no leave."""
    index = Index()
    index.note("open", "r", {"max_ticks": 3, "epoch": 1})
    index.note("intent", "t", {"action_id": "a1", "promise": []})
    for epoch, how in ((2, "retry"), (3, "not_executed"), (4, "in_doubt")):
        index.note("resume", "r", {"epoch": epoch})
        index.note("resolution", "t", {"action_id": "a1", "how": how, "attempt": epoch})
    found = index.settleable("a1")
    assert found is not None
    assert found["callers"] == [1, 2, 3]
