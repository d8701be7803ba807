"""Parse errors: PER-1 to PER-7."""

from __future__ import annotations

import copy
import pickle
import re
from pathlib import Path

import pytest

from agentl.errors import AgentLError, LexError, ParseError
from agentl.language.parser import MAX_NESTING, MAX_SOURCE_BYTES, parse_file, parse_source
from agentl.messages import set_language


def in_agent(text: str) -> str:
    return f"AGENT a {{ {text} }}"


def in_plan(text: str) -> str:
    return in_agent(f"PLAN p {{ {text} }}")


def refused(text: str) -> ParseError:
    with pytest.raises(ParseError) as caught:
        parse_source(text)
    return caught.value


REFUSED = [
    # PER-3
    (in_plan("IF x y"), "parse.expected", {"wanted": "KW THEN", "found": "IDENT y"}),
    ("AGENT a", "parse.expected", {"wanted": "{", "found": "EOF"}),
    ("AGENT a {", "parse.expected", {"wanted": "}", "found": "EOF"}),
    (in_agent("PLAN {"), "parse.name", {"found": "OP {"}),
    (in_plan("SET x = }"), "parse.expression", {"found": "OP }"}),
    (in_plan("x = a == b == c"), "parse.statement", {"found": "OP =="}),
    (in_plan("3"), "parse.statement", {"found": "NUM 3"}),
    (in_agent("3"), "parse.section_wanted", {"found": "NUM 3"}),
    (in_agent("FOO"), "parse.section_unknown", {"found": "IDENT FOO"}),
    (in_agent("STEP"), "parse.section_unknown", {"found": "KW STEP"}),
    (in_plan("REASON { FOO }"), "parse.field", {"construct": "REASON", "found": "IDENT FOO"}),
    (in_plan("ASK x { FOO }"), "parse.field", {"construct": "ASK", "found": "IDENT FOO"}),
    (in_plan("DELEGATE x { FOO }"), "parse.field", {"construct": "DELEGATE", "found": "IDENT FOO"}),
    (in_plan("MESSAGE x { FOO }"), "parse.field", {"construct": "MESSAGE", "found": "IDENT FOO"}),
    (in_agent("TOOL t { FOO }"), "parse.field", {"construct": "TOOL", "found": "IDENT FOO"}),
    (in_agent("HYPOTHESIS h { FOO }"), "parse.field", {"construct": "HYPOTHESIS", "found": "IDENT FOO"}),
    (in_agent("PLANNER { FOO }"), "parse.field", {"construct": "PLANNER", "found": "IDENT FOO"}),
    (
        in_agent("MEMORY { WRITE { FOO } }"),
        "parse.field",
        {"construct": "MEMORY WRITE", "found": "IDENT FOO"},
    ),
    (in_agent("DECIDE { ping() }"), "parse.decide", {"found": "IDENT ping"}),
    (in_agent("DECIDE { JUDGE { } }"), "parse.decide", {"found": "KW JUDGE"}),
    (in_agent("DECIDE { RULES { ping() } }"), "parse.decide", {"found": "IDENT ping"}),
    (in_agent("POLICY { MAYBE x }"), "parse.policy_effect", {"found": "IDENT MAYBE"}),
    (in_agent("POLICY { REQUIRE FOR x OF ring }"), "parse.policy_effect", {"found": "IDENT OF"}),
    (in_plan("f(a: 1, b: 2, a = 3)"), "parse.duplicate_argument", {"name": "a"}),
    (in_plan("x = f(a: 1, a: 2)"), "parse.duplicate_argument", {"name": "a"}),
    (in_agent("PLAN p WHEN a WHEN b { }"), "parse.duplicate_option", {"option": "WHEN"}),
    (in_agent("PLAN p PRIORITY 1 WHEN b PRIORITY 2 { }"), "parse.duplicate_option", {"option": "PRIORITY"}),
    (in_agent("VERSION one"), "parse.version", {"found": "IDENT one"}),
    (in_agent("BELIEF { a = 1 CONFIDENCE x }"), "parse.quantity", {"quantity": "confidence"}),
    (in_agent("TOOL t { DURATION 5 }"), "parse.quantity", {"quantity": "duration", "found": "NUM 5"}),
    (in_agent("PLANNER { DEADLINE 5 }"), "parse.quantity", {"quantity": "duration"}),
    (in_agent("TOOL t { OUTCOME o WITH x { } }"), "parse.quantity", {"quantity": "probability"}),
    (in_agent("TOOL t { COST x }"), "parse.quantity", {"quantity": "cost"}),
    (in_agent("HYPOTHESIS h { THRESHOLD x }"), "parse.quantity", {"quantity": "threshold"}),
    (in_agent("HYPOTHESIS h { EVIDENCE { a LIKELIHOOD x } }"), "parse.quantity", {"quantity": "likelihood"}),
    (in_agent("HYPOTHESIS h { EVIDENCE { a GIVEN_NOT x } }"), "parse.quantity", {"quantity": "likelihood"}),
    (in_agent("HYPOTHESIS h { MAX_EVIDENCE x }"), "parse.quantity", {"quantity": "bits"}),
    (in_agent("HYPOTHESIS h { PRIOR x }"), "parse.quantity", {"quantity": "prior"}),
    (in_agent("SCENARIO s { EXPECT { a } WITHIN x }"), "parse.quantity", {"quantity": "ticks"}),
    (in_agent("SCENARIO s { EXPECT { a } WITHIN 1.5 }"), "parse.quantity", {"quantity": "ticks"}),
    (in_agent("GOAL { WEIGHT x }"), "parse.quantity", {"quantity": "weight"}),
    (in_plan('JUDGE { a: NOUL "q" ABSTAIN BELOW x }'), "parse.quantity", {"quantity": "abstention"}),
    (in_agent("PLAN p PRIORITY x { }"), "parse.quantity", {"quantity": "priority"}),
    (in_plan("LOOP MAX x { }"), "parse.quantity", {"quantity": "count"}),
    (in_plan("LOOP MAX 2.5 { }"), "parse.quantity", {"quantity": "count"}),
    (in_plan("RETRY 1 FROM END"), "parse.expected", {"wanted": "START", "found": "IDENT END"}),
    # PER-4
    (in_agent("SCENARIO s { FOO }"), "parse.scenario_clause", {"found": "IDENT FOO"}),
    (in_agent("SCENARIO s { EXPECT FOO x }"), "parse.assertion", {"word": "FOO"}),
    (in_agent("SCENARIO s { EXPECT NEVER BLOCKED x }"), "parse.assertion", {"word": "NEVER BLOCKED"}),
    (in_agent("SCENARIO s { EXPECT 3 }"), "parse.assertion", {"word": "3"}),
    (in_agent("SCENARIO s { GIVEN { a 1 } }"), "parse.no_expectation", {"scenario": "s"}),
    # PER-5
    (in_plan('JUDGE { a: FOO "q" }'), "parse.judge_kind", {"field": "a", "found": "IDENT FOO"}),
    (in_plan("JUDGE { a: NOUL q }"), "parse.judge_question", {"field": "a", "kind": "NOUL"}),
    (in_plan('JUDGE { a: CHOICE "q" { b: c } }'), "parse.judge_option", {"option": "b", "field": "a"}),
    (in_plan('JUDGE { a: SCORE "q" [ c ] }'), "parse.judge_levels", {"field": "a"}),
    (in_plan('JUDGE { a: SCORE "q" { "c" } }'), "parse.judge_levels", {"field": "a"}),
    (in_plan('JUDGE { a: NOUL "q" a: NOUL "r" }'), "parse.judge_duplicate", {"field": "a"}),
    # PER-6
    (in_agent("OBSERVE logs EVERY 5s"), "parse.every", {}),
    (in_agent("OBSERVE { logs EVERY 5s }"), "parse.every", {}),
    (in_agent("OBSERVE { logs WHEN a EVERY 5s }"), "parse.every", {}),
]


