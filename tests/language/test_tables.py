"""The parse tables are those of the grammar, and the grammar is LALR(1) (GRM-30)."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from lark.exceptions import GrammarError

from agentl.language import tables
from agentl.language.build_program import ProgramBuilder
from agentl.language.lexer import OPERATORS, RESERVED

GRAMMAR = tables.GRAMMAR_FILE.read_text(encoding="utf-8")


def test_the_shipped_tables_are_fresh() -> None:
    """`GRM-30`: built again, strictly, the grammar gives the very file; else run tools/build_tables.py."""
    made = json.dumps(tables.build(GRAMMAR), separators=(",", ":"), ensure_ascii=True) + "\n"
    assert tables.TABLES_FILE.read_text(encoding="utf-8") == made


def test_a_conflict_is_an_error_of_the_build() -> None:
    """`GRM-30`: without the token pass the minus between two elements would be a silent choice."""
    ambiguous = GRAMMAR.replace("negation: SIGN unary", "negation: MINUS unary")
    assert ambiguous != GRAMMAR
    with pytest.raises(GrammarError):
        tables.build(ambiguous)


def test_every_rule_has_its_builder() -> None:
    """Each rule that makes a node is a method of the builder."""
    methods = {rule.method for rule in tables.load().rules if rule.kind == tables.CALL}
    assert [name for name in sorted(methods) if not callable(getattr(ProgramBuilder, name, None))] == []


def test_the_grammar_knows_every_reserved_word_and_operator() -> None:
    """`LEX-4`, `LEX-11`: and a name may be any of the words (`GRM-1`)."""
    terminals = set(json.loads(tables.TABLES_FILE.read_text(encoding="utf-8"))["terminals"])
    assert terminals >= RESERVED
    assert terminals >= set(OPERATORS)


def test_parsing_loads_no_grammar_compiler() -> None:
    """Start-up: Lark is needed to build the tables, never to use them."""
    code = (
        "import sys; from agentl.language.parser import parse_source; parse_source('AGENT a { }');"
        " sys.exit('lark' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_tree_needs_no_parser() -> None:
    """`AST-7`: nodes and digest load neither lexer nor parser, so the trusted base stays small."""
    code = (
        "import sys; import agentl.language.nodes, agentl.language.digest;"
        " sys.exit(any(name in sys.modules for name in ('agentl.language.parser', 'agentl.language.lexer')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
