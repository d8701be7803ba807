"""Every error of ``check``: a program that has it, and its neighbour that has not (CHK-E001 to CHK-E024)."""

from __future__ import annotations

import pytest

from agentl.analysis import Analyzer, Diagnostic, check_program
from agentl.catalogue import CATALOGUE
from agentl.language.parser import parse_source
from agentl.messages import set_language

BASE = """
  TOOL { ping }
  TOOL open { INPUT { zone: Symbol, minutes: Int } OUTPUT { state: Symbol } EFFECT { valve.state = opened } }
  TOOL verify_it { INPUT { proof: Text ATTESTS zone, zone: Text } }
  OBSERVE { soil.moisture }
  BELIEF { tank.level = 1 }
  MEMORY { SHARED { board } LONG_TERM { notes } }
  PLAN water { ping() }
"""


def found(text: str) -> list[Diagnostic]:
    return check_program(parse_source(text))


def codes(members: str, base: str = BASE) -> list[str]:
    return [one.code for one in found(f"AGENT a {{ {base} {members} }}")]


def in_plan(text: str) -> str:
    return f"PLAN p {{ {text} }}"


# code → (programs with exactly that error, programs without any)
CASES: dict[str, tuple[list[str], list[str]]] = {
    "E001": (
        [in_plan("pong()"), in_plan("len(x)"), "LOOP { pong() }"],
        [in_plan("ping()"), "LOOP { ping() }"],
    ),
    "E002": (
        [in_plan("THEN other"), in_plan("other"), "DECIDE { IF 1 == 1 THEN other }"],
        [in_plan("THEN water"), in_plan("water"), "DECIDE { IF 1 == 1 THEN water }"],
    ),
    "E003": (
        ["POLICY { DEFAULT DENY ALLOW pong }", "POLICY { DEFAULT DENY NEVER soil.moisture }"],
        [
            "POLICY { DEFAULT DENY ALLOW * NEVER ping }",
            "POLICY { DEFAULT DENY ALLOW helper } " + in_plan("DELEGATE helper { }"),
        ],
    ),
    "E004": (
        [
            "TOOL { ping }",
            "PLAN water { }",
            "GOAL { } GOAL { }",
            "SCENARIO s { EXPECT NO ERROR } SCENARIO s { EXPECT NO ERROR }",
        ],
        ["GOAL g { } GOAL h { }", "GOAL water { }"],
    ),
    "E005": (["EVENT e { }", "EVENT e { WHEN 1 == 1 }"], ["EVENT e { ping() }"]),
    "E006": (
        [
            "HYPOTHESIS h { EVIDENCE { tank.level > 1 LIKELIHOOD 1 } }",
            "HYPOTHESIS h { EVIDENCE { tank.level > 1 GIVEN_NOT 0 } }",
            "HYPOTHESIS h { EVIDENCE { tank.level > 1 LIKELIHOOD 120% } }",
        ],
        ["HYPOTHESIS h { EVIDENCE { tank.level > 1 LIKELIHOOD 0.99 GIVEN_NOT 0.01 } }"],
    ),
    "E007": (
        [in_plan("MESSAGE m { }"), in_plan("MESSAGE m { TO nobody }")],
        [in_plan("MESSAGE m { TO A }"), in_plan("MESSAGE m { BROADCAST }")],
    ),
    "E008": (
        ["MEMORY { WRITE { INTO SHARED.board } }", "MEMORY { SHARED { board } WRITE { INTO SHARED.other } }"],
        [
            "MEMORY { SHARED { board } WRITE { INTO SHARED.board } }",
            "MEMORY { WRITE { INTO LONG_TERM.any } }",
        ],
    ),
    "E009": (
        [
            in_plan("x = ping()"),
            in_plan("open(zone: n, minutes: ping())"),
            "POLICY { DEFAULT DENY ALLOW ping IF ping() }",
            "LOOP UNTIL ping() { ping() }",
            "GOAL { TARGET { [ping()] } }",
            "OBSERVE x WHEN ping()",
            "EVENT e { WHEN ping() ping() }",
            "ON MESSAGE m { WHEN ping() ping() }",
            "MEMORY { WRITE { WHEN ping() } }",
            "HYPOTHESIS h { EVIDENCE { ping() } }",
            "PLAN p WHEN ping() { }",
        ],
        [in_plan("x = len(notes)")],
    ),
    "E010": (["SCENARIO s { EXPECT NO ERROR WITHIN 0 }"], ["SCENARIO s { EXPECT NO ERROR WITHIN 1 }"]),
    "E011": (["TOOL t { RISK unset }"], ["TOOL t { RISK CRITICAL }"]),
    "E013": (
        [
            in_plan("open(n, 5, 6)"),
            in_plan("open(n, zone: n, minutes: 5)"),
            in_plan("open(n, 5, hours: 1)"),
            in_plan("open(n)"),
            in_plan("open()"),
        ],
        [in_plan("open(n, 5)"), in_plan("open(n, minutes: 5)"), in_plan("ping(1, x: 2)")],
    ),
    "E014": (
        [
            "SCENARIO s { EXPECT CALL pong }",
            "SCENARIO s { EXPECT NEVER CALL pong }",
            "SCENARIO s { EXPECT BLOCKED pong }",
            "SCENARIO s { EXPECT EVENT e }",
        ],
        [
            "EVENT e { ping() } SCENARIO s { EXPECT EVENT e EXPECT CALL ping EXPECT NO ERROR }",
            "SCENARIO s { EXPECT BLOCKED ping EXPECT NEVER CALL open }",
        ],
    ),
    "E015": (
        [in_plan("x = pong(1)"), in_plan("IF f(notes) > 1 THEN ping()")],
        [
            in_plan("x = len(notes) + abs(1) + min(1) + max(1) + round(1)"),
            in_plan("x = CONFIDENCE(notes) + UNCERTAINTY(notes) + P(h) + PROBABILITY(h) + POSTERIOR(h)"),
        ],
    ),
    "E016": (
        [
            in_plan("x = UNTRUSTED(1)"),
            in_plan("x = UNTRUSTED()"),
            in_plan("x = TRUSTED(action)"),
            in_plan("x = ORIGIN(a.b, ping)"),
            in_plan("x = LLM_DERIVED(value: a.b)"),
            "POLICY { DEFAULT DENY NEVER open IF ATTESTED(action) }",
            "POLICY { DEFAULT DENY NEVER open IF ATTESTED(zone, pong) }",
            "POLICY { DEFAULT DENY NEVER open IF ATTESTED(zone, verify_it, ping) }",
        ],
        [
            "POLICY { DEFAULT DENY NEVER open IF UNTRUSTED(action) OR NOT ATTESTED(zone, verify_it) }",
            in_plan("x = ATTESTED(a.b)"),
        ],
    ),
    "E017": (
        [
            in_plan("SET tools.x 1"),
            in_plan("SET goal 1"),
            "TOOL t { EFFECT { planner.x = 1 } }",
            "TOOL t { OUTCOME o { action.x = 1 } }",
            "TOOL t { OUTPUT { result } }",
            in_plan("REASON { PRODUCE { payload } }"),
            in_plan('JUDGE { event: NOUL "q" }'),
            "BELIEF { judge.x = 1 }",
            "OBSERVE sensors.x",
            in_plan("FOREACH message IN notes { }"),
            "TOOL { delegate }",
            "HYPOTHESIS h { } " + in_plan("SET h.posterior 1"),
            "HYPOTHESIS h { } " + in_plan("SET hypothesis.h.prior 1"),
            in_plan("SET hypotheses.best 1"),
        ],
        [
            in_plan("SET tool.x 1"),
            in_plan("SET h.posterior 1"),
            "HYPOTHESIS h { } " + in_plan("SET h.other 1"),
        ],
    ),
    "E018": (
        [
            in_plan("FOREACH soil IN notes { }"),
            "TOOL { tank }",
            in_plan("DELEGATE soil { }"),
        ],
        [in_plan("FOREACH moisture IN notes { }")],
    ),
    "E019": (
        [in_plan("SET soil.moisture 1"), in_plan("soil = 1"), in_plan("SET soil.moisture.x 1")],
        [in_plan("SET soil.moist 1"), in_plan("SET tank.level 1"), in_plan("SET soil_moisture 1")],
    ),
    "E020": (
        [
            'TOOL { "two words" }',
            'PLAN "é-è" { }',
            'PLAN "ﬁx" { }',
            in_plan('DELEGATE "1x" { }'),
            'TOOL { "рing" }',
            "PLAN waler { } PLAN wa1er { }",
        ],
        ['PLAN "café" { }', "PLAN WHEN { }", "PLAN ping2 { }", in_plan("DELEGATE ping { }")],
    ),
    "E021": (
        [in_plan("OBSERVE"), "EVENT e { SELECT_PLAN }", "ON VERIFY.FAIL { VERIFY }"],
        ["LOOP { OBSERVE IF 1 == 1 THEN { VERIFY } }"],
    ),
    "E022": (
        [
            in_plan('JUDGE { q: NOUL " " }'),
            in_plan('JUDGE { q: CHOICE "q" { x: "d" } }'),
            in_plan('JUDGE { q: CHOICE "q" { x: "d", y: "" } }'),
            in_plan('JUDGE { q: SCORE "q" ["l"] }'),
            in_plan('JUDGE { q: SCORE "q" ["l", " "] }'),
            in_plan('JUDGE { q: NOUL "q" ABSTAIN BELOW 0 }'),
            in_plan('JUDGE { q: NOUL "q" ABSTAIN BELOW 1.5 }'),
        ],
        [
            in_plan('JUDGE { q: NOUL "q" ABSTAIN BELOW 1 }'),
            in_plan('JUDGE { q: CHOICE "q" { x: "d", y: "e" } r: SCORE "r" ["l", "m"] }'),
        ],
    ),
    "E023": (
        [
            in_plan("IF urgnt THEN ping()"),
            in_plan("VERIFY NOT urgnt"),
            in_plan("LOOP UNTIL 1 == 1 OR urgnt { }"),
            "POLICY { DEFAULT DENY ALLOW open IF hours AND minutes > 1 }",
            "POLICY { DEFAULT DENY ALLOW ping IF minutes }",
            "GOAL { urgnt }",
            "SCENARIO s { EXPECT { urgnt } }",
            "LOOP UNTIL urgnt { ping() }",
            "TOOL t { REQUIRES urgnt }",
        ],
        [
            "POLICY { DEFAULT DENY ALLOW open IF minutes }",
            "POLICY { DEFAULT DENY ALLOW * IF minutes }",
            in_plan("SET urgnt 1 IF urgnt THEN ping()"),
            in_plan("IF state AND notes AND answer THEN ping()"),
            in_plan("IF soil.moistur THEN ping()"),
            in_plan("IF urgnt == yes THEN ping()"),
            in_plan("FOREACH one IN notes { IF one THEN ping() }"),
        ],
    ),
    "E024": (["POLICY { ALLOW * }"], ["POLICY { ALLOW * } POLICY { DEFAULT DENY }", ""]),
}
POSITIVE = [(code, text) for code, (wrong, _) in CASES.items() for text in wrong]
NEGATIVE = [(code, text) for code, (_, right) in CASES.items() for text in right]


