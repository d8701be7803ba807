"""The grammar, clause by clause: a text and the tree it builds (GRM-1 to GRM-28, AST-1 to AST-6)."""

from __future__ import annotations

from typing import Any

import pytest

from agentl.errors import ParseError
from agentl.language.digest import tree_row
from agentl.language.nodes import (
    Agent,
    AskStmt,
    BeliefDecl,
    BinOp,
    CallExpr,
    CallStmt,
    ControlStmt,
    Decide,
    DelegateStmt,
    Domain,
    Effect,
    EventHandler,
    EvidenceItem,
    ForEachStmt,
    Goal,
    Hypothesis,
    IfStmt,
    JudgeStmt,
    ListExpr,
    Literal,
    LoopSpec,
    LoopStmt,
    MemorySpec,
    MemoryWrite,
    MessageHandler,
    MessageStmt,
    Observer,
    Outcome,
    PathExpr,
    Plan,
    PlannerSpec,
    PolicyRule,
    Program,
    Question,
    ReasonStmt,
    Redaction,
    Scenario,
    ScenarioAssertion,
    ScenarioStimulus,
    SetStmt,
    Step,
    ThenPlan,
    ToolDecl,
    UnOp,
    UtilityTerm,
    VerifyStmt,
)
from agentl.language.parser import parse_source
from agentl.values import Symbol


def agent(text: str) -> Agent:
    return parse_source(f"AGENT a {{ {text} }}").agents[0]


def body(text: str) -> tuple[Any, ...]:
    return agent(f"PLAN p {{ {text} }}").plans[0].steps[0].body


def expr(text: str) -> Any:
    return agent(f"GOAL {{ MAINTAIN {text} }}").goals[0].condition


def same(found: Any, wanted: Any) -> None:
    """Equal without positions; a symbol is no string and 1 is no 1.0 here."""
    assert [(*part, type(part[-1])) for part in tree_row(found)] == [
        (*part, type(part[-1])) for part in tree_row(wanted)
    ]


def refused(text: str) -> None:
    with pytest.raises(ParseError):
        parse_source(text)


def path(text: str) -> PathExpr:
    return PathExpr(tuple(text.split(".")))


a, b, c, d, x, y = map(path, "abcdxy")
one, two, three = Literal(1), Literal(2), Literal(3)


def test_grm_1_names_and_paths() -> None:
    """`GRM-1`: a name is any word, a string or a number; a path begins with an identifier."""
    for written, name in (("p", "p"), ("WHEN", "WHEN"), ('"a b"', "a b"), ("12", "12"), ("1.50", "1.50")):
        assert agent(f"PLAN {written} {{ }}").plans[0].name == name
    same(expr("a.WHEN.b"), PathExpr(("a", "WHEN", "b")))
    same(expr('a."b c".1'), PathExpr(("a", "b c", "1")))
    same(expr("a.1.5"), PathExpr(("a", "1", "5")))
    assert expr("a.b.c").dotted == "a.b.c"
    assert agent("TOOL t { SIDE_EFFECT a.b }").tools[0].side_effects == ("a.b",)
    assert agent("TOOL t { SIDE_EFFECT { a b, c,, } }").tools[0].side_effects == ("a", "b", "c")
    assert agent("HYPOTHESIS h { PRIOR 80% THRESHOLD 1 }").hypotheses[0].prior == 0.8
    refused("AGENT a { GOAL { WHEN.a } }")


def test_grm_2_program() -> None:
    """`GRM-2`: one agent or more, commas between them optional."""
    assert [one.name for one in parse_source("AGENT a { } AGENT b { }, AGENT c { },,").agents] == [
        "a",
        "b",
        "c",
    ]
    same(parse_source("AGENT a { }"), Program((Agent("a"),)))
    refused("AGENT a { } }")


