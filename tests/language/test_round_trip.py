"""A printed tree parses to the same tree; layout, commas, comments and noise change no digest (AST-7)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentl.language.digest import tree_digest, tree_row
from agentl.language.nodes import (
    Agent,
    CallExpr,
    CallStmt,
    ControlStmt,
    Expr,
    PathExpr,
    Plan,
    Program,
    SetStmt,
    Step,
    ThenPlan,
)
from agentl.language.parser import parse_file, parse_source
from agentl.language.print_program import program_text
from agentl.language.printer import expression_text
from tests.support import trees

PROGRAMS = sorted(Path(__file__).parent.joinpath("programs").glob("*.agent"))


def in_plan(*statements: Any) -> Program:
    return Program((Agent("a", plans=(Plan("p", (Step("main", tuple(statements)),)),)),))


def same(one: Any, other: Any) -> None:
    # Rows first: where they differ, the report shows the place.
    assert tree_row(one) == tree_row(other)
    assert tree_digest(one) == tree_digest(other)


# A whole program is slow to draw, and every part of it is drawn by itself below.
@settings(max_examples=max(10, settings().max_examples // 5))
@given(trees.programs)
def test_a_printed_program_parses_to_the_same_tree(program: Program) -> None:
    """`GRM-2` to `GRM-28`, `AST-1` to `AST-5`: every construct, every field."""
    same(parse_source(program_text(program)), program)


@given(trees.statements)
def test_a_printed_statement_parses_to_the_same_tree(statement: Any) -> None:
    """`GRM-19` to `GRM-23`."""
    program = in_plan(statement)
    same(parse_source(program_text(program)), program)


@given(trees.expressions)
def test_a_printed_expression_parses_to_the_same_tree(expression: Expr) -> None:
    """`GRM-24` to `GRM-28`: parentheses appear where precedence needs them."""
    parsed = parse_source(f"AGENT a {{ GOAL {{ MAINTAIN {expression_text(expression)} }} }}")
    same(parsed.agents[0].goals[0].condition, expression)


@given(st.lists(trees.expressions, min_size=1, max_size=4))
def test_elements_keep_apart_in_a_row(expressions: list[Expr]) -> None:
    """Section 2: commas between two elements are optional, one or more."""
    for comma in (", ", ",,"):
        text = comma.join(map(expression_text, expressions))
        parsed = parse_source(f"AGENT a {{ GOAL {{ TARGET {{ {text}, }} }} }}")
        same(parsed.agents[0].goals[0].targets, tuple(expressions))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_example_programs_round_trip(path: Path) -> None:
    """The example programs print and parse to themselves."""
    program = parse_file(path)
    same(parse_source(program_text(program)), program)


def test_neighbours_that_could_run_together() -> None:
    """`GRM-21`, `GRM-22`: a phase VERIFY and a plan CALL stay what they are before another statement."""
    phase, plan = ControlStmt("PHASE", "VERIFY"), ThenPlan("CALL")
    call = CallStmt(CallExpr("f"))
    program = in_plan(phase, ThenPlan("x"), plan, call, SetStmt("x", PathExpr(("CALL",))), call, phase, call)
    same(parse_source(program_text(program)), program)


noise = st.sampled_from([" ", "\n", "\t", "\r\n", "# remark { (\n", "// remark\n", "/* re\nmark */"])


@given(trees.statements, st.lists(noise, min_size=1, max_size=4))
def test_layout_and_comments_change_nothing(statement: Any, noises: list[str]) -> None:
    """`AST-7`, `LEX-1`, `LEX-2`."""
    program = in_plan(statement)
    lines = program_text(program).split("\n")
    dressed = "".join(f"{line}{noises[place % len(noises)]}\n" for place, line in enumerate(lines))
    flat = " ".join(line.strip() for line in lines)
    assert tree_digest(parse_source(dressed)) == tree_digest(program)
    assert tree_digest(parse_source(flat)) == tree_digest(program)


@given(trees.calls)
def test_the_noise_word_changes_nothing(call: Any) -> None:
    """`AST-7`, `GRM-22`: CALL before a call builds the same tree."""
    program = in_plan(CallStmt(call))
    text = program_text(program)
    printed = expression_text(call)
    assert text.count(printed) >= 1
    assert tree_digest(parse_source(text.replace(printed, f"CALL {printed}", 1))) == tree_digest(program)


def test_the_digest_sees_values_and_order() -> None:
    """`AST-7`: what a program says is in its digest; where it says it is not."""
    text = "AGENT a { POLICY { DEFAULT DENY ALLOW x IF n < 1 DENY y } PLAN p { x(n: 1) } }"
    base = tree_digest(parse_source(text))
    for other in (
        text.replace("n < 1", "n < 2"),
        text.replace("n < 1", "n < 1.0"),
        text.replace("n: 1", 'n: "1"'),
        text.replace("ALLOW x IF n < 1 DENY y", "DENY y ALLOW x IF n < 1"),
        text.replace("DEFAULT DENY", "DEFAULT ALLOW"),
    ):
        assert tree_digest(parse_source(other)) != base
    assert tree_digest(parse_source("\n\n" + text.replace(" ", "\n"))) == base


def test_the_digest_does_not_see_what_the_evaluator_keeps() -> None:
    """`AST-7`: a memo beside a node is no part of the tree."""
    program = parse_source("AGENT a { GOAL { x > 1 } }")
    before = tree_digest(program)
    condition = program.agents[0].goals[0].condition
    assert condition is not None
    condition.memo["compiled"] = object()
    assert tree_digest(program) == before
    assert tree_digest(replace(program, line=7)) == before


def test_two_rows_are_never_alike() -> None:
    """`AST-7`: lengths come first, so no two trees share a row."""
    one = parse_source("AGENT a { GOAL { TARGET { [a, [b]] } } }")
    other = parse_source("AGENT a { GOAL { TARGET { [[a], b] } } }")
    assert tree_row(one) != tree_row(other)
    sent = parse_source("AGENT a { PLAN p { DELEGATE d { INPUT { a, b } EXPECT { } } } }")
    wanted = parse_source("AGENT a { PLAN p { DELEGATE d { INPUT { a } EXPECT { b } } } }")
    assert tree_digest(sent) != tree_digest(wanted)