@pytest.mark.parametrize(
    ("text", "code", "values"), REFUSED, ids=[f"{one[1]}-{n}" for n, one in enumerate(REFUSED)]
)
@pytest.mark.parametrize("language", ["fr", "en"])
def test_each_refusal_has_its_message(text: str, code: str, values: dict[str, str], language: str) -> None:
    """`PER-2` to `PER-6`: code, named values, and a text that names place, find and way out."""
    set_language(language)
    error = refused(text)
    assert error.code == code
    assert {name: error.values[name] for name in values} == values
    told = str(error)
    assert told.startswith("<source>:1: ")
    assert not re.search(r"\{\w", told), told  # no value of a template is left unfilled
    for value in values.values():
        if "quantity" not in values:
            assert value.split(" ", 1)[-1].removeprefix("EOF") in told


def test_the_text_has_file_line_and_column() -> None:
    """`PER-2`: `{filename}:{line}: message`, and the message names the column."""
    with pytest.raises(ParseError) as caught:
        parse_source("AGENT a {\n  PLAN p {\n    SET 3\n  }\n}", "farm.agent")
    error = caught.value
    assert (error.filename, error.line, error.column) == ("farm.agent", 3, 9)
    assert str(error).startswith("farm.agent:3: ")
    assert "9" in str(error)


def test_context_is_the_line_and_a_caret() -> None:
    """`PER-2`: a tab before the place stays a tab under it."""
    error = refused("AGENT a {\n\tPLAN p { SET 3 }\n}")
    assert error.context() == "\tPLAN p { SET 3 }\n\t             ^"
    assert refused("x").context() == ""


def test_what_could_stand_there_is_listed() -> None:
    """`PER-3`: tokens as written, kinds in capitals, whole classes by their name."""
    assert refused(in_agent("POLICY { MAYBE x }")).expected == (
        "ALLOW",
        "DEFAULT",
        "DENY",
        "NEVER",
        "REQUIRE",
        "}",
    )
    assert refused(in_agent("PLAN {")).expected == ("‹name›",)
    assert refused(in_plan("SET x = }")).expected == ("‹expr›",)
    assert set(refused(in_plan("3")).expected) == {"STEP", "}", "‹stmt›"}
    assert set(refused(in_plan("IF x y")).expected) == {"(", ".", "THEN", "‹operator›"}