def test_grm_3_agent() -> None:
    """`GRM-3`: members in any order; some replace, the others accumulate."""
    same(agent(""), Agent("a"))
    assert agent("").version == "0.1"
    assert agent("VERSION 1.20").version == "1.20"
    assert agent("VERSION = 2024-05-01").version == "2024-05-01"
    assert agent('VERSION "1" DESCRIPTION: "d" VERSION: "2"').version == "2"
    twice = agent(
        "LOOP { x } LOOP { y } DECIDE { IF a THEN x } DECIDE { } PLANNER { MAX_DEPTH 1 } PLANNER { }"
        " UTILITY { a VALUE 1 } UTILITY { } MEMORY { k } MEMORY { } ON VERIFY.FAIL { x } ON VERIFY.FAIL { y }"
        " OBSERVE a OBSERVE b GOAL { } GOAL { }"
    )
    same(twice.loop, LoopSpec((ThenPlan("y"),)))
    same(twice.decide, Decide())
    same(twice.planner, PlannerSpec())
    same(twice.utility, ())
    same(twice.memory, MemorySpec())
    same(twice.on_verify_fail, (ThenPlan("y"),))
    assert [one.path for one in twice.observers] == ["a", "b"]
    assert len(twice.goals) == 2


def test_grm_4_goal() -> None:
    """`GRM-4`."""
    same(agent("GOAL { }").goals[0], Goal("main", "MAINTAIN", None, (), 1.0))
    same(
        agent("GOAL g { ACHIEVE: a == 1 WEIGHT 2 }").goals[0],
        Goal("g", "ACHIEVE", BinOp("==", a, one), (), 2),
    )
    same(agent("GOAL { a, b }").goals[0], Goal(condition=b))
    same(agent("GOAL { TARGET { a, b c } TARGET d }").goals[0], Goal(targets=(a, b, c, d)))
    same(agent("GOAL { WEIGHT 2 -a > 1 }").goals[0], Goal(condition=BinOp(">", UnOp("-", a), one), weight=2))


def test_grm_5_belief() -> None:
    """`GRM-5`: a value may follow without a separator, its sign and its parenthesis too."""
    same(
        agent("BELIEF { a = 1 b 2 c -3, d (1) }").beliefs,
        (
            BeliefDecl("a", one),
            BeliefDecl("b", two),
            BeliefDecl("c", UnOp("-", three)),
            BeliefDecl("d", one),
        ),
    )
    full = "BELIEF { a: 1 SOURCE = sensor UPDATED 2024-05-01 CONFIDENCE: 80% }"
    same(agent(full).beliefs[0], BeliefDecl("a", one, 0.8, "sensor", "2024-05-01"))
    assert (agent("BELIEF { a 1 }").beliefs[0].confidence, agent("BELIEF { a 1 }").beliefs[0].source) == (
        1.0,
        "declared",
    )
    same(agent("BELIEF { a (1 + 2) * 3 }").beliefs[0].value, BinOp("*", BinOp("+", one, two), three))
    same(agent("BELIEF { a b (c) }").beliefs[0].value, CallExpr("b", (c,)))


def test_grm_6_observe() -> None:
    """`GRM-6`: one entry bare, or several in braces; ON MESSAGE after a bare entry is a member."""
    same(agent("OBSERVE a.b").observers, (Observer("a.b"),))
    same(
        agent("OBSERVE { a WHEN x, b ON UNKNOWN ESCALATE c ON: UNKNOWN = DEGRADE: 1 WHEN: y }").observers,
        (Observer("a", x), Observer("b", None, "ESCALATE"), Observer("c", y, "DEGRADE", one)),
    )
    both = agent("OBSERVE a ON MESSAGE m { x }")
    same((both.observers, both.messages), ((Observer("a"),), (MessageHandler("m", None, (ThenPlan("x"),)),)))
    assert agent("OBSERVE a ON VERIFY.FAIL { x }").on_verify_fail


def test_grm_7_memory() -> None:
    """`GRM-7`."""
    same(
        agent("MEMORY { SHORT_TERM { a, b } LONG_TERM c d.e KNOWLEDGE x SHARED y }").memory,
        MemorySpec(("a", "b"), ("c", "d.e"), ("x",), ("y",)),
    )
    same(
        agent("MEMORY { WRITE { WHEN: a STORE { b, c } INTO: long_term.x.y } WRITE { } }").memory.writes,
        (MemoryWrite(a, ("b", "c"), "LONG_TERM", "x.y"), MemoryWrite(None, (), "LONG_TERM", "records")),
    )
    assert agent("MEMORY { WRITE { INTO SHARED.board } }").memory.writes[0].target == "SHARED.board"
    assert agent("MEMORY { WRITE { INTO KNOWLEDGE } }").memory.writes[0].target == "KNOWLEDGE.records"


