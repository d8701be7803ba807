"""The hint beside a parse error: what most likely went wrong, for the mistakes of beginners (`PER-3`)."""

from __future__ import annotations

import pytest

from agentl import ParseError, parse_source
from agentl.errors import SourceError
from agentl.messages import speaking


def refused(text: str) -> SourceError:
    with pytest.raises(SourceError) as caught:
        parse_source(text, "x.agent")
    return caught.value


def in_plan(text: str) -> str:
    return "AGENT a {\n PLAN p { " + text + " }\n}"


OPEN = "parse.hint.open"
CAPITALS = "parse.hint.capitals"
RESERVED = "parse.hint.reserved"
MISTAKES = [
    ("AGENT a {\n PLAN p {\n  t()\n", OPEN, {"open_line": 2, "construct": "PLAN p", "closer": "}"}),
    ("AGENT a {\n TOOL t {\n  INPUT { x: Int\n  RISK LOW\n }\n POLICY { }\n}", OPEN, {"open_line": 2}),
    ("AGENT a {\n PLAN p {\n  STEP s { t()\n }\n POLICY { }\n}", OPEN, {"open_line": 2}),
    ("AGENT a {\n TOOL t { RISK LOW }\nAGENT b { }", OPEN, {"open_line": 1, "construct": "AGENT a"}),
    ("AGENT a {\n GOAL g { x == (1", OPEN, {"opener": "(", "closer": ")"}),
    ("AGENT a {\n PLAN p { t() } }\n}", "parse.hint.surplus", {}),
    (in_plan("t(1, 2"), "parse.hint.crossed", {"opener": "(", "closer": ")"}),
    ("AGENT a { PLAN p WHEN x IN [1, 2 { t() } }", "parse.hint.crossed", {"closer": "]"}),
    ("agent a { }", CAPITALS, {"keyword": "AGENT"}),
    ("AGENT a { policy { } }", CAPITALS, {"word": "policy", "keyword": "POLICY"}),
    ("AGENT a { Tool t { } }", CAPITALS, {"keyword": "TOOL"}),
    ("AGENT a { PLAN p when x == 1 { } }", CAPITALS, {"keyword": "WHEN"}),
    (in_plan("if x == 1 then t()"), CAPITALS, {"word": "if", "keyword": "IF"}),
    ("AGENT a { PLANS { } }", "parse.hint.close", {"keyword": "PLAN"}),
    ("AGENT a { TOOL t { INPUTS { } } }", "parse.hint.close", {"keyword": "INPUT"}),
    ("AGENT a { PLAN p WHEN x.y = 1 { } }", "parse.hint.equals", {}),
    (in_plan("IF x = 1 THEN t()"), "parse.hint.equals", {}),
    ("AGENT a { PLAN p WHEN 1 < x < 3 { } }", "parse.hint.chained", {}),
    (in_plan("SEND(1)"), RESERVED, {"word": "SEND", "lower": "send"}),
    (in_plan("SET VALUE = 3"), RESERVED, {"word": "VALUE"}),
    (in_plan("t(TO: 3)"), RESERVED, {"word": "TO"}),
    ("AGENT a { OBSERVE { TASK.state } }", RESERVED, {"word": "TASK"}),
    ("AGENT a { MEMORY { WRITE { STORE a.b, c.d INTO k } } }", "parse.hint.braces", {"keyword": "STORE"}),
    ("AGENT a { TOOL t { SIDE_EFFECT a, b } }", "parse.hint.braces", {"keyword": "SIDE_EFFECT"}),
    (in_plan("REASON { USING a.b, c.d }"), "parse.hint.braces", {"keyword": "USING"}),
    (in_plan("IF x.y == 1 { t() }"), "parse.hint.then", {}),
    (in_plan("VERIFY { x == 1 } ON FAIL { ESCALATE }"), "parse.hint.on_fail", {}),
    ("AGENT a { LOOP MAX 3 UNTIL x == 1 { } }", "parse.hint.loop", {}),
    ("AGENT a { TOOL t { DURATION 5 min } }", "parse.hint.unit", {}),
    ("AGENT a { DESCRIPTION 'hello' }", "lex.hint.quotes", {}),
    ("AGENT a { DESCRIPTION “hello” }", "lex.hint.quotes", {}),
    (in_plan("t(1); u(2)"), "lex.hint.semicolon", {}),
    ("AGENT a { PLAN p WHEN x && y { } }", "lex.hint.and", {}),
    ("AGENT a { PLAN p WHEN x || y { } }", "lex.hint.or", {}),
    ("AGENT a { PLAN p WHEN !x { } }", "lex.hint.not", {}),
    ("AGENT a { PLAN p WHEN x <> 1 { } }", "lex.hint.not", {}),
    ("AGENT a { BELIEF { x = 5 % } }", "lex.hint.percent", {}),
    ("AGENT caf\u00e9 { }", "lex.hint.name", {}),
]


@pytest.mark.parametrize(("text", "hint", "values"), MISTAKES, ids=[f"m{n}" for n in range(len(MISTAKES))])
def test_a_mistake_is_named(text: str, hint: str, values: dict[str, object]) -> None:
    """`PER-3`: the message goes on with what to do, in both languages, and names the place that matters."""
    error = refused(text)
    assert error.values["hint"] == hint
    assert {name: error.values[name] for name in values} == values
    told = []
    for language in ("fr", "en"):
        with speaking(language):
            told.append(str(error))
        assert " — " in told[-1]
        assert "parse.hint" not in told[-1]
    assert told[0] != told[1]


def test_the_end_of_the_file_names_the_open_brace() -> None:
    """`PER-3`: an unclosed brace is told by its own line and column, not by the end of the file alone."""
    with speaking("en"):
        told = str(refused("AGENT a {\n PLAN p {\n  t()\n"))
    assert "line 2, column 9 (PLAN p)" in told
    assert "the end of the file" in told


def test_a_long_line_is_shown_around_the_place() -> None:
    """`PER-2`: the caret stands under the character, however far into the line it is."""
    error = refused("AGENT a { " + "GOAL g { x == 1 } " * 400 + " ; " + "GOAL g { x == 1 } " * 400)
    line, caret = error.context().splitlines()
    assert len(line) <= 130
    assert line[len(caret) - 1] == ";"
    assert line.startswith("…")


def test_tokens_are_named_in_the_language() -> None:
    """`PER-3`, `MSG-5`: people read words, programs read kind and value."""
    error = refused(in_plan("IF x y"))
    assert isinstance(error, ParseError)
    assert (error.values["found"], error.values["wanted"]) == ("IDENT y", "KW THEN")
    with speaking("fr"):
        assert "THEN attendu ; trouvé : le nom `y`" in str(error)
    with speaking("en"):
        assert "THEN expected, the name `y` found" in str(error)
