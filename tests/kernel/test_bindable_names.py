"""Which one-word names a guard may treat as variables (`TRI-7`)."""

from __future__ import annotations

from agentl.kernel.names import bindable_names, walk
from agentl.language.nodes import (
    Agent,
    BeliefDecl,
    CallExpr,
    CallStmt,
    DelegateStmt,
    Domain,
    Effect,
    ForEachStmt,
    Hypothesis,
    IfStmt,
    JudgeStmt,
    Literal,
    MemorySpec,
    MemoryWrite,
    MessageStmt,
    Observer,
    Outcome,
    PathExpr,
    Plan,
    Program,
    Question,
    ReasonStmt,
    Scenario,
    ScenarioStimulus,
    SetStmt,
    Step,
    ToolDecl,
)
from agentl.state import RESERVED_ROOTS

ONE = Literal(1)

BODY = (
    SetStmt("set_path", ONE),
    IfStmt(ONE, (SetStmt("set_in_if", ONE),), (SetStmt("set_in_else", ONE),)),
    ReasonStmt(produce=(("produced", "Number"),)),
    JudgeStmt(questions=(Question("judged", "NOUL", "?"),)),
    DelegateStmt("auditor", inputs=("sent",), expect=("expected",)),
    MessageStmt("alarm", to="b", payload=(("sent_field", ONE),)),
    ForEachStmt("item", ONE, (CallStmt(CallExpr("free", (ONE, ONE), (("mode", ONE),))),)),
    CallStmt(CallExpr("pay", (), (("not_a_parameter", ONE),))),
)

AGENT = Agent(
    "a",
    observers=(Observer("observed"),),
    beliefs=(BeliefDecl("believed", ONE),),
    memory=MemorySpec(
        ("short",), ("long",), ("knowledge",), ("shared",), (MemoryWrite(store=("stored",), key="log"),)
    ),
    tools=(
        ToolDecl(
            "pay",
            inputs=(("amount", "Number"),),
            outputs=(("receipt", "String"),),
            effects=(Effect("paid", ONE),),
            outcomes=(Outcome("late", 0.5, (Effect("delayed", ONE),)),),
        ),
        ToolDecl("free"),
    ),
    plans=(Plan("p", (Step("main", BODY),)),),
    hypotheses=(Hypothesis("h", explains_path="explained"), Hypothesis("other")),
    scenarios=(
        Scenario(
            "s",
            given=(Effect("given", ONE),),
            stimuli=(ScenarioStimulus("EVENT", "ring", (Effect("rung", ONE),)),),
        ),
    ),
)
OTHER = Agent(
    "b",
    plans=(
        Plan(
            "q",
            (Step("main", (MessageStmt("m", to="a", payload=(("heard", ONE),)), SetStmt("theirs", ONE))),),
        ),
    ),
)

OWN = {
    "observed", "believed", "set_path", "set_in_if", "set_in_else", "produced", "judged", "expected",
    "sent_field", "item", "short", "long", "knowledge", "shared", "log", "receipt", "paid", "delayed",
    "explained", "rung", "answer", "confidence", *RESERVED_ROOTS,
}  # fmt: skip


def test_what_a_program_binds() -> None:
    """`TRI-7`: this list and no other; neither a GIVEN, a stored path, a step, a plan nor a hypothesis."""
    assert bindable_names(AGENT) == OWN


def test_parameters_count_for_their_target_only() -> None:
    """`TRI-7`: those of any tool for `*`."""
    assert bindable_names(AGENT, "pay") == OWN | {"amount"}
    assert bindable_names(AGENT, "free") == OWN | {"mode", "arg0", "arg1"}
    assert bindable_names(AGENT, "auditor") == OWN | {"sent"}
    assert bindable_names(AGENT, "nobody") == OWN
    assert bindable_names(AGENT, "*") == OWN | {"amount", "mode", "arg0", "arg1", "sent"}


def test_the_messages_of_other_agents_count() -> None:
    """`TRI-7`: their payload names, and nothing else of theirs."""
    assert bindable_names(AGENT, None, Program((AGENT, OTHER))) == OWN | {"heard"}


def test_walk_visits_every_node_in_source_order() -> None:
    """`TRI-7`: nothing is overlooked, however deep."""
    tree = IfStmt(PathExpr(("a",)), (ForEachStmt("v", PathExpr(("b",)), (SetStmt("c", PathExpr(("d",))),)),))
    assert [type(node).__name__ for node in walk(tree)] == [
        "IfStmt", "PathExpr", "ForEachStmt", "PathExpr", "SetStmt", "PathExpr",
    ]  # fmt: skip
    produced = ReasonStmt(domains=(("x", Domain("RANGE", 0, 1)),), defaults=(("x", ONE),))
    assert [type(node).__name__ for node in walk(produced)] == ["ReasonStmt", "Domain", "Literal"]