def test_grm_8_tool_short() -> None:
    """`GRM-8`: a list of tools, a keyword may be a name."""
    same(
        agent('TOOL { ping, notify(to: Text, level) SEND(x) "odd"() }').tools,
        (
            ToolDecl("ping"),
            ToolDecl("notify", inputs=(("to", "Text"), ("level", "Any"))),
            ToolDecl("SEND", inputs=(("x", "Any"),)),
            ToolDecl("odd"),
        ),
    )


def test_grm_9_tool_full() -> None:
    """`GRM-9`."""
    same(agent("TOOL t { }").tools[0], ToolDecl("t", risk="LOW"))
    full = (
        'TOOL t { DESCRIPTION: "d" INPUT { p: Int BIND q.r, RISK s: Text ATTESTS p } OUTPUT { o: Text, n }'
        " SIDE_EFFECT { f } RISK: high REQUIRES { a } EFFECT { b = 1 INTERNAL, c 2 } COST 2.5 DURATION 5min"
        " OUTCOME good WITH 90% { b 1 } OUTCOME bad { } }"
    )
    tool = agent(full).tools[0]
    assert tool.inputs == (("p", "Int"), ("RISK", "Any"), ("s", "Text"))
    assert tool.bindings == (("p", "q.r"),)
    assert tool.attestations == (("s", "p"),)
    same(tool.effects, (Effect("b", one, True), Effect("c", two)))
    same(tool.outcomes, (Outcome("good", 0.9, (Effect("b", one),)), Outcome("bad", 1.0)))
    assert (tool.risk, tool.cost, tool.duration, tool.description) == ("HIGH", 2.5, 300.0, "d")
    assert agent("TOOL t { RISK { a LOW b: severe } }").tools[0].risk == "SEVERE"
    replaced = agent(
        "TOOL t { INPUT { a } INPUT { b } OUTPUT { a } OUTPUT { b } SIDE_EFFECT a SIDE_EFFECT b }"
    ).tools[0]
    assert (replaced.inputs, replaced.outputs, replaced.side_effects) == (
        (("b", "Any"),),
        (("b", "Any"),),
        ("b",),
    )
    refused("AGENT a { TOOL t { DURATION 5 } }")


def test_a_tool_knows_its_branches() -> None:
    """`AST-4`: outcome probabilities renormalised to 1; an EFFECT is one sure branch."""
    tool = agent("TOOL t { OUTCOME a WITH 1 { } OUTCOME b WITH 3 { } }").tools[0]
    assert [branch.probability for branch in tool.branches] == [0.25, 0.75]
    assert tool.is_operator
    assert tool.is_uncertain
    sure = agent("TOOL t { EFFECT { a 1 } }").tools[0]
    assert [branch.probability for branch in sure.branches] == [1.0]
    assert sure.is_operator
    assert not sure.is_uncertain
    plain = agent("TOOL t { }").tools[0]
    assert (plain.is_operator, plain.branches) == (False, ())


def test_grm_10_policy() -> None:
    """`GRM-10`: rules in order, the output prohibitions apart; blocks add up."""
    policy = agent(
        "POLICY { DEFAULT: deny NEVER SEND a.b, c,, d, NEVER t IF a DENY * WHEN: b ALLOW t.u"
        " REQUIRE APPROVAL FOR t BY ring IF c REQUIRE FOR * ALLOW * }"
    )
    assert policy.policy_default == "DENY"
    same(policy.redactions, (Redaction("a.b"), Redaction("c"), Redaction("d")))
    same(
        policy.policies,
        (
            PolicyRule("NEVER", "t", a),
            PolicyRule("DENY", "*", b),
            PolicyRule("ALLOW", "t.u"),
            PolicyRule("REQUIRE_APPROVAL", "t", c, "ring"),
            PolicyRule("REQUIRE_APPROVAL", "*"),
            PolicyRule("ALLOW", "*"),
        ),
    )
    ended = agent("POLICY { NEVER SEND a } TOOL { t, u }")
    assert ([one.path for one in ended.redactions], [one.name for one in ended.tools]) == (["a"], ["t", "u"])
    added = agent("POLICY { ALLOW a } POLICY { DEFAULT ALLOW DENY b }")
    assert [rule.effect for rule in added.policies] == ["ALLOW", "DENY"]
    assert (added.policy_default, added.has_policy) == ("ALLOW", True)
    assert (agent("POLICY { }").policy_default, agent("POLICY { }").has_policy) == (None, True)
    assert agent("").has_policy is False


