"""The policy engine, against a brute-force reading of its five steps (`POL-1` to `POL-8`)."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentl.contracts import ENABLED, ContractBroken
from agentl.kernel.action import ActionRequest
from agentl.kernel.policy import PolicyEngine, policy_digest, ruling
from agentl.labels import Prov, of
from agentl.language.nodes import (
    Agent,
    BinOp,
    CallExpr,
    DelegateStmt,
    Expr,
    Literal,
    Observer,
    PathExpr,
    Plan,
    PolicyRule,
    Step,
    ToolDecl,
)
from agentl.messages import set_language
from agentl.state import State
from agentl.values import UNDEFINED, Symbol
from tests.support.tables import TRUTH, table

EFFECTS = ("NEVER", "DENY", "ALLOW", "REQUIRE_APPROVAL")


def path(dotted: str) -> PathExpr:
    return PathExpr(tuple(dotted.split(".")))


# Guards by what they are worth: two unknown ones, since an error must count like ignorance (INV-3).
GUARDS: dict[str, tuple[str, Expr | None]] = {
    "none": ("T", None),
    "true": ("T", Literal(1)),
    "false": ("F", Literal(0)),
    "unbound": ("U", BinOp(">", path("tank.level"), Literal(1))),
    "raising": ("U", BinOp("+", Literal("a"), Literal(1))),
}


def agent(
    rules: list[PolicyRule] | tuple[PolicyRule, ...], default: str | None = "ALLOW", **parts: Any
) -> Agent:
    tools = parts.pop("tools", (ToolDecl("pay", inputs=(("amount", "Number"), ("to", "Symbol"))),))
    return Agent("a", policies=tuple(rules), policy_default=default, has_policy=True, tools=tools, **parts)


def request(tool: str = "pay", **args: Any) -> ActionRequest:
    return ActionRequest(tool, args, provenance={name: of("DECLARED") for name in (*args, "$control")})


def oracle(rules: list[tuple[str, str, str]], default: str, name: str) -> str:
    """`POL-2` read literally, from (effect, target, worth) triples; shares nothing with the engine."""
    worths: dict[str, list[str]] = {effect: [] for effect in EFFECTS}
    for effect, target, worth in rules:
        if target in (name, "*"):
            worths[effect].append(worth)
    if [w for w in worths["NEVER"] if w != "F"] or [w for w in worths["DENY"] if w != "F"]:
        return "DENIED"
    if worths["ALLOW"]:
        if "T" not in worths["ALLOW"]:
            return "DENIED"
    elif default == "DENY":
        return "DENIED"
    return "APPROVAL_REQUIRED" if [w for w in worths["REQUIRE_APPROVAL"] if w != "F"] else "ALLOWED"


ALL_RULES = list(itertools.product(EFFECTS, ("pay", "*", "other"), GUARDS))


def check(rules: list[tuple[str, str, str]] | tuple[tuple[str, str, str], ...], default: str) -> str:
    made = [PolicyRule(effect, target, GUARDS[guard][1]) for effect, target, guard in rules]
    return PolicyEngine(agent(made, default)).check(request(amount=1), State()).verdict


def expected(rules: Any, default: str) -> str:
    return oracle([(effect, target, GUARDS[guard][0]) for effect, target, guard in rules], default, "pay")


def test_every_pair_of_rules() -> None:
    """`POL-2`, `TRI-6`, `INV-3`: all ordered pairs of all rules, under both defaults."""
    seen = set()
    for default in ("ALLOW", "DENY"):
        for rules in itertools.chain(
            [()], itertools.product(ALL_RULES, repeat=1), itertools.combinations(ALL_RULES, 2)
        ):
            verdict = check(rules, default)
            assert verdict == expected(rules, default), (rules, default)
            assert check(rules[::-1], default) == verdict
            seen.add(verdict)
    assert seen == {"ALLOWED", "DENIED", "APPROVAL_REQUIRED"}


rule_sets = st.lists(st.sampled_from(ALL_RULES), max_size=7)


@given(rule_sets, st.sampled_from(["ALLOW", "DENY"]), st.randoms(use_true_random=False))
def test_larger_rule_sets_in_any_order(
    rules: list[tuple[str, str, str]], default: str, shuffler: Any
) -> None:
    """`POL-2`: the oracle agrees, and the order of the source does not matter."""
    verdict = check(rules, default)
    assert verdict == expected(rules, default)
    shuffler.shuffle(rules)
    assert check(rules, default) == verdict


PERMISSIVE = {"DENIED": 0, "APPROVAL_REQUIRED": 1, "ALLOWED": 2}


@given(rule_sets, st.sampled_from(["ALLOW", "DENY"]), st.integers(0, 6))
def test_knowing_less_never_permits_more(rules: list[tuple[str, str, str]], default: str, which: int) -> None:
    """`TRI-6`, `INV-3`: make one guard undecidable, and the verdict can only become stricter."""
    if which >= len(rules):
        return
    effect, target, _guard = rules[which]
    for blind in ("unbound", "raising"):
        blinded = [*rules[:which], (effect, target, blind), *rules[which + 1 :]]
        assert PERMISSIVE[check(blinded, default)] <= PERMISSIVE[check(rules, default)]


@given(rule_sets, st.sampled_from(["ALLOW", "DENY"]), st.sampled_from(["NEVER", "DENY", "REQUIRE_APPROVAL"]))
def test_a_further_restriction_never_permits_more(
    rules: list[tuple[str, str, str]], default: str, effect: str
) -> None:
    """`POL-2`, `INV-2`: and a NEVER that holds denies whatever stands beside it."""
    for guard in GUARDS:
        stricter = check([*rules, (effect, "pay", guard)], default)
        assert PERMISSIVE[stricter] <= PERMISSIVE[check(rules, default)]
    if effect == "NEVER":
        assert check([*rules, ("NEVER", "*", "none")], default) == "DENIED"


# --- the pure step and its contracts --------------------------------------------------------


def test_ruling_follows_the_table_of_the_specification() -> None:
    """`POL-2`: all 64 combinations, each matched by exactly one row."""
    rows = table("policy", "ruling")
    for facts in itertools.product((True, False), repeat=6):
        fitting = [
            row for row in rows if all(c == "-" or TRUTH[c] is f for c, f in zip(row, facts, strict=False))
        ]
        assert len(fitting) == 1, facts
        assert ruling(*facts) == fitting[0][6]


@pytest.mark.skipif(not ENABLED, reason="contracts are off")
def test_the_contracts_of_ruling_see_every_lie() -> None:
    """`POL-2`: a verdict that permits too much breaks one of them (`INV-2`)."""
    names = ("never", "denied", "allow_targets", "allow_true", "default_allows", "approval")
    contracts = {contract.error().action: contract for contract in ruling.__postconditions__}
    assert set(contracts) == {"NeverDominates", "DenyDominates", "Permitted"}
    assert all(isinstance(contract.error(), ContractBroken) for contract in contracts.values())
    for facts in itertools.product((True, False), repeat=6):
        truth = ruling(*facts)
        for claimed in PERMISSIVE:
            known = {**dict(zip(names, facts, strict=True)), "result": claimed}
            kept = {
                action: bool(contract.condition(**{name: known[name] for name in contract.condition_args}))
                for action, contract in contracts.items()
            }
            if claimed == truth:
                assert all(kept.values())
            elif PERMISSIVE[claimed] > PERMISSIVE[truth]:
                assert not all(kept.values()), (facts, claimed)
            if claimed != "DENIED":
                assert kept["NeverDominates"] is not facts[0]
                assert kept["DenyDominates"] is not facts[1]


# --- the decision ---------------------------------------------------------------------------


def decide(rules: list[PolicyRule], tool: str = "pay", default: str = "ALLOW", **args: Any) -> Any:
    return PolicyEngine(agent(rules, default)).check(request(tool, **args), State())


def test_the_reason_names_the_rule() -> None:
    """`POL-2`, `POL-3`: the first matching rule of its effect, its own target, its line."""
    set_language("en")
    no = Literal(0)
    first = [PolicyRule("NEVER", "pay", no, line=1), PolicyRule("NEVER", "*", line=2)]
    harder = [PolicyRule("NEVER", "pay", line=1), PolicyRule("DENY", "*", line=2)]
    softer = [PolicyRule("ALLOW", "pay", line=1), PolicyRule("DENY", "pay", line=2)]
    second = [PolicyRule("ALLOW", "pay", no), PolicyRule("ALLOW", "pay")]
    asked = [PolicyRule("REQUIRE_APPROVAL", "*", line=7)]
    cases: list[tuple[list[PolicyRule], str, str, dict[str, Any], int | None]] = [
        (first, "ALLOW", "pol.never", {"target": "*", "line": 2}, 1),
        (harder, "ALLOW", "pol.never", {"target": "pay", "line": 1}, 0),
        (softer, "ALLOW", "pol.deny", {"target": "pay", "line": 2}, 1),
        ([PolicyRule("ALLOW", "pay", no)], "ALLOW", "pol.no_allow", {"name": "pay"}, None),
        ([PolicyRule("ALLOW", "other")], "DENY", "pol.default_deny", {"name": "pay"}, None),
        (asked, "ALLOW", "pol.approval", {"target": "*", "line": 7}, 0),
        (second, "DENY", "pol.allowed", {}, 1),
        ([], "ALLOW", "pol.allowed", {}, None),
    ]
    for rules, default, code, values, index in cases:
        decision = decide(rules, default=default)
        assert (decision.code, decision.values) == (code, values)
        assert decision.rule is (None if index is None else rules[index])
        assert decision.allowed is (decision.verdict == "ALLOWED") is (code == "pol.allowed")
        for value in values.values():
            assert str(value) in decision.reason or code == "pol.approval"


def test_without_policy_the_default_is_allow_and_without_default_it_is_deny() -> None:
    """`POL-2`: no POLICY block allows; a block that gives no DEFAULT (CHK-E024) fails closed."""
    assert PolicyEngine(Agent("a")).check(request(), State()).verdict == "ALLOWED"
    for default in (None, "DENY", "MAYBE"):
        made = Agent("a", policy_default=default, has_policy=True)
        assert PolicyEngine(made).check(request(), State()).verdict == "DENIED"


def test_a_target_is_its_exact_name() -> None:
    """`POL-2`: no folding, no prefix; `*` is everything."""
    rules = [PolicyRule("NEVER", "pay")]
    assert decide(rules, "pay").verdict == "DENIED"
    for other in ("Pay", "pay2", "pa", "*"):
        assert decide(rules, other).verdict == "ALLOWED"
    assert decide([PolicyRule("NEVER", "*")], "anything").verdict == "DENIED"


def test_the_policy_digest_ignores_positions() -> None:
    """`AST-7`, `KRN-4`: positions are no part of a policy; default, effect, target, guard, ring are."""

    def made(*rules: PolicyRule, default: str = "DENY") -> str:
        return policy_digest(agent(rules, default))

    base = made(PolicyRule("NEVER", "pay", BinOp(">", path("amount"), Literal(5)), line=3))
    assert base == made(
        PolicyRule("NEVER", "pay", BinOp(">", path("amount"), Literal(5, line=9), line=8), line=1)
    )
    others = {
        base,
        made(PolicyRule("DENY", "pay", BinOp(">", path("amount"), Literal(5)))),
        made(PolicyRule("NEVER", "*", BinOp(">", path("amount"), Literal(5)))),
        made(PolicyRule("NEVER", "pay", BinOp(">", path("amount"), Literal(5.0)))),
        made(PolicyRule("NEVER", "pay", BinOp(">", path("amount"), Literal("5")))),
        made(PolicyRule("NEVER", "pay", BinOp(">=", path("amount"), Literal(5)))),
        made(PolicyRule("NEVER", "pay")),
        made(PolicyRule("NEVER", "pay", BinOp(">", path("amount"), Literal(5))), default="ALLOW"),
        made(PolicyRule("NEVER", "pay", BinOp(">", path("amount"), Literal(5)), by="ring")),
        made(),
    }  # fmt: skip
    assert len(others) == 10


# --- the scope of an action (POL-4, POL-5) --------------------------------------------------


def holds(guard: Expr, proposed: ActionRequest, state: State | None = None, **parts: Any) -> bool | None:
    """Whether a guard is strictly true (ALLOW), not false (NEVER): the two directions give three values."""

    def verdict(effect: str) -> str:
        made = agent([PolicyRule(effect, proposed.tool, guard)], "ALLOW", **parts)
        return PolicyEngine(made).check(proposed, state or State()).verdict

    if verdict("ALLOW") == "ALLOWED":
        return True
    return None if verdict("NEVER") == "DENIED" else False


def test_the_action_is_readable() -> None:
    """`POL-4`, `POL-7`, `POL-8`."""
    proposed = ActionRequest("pay", {"amount": 5, "deep": {"x": [1]}}, "HIGH", origin="llm", confidence=0.4)
    for dotted, value in (
        ("action.tool", Symbol("pay")),
        ("action.risk", Symbol("HIGH")),
        ("action.origin", Symbol("llm")),
        ("action.confidence", 0.4),
        ("confidence", 0.4),
        ("action.args.amount", 5),
        ("action.args.deep.x", [1]),
        ("amount", 5),
    ):
        assert holds(BinOp("==", path(dotted), Literal(value)), proposed) is True, dotted
    assert holds(BinOp(">=", path("action.risk"), path("MEDIUM")), proposed) is True
    assert holds(BinOp("==", path("action.args.nope"), Literal(1)), proposed) is None
    assert holds(BinOp("==", path("deep.x"), Literal([1])), proposed) is None


def test_an_unknown_risk_makes_ordered_guards_unknown() -> None:
    """`POL-7`."""
    proposed = ActionRequest("ghost", {}, "UNKNOWN")
    assert holds(BinOp(">=", path("action.risk"), path("LOW")), proposed) is None
    assert holds(BinOp("==", path("action.risk"), path("UNKNOWN")), proposed) is True


def test_a_confidence_that_the_model_did_not_give() -> None:
    """`POL-4`: undefined, hence unknown in a guard; a fact of that name comes first."""
    proposed = ActionRequest("pay", {}, confidence=UNDEFINED)
    guard = BinOp(">", path("confidence"), Literal(0.5))
    assert holds(guard, proposed) is None
    assert holds(BinOp(">", path("action.confidence"), Literal(0.5)), proposed) is None
    for write in ("set_local", "set_belief", "set_world"):
        state = State()
        getattr(state, write)("confidence", 0.9)
        assert holds(guard, proposed, state) is True
        assert holds(guard, ActionRequest("pay", {"confidence": 0.1}), state) is False
    state = State()
    state.set_untrusted("confidence", 0.9, of("LLM"))
    assert holds(guard, ActionRequest("pay", {}, confidence=0.1), state) is False


def test_an_argument_answers_for_exactly_its_name() -> None:
    """`POL-4`, `INV-4`: it hides the homonym and nothing below it; the state is not changed."""
    state = State()
    state.set_local("to", {"bank": "A"}, of("HUMAN"))
    state.set_world("to.country", "FR", of("OBSERVED"))
    proposed = ActionRequest("pay", {"to": {"bank": "B", "country": "KP"}, "action.risk": "LOW"}, "HIGH")
    parts = {"observers": (Observer("to.country"), Observer("to.bank"))}
    before = (dict(state.locals), dict(state.world), dict(state.labels))
    state.take_changes()
    for dotted, value, truth in (
        ("to.bank", "A", True),
        ("to.country", "FR", True),
        ("action.args.to.bank", "B", True),
        ("to", {"bank": "B", "country": "KP"}, True),
        ("action.risk", "HIGH", True),
    ):
        assert holds(BinOp("==", path(dotted), Literal(value)), proposed, state, **parts) is truth, dotted
    assert (state.locals, state.world, state.labels) == before
    assert state.take_changes() == []


def test_shadowed_arguments_are_reported() -> None:
    """`POL-4`: from locals, beliefs or world, when the printed values differ."""
    state = State()
    state.set_world("amount", 10)
    state.set_belief("to", "bob")
    state.set_local("same", Symbol("x"))
    state.set_untrusted("note", "hidden", of("LLM"))
    state.set_local("gone", UNDEFINED)
    engine = PolicyEngine(agent([]))
    seen = engine.check(request(amount=99, to="eve", same="x", note="other", gone=1), state).shadowed_args
    assert seen == {"amount": 10, "to": "bob"}
    state.set_local("amount", 20)
    assert engine.check(request(amount=99), state).shadowed_args == {"amount": 20}


def label_guard(function: str, subject: str) -> Expr:
    return CallExpr(function, (path(subject),))


def test_labels_in_the_scope() -> None:
    """`POL-5`, `PRV-7`: arguments carry their proposal's label; a missing one is unknown, so untrusted."""

    def proposed(**provenance: Prov) -> ActionRequest:
        return ActionRequest("pay", {"amount": {"x": 1}, "to": "bob"}, provenance=provenance)

    clean = proposed(amount=of("DECLARED"), to=of("HUMAN"), **{"$control": of("RUNTIME")})
    for subject in ("amount", "to", "action.args.amount", "action.args.amount.x", "action"):
        assert holds(label_guard("TRUSTED", subject), clean) is True
        assert holds(label_guard("UNTRUSTED", subject), clean) is False
    tainted = proposed(amount=of("DECLARED"), to=of("LLM"), **{"$control": of("RUNTIME")})
    assert holds(label_guard("UNTRUSTED", "amount"), tainted) is False
    assert holds(label_guard("LLM_DERIVED", "to"), tainted) is True
    assert holds(label_guard("LLM_DERIVED", "action"), tainted) is True
    silent = proposed(amount=of("DECLARED"), **{"$control": of("RUNTIME")})
    assert holds(label_guard("UNTRUSTED", "to"), silent) is True
    assert holds(label_guard("UNTRUSTED", "action"), silent) is True
    assert holds(label_guard("UNTRUSTED", "action"), proposed(amount=of("HUMAN"), to=of("HUMAN"))) is True
    implicit = proposed(amount=of("HUMAN"), to=of("HUMAN"), **{"$control": of("LLM")})
    assert holds(label_guard("UNTRUSTED", "amount"), implicit) is False
    assert holds(label_guard("LLM_DERIVED", "action"), implicit) is True
    origin = CallExpr("ORIGIN", (path("action"),))
    assert holds(BinOp("==", origin, Literal([Symbol("HUMAN"), Symbol("LLM")])), implicit) is True
    for fact in ("action.tool", "action.risk", "action.origin"):
        assert (
            holds(BinOp("==", CallExpr("ORIGIN", (path(fact),)), Literal([Symbol("RUNTIME")])), clean) is True
        )
    assert holds(label_guard("UNTRUSTED", "nobody.knows"), clean) is None
    assert holds(CallExpr("ATTESTED", (path("action"),)), clean) is None