@pytest.mark.parametrize(("code", "text"), POSITIVE, ids=[f"{code}: {text}" for code, text in POSITIVE])
def test_a_program_with_the_error(code: str, text: str) -> None:
    """`CHK-E001` to `CHK-E024`: that error, once, and no other."""
    assert codes(text) == [code]


@pytest.mark.parametrize(("code", "text"), NEGATIVE, ids=[f"{code}: {text}" for code, text in NEGATIVE])
def test_a_program_without_the_error(code: str, text: str) -> None:
    """`CHK-E001` to `CHK-E024`: no diagnostic at all."""
    assert codes(text) == []


def test_every_error_is_covered() -> None:
    """`CHK-1`: E001 to E024, each with its wording."""
    every = {f"E{number:03}" for number in range(1, 25)}
    assert set(CASES) | {"E012"} == every
    assert {
        code.removeprefix("chk.") for code in CATALOGUE if code.startswith("chk.E") and "_" not in code
    } == every


def test_e012_agents_of_one_name() -> None:
    """`CHK-E012`: ignoring case."""
    assert [one.code for one in found("AGENT a { } AGENT A { }")] == ["E012"]
    assert found("AGENT a { } AGENT b { }") == []


def test_e007_addressees_ignore_case() -> None:
    """`CHK-E007`."""
    text = "AGENT one { PLAN p { MESSAGE m { TO TWO } } } AGENT two { }"
    assert found(text) == []