def test_grm_11_plan() -> None:
    """`GRM-11`."""
    same(agent("PLAN p { }").plans[0], Plan("p", (Step("main"),), None, 0))
    same(agent("PLAN p { x, y }").plans[0], Plan("p", (Step("main", (ThenPlan("x"), ThenPlan("y"))),)))
    same(
        agent("PLAN p WHEN a PRIORITY -2 { STEP s: x y STEP t { x } STEP u, STEP v = }").plans[0],
        Plan(
            "p",
            (
                Step("s", (ThenPlan("x"), ThenPlan("y"))),
                Step("t", (ThenPlan("x"),)),
                Step("u"),
                Step("v"),
            ),
            a,
            -2,
        ),
    )
    assert agent("PLAN p PRIORITY: 3 WHEN: a { }").plans[0].priority == 3


def test_grm_12_handlers() -> None:
    """`GRM-12`."""
    same(
        agent("EVENT s.t { WHEN a THEN x, y }").events[0],
        EventHandler("s.t", a, (ThenPlan("x"), ThenPlan("y"))),
    )
    same(agent("ON MESSAGE m { y WHEN: b }").messages[0], MessageHandler("m", b, (ThenPlan("y"),)))
    same(agent("EVENT s { }").events[0], EventHandler("s"))


def test_grm_13_decide() -> None:
    """`GRM-13`."""
    same(
        agent('DECIDE { RULES { IF a THEN x, IF b THEN x ELSE y } IF c THEN y REASON { TASK "t" } }').decide,
        Decide(
            (
                IfStmt(a, (ThenPlan("x"),)),
                IfStmt(b, (ThenPlan("x"),), (ThenPlan("y"),)),
                IfStmt(c, (ThenPlan("y"),)),
            ),
            ReasonStmt("t"),
        ),
    )


def test_grm_14_hypothesis() -> None:
    """`GRM-14`: after an item that ends with a number a minus begins the next one."""
    same(agent("HYPOTHESIS h { }").hypotheses[0], Hypothesis("h", "", 0.10, 0.90))
    found = agent(
        'HYPOTHESIS h { DESCRIPTION "d" PRIOR FROM LONG_TERM.a.b WHERE x CONFIDENCE 0.3 THRESHOLD: 0.8'
        " MAX_EVIDENCE 6 PREDICT y EXPLAINS a.b = c"
        " EVIDENCE { a - 1 LIKELIHOOD 0.7 -b GIVEN_NOT 20% c GROUP g { a, b GIVEN_NOT 0.3 } } }"
    ).hypotheses[0]
    same(
        found,
        Hypothesis(
            "h",
            "d",
            0.3,
            0.8,
            (
                EvidenceItem(BinOp("-", a, one), 0.7, 0.10, "a - 1"),
                EvidenceItem(UnOp("-", b), 0.90, 0.2, "-b"),
                EvidenceItem(c, 0.90, 0.10, "c"),
                EvidenceItem(a, 0.90, 0.10, "a", "g"),
                EvidenceItem(b, 0.90, 0.3, "b", "g"),
            ),
            "LONG_TERM",
            "a.b",
            x,
            "a.b",
            c,
            6.0,
            y,
        ),
    )
    assert agent("HYPOTHESIS h { PRIOR FROM KNOWLEDGE }").hypotheses[0].prior_key == "records"


def test_grm_15_planner() -> None:
    """`GRM-15`: enabled even without ENABLE."""
    same(agent("PLANNER { }").planner, PlannerSpec(True, 4, 2000, 10.0, (), 1.0, None, 0.0))
    same(
        agent(
            "PLANNER { ENABLE ACHIEVE a ACHIEVE b MAX_DEPTH 6 MAX_NODES 9 APPROVAL_COST 5"
            " TARGET_CONFIDENCE 95% DEADLINE 1h TIME_WEIGHT 0.5 }"
        ).planner,
        PlannerSpec(True, 6, 9, 5.0, (a, b), 0.95, 3600.0, 0.5),
    )