def test_attested_arguments() -> None:
    """`PRV-7`, `PRV-8`: any validator, or the one that is named; the label does not change."""
    state = State()
    state.attest("check_iban", "to", Symbol("bob"))
    proposed = ActionRequest("pay", {"to": "bob"}, provenance={"to": of("LLM")})
    assert holds(CallExpr("ATTESTED", (path("to"),)), proposed, state) is True
    assert holds(CallExpr("ATTESTED", (path("to"), path("check_iban"))), proposed, state) is True
    assert holds(CallExpr("ATTESTED", (path("to"), path("other"))), proposed, state) is False
    assert holds(CallExpr("ATTESTED", (path("to"),)), ActionRequest("pay", {"to": "eve"}), state) is False
    assert holds(label_guard("UNTRUSTED", "to"), proposed, state) is True


# --- one-word names (TRI-7) -----------------------------------------------------------------


def test_a_bindable_name_is_unknown_until_bound_and_any_other_is_a_constant() -> None:
    """`TRI-7`: data from outside cannot turn a constant into something else."""
    state = State()
    state.set_untrusted("open", "closed", of("EVENT"))
    state.set_untrusted("blocked", "x", of("EVENT"))
    guard = BinOp("==", path("door"), path("open"))
    watched = {"observers": (Observer("door"),)}
    assert holds(guard, request(), state, **watched) is None
    state.set_world("door", Symbol("open"))
    assert holds(guard, request(), state, **watched) is True
    state.set_world("door", Symbol("closed"))
    assert holds(guard, request(), state, **watched) is False