def test_e020_between_agents() -> None:
    """`CHK-E020`: confusable with a name of another agent; the same name twice is not."""
    assert [one.code for one in found('AGENT a { TOOL { scope } } AGENT b { TOOL { "ѕсоре" } }')] == ["E020"]
    assert found("AGENT a { TOOL { scope } } AGENT b { TOOL { scope } }") == []


def test_e023_knows_what_other_agents_send() -> None:
    """`CHK-E023`, `TRI-7`: a payload name of a MESSAGE of the program can be bound."""
    text = (
        "AGENT a { PLAN p { MESSAGE m { TO b PAYLOAD { urgent: 1 } } } }"
        " AGENT b { TOOL { ping } ON MESSAGE m { WHEN urgent ping() } }"
    )
    program = parse_source(text)
    assert check_program(program) == []
    assert Analyzer(program.agents[1], program).run() == []
    assert [one.code for one in Analyzer(program.agents[1]).run()] == ["E023"]


def test_e004_has_a_line_for_scenarios_only() -> None:
    """`CHK-E004`."""
    lines = [one.line for one in found("AGENT a {\nTOOL { t }\nTOOL { t } }")]
    assert lines == [0]
    text = "AGENT a {\nSCENARIO s { EXPECT NO ERROR }\nSCENARIO s { EXPECT NO ERROR } }"
    assert [one.line for one in found(text)] == [3]