def test_grm_16_utility() -> None:
    """`GRM-16`."""
    same(
        agent("UTILITY { a VALUE 1 -b VALUE -2, c VALUE: 0.5 }").utility,
        (UtilityTerm(a, 1), UtilityTerm(UnOp("-", b), -2), UtilityTerm(c, 0.5)),
    )


def test_grm_17_scenario() -> None:
    """`GRM-17`: assertion words in any case."""
    found = agent(
        "SCENARIO s { GIVEN { a 1 } GIVEN EVENT e.f { b = 2 } GIVEN MESSAGE m FROM x { } GIVEN MESSAGE n { }"
        " EXPECT { a, b } WITHIN 4 EXPECT CALL t EXPECT never call u EXPECT Blocked v"
        " EXPECT EVENT e.f EXPECT no error }"
    ).scenarios[0]
    same(
        found,
        Scenario(
            "s",
            (Effect("a", one),),
            (a, b),
            4,
            (
                ScenarioStimulus("EVENT", "e.f", (Effect("b", two),)),
                ScenarioStimulus("MESSAGE", "m", (), "x"),
                ScenarioStimulus("MESSAGE", "n", (), "scenario"),
            ),
            (
                ScenarioAssertion("CALL", "t"),
                ScenarioAssertion("NEVER CALL", "u"),
                ScenarioAssertion("BLOCKED", "v"),
                ScenarioAssertion("EVENT", "e.f"),
                ScenarioAssertion("NO ERROR"),
            ),
        ),
    )
    assert agent("SCENARIO s { EXPECT { a } }").scenarios[0].within == 1


def test_grm_18_agent_loop() -> None:
    """`GRM-18`: phases and statements; an absent MAX stays none."""
    phase = ControlStmt("PHASE", "OBSERVE")
    same(agent("LOOP { OBSERVE x }").loop, LoopSpec((phase, ThenPlan("x"))))
    same(agent("LOOP UNTIL a MAX 4 { OBSERVE, }").loop, LoopSpec((phase,), a, 4))
    assert agent("LOOP { }").loop == LoopSpec(line=1)
    refused("AGENT a { LOOP MAX 4 UNTIL a { } }")


def test_grm_19_blocks_and_branches() -> None:
    """`GRM-19`: an ELSE belongs to the nearest IF."""
    same(body("IF a THEN { x, y } ELSE y"), (IfStmt(a, (ThenPlan("x"), ThenPlan("y")), (ThenPlan("y"),)),))
    same(body("IF a THEN IF b THEN x ELSE y"), (IfStmt(a, (IfStmt(b, (ThenPlan("x"),), (ThenPlan("y"),)),)),))
    same(
        body("IF a THEN IF b THEN x ELSE y ELSE x"),
        (IfStmt(a, (IfStmt(b, (ThenPlan("x"),), (ThenPlan("y"),)),), (ThenPlan("x"),)),),
    )
    same(
        body("IF a THEN { IF b THEN x } ELSE y"),
        (IfStmt(a, (IfStmt(b, (ThenPlan("x"),)),), (ThenPlan("y"),)),),
    )
    same(
        body("IF a THEN x ELSE IF b THEN y"),
        (IfStmt(a, (ThenPlan("x"),), (IfStmt(b, (ThenPlan("y"),)),)),),
    )