def test_a_missing_argument_is_unknown() -> None:
    """`TRI-7`, R33: a rule about a parameter that a call leaves out does not disappear."""
    guard = BinOp("IN", path("to"), Literal(["eve", "mallory"]))
    for given_args, truth in (({}, None), ({"to": None}, False), ({"to": "eve"}, True), ({"to": 5}, False)):
        assert holds(guard, request(**given_args)) is truth
    assert holds(BinOp("IN", Literal("x"), path("to")), request(to=5)) is None


def test_an_argument_that_nobody_declared_still_answers() -> None:
    """`POL-4`, `TRI-7`: a tool without INPUT takes anything, and a guard sees what it takes."""
    proposed = ActionRequest("free", {"mode": "wipe"})
    guard = BinOp("==", path("mode"), path("wipe"))
    assert holds(guard, proposed, tools=(ToolDecl("free"),)) is True
    assert holds(guard, ActionRequest("free", {}), tools=(ToolDecl("free"),)) is False


def test_the_inputs_of_a_sub_agent_are_parameters() -> None:
    """`TRI-7`, `KRN-8`."""
    plans = (Plan("p", (Step("main", (DelegateStmt("auditor", inputs=("subject",)),)),)),)
    guard = BinOp("==", path("subject"), path("secret"))
    assert holds(guard, ActionRequest("auditor", {}), plans=plans) is None
    assert holds(guard, ActionRequest("auditor", {"subject": "secret"}), plans=plans) is True


def test_text_amounts_do_not_slip_under_a_limit() -> None:
    """`TRI-3`, R38: what is no number decides nothing, so it is never allowed."""
    limit = BinOp("<=", path("amount"), Literal(1000))
    for amount, truth in (
        (999, True), ("5000", False), (" 5000", False), ("5e3", False), ("5,000", None), (True, None),
        (1000.0000001, False), (-0.0, True), (None, None), ([1], None), (float("nan"), None),
    ):  # fmt: skip
        assert holds(limit, request(amount=amount)) is truth, amount
    assert holds(BinOp("<=", path("amount"), Literal("N/A")), request(amount=1)) is None