def test_e004_three_of_a_name_are_one_error() -> None:
    """`CHK-E004`."""
    assert codes("TOOL { ping } TOOL { ping }") == ["E004"]


def test_diagnostics_name_their_elements_and_their_line() -> None:
    """`CHK-1`: `Diagnostic(code, severity, message, line)`."""
    (one,) = found("AGENT a {\n  PLAN p {\n    pong()\n  }\n}")
    assert (one.code, one.severity, one.line) == ("E001", "error", 3)
    assert "pong" in one.message
    assert Diagnostic(one.code, one.severity, one.message, one.line) == one


@pytest.mark.parametrize(
    ("language", "mark", "line"), [("fr", "erreur ", "ligne 3"), ("en", "error  ", "line 3")]
)
def test_how_a_diagnostic_is_printed(language: str, mark: str, line: str) -> None:
    """`CHK-1`: mark in seven columns, code, two spaces, line padded to ten, a space, message."""
    set_language(language)
    (one,) = found("AGENT a {\n  PLAN p {\n    pong()\n  }\n}")
    assert str(one) == f"{mark}E001  {line:<10} {one.message}"
    assert str(Diagnostic("E004", "error", "x")) == f"{mark}E004  {'—':<10} x"


def test_diagnostics_come_in_the_order_of_the_source() -> None:
    """`CHK-1`: the same program gives the same list, from the top down."""
    text = "AGENT a {\nPLAN p { THEN zzz }\nPLAN q { pong() }\nPLAN r { THEN yyy } PLAN r { } }"
    assert [(one.line, one.code) for one in found(text)] == [
        (0, "E004"),
        (2, "E002"),
        (3, "E001"),
        (4, "E002"),
    ]
    assert found(text) == found(text)