STATEMENTS: list[tuple[str, Any]] = [
    ("f()", CallStmt(CallExpr("f"))),
    ("f.g(a, b: 1 c = 2)", CallStmt(CallExpr("f.g", (a,), (("b", one), ("c", two))))),
    ("f(a b)", CallStmt(CallExpr("f", (a, b)))),
    ("f(a,, b,)", CallStmt(CallExpr("f", (a, b)))),
    ("f(-1 -a)", CallStmt(CallExpr("f", (BinOp("-", UnOp("-", one), a),)))),
    ("f(1, -a)", CallStmt(CallExpr("f", (one, UnOp("-", a))))),
    ("SET x = 1", SetStmt("x", one)),
    ("SET x 1", SetStmt("x", one)),
    ("SET x -1", SetStmt("x", UnOp("-", one))),
    ("SET x: (a + 1) / 2", SetStmt("x", BinOp("/", BinOp("+", a, one), two))),
    ("SET x (a + 1) / 2", SetStmt("x", BinOp("/", BinOp("+", a, one), two))),
    ("SET x -a * 2 + 1", SetStmt("x", BinOp("+", BinOp("*", UnOp("-", a), two), one))),
    ("SET x -a > 1 AND b OR c", SetStmt("x", BinOp("OR", BinOp("AND", BinOp(">", UnOp("-", a), one), b), c))),
    ("x.y = a", SetStmt("x.y", a)),
    ("VERIFY a", VerifyStmt(a)),
    ('VERIFY "l" a', VerifyStmt(a, (), "l")),
    ('VERIFY "l" -a', VerifyStmt(UnOp("-", a), (), "l")),
    ('VERIFY "l" (a)', VerifyStmt(a, (), "l")),
    ("VERIFY { CONDITION: a ON FAIL: x }", VerifyStmt(a, (ThenPlan("x"),))),
    ("VERIFY { a ON FAIL { RETRY 1 } }", VerifyStmt(a, (ControlStmt("RETRY", 1),))),
    ("VERIFY NOT a", VerifyStmt(UnOp("NOT", a))),
    ("VERIFY CONFIDENCE(a) > 1", VerifyStmt(BinOp(">", CallExpr("CONFIDENCE", (a,)), one))),
    ("VERIFY SHARED.a", VerifyStmt(PathExpr(("SHARED", "a")))),
    ("VERIFY [a] == b", VerifyStmt(BinOp("==", ListExpr((a,)), b))),
    ("VERIFY (a)", VerifyStmt(a)),
    ("VERIFY -a", VerifyStmt(UnOp("-", a))),
    ("VERIFY 1", VerifyStmt(one)),
    ("VERIFY 5%", VerifyStmt(Literal(0.05))),
    ("VERIFY 5s", VerifyStmt(Literal(5.0))),
    ("VERIFY 2024-05-01", VerifyStmt(Literal("2024-05-01"))),
    ("VERIFY", ControlStmt("PHASE", "VERIFY")),
    ("VERIFY,", ControlStmt("PHASE", "VERIFY")),
    ('REASON "t" { }', ReasonStmt("t")),
    (
        'REASON { TASK: "t" USING a.b PRODUCE { p, q: Int IN [1, 2] DEFAULT 1 WHEN IN [x "s" 3] } }',
        ReasonStmt(
            "t",
            ("a.b",),
            (("p", "Any"), ("q", "Int"), ("WHEN", "Any")),
            (("q", Domain("RANGE", 1, 2)), ("WHEN", Domain("SET", values=(Symbol("x"), "s", 3)))),
            (("q", one),),
        ),
    ),
    (
        'ASK x { QUESTION "q" REASON HIGH TIMEOUT 5min DEFAULT: a }',
        AskStmt("x", "q", "HIGH", 300.0, a),
    ),
    ("ASK x { TIMEOUT 3 }", AskStmt("x", timeout=3.0)),
    ('DELEGATE x { TASK "t" INPUT a EXPECT { b, c.d } }', DelegateStmt("x", "t", ("a",), ("b", "c.d"))),
    (
        "MESSAGE m { TO y PAYLOAD { a 1 b: 2 WHEN = a } }",
        MessageStmt("m", "y", False, (("a", one), ("b", two), ("WHEN", a))),
    ),
    ("MESSAGE m { BROADCAST PAYLOAD { a -1 } }", MessageStmt("m", None, True, (("a", UnOp("-", one)),))),
    ("LOOP { x }", LoopStmt((ThenPlan("x"),), None, 100)),
    ("LOOP UNTIL a MAX 3 { }", LoopStmt((), a, 3)),
    ("FOREACH i IN a { x }", ForEachStmt("i", a, (ThenPlan("x"),), 200)),
    ("FOREACH i IN [1, 2] MAX 5 { }", ForEachStmt("i", ListExpr((one, two)), (), 5)),
    ("RETRY", ControlStmt("RETRY", 1)),
    ("RETRY 3 FROM START", ControlStmt("RETRY", 3, True)),
    ("RETRY FROM START", ControlStmt("RETRY", 1, True)),
    ("ROLLBACK", ControlStmt("ROLLBACK")),
    ("ESCALATE", ControlStmt("ESCALATE")),
    ("THEN x", ThenPlan("x")),
    ("THEN f()", CallStmt(CallExpr("f"))),
    ("x.y", ThenPlan("x.y")),
    ("SELECT_PLAN", ControlStmt("PHASE", "SELECT_PLAN")),
]


