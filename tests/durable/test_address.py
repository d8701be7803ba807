"""One text names a place of runs (`OPS-1`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentl.durable import DurableError, FileStore, SQLiteStore
from agentl.durable.address import Address, collection_at, hidden, parse_address, store_at

GOOD = {
    "runs": Address("directory", "runs"),
    "./a:b": Address("directory", "./a:b"),
    "runs/a:b": Address("directory", "runs/a:b"),
    "runs#1": Address("directory", "runs#1"),
    "c:\\runs": Address("directory", "c:\\runs"),
    "sqlite:runs.db": Address("sqlite", "runs.db"),
    "SQLite:/var/runs.db": Address("sqlite", "/var/runs.db"),
    "sqlite:///var/runs.db": Address("sqlite", "/var/runs.db"),
    "sqlite:runs.db#a/b": Address("sqlite", "runs.db", "a/b"),
    "sqlite:runs.db#a#b%20c": Address("sqlite", "runs.db", "a#b%20c"),
    "postgres://host/db#r": Address("postgres", "postgres://host/db", "r"),
    "postgresql://u:p@h:5432,[::1]:5433/db?sslmode=require": Address(
        "postgres", "postgresql://u:p@h:5432,[::1]:5433/db?sslmode=require"
    ),
    "postgres:///db?host=/tmp": Address("postgres", "postgres:///db?host=/tmp"),
}
BAD = {
    "": "durable.address_empty",
    "  ": "durable.address_empty",
    "a\0b": "durable.address_sign",
    "sqlite:a\0b": "durable.address_sign",
    "mysql://host/db": "durable.address_scheme",
    "sqlite3:runs.db": "durable.address_scheme",
    "file:runs": "durable.address_scheme",
    "redis:6379": "durable.address_scheme",
    "sqlite:": "durable.address_no_file",
    "sqlite:#run": "durable.address_no_file",
    "sqlite:  #run": "durable.address_no_file",
    "sqlite:///": "durable.address_no_file",
    "sqlite::memory:": "durable.address_memory",
    "sqlite://runs.db": "durable.address_slashes",
    "postgres:db": "durable.address_server",
    "postgres:/host/db": "durable.address_server",
    "postgres://u:p#w@host/db": "durable.address_server",
    "postgres://host:port/db": "durable.address_server",
    "sqlite:runs.db#": "durable.run_id",
    "sqlite:runs.db# a": "durable.run_id",
    "sqlite:runs.db#a\nb": "durable.run_id",
    "sqlite:runs.db#" + "x" * 300: "durable.run_id",
    "postgres://host/db#": "durable.run_id",
}


@pytest.mark.parametrize("text", GOOD)
def test_an_address_is_read_as_it_stands(text: str) -> None:
    """`OPS-1`: kind, place and run; nothing is unquoted, and a directory has no run."""
    assert parse_address(text) == GOOD[text]


@pytest.mark.parametrize("text", [text for text in GOOD if "p@" not in text])
def test_an_address_that_is_shown_can_be_typed(text: str) -> None:
    """`OPS-1`: what messages and lists show leads to the same place."""
    assert parse_address(str(GOOD[text])) == GOOD[text]


@pytest.mark.parametrize("text", BAD, ids=lambda text: ascii(text)[:40])
def test_a_bad_address_is_one_sentence(text: str) -> None:
    """`OPS-1`: refused with a code of its own, before anything is opened."""
    with pytest.raises(DurableError) as refused:
        parse_address(text)
    assert refused.value.code == BAD[text]
    assert "\n" not in str(refused.value)
    assert refused.value.code not in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        "postgres://ada:geheim@host/db",
        "postgres://ada:ge@heim@host/db#run",
        "postgres://ada:geheim#x@host/db",
        "postgres://ada:geheim/x@host/db",
        "postgres://host/db?user=ada&password=geheim&sslmode=require",
        "POSTGRES://ada:geheim@host:x/db",
    ],
)
def test_no_password_is_shown(text: str) -> None:
    """`OPS-1`: neither in an address nor in the refusal of one."""
    assert "heim" not in hidden(text)
    try:
        shown = str(parse_address(text))
    except DurableError as error:
        shown = f"{error} {error.values}"
    assert "heim" not in shown
    assert "ada" in shown


def test_stores_and_collections_of_an_address(tmp_path: Path) -> None:
    """`OPS-1`: a directory is one run or many, a file needs the name of one; nothing is made yet."""
    one = store_at(str(tmp_path / "runs"), "whatever")
    assert isinstance(one, FileStore)
    assert one.directory == tmp_path / "runs"
    other = store_at(f"sqlite:{tmp_path / 'runs.db'}", "a")
    assert isinstance(other, SQLiteStore)
    assert (other.path, other.run_id) == (tmp_path / "runs.db", "a")
    assert collection_at(f"sqlite:{tmp_path / 'runs.db'}").store("a").name == other.name
    with pytest.raises(DurableError) as open_which:
        store_at("sqlite:runs.db")
    assert open_which.value.code == "durable.address_no_run"
    with pytest.raises(DurableError) as twice:
        store_at("sqlite:runs.db#a", "b")
    assert twice.value.code == "durable.other_run"
    assert not list(tmp_path.iterdir())


def test_a_relative_place_can_be_counted_from_elsewhere(tmp_path: Path) -> None:
    """`OPS-1`: a path, but not a server."""
    assert parse_address("sqlite:runs.db#a").below(tmp_path).place == str(tmp_path / "runs.db")
    assert parse_address("runs").below(tmp_path).place == str(tmp_path / "runs")
    assert parse_address("postgres://h/db").below(tmp_path).place == "postgres://h/db"