def test_a_source_without_agent_has_no_prefix() -> None:
    """`PER-2`: the one message without a place."""
    for text in ("", "# nothing", "x = 1"):
        error = refused(text)
        assert error.code == "parse.no_agent"
        assert not str(error).startswith("<source>:")
        assert "AGENT" in str(error)


def test_every_is_named_and_replaced() -> None:
    """`PER-6`."""
    told = str(refused(in_agent("OBSERVE logs EVERY 5s")))
    assert "EVERY" in told
    assert "OBSERVE { logs WHEN <condition> }" in told


def test_a_source_beyond_the_limit_is_refused() -> None:
    """`PER-7`: bytes are counted, not characters."""
    comment = "#" + "é" * (MAX_SOURCE_BYTES // 2)
    error = refused(f"AGENT a {{ }} {comment}")
    assert (error.code, error.values["limit"]) == ("parse.too_large", MAX_SOURCE_BYTES)
    assert error.values["size"] > MAX_SOURCE_BYTES
    parse_source("AGENT a { } #" + "x" * (MAX_SOURCE_BYTES - 13))


NESTED = [
    in_plan("x = " + "(" * 65_536),
    in_plan("x = " + "[" * 300 + "]" * 300),
    in_plan("x = " + "-" * 300 + "1"),
    in_plan("x = " + "NOT " * 300 + "a"),
    in_plan("x = " + " + ".join("a" * 5000)),
    in_plan("IF a THEN " * 300 + "b"),
    in_plan("IF a THEN { " * 150 + "b" + " }" * 150 + " IF a THEN b ELSE" * 300 + " b"),
    in_agent("HYPOTHESIS h { EVIDENCE { " + "a + " * 5000 + "1 } }"),
    "{" * 1000 + "AGENT",
]


@pytest.mark.parametrize("text", NESTED, ids=range(len(NESTED)))
def test_nesting_beyond_the_limit_is_refused(text: str) -> None:
    """`PER-7`: by its number, never by an exhausted stack."""
    error = refused(text)
    assert error.code == "parse.too_deep"
    assert error.values["depth"] > error.values["limit"] == MAX_NESTING


def test_nesting_up_to_the_limit_is_taken() -> None:
    """`PER-7`."""
    depth = MAX_NESTING - 2  # the agent and the plan open two
    parse_source(in_plan("x = " + "(" * depth + "a" + ")" * depth))
    parse_source(in_plan("x = " + " + ".join("a" * (MAX_NESTING - 1))))  # the SET is one more


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    """`PER-1`: a package error, whatever the system says."""
    for path in (tmp_path / "missing.agent", tmp_path):
        with pytest.raises(AgentLError) as caught:
            parse_file(path)
        assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("data", "code", "line"),
    [
        (b"AGENT a { }\n\xff", "lex.encoding", 2),
        (b"\xff\xfeA\x00", "lex.encoding", 1),
        (b"AGENT a { }\x00", "lex.character", 1),
        (b"AGENT a {\r\n FOO\r\n}", "parse.section_unknown", 2),
        (b"#" * (MAX_SOURCE_BYTES + 1), "parse.too_large", 1),
    ],
)
def test_files_of_odd_bytes(tmp_path: Path, data: bytes, code: str, line: int) -> None:
    """`PER-1`, `PER-7`, `LEX-1`."""
    path = tmp_path / "odd.agent"
    path.write_bytes(data)
    with pytest.raises(AgentLError) as caught:
        parse_file(path)
    assert caught.value.code == code
    assert str(caught.value).startswith(f"{path}:{line}: ")


def test_a_byte_order_mark_and_windows_line_ends_are_taken(tmp_path: Path) -> None:
    """`LEX-1`."""
    path = tmp_path / "bom.agent"
    path.write_bytes('\ufeffAGENT a {\r\n  VERSION "1"\r\n}\r\n'.encode())
    assert parse_file(path).agents[0].version == "1"
    assert parse_source("\ufeffAGENT a { }").agents[0].name == "a"


@pytest.mark.parametrize("text", ['AGENT a { VERSION "\ud800" }', "\udfff", "AGENT a { } # \ud800"])
def test_lone_surrogates_are_refused(text: str) -> None:
    """`PER-1`, `LEX-12`: they are no text, in a string or a comment either."""
    with pytest.raises(LexError) as caught:
        parse_source(text)
    assert caught.value.code == "lex.character"
    str(caught.value).encode()
    caught.value.context().encode()


def test_errors_survive_a_copy() -> None:
    """`MSG-5`: an error that travels between processes keeps its place and its values."""
    error = refused(in_agent("FOO"))
    for other in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert (str(other), other.line, other.column, other.expected) == (
            str(error),
            error.line,
            error.column,
            error.expected,
        )