@pytest.mark.parametrize(("text", "wanted"), STATEMENTS, ids=[text for text, _ in STATEMENTS])
def test_grm_20_and_21_statements(text: str, wanted: Any) -> None:
    """`GRM-20`, `GRM-21`, `AST-3`: alone, and between two others."""
    same(body(text), (wanted,))
    before, after = ThenPlan("q"), SetStmt("z", one)
    if not text.endswith("VERIFY"):  # a phase word before an expression is a statement
        same(body(f"q {text} SET z 1"), (before, wanted, after))
    same(body(f"q, {text},, SET z 1"), (before, wanted, after))


def test_ast_6_judge() -> None:
    """`GRM-20`, `AST-6`: each question gives a field with its type and domain."""
    found = body(
        'JUDGE "t" { USING a q: NOUL "n?" ABSTAIN BELOW 70% DEFAULT: no r CHOICE "c?" { o: "O" "p q": "P" }'
        ' s = SCORE "s?" ["l", "m" "h"] }'
    )
    same(
        found,
        (
            JudgeStmt(
                "t",
                ("a",),
                (("q", "Bool"), ("r", "Symbol"), ("s", "Number")),
                (("r", Domain("SET", values=(Symbol("o"), Symbol("p q")))), ("s", Domain("RANGE", 0, 2))),
                (("q", path("no")),),
                (
                    Question("q", "NOUL", "n?", abstain_below=0.7),
                    Question("r", "CHOICE", "c?", (("o", "O"), ("p q", "P"))),
                    Question("s", "SCORE", "s?", (), ("l", "m", "h")),
                ),
            ),
        ),
    )
    assert (found[0].keyword, ReasonStmt().keyword) == ("JUDGE", "REASON")


def test_grm_22_call_is_noise() -> None:
    """`GRM-22`."""
    same(body("CALL f(x: 1)"), body("f(x: 1)"))
    same(body("CALL f.g(1)"), body("f.g(1)"))
    same(body("x = CALL f(1)"), body("x = f(1)"))
    same(body("CALL"), (ThenPlan("CALL"),))
    same(body("CALL x"), (ThenPlan("CALL"), ThenPlan("x")))
    same(body("CALL(1)"), (CallStmt(CallExpr("CALL", (one,))),))
    same(body("CALL((1))"), (CallStmt(CallExpr("CALL", (one,))),))
    same(expr("a.CALL"), PathExpr(("a", "CALL")))


@pytest.mark.parametrize(
    ("type_name", "text", "domain"),
    [
        ("Number", "[0, 1]", Domain("RANGE", 0, 1)),
        ("float", "[-1 0.5]", Domain("RANGE", -1, 0.5)),
        ("INT", "[10% 5s]", Domain("RANGE", 0.1, 5.0)),
        ("Int", "[1, 2, 3]", Domain("SET", values=(1, 2, 3))),
        ("Int", "[1, a]", Domain("SET", values=(1, Symbol("a")))),
        ("Text", "[1, 2]", Domain("SET", values=(1, 2))),
        ("Symbol", '[LOW, "x y", IN]', Domain("SET", values=(Symbol("LOW"), "x y", Symbol("IN")))),
        ("Any", "[]", Domain("SET")),
    ],
)
def test_grm_23_domains(type_name: str, text: str, domain: Domain) -> None:
    """`GRM-23`: two numbers bound a numeric field; a bare name is a symbol."""
    same(body(f"REASON {{ PRODUCE {{ f: {type_name} IN {text} }} }}")[0].domains, (("f", domain),))


EXPRESSIONS: list[tuple[str, Any]] = [
    ("a OR b AND c", BinOp("OR", a, BinOp("AND", b, c))),
    ("a OR b OR c", BinOp("OR", BinOp("OR", a, b), c)),
    ("NOT a AND b", BinOp("AND", UnOp("NOT", a), b)),
    ("NOT NOT a == b", UnOp("NOT", UnOp("NOT", BinOp("==", a, b)))),
    ("a + 1 > b - 2", BinOp(">", BinOp("+", a, one), BinOp("-", b, two))),
    ("a - b - c", BinOp("-", BinOp("-", a, b), c)),
    ("a / b * c", BinOp("*", BinOp("/", a, b), c)),
    ("a + b * c", BinOp("+", a, BinOp("*", b, c))),
    ("-a * b", BinOp("*", UnOp("-", a), b)),
    ("a - -b", BinOp("-", a, UnOp("-", b))),
    ("--a", UnOp("-", UnOp("-", a))),
    ("(a OR b) AND c", BinOp("AND", BinOp("OR", a, b), c)),
    ("a IN [1, 2 3]", BinOp("IN", a, ListExpr((one, two, three)))),
    ("a != b", BinOp("!=", a, b)),
    ("a <= b", BinOp("<=", a, b)),
    ("a >= b", BinOp(">=", a, b)),
    ("a < b", BinOp("<", a, b)),
    ("[]", ListExpr(())),
    ("[a -b]", ListExpr((BinOp("-", a, b),))),
    ("[a, -b]", ListExpr((a, UnOp("-", b)))),
    ("[a (b)]", ListExpr((CallExpr("a", (b,)),))),
    ("[1 (b)]", ListExpr((one, b))),
    ("f(a)", CallExpr("f", (a,))),
    ("f(k: a, k2 = 1)", CallExpr("f", (), (("k", a), ("k2", one)))),
    ("CONFIDENCE(a.b)", CallExpr("CONFIDENCE", (path("a.b"),))),
    ("SHARED.IN.last.x", PathExpr(("SHARED", "IN", "last", "x"))),
    ("true", path("true")),
    ("12", Literal(12)),
    ("1.5", Literal(1.5)),
    ("80%", Literal(0.8)),
    ("5min", Literal(300.0)),
    ('"s"', Literal("s")),
    ("2024-05-01T10:00", Literal("2024-05-01T10:00")),
]


@pytest.mark.parametrize(("text", "wanted"), EXPRESSIONS, ids=[text for text, _ in EXPRESSIONS])
def test_grm_24_to_27_expressions(text: str, wanted: Any) -> None:
    """`GRM-24` to `GRM-27`, `AST-2`."""
    same(expr(text), wanted)
    same(expr(f"({text})"), wanted)


@pytest.mark.parametrize(
    "text", ["a == b == c", "a < b IN c", "a +", "NOT", "(a", "a)", "1 2", "WHEN", "[a", "f(a"]
)
def test_what_is_no_expression(text: str) -> None:
    """`GRM-24`: a comparison does not associate."""
    refused(f"AGENT a {{ PLAN p {{ SET x = {text} }} }}")


def test_grm_28_a_star_before_a_closing_bracket() -> None:
    """`GRM-28`: it is the wildcard, never a multiplication."""
    same(agent("POLICY { ALLOW * }").policies, (PolicyRule("ALLOW", "*"),))
    same(agent("POLICY { NEVER t IF a ALLOW * }").policies[0], PolicyRule("NEVER", "t", a))
    refused("AGENT a { GOAL { a * } }")


def test_ast_1_lines() -> None:
    """`AST-1`: every node carries the line of its first token; equality counts it."""
    text = "AGENT a {\n GOAL g {\n MAINTAIN x\n > 1 }\n PLAN p {\n f(\n y)\n SET z 1 } }"
    program = parse_source(text)
    made = program.agents[0]
    assert [program.line, made.line, made.goals[0].line, made.plans[0].line] == [1, 1, 2, 5]
    condition: Any = made.goals[0].condition
    assert [condition.line, condition.left.line, condition.right.line] == [3, 3, 4]
    call, setting = made.plans[0].steps[0].body
    assert [call.line, setting.line] == [6, 8]
    assert Literal(1) == Literal(1)
    assert Literal(1, line=1) != Literal(1, line=2)


def test_ast_5_lookups() -> None:
    """`AST-5`: `tool` and `plan` find by name, or give nothing."""
    made = agent("TOOL { t } PLAN p { }")
    assert made.tool("t") is made.tools[0]
    assert made.plan("p") is made.plans[0]
    assert (made.tool("x"), made.plan("x")) == (None, None)
